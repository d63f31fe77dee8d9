"""Your data: train with live progress, and tell what came of it."""

import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import mercer
from mercer._errors import DataError, MercerError, ParameterError
from mercer.io import Dataset
from mercer.kernels import Columns
from mercer.kernels.table.frame import as_frame
from mercer.report.figures import Shown, taken
from mercer.report.html_page import page
from mercer.report.model_words import machine_of
from mercer.report.record import Record, bounds_of
from mercer.report.scores import score
from mercer.studio.server.worker import Action, Answer, Job, Request
from mercer.studio.views.opening import item_words, shown
from mercer.workflow.assemble import Assembly, assemble
from mercer.workflow.hold_out import hold_out

# Rows that can be explained, items on the map, seconds between two progress lines, seconds for a fit.
LISTED, ON_THE_MAP, PACE = 200, 600, 0.1
TIME_LIMIT = 600.0


def chosen_data(request: Request, job: Job) -> Dataset:
    """The data with the target and the columns that were chosen."""
    found = job.memory.get("data")
    if found is None:
        raise DataError("open a file or a set first")
    if found.kind != "table":
        if found.target is None:
            raise DataError(f"{found.name}: there are no labels to learn from")
        return found
    target = str(request.get("target"))
    if target not in found.columns:
        raise ParameterError(f"target must be one of the columns, got {target!r}")
    columns = request.get("columns")
    kept = [name for name in found.columns if name != target and (columns is None or name in columns)]
    if not kept:
        raise DataError("choose at least one column to learn from, beside the target")
    values = as_frame(found.data).column(target)
    places = np.flatnonzero(~values.missing)
    if len(places) == 0:
        raise DataError(f"the column {target!r} has no values")
    labels = np.asarray(values.values)[places]
    labels = _whole(labels.astype(str) if labels.dtype.kind == "O" else labels)
    whole = found if len(places) == len(found) else found.rows(places)
    return replace(whole.with_columns(kept), target=labels, target_name=target)


def _whole(labels: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers as such: a class is 3, not 3.0."""
    is_whole = labels.dtype.kind == "f" and bool((labels == np.rint(labels)).all()) and np.abs(labels).max() < 2**53
    return labels.astype(np.int64) if is_whole else labels


def assembled(request: Request, data: Dataset, **others: Any) -> Assembly:
    """The machine that was asked for, with the data as it takes them."""
    kernel: Any = str(request.get("kernel") or "").strip() or None
    if kernel == "columns":
        kernel = Columns.infer(data.data)
    C = request.get("C", 1.0)
    if isinstance(C, bool) or not isinstance(C, int | float) or not 1e-9 <= C <= 1e12:
        raise ParameterError(f"C must be a number from 1e-9 to 1e12, got {C!r}")
    found = assemble(data, kernel, C=float(C), **others)
    if found.task == "classification" and len(np.unique(found.y)) < 2:
        raise DataError(f"all {len(found.y)} rows have the label {found.y[0]!r}: there is nothing to tell apart")
    return found


def split(y: NDArray[Any], task: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """A fifth of the rows held out, each class in proportion where that can be; none of few."""
    if len(y) < 10:
        return np.arange(len(y)), np.arange(0)
    return hold_out(y, 0.2, 0, task == "classification")


def _watched(job: Job, begin: float) -> Callable[[Any], bool]:
    """A callback that tells the page how the fit stands, and ends it when asked."""
    last = [0.0]

    def watch(point: Any) -> bool:
        if time.monotonic() - last[0] > PACE:
            last[0] = time.monotonic()
            names = ("iterations", "violation", "dual", "working_set", "active")
            state = {name: float(getattr(point, name)) for name in names if hasattr(point, name)}
            job.send({"progress": {"seconds": time.monotonic() - begin, **state}})
        return job.watch(point)

    return watch


def train(request: Request, job: Job) -> Iterator[Answer]:
    """Fit, score on rows held out, and keep the model; stopped, with the best there is."""
    data = chosen_data(request, job)
    begin = time.monotonic()
    assembly = assembled(request, data, time_limit=TIME_LIMIT)
    machine_of(assembly.estimator).set_params(callbacks=[_watched(job, begin)])
    learnt, held = split(assembly.y, assembly.task)
    X, y = assembly.X, assembly.y
    job.send({"progress": {"seconds": 0.0, "rows": len(learnt)}})
    model = assembly.estimator.fit(taken(X, learnt), y[learnt])
    fitted = time.monotonic() - begin
    machine_of(model).set_params(callbacks=None)
    if job.cancelled:
        return
    yield from told(job, data, assembly, model, (learnt, held), fitted)


def told(
    job: Job, data: Dataset, assembly: Assembly, model: Any, parts: tuple[NDArray[Any], NDArray[Any]], seconds: float
) -> Iterator[Answer]:
    """The report of a model, what is drawn from it, and the files that can be taken."""
    (learnt, held), X, y = parts, assembly.X, assembly.y
    title = f"{data.target_name}, from {data.name}" if data.target_name else data.name
    record = Record.of_model(title, model, data, assembly.task, len(learnt))
    record.notes, record.seconds = list(assembly.notes), {"fit": seconds}
    rows = (taken(X, learnt), y[learnt])
    predicted = None
    if len(held):
        predicted = model.predict(taken(X, held))
        record.scores = {**score(assembly.task, y[held], predicted), "how": "held out"}
    record.bounds, record.no_bounds = bounds_of(model, *rows)
    scored = (taken(X, held), y[held]) if len(held) else None
    drawn = Shown(model, rows, scored, data.rows(held) if len(held) else None)
    job.memory |= {"model": model, "X": X, "y": y, "chosen": data}
    job.memory["made"] = {
        "model": ("model.mercer", "application/octet-stream", _saved(model, data, assembly)),
        "report": ("report.html", "text/html; charset=utf-8", page(record, drawn).encode()),
    }
    places = held if len(held) else learnt
    said = predicted if predicted is not None else model.predict(taken(X, learnt))
    header, arrays = _map(model, *rows)
    job.memory["told"] = ({"record": record.as_dict(), "list": _listed(data, y, places, said), **header}, arrays)
    yield job.memory["told"]


def _saved(model: Any, data: Dataset, assembly: Assembly) -> bytes:
    about = {"target": data.target_name, "task": assembly.task, "kind": data.kind, "source": data.name,
             "notes": list(assembly.notes)}  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.mercer"
        mercer.save(model, path, metadata=about)
        return path.read_bytes()


def _listed(data: Dataset, y: NDArray[Any], places: NDArray[Any], said: NDArray[Any]) -> list[dict[str, Any]]:
    """Rows that can be explained; the wrong ones first."""
    wrong = said != y[places] if y.dtype.kind != "f" else np.abs(said - y[places])
    order = np.argsort(-np.asarray(wrong, dtype=float), kind="stable")[:LISTED]
    return [
        {"row": int(places[k]), "truth": shown(plain(y[places[k]])), "said": shown(plain(said[k])),
         "item": item_words(data, int(places[k]))}
        for k in order
    ]  # fmt: skip


def plain(value: Any) -> Any:
    """A number of NumPy's as Python's."""
    return value.item() if isinstance(value, np.generic) else value


def _map(model: Any, X: Any, y: NDArray[Any]) -> Answer:
    """Rows learnt from, placed by the two largest components of the kernel; who is a support vector."""
    machine = machine_of(model)
    chosen = np.unique(np.linspace(0, len(y) - 1, min(ON_THE_MAP, len(y))).astype(int))
    if len(chosen) < 3:
        return {}, {}
    try:
        gram = machine.expansion_.kernel(taken(before_the_machine(model, X), chosen))
        places = mercer.KernelPCA(n_components=2, kernel="precomputed").fit_transform(gram)
    except MercerError:
        return {}, {}
    if places.shape[1] < 2:
        return {}, {}
    has_classes = hasattr(machine, "classes_")
    groups = np.searchsorted(machine.classes_, y[chosen]) if has_classes else np.zeros(len(chosen))
    support = np.isin(chosen, machine.support_)
    names = [str(label) for label in machine.classes_] if has_classes else []
    return {"map_classes": names}, {"places": places, "groups": groups, "support": support}


def before_the_machine(model: Any, X: Any) -> Any:
    """Rows as the last step of a pipeline takes them."""
    return model[:-1].transform(X) if hasattr(model, "steps") else X


ACTIONS: dict[str, Action] = {"train": train}
