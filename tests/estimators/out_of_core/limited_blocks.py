"""One fit from blocks under a limit on memory, in a process of its own, and how much memory it took.

Run as ``python -m tests.estimators.out_of_core.limited_blocks``; answers with JSON.
"""

import json
from pathlib import Path

import numpy as np

from mercer import LinearSVC
from mercer.io import Blocks
from tests.faults.limited_fit import memory

LIMIT, COLUMNS, ROWS = 60 * 2**20, 40, 5000


class Made:
    """Blocks that are made when they are asked for, and are nowhere before."""

    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, k):
        if not 0 <= k < self.count:
            raise IndexError(k)
        rng = np.random.default_rng(k)
        X = rng.normal(size=(ROWS, COLUMNS))
        return X, (X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=ROWS) > 0).astype(int)


def main():
    LinearSVC(loss="hinge", n_jobs=1).fit(Blocks(Made(2)))
    blocks = Blocks(Made(40))
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # begin the high-water mark anew
    before = memory("VmRSS")
    model = LinearSVC(loss="hinge", n_jobs=1, memory_limit=LIMIT).fit(blocks)
    answer = {
        "taken": memory("VmHWM") - before,
        "limit": LIMIT,
        "before": before,
        "status": model.status_.name,
        "n_passes": model.n_passes_,
        "rows_read": model.rows_read_,
        "n_rows": blocks.n_rows,
    }
    print(json.dumps(answer))  # noqa: T201 - the parent reads it


if __name__ == "__main__":
    main()
