"""Machines over landmarks, learnt from blocks: the same as in memory, in bounded memory."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import mercer
from mercer import (
    SVC,
    SVR,
    DataError,
    KernelLogisticRegression,
    KernelRidge,
    LowRank,
    NuSVC,
    OneClassSVM,
    ParameterError,
    Status,
)
from mercer.estimators.low_rank import block_data, over_blocks
from mercer.estimators.low_rank.from_blocks import labels_to_learn
from mercer.io import Blocks
from mercer.solvers.limits import Limits
from mercer.solvers.low_rank import distance

N = 5000
rng = np.random.default_rng(0)
X = rng.normal(size=(N, 4)) + 3.0
VALUES = np.sin(2.0 * X[:, 0]) - X[:, 1] + 3.0 + 0.3 * rng.normal(size=N)
Y = np.where(VALUES > 0.0, "good", "bad")
Y3 = np.digitize(VALUES, [-1.0, 1.0])
WEIGHTS = np.where(rng.random(N) < 0.1, 0.0, rng.random(N))

MACHINES = {
    "hinge": (SVC(C=2.0), Y),
    "squared hinge": (SVC(loss="squared_hinge", bias="penalized", gamma=0.4), Y),
    "pairs": (SVC(class_weight="balanced"), Y3),
    "rest": (SVC(multi_class="ovr", kernel="rbf + linear"), Y3),
    "tube": (SVR(C=2.0, epsilon=0.2), VALUES),
    "logistic": (KernelLogisticRegression(kernel="poly", degree=2), Y),
    "ridge": (KernelRidge(alpha=0.5, kernel="rbf", gamma=0.2), VALUES),
}


def each(found):
    return found if isinstance(found, list) else [found]


def with_landmarks(machine, count=80, **options):
    return clone(machine).set_params(approximation=LowRank(count, **options))


def values_of(model, rows):
    return model.decision_function(rows) if hasattr(model, "decision_function") else model.predict(rows)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("name", list(MACHINES))
def test_blocks_give_the_machine_of_rows_in_memory(name, weights):
    machine, y = MACHINES[name]
    machine = with_landmarks(machine)
    if "gap_tol" in machine.get_params():
        machine.set_params(gap_tol=1e-6)
    there = clone(machine).fit(X, y, weights)
    blocks = Blocks((X, y) if weights is None else (X, y, weights), block_rows=1300)
    here = clone(machine).fit(blocks)
    assert here.status_ == there.status_ == Status.OPTIMAL
    np.testing.assert_allclose(values_of(here, X[:400]), values_of(there, X[:400]), atol=2e-3 * np.abs(VALUES).max())
    for mine, its in zip(each(here.certificate_), each(there.certificate_), strict=True):
        assert mine.primal == pytest.approx(its.primal, rel=2e-6)
    for mine, its in zip(each(here.distance_), each(there.distance_), strict=True):
        assert mine.value == pytest.approx(its.value, rel=1e-2)
    assert here.n_passes_ > 0
    assert here.rows_read_ == N  # kept from one pass to the next
    assert not hasattr(there, "n_passes_")
    np.testing.assert_array_equal(here.predict(blocks), here.predict(X))
    assert here.score(blocks) == pytest.approx(here.score(X, y, weights))


@pytest.mark.parametrize("choice", ["rpcholesky", "auto"])
def test_landmarks_are_drawn_from_blocks_as_from_rows(choice):
    machine = with_landmarks(SVC(gamma=0.3, gap_tol=1e-5), choice=choice)
    there, here = clone(machine).fit(X, Y), clone(machine).fit(Blocks((X, Y), block_rows=700))
    np.testing.assert_array_equal(here.support_vectors_, there.support_vectors_)
    assert here.approximation_.choice == there.approximation_.choice


def test_landmarks_grow_until_a_distance_is_reached():
    model = with_landmarks(SVC(gamma=0.1), 20, distance_tol=0.02).fit(Blocks((X, Y), block_rows=1300))
    assert model.distance_.relative <= 0.02
    assert model.approximation_.count > 20


def test_nothing_kept_gives_the_same(monkeypatch):
    model = with_landmarks(SVC(gamma=0.3, gap_tol=1e-6))
    blocks = Blocks((X, Y), block_rows=1300)
    plenty = clone(model).fit(blocks)
    monkeypatch.setattr(block_data, "room_for", lambda *_: block_data.Room(700, 2, 0, 0, 0))
    monkeypatch.setattr(over_blocks, "WORTH_COARSE", 1)
    little = clone(model).fit(blocks)
    assert little.rows_read_ > 3 * N
    assert little.certificate_.primal == pytest.approx(plenty.certificate_.primal, rel=1e-5)
    assert little.distance_.value == pytest.approx(plenty.distance_.value, rel=1e-2)


def test_rows_that_are_read_have_the_distance_of_rows_in_memory(monkeypatch):
    model = with_landmarks(SVC(gamma=0.3, gap_tol=1e-6))
    blocks = Blocks((X, Y), block_rows=1300)
    exact = clone(model).fit(blocks).distance_
    monkeypatch.setattr(block_data, "IN_MEMORY", 0.0)
    read = clone(model).fit(blocks).distance_
    assert read.method == exact.method == "exact"
    assert read.value == pytest.approx(exact.value, rel=1e-6)
    monkeypatch.setattr("mercer.estimators.low_rank.restricted.FREE_ENTRIES", 1)
    # Rows in memory are drawn little by little; those that are read, all at once.
    monkeypatch.setattr(distance.PreparedSupport, "are_read", True)
    sampled = clone(model).fit(blocks).distance_
    monkeypatch.setattr(block_data.BlockData, "_largest_diagonal", lambda _: np.inf)
    unbounded = clone(model).fit(blocks).distance_
    assert unbounded.value == pytest.approx(sampled.value, rel=1e-6)
    monkeypatch.setattr(block_data, "IN_MEMORY", 1.0)
    there = clone(model).fit(blocks).distance_
    assert sampled.method == there.method == "sampled"
    assert sampled.value == pytest.approx(there.value, rel=1e-6)
    assert sampled.value >= exact.value


def test_sparse_rows_and_rows_far_from_zero():
    far = X + 1e6
    dense = with_landmarks(SVC(gamma=0.3)).fit(Blocks((far, Y), block_rows=1300))
    assert dense.certificate_.primal == pytest.approx(
        with_landmarks(SVC(gamma=0.3)).fit(far, Y).certificate_.primal, rel=1e-3
    )
    rows = sparse.csr_matrix(np.where(X > 3.0, X, 0.0))
    model = with_landmarks(SVC())
    here, there = clone(model).fit(Blocks((rows, Y), block_rows=1300)), clone(model).fit(rows, Y)
    assert here.expansion_.kernel.gamma == pytest.approx(there.expansion_.kernel.gamma, rel=1e-9)
    assert here.certificate_.primal == pytest.approx(there.certificate_.primal, rel=2e-3)
    assert here.predict(rows[:20]).shape == (20,)


def test_probabilities_are_learnt_in_the_same_passes():
    model = with_landmarks(SVC(gamma=0.3, probability=True)).fit(Blocks((X, Y), block_rows=1300))
    proba = model.predict_proba(X[:500])
    assert np.mean((proba[:, 1] > 0.5) == (Y[:500] == "good")) > 0.85


def test_a_limit_leaves_the_best_machine_so_far_and_says_how_far_it_is():
    def enough(point):
        return point.stage != "pass"

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = with_landmarks(SVC(gamma=0.3, callbacks=[enough], gap_tol=1e-9)).fit(Blocks((X, Y), block_rows=1300))
    assert model.status_ != Status.OPTIMAL
    best = SVC(gamma=0.3).fit(X, Y).certificate_.primal
    assert model.certificate_.primal - best <= model.certificate_.gap + model.distance_.value


def test_a_model_from_blocks_is_saved_and_copied_like_any(tmp_path):
    model = with_landmarks(SVC(gamma=0.3)).fit(Blocks((X, Y), block_rows=1300))
    file = tmp_path / "model.mercer"
    mercer.save(model, file)
    np.testing.assert_array_equal(mercer.load(file).predict(X[:50]), model.predict(X[:50]))
    copied = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own
    np.testing.assert_array_equal(copied.predict(X[:50]), model.predict(X[:50]))


def test_predictions_come_block_by_block():
    blocks = Blocks((X, Y), block_rows=1300)
    model = with_landmarks(SVC(gamma=0.3)).fit(blocks)
    parts = list(model.predict_blocks(blocks))
    assert [len(part) for part in parts] == blocks.sizes
    np.testing.assert_array_equal(np.concatenate(parts), model.predict(X))


def test_what_blocks_cannot_have_is_refused_with_what_can():
    blocks = Blocks((X, Y), block_rows=1300)
    with pytest.raises(ParameterError, match=r"approximation=LowRank"):
        SVC().fit(blocks)
    with pytest.raises(ParameterError, match=r"approximation=LowRank"):
        KernelRidge().fit(Blocks((X, VALUES)))
    for machine in (NuSVC(), SVC(multi_class="crammer_singer")):
        labels = Y if isinstance(machine, NuSVC) else Y3
        with pytest.raises(ParameterError, match="not a sum of one loss"):
            with_landmarks(machine).fit(Blocks((X, labels), block_rows=1300), None)
    with pytest.raises(ParameterError, match="not a sum of one loss"):
        OneClassSVM().fit(blocks)
    for options in ({"kernel": "auto"}, {"C": "auto"}):
        with pytest.raises(ParameterError, match="fit it to a sample"):
            with_landmarks(SVC(**options)).fit(blocks)
    with pytest.raises(ParameterError, match="must be omitted"):
        with_landmarks(SVC()).fit(blocks, Y)
    with pytest.raises(ParameterError, match="precomputed"):
        with_landmarks(SVC(kernel="precomputed")).fit(blocks)
    with pytest.raises(ParameterError, match="rows of numbers"):
        with_landmarks(SVC(kernel="spectrum(k=3)")).fit(blocks)
    with pytest.raises(DataError, match="at most the number of training rows"):
        with_landmarks(SVC(), N + 1).fit(blocks)
    with pytest.raises(ParameterError, match=r'set memory_limit="\d+MiB"'):
        with_landmarks(SVC(memory_limit="1MiB")).fit(blocks)
    with pytest.raises(mercer.NotPositiveSemidefiniteError):
        with_landmarks(SVC(kernel="sigmoid", gamma=0.1, coef0=-4.0)).fit(blocks)


def test_a_missing_value_is_named_by_block_and_row_and_the_model_stays():
    model = with_landmarks(SVC(gamma=0.3)).fit(Blocks((X, Y), block_rows=1300))
    before = model.predict(X[:20])
    broken = X.copy()
    broken[4000, 2] = np.nan
    with pytest.raises(DataError, match=r"block 3, row 4000, column 2"):
        model.fit(Blocks((broken, Y), block_rows=1300))
    np.testing.assert_array_equal(model.predict(X[:20]), before)


@pytest.mark.parametrize("class_weight", [None, "balanced", {"bad": 2.0, "good": 0.5}])
def test_classes_have_the_weights_they_have_in_memory(class_weight):
    model = with_landmarks(SVC(gamma=0.3, class_weight=class_weight))
    here = clone(model).fit(X, Y)
    read = clone(model).fit(Blocks((X, Y), block_rows=1300))
    np.testing.assert_array_equal(read.class_weight_, here.class_weight_)
    assert read.classes_.tolist() == here.classes_.tolist() == ["bad", "good"]
    assert read.certificate_.primal == pytest.approx(here.certificate_.primal, rel=1e-3)


def test_labels_are_handed_on_as_positions():
    """Texts of 10^7 rows would stay in memory to the end of the fit, and be sorted once more."""
    model = with_landmarks(SVC(gamma=0.3))
    model._check_parameters()
    classes, codes, weights = labels_to_learn(model, Blocks((X, Y), block_rows=1300), None, None, Limits())
    assert codes.dtype.kind == "i"
    assert codes.itemsize <= 8
    assert weights is None
    np.testing.assert_array_equal(classes[codes], Y)
