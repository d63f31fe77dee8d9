"""The races over data sets and settings: fit, predict, short and small fits."""

from benchmarks.harness.entry import Plan, run_entry
from benchmarks.harness.goals import print_goals
from benchmarks.harness.peers import contestants
from benchmarks.harness.report import print_entry, print_summary
from benchmarks.sets.data import NO_FOLDER, SETTINGS, base_name, data_folder, load, race_names

# One setting each, in about ten minutes: what `make race` runs.
SHORT = {
    "spambase": (10, 0.02),
    "higgs11k": (10, 0.03),
    "letter": (16, 4),
    "shuttle": (10, 1),
    "ijcnn1": (32, 2),
    "a9a": (1, 2**-5),
    "mnist2": (10, 0.02),
}
SHORT_CAP = 15.0
SMALL_SIZES = (100, 200, 500, 1000, 2000)
SMALL_SETS = ("breast_cancer", "digits", "made")


def chosen_settings(name, wanted):
    """The (C, gamma) of a set: all three, or those wanted by ordinal or as `C:gamma`.

    Examples
    --------
    >>> chosen_settings("spambase", ["2", "5:0.1"])
    [(10, 0.02), (5.0, 0.1)]
    """
    settings = SETTINGS[base_name(name)]
    return settings if not wanted else [_setting(settings, text) for text in wanted]


def _setting(settings, text):
    try:
        if ":" in text:
            C, gamma = map(float, text.split(":"))
            return C, gamma
        return {str(k + 1): setting for k, setting in enumerate(settings)}[text]
    except (KeyError, ValueError):
        raise SystemExit(f"--settings must be 1, 2, 3 or C:gamma such as 10:0.02, got {text!r}") from None


def rows_of(options):
    """Every (set, C, gamma) that the options ask for."""
    if data_folder() is None and not options.sets:
        print(NO_FOLDER)
    names = options.sets or race_names()
    return [(name, *setting) for name in names for setting in chosen_settings(name, options.settings)]


def run_rows(rows, fighters, plan):
    """Run and print row after row."""
    entries = []
    for name, C, gamma in rows:
        entries.append(run_entry(name, C, gamma, fighters, plan))
        print_entry(entries[-1])
    return entries


def fit_race(options):
    """Every set at three settings, fits timed."""
    plan = Plan(fits=options.repeats, predictions=1, cap=options.cap)
    entries = run_rows(rows_of(options), contestants(options.peers), plan)
    print_summary(entries, "fit")
    options.missed += print_goals(entries, "fit")
    return entries


def predict_race(options):
    """Every set at three settings, predictions of the held-out rows timed."""
    plan = Plan(fits=1, predictions=options.repeats, cap=options.cap, certify=False)
    entries = run_rows(rows_of(options), contestants(options.peers), plan)
    print_summary(entries, "predict")
    options.missed += print_goals(entries, "predict", "predict")
    return entries


def short_race(options):
    """One setting of most sets, fits and predictions, then the small fits."""
    rows = rows_of(options) if options.sets or data_folder() is None else [(n, *s) for n, s in SHORT.items()]
    plan = Plan(fits=options.repeats, predictions=options.repeats, cap=min(options.cap, SHORT_CAP))
    entries = run_rows(rows, contestants(options.peers), plan)
    print_summary(entries, "fit")
    options.missed += print_goals(entries, "fit")
    print_summary(entries, "predict")
    options.missed += print_goals(entries, "predict", "predict")
    return entries + _small_fits(SMALL_SETS, options)


def small_race(options):
    """100 to 2000 rows in float64, overhead included, against scikit-learn."""
    return _small_fits(options.sets or SMALL_SETS, options)


def _small_fits(names, options):
    fighters = [fighter.in_float64() for fighter in contestants([p for p in options.peers if p == "sklearn"])]
    rows = [row for name in names for row in _small_rows(name, options.settings or ["2"])]
    entries = []
    for name, C, gamma in rows:
        many = Plan(fits=max(3, options.repeats), predictions=3, in_a_row=_in_a_row(name), cap=options.cap)
        entries.append(run_entry(name, C, gamma, fighters, many))
    print_summary(entries, "fit")
    options.missed += print_goals(entries, "small fit")
    print_summary(entries, "predict")
    return entries


def _small_rows(name, wanted):
    """Every size that the set has rows for; a name with `:N` is that size alone."""
    limit = max(SMALL_SIZES) if name == "made" else len(load(name).y)
    sized = [name] if ":" in name else [f"{name}:{size}" for size in SMALL_SIZES if size <= limit]
    return [(each, *setting) for each in sized for setting in chosen_settings(name, wanted)]


def _in_a_row(name):
    """Fits within a turn: enough that a turn lasts a good part of a second."""
    return max(3, 20_000 // int(name.partition(":")[2]))
