"""A process for each contestant, so that no one's threads, caches or memory touch another's.

The parent says which method of `Bench` to call and waits; only one process works at a time.
"""

import gc
import multiprocessing
import time
import traceback
from contextlib import suppress

import numpy as np

from benchmarks.harness.floor import seconds_per_entry, seconds_per_sum
from benchmarks.harness.peers import coefficients
from benchmarks.harness.resident import peak_bytes, reset_peak, resident_bytes
from benchmarks.sets.data import load


class Bench:
    """What runs inside the process: one contestant, one data set, the last model."""

    def __init__(self, contestant, data_name):
        data = load(data_name)
        self.contestant = contestant
        self.y, self.y_test = data.y, data.y_test
        self.X, self.X_test = contestant.prepare(data.X), contestant.prepare(data.X_test)
        self.model = None
        contestant.estimator(1.0, 1.0)  # imports happen here, before anything is timed

    def ready(self):
        """Answered when data and imports are loaded."""
        return True

    def warm_up(self, C, gamma):
        """Fit a few rows, so that compiled code is loaded."""
        self.contestant.estimator(C, gamma).fit(self.X[:200], self.y[:200])

    def fit(self, C, gamma, count=1, parameters=None):
        """Seconds of each of `count` fits."""
        gc.collect()
        return [self._fit_once(C, gamma, parameters or {}) for _ in range(count)]

    def _fit_once(self, C, gamma, parameters):
        self.model = None
        estimator = self.contestant.estimator(C, gamma, **parameters)
        start = time.perf_counter()
        estimator.fit(self.X, self.y)
        seconds = time.perf_counter() - start
        self.model = estimator
        return seconds

    def predict(self, count=1):
        """Seconds of each of `count` predictions of the held-out rows."""
        return [self._predict_once() for _ in range(count)]

    def _predict_once(self):
        start = time.perf_counter()
        self.predicted = self.model.predict(self.X_test)
        return time.perf_counter() - start

    def error(self):
        """Share of the held-out rows that the last prediction got wrong."""
        return float(np.mean(self.predicted != self.y_test))

    def coefficients(self):
        """The last model's numbers."""
        return coefficients(self.model)

    def weights(self):
        """The last model's w, for linear contestants."""
        return np.asarray(self.model.coef_).ravel()

    def status(self):
        """What the model says of itself (Mercer's Status), or None."""
        status = getattr(self.model, "status_", None)
        return None if status is None else getattr(status, "name", str(status))

    def seconds_per_entry(self, gamma):
        """Time of a kernel entry by Mercer's engine alone, on these very rows."""
        return seconds_per_entry(self.X, gamma)

    def seconds_per_sum(self):
        """For an entry, the time of the products with the coefficients of one vector of the last model."""
        return seconds_per_sum(self.X.dtype, self.model.dual_coef_.shape[0])

    def memory(self):
        """Bytes resident now, and the peak."""
        return resident_bytes(), peak_bytes()

    def reset_peak(self):
        """Start measuring the peak anew."""
        gc.collect()
        reset_peak()


def _serve(connection, kind, contestant, data_name):
    bench = None
    while True:
        message = connection.recv()
        if message is None:
            return
        method, arguments = message
        try:
            bench = bench or kind(contestant, data_name)
            connection.send((True, getattr(bench, method)(*arguments)))
        except Exception:  # noqa: BLE001 - whatever a contestant does, the race goes on
            connection.send((False, traceback.format_exc()))


class WorkerError(RuntimeError):
    """The contestant failed; the message is its traceback."""


class Worker:
    """The parent's end: `worker.fit(10, 0.02)` calls `Bench.fit` in the process."""

    def __init__(self, contestant, data_name, kind=Bench):
        context = multiprocessing.get_context("spawn")
        self.contestant, self._kind = contestant, kind
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, kind, contestant, data_name), daemon=True)
        self._process.start()
        theirs.close()

    def __getattr__(self, method):
        if method.startswith("_") or not hasattr(self._kind, method):
            raise AttributeError(method)
        return lambda *arguments: self._call(method, arguments)

    def _call(self, method, arguments):
        try:
            self._connection.send((method, arguments))
            done, answer = self._connection.recv()
        except (EOFError, BrokenPipeError) as error:
            self._process.join(5)
            code = self._process.exitcode
            raise WorkerError(f"{self.contestant.name}: the process ended with exit code {code}") from error
        if not done:
            raise WorkerError(f"{self.contestant.name}: {answer}")
        return answer

    def close(self):
        """End the process; a busy one is terminated."""
        with suppress(OSError, ValueError):
            self._connection.send(None)
        self._process.join(2)
        if self._process.is_alive():
            self._process.terminate()
        self._connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
