"""The strength of a linear machine by folds that are solved together: what each fold gives by itself."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import mercer
from mercer import SVC, LinearCV, LinearSVC, LinearSVR, ParameterError
from mercer.io import Blocks
from mercer.io.blocks.choice import RowChoice, folds_of_rows

CS = [10.0, 0.001, 0.1]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(600, 12))
    return X, X @ rng.normal(size=12) + 3.0 * rng.normal(size=600)


def by_hand(estimator, X, y, n_folds):
    """Scores by strength, ascending, and fold."""
    folds = folds_of_rows(0, len(y), n_folds, 0)
    found = []
    for C in sorted(CS):
        found.append([])
        for k in range(n_folds):
            model = estimator.set_params(C=C).fit(X[folds != k], y[folds != k])
            found[-1].append(model.score(X[folds == k], y[folds == k]))
    return np.array(found)


def scores_of(found):
    return np.column_stack([found.cv_results_[f"split{k}_test_score"] for k in range(found.n_splits_)])


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_every_fold_scores_as_it_does_by_itself(rows, loss, monkeypatch):
    monkeypatch.setattr("mercer.selection.tuning.linear.SCORE_GAP", 1e-8)
    X, z = rows
    y = np.where(z > 0, "yes", "no")
    machine = LinearSVC(loss=loss, tol=1e-8)
    found = LinearCV(machine, CS, cv=4).fit(Blocks((X, y), block_rows=70))
    np.testing.assert_allclose(scores_of(found), by_hand(LinearSVC(loss=loss, tol=1e-8), X, y, 4), atol=0.007)
    assert found.best_score_ == pytest.approx(found.cv_results_["mean_test_score"].max())
    assert found.best_params_["C"] == sorted(CS)[found.best_index_]
    alone = LinearSVC(loss=loss, tol=1e-8, C=found.best_params_["C"]).fit(Blocks((X, y), block_rows=70))
    # Both are within the gap, and the objective is strongly convex: |w - w'|^2 / 8 is at most the gap.
    apart = np.sqrt(8e-8 * alone.certificate_.primal)
    np.testing.assert_allclose(found.best_estimator_.coef_, alone.coef_, atol=apart)
    assert found.best_estimator_.certificate_.relative_gap <= 1e-8
    np.testing.assert_array_equal(found.predict(Blocks(X)), found.best_estimator_.predict(X))
    assert found.score(X, y) == found.score(Blocks((X, y)))


def test_regressions_and_several_classes_score_as_by_themselves(rows, monkeypatch):
    monkeypatch.setattr("mercer.selection.tuning.linear.SCORE_GAP", 1e-8)
    X, z = rows
    found = LinearCV(LinearSVR(tol=1e-8, epsilon=0.2), CS, cv=3).fit(X, z)
    np.testing.assert_allclose(scores_of(found), by_hand(LinearSVR(tol=1e-8, epsilon=0.2), X, z, 3), atol=1e-4)
    y, weights = np.digitize(z, [-2.0, 2.0]), np.random.default_rng(0).random(len(z))
    found = LinearCV(LinearSVC(tol=1e-8, class_weight="balanced"), CS, cv=3).fit(sparse.csr_matrix(X), y, weights)
    assert found.classes_.tolist() == [0, 1, 2]
    assert scores_of(found).shape == (3, 3)
    assert 0.4 < found.best_score_ < 1.0


def test_folds_follow_from_the_numbers_of_rows_alone(rows):
    X, z = rows
    blocks = Blocks((X, z > 0), block_rows=100)
    found = [LinearCV(LinearSVC(n_jobs=jobs), CS, cv=3).fit(blocks) for jobs in (1, 2)]
    np.testing.assert_array_equal(*(scores_of(each) for each in found))
    whole = folds_of_rows(0, 100_000, 5)
    np.testing.assert_array_equal(np.concatenate([folds_of_rows(0, 777, 5), folds_of_rows(777, 99_223, 5)]), whole)
    counts = np.bincount(whole)
    assert np.abs(counts - 20_000).max() < 4 * np.sqrt(100_000 * 0.16)
    assert not np.array_equal(whole, folds_of_rows(0, 100_000, 5, seed=1))


def test_rows_held_out_and_rows_learnt_from_are_all_rows_once():
    X = np.arange(1000.0)[:, None]
    blocks = Blocks((X, np.arange(1000)), block_rows=64)
    held, learnt = blocks.chosen(RowChoice(0.2, 3)), blocks.chosen(RowChoice(0.2, 3, is_drawn=False))
    rows = [np.concatenate([part.targets(i)[0] for i in range(len(part))]) for part in (held, learnt)]
    np.testing.assert_array_equal(np.sort(np.concatenate(rows)), np.arange(1000))
    assert 150 < held.n_rows < 250
    np.testing.assert_array_equal(held.matrix(2)[:, 0], held.targets(2)[0])
    assert f"row {held.targets(2)[0][1]}" in held.place(2, 1)


def test_ctrl_c_keeps_what_was_judged(rows, monkeypatch):
    X, z = rows
    judged = []
    original = mercer.selection.tuning.linear._Search._judged

    def judge(self, found):
        judged.append(1)
        scores = original(self, found)
        if len(judged) == 2:
            self._limits._so_far.is_pressed = True
        return scores

    monkeypatch.setattr("mercer.selection.tuning.linear._Search._judged", judge)
    with pytest.warns(ConvergenceWarning, match="INTERRUPTED"):
        found = LinearCV(LinearSVC(), CS, cv=3).fit(Blocks((X, z > 0), block_rows=100))
    scores = scores_of(found)
    assert np.isfinite(scores[:2]).all()
    assert np.isnan(scores[2]).all()
    assert found.best_params_["C"] in sorted(CS)[:2]
    assert found.score(X, z > 0) > 0.6


def test_a_search_is_saved(rows, tmp_path):
    X, z = rows
    found = LinearCV(LinearSVC(), CS, cv=2).fit(X, z > 0)
    mercer.save(found, tmp_path / "m.mercer")
    again = mercer.load(tmp_path / "m.mercer")
    np.testing.assert_array_equal(again.predict(X), found.predict(X))
    assert again.best_params_ == found.best_params_


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"estimator": SVC()}, "estimator must be a LinearSVC or a LinearSVR, got SVC"),
        ({"Cs": []}, "Cs must be positive"),
        ({"Cs": [0.0]}, "Cs must be positive"),
        ({"Cs": "many"}, "Cs must be positive"),
        ({"cv": 1}, "cv"),
        ({"estimator": LinearSVC(penalty="l1")}, "penalty must be 'l2' with LinearCV"),
    ],
)
def test_parameters_are_checked(rows, arguments, words):
    X, z = rows
    with pytest.raises(ParameterError, match=words):
        LinearCV(**{"estimator": LinearSVC(), **arguments}).fit(X, z > 0)
