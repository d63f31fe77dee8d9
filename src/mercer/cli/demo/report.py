"""The demo's report: what was learnt from each data set, how well, how surely and with what proof, on two screens."""

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from mercer import __version__
from mercer.cli.terminal.output import console as usual_console
from mercer.cli.terminal.output import print_row, print_text
from mercer.cli.terminal.record_table import GOOD, POOR


def show_report(records: dict[str, Any], about: dict[str, str], folder: Path, out: Console | None = None) -> None:
    """Print a paragraph for each fit, with what its data are, and where to look next."""
    out = out or usual_console()
    print_text(out, Text.assemble((f"\nMercer {__version__}", "bold"), "  each answer with its proof"))
    for name, record in records.items():
        print_text(out, Text.assemble((f"\n{name}", "bold"), f"  {about[name]}"))
        for label, words in _rows(record):
            print_row(out, label, words)
    print_text(
        out,
        Text(
            "\nThe best possible value lies between dual and primal, both recomputed from the data and the "
            "coefficients; the gap is the distance between them, relative to the primal.",
            style="dim",
        ),
    )
    _show_next(out, folder)


def _rows(record: Any) -> list[tuple[str, Any]]:
    model, data, scores = record.model, record.data, record.scores
    status = model["status"]
    found = model["certificate"]
    proof = Text(status, style=GOOD if status == "OPTIMAL" else POOR)
    proof.append(f"  primal {found['primal']:.4f}, dual {found['dual']:.4f}, gap {found['relative_gap']:.0e}")
    well = Text(f"{scores['accuracy']:.1%}", style="bold").append(
        f" of {scores['rows']} held-out rows; always predicting {scores['most_frequent']}: {scores['baseline']:.1%}"
    )
    low, high = scores["interval"]
    learnt = f"{len(data['classes'])} classes from {data['learnt_from']:,} rows in {record.seconds['fit']:.2f} s"
    learnt += f", {model['n_support']} support vectors"
    return [
        ("learnt", learnt),
        ("kernel", model["kernel_in_short"]),
        ("accuracy", well),
        ("how sure", f"{low:.1%} to {high:.1%} (95% interval){_bound(record)}"),
        ("proof", proof),
    ]


def _bound(record: Any) -> str:
    said = [one for one in record.bounds if one["applies"] and one["value"] < 1]
    best = min(said, key=lambda one: one["value"], default=None)
    return "" if best is None else f"; leave-one-out at least {1 - best['value']:.0%}"


def _show_next(out: Console, folder: Path) -> None:
    rows = (
        ("in a browser", folder / "index.html"),
        ("why one row", f"mercer inspect {folder}/ferries.mercer {folder}/data/ferries.csv --row 3"),
        ("what a file holds", f"mercer describe {folder}/data/ferries.csv --target late"),
        ("by hand", "mercer studio"),
    )
    print_text(out, Text("\nWhere to look", style="bold"))
    for label, words in rows:
        print_row(out, label, words)
    out.print()
