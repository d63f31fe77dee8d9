"""Answers of several blocks are added, field by field."""

import copy
from operator import iadd

import numpy as np
import pytest
from scipy import sparse

from mercer.solvers.blocks.passes import Evaluation, Response, combinations, products


def response(seed, H=True):
    rng = np.random.default_rng(seed)
    vectors = [rng.normal(size=m) for m in (3, 3, 2, 2, 2)]
    Z = rng.normal(size=(4, 4))
    return Response(*vectors, *rng.normal(size=2), *rng.integers(1, 9, 2), Z + Z.T if H else None)


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("H", [(True, True), (True, False), (False, False)])
def test_responses_are_added(H, in_place):
    first, second = (response(seed, has) for seed, has in enumerate(H))
    kept, total = copy.deepcopy(first), iadd(first, second) if in_place else first + second
    for name, value in vars(total).items():
        one, two = getattr(kept, name), getattr(second, name)
        if one is None or two is None:
            assert value is None
        else:
            np.testing.assert_allclose(value, one + two)


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("after", [(True, True), (True, False), (False, False)])
def test_evaluations_are_added(after, in_place):
    first, second = (
        Evaluation(float(seed + 1), np.full(2, seed - 3.0), response(seed), response(seed + 5) if has else None)
        for seed, has in enumerate(after)
    )
    kept, total = copy.deepcopy(first), iadd(first, second) if in_place else first + second
    assert total.loss == 3.0
    assert total.slopes.tolist() == [-5.0, -5.0]
    for name, value in vars(total.now).items():
        np.testing.assert_allclose(value, getattr(kept.now, name) + getattr(second.now, name))
    if all(after):
        np.testing.assert_allclose(total.after.envelope, kept.after.envelope + second.after.envelope)
    else:
        assert total.after is None


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_products_and_combinations_are_numpys_in_double_precision(form, dtype, rng):
    X = rng.normal(size=(6, 4)).astype(dtype)
    vectors, factors = rng.normal(size=(3, 4)), rng.normal(size=(2, 6))
    values, sums = np.array(products(form(X), list(vectors))), combinations(form(X), list(factors))
    assert values.dtype == sums.dtype == np.float64
    np.testing.assert_allclose(values, vectors @ X.T, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(sums, factors @ X, rtol=1e-5, atol=1e-6)
