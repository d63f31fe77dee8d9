"""Certificates: when they are computed, from what, and what happens if that is gone."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import scale

from mercer import SVC, Certificate, DataError, Status
from mercer.estimators.fitting import certifiers
from mercer.kernels import RBF
from tests.estimators.datasets import scaled, two_classes

CHANGED = "the training data were changed after fit, so the fit cannot be certified; fit again"


def test_two_classes_have_one_certificate_and_more_have_one_each():
    assert isinstance(SVC().fit(*two_classes("iris")).certificate_, Certificate)
    certificates = SVC().fit(*scaled("wine")).certificate_
    assert len(certificates) == 3
    assert all(isinstance(each, Certificate) and each.is_optimal(1e-3) for each in certificates)
    assert len(SVC(multi_class="ovr").fit(*scaled("wine")).certificate_) == 3


@pytest.mark.unwatched
def test_a_certificate_is_computed_when_it_is_first_read(monkeypatch):
    X, y = two_classes("iris")
    computed = []
    product = certifiers.tiles.product

    def counted(*arguments):
        computed.append(arguments)
        return product(*arguments)

    monkeypatch.setattr(certifiers.tiles, "product", counted)
    model = SVC().fit(X, y)
    assert not computed
    assert model.certificate_ is model.certificate_
    assert len(computed) == 1


def test_it_holds_what_the_data_and_the_coefficients_say():
    X, y = two_classes("wine")
    model = SVC(gamma=0.1, C=2.0).fit(X, y)
    signs, alpha = np.where(y == 2, 1.0, -1.0), np.zeros(len(y))
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    K = RBF(0.1)(X)
    quadratic = (signs * alpha) @ K @ (signs * alpha)
    hinge = np.maximum(0.0, 1.0 - signs * model.decision_function(X)).sum()
    certificate = model.certificate_
    assert certificate.dual == pytest.approx(alpha.sum() - 0.5 * quadratic, rel=1e-9)
    assert certificate.primal == pytest.approx(0.5 * quadratic + 2.0 * hinge, rel=1e-9)
    assert certificate.n_bounded == np.count_nonzero(alpha == 2.0)
    assert certificate.n_free == np.count_nonzero((alpha > 0) & (alpha < 2.0))
    assert certificate.n_zero == np.count_nonzero(alpha == 0)


CHANGES = {
    "dense": (np.array, lambda X: X.__setitem__((3, 1), 9.0)),
    "rows in another order": (np.array, lambda X: X.__setitem__(slice(None), X[::-1].copy())),
    "sparse": (sparse.csr_matrix, lambda X: X.data.__setitem__(3, 9.0)),
    "precomputed": (lambda X: X @ X.T, lambda K: K.__setitem__((0, 0), 100.0)),
}


@pytest.mark.parametrize(("rows", "change"), CHANGES.values(), ids=CHANGES)
def test_data_changed_after_the_fit_cannot_be_certified(rows, change):
    X, y = two_classes("iris")
    X = rows(X)
    model = SVC(kernel="precomputed" if X.shape[0] == X.shape[1] else "rbf").fit(X, y)
    change(X)
    with pytest.raises(DataError) as error:
        _ = model.certificate_
    assert str(error.value) == CHANGED
    # A model can be saved all the same, and still says so.
    back = pickle.loads(pickle.dumps(model))  # noqa: S301 - written a moment ago
    with pytest.raises(DataError):
        _ = back.certificate_


def test_what_was_read_in_time_stays():
    X, y = two_classes("iris")
    X = X.copy()
    model = SVC().fit(X, y)
    before = model.certificate_
    X[:] = 0.0
    assert model.certificate_ == before


def test_a_model_that_has_been_certified_holds_no_data():
    X, y = two_classes("iris")
    model = SVC().fit(X, y)
    assert model._evidence.data is not None
    _ = model.certificate_
    assert model._evidence.data is None


def test_a_function_is_certified_at_once_so_that_its_matrix_is_not_kept():
    X, y = two_classes("iris")
    model = SVC(kernel=lambda A, B: A @ B.T).fit(X, y)
    assert model._evidence.data is None
    assert model.certificate_.is_optimal(1e-3)


def test_rows_of_no_weight_are_not_part_of_it(rng):
    X, y = two_classes("iris")
    weights = rng.integers(0, 2, len(y)).astype(float)
    certificate = SVC().fit(X, y, sample_weight=weights).certificate_
    assert certificate.n_free + certificate.n_bounded + certificate.n_zero == weights.sum()


@pytest.mark.parametrize("fold", range(5))
def test_long_rows_are_looked_at_before_single_precision_is_believed(fold):
    """Of the first fold's rows some are so long that their distance to themselves is not zero in single precision."""
    X, y = load_breast_cancer(return_X_y=True)
    train, _ = list(StratifiedKFold(5).split(X, y))[fold]
    model = SVC(C=10.0, gamma=1.0).fit(scale(X)[train], y[train])
    assert model.status_ is Status.OPTIMAL
    assert model.certificate_.kkt_violation <= model.tol
