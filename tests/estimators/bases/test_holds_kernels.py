"""Kernels among parameters are values: setting one of theirs leaves whoever else holds the kernel alone."""

import numpy as np
import pytest

from mercer import SVC, KernelRidge, ParameterError, PegasosSVC
from mercer.kernels import RBF, Linear


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(40, 2))
    return X, (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize("kind", [SVC, KernelRidge, PegasosSVC])
def test_a_fitted_function_does_not_change_when_a_parameter_is_set(kind, rows):
    X, y = rows
    model = kind(kernel=RBF(0.5)).fit(X, y)
    answers = getattr(model, "decision_function", model.predict)
    before = answers(X)
    assert model.set_params(kernel__gamma=5.0) is model
    assert model.kernel == RBF(5.0)
    np.testing.assert_array_equal(answers(X), before)


def test_other_holders_of_a_kernel_keep_it():
    shared = RBF(0.5)
    known = {shared: "known"}
    first, second = SVC(kernel=shared), SVC(kernel=shared)
    first.set_params(kernel__gamma=5.0)
    assert second.kernel is shared
    assert shared == RBF(0.5)
    assert known[RBF(0.5)] == "known"


def test_a_kernel_and_its_parameter_may_be_set_together():
    model = SVC(kernel=RBF(0.5)).set_params(kernel=2.0 * RBF(1.0) + Linear(), C=3.0)
    assert model.C == 3.0
    changed = SVC(kernel="rbf").set_params(kernel=RBF(1.0), kernel__gamma=3.0)
    assert changed.kernel == RBF(3.0)
    with pytest.raises(ParameterError, match="gama"):
        changed.set_params(kernel__gama=1.0)
