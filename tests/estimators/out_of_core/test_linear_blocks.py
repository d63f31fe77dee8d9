"""A machine learnt from blocks is the machine learnt from all rows at once, whatever the blocks."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import mercer
from mercer import (
    DataError,
    LinearSVC,
    LinearSVR,
    ParameterError,
    PegasosSVC,
    Perceptron,
    TableFeatures,
    TimeLimitError,
)
from mercer.estimators.out_of_core.memory import OF_A_ROW, plan
from mercer.io import Blocks

TIGHT = 1e-9


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(900, 6))
    return X, X @ rng.normal(size=6) + 0.7 * rng.normal(size=900)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("bias", ["penalized", "free", "none"])
def test_a_classifier_from_blocks_is_that_from_rows(rows, loss, bias):
    X, z = rows
    y = np.where(z > 0, "yes", "no")
    options = {"loss": loss, "bias": bias, "fit_intercept": bias != "none", "tol": TIGHT, "C": 0.3}
    whole, parts = LinearSVC(**options).fit(X, y), LinearSVC(**options).fit(Blocks((X, y), block_rows=130))
    np.testing.assert_allclose(parts.coef_, whole.coef_, atol=2e-5)
    np.testing.assert_allclose(parts.intercept_, whole.intercept_, atol=2e-5)
    assert parts.status_ == mercer.Status.OPTIMAL
    assert parts.certificate_.relative_gap <= TIGHT
    blocks = Blocks((X, y), block_rows=77)
    np.testing.assert_array_equal(parts.predict(blocks), parts.predict(X))
    np.testing.assert_allclose(parts.decision_function(blocks), parts.decision_function(X), rtol=1e-12)
    assert parts.score(blocks) == parts.score(X, y)
    assert [len(each) for each in parts.predict_blocks(blocks)] == blocks.sizes


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_a_regression_from_blocks_is_that_from_rows(rows, loss):
    X, y = rows
    options = {"loss": loss, "epsilon": 0.1, "tol": TIGHT}
    whole, parts = LinearSVR(**options).fit(X, y), LinearSVR(**options).fit(Blocks((X, y), block_rows=130))
    np.testing.assert_allclose(parts.coef_, whole.coef_, atol=2e-5)
    assert parts.certificate_.relative_gap <= TIGHT
    blocks = Blocks((X, y), block_rows=77)
    np.testing.assert_allclose(parts.predict(blocks), parts.predict(X), rtol=1e-12)
    assert parts.score(blocks) == pytest.approx(parts.score(X, y), rel=1e-12)


def test_the_logistic_loss_is_that_of_logistic_regression(rows):
    X, z = rows
    y = (z > 0).astype(int)
    theirs = LogisticRegression(C=0.5, tol=1e-12, max_iter=10_000).fit(X, y)
    for model in (
        LinearSVC(loss="logistic", bias="free", C=0.5, tol=1e-10).fit(X, y),
        LinearSVC(loss="logistic", bias="free", C=0.5, tol=1e-10).fit(Blocks((X, y), block_rows=200)),
        LinearSVC(loss="logistic", bias="free", C=0.5, tol=1e-10).fit(sparse.csr_matrix(X), y),
    ):
        np.testing.assert_allclose(model.coef_, theirs.coef_, atol=1e-5)
        np.testing.assert_allclose(model.intercept_, theirs.intercept_, atol=1e-5)
        assert model.certificate_.relative_gap <= 1e-10
        probabilities = 1 / (1 + np.exp(-model.decision_function(X)))
        np.testing.assert_allclose(probabilities, theirs.predict_proba(X)[:, 1], atol=1e-5)


def test_several_classes_weights_and_balance_are_as_in_memory(rows):
    X, z = rows
    y, weights = np.digitize(z, [-1.0, 1.0]), np.random.default_rng(0).random(len(z))
    for options in ({}, {"class_weight": "balanced"}, {"class_weight": {0: 3.0}}):
        whole = LinearSVC(tol=TIGHT, **options).fit(X, y, weights)
        parts = LinearSVC(tol=TIGHT, **options).fit(Blocks((X, y, weights), block_rows=100))
        assert parts.coef_.shape == (3, 6)
        np.testing.assert_allclose(parts.coef_, whole.coef_, atol=1e-6)
        assert len(parts.certificate_) == 3


def test_the_number_of_threads_changes_no_bit(rows):
    X, z = rows
    blocks = Blocks((X, z > 0), block_rows=50)
    one, two = (LinearSVC(loss="hinge", n_jobs=k).fit(blocks) for k in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    assert one.certificate_ == two.certificate_


def test_a_class_that_first_appears_in_the_last_block_is_learnt(rows):
    X, z = rows
    y = np.where(np.arange(len(z)) < 890, z > 0, 2)
    whole, parts = LinearSVC(tol=TIGHT).fit(X, y), LinearSVC(tol=TIGHT).fit(Blocks((X, y), block_rows=100))
    assert parts.classes_.tolist() == [0, 1, 2]
    np.testing.assert_allclose(parts.coef_, whole.coef_, atol=1e-6)
    with pytest.raises(DataError, match="greater than one"):
        LinearSVC().fit(Blocks((X, np.ones(len(X))), block_rows=100))


def test_empty_blocks_change_nothing(rows):
    X, z = rows
    y = (z > 0).astype(int)
    parts = [(X[:300], y[:300]), (X[:0], y[:0]), (X[300:], y[300:]), (X[:0], y[:0])]
    with_empty, without = LinearSVC().fit(Blocks(parts)), LinearSVC().fit(Blocks([parts[0], parts[2]]))
    np.testing.assert_array_equal(with_empty.coef_, without.coef_)


def test_targets_of_two_types_are_refused_by_block():
    X = np.eye(4)
    with pytest.raises(DataError, match=r"block 1: targets are texts here and numbers in block 0"):
        LinearSVC().fit(Blocks([(X, np.arange(4) % 2), (X, np.array(["a", "b", "a", "b"]))]))
    with pytest.raises(DataError, match="must hold numbers, got texts"):
        LinearSVR().fit(Blocks([(X, np.array(["a", "b", "a", "b"]))]))


def test_nan_in_block_57_names_it_and_leaves_the_model_as_it_was(tmp_path, rows):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 2))
    y = (X[:, 0] > 0).astype(int)
    blocks = Blocks((X, y), block_rows=100)
    model = LinearSVC().fit(blocks)
    before = model.coef_.copy()
    X[5732, 1] = np.nan
    with pytest.raises(DataError, match="block 57, row 5732, column 1: a finite number was expected, got nan"):
        model.fit(blocks)
    np.testing.assert_array_equal(model.coef_, before)
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "y": y})
    parquet.write_table(table, tmp_path / "t.parquet", row_group_size=100)
    with pytest.raises(DataError, match=r"block 57, .*t\.parquet, row 5732, column 'b': .*TableFeatures"):
        LinearSVC().fit(Blocks(tmp_path / "t.parquet", target="y", block_rows=100))


def test_a_file_that_is_cut_short_during_a_fit_is_named(tmp_path, rows):
    X, z = rows
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"a": X[:, 0], "y": z > 0}), path, row_group_size=100)
    blocks = Blocks(path, target="y", block_rows=100)
    path.write_bytes(path.read_bytes()[:3000])
    with pytest.raises(DataError, match=r"block \d, .*t\.parquet, row groups .* cut short"):
        LinearSVC().fit(blocks)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"penalty": "l1"}, "penalty must be 'l2' with blocks"),
        ({"multi_class": "crammer_singer"}, "multi_class must be 'ovr' with blocks"),
        ({"dual": True}, "dual must be 'auto' with blocks"),
        ({"probability": True}, "probability must be False with blocks"),
        ({"memory_limit": "100kB"}, "memory_limit='100kB' is too little .* set memory_limit=\"1MiB\""),
        ({"memory_limit": "much"}, "memory_limit must be bytes"),
    ],
)
def test_what_blocks_cannot_do_is_said(rows, options, words):
    X, z = rows
    with pytest.raises(ParameterError, match=words):
        LinearSVC(**options).fit(Blocks((X, z > 0)))
    with pytest.raises(ParameterError, match="y must be omitted"):
        LinearSVC().fit(Blocks((X, z > 0)), z > 0)
    with pytest.raises(DataError, match="no target to learn from"):
        LinearSVC().fit(Blocks(X))
    with pytest.raises(DataError, match="2 features, but LinearSVC is expecting 6"):
        LinearSVC().fit(X, z > 0).predict(Blocks(X[:, :2]))


def test_the_limit_of_memory_is_for_the_fit_and_not_for_the_process(rows):
    """What this process has already is many times as much."""
    X, z = rows
    blocks, free = Blocks((X, z > 0), block_rows=100), LinearSVC(loss="hinge").fit(Blocks((X, z > 0), block_rows=100))
    with pytest.raises(ParameterError, match="is too little") as refused:
        LinearSVC(loss="hinge", memory_limit="10kB").fit(blocks)
    (enough,) = re.findall('memory_limit="(.*)"', str(refused.value))
    roomy = LinearSVC(loss="hinge", memory_limit=enough).fit(blocks)
    np.testing.assert_array_equal(roomy.coef_, free.coef_)
    np.testing.assert_allclose(roomy.decision_function(X), free.decision_function(X))


def test_what_the_limit_leaves_decides_what_is_kept_and_worked_on_at_once():
    sizes, rows, block = [1000] * 20, 8 * OF_A_ROW * 20_000, 28 * 1000 * 10
    gram = 2 * 8 * 11**2
    for n_jobs, more in ((1, 0), (1, 5 * block), (4, 5 * block)):
        found = plan(sizes, 10, 1, n_jobs, rows + block + gram + more)
        assert found.n_jobs == min(n_jobs, 1 + more // (block + gram))
        assert found.kept_bytes == block + gram + more - found.n_jobs * (block + gram)
    with pytest.raises(ParameterError, match="2MiB"):
        plan(sizes, 10, 1, 1, rows + block + gram - 1)


def test_a_fit_takes_no_more_than_its_limit():
    """In a process of its own, which is first brought to load all that it needs."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.estimators.out_of_core.limited_blocks"],
        cwd=Path(__file__).parents[3], capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    answer = json.loads(done.stdout)
    assert answer["status"] == "OPTIMAL"
    assert answer["taken"] <= 1.1 * answer["limit"] < answer["before"]
    # Some blocks were kept, and not all.
    assert answer["n_rows"] < answer["rows_read"] < answer["n_passes"] * answer["n_rows"]


def test_a_second_fit_goes_on_where_the_first_was_stopped(rows):
    X, z = rows
    blocks = Blocks((X, z > 0), block_rows=100)
    cold = LinearSVC(loss="hinge", tol=1e-8).fit(blocks)
    warm = LinearSVC(loss="hinge", tol=1e-8, warm_start=True, max_iter=3)
    with pytest.warns(ConvergenceWarning, match="ITERATION_LIMIT"):
        warm.fit(blocks)
    warm.set_params(max_iter=1000).fit(blocks)
    assert warm.status_ == mercer.Status.OPTIMAL
    np.testing.assert_allclose(warm.coef_, cold.coef_, atol=1e-5)


class Slow:
    """Blocks that take their time."""

    def __init__(self, X, y, seconds):
        self.X, self.y, self.seconds = X, y, seconds

    def __len__(self):
        return 6

    def __getitem__(self, k):
        if k >= 6:
            raise IndexError
        time.sleep(self.seconds)
        return self.X[k::6], self.y[k::6]


def test_time_ends_a_fit_with_the_best_so_far_or_with_an_error(rows):
    X, z = rows
    blocks = Blocks((X, z > 0), block_rows=100)

    def dawdle(point):
        time.sleep(0.6 if point.stage == "solve" else 0.0)

    with pytest.warns(ConvergenceWarning, match="TIME_LIMIT"):
        model = LinearSVC(loss="hinge", tol=1e-12, time_limit=1.0, callbacks=[dawdle]).fit(blocks)
    assert np.isfinite(model.coef_).all()
    assert model.score(X, z > 0) > 0.7
    slow = Blocks(Slow(X, z > 0, 0.01))
    with pytest.raises(TimeLimitError):
        LinearSVC(time_limit=0.01, n_jobs=1).fit(slow)


def test_ctrl_c_keeps_the_best_so_far(rows):
    X, z = rows

    def press(point):
        if point.stage == "solve" and point.iterations == 3:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.warns(ConvergenceWarning, match="INTERRUPTED"):
        model = LinearSVC(loss="hinge", tol=1e-12, callbacks=[press]).fit(Blocks((X, z > 0), block_rows=100))
    assert model.n_iter_ >= 3
    assert model.score(X, z > 0) > 0.7


def test_callbacks_hear_of_rows_and_passes(rows):
    X, z = rows
    blocks = Blocks(Slow(X, z > 0, 0.1))
    points = []
    LinearSVC(callbacks=[points.append], n_jobs=1).fit(blocks)
    passes = [point for point in points if point.stage == "pass"]
    assert passes
    assert all(0 <= point.working_set <= point.active == 900 for point in passes)
    assert any(point.stage == "solve" for point in points)


def test_stochastic_machines_learn_from_blocks(tmp_path, rows):
    X, z = rows
    y = np.where(z > 0, "yes", "no")
    table = pa.table({**{f"x{k}": X[:, k] for k in range(6)}, "y": y})
    parquet.write_table(table, tmp_path / "t.parquet", row_group_size=100)
    blocks = Blocks(tmp_path / "t.parquet", target="y", block_rows=100)
    streamed = PegasosSVC(alpha=0.01).fit_stream(blocks, epochs=3)
    again = PegasosSVC(alpha=0.01).fit_stream([(X[k : k + 100], y[k : k + 100]) for k in range(0, 900, 100)], epochs=3)
    np.testing.assert_array_equal(streamed.coef_, again.coef_)
    learnt = Perceptron()
    for X_i, y_i in blocks:
        learnt.partial_fit(X_i, y_i, classes=["no", "yes"])
    assert learnt.score(X, y) > 0.8


def test_a_model_with_its_features_is_saved_and_takes_raw_columns(tmp_path, rows):
    X, z = rows
    town = np.where(X[:, 1] > 0, "Ulm", "Bonn")
    table = pa.table({"a": X[:, 0], "town": town, "y": np.where(z > 0, "yes", "no")})
    blocks = Blocks(table, target="y", block_rows=100)
    model = make_pipeline(TableFeatures(), LinearSVC()).fit(blocks)
    mercer.save(model, tmp_path / "m.mercer")
    again = mercer.load(tmp_path / "m.mercer")
    raw = table.drop(["y"])
    np.testing.assert_array_equal(again.predict(raw), model.predict(blocks))
    assert again.score(blocks) == model.score(raw, table["y"].to_numpy(zero_copy_only=False))
