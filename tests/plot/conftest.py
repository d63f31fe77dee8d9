import matplotlib.pyplot as plt
import pytest


@pytest.fixture(autouse=True)
def close_figures():
    """Leave no figure behind: matplotlib warns after twenty."""
    yield
    plt.close("all")
