"""Steps of the weights of a norm, extrapolated."""

import numpy as np

from mercer.solvers.mkl.lp_norm import _extrapolated


def test_the_fixed_point_of_a_linear_map_is_found_from_as_many_steps_as_it_has_dimensions(rng):
    A, b = 0.4 * rng.normal(size=(3, 3)), rng.normal(size=3)
    places = [rng.normal(size=3) for _ in range(4)]
    past = [(place, A @ place + b - place) for place in places]
    np.testing.assert_allclose(_extrapolated(past), np.linalg.solve(np.eye(3) - A, b), atol=1e-9)


def test_of_one_step_alone_nothing_is_extrapolated(rng):
    place, residual = rng.normal(size=(2, 3))
    np.testing.assert_allclose(_extrapolated([(place, residual)]), place + residual)
