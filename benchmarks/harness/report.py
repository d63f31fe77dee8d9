"""Plain-text tables: a block when a row has been run, and a table of ratios at the end."""

from benchmarks.harness.entry import WITH_SUMS
from benchmarks.harness.verdict import summary, verdict


def table(headings, rows):
    """Columns as wide as their contents; text to the left, numbers to the right."""
    cells = [list(headings), *[[str(cell) for cell in row] for row in rows]]
    widths = [max(len(row[k]) for row in cells) for k in range(len(headings))]
    return "\n".join(_line(row, widths) for row in cells)


def _line(row, widths):
    first, *rest = zip(row, widths, strict=True)
    return "  ".join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in rest)]).rstrip()


def seconds(value):
    """Three significant digits at any scale, in seconds."""
    return "-" if value is None else f"{value:#.3g}"


def megabytes(value):
    """Bytes as whole megabytes."""
    return f"{value / 1e6:.0f}"


DETAIL = (
    "contestant", "fit s", "first s", "fits", "predict s", "first s", "SVs",
    "primal", "rel. gap", "error %", "peak MB", "status",
)  # fmt: skip


def print_entry(entry):
    """Everything measured on one row, as soon as it is known."""
    print(f"\n{describe(entry)}")
    print(table(DETAIL, [_detail(name, result) for name, result in entry.results.items()]))
    times = entry.over_floor("fit")
    if times is not None:
        floor = seconds(entry.floors["fit"])
        print(f"floor {floor} s (n x SVs x time of an entry); fit / floor = {times:.2f}", flush=True)


def describe(entry):
    """The row's data and parameters."""
    return f"{entry.data}  n={entry.n} d={entry.d} C={entry.C:g} gamma={entry.gamma:g} threads={entry.threads}"


def _detail(name, result):
    optimality = result.optimality
    judged = ("-", "-") if optimality is None else (f"{optimality.primal:.6g}", f"{optimality.relative_gap:.1e}")
    fit, predict = result.fit, result.predict
    return (
        name, seconds(fit.best), seconds(fit.first), len(fit.seconds), seconds(predict.best), seconds(predict.first),
        result.n_support, *judged, f"{100 * result.error:.2f}", megabytes(result.peak_bytes), result.status or "",
    )  # fmt: skip


def print_summary(entries, measure="fit"):
    """A line for each row, then geometric mean and minimum."""
    names = list(dict.fromkeys(name for entry in entries for name in entry.results))
    verdicts = [verdict(entry, measure) for entry in entries]
    headings = ("data", "n", "d", "C", "gamma", *(f"{name} s" for name in names), "ratio", "to", "counts", "excess")
    headings += (f"{measure}/floor", *(("with sums",) if measure == "predict" else ()))
    rows = [_summary_row(entry, found, names, measure) for entry, found in zip(entries, verdicts, strict=True)]
    print(f"\n{measure}: minimum of the repeats\n{table(headings, rows)}\n{summary(verdicts)}", flush=True)


def _summary_row(entry, found, names, measure):
    times = [seconds(getattr(entry.results[name], measure).best) if name in entry.results else "-" for name in names]
    judged = ("-", "-", "-", "-") if found is None else _judged(found)
    row = (entry.data, entry.n, entry.d, f"{entry.C:g}", f"{entry.gamma:g}", *times, *judged)
    floors = (measure, WITH_SUMS) if measure == "predict" else (measure,)
    over = [entry.over_floor(measure, floor) for floor in floors]
    return (*row, *("-" if times is None else f"{times:.2f}" for times in over))


def _judged(found):
    excess = "-" if found.excess is None else f"{found.excess:+.1e}"
    return f"{found.ratio:.2f}", found.peer, found.counts, excess
