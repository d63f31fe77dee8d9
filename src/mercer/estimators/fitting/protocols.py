"""Protocols between the parts of a fit: the problems of a setup, and their solutions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from mercer._types import Array, FloatArray, IndexArray

if TYPE_CHECKING:
    from mercer.estimators.fitting.support import Support
    from mercer.estimators.fitting.tasks import BinaryTask
    from mercer.solvers.result import Status


class Setup(Protocol):
    """The problems of a fit, with the points and sides of each."""

    @property
    def codes(self) -> IndexArray: ...

    @property
    def n_classes(self) -> int: ...

    @property
    def has_pairs(self) -> bool: ...

    @property
    def tasks(self) -> "list[BinaryTask]": ...

    @property
    def problems(self) -> list[Any]: ...


class SolvedProblems(Protocol):
    """The solutions of all problems of a fit, be they one object or several."""

    @property
    def support(self) -> "Support": ...

    @property
    def statuses(self) -> "Sequence[Status]": ...

    @property
    def iterations(self) -> Array: ...

    @property
    def intercepts(self) -> FloatArray: ...

    def betas(self) -> list[FloatArray]:
        """Signed dual coefficients of each problem."""
        ...

    def traces(self) -> list[Any]:
        """The trace of each solver."""
        ...
