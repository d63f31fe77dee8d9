"""The record of a fit, drawn with rich on standard error."""

from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mercer.cli.terminal.output import console

GOOD, POOR = "bold green", "bold yellow"
_LARGEST_CONFUSION = 12


def show_record(record: Any, out: Console | None = None) -> None:
    """Print what a record says: score, confusion, support vectors, certificate, bounds, time."""
    out = out or console()
    out.print()
    out.print(Text(record.title, style="bold"), soft_wrap=True)
    for note in record.notes:
        out.print(Text(f"  {note}", style="dim"), soft_wrap=True)
    out.print()
    for name, value in rows_of(record):
        line = Text(f"  {name:<18}", style="dim")
        out.print(line.append(value if isinstance(value, Text) else Text(str(value), style="default")), soft_wrap=True)
    if record.scores and "confusion" in record.scores:
        _show_confusion(out, record.scores)
    _show_bounds(out, record)
    out.print()


def rows_of(record: Any) -> list[tuple[str, Any]]:
    """The lines of the report."""
    model, rows = record.model, []
    if record.scores:
        rows += _score_rows(record.scores)
    rows.append(("machine", " > ".join([*model["steps"], model["estimator"]])))
    if model["kernel"]:
        rows.append(("kernel", model["kernel"]))
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
        value.append(f"  {scores['correct']} of {scores['rows']} right, {how}; 95 % interval {low:.1%} to {high:.1%}")
        return [("accuracy", value)]
    value = Text("-" if scores["r2"] is None else f"{scores['r2']:.3f}", style="bold").append(f"  {how}")
    error = f"{scores['mean_absolute_error']:.4g}  (always saying the median: {scores['baseline']:.4g})"
    return [("R²", value), ("mean abs. error", error)]


def certificate_rows(model: dict[str, Any]) -> list[tuple[str, Any]]:
    """Status and certificate."""
    rows: list[tuple[str, Any]] = []
    if model["status"]:
        value = Text(model["status"], style=GOOD if model["status"] == "OPTIMAL" else POOR)
        rows.append(("status", value.append(f"  {model['meaning']}", style="dim")))
    found = model["certificate"]
    if found:
        problems = f", {found['problems']} two-class problems" if found["problems"] > 1 else ""
        values = f"primal {found['primal']:.8g}, dual {found['dual']:.8g}, gap {found['gap']:.1e}{problems}"
        rows.append(("certificate", values))
    if distance := model.get("distance"):
        rows.append(("distance", f"{distance['value']:.6g} to the exact machine, by {distance['landmarks']} landmarks"))
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
    out.print(Text("\n  down: what it was; across: what was said", style="dim"))
    out.print(table)


def _cell(value: int, is_right: bool) -> Text:
    if not value:
        return Text("·", style="dim")
    return Text(str(value), style="bold" if is_right else POOR)


def _show_bounds(out: Console, record: Any) -> None:
    bounds = record.bounds
    said = [one for one in bounds if one["applies"] and one["value"] < 1]
    if record.no_bounds:
        out.print(Text("  bounds           ", style="dim").append(f" none: {record.no_bounds}"), soft_wrap=True)
    if not bounds:
        return
    out.print(Text("  bounds", style="dim"))
    for one in said:
        line = Text(f"    {one['value']:.4f}  ", style="bold").append(f"{one['name']}: {one['says']}", style="default")
        out.print(line, soft_wrap=True)
    rest = len(bounds) - len(said)
    if rest:
        which = f"{rest} more" if said else f"none says anything here: all {rest}"
        out.print(Text(f"    {which} of mercer.theory are vacuous or do not apply", style="dim"))
