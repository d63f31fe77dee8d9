"""How C, weights, kernels and bias stand in for each other."""

import numpy as np
import pytest
from hypothesis import strategies as st

from mercer import SVC, Regularization
from mercer.kernels import RBF, Linear, Polynomial
from tests.laws.two_class import TOL, assert_same_machine, law, problems, projections, radius

FREE_OR_NONE = st.sampled_from(["free", "none"])
FACTOR = st.sampled_from([0.1, 0.5, 2.0, 10.0])


@law(problems(biases=FREE_OR_NONE), FACTOR)
def test_a_larger_kernel_is_a_larger_c(problem, factor):
    """The machine of (a k, C) is that of (k, a C), and its objective is 1/a of it."""
    scaled = problem.replace(kernel=factor * problem.kernel).fit()
    dearer = problem.replace(C=factor * problem.C).fit()
    reach = (radius(scaled) * np.sqrt(factor) + radius(dearer)) * np.sqrt(problem.kernel.diag(problem.X)) + 1e-9
    difference = projections(scaled, problem.X) - projections(dearer, problem.X)
    assert (np.abs(difference) <= reach).all()
    allowed = max(factor * scaled.certificate_.gap, dearer.certificate_.gap, 1e-9 * dearer.certificate_.primal)
    assert factor * scaled.certificate_.dual == pytest.approx(dearer.certificate_.dual, abs=allowed)


@law(problems(), st.sampled_from([Linear(), RBF(0.1), Polynomial(3, 0.2, 0.5)]))
def test_the_sum_of_kernels_has_the_sum_of_matrices(problem, other):
    total = problem.replace(kernel=problem.kernel + other)
    model = total.fit()
    K = problem.kernel(problem.X) + other(problem.X)
    given = SVC(C=problem.C, kernel="precomputed", loss=problem.loss, bias=problem.bias, tol=TOL)
    given.fit(K, problem.y, problem.weight)
    assert_same_machine(model, given, problem.X, K, total.kernel)


@law(problems(biases=st.just("none")))
def test_a_penalised_bias_is_a_constant_added_to_the_kernel(problem):
    shifted = problem.replace(kernel=problem.kernel + 1.0)
    penalised = problem.replace(bias="penalized").fit()
    plain = shifted.fit()
    assert_same_machine(plain, penalised, problem.X, problem.X, shifted.kernel)


@law(problems(), FACTOR)
def test_weights_multiply_c(problem, factor):
    lighter = problem.replace(weight=factor * problem.weight, C=problem.C / factor)
    assert_same_machine(problem.fit(), lighter.fit(), problem.X, problem.X, problem.kernel)


@law(problems(), FACTOR)
def test_a_class_weight_is_a_weight_on_its_rows(problem, factor):
    weighted = problem.replace(weight=problem.weight * np.where(problem.y == 1, factor, 1.0))
    assert_same_machine(weighted.fit(), problem.fit(class_weight={1: factor}), problem.X, problem.X, problem.kernel)


@law(problems(), FACTOR)
def test_the_four_ways_to_write_c_give_one_machine(problem, lam):
    m = problem.weight.sum()  # a row of weight two counts as two
    reference = problem.replace(C=1.0 / (2.0 * lam * m)).fit()
    for same in (
        Regularization.from_lambda(lam),
        Regularization.from_lambda(2.0 * lam, half=True),
        Regularization.from_box_over_n(1.0 / (2.0 * lam)),
    ):
        model = problem.replace(C=same).fit()
        assert_same_machine(reference, model, problem.X, problem.X, problem.kernel)


@law(problems(biases=FREE_OR_NONE), FACTOR)
def test_a_larger_c_never_shortens_w(problem, factor):
    low, high = sorted([problem.C, factor * problem.C])
    loose, tight = problem.replace(C=low).fit(), problem.replace(C=high).fit()
    assert norm(loose, problem) <= norm(tight, problem) + radius(loose) + radius(tight) + 1e-9
    # The least objective is concave in C and zero at zero: it rises, and no faster than C.
    rounding = 1e-9 * tight.certificate_.primal
    assert loose.certificate_.dual <= tight.certificate_.primal + rounding
    assert tight.certificate_.dual <= high / low * loose.certificate_.primal + rounding


def norm(model, problem):
    """|w|, from the support vectors alone."""
    beta = model.dual_coef_[0]
    return np.sqrt(max(0.0, beta @ problem.kernel(problem.X[model.support_]) @ beta))
