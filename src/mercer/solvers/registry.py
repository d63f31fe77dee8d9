"""The dual solvers by the names that estimators use."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from mercer.solvers.dual_qp.solve import solve_dual


def _reference(name: str, **options: Any) -> Callable[..., Any]:
    """A textbook method, whose module is imported when it is first used: few fits ask for one."""

    def solve(*args: Any, **others: Any) -> Any:
        return import_module(f"mercer.solvers.reference.{name}").solve(*args, **options, **others)

    return solve


SOLVERS = {
    "auto": solve_dual,
    "smo": solve_dual,
    "chunking": _reference("chunking"),
    "chunking:qp": _reference("chunking", inner=_reference("interior_point")),
    "dual_cd": _reference("kernel_coordinate_ascent"),
    "qp": _reference("interior_point"),
    "sgd": _reference("pegasos_then_smo"),
}
