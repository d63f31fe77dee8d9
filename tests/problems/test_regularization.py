from fractions import Fraction

import numpy as np
import pytest

from mercer import SVC, ParameterError, Regularization
from mercer.problems.regularization import resolve_C


@pytest.mark.parametrize(
    ("given", "C"),
    [
        (3.0, 3.0),
        (3, 3.0),
        (np.float32(0.5), 0.5),
        (Fraction(1, 4), 0.25),
        (np.inf, np.inf),
        (Regularization(2.0), 2.0),
        (Regularization.from_lambda(0.1), 1.0 / (2 * 0.1 * 50)),
        (Regularization.from_lambda(0.1, half=True), 1.0 / (0.1 * 50)),
        (Regularization.from_alpha(4.0), 0.125),
        (Regularization.from_box_over_n(20.0), 0.4),
        (Regularization.from_box_over_n(np.inf), np.inf),
    ],
)
def test_every_way_resolves_to_a_c(given, C):
    assert resolve_C(given, 50) == pytest.approx(C, rel=1e-15)


def test_the_four_ways_of_the_source_documents_give_the_same_classifier(petals):
    """λ|w|² + mean, (λ/2)|w|² + mean, |w|²/2 + C Σ, |w|²/2 + (C/n) Σ, with corresponding numbers."""
    X, y = petals
    lam, m = 0.02, len(y)
    four = [
        Regularization.from_lambda(lam),
        Regularization.from_lambda(2 * lam, half=True),
        1.0 / (2 * lam * m),
        Regularization.from_box_over_n(1.0 / (2 * lam)),
    ]
    functions = [SVC(C=C, kernel="linear", tol=1e-8).fit(X, y).decision_function(X) for C in four]
    for other in functions[1:]:
        np.testing.assert_allclose(other, functions[0], atol=1e-5)


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, "1", None, True, 1j])
def test_anything_but_a_positive_number_is_refused(value):
    with pytest.raises(ParameterError, match="C must be a positive number, got"):
        resolve_C(value, 10)
    with pytest.raises(ParameterError, match="lam must be a positive number, got"):
        Regularization.from_lambda(value)
    with pytest.raises(ParameterError, match="C must be a positive number, got"):
        Regularization.from_box_over_n(value)
    with pytest.raises(ParameterError, match="numerator must be a positive number, got"):
        Regularization(value)


def test_an_infinite_lambda_is_refused():
    with pytest.raises(ParameterError, match="lam must be finite, got inf"):
        Regularization.from_lambda(np.inf)


@pytest.mark.parametrize("lam", [1e-320, 5e-324, 1e308, 1.7e308])
def test_a_lambda_at_the_end_of_the_range_is_still_a_weight(lam):
    assert Regularization.from_lambda(lam).box(1) > 0.0


def test_it_is_a_value():
    assert Regularization.from_lambda(0.5) == Regularization.from_box_over_n(1.0)
    assert len({Regularization.from_lambda(0.5), Regularization.from_box_over_n(1.0)}) == 1


@pytest.mark.parametrize("make", [Regularization.from_alpha, Regularization.from_lambda])
@pytest.mark.parametrize("value", [np.inf, 0.0, -1.0, np.nan])
def test_a_penalty_without_end_or_of_nothing_is_refused(make, value):
    with pytest.raises(ParameterError, match=r"must be (finite|a positive)|positive"):
        make(value)
