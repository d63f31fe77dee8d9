"""Bad parameters and bad data for PegasosSVC: an exact error, or an exact status."""

import numpy as np
import pytest
from scipy import sparse

from mercer import DataError, ParameterError, PegasosSVC

X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]])
y = np.array([0, 0, 1, 1])

BAD_PARAMETERS = [
    ({"alpha": 0.0}, "alpha must be a finite number above 0, got 0.0"),
    ({"alpha": -1.0}, "alpha must be a finite number above 0, got -1.0"),
    ({"alpha": np.nan}, "alpha must be"),
    ({"alpha": np.inf}, "alpha must be"),
    ({"alpha": "small"}, "alpha must be"),
    ({"T": 0}, "T must be a whole number, 1 or more, got 0"),
    ({"T": -3}, "T must be a whole number, 1 or more, got -3"),
    ({"T": 2.5}, "T must be"),
    ({"T": True}, "T must be"),
    ({"epochs": 0}, "epochs must be a finite number above 0, got 0"),
    ({"T": 5, "epochs": 2}, "T and epochs cannot both be given"),
    ({"batch_size": 0}, "batch_size must be a whole number, 1 or more, got 0"),
    ({"budget": 0, "kernel": "rbf"}, "budget must be a whole number, 1 or more, got 0"),
    ({"budget_strategy": "magic"}, "budget_strategy must be one of 'merging', 'removal', got 'magic'"),
    ({"sampling": "cyclic"}, "sampling must be one of"),
    ({"bias": "free"}, "bias must be one of 'none', 'penalized', got 'free'"),
    ({"form": "beta"}, "form must be one of"),
    ({"form": "w", "kernel": "rbf"}, 'form="w" keeps weights'),
    ({"form": "w", "budget": 3}, 'form="w" keeps weights'),
    ({"average": "yes"}, "average must be True or False"),
    ({"projected": 1}, "projected must be True or False"),
    ({"time_limit": 0}, "time_limit must be"),
    ({"n_jobs": 0}, "n_jobs must be"),
    ({"callbacks": 3}, "callbacks must be"),
    ({"kernel": "rfb"}, "no kernel is called 'rfb'; did you mean 'rbf'"),
    ({"kernel": "rbf", "gamma": -1.0}, "gamma"),
    ({"class_weight": {0: -1.0, 1: 1.0}}, "class_weight must be positive"),
    ({"memory_limit": "much", "kernel": "rbf"}, "memory_limit"),
]


@pytest.mark.parametrize(("parameters", "message"), BAD_PARAMETERS, ids=str)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(ParameterError, match=message):
        PegasosSVC(**parameters).fit(X, y)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none_are_refused(kernel, value):
    bad = X.copy()
    bad[1, 1] = value
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        PegasosSVC(kernel=kernel, T=10).fit(bad, y)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        PegasosSVC(kernel=kernel).partial_fit(bad, y, classes=[0, 1])


@pytest.mark.parametrize("size", [1e200, 4e307])
def test_rows_whose_products_overflow_are_refused(size):
    with pytest.raises(DataError, match="overflow"):
        PegasosSVC(T=100).fit(size * (X + 1), y)
    with pytest.raises(DataError, match="overflow"):
        PegasosSVC(T=100, kernel="poly", gamma=1.0).fit(size * (X + 1), y)


@pytest.mark.parametrize("size", [1e-310, 1e-200, 1e30])
def test_tiny_and_large_numbers_give_finite_models(size):
    model = PegasosSVC(T=100).fit(size * X, y)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_).all()


@pytest.mark.parametrize("lam", [1e-90, 1e90])
def test_extreme_lambda_gives_a_finite_model(lam):
    assert np.isfinite(PegasosSVC(alpha=lam, T=100).fit(X, y).decision_function(X)).all()


@pytest.mark.parametrize("labels", [[0, 0, 0, 0], ["a"] * 4])
def test_one_class_is_refused(labels):
    with pytest.raises(DataError, match="number of classes has to be greater than one"):
        PegasosSVC().fit(X, labels)


def test_quantities_are_no_labels():
    with pytest.raises(ValueError, match="continuous"):
        PegasosSVC().fit(X, [0.1, 0.2, 0.3, 0.4])


@pytest.mark.parametrize(
    ("data", "labels"),
    [
        (np.empty((0, 2)), []),
        (np.empty((4, 0)), y),
        (X.ravel(), y),
        (X, y[:3]),
        (X.astype(complex), y),
        ([["a", "b"]] * 4, y),
    ],
    ids=["no rows", "no columns", "one dimension", "lengths", "complex", "words"],
)
def test_shapes_and_kinds_that_cannot_be_are_refused(data, labels):
    with pytest.raises(ValueError):  # noqa: PT011 - the texts are scikit-learn's
        PegasosSVC(T=10).fit(data, labels)


@pytest.mark.parametrize(
    "form",
    [
        np.asfortranarray,
        lambda data: data.astype(">f8"),
        lambda data: data.astype(object),
        lambda data: data.astype(np.int64),
        lambda data: data.tolist(),
        lambda data: np.repeat(data, 2, axis=0)[::2],
        sparse.coo_matrix,
        sparse.csc_matrix,
    ],
)
def test_unusual_containers_give_the_usual_model(form):
    given = form(X)
    if isinstance(given, np.ndarray):
        given.setflags(write=False)
    assert PegasosSVC(T=200).fit(given, y).coef_ == pytest.approx(PegasosSVC(T=200).fit(X, y).coef_)


def test_sparse_rows_unsorted_and_with_duplicates_are_put_in_order():
    rows = sparse.csr_matrix(
        (np.array([1.0, 0.5, 0.5, 2.0]), np.array([1, 0, 0, 1]), np.array([0, 1, 3, 3, 4])), shape=(4, 2)
    )
    before = rows.indices.copy()
    assert PegasosSVC(T=200).fit(rows, y).coef_ == pytest.approx(PegasosSVC(T=200).fit(rows.toarray(), y).coef_)
    assert (rows.indices == before).all()


def test_sparse_rows_that_point_outside_are_refused():
    rows = sparse.csr_matrix(X)
    rows.indices = rows.indices.copy()
    rows.indices[0] = 99
    with pytest.raises(ValueError):  # noqa: PT011 - whoever looks first
        PegasosSVC(T=10).fit(rows, y)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 1, np.nan, 1], "NaN"),
        ([1, 1, np.inf, 1], "infinity"),
        ([1, 1], "one number for each row"),
        ([0, 0, 0, 0], "zero or negative"),
        ([1, 1, 0, 0], "same class"),
        ([-1, -1, 1, 1], "same class"),
    ],
)
def test_bad_sample_weights_are_named(weights, message):
    with pytest.raises(DataError, match=message):
        PegasosSVC(T=10).fit(X, y, sample_weight=weights)


def test_contradictory_rows_and_rows_of_zeros_are_learnt_from():
    model = PegasosSVC(alpha=1e-6, T=1000).fit(np.ones((4, 2)), y)
    assert np.isfinite(model.coef_).all()
    assert 1.0 <= model.certificate_.primal == pytest.approx(model.certificate_.dual + model.certificate_.gap)
    assert 0.99 <= model.certificate_.dual <= 1.0  # no line can have a smaller mean loss
    zero = PegasosSVC(T=100, bias="none").fit(np.zeros((4, 2)), y)
    assert (zero.coef_ == 0).all()
    assert zero.certificate_.gap == pytest.approx(0.0, abs=1e-12)


def test_one_row_of_each_class_is_enough():
    assert PegasosSVC(T=100).fit([[0.0], [1.0]], ["no", "yes"]).predict([[2.0]]) == ["yes"]


def test_many_classes_are_many_problems():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(300), 2)
    model = PegasosSVC(T=600).fit(rng.normal(size=(600, 3)), labels)
    assert model.coef_.shape == (300, 3)
