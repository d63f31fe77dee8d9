"""The dual solvers by the names under which estimators offer them."""

from functools import partial

from mercer.solvers import chunking, coordinate_ascent, interior_point, small, stochastic_start

SOLVERS = {
    "auto": small.solve,
    "smo": small.solve,
    "chunking": chunking.solve,
    "chunking:qp": partial(chunking.solve, inner=interior_point.solve),
    "dual_cd": coordinate_ascent.solve,
    "qp": interior_point.solve,
    "sgd": stochastic_start.solve,
}
