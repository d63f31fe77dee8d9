"""How often intervals of `mercer train --conformal` hold the truth: `python -m benchmarks.panel --coverage`."""

import numpy as np

import mercer
from benchmarks.panel.contestants import train
from benchmarks.panel.tables import LOT, load

ASKED = 0.9
# Each table is divided anew so many times: one fifth of its rows tells the coverage to some hundredths only.
DIVISIONS = 4


def coverage_of(name, most):
    """(share of held-out targets within their interval, mean width over the range of targets), over all divisions."""
    inside, widths = [], []
    for seed in range(LOT, LOT + DIVISIONS):
        table = load(name, most, seed)
        model = train(table).set_params(conformal=mercer.Conformal("cross", random_state=0)).fit(table.X, table.y)
        low, high = model.predict_interval(table.X_test, coverage=ASKED).T
        inside.append((low <= table.y_test) & (table.y_test <= high))
        widths.append(np.mean(high - low) / np.ptp(table.y))
    return float(np.mean(np.concatenate(inside))), float(np.mean(widths))
