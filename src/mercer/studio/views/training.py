"""Your data: train with live progress, and tell what came of it."""

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
from mercer.report.figures import taken
from mercer.report.html_page import page
from mercer.report.model_words import before_the_machine, final_estimator
from mercer.studio.server.worker import Action, Answer, Job, Request
from mercer.studio.views.opening import item_words, shown
from mercer.workflow.assemble import Assembly, assemble
from mercer.workflow.run import HOLDOUT, Run, Watch

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
    return assemble(data, kernel, C=float(C), **others)


def share_held(y: NDArray[Any]) -> float:
    """The share of the rows that is held out; of few rows, none."""
    return HOLDOUT if len(y) >= 10 else 0.0


def _watching(job: Job) -> Watch:
    """Tell the page how a fit stands, and end it when asked."""

    @contextmanager
    def watching(_machine: Any, rows: int) -> Iterator[Callable[[Any], bool]]:
        begin, last = time.monotonic(), 0.0
        job.send({"progress": {"seconds": 0.0, "rows": rows}})

        def watch(point: Any) -> bool:
            nonlocal last
            if time.monotonic() - last > PACE:
                last = time.monotonic()
                names = ("iterations", "violation", "dual", "working_set", "active")
                state = {name: float(getattr(point, name)) for name in names if hasattr(point, name)}
                job.send({"progress": {"seconds": time.monotonic() - begin, **state}})
            return job.watch(point)

        yield watch

    return watching


def train(request: Request, job: Job) -> Iterator[Answer]:
    """Fit, score on rows held out, and keep the model; stopped, with the best there is."""
    data = chosen_data(request, job)
    assembly = assembled(request, data, time_limit=TIME_LIMIT)
    run = Run(data, assembly, holdout=share_held(assembly.y))
    run.fit(_watching(job))
    if not job.cancelled:
        yield from told(job, run)


def told(job: Job, run: Run) -> Iterator[Answer]:
    """The report of a model, what is drawn from it, and the files that can be taken."""
    run.score()
    model, data, y = run.model, run.data, run.assembly.y
    rows = run.rows(run.learnt)
    job.memory |= {"model": model, "X": run.assembly.X, "y": y, "chosen": data}
    job.memory["made"] = {
        "model": ("model.mercer", "application/octet-stream", _saved(run)),
        "report": ("report.html", "text/html; charset=utf-8", page(run.record, run.shown).encode()),
    }
    places, said = (run.learnt, model.predict(rows[0])) if run.predicted is None else (run.held, run.predicted)
    header, arrays = _map(model, *rows)
    job.memory["told"] = ({"record": run.record.as_dict(), "list": _listed(data, y, places, said), **header}, arrays)
    yield job.memory["told"]


def _saved(run: Run) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.mercer"
        run.save(path)
        # The path is ours and says nothing to anybody.
        del run.record.files["model"]
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
    machine = final_estimator(model)
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


ACTIONS: dict[str, Action] = {"train": train}
