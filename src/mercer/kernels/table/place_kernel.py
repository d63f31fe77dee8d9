"""A kernel that names no columns, put to the columns of a table that it can read."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from mercer._errors import ParameterError
from mercer._types import Rows
from mercer.kernels._types import ColumnName
from mercer.kernels.base.structured import StructuredKernel
from mercer.kernels.table.columns import Columns
from mercer.kernels.table.encoded import Encoded
from mercer.kernels.table.frame import as_frame
from mercer.kernels.table.on import On, compares_labels
from mercer.kernels.table.standardized import Standardized
from mercer.kernels.vector.delta import Delta

if TYPE_CHECKING:
    from mercer.kernels.base.kernel import Kernel


def placed(kernel: "Kernel", X: Rows, *, standardize: bool = True) -> "Kernel":
    """The kernel for rows of the table X, each part of it `On` the columns that it can read.

    A kernel of numbers reads all columns of numbers together, one of texts the column of texts, `Delta`
    each column of labels. Parts that name their columns keep them.

    Parameters
    ----------
    kernel : Kernel
        Of numbers, labels, texts, trees or graphs, or a combination of such kernels.
    X : table
        The kinds of its columns are examined.
    standardize : bool
        Bring numbers to mean 0 and deviation 1, measured on the rows of the fit.

    Examples
    --------
    >>> from mercer.kernels import RBF, Spectrum, placed
    >>> rows = [{"age": 31, "note": "came by train"}, {"age": 60, "note": "came on foot"}]
    >>> placed(RBF(gamma=0.1), rows, standardize=False)
    On('age', RBF(gamma=0.1))
    >>> placed(Spectrum(length=3), rows).column
    'note'
    """
    frame = as_frame(X)
    kinds = {name: frame.column(name).kind for name in frame.names}
    return _placed(kernel, kinds, standardize)


def _placed(kernel: "Kernel", kinds: Mapping[ColumnName, str], standardize: bool) -> "Kernel":
    if kernel.takes_tables and not _is_made_of_kernels(kernel):
        return _scaled(kernel) if standardize else kernel
    read = _read_by(kernel)
    if len(read) == 1 and None not in read:
        return _on(kernel, *cast("tuple[str]", read), kinds, standardize)
    nested = kernel.nested_kernels()
    return kernel.replace(**{name: _placed(child, kinds, standardize) for name, child in nested.items()})


def _is_made_of_kernels(kernel: "Kernel") -> bool:
    """Whether a kernel that reads tables is a sum, a product or the like, with parts to look into."""
    return bool(kernel.nested_kernels()) and not isinstance(kernel, On | Columns | Encoded)


def _scaled(kernel: Any) -> "Kernel":
    """A kernel of named columns, with numbers standardised unless it says how they are read."""
    is_of_numbers = isinstance(kernel, On) and _read_by(kernel.kernel) == {"number"}
    if not is_of_numbers or isinstance(kernel.kernel, Standardized):
        return kernel
    return On(kernel.column, Standardized(kernel.kernel), kernel.missing)


def _read_by(kernel: "Kernel") -> set[str | None]:
    """What the parts of a kernel read: "number", "label", "text", "tree", ..., or None for a table."""
    if kernel.takes_items is None:
        return set()
    if kernel.takes_tables:
        return {None}
    nested = kernel.nested_kernels().values()
    if nested:
        return set().union(*map(_read_by, nested))
    if isinstance(kernel, StructuredKernel):
        return {kernel.item_name}
    return {"label"} if isinstance(kernel, Delta) else {"number"}


def _on(kernel: "Kernel", read: str, kinds: Mapping[ColumnName, str], standardize: bool) -> "Kernel":
    if read == "number":
        names = [name for name, kind in kinds.items() if kind in ("number", "date")]
        own = Standardized(kernel) if standardize and not isinstance(kernel, Standardized) else kernel
        return On(_one_or_all(_some(names, kernel, "numbers", kinds)), own)
    if read == "label" and compares_labels(kernel):
        names = [name for name, kind in kinds.items() if kind in ("text", "category")]
        return Columns(dict.fromkeys(_some(names, kernel, "labels", kinds), kernel))
    names = [name for name, kind in kinds.items() if kind == ("text" if read in ("text", "label") else "object")]
    if len(_some(names, kernel, f"{read}s", kinds)) > 1:
        raise ParameterError(
            f"{type(kernel).__name__} reads one column, but there are {', '.join(map(repr, names))}; "
            f"say which: {type(kernel).__name__.lower()}()@{names[0]}"
        )
    return On(names[0], kernel)


def _one_or_all(names: list[ColumnName]) -> ColumnName | list[ColumnName]:
    return names[0] if len(names) == 1 else names


def _some(names: list[ColumnName], kernel: "Kernel", what: str, kinds: Mapping[ColumnName, str]) -> list[ColumnName]:
    if not names:
        listed = ", ".join(f"{name!r} ({kind})" for name, kind in kinds.items())
        raise ParameterError(f"{type(kernel).__name__} needs a column of {what}; the table has {listed}")
    return names
