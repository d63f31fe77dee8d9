"""The same call gives the same bits; the number of threads changes only rounding."""

import numpy as np
import pytest
from hypothesis import strategies as st

from mercer import SVC
from tests.laws.test_duality import small_working_sets
from tests.laws.two_class import assert_same_machine, law, problems


def bits(model):
    return [np.asarray(part).tobytes() for part in (model.dual_coef_, model.intercept_, model.support_, model.n_iter_)]


@law(problems(), st.booleans())
def test_a_second_fit_gives_the_same_bits(problem, rounds):
    if rounds:
        with small_working_sets():
            assert bits(problem.fit()) == bits(problem.fit())
    else:
        assert bits(problem.fit()) == bits(problem.fit())


@law(problems())
def test_one_thread_or_two_give_the_same_machine(problem):
    assert_same_machine(problem.fit(n_jobs=1), problem.fit(n_jobs=2), problem.X, problem.X, problem.kernel)


@pytest.mark.parametrize("n", [1200, 2500])
def test_threads_agree_where_there_is_work_for_them(n, rng):
    X = rng.normal(size=(n, 6))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n) > 0, 1, -1)
    one, two = (SVC(gamma=0.2, tol=1e-5, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    again = SVC(gamma=0.2, tol=1e-5, n_jobs=2).fit(X, y)
    assert bits(two) == bits(again)
    assert one.certificate_.dual == pytest.approx(two.certificate_.dual, rel=1e-7)
    np.testing.assert_allclose(one.decision_function(X), two.decision_function(X), atol=1e-3)


def test_a_global_seed_plays_no_part(rng):
    X = rng.normal(size=(1800, 4))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=1800) > 0, 1, -1)
    first = bits(SVC(random_state=0).fit(X, y))
    rng.normal(size=10)
    assert first == bits(SVC(random_state=1).fit(X, y))
