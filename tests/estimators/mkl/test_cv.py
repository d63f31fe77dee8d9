"""Kernel weights by cross-validation: who is learnt from, who is judged, and what cannot be."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn import config_context
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GroupKFold, TimeSeriesSplit, cross_val_score

from mercer import SVC, SVR, DataError, MKLClassifier, MKLRegressor, ParameterError
from mercer.kernels import RBF, Linear, On
from tests.estimators.datasets import scaled

COLUMNS = [On([0], RBF(gamma=0.5)), On([1], RBF(gamma=0.5))]


def turning():
    """Rows of which the last 300 have the opposite label: who learns from them is wrong about the first 80."""
    X = np.random.default_rng(0).normal(size=(380, 2))
    y = np.where(np.arange(380) < 80, X[:, 1] > 0, X[:, 1] < 0).astype(int)
    return X, y


FIRST, SECOND = np.arange(40), np.arange(40, 80)


def scores(machine, weights, X, y, splits):
    """Mean score of a machine fitted to the first part of each split, by its second."""
    kernel = sum(float(w) * k for w, k in zip(weights, COLUMNS, strict=True) if w > 0)
    return np.mean([machine(kernel=kernel).fit(X[a], y[a]).score(X[b], y[b]) for a, b in splits])


@pytest.mark.parametrize(("model", "machine"), [(MKLClassifier, SVC), (MKLRegressor, SVR)])
@pytest.mark.parametrize("cv", [[(FIRST, SECOND)], TimeSeriesSplit(4)])
def test_machines_learn_from_the_first_part_of_a_split_only(model, machine, cv):
    X, y = turning()
    splits = cv if isinstance(cv, list) else list(cv.split(X))
    found = model(COLUMNS, method="cv", cv=cv, normalize=None).fit(X, y)
    tried = [scores(machine, weights, X, y, splits) for weights in ([0.5, 0.5], [1.0, 0.0], [0.0, 1.0])]
    assert scores(machine, found.weights_, X, y, splits) >= max(tried) - 1e-6
    assert max(tried) > min(tried) + 0.05


def test_masks_are_splits_too():
    X, y = turning()
    places = np.arange(380)
    masks = [(places < 40, (places >= 40) & (places < 80))]
    by_number = MKLClassifier(COLUMNS, method="cv", cv=[(FIRST, SECOND)]).fit(X, y)
    by_mask = MKLClassifier(COLUMNS, method="cv", cv=masks).fit(X, y)
    np.testing.assert_array_equal(by_mask.weights_, by_number.weights_)


@pytest.mark.parametrize("model", [MKLClassifier, MKLRegressor])
def test_a_row_that_a_split_names_twice_is_two_rows(model):
    """Drawing with repetition (the bootstrap) is the same as having the rows twice."""
    X, y = scaled("wine")
    rng = np.random.default_rng(3)
    draws = [(rng.integers(0, 120, 120), rng.integers(120, len(y), 80)) for _ in range(3)]
    kernels = [On([k], RBF(gamma=0.5)) for k in range(4)]
    named = model(kernels, method="cv", cv=draws, normalize=None, C=2.0).fit(X, y)
    rows = np.concatenate([np.concatenate(draw) for draw in draws])
    ends = np.cumsum([0, *(len(part) for draw in draws for part in draw)])
    parts = [np.arange(a, b) for a, b in pairwise(ends)]
    copied = model(kernels, method="cv", cv=list(zip(parts[::2], parts[1::2], strict=True)), normalize=None, C=2.0)
    np.testing.assert_allclose(named.weights_, copied.fit(X[rows], y[rows]).weights_, atol=1e-9)


@pytest.mark.parametrize("model", [MKLClassifier, MKLRegressor])
def test_groups_are_kept_together(model):
    X, y = turning()
    groups = np.arange(380) // 20
    by_groups = model(COLUMNS, method="cv", cv=GroupKFold(3)).fit(X, y, groups=groups)
    splits = list(GroupKFold(3).split(X, y, groups))
    np.testing.assert_array_equal(by_groups.weights_, model(COLUMNS, method="cv", cv=splits).fit(X, y).weights_)
    with pytest.raises(DataError, match=r"groups.*pass groups to fit"):
        model(COLUMNS, method="cv", cv=GroupKFold(3)).fit(X, y)
    with pytest.raises(DataError, match="cannot split n_samples=380 rows"):
        model(COLUMNS, method="cv", cv=GroupKFold(3)).fit(X, y, groups=groups[:7])
    with pytest.raises(ParameterError, match=r"groups need a cv that keeps them together, got cv=5; .*GroupKFold\(5\)"):
        model(COLUMNS, method="cv").fit(X, y, groups=groups)


def test_groups_are_routed():
    X, y = turning()
    model = MKLClassifier(COLUMNS, method="cv", cv=GroupKFold(3))
    with config_context(enable_metadata_routing=True):
        found = cross_val_score(model.set_fit_request(groups=True), X, y, cv=3, params={"groups": np.arange(380) // 5})
    assert np.isfinite(found).all()


@pytest.mark.unwatched
def test_a_split_of_one_class_is_left_out_and_told():
    X, y = turning()
    alone = np.flatnonzero(y == 0)[:50]
    with pytest.warns(FitFailedWarning, match="1 of 2 splits .* do not have rows of two classes") as told:
        model = MKLClassifier(COLUMNS, method="cv", cv=[(alone, SECOND), (FIRST, SECOND)]).fit(X, y)
    assert told[0].filename == __file__
    fine = MKLClassifier(COLUMNS, method="cv", cv=[(FIRST, SECOND)]).fit(X, y)
    np.testing.assert_array_equal(model.weights_, fine.weights_)
    with pytest.raises(DataError, match="needs rows of two classes to learn from in some fold"):
        MKLClassifier(COLUMNS, method="cv", cv=[(alone, SECOND)]).fit(X, y)
    # Weights can take a class away as well.
    weights = np.where((y == 1) & (np.arange(380) < 40), 0.0, 1.0)
    with pytest.raises(DataError, match="needs rows of two classes"):
        MKLClassifier(COLUMNS, method="cv", cv=[(FIRST, SECOND)]).fit(X, y, sample_weight=weights)


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_a_class_that_a_split_has_not_learnt_is_never_found(multi_class):
    X, y = scaled("wine")
    kernels = [Linear(), RBF(gamma=0.1)]
    train, held = np.flatnonzero(y < 2), np.arange(len(y))[::2]
    model = MKLClassifier(kernels, method="cv", cv=[(train, held)], normalize=None, multi_class=multi_class).fit(X, y)
    best = max(
        SVC(kernel=kernel, multi_class=multi_class).fit(X[train], y[train]).score(X[held], y[held])
        for kernel in (*kernels, 0.5 * kernels[0] + 0.5 * kernels[1])
    )
    again = SVC(kernel=model.kernel_, multi_class=multi_class).fit(X[train], y[train])
    assert again.score(X[held], y[held]) >= best


@pytest.mark.parametrize("cv", [[(np.arange(400), SECOND)], [(FIRST, np.array([0.5]))]])
def test_splits_that_are_no_rows(cv):
    X, y = turning()
    with pytest.raises(DataError, match=r"cv=.* cannot split n_samples=380 rows"):
        MKLClassifier(COLUMNS, method="cv", cv=cv).fit(X, y)
