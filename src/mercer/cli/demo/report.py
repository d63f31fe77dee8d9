"""The demo's report, one column a data set, drawn with rich on standard error."""

from collections.abc import Callable, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mercer import __version__
from mercer.cli.terminal.output import console as usual_console
from mercer.cli.terminal.record_table import GOOD, POOR


def _status(record: Any) -> Text:
    status = record.model["status"]
    return Text(status, style=GOOD if status == "OPTIMAL" else POOR)


def _accuracy(record: Any) -> Text:
    scores = record.scores
    return Text(f"{scores['accuracy']:.1%}  ({scores['correct']} of {scores['rows']})", style="bold")


def _bound(record: Any) -> str:
    said = [one for one in record.bounds if one["applies"] and one["value"] < 1]
    best = min(said, key=lambda one: one["value"], default=None)
    return "-" if best is None else f"error at most {best['value']:.1%}, {best['key'].replace('_', '-')}"


ROWS: Sequence[tuple[str, Callable[[Any], str | Text]]] = (
    ("kernel", lambda record: record.model["kernel"]),
    ("learnt from", lambda record: f"{record.data['learnt_from']} rows, {len(record.data['classes'])} classes"),
    ("accuracy, held out", _accuracy),
    ("support vectors", lambda r: f"{r.model['n_support']}  ({r.model['n_support'] / r.data['learnt_from']:.0%})"),
    ("", lambda _: ""),
    ("certificate", lambda record: f"{record.model['certificate']['problems']} two-class problems"),
    ("  primal", lambda record: f"{record.model['certificate']['primal']:.6f}"),
    ("  dual", lambda record: f"{record.model['certificate']['dual']:.6f}"),
    ("  worst relative gap", lambda record: f"{record.model['certificate']['relative_gap']:.1e}"),
    ("status", _status),
    ("leave-one-out bound", _bound),
    ("", lambda _: ""),
    ("time to fit", lambda record: f"{record.seconds['fit']:.2f} s, with set-up"),
)


def show_report(records: dict[str, Any], console: Console | None = None) -> None:
    """Print one column for each fit."""
    console = console or usual_console()
    title = Text.assemble(("Mercer ", "bold"), (__version__, "bold"), "  each answer with its proof")
    table = Table(box=SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)
    table.add_column("", style="dim", no_wrap=True)
    for name in records:
        table.add_column(name, header_style="bold", overflow="fold")
    for label, describe in ROWS:
        table.add_row(label, *(describe(record) for record in records.values()))
    console.print(table)
    console.print(
        "The gap bounds how far the answer is from the best possible one: "
        "dual <= optimum <= primal, recomputed from data and coefficients alone.\n",
        style="dim",
    )
