"""What a search says to people while it goes on."""

import sys


def print_search(point):
    """A callback that prints a line on standard error."""
    best = "" if point.best_params is None else f"  best {point.best_score:.4f} with {_told(point.best_params)}"
    share = f"{point.done} of {point.total} fits"
    sys.stderr.write(f"[mercer] {point.seconds:8.2f} s  {share}, about {point.seconds_left:.1f} s left{best}\n")


def _told(setting):
    return ", ".join(f"{name}={_short(value)}" for name, value in setting.items())


def _short(value):
    return f"{value:.4g}" if isinstance(value, float) else repr(value)
