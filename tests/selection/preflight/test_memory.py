"""What memory a fit is said to take."""

import threading
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from mercer import SVC, MKLClassifier
from mercer.kernels import RBF
from mercer.selection.preflight.memory import bytes_of_fit, support_of


def machine(free, bounded):
    """A fitted machine of two classes with so many free and bounded points."""
    return SimpleNamespace(dual_coef_=np.append(np.full(free, 0.5), np.ones(bounded))[None])


def test_memory_counts_what_the_sample_says_will_be_free():
    n, X = 8000, np.zeros((8000, 4))
    few = bytes_of_fit(SVC(), X, n, 4, [(4000, machine(0, 2000))])
    many = bytes_of_fit(SVC(), X, n, 4, [(4000, machine(1999, 1))])
    assert many > 1.5 * few


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_one_sample_is_carried_on_by_its_share(kind):
    model = SimpleNamespace(dual_coef_=kind(np.array([[0.5, -0.25, 0.3, 1.0]])))
    assert support_of([(4, model)], 8) == (6, 8)


def test_two_samples_are_carried_on_as_they_grew():
    # Twice the rows had 2 ** 0.5 times the free points, and as many bounded ones as rows.
    samples = [(1000, machine(400, 100)), (2000, machine(566, 200))]
    free, support = support_of(samples, 8000)
    assert free == pytest.approx(1132, abs=2)
    assert 1132 < support < 2000
    # A count never grows faster than the rows, nor shrinks.
    assert support_of([(1000, machine(10, 1)), (2000, machine(500, 1))], 4000)[0] == 1000
    assert support_of([(1000, machine(500, 1)), (2000, machine(400, 1))], 4000)[0] == 400


def test_several_classes_and_no_machine():
    assert support_of([(4, SimpleNamespace(dual_coef_=np.ones((2, 4))))], 8) == (0, 0)
    assert support_of([], 8) == (0, 8)
    assert support_of([(4, SimpleNamespace())], 8) == (0, 8)


def test_rows_of_cheap_sparse_entries_are_not_kept():
    X = sparse.random(8000, 300, density=0.02, format="csr", random_state=0)
    sample = [(4000, machine(0, 3000))]
    assert bytes_of_fit(SVC(), X, 8000, 300, sample) < 2**28 < bytes_of_fit(SVC(), X.toarray(), 8000, 300, sample)


@pytest.mark.parametrize("kernels", [None, [RBF(gamma=gamma) for gamma in (0.1, 0.2, 0.4)], "columns", "precomputed"])
def test_the_matrices_of_several_kernels_are_counted(kernels, rng):
    """What is predicted is what numpy asks for."""
    X = rng.normal(size=(600, 4))
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
    is_given = kernels == "precomputed"
    given, few = ([X @ X.T, (X @ X.T) ** 2], [np.eye(60)] * 2) if is_given else (X, X[:60])
    # What is loaded and compiled does not count. Threads keep scratch memory for their next fit: a new one has none.
    model = MKLClassifier(kernels, n_jobs=1).fit(few, y[:60])
    tracemalloc.start()
    fit = threading.Thread(target=model.fit, args=(given, y))
    fit.start()
    fit.join()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0.7 < bytes_of_fit(model, X, 600, 4, []) / peak < 1.5


def test_kernels_without_room_are_not_kept():
    X = np.zeros((3000, 4))
    narrow = MKLClassifier(memory_limit="100MB")
    assert bytes_of_fit(narrow, X, 3000, 4, []) < 2**27 < bytes_of_fit(MKLClassifier(), X, 3000, 4, [])


def test_rows_made_by_a_pipeline_count_and_may_be_a_sample():
    X = sparse.random(1000, 300, density=0.02, format="csr", random_state=0)
    whole = sparse.vstack([X] * 8).tocsr()
    sample = [(4000, machine(0, 3000))]
    assert bytes_of_fit(SVC(), X, 8000, 300, sample) == bytes_of_fit(SVC(), whole, 8000, 300, sample)
    made = bytes_of_fit(SVC(), whole, 8000, 300, sample, is_transformed=True)
    assert made == bytes_of_fit(SVC(), whole, 8000, 300, sample) + whole.data.nbytes + whole.indices.nbytes


def test_sparse_rows_are_written_out_tile_by_tile():
    narrow = sparse.random(8000, 300, density=0.02, format="csr", random_state=0)
    written_out = 4 * 8000 * 300
    assert bytes_of_fit(SVC(), narrow, 8000, 300, []) > written_out
