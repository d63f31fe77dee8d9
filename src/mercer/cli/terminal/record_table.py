"""The record of a fit, drawn with rich on standard error."""

from collections.abc import Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mercer.cli.terminal.output import console, print_row, print_text

GOOD, POOR = "bold green", "bold yellow"
_LARGEST_CONFUSION = 12
_FIRST, _LAST = 8, 2


def show_record(record: Any, out: Console | None = None, told: Sequence[str] = ()) -> None:
    """Print a record: score, confusion, support vectors, certificate, bounds, times, and the notes not yet `told`."""
    out = out or console()
    out.print()
    print_text(out, Text(record.title, style="bold"))
    for note in _fewer([note for note in record.notes if note not in told]):
        print_text(out, Text(note, style="dim"), indent=2)
    out.print()
    for name, value in rows_of(record):
        print_row(out, name, value)
    if record.scores and "confusion" in record.scores:
        _show_confusion(out, record.scores)
    _show_bounds(out, record)
    out.print()


def _fewer(notes: list[str]) -> list[str]:
    """The notes a person reads: if there are many, such as one for each of 64 columns, the first and the last."""
    if len(notes) <= _FIRST + _LAST + 1:
        return notes
    left = len(notes) - _FIRST - _LAST
    return [*notes[:_FIRST], *notes[-_LAST:], f"({left} more lines are in --json and --report)"]


def rows_of(record: Any) -> list[tuple[str, Any]]:
    """The lines of the report."""
    model, rows = record.model, []
    if record.scores:
        rows += _score_rows(record.scores)
    rows.append(("machine", " > ".join([*model["steps"], model["estimator"]])))
    if model["kernel"]:
        rows.append(("kernel", model["kernel_in_short"]))
    learnt = record.data["learnt_from"]
    if learnt:
        rows.append(("learnt from", f"{learnt:,} rows"))
    if model["n_support"] is not None:
        share = f"  ({model['n_support'] / learnt:.0%} of the rows)" if learnt else ""
        rows.append(("support vectors", f"{model['n_support']:,}{share}"))
    rows += certificate_rows(model)
    rows += [(f"time to {name}", f"{value:.2f} s") for name, value in record.seconds.items()]
    return rows


def _score_rows(scores: dict[str, Any]) -> list[tuple[str, Any]]:
    how = scores["how"]
    if "accuracy" in scores:
        low, high = scores["interval"]
        value = Text(f"{scores['accuracy']:.1%}", style="bold")
        value.append(f"  {scores['correct']} of {scores['rows']} right, {how}; 95% interval {low:.1%} to {high:.1%}")
        baseline = f"{scores['baseline']:.1%}  always predicting {scores['most_frequent']}"
        return [("accuracy", value), ("baseline", baseline), ("balanced", _balanced(scores))]
    value = Text("-" if scores["r2"] is None else f"{scores['r2']:.3f}", style="bold").append(f"  {how}")
    value.append("; 1 is perfect, 0 no better than always predicting the mean")
    error = f"{scores['mean_absolute_error']:.4g}  (always predicting the median: {scores['baseline']:.4g})"
    return [("R²", value), ("mean abs. error", error)]


def _balanced(scores: dict[str, Any]) -> str:
    words = f"{scores['balanced_accuracy']:.1%}  accuracy if every class counts equally"
    area = scores.get("area_under_curve")
    return words if area is None else f"{words}; area under the curve {area:.3f}"


def certificate_rows(model: dict[str, Any]) -> list[tuple[str, Any]]:
    """Status and certificate."""
    rows: list[tuple[str, Any]] = []
    if model["status"]:
        value = Text(model["status"], style=GOOD if model["status"] == "OPTIMAL" else POOR)
        rows.append(("status", value.append(f"  {model['meaning']}", style="dim")))
    found = model["certificate"]
    if found:
        problems = f", {found['problems']} two-class problems" if found["problems"] > 1 else ""
        values = f"primal {found['primal']:.8g}, dual {found['dual']:.8g}, gap {found['gap']:.2g}{problems}"
        rows.append(("certificate", values))
    if distance := model.get("distance"):
        rows.append(("distance", f"{distance['value']:.3g}  {distance['meaning']}"))
    return rows


def _show_confusion(out: Console, scores: dict[str, Any]) -> None:
    labels, counts = scores["confusion"]["labels"], scores["confusion"]["counts"]
    if len(labels) > _LARGEST_CONFUSION:
        return
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("", style="dim")
    for label in labels:
        table.add_column(Text(str(label)), justify="right", header_style="dim")
    for k, (label, row) in enumerate(zip(labels, counts, strict=True)):
        cells = [_cell(value, k == j) for j, value in enumerate(row)]
        table.add_row(Text(str(label)), *cells)
    out.print(Text("\n  rows: the true class; columns: the predicted one", style="dim"))
    out.print(table)


def _cell(value: int, is_right: bool) -> Text:
    if not value:
        return Text("·", style="dim")
    return Text(str(value), style="bold" if is_right else POOR)


def _show_bounds(out: Console, record: Any) -> None:
    bounds = record.bounds
    said = [one for one in bounds if one["applies"] and one["value"] < 1]
    if record.no_bounds:
        print_row(out, "bounds", f"none: {record.no_bounds}")
    if not bounds:
        return
    for k, one in enumerate(said):
        line = Text(f"{one['value']:.4f}  ", style="bold").append(f"{one['name']}: {one['says']}", style="default")
        print_row(out, "" if k else "bounds", line)
    rest = len(bounds) - len(said)
    if rest:
        which = f"{rest} more" if said else f"none says anything here: all {rest}"
        words = Text(f"{which} from mercer.theory are vacuous or do not apply", style="dim")
        print_row(out, "" if said else "bounds", words)
