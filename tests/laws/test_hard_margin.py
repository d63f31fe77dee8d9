"""Laws of the hard margin, on points that meet, lie on lines and repeat."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from mercer import HardMarginSVC, NotSeparableError
from mercer.kernels import RBF, Linear, Polynomial

GRID = st.integers(-6, 6).map(lambda i: i / 2)
KERNELS = st.sampled_from([Linear(), RBF(0.3), Polynomial(2, 0.5, 1.0)])
BIASES = st.sampled_from(["free", "none"])


@st.composite
def samples(draw):
    n, d = draw(st.integers(3, 14)), draw(st.integers(1, 3))
    signs = draw(st.lists(st.sampled_from([-1, 1]), min_size=n - 2, max_size=n - 2))
    return draw(arrays.arrays(np.float64, (n, d), elements=GRID)), np.array([-1, 1, *signs])


def outcome(X, y, kernel, bias):
    """(margin, decision values), or None with a proof that has been checked."""
    try:
        model = HardMarginSVC(kernel=kernel, bias=bias, tol=1e-3).fit(X, y)
    except NotSeparableError as error:
        return None if error.proof.check() else pytest.fail("a proof that does not hold")
    values = model.decision_function(X)
    assert (y * values).min() > 0.99
    return model.margin_, values


def assert_same(first, second, factor=1.0):
    assert (first is None) == (second is None)
    if first is not None:
        assert second[0] == pytest.approx(factor * first[0], rel=1e-6)


@given(samples(), KERNELS, BIASES)
def test_separable_or_proven_and_never_both(sample, kernel, bias):
    X, y = sample
    found = outcome(X, y, kernel, bias)
    if found is None and kernel == Linear():
        # What is proven has no answer: not even a soft margin without limit separates it.
        order = np.argsort(y)
        assert outcome(X[order], y[order], kernel, bias) is None


@given(samples(), KERNELS, BIASES, st.randoms(use_true_random=False))
def test_the_order_of_rows_and_repeated_rows_do_not_matter(sample, kernel, bias, random):
    X, y = sample
    order = list(range(len(y))) + [random.randrange(len(y)) for _ in range(3)]
    random.shuffle(order)
    assert_same(outcome(X, y, kernel, bias), outcome(X[order], y[order], kernel, bias))


@given(samples(), KERNELS, BIASES)
def test_swapped_labels_give_the_same_margin(sample, kernel, bias):
    X, y = sample
    assert_same(outcome(X, y, kernel, bias), outcome(X, -y, kernel, bias))


@given(samples(), BIASES, st.sampled_from([1e-6, 0.5, 2.0, 1e6]))
def test_the_margin_scales_with_the_data(sample, bias, factor):
    X, y = sample
    assert_same(outcome(X, y, Linear(), bias), outcome(factor * X, y, Linear(), bias), factor)


@given(samples(), st.floats(-100.0, 100.0))
def test_a_free_bias_does_not_notice_where_the_origin_is(sample, shift):
    X, y = sample
    assert_same(outcome(X, y, Linear(), "free"), outcome(X + np.round(shift), y, Linear(), "free"))


@given(samples(), KERNELS, BIASES)
def test_fewer_points_never_have_a_smaller_margin(sample, kernel, bias):
    X, y = sample
    whole = outcome(X, y, kernel, bias)
    if whole is not None and len(set(y[:-1])) == 2:
        assert outcome(X[:-1], y[:-1], kernel, bias)[0] >= whole[0] * (1.0 - 1e-6)
