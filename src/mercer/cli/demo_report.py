"""The demo's report, drawn with rich on standard error; NO_COLOR is rich's own affair."""

from collections.abc import Callable, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mercer import __version__
from mercer.cli.demo_fits import Fit

GOOD, POOR = "bold green", "bold yellow"


def _milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:,.1f} ms"


def _status(fit: Fit) -> Text:
    return Text(fit.status, style=GOOD if fit.status == "OPTIMAL" else POOR)


ROWS: Sequence[tuple[str, Callable[[Fit], str | Text]]] = (
    ("model", lambda fit: fit.model),
    ("learnt from", lambda fit: f"{fit.train_rows} x {fit.features}, {fit.classes} classes"),
    ("accuracy, held out", lambda fit: Text(f"{fit.accuracy:.1%}  ({fit.correct} of {fit.test_rows})", style="bold")),
    ("support vectors", lambda fit: f"{fit.support_vectors}  ({fit.support_vectors / fit.train_rows:.0%} of the rows)"),
    ("", lambda _: ""),
    ("certificate", lambda fit: f"{fit.problems} binary problems"),
    ("  primal", lambda fit: f"{fit.primal:.6f}"),
    ("  dual", lambda fit: f"{fit.dual:.6f}"),
    ("  gap", lambda fit: f"{fit.gap:.1e}"),
    ("  worst relative gap", lambda fit: f"{fit.relative_gap:.1e}"),
    ("status", _status),
    ("", lambda _: ""),
    ("time to fit", lambda fit: _milliseconds(fit.fit_seconds)),
    ("  first, with set-up", lambda fit: _milliseconds(fit.first_fit_seconds)),
    ("time to predict", lambda fit: f"{_milliseconds(fit.predict_seconds)} for {fit.test_rows} rows"),
)


def show_report(fits: Sequence[Fit], console: Console | None = None) -> None:
    """Print one column for each fit."""
    console = console or Console(stderr=True)
    title = Text.assemble(("Mercer ", "bold"), (__version__, "bold"), "  each answer with its proof")
    table = Table(box=SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)
    table.add_column("", style="dim", no_wrap=True)
    for fit in fits:
        table.add_column(fit.data, header_style="bold", overflow="fold")
    for label, describe in ROWS:
        table.add_row(label, *(describe(fit) for fit in fits))
    console.print(table)
    console.print(
        "The gap bounds how far the answer is from the best possible one: "
        "dual <= optimum <= primal, recomputed from data and coefficients alone.\n",
        style="dim",
    )
