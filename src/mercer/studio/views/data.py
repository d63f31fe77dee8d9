"""Your data: open, train with live progress, look, explain, tune, download; or open a model."""

import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

import mercer
from mercer._errors import DataError, MercerError, ParameterError
from mercer.exchange.saving import describe
from mercer.io import Dataset
from mercer.kernels import Columns
from mercer.kernels.table.frame import as_frame
from mercer.report.figures import Shown, taken
from mercer.report.model_words import describe_model, machine_of
from mercer.report.page import page
from mercer.report.record import Record, bounds_of, finite
from mercer.report.scores import score
from mercer.selection.assemble import Assembly, assemble, task_of
from mercer.selection.tune import SVCCV, SVRCV
from mercer.studio.datasets import SHIPPED, open_shipped, open_upload
from mercer.studio.worker import Action, Answer, Job, Request

# Rows of the preview, rows that can be explained, items on the map, seconds between two progress lines.
PREVIEW, LISTED, ON_THE_MAP, PACE = 12, 200, 600, 0.1
LONGEST = 160
TIME_LIMIT = 600.0
CS = tuple(4.0**k for k in range(-3, 6))
GAMMAS = tuple(4.0**k for k in range(-5, 3))
FOLDS = 5


# --- opening ----------------------------------------------------------------------------------


def shipped(_request: Request, _job: Job) -> Iterator[Answer]:
    """The sets that need no file."""
    yield {"sets": [[key, title, about] for key, (title, about, _) in SHIPPED.items()]}, {}


def open_data(request: Request, job: Job) -> Iterator[Answer]:
    """Open a shipped set or an uploaded file, and show what it holds."""
    if request.get("set"):
        found = open_shipped(str(request["set"]))
    else:
        name, body = _uploaded(job, request)
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


def _uploaded(job: Job, request: Request) -> tuple[str, bytes]:
    found = job.memory.get("files", {}).get(str(request.get("file")))
    if found is None:
        raise DataError("the file is not here any more; choose it again")
    return found


def _overview(found: Dataset) -> dict[str, Any]:
    header: dict[str, Any] = {"name": found.name, "kind": found.kind, "format": found.format, "rows": len(found)}
    if found.kind != "table":
        return header | {"preview": _items(found), "task": _task(found.target), "labels": _labels(found.target)}
    columns = [_column(found, name) for name in found.columns]
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
    return {str(name): _shown(value) for name, value in row.items()}


def _shown(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else f"{value!s:.{LONGEST}}"


def _items(found: Dataset) -> list[dict[str, str]]:
    places = np.arange(min(PREVIEW, len(found)))
    labels = None if found.target is None else found.target[places]
    return [{"label": "–" if labels is None else str(labels[k]), found.kind: _item(found, k)} for k in places.tolist()]


def _item(found: Dataset, k: int) -> str:
    if found.kind == "table":
        (row,) = as_frame(found.rows(np.array([k])).data).rows()
        return ", ".join(f"{name} {_shown(value)}" for name, value in list(row.items())[:12])
    if found.kind == "vectors":
        row = found.data[k]
        return " ".join(f"{i + 1}:{v:.4g}" for i, v in zip(row.indices[:12], row.data[:12], strict=True))
    if found.kind == "graphs":
        graph = found.data[k]
        return f"{graph.n_nodes} nodes, {graph.n_edges} edges"
    return f"{found.data[k]!s:.{LONGEST}}"


# --- training ---------------------------------------------------------------------------------


def _chosen(request: Request, job: Job) -> Dataset:
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


def _assembled(request: Request, data: Dataset, **others: Any) -> Assembly:
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


def _split(y: NDArray[Any], task: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """A fifth of the rows held out, each class in proportion where that can be; none of few."""
    everything = np.arange(len(y))
    if len(y) < 10:
        return everything, everything[:0]
    strata = None
    if task == "classification":
        _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
        strata = codes if counts.min() >= 2 and len(counts) <= 0.2 * len(y) else None
    learnt, held = train_test_split(everything, test_size=0.2, random_state=0, stratify=strata)
    return np.sort(learnt), np.sort(held)


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
    data = _chosen(request, job)
    begin = time.monotonic()
    assembly = _assembled(request, data, time_limit=TIME_LIMIT)
    machine_of(assembly.estimator).set_params(callbacks=[_watched(job, begin)])
    learnt, held = _split(assembly.y, assembly.task)
    X, y = assembly.X, assembly.y
    job.send({"progress": {"seconds": 0.0, "rows": len(learnt)}})
    model = assembly.estimator.fit(taken(X, learnt), y[learnt])
    fitted = time.monotonic() - begin
    machine_of(model).set_params(callbacks=None)
    if job.cancelled:
        return
    yield from _told(job, data, assembly, model, (learnt, held), fitted)


def _told(
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
    record.bounds = bounds_of(model, *rows)
    scored = (taken(X, held), y[held]) if len(held) else None
    shown = Shown(model, rows, scored, data.rows(held) if len(held) else None)
    job.memory |= {"model": model, "X": X, "y": y, "chosen": data}
    job.memory["made"] = {
        "model": ("model.mercer", "application/octet-stream", _saved(model, data, assembly)),
        "report": ("report.html", "text/html; charset=utf-8", page(record, shown).encode()),
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
        {"row": int(places[k]), "truth": _shown(_plain(y[places[k]])), "said": _shown(_plain(said[k])),
         "item": _item(data, int(places[k]))}
        for k in order
    ]  # fmt: skip


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _before(model: Any, X: Any) -> Any:
    return model[:-1].transform(X) if hasattr(model, "steps") else X


def _map(model: Any, X: Any, y: NDArray[Any]) -> Answer:
    """Rows learnt from, placed by the two largest components of the kernel; who is a support vector."""
    machine = machine_of(model)
    chosen = np.unique(np.linspace(0, len(y) - 1, min(ON_THE_MAP, len(y))).astype(int))
    if len(chosen) < 3:
        return {}, {}
    try:
        gram = machine.expansion_.kernel(taken(_before(model, X), chosen))
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


# --- explaining -------------------------------------------------------------------------------


def explain(request: Request, job: Job) -> Iterator[Answer]:
    """Why a row is decided as it is: contributions that add up to the decision value."""
    model, X, data = (job.memory.get(key) for key in ("model", "X", "chosen"))
    if model is None or data is None:
        raise DataError("train a model first")
    k = request.get("row")
    if not isinstance(k, int) or not 0 <= k < len(data):
        raise ParameterError(f"row must be from 0 to {len(data) - 1}, got {k!r}")
    item = taken(X, np.array([k]))
    said = _plain(model.predict(item)[0])
    item = _before(model, item)
    found = mercer.explain(machine_of(model), item[0] if isinstance(item, list) else item)
    function = _function(found, said)
    table = found.by_term or found.by_feature or found.by_position or found.by_support_vector
    yield (
        {
            "row": k,
            "said": _shown(said),
            "truth": _shown(_plain(job.memory["y"][k])),
            "of": found.functions[function],
            "kind": table.kind,
            "contributions": table.top(14, function),
            "rest": max(0, len(table.names) - 14),
            "intercept": float(found.intercept[function]),
            "decision": float(found.decision[function]),
            "text": str(data.data[k])[:2000] if data.kind == "texts" else None,
            "words": found.by_feature.as_dict(function) if data.kind == "texts" and found.by_feature else None,
            "item": _item(data, k),
        },
        {},
    )


def _function(found: Any, said: Any) -> int:
    """A decision function that has to do with what was said; the first where all have."""
    names = [str(name) for name in found.functions]
    return next((k for k, name in enumerate(names) if str(said) in name), 0)


# --- tuning -----------------------------------------------------------------------------------


def tune(request: Request, job: Job) -> Iterator[Answer]:
    """Cross-validate C against gamma, one value of gamma after the other, then fit the best."""
    data = _chosen(request, job)
    begin = time.monotonic()
    assembly = _assembled(request, data)
    learnt, held = _split(assembly.y, assembly.task)
    machine, y = machine_of(assembly.estimator), assembly.y[learnt]
    X = taken(assembly.X, learnt)
    steps = assembly.estimator.steps[:-1] if hasattr(assembly.estimator, "steps") else []
    for _, step in steps:
        X = step.fit_transform(X)
    if hasattr(X, "schema"):
        X = as_frame(X).rows()
    gammas = _gammas(machine.kernel, X)
    units = 1.0 if assembly.task == "classification" else float(np.std(y)) or 1.0
    scores, best = np.full((len(gammas), len(CS)), np.nan), (-np.inf, 0, 0)
    for row, gamma in enumerate(gammas):
        search = _search(machine, gamma, units, job).fit(X, y)
        if job.cancelled:
            return
        scores[row] = np.asarray(search.cv_results_["mean_test_score"], dtype=float)
        for column, value in enumerate(scores[row]):
            if value > best[0]:
                best = (float(value), row, column)
        told = {"Cs": CS, "gammas": gammas, "done": row + 1, "best": [best[0], best[1], best[2]],
                "score": "accuracy" if assembly.task == "classification" else "R²"}  # fmt: skip
        job.send({"heat": {**told, "seconds": time.monotonic() - begin}}, {"scores": scores})
        if job.stopped:
            break
    if not np.isfinite(best[0]):
        raise DataError("no setting could be scored; there may be too few rows of a class for five folds")
    chosen: dict[str, Any] = {
        "C": CS[best[2]] * units,
        **({} if gammas[best[1]] is None else {"gamma": gammas[best[1]]}),
    }
    machine_of(assembly.estimator).set_params(**_settings(machine.kernel, chosen), time_limit=TIME_LIMIT)
    model = assembly.estimator.fit(taken(assembly.X, learnt), y)
    notes = (*assembly.notes, f"chosen in {FOLDS} folds: {', '.join(f'{k} = {v:.4g}' for k, v in chosen.items())}")
    yield from _told(job, data, replace(assembly, notes=notes), model, (learnt, held), time.monotonic() - begin)


def _gammas(kernel: Any, X: Any) -> list[float | None]:
    """Values around the usual one for a kernel that has a gamma; else only the one that it has."""
    if isinstance(kernel, str):
        return [float(gamma) / X.shape[1] for gamma in GAMMAS] if kernel in ("rbf", "poly", "sigmoid") else [None]
    return list(GAMMAS) if hasattr(kernel, "gamma") else [None]


def _settings(kernel: Any, chosen: dict[str, Any]) -> dict[str, Any]:
    if isinstance(kernel, str) or "gamma" not in chosen:
        return chosen
    return {"C": chosen["C"], "kernel": kernel.replace(gamma=chosen["gamma"])}


def _search(machine: Any, gamma: float | None, units: float, job: Job) -> Any:
    own = machine.get_params(deep=False)
    kind = SVCCV if hasattr(machine, "class_weight") else SVRCV
    more = {"epsilon": own["epsilon"]} if kind is SVRCV else {}
    return kind(
        Cs=[units * C for C in CS],
        gammas=None if gamma is None else [gamma],
        kernel=own["kernel"],
        cv=FOLDS,
        refit=False,
        callbacks=[job.watch],
        **more,
    )


# --- a model file -----------------------------------------------------------------------------


def inspect(request: Request, job: Job) -> Iterator[Answer]:
    """What an uploaded `.mercer` file holds; nothing in it is executed."""
    name, body = _uploaded(job, request)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.mercer"
        path.write_bytes(body)
        try:
            model, said = mercer.load(path, mapped=False), describe(path)
        except MercerError as error:
            # The path is ours and says nothing to anybody.
            raise DataError(str(error).replace(str(path), name or "the file")) from error
    about = {key: said.get(key) for key in ("created", "mercer", "versions", "metadata")}
    yield {"name": name, "model": finite(describe_model(model)), "file": finite(about)}, {}


ACTIONS: dict[str, Action] = {
    "shipped": shipped,
    "open": open_data,
    "resume": resume,
    "train": train,
    "explain": explain,
    "tune": tune,
    "inspect": inspect,
}
