"""Your data: open a file or a set, and show what it holds."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from mercer._errors import DataError
from mercer.io import Dataset
from mercer.kernels.table.frame import as_frame
from mercer.studio.playground.datasets import SHIPPED, open_shipped, open_upload
from mercer.studio.server.worker import Action, Answer, Job, Request
from mercer.workflow.columns import look
from mercer.workflow.target import task_of

# Rows of the preview, and letters of an item in it.
PREVIEW, LONGEST = 12, 160


def shipped(_request: Request, _job: Job) -> Iterator[Answer]:
    """The sets that need no file."""
    yield {"sets": [[key, title, about] for key, (title, about, _) in SHIPPED.items()]}, {}


def open_data(request: Request, job: Job) -> Iterator[Answer]:
    """Open a shipped set or an uploaded file, and show what it holds."""
    if request.get("set"):
        found = open_shipped(str(request["set"]))
    else:
        name, body = uploaded(job, request)
        found = open_upload(name, body)
    job.memory["data"] = found
    for key in ("model", "made", "told"):
        job.memory.pop(key, None)
    yield _overview(found), {}


def resume(_request: Request, job: Job) -> Iterator[Answer]:
    """What a tab that was reloaded had open, and the report of its model."""
    data = job.memory.get("data")
    header, arrays = job.memory.get("told", ({}, {}))
    yield {"opened": None if data is None else _overview(data), **header}, arrays


def uploaded(job: Job, request: Request) -> tuple[str, bytes]:
    """Name and content of a file that this tab has brought."""
    found = job.memory.get("files", {}).get(str(request.get("file")))
    if found is None:
        raise DataError("the file is not here any more; choose it again")
    return found


def _overview(found: Dataset) -> dict[str, Any]:
    header: dict[str, Any] = {"name": found.name, "kind": found.kind, "format": found.format, "rows": len(found)}
    if found.kind != "table":
        return header | {"preview": _items(found), "task": _task(found.target), "labels": _labels(found.target)}
    left_out = {one.name: one.left_out for one in look(found.data)}
    columns = [{**_column(found, name), "left_out": left_out[name]} for name in found.columns]
    candidates = [each["name"] for each in columns if not each["constant"]]
    usual = [name for name in candidates if name.lower() in ("target", "label", "class", "y")]
    return header | {
        "columns": columns,
        "target": (usual or candidates or [None])[-1],
        "preview": [_row(row) for row in as_frame(found.rows(np.arange(min(PREVIEW, len(found)))).data).rows()],
    }


def _column(found: Dataset, name: str) -> dict[str, Any]:
    column = as_frame(found.data).column(name)
    values = np.asarray(column.values)
    present = values[~column.missing]
    distinct = len(np.unique(present.astype(str) if present.dtype.kind == "O" else present))
    kind = "numbers" if values.dtype.kind in "iufb" else "texts"
    return {"name": name, "kind": kind, "distinct": distinct, "missing": int(column.missing.sum()),
            "constant": distinct <= 1, "task": _task(present)}  # fmt: skip


def _task(target: Any) -> str | None:
    return None if target is None or len(target) == 0 else task_of(np.asarray(target))


def _labels(target: Any) -> dict[str, int] | None:
    if target is None:
        return None
    labels, counts = np.unique(target, return_counts=True)
    return dict(zip(map(str, labels[:20].tolist()), counts[:20].tolist(), strict=True))


def _row(row: Any) -> dict[str, str]:
    return {str(name): shown(value) for name, value in row.items()}


def shown(value: Any) -> str:
    """A value for people, not too long."""
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else f"{value!s:.{LONGEST}}"


def _items(found: Dataset) -> list[dict[str, str]]:
    places = np.arange(min(PREVIEW, len(found)))
    labels = None if found.target is None else found.target[places]
    return [
        {"label": "–" if labels is None else str(labels[k]), found.kind: item_words(found, k)} for k in places.tolist()
    ]


def item_words(found: Dataset, k: int) -> str:
    """One row or item in a line."""
    if found.kind == "table":
        (row,) = as_frame(found.rows(np.array([k])).data).rows()
        return ", ".join(f"{name} {shown(value)}" for name, value in list(row.items())[:12])
    if found.kind == "vectors":
        row = found.data[k]
        return " ".join(f"{i + 1}:{v:.4g}" for i, v in zip(row.indices[:12], row.data[:12], strict=True))
    if found.kind == "graphs":
        graph = found.data[k]
        return f"{graph.n_nodes} nodes, {graph.n_edges} edges"
    return f"{found.data[k]!s:.{LONGEST}}"


ACTIONS: dict[str, Action] = {"shipped": shipped, "open": open_data, "resume": resume}
