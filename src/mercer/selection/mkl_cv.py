"""Kernel weights by cross-validation: one kernel after the other, as long as scores rise."""

import numpy as np

from mercer.estimators import multiclass

# How much of the weight may move to one kernel at a time.
MOVES = (0.5, 0.25, 0.1)
# A score must rise by more than this to count as better.
RISE = 1e-9


class FoldScores:
    """The score of kernel weights on rows left out of the fit.

    Parameters
    ----------
    machines : Machines
    folds : list of ndarray of bool
        The rows left out, for each fold.
    setup_without : callable
        ``setup_without(held)`` gives the problems of the other rows.
    score : callable
        ``score(values, held)`` of decision values (k, n_problems) of the rows held out.
    """

    def __init__(self, machines, folds, setup_without, score):
        self.machines, self.score = machines, score
        self.folds = [(np.flatnonzero(held), setup_without(held)) for held in folds]
        self._betas = [None] * len(self.folds)

    def __call__(self, weights):
        matrix = self.machines.matrix(weights)
        return float(np.mean([self._fold(place, matrix) for place in range(len(self.folds))]))

    def _fold(self, place, matrix):
        held, setup = self.folds[place]
        solutions = self.machines.solutions(matrix, self._betas[place], setup)
        # The next weights are near these, and so are the solutions.
        self._betas[place] = [one.beta for one in solutions]
        values = np.empty((len(held), len(solutions)))
        for t, (problem, task, one) in enumerate(zip(setup.problems, setup.tasks, solutions, strict=True)):
            support = np.flatnonzero(one.beta)
            own = matrix.product(task.indices[support], one.beta[support], held) if len(support) else 0.0
            values[:, t] = own + problem.intercept(one.beta, one.bias)
        return self.score(values, held)


def best_by_folds(scores, n_kernels):
    """Weights of sum 1: the best of each kernel alone and all alike, then improved.

    A round tries to move a half, a quarter or a tenth of the weight to each kernel, and keeps what
    raises the score most; no rise ends it. Ties go to what came first.
    """
    unit = np.eye(n_kernels)
    weights, best = _best([np.full(n_kernels, 1.0 / n_kernels), *unit], scores, -np.inf)
    while True:
        tried = [(1.0 - move) * weights + move * one for move in MOVES for one in unit]
        found, score = _best([each for each in tried if np.abs(each - weights).max() > 1e-12], scores, best)
        if found is None:
            return weights
        weights, best = found, score


def _best(candidates, scores, least):
    """The first candidate of the highest score above `least`, or None."""
    found, best = None, least
    for weights in candidates:
        score = scores(weights)
        if score > best + RISE:
            found, best = weights, score
    return found, best


def share_correct(codes, counts, n_classes, has_pairs):
    """A score: the weighted share of rows whose class is found."""

    def score(values, held):
        if n_classes == 2:
            predicted = (values[:, 0] > 0).astype(np.intp)
        else:
            predicted = (multiclass.votes(values, n_classes) if has_pairs else values).argmax(axis=1)
        return float(np.average(predicted == codes[held], weights=counts[held]))

    return score


def less_squared_error(targets, counts):
    """A score: minus the weighted mean of squared errors."""

    def score(values, held):
        return -float(np.average((values[:, 0] - targets[held]) ** 2, weights=counts[held]))

    return score
