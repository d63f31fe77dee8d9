"""The dual solvers by the names that estimators use."""

from functools import partial

from mercer.solvers.dual_qp.solve import solve_dual
from mercer.solvers.reference import chunking, interior_point, kernel_coordinate_ascent, pegasos_then_smo

SOLVERS = {
    "auto": solve_dual,
    "smo": solve_dual,
    "chunking": chunking.solve,
    "chunking:qp": partial(chunking.solve, inner=interior_point.solve),
    "dual_cd": kernel_coordinate_ascent.solve,
    "qp": interior_point.solve,
    "sgd": pegasos_then_smo.solve,
}
