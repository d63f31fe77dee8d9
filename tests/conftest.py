"""Fixtures for every room, and how hypothesis searches."""

import os
import signal

# Started in the background of a shell, the suite would not hear Ctrl-C, and nor would any process that it starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Before anything imports pyplot: tests draw into memory, on machines without a display.
os.environ["MPLBACKEND"] = "Agg"

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from sklearn.datasets import load_iris

from tests.compiled_in_time import pytest_pyfunc_call  # noqa: F401 - a hook of pytest's
from tests.every_fit import watching

# The first example may meet a function that has yet to be compiled: no deadline.
_SHARED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
# The same examples on every run: a red test is red because of the change under test.
settings.register_profile("ci", derandomize=True, max_examples=50, **_SHARED)
# New examples on every run: HYPOTHESIS_PROFILE=explore make test
settings.register_profile("explore", max_examples=500, **_SHARED)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture
def rng():
    """Random numbers, the same in every run."""
    return np.random.default_rng(20)


@pytest.fixture
def toy():
    """Four points with a known hard margin: alpha = (1/2, 1/2, 1, 0), w = (1, -1), b = -1."""
    X = np.array([[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [3.0, 0.0]])
    return X, np.array([-1, -1, 1, 1])


@pytest.fixture
def petals():
    """Petal lengths and widths of the irises, and their species as numbers."""
    bunch = load_iris()
    return bunch.data[:, 2:], bunch.target


@pytest.fixture(autouse=True)
def _every_fit_is_true(request):
    """OPTIMAL is what certificates say, and predictions what coefficients say, after every fit of every test.

    A test that looks at the frame that called `fit` is marked `unwatched`: the watcher is a frame between.
    """
    if request.node.get_closest_marker("unwatched"):
        yield
        return
    with watching():
        yield
