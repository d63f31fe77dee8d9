"""Machines over landmarks keep to their `memory_limit`, or say how much would be enough."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mercer import DataError, KernelLogisticRegression, KernelPCA, LowRank, Status

MB = 2**20
LOGISTIC = {"machine": "KernelLogisticRegression"}
CASES = {
    "classes": {**LOGISTIC, "n_classes": 6, "limit": 100 * MB},
    "classes, in double precision": {**LOGISTIC, "n_classes": 6, "limit": 80 * MB},
    "classes, few landmarks": {**LOGISTIC, "n_classes": 6, "landmarks": 80, "limit": 60 * MB},
    "classes, penalised bias": {**LOGISTIC, "n_classes": 6, "limit": 140 * MB, "parameters": {"bias": "penalized"}},
    "two classes": {**LOGISTIC, "limit": 60 * MB},
    "two classes, blocks": {**LOGISTIC, "limit": 60 * MB, "in_blocks": True},
    "components": {"machine": "KernelPCA", "limit": 60 * MB, "parameters": {"n_components": 3}},
}


@pytest.mark.parametrize("how", list(CASES.values()), ids=list(CASES))
def test_no_more_memory_is_taken(how):
    command = [sys.executable, "-m", "tests.estimators.low_rank.limited_landmarks", json.dumps(how)]
    for _ in range(2):
        done = subprocess.run(
            command, cwd=Path(__file__).parents[3], capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stderr[-2000:]
        answer = json.loads(done.stdout)
        # Once more where code was compiled meanwhile: the compiler's memory is not the fit's.
        if not answer["compiled"]:
            break
    assert answer["status"] == "OPTIMAL"
    assert answer["finite"]
    assert answer["taken"] <= 1.1 * how["limit"]


@pytest.mark.parametrize("machine", [KernelLogisticRegression(), KernelPCA(3, kernel="rbf")])
def test_what_is_said_to_be_enough_is(machine, rng):
    X, y = rng.normal(size=(5000, 5)), np.arange(5000) % 3
    machine.set_params(approximation=LowRank(300), memory_limit="15MiB")
    with pytest.raises(DataError, match=r"need \S+ MiB, but memory_limit leaves") as told:
        machine.fit(X, y)
    enough = re.search(r'set memory_limit="(\d+MiB)"', str(told.value))[1]
    assert machine.set_params(memory_limit=enough).fit(X, y).status_ is Status.OPTIMAL
