"""The first pass over blocks: summaries of the columns, and all targets, before anything is fitted."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._errors import DataError
from mercer._types import Array, IndexArray
from mercer.estimators.out_of_core.column_summary import ColumnSummary, joined, values_of
from mercer.estimators.out_of_core.progress import Progress
from mercer.io.blocks.blocks import Blocks
from mercer.io.csv.judgement import SOME_NUMBERS
from mercer.solvers.blocks.source import LocalBlocks
from mercer.solvers.limits import Limits


@dataclass
class FirstPass:
    """The summaries of a table's columns, and its blocks, read with the column types found."""

    columns: dict[str, ColumnSummary]
    blocks: Blocks


def first_pass(
    blocks: Blocks, n_jobs: int | None = None, limits: Limits | None = None, with_targets: bool = True
) -> FirstPass:
    """Read all blocks of a table once; again if a column taken for numbers also holds text."""
    told = Progress(Limits() if limits is None else limits, blocks.n_rows)
    targets = [name for name in (blocks.target, blocks.weight) if name is not None and with_targets]
    while True:
        told.begin(0)
        found = joined(_summaries(blocks, targets, n_jobs, told))
        mixed = [name for name, summary in found.items() if len(summary.kinds) > 1]
        if not mixed:
            return FirstPass({name: found[name] for name in blocks.names or ()}, blocks)
        for name in mixed:
            _require_texts(blocks, name, found[name])
        blocks = blocks.with_text(mixed)


def _summaries(
    blocks: Blocks, targets: list[str], n_jobs: int | None, told: Progress
) -> Iterator[dict[str, ColumnSummary]]:
    pool = LocalBlocks(lambda i, _dtype: i, blocks.sizes, 0, n_jobs, told.stop)
    names = list(blocks.names or ())
    for i, (found, beside) in enumerate(
        pool.map(summary_of_block, (blocks, names, targets), [()] * len(blocks), float)
    ):
        if targets:
            blocks.keep_targets(i, blocks.split_targets(i, beside))
        told.done += blocks.sizes[i]
        yield found


def summary_of_block(
    i: int, blocks: Blocks, names: list[str], targets: list[str]
) -> tuple[dict[str, ColumnSummary], dict[str, Array]]:
    """(column summaries of block i, its targets)."""
    found, beside = {}, {}
    for name, array in blocks.columns(i, [*names, *targets]):
        if name in targets:
            beside[name] = array
        if name in names:
            values = values_of(name, array, _kind(blocks, name))
            found[name], numbers = ColumnSummary.of(values, i), values.numbers
            # Infinity propagates to the mean.
            if numbers is not None and not np.isfinite(found[name].mean) and np.isinf(numbers).any():
                row = int(np.flatnonzero(np.isinf(numbers))[0])
                raise DataError(
                    f"{blocks.place(i, row)}, column {name!r}: a finite number was expected, got "
                    f"{numbers[row]}; correct it, or leave the row out"
                )
    return found, beside


def _kind(blocks: Blocks, name: str) -> str | None:
    return "text" if name in blocks.text else None


def _require_texts(blocks: Blocks, name: str, summary: ColumnSummary) -> None:
    """Refuse a numeric column in which a few entries are words."""
    labels = sum(summary.labels.values())
    words = sum(count for label, count in summary.labels.items() if blocks.is_number(name, label))
    numbers = summary.count - labels + words
    if numbers < SOME_NUMBERS * summary.count or "text" not in summary.kinds:
        return
    block = summary.kinds["text"]
    if blocks.find_fault is not None:
        blocks.find_fault(block, name)
    raise DataError(
        f"{blocks.place(block)}, column {name!r}: numbers were expected, as in other blocks, got texts such as "
        f"{next(iter(summary.labels))!r}; correct them, or read the column as text (text=)"
    )


def all_targets(blocks: Blocks, n_jobs: int | None = None, stop: Any = None) -> tuple[list[Array], Array | None]:
    """(targets of each block, weights of all rows or None); a DataError names the block whose targets differ."""
    parts, weights = _all_parts(blocks, _targets_of_block, n_jobs, stop)
    return [y for (y,) in parts], weights


def all_labels(
    blocks: Blocks, n_jobs: int | None = None, stop: Any = None
) -> tuple[list[tuple[Array, IndexArray]], Array | None]:
    """(the distinct targets of each block with the place of each row's among them, weights of all rows or None)."""
    return _all_parts(blocks, _labels_of_block, n_jobs, stop)


def _all_parts(
    blocks: Blocks, read: Callable[..., tuple[Any, Array | None]], n_jobs: int | None, stop: Any
) -> tuple[list[Any], Array | None]:
    """What `read` makes of the targets of each block, themselves or their labels first, and the weights."""
    if not blocks.has_targets:
        raise DataError("the blocks have no target to learn from; name it: Blocks(..., target=...)")
    pool = LocalBlocks(lambda i, _dtype: i, blocks.sizes, 0, n_jobs, stop)
    found = list(pool.map(read, (blocks,), [()] * len(blocks), float))
    parts = [part for part, _ in found]
    first = parts[0][0].dtype.kind == "U"
    for i, part in enumerate(parts):
        if (part[0].dtype.kind == "U") != first:
            return _all_parts(_as_texts(blocks, i), read, n_jobs, stop)
    given = [weights for _, weights in found]
    if all(weights is None for weights in given):
        return parts, None
    if any(weights is None for weights in given):
        missing = next(i for i, weights in enumerate(given) if weights is None)
        raise DataError(f"{blocks.place(missing)}: the block has no weights, but others do")
    return parts, np.concatenate(given)


def _targets_of_block(i: int, blocks: Blocks) -> tuple[tuple[Any], Array | None]:
    y, weights = blocks.targets(i)
    return (y,), weights


def _labels_of_block(i: int, blocks: Blocks) -> tuple[tuple[Array, IndexArray], Array | None]:
    labels, places, weights = blocks.labels_of(i)
    return (labels, places.astype(np.int32)), weights


def _as_texts(blocks: Blocks, i: int) -> Blocks:
    """For CSV: a target that is numeric in one block and has words in another is text."""
    again = blocks.with_target_as_text()
    if again is None:
        raise DataError(
            f"{blocks.place(i)}: targets are texts here and numbers in block 0, or the reverse; write them as one type"
        )
    return again
