"""A random problem for each seed: an estimator, its options, rows, targets and weights."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

import mercer
from tests.campaign import in_blocks, kernel_draws, since, tables
from tests.campaign.options import DRAWS, LINEAR, SHARES
from tests.campaign.rows import choose, is_of_zeros, labels, mostly_zeros, rows, targets, texts, weights
from tests.oracles.exact_kernels import linear, long_rows, rbf


@dataclass
class Problem:
    """What is fitted, and what the oracle needs to judge it."""

    seed: int
    name: str
    options: dict
    X: object
    new: object
    y: np.ndarray | None
    weights: np.ndarray | None
    kernel: kernel_draws.KernelDraw
    items: tuple  # (training items, new items) as the oracle's kernel takes them; None where a matrix is given
    eps: float
    parts: list | None = None  # the oracle's kernels, where the machine weighs several
    is_told_zero: bool = False  # whether the fit has warned that its optimum is w = 0
    about: str | None = None  # which of the options of tests/campaign/since.py it has, "table" or "blocks"
    source: object = None  # where the rows come from, if not from X

    def fitted(self):
        """The estimator after fit."""
        model = getattr(mercer, self.name)(**self.options)
        if self.source is not None:
            return model.fit(self.source)
        arguments = {} if self.weights is None else {"sample_weight": self.weights}
        return model.fit(self.X, **arguments) if self.y is None else model.fit(self.X, self.y, **arguments)

    @cached_property
    def K(self):
        """The kernel matrix of the training rows, in long double."""
        return self._values(self.kernel.exact, 0)

    @cached_property
    def K_new(self):
        """Kernel values between new rows and training rows."""
        return self._values(self.kernel.exact, 1)

    @cached_property
    def doubt(self):
        """Of each entry of K, in units of rounding."""
        return self._doubt(self.kernel.exact, 0)

    @cached_property
    def doubt_new(self):
        """Of each entry of K_new."""
        return self._doubt(self.kernel.exact, 1)

    def _values(self, kernel, place):
        if self.kernel.form == "matrix":
            return (self.X, self.new)[place].astype(np.longdouble)
        return kernel.values(self.items[place], self.items[0])

    def _doubt(self, kernel, place):
        if self.kernel.form == "matrix":
            return np.zeros((self.X, self.new)[place].shape)
        return np.asarray(kernel.doubt(self.items[place], self.items[0]), float)

    def weigh(self, factors):
        """Take the sum of the parts with these factors for the kernel."""
        total = sum((part.scaled(float(f)) for part, f in zip(self.parts, factors, strict=True)), _nothing())
        self.kernel = kernel_draws.KernelDraw({}, total)
        for known in ("K", "K_new", "doubt", "doubt_new"):
            vars(self).pop(known, None)

    def summary(self):
        """In a line, for people."""
        shape = (
            f"n={self.X.shape[0]} d={self.X.shape[1]}"
            if hasattr(self.X, "shape")
            else f"n={len(self.X)} {type(self.X[0]).__name__}"
        )
        form = type(self.X).__name__ + (f" {self.X.dtype}" if hasattr(self.X, "dtype") else "")
        named = ", ".join(f"{key}={value!r}" for key, value in self.options.items())
        extra = "" if self.weights is None else f", weights {self.weights.min():.1e}..{self.weights.max():.1e}"
        source = "" if self.source is None else f", {self.source!r}"
        return f"{self.name}({named}) on {shape} {form}{extra}{source}"


def _nothing():
    return linear().scaled(0.0)


def draw(seed, names=None):
    """The problem of a seed; `names` restricts the estimators."""
    rng = np.random.default_rng([17, seed])
    name = choose(rng, **{key: share for key, share in SHARES.items() if not names or key in names})
    own = DRAWS[name]
    is_linear = name in LINEAR
    is_text = not is_linear and own.kernels == "one" and rng.random() < 0.04
    if is_of_zeros(seed):
        is_text, data = False, mostly_zeros(rng)
    else:
        data = texts(rng) if is_text else rows(rng, n=since.row_count(seed))
    kind = own.target(rng)
    y = None if kind is None else labels(rng, data) if kind == "labels" else targets(rng, data)
    options = own.options(rng, kind, data.n)
    found = weights(rng, data.n) if own.weighted else None
    if found is not None and kind == "labels":
        found = _with_all_classes(found, y)
    kernel, parts = _kernel(rng, own, data, is_text, is_linear)
    X, new, items = data.X, data.new, None
    if kernel.form == "matrix":
        X, new = (part.astype(data.X.dtype) for part in kernel_draws.matrix_of(kernel, data))
        kernel.parameters["kernel"] = "precomputed"
    else:
        items = (data.X, data.new) if is_text else (long_rows(data.X), long_rows(data.new))
    if seed >= tables.FROM and not is_of_zeros(seed) and not is_text and not is_linear and parts is None:
        return _of_table(Problem(seed, name, options, None, None, y, found, kernel, None, data.eps), data)
    own_parameters = {"kernels": parts[0]} if parts else {} if is_linear else own.named(kernel.parameters)
    exact_parts = parts[1] if parts else None
    drawn = Problem(seed, name, {**options, **own_parameters}, X, new, y, found, kernel, items, data.eps, exact_parts)
    drawn.about = "blocks" if in_blocks.divide(drawn) else since.add(drawn)
    return drawn


def _of_table(problem, data):
    """The same targets and options, of a table that the rows are made into."""
    rng = np.random.default_rng([19, problem.seed])
    rows, new, kinds = tables.table(rng, data)
    problem.X, problem.new = tables.as_given(rng, rows, new)
    problem.items, problem.eps = (rows, new), float(np.finfo(np.float64).eps)
    problem.options["kernel"] = tables.kernel_of(rng, problem.name, kinds)
    problem.kernel = tables.resolved(problem.options["kernel"], rows, problem.weights)
    problem.about = "table"
    return problem


def _with_all_classes(found, y):
    """No class loses all of its weight."""
    for label in np.unique(y):
        if not (found[y == label] > 0).any():
            found[np.flatnonzero(y == label)[0]] = 1.0
    return found


def _kernel(rng, own, data, is_text, is_linear):
    if is_text:
        return kernel_draws.of_texts(rng), None
    if own.kernels == "tuned":
        return kernel_draws.KernelDraw({}, rbf(0.5, long_rows(data.X).mean(axis=0))), None
    if is_linear:
        return kernel_draws.KernelDraw({}, linear()), None
    if own.kernels == "several":
        pairs = kernel_draws.several(rng, data)
        return kernel_draws.KernelDraw({}, linear()), ([k for k, _ in pairs], [e for _, e in pairs])
    return kernel_draws.of_rows(rng, data, own.kernels == "pairwise"), None
