"""A symmetric matrix as one triangle, and answers of blocks that go to another process with it."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from mercer.problems.linear.block_machine import BlockMachine
from mercer.solvers.blocks.passes import Asked, Evaluate, Place, answer, gram
from mercer.solvers.blocks.triangle import matrix_of, triangle_of


@pytest.mark.parametrize("n", [1, 2, 7, 301])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_matrix_comes_back_from_its_triangle(rng, n, dtype):
    Z = rng.normal(size=(n, n)).astype(dtype)
    H = Z + Z.T
    triangle = triangle_of(H)
    assert triangle.shape == (n * (n + 1) // 2,)
    again = matrix_of(triangle)
    assert again.dtype == dtype
    np.testing.assert_array_equal(again, H)


def test_a_triangle_may_begin_at_any_byte(rng):
    Z = rng.normal(size=(9, 9))
    content = b"?" + triangle_of(Z + Z.T).tobytes()
    np.testing.assert_array_equal(matrix_of(np.frombuffer(content, np.float64, offset=1)), Z + Z.T)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_a_curvature_is_symmetric_to_the_bits(rng, form, dtype):
    X = (rng.normal(size=(9000, 30)) * (rng.random((9000, 30)) < 0.4)).astype(dtype)
    H = gram(form(X), rng.random(9000), 1.5, dtype)
    np.testing.assert_array_equal(H, H.T)


def test_an_answer_is_sent_with_half_of_its_matrix_and_comes_back_to_the_bits(rng):
    X, y = rng.normal(size=(50, 20)), np.where(rng.random(50) < 0.5, 1.0, -1.0)
    machine = BlockMachine(y, 1.0, "squared_hinge")
    asked = {0: Asked(1.0, False, Evaluate(Place(np.zeros(20), 0.0, 0.0)))}
    sums, _ = answer(X, asked, [machine.rows(slice(None))], [None])
    content = pickle.dumps(sums, protocol=5)
    assert len(content) < 0.8 * sums[0].now.H.nbytes
    [again] = pickle.loads(content)  # noqa: S301 - what was just packed
    np.testing.assert_array_equal(again.now.H, sums[0].now.H)
    np.testing.assert_array_equal(again.now.up, sums[0].now.up)
    assert again.loss == sums[0].loss
    assert (again.now + sums[0].now).moving == 2 * sums[0].now.moving
