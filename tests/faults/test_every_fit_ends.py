"""Ctrl-C and time limits in a fit of every estimator: control comes back, with the best model or with none."""

import json
import os
import signal
import time

import numpy as np
import pytest

import mercer
from tests.faults.companion import Companion
from tests.faults.long_fits import LONG
from tests.faults.processor_time import processor_seconds

# Of processor time; the clock that counts it ticks a hundred times a second.
LONGEST = 0.5 + 0.02
BY_TIME = ("TIME_LIMIT", "TimeLimitError", "IN_TIME")
# They are made without iterations, in one pass over the rows at most, and have neither limits nor a status.
AT_ONCE = {"KernelDensity", "Nystroem", "RandomFourierFeatures", "TableFeatures"}


class Fits(Companion):
    """A process that makes long fits."""

    def __init__(self):
        super().__init__("tests.faults.ended_fits")

    def end(self, name, after, by_key):
        """End a fit after so many seconds; what the process says of it, and the processor time that it took to end."""
        begun = self.ask(json.dumps({"name": name, "time_limit": None if by_key else after}))["begun"]
        time.sleep(max(0.0, begun + after - time.monotonic()))
        used = processor_seconds(self.process.pid)
        if by_key:
            os.kill(self.process.pid, signal.SIGINT)
        answer = self.hear()
        return answer, answer["used"] - used


@pytest.fixture(scope="module")
def fits():
    with Fits() as process:
        yield process


def test_every_estimator_has_a_long_fit():
    kinds = {type(make()).__name__ for make, _ in LONG.values()}
    estimators = {name for name in mercer.__all__ if hasattr(getattr(mercer, name), "fit")}
    assert estimators - kinds == AT_ONCE


def assert_ended(answer, waited, outcomes):
    assert answer["outcome"] in outcomes
    assert answer["sound"]
    assert waited <= LONGEST


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", LONG)
def test_ctrl_c_and_time(name, fits):
    """A model, or, where there was none yet, an estimator as it was before."""
    assert_ended(*fits.end(name, 0.5, by_key=True), ("INTERRUPTED", "KeyboardInterrupt"))
    assert_ended(*fits.end(name, 0.5, by_key=False), BY_TIME)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", LONG)
def test_random_moments(name):
    with Fits() as process:
        for after in np.random.default_rng(3).uniform(0.0, 2.0, 10):
            assert_ended(*process.end(name, after, by_key=True), ("INTERRUPTED", "KeyboardInterrupt"))
            assert_ended(*process.end(name, after, by_key=False), BY_TIME)
