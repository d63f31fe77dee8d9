"""Your data: why a row is decided as it is, and what a model file holds."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

import mercer
from mercer._errors import DataError, MercerError, ParameterError
from mercer.exchange.model_file.save import describe
from mercer.report.figures import taken
from mercer.report.model_words import describe_model, machine_of
from mercer.report.record import finite
from mercer.studio.server.worker import Action, Answer, Job, Request
from mercer.studio.views.opening import item_words, shown, uploaded
from mercer.studio.views.training import before_the_machine, plain

if TYPE_CHECKING:
    from mercer.explanation.explanation import Contributions

# Contributions that are shown one by one.
LARGEST = 14


def explain(request: Request, job: Job) -> Iterator[Answer]:
    """Why a row is decided as it is: contributions that add up to the decision value."""
    model, X, data = (job.memory.get(key) for key in ("model", "X", "chosen"))
    if model is None or data is None:
        raise DataError("train a model first")
    k = request.get("row")
    if not isinstance(k, int) or not 0 <= k < len(data):
        raise ParameterError(f"row must be from 0 to {len(data) - 1}, got {k!r}")
    item = taken(X, np.array([k]))
    said = plain(model.predict(item)[0])
    item = before_the_machine(model, item)
    found = mercer.explain(machine_of(model), item[0] if isinstance(item, list) else item)
    function = _function(found, said)
    table = cast("Contributions", found.by_term or found.by_feature or found.by_position or found.by_support_vector)
    yield (
        {
            "row": k,
            "said": shown(said),
            "truth": shown(plain(job.memory["y"][k])),
            "of": found.functions[function],
            "kind": table.kind,
            "contributions": table.top(LARGEST, function),
            "rest": max(0, len(table.names) - LARGEST),
            "intercept": float(found.intercept[function]),
            "decision": float(found.decision[function]),
            "text": str(data.data[k])[:2000] if data.kind == "texts" else None,
            "words": found.by_feature.as_dict(function) if data.kind == "texts" and found.by_feature else None,
            "item": item_words(data, k),
        },
        {},
    )


def _function(found: Any, said: Any) -> int:
    """A decision function that has to do with what was said; the first where all have."""
    names = [str(name) for name in found.functions]
    return next((k for k, name in enumerate(names) if str(said) in name), 0)


def inspect(request: Request, job: Job) -> Iterator[Answer]:
    """What an uploaded `.mercer` file holds; nothing in it is executed."""
    name, body = uploaded(job, request)
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


ACTIONS: dict[str, Action] = {"explain": explain, "inspect": inspect}
