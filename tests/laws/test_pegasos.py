"""What may be done to the data of stochastic gradient descent without changing its steps."""

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

from mercer import PegasosSVC
from mercer.solvers.stochastic import pegasos
from mercer.solvers.stochastic.pegasos import solve
from mercer.solvers.stochastic.pegasos_steps import ROWS, SHORT, STEP
from tests.laws.test_linear import problems
from tests.laws.two_class import law

STEPS = st.fixed_dictionaries(
    {
        "average": st.booleans(),
        "projected": st.booleans(),
        "batch_size": st.sampled_from([1, 3]),
        "bias": st.sampled_from(["none", "penalized"]),
        "sampling": st.sampled_from(["replacement", "permutation"]),
        "seed": st.integers(0, 2**31),
    }
)
LAMBDA, T = 0.125, 60


def learnt(X, signs, lam=LAMBDA, **steps):
    found = solve(X, signs.astype(np.float64), lam, T=T, **steps)
    return np.append(found.weights, found.intercept)


@law(problems(), STEPS)
def test_swapping_the_labels_flips_the_sign(problem, steps):
    np.testing.assert_array_equal(learnt(problem.X, problem.y, **steps), -learnt(problem.X, -problem.y, **steps))


@law(problems(), STEPS, st.sampled_from([0.25, 8.0]))
def test_lambda_scales_with_the_square_of_the_data(problem, steps, factor):
    """By powers of two, so that every step is the same to the last bit."""
    steps = {**steps, "bias": "none"}
    scaled = learnt(factor * problem.X, problem.y, LAMBDA * factor**2, **steps)
    np.testing.assert_allclose(factor * scaled, learnt(problem.X, problem.y, **steps), rtol=1e-12, atol=1e-15)


@law(problems(), STEPS, st.sampled_from([(np.int32, np.float64), (np.int64, np.float32)]))
def test_every_form_of_the_rows_takes_the_same_steps(problem, steps, form):
    index, value = form
    X = sparse.csr_matrix(problem.X.astype(value))
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    dense = learnt(problem.X, problem.y, **steps)
    np.testing.assert_allclose(learnt(X, problem.y, **steps), dense, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(learnt(problem.X.astype(value), problem.y, **steps), dense, rtol=1e-9, atol=1e-12)


@law(problems(), STEPS)
def test_single_steps_are_batches_of_one_in_a_ball_that_is_never_left(problem, steps):
    """The two loops that are compiled for them must not differ."""
    plain, inside = (
        pegasos.LinearIterate(problem.X.shape[1], pegasos.Steps(LAMBDA, 1, radius, True, steps["average"]))
        for radius in (np.inf, 1e50)
    )
    order = pegasos.Sampler(len(problem.y), steps["seed"]).draw(0, T)
    for each in (plain, inside):
        each.advance(problem.X, problem.y.astype(np.float64), problem.weight, order)
    np.testing.assert_allclose(plain.last(), inside.last(), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(plain.weights()[0], inside.weights()[0], rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(plain.clock[[STEP, ROWS, SHORT]], inside.clock[[STEP, ROWS, SHORT]])


@law(problems(), st.booleans(), st.randoms(use_true_random=False), st.data())
def test_order_does_not_show_and_weights_are_multiplicities(problem, average, random, data):
    """To the last bit: the draws depend on what rows hold."""
    order = list(range(len(problem.y)))
    random.shuffle(order)
    i = data.draw(st.integers(0, len(problem.y) - 1))
    weight = np.where(np.arange(len(problem.y)) == i, 2.0, 1.0)

    def fit(X, y, weight=None):
        return PegasosSVC(alpha=LAMBDA, T=T, average=average).fit(X, y, weight).coef_

    heavier = fit(problem.X, problem.y, weight)
    np.testing.assert_array_equal(heavier, fit(problem.X[order], problem.y[order], weight[order]))
    again = [*range(len(problem.y)), i]
    np.testing.assert_array_equal(heavier, fit(problem.X[again], problem.y[again]))
