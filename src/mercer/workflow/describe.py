"""What data hold, or what a model is, before anything is fitted: `mercer describe` and `mercer.describe`."""

from collections.abc import Sequence
from os import PathLike
from typing import Any

from mercer.io.dataset import Dataset, read_table
from mercer.workflow.columns import Seen, choose
from mercer.workflow.target import describe_target


def describe(what: Any, **options: Any) -> dict[str, Any]:
    r"""What data hold and which columns would be learnt from; or what a fitted model is.

    Parameters
    ----------
    what : path, open binary file, Dataset or fitted model
    **options
        For a file, the options of `mercer.read_table`, such as ``target``.

    Returns
    -------
    dict
        Plain values, ready for JSON. For data: name, format, kind, rows, target, and for each column of a table its
        kind, how many different values it has, how many are missing, and why it would be left out (or ""); the notes
        say how the reader understood a column, or what it was unsure of.
        For a model: what `mercer.report.describe_model` returns.

    Examples
    --------
    >>> import io
    >>> from mercer import SVC, describe
    >>> rows = b"id,age,buys\n1,31,yes\n2,60,no\n3,31,yes\n"
    >>> found = describe(io.BytesIO(rows), target="buys")
    >>> found["rows"], found["target"]["classes"], found["columns"][0]["left_out"]
    (3, {'yes': 2, 'no': 1}, 'names the rows')
    >>> describe(SVC(kernel="linear").fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]))["kernel"]
    'linear'
    """
    if isinstance(what, Dataset):
        return describe_data(what, choose(what)[1])
    if isinstance(what, (str, PathLike)) or hasattr(what, "read"):
        found = read_table(what, **options)
        return describe_data(found, choose(found)[1])
    from mercer.report.model_words import describe_model

    return describe_model(what)


def describe_data(dataset: Dataset, seen: Sequence[Seen], task: str | None = None) -> dict[str, Any]:
    """The same for data that have been read and looked at."""
    return {
        "name": dataset.name,
        "format": dataset.format,
        "kind": dataset.kind,
        "rows": len(dataset),
        "unlabeled": dataset.unlabeled,
        "notes": [{"column": note.name, "kind": note.kind, "text": note.text} for note in dataset.notes],
        "target": describe_target(dataset, task),
        "columns": [one._asdict() for one in seen],
    }
