"""What scikit-learn's tests expect of their surroundings."""

import pytest


def pytest_configure(config):
    config.addinivalue_line("markers", "thread_unsafe: a mark of scikit-learn's, for runs in parallel threads")


@pytest.fixture
def global_random_seed():
    """The seed that scikit-learn's own configuration takes by default."""
    return 42
