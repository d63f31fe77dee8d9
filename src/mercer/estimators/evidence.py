"""What a certificate is computed from: the training data and the coefficients, nothing else."""

import numpy as np
from scipy import sparse

from mercer._errors import DataError
from mercer.kernels import engine


def fingerprint(X):
    """A number that changes when the data do: the model must not certify other data."""
    if sparse.issparse(X):
        return float(X.data.sum(dtype=np.float64))
    return float(np.sum(X, dtype=np.float64)) if isinstance(X, np.ndarray) else len(X)


class Evidence:
    """Kept by a fitted model until its certificates are asked for; then it is dropped.

    A certificate needs every kernel value between a training point and a support vector in
    double precision, about as much work as the fit, so it waits until it is read.
    """

    def __init__(self, data, problems, tasks, solutions, intercepts, n_jobs):
        self.data, self.problems, self.tasks, self.n_jobs = data, problems, tasks, n_jobs
        self.intercepts = intercepts
        self.betas = [solution.beta for solution in solutions]
        self.mark = fingerprint(data.X)

    def certificates(self):
        """One certificate for each two-class problem."""
        if fingerprint(self.data.X) != self.mark:
            raise DataError("the training data were changed after fit, so the fit cannot be certified; fit again")
        return [self._certificate(k) for k in range(len(self.problems))]

    def _certificate(self, k):
        beta, indices = self.betas[k], self.tasks[k].indices
        support = np.flatnonzero(beta)
        projections = np.zeros(len(indices))
        if len(support):
            points = self.data.prepare(np.float64, indices)
            vectors = points.take(support)
            projections = engine.product(self.data.kernel, points, vectors, beta[support], self.n_jobs)
        return self.problems[k].certificate(beta, projections, self.intercepts[k])
