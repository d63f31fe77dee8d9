"""Weights of largest alignment, by hand and by their laws."""

import numpy as np
import pytest

from mercer.problems.mkl.alignment import AlignmentProblem
from mercer.solvers.mkl.alignment import align


def test_kernels_that_are_not_aligned_at_all_get_equal_weights():
    assert align(AlignmentProblem(np.eye(4), np.array([0.0, -1.0, 0.0, -2.0]), 1.0)).tolist() == [0.25] * 4


def test_orthogonal_kernels_get_what_each_is_aligned():
    """Then the program falls apart: the weight is a / M for each, or nothing below zero."""
    found = align(AlignmentProblem(np.diag([1.0, 2.0, 4.0]), np.array([3.0, 2.0, -1.0]), 1.0))
    np.testing.assert_allclose(found, [0.75, 0.25, 0.0], atol=1e-6)


@pytest.mark.parametrize("size", [1e-8, 1.0, 1e8])
def test_the_size_of_all_kernels_does_not_matter(size):
    M, a = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([1.0, 0.8])
    found = align(AlignmentProblem(size**2 * M, size * a, 1.0))
    expected = np.linalg.solve(M, a)
    np.testing.assert_allclose(found, expected / expected.sum(), atol=1e-6)


def test_a_kernel_that_is_twice_another_gets_half_its_weight():
    M, a = np.array([[1.0, 0.1], [0.1, 1.0]]), np.array([0.5, 0.5])
    double = np.diag([1.0, 2.0])
    found = align(AlignmentProblem(double @ M @ double, double @ a, 1.0))
    np.testing.assert_allclose(found, [2.0 / 3.0, 1.0 / 3.0], atol=1e-6)
