"""What came out of the panel, as lines, a page of the documentation and a picture."""

import json
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
BEGIN, END = "<!-- panel: begin -->", "<!-- panel: end -->"


def line(found):
    """One table on a line."""
    told = "  ".join(
        f"{who} {one['score']:.3f} ({one['seconds']:.1f} s)" if one["score"] is not None else f"{who} failed"
        for who, one in found["by"].items()
    )
    return f"{found['table']:<20} {found['rows']:>5} rows  {told}"


def _scores(results):
    """(contestants, scores of shape (tables, contestants)) of the tables that all have a score on."""
    whole = [
        one for one in results if not one["is_text"] and all(each["score"] is not None for each in one["by"].values())
    ]
    who = list(whole[0]["by"]) if whole else []
    return who, np.array([[one["by"][name]["score"] for name in who] for one in whole]), whole


def summary(results):
    """Mean score, mean rank and processor seconds of each."""
    who, scores, whole = _scores(results)
    if not who:
        return "no table that all have a score on"
    ranks = (scores[:, None, :] > scores[:, :, None] + 1e-12).sum(axis=2) + 1.0
    ranks += 0.5 * ((np.abs(scores[:, None, :] - scores[:, :, None]) <= 1e-12).sum(axis=2) - 1)
    seconds = [sum(one["by"][name]["seconds"] for one in whole) for name in who]
    columns = zip(who, scores.mean(axis=0), ranks.mean(axis=0), seconds, strict=True)
    rows = [f"| {name} | {mean:.4f} | {rank:.2f} | {took:.0f} |" for name, mean, rank, took in columns]
    head = [f"| {len(scores)} tables | mean score | mean rank | processor seconds |", "|---|---|---|---|"]
    return "\n".join([*head, *rows])


def _table(results):
    who = list(dict.fromkeys(name for one in results for name in one["by"]))
    head = [f"| table | rows | {' | '.join(who)} |", f"|---|---|{'---|' * len(who)}"]
    rows = []
    for one in sorted(results, key=lambda each: (each["is_text"], each["task"], each["table"])):
        scores = {name: each["score"] for name, each in one["by"].items() if each["score"] is not None}
        best = max(scores.values())
        cells = [_cell(scores.get(name), best) for name in who]
        mark = " ¹" if one["is_aside"] else ""
        rows.append(f"| {one['table']}{mark} | {one['rows']:,} | {' | '.join(cells)} |")
    return "\n".join([*head, *rows])


def _cell(score, best):
    return "–" if score is None else f"**{score:.3f}**" if score == best else f"{score:.3f}"


def write(path):
    """Put results into the page, between its marks, and draw the picture."""
    results = [json.loads(text) for text in path.read_text().splitlines()]
    aside = [one for one in results if one["is_aside"]]
    parts = ["All tables:", summary(results), "The tables kept for the last run:", summary(aside), _table(results)]
    page = ROOT / "docs" / "panel.md"
    before, _, rest = page.read_text().partition(BEGIN)
    page.write_text(before + "\n\n".join([BEGIN, *parts, END]) + rest.partition(END)[2])
    draw(results, ROOT / "docs" / "_static" / "panel.png")


def draw(results, path):
    """Each table a row: where Mercer stands among the others."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    who, scores, whole = _scores(results)
    is_own = np.array([name.startswith("mercer") for name in who])
    order = np.argsort(scores[:, is_own].max(axis=1) - scores[:, ~is_own].max(axis=1))
    figure, axes = plt.subplots(figsize=(7.0, 0.19 * len(order) + 1.0), layout="constrained")
    colours = dict(zip(who, ("#b5362c", "#2a6fb0", "#e08b1d", "#3a923a", "#555555", "#8d6bb8"), strict=False))
    for place, name in enumerate(who):
        below = scores[order, place] - scores[order].max(axis=1)
        mark = "o" if is_own[place] else "|"
        axes.plot(np.maximum(below, -0.25), np.arange(len(order)), mark, label=name, color=colours.get(name),
                  markersize=6 if mark == "o" else 9, markeredgewidth=1.6, zorder=2 if mark == "o" else 3)  # fmt: skip
    axes.set_yticks(np.arange(len(order)), [whole[k]["table"] for k in order], fontsize=7)
    axes.set_xlabel("score below the best of the row (accuracy or R²; cut at 0.25)")
    axes.grid(axis="x", alpha=0.3)
    axes.legend(fontsize=7, loc="lower left")
    figure.savefig(path, dpi=120)
    plt.close(figure)
