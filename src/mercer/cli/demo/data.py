"""Small data sets of five kinds, written as files: what the demo and the documentation learn from.

All but the digits (which scikit-learn ships) are made here, the same ones every time.
"""

import csv
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from mercer.cli.demo.words import NOTES, NOUNS, PLACES, SHARED, SUBJECTS, VERBS

ROUTES = {"Skerry": 0.9, "Holm": 0.0, "Strand": -0.7}
VESSELS = {"Petrel": 0.5, "Tern": -0.4, "Fulmar": 0.0, "Auk": 0.2}
# What nobody can know beforehand, so that no model is perfect.
_NOISE = 0.6


def write_all(folder: Path) -> dict[str, Path]:
    """Write every data set below `folder`; name -> path."""
    folder.mkdir(parents=True, exist_ok=True)
    written = {
        "digits": folder / "digits.csv",
        "texts": folder / "notes",
        "ferries": folder / "ferries.csv",
        "trees": folder / "sentences.trees",
        "graphs": folder / "rings",
    }
    write_digits(written["digits"])
    write_texts(written["texts"])
    write_ferries(written["ferries"])
    write_trees(written["trees"])
    write_graphs(written["graphs"])
    return written


def write_digits(path: Path) -> None:
    """Handwritten digits, 8 x 8 pixels: rows of numbers."""
    bunch = load_digits()
    names = [f"pixel_{row}_{column}" for row in range(8) for column in range(8)]
    rows = ([*map(int, pixels), int(digit)] for pixels, digit in zip(bunch.data, bunch.target, strict=True))
    _write_csv(path, [*names, "digit"], rows)


def write_texts(folder: Path, count: int = 90) -> None:
    """Notes from a garden, a harbour and a workshop: a folder for each."""
    rng = np.random.default_rng(15)
    others = {name: [s for key, own in SUBJECTS.items() if key != name for s in own] for name in SUBJECTS}
    for name, own in SUBJECTS.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        for k in range(count):
            said = [*rng.choice(own, rng.integers(1, 3)), *rng.choice(SHARED, rng.integers(1, 4))]
            if rng.random() < 0.35:
                said.append(rng.choice(others[name]))
            text = ". ".join(str(said[place]) for place in rng.permutation(len(said)))
            (folder / name / f"{k:03d}.txt").write_text(text + ".\n", encoding="utf-8")


def write_ferries(path: Path, count: int = 700) -> None:
    """Crossings of a ferry line: dates, numbers, names and remarks, some of them missing."""
    rng = np.random.default_rng(16)
    rows = [_crossing(rng) for _ in range(count)]
    _write_csv(path, ["day", "wind", "passengers", "route", "vessel", "remark", "late"], rows)


def _crossing(rng: np.random.Generator) -> list[Any]:
    day = date(2025, 1, 1) + timedelta(days=int(rng.integers(365)))
    wind, passengers = rng.gamma(4.0, 2.2), int(rng.integers(12, 240))
    route, vessel = str(rng.choice(list(ROUTES))), str(rng.choice(list(VESSELS)))
    mood = "rough" if rng.random() < 1 / (1 + np.exp(-(wind - 9) / 2)) else "calm"
    remark = ", ".join(map(str, rng.choice(NOTES[mood], 2, replace=False)))
    pull = 0.35 * (wind - 9) + ROUTES[route] + VESSELS[vessel] + (1.3 if mood == "rough" else -0.9)
    pull += 0.8 * (passengers > 160) + 0.5 * (day.month in (1, 2, 11, 12))
    late = "yes" if pull + rng.logistic(scale=_NOISE) > 0.4 else "no"
    row = [day.isoformat(), f"{wind:.1f}", passengers, route, vessel, remark]
    return ["" if k in (1, 4, 5) and rng.random() < 0.06 else value for k, value in enumerate(row)] + [late]


def write_trees(path: Path, count: int = 240) -> None:
    """Sentences as bracketed trees, in the active or in the passive voice."""
    rng = np.random.default_rng(17)
    lines = [f"{'passive' if k % 2 else 'active'} {_sentence(rng, bool(k % 2))}" for k in range(count)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _sentence(rng: np.random.Generator, is_passive: bool) -> str:
    subject, other = (_noun_phrase(rng) for _ in range(2))
    verb = str(rng.choice(list(VERBS)))
    also = f" (PP {rng.choice(PLACES).replace(' ', '_')})" if rng.random() < 0.5 else ""
    if is_passive:
        by = f" (PP (P by) {other})" if rng.random() < 0.6 else ""
        return f"(S {subject} (VP (AUX was) (VP (V {VERBS[verb]}){by}){also}))"
    # An active sentence may have an auxiliary and a place, too: words alone do not tell.
    if rng.random() < 0.4:
        return f"(S {subject} (VP (AUX was) (ADJ {rng.choice(list(VERBS.values()))}){also}))"
    return f"(S {subject} (VP (V {verb}) {other}{also}))"


def _noun_phrase(rng: np.random.Generator) -> str:
    return f"(NP (D {rng.choice(['the', 'a', 'this'])}) (N {rng.choice(NOUNS)}))"


def write_graphs(folder: Path, count: int = 160) -> None:
    """Rings with tails, five nodes round or six, in the text format of the TU Dortmund collection."""
    rng = np.random.default_rng(18)
    folder.mkdir(parents=True, exist_ok=True)
    arcs: list[tuple[int, int]] = []
    owner: list[int] = []
    labels: list[int] = []
    for graph in range(1, count + 1):
        first, size = len(owner) + 1, 6 if graph % 2 else 5
        ring = [(first + k, first + (k + 1) % size) for k in range(size)]
        nodes = size
        for _ in range(int(rng.integers(2, 7))):
            ring.append((first + int(rng.integers(nodes)), first + nodes))
            nodes += 1
        arcs += [pair for a, b in ring for pair in ((a, b), (b, a))]
        owner += [graph] * nodes
        # A label that tells a little: six-rings have more of the first kind.
        labels += [int(rng.random() < (0.62 if size == 6 else 0.38)) for _ in range(nodes)]
    name = folder.name
    _write_lines(folder / f"{name}_A.txt", (f"{a}, {b}" for a, b in arcs))
    _write_lines(folder / f"{name}_graph_indicator.txt", owner)
    _write_lines(folder / f"{name}_node_labels.txt", labels)
    _write_lines(folder / f"{name}_graph_labels.txt", (1 if graph % 2 else -1 for graph in range(1, count + 1)))


def _write_lines(path: Path, lines: Any) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="ascii")


def _write_csv(path: Path, names: list[str], rows: Any) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(rows)
