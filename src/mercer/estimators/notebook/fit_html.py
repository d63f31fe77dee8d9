"""The display of a fitted estimator in a notebook: how the fit ended, above scikit-learn's diagram."""

from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from html import escape
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import estimator_html_repr

from mercer._errors import MercerError
from mercer.estimators.fitting.certificate import known_certificates
from mercer.estimators.fitting.whole_fit import fit_seconds
from mercer.kernels.notation.words import kernel_in_short
from mercer.solvers.result import Status

# Most names of columns or classes listed.
LISTED = 6

# Colours come from the notebook, light or dark; only the bar on the left has its own, visible on either. The doubled
# class name outranks Jupyter's rules for lists.
_STYLE = """<style>
dl.mercer-fit.mercer-fit {display: inline-grid; grid-template-columns: auto 1fr; column-gap: 1em; margin: 0 0 0.6em 0;
  padding: 0.2em 0.8em; border-left: 4px solid #2e9e5b; font-size: 0.95em; line-height: 1.5; color: inherit}
dl.mercer-fit.mercer-fit.mercer-short {border-left-color: #d98a00}
dl.mercer-fit.mercer-fit dt {opacity: 0.65; font-weight: normal; margin: 0; float: none; width: auto;
  white-space: nowrap}
dl.mercer-fit.mercer-fit dd {margin: 0; overflow-wrap: anywhere}
</style>"""


# Attributes that take as long as a fit to compute, or cannot be once the training data are gone.
_COSTLY = ("certificate_",)
_is_drawing = ContextVar("_is_drawing", default=False)


class ShowsFit(BaseEstimator):
    """An estimator whose notebook view tells how its fit ended, without computing anything."""

    def _html_repr(self) -> str:
        return fit_html(self)

    def _get_fitted_attr_html(self, *args: Any, **kwargs: Any) -> Any:
        """The attributes in scikit-learn's diagram, also as a step of a pipeline."""
        drawing = _is_drawing.set(True)
        try:
            return super()._get_fitted_attr_html(*args, **kwargs)
        finally:
            _is_drawing.reset(drawing)

    def __dir__(self) -> list[str]:
        # scikit-learn reads every attribute to see whether it exists, and its diagram shows them all.
        costly = [name for name in _COSTLY if hasattr(type(self), name)]
        others = [name for name in object.__dir__(self) if name not in costly and hasattr(self, name)]
        return others if _is_drawing.get() or not is_fitted(self) else sorted([*others, *costly])


def is_fitted(estimator: Any) -> bool:
    """Whether `fit` has left anything."""
    return any(name in vars(estimator) for name in ("status_", "expansion_", "coef_", "best_estimator_"))


def fit_html(estimator: Any) -> str:
    """scikit-learn's diagram, below a summary of the fit.

    Examples
    --------
    >>> from mercer import SVC
    >>> from mercer.estimators.notebook.fit_html import fit_html
    >>> "OPTIMAL" in fit_html(SVC().fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]))
    True
    """
    machine = vars(estimator).get("best_estimator_", estimator)
    rows = [(name, words) for name, words in _rows(machine) if words]
    diagram = estimator_html_repr(estimator)
    if not rows:
        return diagram
    listed = "".join(f"<dt>{name}</dt><dd>{escape(words)}</dd>" for name, words in rows)
    short = "" if getattr(machine, "status_", Status.OPTIMAL) == Status.OPTIMAL else " mercer-short"
    return f'{_STYLE}<dl class="mercer-fit{short}">{listed}</dl>{diagram}'


def _rows(machine: Any) -> Iterator[tuple[str, str]]:
    """(name, description) pairs of a fitted machine; an empty description if there is nothing to say."""
    if not is_fitted(machine):
        return
    yield "status", _status(machine)
    yield "gap", _gap(machine)
    yield "support vectors", _support(machine)
    yield "kernel", _kernel(machine)
    yield "learnt from", _source(machine)
    yield "time", _time(machine)


def _status(machine: Any) -> str:
    status = getattr(machine, "status_", None)
    return "" if status is None else f"{status.name}: {status.meaning}"


def _gap(machine: Any) -> str:
    try:
        found = known_certificates(machine)
    except (MercerError, AttributeError):
        # The training data are gone, or were changed.
        return ""
    each = list(found) if isinstance(found, Sequence) else [found]
    gaps = [gap for gap in (getattr(one, "relative_gap", None) for one in each) if gap is not None]
    if not gaps:
        return ""
    of = f" (the largest of {len(gaps)} problems)" if len(gaps) > 1 else ""
    return f"at most {max(gaps):.1e} of the objective{of}"


def _support(machine: Any) -> str:
    support = getattr(machine, "support_", None)
    if support is None:
        return ""
    total, n = len(np.unique(support)), _n_rows(machine)
    if n is None:
        return f"{total:,}"
    return f"{total:,} of {_counted(n, _kind(machine))} ({total / max(1, n):.0%})"


def _kernel(machine: Any) -> str:
    expansion = getattr(machine, "expansion_", None)
    return "" if expansion is None else kernel_in_short(expansion.kernel)


def _source(machine: Any) -> str:
    n, d = _n_rows(machine), getattr(machine, "n_features_in_", None)
    names, classes = getattr(machine, "feature_names_in_", None), getattr(machine, "classes_", None)
    parts = [
        "" if n is None else _counted(n, _kind(machine)),
        "" if d is None else _counted(d, "column") + _listed(names),
        "" if classes is None else _counted(len(classes), "class", "classes") + _listed(classes),
    ]
    return ", ".join(part for part in parts if part)


def _n_rows(machine: Any) -> int | None:
    shape = getattr(machine, "shape_fit_", None)
    return None if shape is None else int(shape[0])


def _kind(machine: Any) -> str:
    return "item" if getattr(machine, "n_features_in_", None) is None else "row"


def _counted(count: int, one: str, several: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def _listed(names: Any) -> str:
    if names is None:
        return ""
    shown = [str(name) for name in names[:LISTED]] + (["..."] if len(names) > LISTED else [])
    return f" ({', '.join(shown)})"


def _time(machine: Any) -> str:
    seconds = fit_seconds(machine)
    if seconds is None:
        return ""
    return f"{1000 * seconds:.2g} ms" if seconds < 0.1 else f"{seconds:.2g} s"
