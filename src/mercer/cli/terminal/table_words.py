"""What was understood of data, in words: shown before anything is fitted."""

from collections.abc import Sequence
from typing import Any

from rich.text import Text

from mercer.cli.terminal.output import say_rows
from mercer.workflow.target import target_words

_KINDS = ("numbers", "dates", "categories", "texts", "items")
# Names of a kind that a person reads before a fit; `mercer describe` shows all.
SHOWN = 12
_STYLES = {"numbers": "default"}


def show_data(about: dict[str, Any], most: int | None = SHOWN, to_stdout: bool = False) -> None:
    """Rows, target, columns by what they hold, and what is left out and why."""
    columns = about["columns"]
    count = f", {len(columns)} column{'s' * (len(columns) != 1)}" if columns else ""
    what = f"{count} besides the target" if about["target"] and columns else count
    title = f"{about['name']}: {about['rows']:,} {about['kind'] if not columns else 'rows'}{what}"
    rows = [("to predict", Text(target_words(about["target"])))] if about["target"] else []
    for kind in _KINDS:
        names = [_words(one) for one in columns if one["kind"] == kind and not one["left_out"]]
        rows += [(kind, Text(_listed(names, most)))] if names else []
    reasons: dict[str, list[str]] = {}
    for one in columns:
        reasons.setdefault(one["left_out"], []).append(one["name"])
    out = [f"{_listed(names, most)} ({why})" for why, names in reasons.items() if why]
    if out:
        rows.append(("left out", Text(", ".join(out), style="yellow")))
    if any(one["left_out"] == "names the rows" for one in columns):
        rows.append(("", Text("use --keep NAME to learn from such a column anyway", style="dim")))
    if about["unlabeled"]:
        rows.append(("", Text(_unlabeled(about["unlabeled"]), style="yellow")))
    rows += [(note["column"], Text(note["text"], style=_STYLES.get(note["kind"], "yellow"))) for note in _notes(about)]
    say_rows(title, rows, to_stdout)


def _unlabeled(count: int) -> str:
    return "1 row has no value to predict" if count == 1 else f"{count:,} rows have no value to predict"


def _notes(about: dict[str, Any]) -> list[dict[str, Any]]:
    """The reader's notes on the columns that are not left out."""
    out = {one["name"] for one in about["columns"] if one["left_out"]}
    return [note for note in about["notes"] if note["column"] not in out]


def _words(one: dict[str, Any]) -> str:
    """A column's name, and what is worth knowing about it."""
    also = [f"{one['different']} different"] if one["kind"] == "categories" else []
    also += [f"{one['missing']:,} missing"] if one["missing"] else []
    return f"{one['name']} ({', '.join(also)})" if also else one["name"]


def _listed(names: Sequence[str], most: int | None) -> str:
    if most is None or len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {len(names) - most} more"
