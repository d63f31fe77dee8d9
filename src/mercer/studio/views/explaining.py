"""Your data: why a row is decided as it is, and what a model file holds."""

from collections.abc import Iterator
from typing import Any

from mercer._errors import DataError, ParameterError
from mercer.exchange.model_file.save import load_bytes
from mercer.studio.server.worker import Action, Answer, Job, Request
from mercer.studio.views.opening import item_words, shown, uploaded
from mercer.studio.views.training import plain
from mercer.workflow.models import describe_file, explain_row

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
    said, found = explain_row(model, X, k)
    said = plain(said)
    function = _function(found, said)
    table = found.main
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
    model, said = load_bytes(body, name or "the file")
    found = describe_file(model, said)
    yield {"name": name, "file": found.pop("file"), "model": found}, {}


ACTIONS: dict[str, Action] = {"explain": explain, "inspect": inspect}
