"""The dual solvers by the names under which estimators offer them."""

from functools import partial

from mercer.solvers import chunking, quadratic_program, small

SOLVERS = {
    "auto": small.solve,
    "smo": small.solve,
    "chunking": chunking.solve,
    "chunking:qp": partial(chunking.solve, inner=quadratic_program.solve),
    "qp": quadratic_program.solve,
}
