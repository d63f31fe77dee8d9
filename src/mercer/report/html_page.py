"""The report as one HTML page: no scripts, nothing fetched, readable on paper, dark and light.

Whatever comes from data or from the command line is escaped.
"""

from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from mercer.io.replace_file import replace_file
from mercer.report.examples import examples
from mercer.report.figures import Shown, figures
from mercer.report.record import Record

_LARGEST_CONFUSION = 26


def page(record: Record, shown: Shown) -> str:
    """The whole document.

    Parameters
    ----------
    record : Record
    shown : Shown
        The model and the rows from which pictures are drawn.

    Returns
    -------
    str
        HTML that needs no other file.
    """
    sections = [
        _header(record),
        _cards(record),
        _scores(record),
        _pictures(record, shown),
        _examples(shown),
        f'<div class="pair"><div>{_certificate(record)}</div><div>{_model(record)}</div></div>',
        _bounds(record),
    ]
    return styled(f"{record.title} - Mercer", "".join(sections) + _footer(record))


def styled(title: str, body: str) -> str:
    """A whole document around a body that is already HTML."""
    style = files("mercer.report").joinpath("page.css").read_text(encoding="utf-8")
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">{_POLICY}'
    head += f"<title>{escape(title)}</title><style>{style}</style>"
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body><main>{body}</main></body></html>\n'


# Tells the browser to fetch and run nothing, whatever a label might contain.
_POLICY = (
    '<meta http-equiv="Content-Security-Policy" '
    "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">"
)


def write_page(path: Path, record: Record, shown: Shown) -> Path:
    """Write the page, whole or not at all."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, [page(record, shown).encode()])
    return path


def _header(record: Record) -> str:
    status = record.model["status"] or ""
    badge = f'<span class="badge{"" if status == "OPTIMAL" else " poor"}">{escape(status)}</span>' if status else ""
    kind = "classes" if record.data["task"] == "classification" else "quantities"
    about = f"{record.data['rows']:,} rows ({record.data['format']}), {kind}"
    if record.data["target"]:
        about += f", target <b>{escape(str(record.data['target']))}</b>"
    meaning = escape(record.model["meaning"] or "")
    return (
        f'<header><div class="name"><h1>{escape(record.title)}</h1><p class="soft">{about}</p>'
        f'<p>{badge} <span class="soft">{meaning}</span></p></div>{_hero(record)}</header>'
    )


def _hero(record: Record) -> str:
    scores = record.scores
    if scores is None:
        return ""
    if "accuracy" in scores:
        low, high = scores["interval"]
        below = f"{scores['correct']} of {scores['rows']} right, {escape(scores['how'])}"
        range_ = f"95% interval {low:.1%} to {high:.1%}"
        return f'<div class="hero"><b>{scores["accuracy"]:.1%}</b>{below}<br><span class="soft">{range_}</span></div>'
    value = "-" if scores["r2"] is None else f"{scores['r2']:.3f}"
    return (
        f'<div class="hero"><b>R² {value}</b>{scores["rows"]} rows, {escape(scores["how"])}<br>'
        f'<span class="soft">mean absolute error {scores["mean_absolute_error"]:.4g}</span></div>'
    )


def _cards(record: Record) -> str:
    model, certificate = record.model, record.model["certificate"]
    cards = [("machine", " → ".join([*model["steps"], model["estimator"]]))]
    if record.data["learnt_from"]:
        cards.append(("learnt from", f"{record.data['learnt_from']:,} rows"))
    if model["n_support"] is not None:
        share = f" ({model['n_support'] / record.data['learnt_from']:.0%})" if record.data["learnt_from"] else ""
        cards.append(("support vectors", f"{model['n_support']:,}{share}"))
    if certificate:
        cards.append(("relative gap", f"{certificate['relative_gap']:.1e}"))
    if record.seconds:
        longest = record.seconds.get("fit", max(record.seconds.values()))
        rest = ", ".join(f"{name} {value:.2f}" for name, value in record.seconds.items())
        cards.append((f"{rest} s", f"{longest:.2f} s" + (" to fit" if "fit" in record.seconds else "")))
    body = "".join(f'<div class="card"><span>{escape(n)}</span><b>{escape(str(v))}</b></div>' for n, v in cards)
    return f'<div class="cards">{body}</div>'


def _scores(record: Record) -> str:
    scores = record.scores
    if scores is None:
        return ""
    if "accuracy" not in scores:
        rows = [("R²", scores["r2"]), ("mean absolute error", scores["mean_absolute_error"]),
                ("root mean squared error", scores["root_mean_squared_error"]),
                ("mean absolute error of always predicting the median", scores["baseline"])]  # fmt: skip
        body = "".join(f"<tr><td>{escape(name)}</td><td>{_number(value)}</td></tr>" for name, value in rows)
        return f"<h2>Scores</h2><table>{body}</table>{_folds(scores)}"
    return f'<h2>Scores</h2><div class="pair">{_confusion(scores)}{_classes(scores)}</div>{_folds(scores)}'


def _folds(scores: dict[str, Any]) -> str:
    if not scores.get("folds"):
        return ""
    return f'<p class="soft">Folds: {", ".join(f"{value:.4g}" for value in scores["folds"])}</p>'


def _confusion(scores: dict[str, Any]) -> str:
    labels, counts = scores["confusion"]["labels"], scores["confusion"]["counts"]
    if len(labels) > _LARGEST_CONFUSION:
        return ""
    head = "".join(f"<th>{escape(str(label))}</th>" for label in labels)
    rows = []
    for label, row in zip(labels, counts, strict=True):
        total = sum(row) or 1
        cells = "".join(_cell(count, count / total, label == other) for count, other in zip(row, labels, strict=True))
        rows.append(f"<tr><th>{escape(str(label))}</th>{cells}</tr>")
    caption = "<figcaption>Rows: the true class. Columns: the predicted one.</figcaption>"
    table = f'<table class="confusion"><thead><tr><td></td>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    return f"<figure>{_scrolled(table, 'confusion of classes')}{caption}</figure>"


def _scrolled(table: str, words: str) -> str:
    """A table that may be wider than a phone; who has only a keyboard scrolls what has the focus."""
    return f'<div class="scroll" tabindex="0" role="group" aria-label="{words}">{table}</div>'


def _cell(count: int, share: float, is_right: bool) -> str:
    colour = "var(--c0)" if is_right else "var(--c4)"
    # Never so strong that text on it would be hard to read, in light or dark mode.
    depth = 10 + 40 * share if count else 0
    shown = str(count) if count else '<span class="soft">·</span>'
    style = f"background:color-mix(in srgb,{colour} {depth:.0f}%,var(--card))"
    return f'<td class="cell" style="{style}">{shown}</td>'


def _classes(scores: dict[str, Any]) -> str:
    rows = "".join(
        f"<tr><td>{escape(str(one['label']))}</td><td>{one['precision']:.3f}</td><td>{one['recall']:.3f}</td>"
        f"<td>{one['f1']:.3f}</td><td>{one['rows']}</td></tr>"
        for one in scores["classes"]
    )
    head = "<tr><th>class</th><th>precision</th><th>recall</th><th>F1</th><th>rows</th></tr>"
    also = f"Always predicting the most frequent class would be right for {scores['baseline']:.1%} of the rows. "
    also += f"If every class counts equally, the model's accuracy is {scores['balanced_accuracy']:.1%}"
    area = scores.get("area_under_curve")
    also += "." if area is None else f"; the area under the curve is {area:.3f}."
    table = _scrolled(f"<table>{head}{rows}</table>", "scores of each class")
    return f"<figure>{table}<figcaption>{also}</figcaption></figure>"


def _pictures(record: Record, shown: Shown) -> str:
    drawn = figures(record, shown)
    body = "".join(
        f"<figure><h2>{escape(one.title)}</h2>{one.picture}<figcaption>{escape(one.caption)}</figcaption></figure>"
        for one in drawn
    )
    return f'<div class="pair">{body}</div>' if drawn else ""


def _examples(shown: Shown) -> str:
    body = examples(shown)
    if not body:
        return ""
    words = "Rows it had not seen. Blue speaks for the model's prediction, orange against it."
    return f"<h2>Examples</h2><p class='soft'>{words}</p>{body}"


def _certificate(record: Record) -> str:
    found = record.model["certificate"]
    if not found:
        return ""
    several = [("two-class problems", found["problems"])] if found["problems"] > 1 else []
    rows = [*several, ("primal objective", found["primal"]), ("dual objective", found["dual"]), ("gap", found["gap"]),
            ("largest relative gap", found["relative_gap"]), ("largest KKT violation", found["kkt_violation"]),
            ("free, bounded, other points", f"{found['n_free']}, {found['n_bounded']}, {found['n_zero']}")]  # fmt: skip
    words = f"The optimum lies between dual and primal. Their basis: {escape(found['basis'])}."
    distance = record.model.get("distance")
    if distance:
        rows += [("landmarks", distance["landmarks"]), ("distance", distance["value"]),
                 ("largest relative distance", distance["relative"])]  # fmt: skip
        words = (
            f"{words} The machine is restricted to landmarks: the exact one is better by at most the gap plus the "
            f"distance ({distance['method']}, confidence {100 * distance['confidence']:g}%): "
            f"{distance['meaning']}."
        )
    body = "".join(f"<tr><td>{escape(name)}</td><td>{_number(value)}</td></tr>" for name, value in rows)
    return f"<h2>Certificate</h2><table>{body}</table><p class='soft'>{words}</p>"


def _bounds(record: Record) -> str:
    if record.no_bounds:
        return f"<h2>What theory says</h2><p class='soft'>Nothing here: {escape(record.no_bounds)}</p>"
    if not record.bounds:
        return ""
    rows = "".join(
        f"<tr><td class='words'>{escape(one['name'])}</td><td>{_number(one['value'])}</td>"
        f"<td class='words'>{_verdict(one)}</td><td class='words soft'>{escape(one['says'])}</td></tr>"
        for one in sorted(record.bounds, key=lambda one: not (one["applies"] and one["value"] < 1))
    )
    head = "<tr><th class='words'>bound</th><th>value</th><th class='words'>verdict</th><th class='words'>of</th></tr>"
    return f"<h2>What theory says</h2><table class='wide theory'>{head}{rows}</table>"


def _verdict(bound: dict[str, Any]) -> str:
    if not bound["applies"]:
        return f"does not apply: {escape('; '.join(bound['unmet']) or 'it cannot be computed')}"
    return "vacuous" if bound["value"] >= 1 else "<b>holds</b>"


def _model(record: Record) -> str:
    model = record.model
    notes = "".join(f"<li>{escape(note)}</li>" for note in record.notes)
    parameters = ", ".join(f"{name} = {_number(value)}" for name, value in model["parameters"].items())
    columns = record.data["columns"]
    listed = ""
    if columns:
        more = f" and {len(columns) - 24} more" if len(columns) > 24 else ""
        listed = f"<p>Columns: {' '.join(f'<code>{escape(str(name))}</code>' for name in columns[:24])}{more}</p>"
    return f"<h2>Model</h2>{_kernel(model)}<p>{escape(parameters)}</p>{listed}<ul>{notes}</ul>"


def _kernel(model: dict[str, Any]) -> str:
    """The kernel in a few words, and in full on request."""
    whole, short = escape(model["kernel"] or "none"), escape(model["kernel_in_short"] or "none")
    in_full = f"<details><summary>in full</summary><code>{whole}</code></details>" if whole != short else ""
    return f"<p>Kernel: <code>{short}</code></p>{in_full}"


def _footer(record: Record) -> str:
    written = ", ".join(f"{name} <code>{escape(str(path))}</code>" for name, path in record.files.items())
    also = "Support vectors are rows of the training data: a model file that contains them contains those rows."
    return f"<footer>Mercer {escape(record.version)}. {written}<br>{also}</footer>"


def _number(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.6g}" if isinstance(value, float) else escape(str(value))
