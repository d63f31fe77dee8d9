"""Machines restricted to what some landmarks span: the parameter that asks for it, and what they minimise."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from mercer._errors import ParameterError
from mercer.estimators.fitting.given_matrix import count_items
from mercer.estimators.fitting.parameters import require_choice, require_count, require_optional_number
from mercer.kernels.base.parameters import Parameters
from mercer.solvers.low_rank.landmarks import CHOICES


@dataclass(frozen=True, eq=False, repr=False)
class LowRank(Parameters):
    r"""A machine :math:`f = \sum_j \beta_j k(z_j, \cdot) + b` over some landmarks :math:`z_j`, in place of all rows.

    A value of `approximation=` in `SVC`, `SVR`, `NuSVC`, `OneClassSVM`, `KernelRidge`, `KernelLogisticRegression`,
    `KernelPCA`, `MKLClassifier` and `MKLRegressor`. Time and memory grow with the number of rows times that of
    landmarks, not with the square of the rows. `distance_` of the fitted machine says how much better the exact one
    could be. `SVC`, `SVR`, `KernelRidge` and `KernelLogisticRegression` then learn from `mercer.io.Blocks` too, which
    need not fit in memory.

    Parameters
    ----------
    landmarks : int, default=1000
        Number of landmarks, at most the number of training rows; with `distance_tol`, the number to begin with.
    choice : {"uniform", "rpcholesky", "auto"}, default="uniform"
        How they are drawn from the training rows: uniformly, or by randomly pivoted Cholesky, which spreads them over
        rows that differ. "auto" tries both on a sample of the rows and uses the one with the better objective.
    rows : array-like or list of items, optional
        The landmarks themselves, instead of `landmarks` and `choice`; in the same form as the X of `fit`.
    distance_tol : float, optional
        The relative distance to the exact machine at which to stop: landmarks are doubled until it, or
        `most_landmarks`, is reached.
    most_landmarks : int, optional
        With `distance_tol`, the largest number of landmarks; by default the number of rows.
    random_state : int, RandomState or None, default=None
        Seed of the random draws: landmarks, and the rows by which a distance is bounded. By default it is the same each
        time.

    Notes
    -----
    The matrix of the landmarks is factored with a jitter on its diagonal: about one unit of rounding for each landmark
    where kernel values are in double precision, eight where they are in single precision, and ten times as much again
    each time the factor does not exist. `distance_` includes what it costs.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC, LowRank
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 2))
    >>> y = np.sin(3 * X[:, 0]) > X[:, 1]
    >>> model = SVC(approximation=LowRank(landmarks=60)).fit(X, y)
    >>> model.support_vectors_.shape
    (60, 2)
    >>> exact = SVC().fit(X, y)
    >>> bool(model.certificate_.primal - exact.certificate_.dual >= 0.0)
    True
    >>> most = model.certificate_.gap + model.distance_.value
    >>> bool(model.certificate_.primal - exact.certificate_.primal <= most)
    True
    """

    landmarks: int = 1000
    choice: str = "uniform"
    rows: Any = None
    distance_tol: Any = None
    most_landmarks: Any = None
    random_state: Any = None

    def __post_init__(self) -> None:
        require_count("landmarks", self.landmarks)
        require_choice("choice", self.choice, CHOICES)
        require_optional_number("distance_tol", self.distance_tol, above=0.0)
        if self.most_landmarks is not None:
            require_count("most_landmarks", self.most_landmarks)
        if self.rows is not None and self.distance_tol is not None:
            raise ParameterError(
                "distance_tol lets the number of landmarks grow, but given rows are fixed; pass one of the two"
            )

    def __repr__(self) -> str:
        each = {field.name: (getattr(self, field.name), field.default) for field in fields(self)}
        told = [
            f"{name}={value!r}" for name, (value, usual) in each.items() if name != "rows" and not _is(value, usual)
        ]
        if self.rows is not None:
            told.append(f"rows=<{count_items(self.rows)} items>")
        return f"LowRank({', '.join(told)})"


@dataclass(frozen=True)
class LandmarksUsed:
    """The landmarks of a fitted machine.

    Attributes
    ----------
    count : int
    choice : {"uniform", "rpcholesky", "given"}
        How they were drawn.
    jitter : float
        The amount added to the diagonal of their matrix.
    """

    count: int
    choice: str
    jitter: float


def require_approximation(value: Any) -> None:
    """None, or a `LowRank`."""
    if value is not None and not isinstance(value, LowRank):
        told = "write LowRank()" if value is LowRank else "write mercer.LowRank(landmarks=...)"
        if hasattr(value, "random_offset_") or type(value).__name__ == "RandomFourierFeatures":
            told = "put random features before a linear machine in a pipeline; they have no distance to the exact one"
        raise ParameterError(f"approximation must be None or a LowRank, got {value!r}; {told}")


def _is(value: Any, usual: Any) -> bool:
    return value is usual or (isinstance(value, int | float | str) and value == usual)


@dataclass(frozen=True)
class Objective:
    """The objective over the rows of a problem: targets, weights and loss."""

    targets: np.ndarray
    C: np.ndarray
    loss: str
    bias: str
    epsilon: float = 0.0

    def __post_init__(self) -> None:
        if not np.isfinite(self.C).all():
            raise ParameterError("C must be finite with an approximation: a hard margin over landmarks may not exist")
