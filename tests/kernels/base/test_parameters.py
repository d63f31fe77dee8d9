import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from sklearn.base import clone

from mercer._errors import MercerError, ParameterError
from mercer.kernels import (
    RBF,
    Centered,
    ChiSquared,
    Constant,
    Custom,
    Laplacian,
    Linear,
    Matern,
    Normalized,
    Polynomial,
    Power,
    Product,
    RationalQuadratic,
    Scaled,
    Sigmoid,
    Sum,
)
from tests.kernels.formulas import FORMULAS


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RBF(-1.0), "gamma must be positive, got -1.0"),
        (lambda: RBF(0), "gamma must be positive, got 0"),
        (lambda: RBF(np.nan), "gamma must be a finite number, got nan"),
        (lambda: RBF(np.inf), "gamma must be a finite number, got inf"),
        (lambda: RBF("wide"), 'gamma must be a positive number, "scale", "auto" or "median", got \'wide\''),
        (lambda: RBF(None), '"scale", "auto" or "median", got None'),
        (lambda: RBF(True), '"scale", "auto" or "median", got True'),
        (lambda: RBF.from_sigma_squared(-2.0), "sigma must be positive, got -2.0"),
        (lambda: RBF.from_two_sigma(0.0), "sigma must be positive, got 0.0"),
        (lambda: RBF().truncated_feature_map([[1.0]], 1.5), "order must be a whole number, 0 or more, got 1.5"),
        (lambda: Laplacian(-1.0), "gamma must be positive"),
        (lambda: ChiSquared(-1.0), "gamma must be positive"),
        (lambda: Sigmoid(1.0, np.inf), "coef0 must be a finite number, got inf"),
        (lambda: Polynomial(2.5), "degree must be a whole number, 0 or more, got 2.5"),
        (lambda: Polynomial(-1), "degree must be a whole number, 0 or more, got -1"),
        (lambda: Polynomial(3, -1.0), "gamma must be positive, got -1.0"),
        (lambda: Polynomial(3, 1.0, "a"), "coef0 must be a finite number, got 'a'"),
        (lambda: Matern(0.0), "nu must be positive and at most 50, or inf, got 0.0"),
        (lambda: Matern(51.0), "nu must be positive and at most 50"),
        (lambda: Matern(1.5, -1.0), "length_scale must be positive, got -1.0"),
        (lambda: RationalQuadratic(0.0), "alpha must be positive, got 0.0"),
        (lambda: RationalQuadratic(1.0, 0.0), "length_scale must be positive, got 0.0"),
        (lambda: Constant(-1.0), "value must not be negative, got -1.0"),
        (lambda: Custom(3), "function must be callable, got 3"),
        (lambda: Sum(()), "kernels must hold at least one kernel, got none"),
        (lambda: Sum((RBF(), 3)), "each of kernels must be a Kernel, got 3"),
        (lambda: Scaled(-1.0, RBF()), "factor must not be negative, got -1.0"),
        (lambda: Scaled(1.0, "rbf"), "kernel must be a Kernel, got 'rbf'"),
        (lambda: Power(RBF(), 0), "exponent must be positive, got 0"),
        (lambda: RBF() * -2.0, "factor must not be negative, got -2.0"),
        (lambda: RBF() + -2.0, "value must not be negative, got -2.0"),
    ],
)
def test_a_wrong_parameter_is_named_with_its_value(make, message):
    with pytest.raises(ParameterError) as caught:
        make()
    assert message in str(caught.value)
    assert isinstance(caught.value, MercerError)
    assert isinstance(caught.value, ValueError)


EXAMPLES = [kernel for kernel, _ in FORMULAS.values()] + [
    RBF("scale"),
    RBF() + 2.0 * Linear(),
    (Linear() * RBF(3.0)) ** 2,
    Polynomial().normalized(),
    RBF().centered(),
]


@pytest.mark.parametrize("kernel", EXAMPLES, ids=repr)
def test_a_kernel_is_a_value(kernel):
    for copy in (clone(kernel), pickle.loads(pickle.dumps(kernel)), eval(repr(kernel), globals_of_kernels())):  # noqa: S301, S307
        assert copy == kernel
        assert hash(copy) == hash(kernel)
        assert type(copy) is type(kernel)
    assert kernel != "rbf"


def globals_of_kernels():
    from mercer import kernels

    return {name: getattr(kernels, name) for name in kernels.__all__} | {"inf": np.inf}


def test_kernels_of_other_kinds_and_parameters_differ():
    assert len({RBF(1.0), RBF(2.0), Laplacian(1.0), Linear(), RBF(1.0)}) == 4
    assert RBF() + Linear() != Linear() + RBF()
    assert Sum((RBF(),)) != Product((RBF(),))


def test_a_kernel_cannot_be_changed_by_assignment():
    with pytest.raises(AttributeError):
        RBF().gamma = 2.0


def test_parameters_are_read_by_name():
    assert Polynomial(2, 0.5, 1.0).get_params() == {"degree": 2, "gamma": 0.5, "coef0": 1.0}
    assert Linear().get_params() == {}


def test_nested_parameters_are_read_by_path():
    kernel = 2.0 * RBF(0.5) + Linear() * Polynomial(2)
    params = kernel.get_params()
    assert params["k1__factor"] == 2.0
    assert params["k1__kernel__gamma"] == 0.5
    assert params["k2__k2__degree"] == 2
    assert set(kernel.get_params(deep=False)) == {"kernels"}


def test_a_kernel_never_changes():
    kernel = RBF(1.0)
    assert kernel.replace(gamma=3.0) == RBF(3.0)
    assert kernel == RBF(1.0)
    assert not hasattr(kernel, "set_params")
    with pytest.raises(FrozenInstanceError):
        kernel.gamma = 3.0


def test_nested_parameters_are_replaced_by_path():
    kernel = RBF(1.0) + Linear()
    assert kernel.replace(k1__gamma=5.0) == RBF(5.0) + Linear()
    assert kernel.replace(k2=Laplacian(2.0)) == RBF(1.0) + Laplacian(2.0)
    assert kernel.replace(kernels=(Linear(),)) == Sum((Linear(),))
    assert kernel == RBF(1.0) + Linear()


def test_a_wrapped_kernel_can_be_replaced_and_changed_at_once():
    assert Normalized(RBF()).replace(kernel=Polynomial(), kernel__degree=5) == Normalized(Polynomial(5))


def test_a_change_of_exponent_is_seen():
    kernel = Linear() ** 2
    assert kernel.is_psd is True
    assert kernel.replace(exponent=1.5).is_psd is None


def test_a_wrong_change_is_refused():
    with pytest.raises(ParameterError, match="degree must be a whole number"):
        Polynomial(2).replace(gamma=2.0, degree=-1)


@pytest.mark.parametrize("key", ["gama", "gamma__x", "kernel__gamma"])
def test_an_unknown_parameter_is_refused_with_those_there_are(key):
    with pytest.raises(ParameterError, match=f"RBF has no parameter '{key}'; it has gamma"):
        RBF().replace(**{key: 1.0})


def test_scale_and_auto_are_scikit_learns():
    X = np.random.default_rng(0).normal(size=(30, 4))
    for kind in (RBF, Laplacian, Sigmoid, ChiSquared):
        assert kind(gamma="scale").bind(X).gamma == pytest.approx(1 / (4 * X.var()))
        assert kind(gamma="auto").bind(X).gamma == 0.25
    assert Polynomial(gamma="scale").bind(X).gamma == pytest.approx(1 / (4 * X.var()))
    assert RBF("scale").bind(np.ones((3, 2))).gamma == 1.0


def test_scale_counts_the_zeros_of_sparse_rows():
    from scipy import sparse

    X = sparse.random_array((50, 8), density=0.2, rng=np.random.default_rng(1), format="csr")
    assert RBF("scale").bind(X).gamma == pytest.approx(RBF("scale").bind(X.toarray()).gamma)


def test_bind_leaves_a_kernel_that_needs_nothing():
    X = np.eye(3)
    for kernel in (RBF(2.0), Linear() + RBF(), Normalized(Linear())):
        assert kernel.bind(X) is kernel
        assert kernel.is_bound


def test_bind_reaches_the_parts():
    X = np.arange(6.0).reshape(3, 2)
    kernel = (2.0 * RBF("auto") + Linear()).normalized() ** 2
    assert not kernel.is_bound
    assert kernel.bind(X) == (2.0 * RBF(0.5) + Linear()).normalized() ** 2


def test_a_gram_matrix_binds_itself():
    X = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(RBF("auto")(X), RBF(0.5)(X))
    np.testing.assert_array_equal(RBF("auto").diag(X), np.ones(3))


@pytest.mark.parametrize("kernel", [RBF("scale"), RBF("auto") + Linear(), Laplacian("auto"), Centered(RBF())])
def test_a_rectangle_asks_which_rows_to_bind_to(kernel):
    with pytest.raises(ParameterError, match=r"depends on training data; call bind\(X\) on it first"):
        kernel(np.eye(2), np.eye(2))
