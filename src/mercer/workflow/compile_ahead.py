"""Compile the code of machines and kernels before somebody has to wait for it.

Code is compiled for the types of the arguments of a call, so the way to have it all is to do what a user does: fit
every machine to rows of each form, and of each size at which another solver takes over, and call all its methods.
Compiled code is kept on disk (`mercer._jit.kept_code`), and several processes share the work.
"""

import inspect
import multiprocessing
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator

import mercer
from mercer import kernels, read_table
from mercer._errors import MercerError, ParameterError
from mercer._jit.compile import announce_nothing, slowness, tell_compiled
from mercer._jit.threads import available_cores, one_blas_thread
from mercer._types import Array
from mercer.kernels.graph.graph import Graph
from mercer.kernels.tree.tree import Tree
from mercer.workflow.assemble import assemble

SMALL, LARGE = 60, 1_500
_QUANTITIES = ("SVR", "SVRCV", "NuSVR", "LinearSVR", "KernelLeastSquares", "KernelRidge", "MKLRegressor", "RankSVM")
_ANSWERS = ("predict", "decision_function", "predict_proba", "transform", "score_samples")
_OPTIONS: dict[str, dict[str, Any]] = {
    "BayesPointMachine": {"n_draws": 100, "min_ess": 30, "tol": 0.3},
    "PegasosSVC": {"T": 200},
    "SVCCV": {"Cs": [0.1, 1.0], "gammas": [0.1, 1.0], "cv": 2},
    "SVRCV": {"Cs": [0.1, 1.0], "gammas": [0.1, 1.0], "cv": 2},
}
# Machines for which 1,500 rows are not like 60: other solvers take over.
_GROWING = ("SVC", "SVR", "OneClassSVM", "NuSVC", "LinearSVC", "LinearSVR", "KernelRidge", "KernelLogisticRegression")

_FIRST = ("SVC", "LinearSVC")
# The share that a job is taken to have left until it reports its end; and the share of all work that makes a pace.
_LAST_SHARE = 0.05
# The compiler's time for each job measured, on an idle machine, after those before it; about a second for the others.
_SECONDS = {
    "SVC": 21, "LinearSVC": 18, "KernelLogisticRegression": 15, "tables": 17, "texts": 16, "graphs": 8, "NuSVC": 5,
    "AutoKernelClassifier": 5, "trees": 4, "PegasosSVC": 4,
}  # fmt: skip


def jobs() -> dict[str, Callable[[], None]]:
    """What can be compiled ahead, by name: every machine, tables of columns of all kinds, texts, trees and graphs."""
    machines = {
        name: kind
        for name in mercer.__all__
        if inspect.isclass(kind := getattr(mercer, name)) and issubclass(kind, BaseEstimator) and hasattr(kind, "fit")
    }
    named: dict[str, Callable[[], None]] = {name: _Machine(name, kind) for name, kind in machines.items()}
    return named | {"tables": _tables, "texts": _texts, "trees": _trees, "graphs": _graphs}


@dataclass(frozen=True)
class Step:
    """A function that was compiled for a job, and how long it took; or, without a function, the end of that job."""

    job: str
    function: str = ""
    seconds: float = 0.0


class CompilePace:
    """How far the jobs are, by the times measured for each; and how long the rest will take, by the pace so far.

    Before there is a pace, the time left is estimated from how fast this machine counts.
    """

    def __init__(self, names: Sequence[str] = (), processes: int | None = None) -> None:
        usual, slow = 1 if not names else 4, slowness()  # the first of a few compiles what it shares with others
        self.whole = {name: slow * _SECONDS.get(name, usual) for name in names or jobs()}
        self.left, self.begin = dict(self.whole), time.monotonic()
        self.processes = _processes(len(self.whole), processes)
        self.functions = self.ended = 0

    def note(self, step: Step) -> None:
        """Take the next step into account."""
        if not (self.functions or self.ended):  # processes start before they work
            self.begin = time.monotonic() - step.seconds
        if step.function:
            self.functions += 1
            # A job may take longer than expected; it is not done until it says so.
            self.left[step.job] = max(self.left[step.job] - step.seconds, _LAST_SHARE * self.whole[step.job])
        else:
            self.ended += 1
            self.left[step.job] = 0.0

    @property
    def share(self) -> float:
        """The share of the work that is done, from 0 to 1."""
        return 1.0 - sum(self.left.values()) / sum(self.whole.values())

    @property
    def seconds_left(self) -> float:
        """About how long the rest takes: as long as the longest job or as all processes together, if that is more."""
        if self.share < _LAST_SHARE:
            return max(*self.left.values(), sum(self.left.values()) / self.processes)
        return (time.monotonic() - self.begin) * (1.0 / self.share - 1.0)


def _processes(count: int, wanted: int | None) -> int:
    return min(wanted or available_cores(), count)


def compile_ahead(names: Sequence[str] = (), processes: int | None = None) -> Iterator[Step]:
    """Compile what `names` need, or everything, in several processes; yields each function, and the end of each job."""
    offered = jobs()
    unknown = sorted(set(names) - set(offered))
    if unknown:
        raise ParameterError(f"{unknown[0]!r} cannot be compiled; choose from {', '.join(offered)}")
    # These go first: they share little with each other, and most others then find their code on disk.
    wanted = sorted(names or offered, key=lambda name: (name not in _FIRST, name not in _GROWING))
    context = multiprocessing.get_context("spawn")
    told = context.SimpleQueue()
    with ProcessPoolExecutor(_processes(len(wanted), processes), context, _begin, (told,)) as pool:
        running = {pool.submit(_run, name): name for name in wanted}
        while running:
            ended, _ = wait(running, timeout=0.1, return_when=FIRST_COMPLETED)
            while not told.empty():
                yield Step(*told.get())
            for one in ended:
                one.result()
                yield Step(running.pop(one))


_job = [""]


def _begin(told: Any) -> None:
    announce_nothing()  # the parent process reports it
    tell_compiled(lambda function, seconds: told.put((_job[0], function, seconds)))


def _run(name: str) -> None:
    _job[0] = name
    with warnings.catch_warnings(), one_blas_thread():
        warnings.simplefilter("ignore")
        jobs()[name]()


class _Machine:
    """Fits of one machine to data of every form, followed by calls of all its methods."""

    def __init__(self, name: str, kind: type) -> None:
        self.name, self.kind = name, kind

    def __call__(self) -> None:
        for n in (SMALL, LARGE) if self.name in _GROWING else (SMALL,):
            for form in (np.float64, np.float32, scipy.sparse.csr_matrix):
                for classes in (2,) if self.name in _QUANTITIES else (2, 3):
                    self._fit(n, form, classes)

    def _fit(self, n: int, form: Any, classes: int) -> None:
        X, y, t = _rows(n, classes)
        rows = X.astype(form) if isinstance(form, type) and issubclass(form, np.generic) else form(X)
        for options in self._settings():
            # Not every machine takes every form, or more than two classes; whoever tries it will be told.
            with suppress(MercerError, ValueError, TypeError, NotImplementedError):
                _ask(self.kind(**options).fit(rows, t if self.name in _QUANTITIES else y), rows)

    def _settings(self) -> Iterator[dict[str, Any]]:
        options = dict(_OPTIONS.get(self.name, {}))
        if self.name == "LinearCV":
            options |= {"estimator": mercer.LinearSVC(), "Cs": [1.0], "cv": 2}
        if self.name.startswith("MKL"):
            options |= {"kernels": [kernels.RBF(0.5), kernels.Linear()]}
        yield options
        if "kernel" in inspect.signature(self.kind).parameters:
            yield options | {"kernel": "linear"}


def _rows(n: int, classes: int) -> tuple[Array, Array, Array]:
    """Rows of which some overlap, so that some coefficients are free and some at their bounds."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % classes
    X = rng.normal(size=(n, 3)) + 1.5 * np.eye(3)[y]
    return X, y, X[:, 0] + 0.1 * rng.normal(size=n)


def _ask(model: Any, rows: Any) -> None:
    for answer in _ANSWERS:
        with suppress(AttributeError):
            getattr(model, answer)(rows)
    with suppress(AttributeError):
        _ = model.certificate_


def _tables() -> None:
    """What `mercer train` does with a file: numbers alone, and columns of all kinds; and a few points for a picture."""
    mixed = "".join(
        f"{'' if k % 13 == 0 else k % 7},2024-01-{k % 28 + 1:02d},{'xyz'[k % 3]},{k % 5} of {k % 4},{k * k % 7 > 2}\n"
        for k in range(LARGE // 2)
    )
    numbers = "".join(f"{k % 7},{k % 5 + 0.25},{k * k % 11},{k % 3}\n" for k in range(SMALL))
    with TemporaryDirectory() as folder:
        for columns, rows in (("n,when,word,note,y", mixed), ("a,b,c,y", numbers)):
            path = Path(folder) / "table.csv"
            path.write_text(f"{columns}\n{rows}", encoding="utf-8")
            learnt = assemble(read_table(path, target="y"), None)
            _ask(learnt.estimator.fit(learnt.X, learnt.y), learnt.X)
    X, y, _ = _rows(SMALL, 2)
    _ask(mercer.SVC(tol=1e-6).fit(X, y), X)


def _texts() -> None:
    texts = ["a fine film", "fine, and funny", "dull", "a dull, long film"] * 5
    for kernel in (kernels.Spectrum(length=3), kernels.Subsequence(length=2), kernels.Mismatch(length=3, mismatches=1)):
        for each in (kernel, kernel.normalized()):
            _ask(mercer.SVC(kernel=each).fit(texts, [1, 1, 0, 0] * 5), texts)
    words = kernels.Spectrum(length=(1, 2), tokenizer="words").normalized()
    _ask(mercer.SVC(kernel=words).fit(texts, [1, 1, 0, 0] * 5), texts)


def _trees() -> None:
    written = ("(S (A a) (B b))", "(S (A b) (B b))", "(S (B b))", "(S (A a))")
    trees = [Tree.parse(text) for text in written] * 5
    for kernel in (kernels.Subtree(), kernels.SubsetTree(), kernels.PartialTree()):
        _ask(mercer.SVC(kernel=kernel.normalized()).fit(trees, [1, 1, 0, 0] * 5), trees)


def _graphs() -> None:
    triangle = ((0, 1), (1, 2), (2, 0))
    graphs = [Graph(triangle[:k], nodes=3, node_labels=("a", "b", "a")) for k in (1, 2, 3, 3)] * 5
    counting = (kernels.WeisfeilerLehman(), kernels.ShortestPath(), kernels.LabelPath(), kernels.Graphlet())
    for kernel in (*counting, kernels.RandomWalk()):
        _ask(mercer.SVC(kernel=kernel).fit(graphs, [1, 1, 0, 0] * 5), graphs)
