"""Batches, files larger than memory, and what happens when they are not as they should be."""

import gzip
import os
import signal

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import sparse
from sklearn.datasets import dump_svmlight_file
from sklearn.exceptions import ConvergenceWarning

from mercer import DataError, ParameterError, PegasosSVC, Status
from mercer.io import Blocks, SvmlightFile


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(600, 5)) * (rng.random((600, 5)) < 0.6)
    return X, np.where(X @ rng.normal(size=5) > 0, 1, -1)


def batches_of(X, y, size=100):
    return [(X[k : k + size], y[k : k + size]) for k in range(0, len(y), size)]


def test_a_batch_may_hold_one_class_alone(rows):
    X, y = rows
    model = PegasosSVC(alpha=0.01)
    model.partial_fit(X[y == 1][:20], y[y == 1][:20], classes=[-1, 1])
    assert (model.predict(X[:5]) == 1).any()
    model.partial_fit(X[y == -1][:20], y[y == -1][:20])
    assert model.n_iter_ == 40
    assert model.classes_.tolist() == [-1, 1]


def test_a_stream_is_the_same_however_it_is_cut(rows):
    X, y = rows
    whole = PegasosSVC(alpha=0.01).partial_fit(X, y, classes=[-1, 1])
    for size in (1, 7, 100):
        cut = PegasosSVC(alpha=0.01).fit_stream(batches_of(X, y, size), classes=[-1, 1])
        assert cut.coef_ == pytest.approx(whole.coef_, abs=1e-12)
    kernel = {"kernel": "rbf", "gamma": 0.5, "alpha": 0.01}
    whole = PegasosSVC(**kernel).partial_fit(X, y, classes=[-1, 1])
    cut = PegasosSVC(**kernel).fit_stream(batches_of(X, y, 90), classes=[-1, 1])
    assert cut.decision_function(X) == pytest.approx(whole.decision_function(X), abs=1e-9)
    assert cut.score(X, y) > 0.85


def test_steps_of_a_stream_are_those_of_the_book(rows):
    X, y = rows
    w, total, theta = np.zeros(5), np.zeros(5), np.zeros(5)
    for t in range(1, len(y) + 1):
        w = theta / (0.01 * t)
        total += w
        if y[t - 1] * (X[t - 1] @ w) < 1:
            theta = theta + y[t - 1] * X[t - 1]
    model = PegasosSVC(alpha=0.01, bias="none").partial_fit(X, y, classes=[-1, 1])
    assert model.coef_[0] == pytest.approx(total / len(y))


def test_svmlight_and_parquet_files_give_the_model_of_their_rows(rows, tmp_path):
    X, y = rows
    expected = PegasosSVC(alpha=0.01).fit_stream(batches_of(X, y), classes=[-1, 1], epochs=2)
    text = tmp_path / "rows.svm"
    dump_svmlight_file(sparse.csr_matrix(X), y, str(text), zero_based=False)
    packed = tmp_path / "rows.svm.gz"
    packed.write_bytes(gzip.compress(text.read_bytes()))
    for source in (str(text), packed, SvmlightFile(text, n_features=5, chunk_bytes=500)):
        model = PegasosSVC(alpha=0.01).fit_stream(source, epochs=2)
        assert model.coef_ == pytest.approx(expected.coef_, abs=1e-10)
        assert model.n_iter_ == 1200
    table = tmp_path / "rows.parquet"
    parquet.write_table(pa.table({**{f"x{k}": X[:, k] for k in range(5)}, "y": y}), table)
    for source in (table, Blocks(table, target="y", block_rows=50)):
        assert PegasosSVC(alpha=0.01).fit_stream(source, epochs=2).coef_ == pytest.approx(expected.coef_, abs=1e-10)


def test_a_malformed_line_is_named_and_the_model_so_far_is_kept(rows, tmp_path):
    X, y = rows
    path = tmp_path / "rows.svm"
    dump_svmlight_file(sparse.csr_matrix(X), y, str(path), zero_based=False)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[400] = b"1 2:oops\n"
    path.write_bytes(b"".join(lines))
    for options in ({}, {"classes": [-1, 1]}):
        model = PegasosSVC(alpha=0.01)
        with pytest.raises(DataError, match=r"rows.svm, line 401, column 5: a value must be a finite number"):
            model.fit_stream(SvmlightFile(path, chunk_bytes=1000), **options)
        assert model.n_iter_ == 400
        expected = PegasosSVC(alpha=0.01).partial_fit(X[:400], y[:400], classes=[-1, 1])
        assert model.coef_ == pytest.approx(expected.coef_, abs=1e-10)
        assert model.predict(X).shape == (600,)
        model.partial_fit(X[401:], y[401:])
        assert model.n_iter_ == 599


def test_weights_of_a_batch_scale_its_steps(rows):
    X, y = rows
    plain = PegasosSVC(alpha=0.01).fit_stream([(X, y, np.full(600, 2.0))], classes=[-1, 1])
    weighted = PegasosSVC(alpha=0.01, class_weight={-1: 2.0, 1: 2.0}).fit_stream([(X, y)], classes=[-1, 1])
    assert (plain.coef_ == weighted.coef_).all()
    assert plain.bound_.rho == pytest.approx(2 * np.sqrt(1 + (X**2).sum(axis=1).max()))


def test_limits_and_callbacks_end_a_stream(rows):
    X, y = rows

    def endless():
        while True:
            yield X, y

    with pytest.warns(ConvergenceWarning, match="TIME_LIMIT"):
        model = PegasosSVC(alpha=0.01, time_limit=0.3).fit_stream(endless(), classes=[-1, 1])
    assert model.status_ == Status.TIME_LIMIT
    assert model.score(X, y) > 0.9
    seen = []
    with pytest.warns(ConvergenceWarning, match="INTERRUPTED"):
        PegasosSVC(alpha=0.01, callbacks=[lambda p: seen.append(p) or len(seen) > 3]).fit_stream(endless(), [-1, 1])
    assert [point.iterations for point in seen[:3]] == [600, 1200, 1800]


def test_what_a_stream_cannot_be_is_said(rows, tmp_path):
    X, y = rows
    pairs = batches_of(X, y)
    with pytest.raises(ParameterError, match="classes=None needs batches that can be read repeatedly"):
        PegasosSVC().fit_stream(iter(pairs))
    with pytest.raises(ParameterError, match="epochs=2 needs batches that can be read repeatedly"):
        PegasosSVC().fit_stream(iter(pairs), classes=[-1, 1], epochs=2)
    with pytest.raises(ParameterError, match="epochs must be a whole number, 1 or more, got 0"):
        PegasosSVC().fit_stream(pairs, epochs=0)
    with pytest.raises(DataError, match="the stream is empty"):
        PegasosSVC().fit_stream([], classes=[-1, 1])
    with pytest.raises(DataError, match="the stream has 1 class"):
        PegasosSVC().fit_stream([(X[:5], np.ones(5))])
    with pytest.raises(DataError, match="a batch must be"):
        PegasosSVC().fit_stream([X], classes=[-1, 1])
    with pytest.raises(DataError, match=r"label 7 of row 2 is not among classes=\[-1, 1\]"):
        PegasosSVC().partial_fit(X[:3], [1, -1, 7], classes=[-1, 1])


def test_the_first_call_needs_what_later_ones_may_leave_out(rows):
    X, y = rows
    with pytest.raises(ParameterError, match="classes must be passed on the first call"):
        PegasosSVC().partial_fit(X, y)
    with pytest.raises(DataError, match="greater than one"):
        PegasosSVC().partial_fit(X, y, classes=[1])
    with pytest.raises(ParameterError, match="balanced"):
        PegasosSVC(class_weight="balanced").partial_fit(X, y, classes=[-1, 1])
    with pytest.raises(ParameterError, match="precomputed"):
        PegasosSVC(kernel="precomputed").partial_fit(X[:5, :5], y[:5], classes=[-1, 1])
    model = PegasosSVC().partial_fit(X, y, classes=[-1, 1])
    with pytest.raises(ParameterError, match="not the same as on the first call"):
        model.partial_fit(X, y, classes=[-1, 2])
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :3], y)


def test_a_stream_has_no_certificate_but_any_rows_can_be_asked(rows):
    X, y = rows
    model = PegasosSVC(alpha=0.01).fit_stream(batches_of(X, y), epochs=5)
    with pytest.raises(DataError, match=r"certify\(X, y\)"):
        model.certificate_  # noqa: B018 - asking for it is the test
    certificate = model.certify(X, y)
    assert 0 <= certificate.gap < 0.1
    assert "stream" in model.bound_.reason
    assert len(model.trace_) == 30


def test_fit_after_a_stream_begins_anew(rows):
    X, y = rows
    model = PegasosSVC(alpha=0.01, T=500).fit_stream(batches_of(X, y))
    assert (model.fit(X, y).coef_ == PegasosSVC(alpha=0.01, T=500).fit(X, y).coef_).all()
    assert model.n_iter_ == 500


def test_ctrl_c_keeps_what_was_learnt(rows):
    X, y = rows

    class PressOnce:
        """Ctrl-C at the first point of the trace; a second one would raise, as it should."""

        def __init__(self):
            self.is_pressed = False

        def __call__(self, point):
            if not self.is_pressed:
                self.is_pressed = True
                os.kill(os.getpid(), signal.SIGINT)

    with pytest.warns(ConvergenceWarning, match="INTERRUPTED"):
        model = PegasosSVC(alpha=0.01, callbacks=[PressOnce()]).fit_stream(batches_of(X, y) * 50, classes=[-1, 1])
    assert model.status_ == Status.INTERRUPTED
    assert model.n_iter_ < 30_000
    with pytest.warns(ConvergenceWarning, match="INTERRUPTED"):
        fitted = PegasosSVC(alpha=0.01, T=10**8, callbacks=[PressOnce()]).fit(X, y)
    assert fitted.score(X, y) > 0.9
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
