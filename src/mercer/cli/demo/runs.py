"""The demo's fits, each as `mercer train` would do it, and the page that leads to their reports."""

from base64 import b64encode
from html import escape
from pathlib import Path
from typing import Any

from mercer.cli.demo.data import write_all
from mercer.cli.terminal.asked import read_and_assemble
from mercer.cli.terminal.exit_codes import quietly
from mercer.cli.terminal.options import FitOptions, LearningOptions, MachineOptions
from mercer.cli.terminal.output import replaced, say
from mercer.cli.terminal.progress import shown_progress
from mercer.report.html_page import styled
from mercer.workflow.run import Run

HOLDOUT = 0.25
RUNS: dict[str, tuple[LearningOptions, MachineOptions, str]] = {
    "digits": (LearningOptions(target="digit"), MachineOptions(C=10.0), "handwritten digits, rows of numbers"),
    "texts": (LearningOptions(), MachineOptions(C=10.0), "notes by three people, compared by words and letters"),
    "ferries": (LearningOptions(target="late"), MachineOptions(C=3.0), "a table of dates, numbers, names and remarks"),
}


def run_all(folder: Path) -> dict[str, Any]:
    """Write the data, fit, save and report each; name -> record."""
    sources = write_all(folder / "data")
    records = {}
    for name, (reading, machine, words) in RUNS.items():
        say(f"{name}: {words}")
        data, assembly, seconds = read_and_assemble(sources[name], reading, machine, FitOptions(), is_quiet=True)
        run = Run(data, assembly, holdout=HOLDOUT, seconds=seconds)
        with quietly():
            run.fit(shown_progress)
        run.save(folder / f"{name}.mercer")
        run.score()
        run.write_report(folder / f"{name}.html")
        records[name] = run.record
        if run.status == "INTERRUPTED":
            break
    return records


def write_cover(folder: Path, records: dict[str, Any], picture: Path | None) -> Path:
    """The page with a card for each report, and the picture where there is one."""
    cards = "".join(_card(name, record) for name, record in records.items())
    command = "<code>mercer demo</code>"
    also = f"{command} trained each model, scored it on held-out rows and proved it optimal; each page has the details."
    words = "Support vector machines, each answer with its proof."
    head = f'<header><div class="name"><h1>Mercer</h1><p class="soft">{words}</p></div></header>'
    body = f'{head}<div class="cards">{cards}</div><p class="soft">{also}</p>{_embedded(picture)}'
    path = folder / "index.html"
    with replaced(path) as file:
        file.write(styled("Mercer: the demo", body))
    return path


def _embedded(picture: Path | None) -> str:
    if picture is None:
        return ""
    content = b64encode(picture.read_bytes()).decode("ascii")
    words = "Iris petals. Solid: the boundary. Dashed: the margins. Rings: support vectors."
    image = f'<img src="data:image/png;base64,{content}" alt="{words}" style="width:100%;border-radius:10px">'
    return f"<figure>{image}<figcaption>{words}</figcaption></figure>"


def _card(name: str, record: Any) -> str:
    gap = record.model["certificate"]["relative_gap"]
    return (
        f'<a class="card" href="{escape(name, quote=True)}.html"><span>{escape(RUNS[name][2])}</span>'
        f"<b>{escape(name)}: {record.scores['accuracy']:.1%}</b>"
        f"<span>{record.model['n_support']} support vectors, {escape(record.model['status'])}, gap {gap:.0e}</span></a>"
    )
