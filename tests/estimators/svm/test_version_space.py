import pickle
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from mercer import (
    AnalyticCenterMachine,
    BayesPointMachine,
    DataError,
    NotPositiveSemidefiniteError,
    ParameterError,
    Status,
)
from mercer.kernels import RBF, Custom, Sigmoid
from tests.estimators.svm.version_spaces import clouds

MACHINES = [AnalyticCenterMachine, BayesPointMachine]
QUICK = {"n_draws": 100, "min_ess": 30, "tol": 0.3, "random_state": 0}


def quick(kind, **parameters):
    return kind(**(QUICK if kind is BayesPointMachine else {}) | parameters)


@pytest.mark.parametrize("kind", MACHINES)
def test_without_slack_every_row_is_classified_correctly(kind):
    X, y = clouds(gap=1.0)
    model = quick(kind, gamma=2.0, slack=0.0).fit(X, y)
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize("kind", MACHINES)
def test_rows_that_cannot_be_separated_are_an_error_without_slack(kind):
    X, y = clouds(gap=0.3)
    with pytest.raises(DataError, match=r"the version space is empty: .*slack=1.0 softens the walls"):
        quick(kind, kernel="linear", slack=0.0).fit(X, y)
    assert quick(kind, kernel="linear", slack=1.0).fit(X, y).status_ is Status.OPTIMAL


@pytest.mark.parametrize("kind", MACHINES)
@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_several_classes(kind, multi_class):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = quick(kind, gamma=0.5, slack=1.0, multi_class=multi_class).fit(X, names)
    assert model.score(X, names) > 0.93
    assert model.decision_function(X).shape == (150, 3)
    evidence = model.diagnostics_ if kind is BayesPointMachine else model.certificate_
    assert len(evidence) == 3


@pytest.mark.parametrize("kind", MACHINES)
@pytest.mark.parametrize("layout", [sparse.csr_array, np.asfortranarray, lambda X: X.tolist()])
def test_layout_does_not_matter(kind, layout):
    X, y = clouds()
    expected = quick(kind, gamma=0.3, slack=0.5).fit(X, y).decision_function(X)
    # Walks part after a while where sums are taken in another order, but not in what they find.
    found = quick(kind, gamma=0.3, slack=0.5).fit(layout(X), y).decision_function(layout(X))
    np.testing.assert_allclose(found, expected, atol=1e-6 if kind is AnalyticCenterMachine else 0.2)


@pytest.mark.parametrize("kind", MACHINES)
def test_every_kind_of_kernel(kind):
    X, y = clouds()
    kernel = RBF(gamma=0.3)
    expected = quick(kind, kernel=kernel).fit(X, y).decision_function(X)
    given = quick(kind, kernel="precomputed").fit(kernel(X), y).decision_function(kernel(X))
    function = quick(kind, kernel=partial(RBF.__call__, kernel)).fit(X, y).decision_function(X)
    np.testing.assert_allclose(given, expected, atol=1e-6)
    np.testing.assert_allclose(function, expected, atol=1e-6)
    single = X.astype(np.float32)
    near = quick(kind, kernel=kernel).fit(single, y).decision_function(single)
    np.testing.assert_allclose(near, expected, atol=1e-3 if kind is AnalyticCenterMachine else 0.2)


@pytest.mark.parametrize("kind", MACHINES)
def test_items_that_are_not_vectors(kind):
    words, labels = ["aaa", "aab", "aba", "bbb", "bba", "bab"], ["a", "a", "a", "b", "b", "b"]
    kernel = Custom(lambda a, b: float(sum(x == y for x, y in zip(a, b, strict=True))), pairwise=True)
    model = quick(kind, kernel=kernel, slack=0.0).fit(words, labels)
    assert list(model.predict(["aaa", "bbb"])) == ["a", "b"]


@pytest.mark.parametrize("kind", MACHINES)
def test_a_kernel_that_is_none_is_refused_with_a_proof(kind):
    X, y = clouds(gap=0.5, n=60)
    kernel = Sigmoid(gamma=2.0, coef0=-1.0)
    with pytest.raises(NotPositiveSemidefiniteError, match="not positive semidefinite on these rows") as caught:
        quick(kind, kernel=kernel, slack=0.05).fit(X, y)
    witness = caught.value.witness
    assert witness @ kernel(X) @ witness < 0


@pytest.mark.parametrize("kind", MACHINES)
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"slack": -1.0}, "slack must be a finite number, 0 or more, got -1.0"),
        ({"slack": np.nan}, "slack must be a finite number, 0 or more, got nan"),
        ({"slack": np.inf}, "slack must be a finite number, 0 or more, got inf"),
        ({"bias": "free"}, "bias must be one of 'penalized', 'none', got 'free'"),
        ({"tol": 0}, "tol must be a finite number above 0, got 0"),
        ({"max_iter": 0}, "max_iter must be -1"),
        ({"multi_class": "all"}, "multi_class must be one of 'ovo', 'ovr', got 'all'"),
        ({"gamma": -1.0}, "gamma must be positive, got -1.0"),
        ({"time_limit": -1.0}, "time_limit must be a finite number above 0, got -1.0"),
        ({"memory_limit": "much"}, "memory_limit must be bytes or a text"),
    ],
)
def test_parameters_outside_their_range_are_refused(kind, parameters, message):
    with pytest.raises(ParameterError, match=message):
        kind(**parameters).fit(*clouds())


@pytest.mark.parametrize("kind", MACHINES)
def test_bad_rows_are_refused(kind):
    X, y = clouds()
    with pytest.raises(DataError, match="The number of classes has to be greater than one"):
        kind().fit(X, np.zeros(len(y)))
    with pytest.raises(DataError, match="k\\(x, x\\) must be positive, got 0 for row 2"):
        kind(kernel="linear", bias="none", slack=0.0).fit(np.where(np.arange(40)[:, None] == 2, 0.0, X), y)
    with pytest.raises(DataError, match="kernel values overflow on X"):
        kind(kernel="linear").fit(1e200 * X, y)
    contradiction = np.vstack([X, X[:1]]), np.append(y, 1 - y[0])
    with pytest.raises(DataError, match="the version space is empty"):
        kind(slack=0.0).fit(*contradiction)
    X[3, 1] = np.inf
    with pytest.raises(ValueError, match="Input X contains infinity"):
        kind().fit(X, y)


@pytest.mark.parametrize("kind", MACHINES)
def test_limits_leave_a_model_and_say_so(kind):
    X, y = clouds(n=100)
    with pytest.warns(ConvergenceWarning, match="^TIME_LIMIT"):
        hurried = kind(time_limit=1e-9).fit(X, y)
    assert hurried.predict(X).shape == y.shape
    with pytest.warns(ConvergenceWarning, match="^MEMORY_LIMIT"):
        kind(memory_limit="13MiB").fit(*clouds(n=600))
    with pytest.warns(ConvergenceWarning, match="^INTERRUPTED"):
        kind(callbacks=[lambda point: True]).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="^ITERATION_LIMIT"):
        kind(max_iter=1).fit(X, y)


@pytest.mark.parametrize("kind", MACHINES)
def test_slack_of_any_size_is_a_slack(kind):
    X, y = clouds()
    for slack in (1e-6, 1e6, 1e12):
        model = quick(kind, slack=slack).fit(X, y)
        assert np.isfinite(model.decision_function(X)).all()
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("kind", MACHINES)
def test_a_model_survives_a_journey(kind):
    X, y = clouds()
    model = quick(kind).fit(X, y)
    away = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own
    np.testing.assert_array_equal(away.decision_function(X), model.decision_function(X))
