"""What `random_state` stands for, in every estimator: without one a fit is the same each time.

For None, scikit-learn uses NumPy's global state. A model whose certificate anyone can check should be one that anyone
can fit again, so None is a seed like any other here: the number 0.
"""

from typing import TypeAlias

import numpy as np
from sklearn.utils import check_random_state

Seed: TypeAlias = int | np.random.RandomState | None


def generator_of(random_state: Seed) -> np.random.RandomState:
    """The source of a fit's random numbers."""
    return check_random_state(0 if random_state is None else random_state)


def seed_of(random_state: Seed) -> int:
    """An integer seed: an integer is its own, since creating a generator takes longer than a small fit."""
    if random_state is None:
        return 0
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool) and random_state >= 0:
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))
