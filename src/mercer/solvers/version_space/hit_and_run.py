"""The centre of mass of a version space by hit-and-run sampling.

Method (Smith 1984; for Bayes points Herbrich, Graepel & Campbell 2001, who play billiards
instead): from the current point choose a random line, and on its chord inside the cone and
the unit ball a uniform point. The walk forgets its start and visits the body uniformly;
its directions w / |w| are uniform on the version space, and their mean is the centre of mass.

The lines are parallel to one of two bases. One has conjugate axes of Dikin's ellipsoid, that of
the logarithmic barrier at the analytic centre, which the cone resembles: if the kernel
matrix is nearly singular, the cone is long and thin, and they point along it. Along the other,
one wall after another comes nearer while as many others as there are dimensions stay
fixed: if a slack gives every row a coordinate of its own, that is a Gibbs sampler. All
lines are known beforehand, so a step costs two passes over the walls and no matrix product.

Several chains start far apart. They are thinned, so that the memory of the draws is fixed: while
the second half of the draws does not pass the diagnostics, every other draw is dropped and the
walk continues for as long again.

Cost of a step: about 3 n + 3 r multiplications for n walls and rank r; before, about 4 n r^2. Needs:
the walls' Gram matrix in memory, and the analytic centre.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from mercer._jit.threads import Stopped, run_parallel, thread_count
from mercer._types import FloatArray
from mercer.solvers.linalg.pivoted_cholesky import dense_factor
from mercer.solvers.result import Status, TracePoint
from mercer.solvers.version_space.hit_and_run_steps import NEAREST, walk
from mercer.solvers.version_space.mcmc_diagnostics import ChainDiagnostics, effective_sample_size, r_hat

if TYPE_CHECKING:
    from mercer.kernels._types import Stop
    from mercer.solvers.limits import Limits

# Directions of the Gram matrix below this, relative to the largest, are rounding.
RANK_TOL = 1e-10
# Multiplications between checks of the limits: a few milliseconds.
SLICE_WORK = 2**22
# Steps per draw in the first round, relative to the rank.
FIRST_THINNING = 0.25
# Where the chains start, as a share of the chord from either end.
EDGE = 0.05
# Most walls watched by the diagnostics.
MOST_WATCHED = 256
# Fewer draws per chain are uninformative.
FEWEST_DRAWS = 8
# Bound on the steps where max_iter sets none.
MOST_STEPS = 10_000_000


@dataclass
class Sampled:
    """w = sum_i alpha_i z_i, the mean direction of the draws, and the diagnostics of the chains."""

    alpha: np.ndarray
    diagnostics: ChainDiagnostics
    status: Status
    trace: list[TracePoint] = field(default_factory=list)


class Body:
    """The cone in as many coordinates as it has dimensions, and lines to walk along.

    Parameters
    ----------
    gram : ndarray (n, n)
        <z_i, z_j>.
    centre : ndarray (n,)
        Coefficients of the analytic centre.

    Attributes
    ----------
    walls : ndarray (n, r)
        z_i; rows at `pivots` are independent, and triangular.
    centre : ndarray (r,)
        The analytic centre.
    is_inside : bool
        Whether it still is, after rounding.
    directions, rates : ndarray (2 r, r), (2 r, n)
        As in `walk`.
    """

    def __init__(self, gram: FloatArray, centre: FloatArray) -> None:
        self.walls, self.pivots = dense_factor(gram, RANK_TOL)
        self.rank = len(self.pivots)
        point = self.walls.T @ centre
        self.centre = point / np.linalg.norm(point)
        self.is_inside = bool((self.walls @ self.centre > 0).all())
        if self.is_inside:
            self.directions = np.concatenate([self._axes(), self._one_wall_each()])
            self.rates = self.directions @ self.walls.T

    def _axes(self) -> FloatArray:
        """Conjugate directions of the barrier's Hessian at the centre."""
        weighted = self.walls / (self.walls @ self.centre)[:, None]
        hessian = weighted.T @ weighted
        hessian.flat[:: self.rank + 1] += len(self.walls)
        root = cholesky(hessian, lower=True, overwrite_a=True, check_finite=False)
        return solve_triangular(root, np.eye(self.rank), lower=True, check_finite=False)

    def _one_wall_each(self) -> FloatArray:
        """The dual basis of the independent walls, each of length 1."""
        corner = self.walls[self.pivots]
        dual = solve_triangular(corner, np.eye(self.rank), lower=True, check_finite=False).T
        return dual / np.linalg.norm(dual, axis=1)[:, None]

    @property
    def slice_steps(self) -> int:
        """Steps between checks of the limits."""
        return max(64, SLICE_WORK // (len(self.walls) + self.rank))

    def coefficients(self, point: FloatArray) -> FloatArray:
        """alpha with point = sum_i alpha_i z_i, non-zero for as many walls as there are dimensions."""
        alpha = np.zeros(len(self.walls))
        corner = self.walls[self.pivots]
        alpha[self.pivots] = solve_triangular(corner, point, lower=True, trans="T", check_finite=False)
        return alpha


class _Chain:
    """One walk: its position, its random numbers, its draws."""

    def __init__(self, body: Body, seed: Any, draws: FloatArray) -> None:
        self.body, self.rng, self.draws = body, np.random.default_rng(seed), draws
        self.filled = self.steps = 0
        self.point = 0.5 * body.centre
        # Start near the edge along every axis: chains that start together would agree too soon.
        self._walk(np.where(self.rng.random(body.rank) < 0.5, EDGE, 1.0 - EDGE), draws, 2 * body.rank)

    def _walk(self, uniforms: FloatArray, draws: FloatArray, thinning: int) -> int:
        body = self.body
        chosen = self.rng.integers(0, len(body.directions), len(uniforms))
        # Recomputed distances, so that rounding errors do not accumulate.
        distances = np.maximum(body.walls @ self.point, NEAREST)
        phase = self.steps % thinning
        return walk(body.directions, body.rates, chosen, uniforms, self.point, distances, draws, thinning, phase)

    def run(self, thinning: int, most: int, stop: "Stop") -> None:
        """Walk until the draws are full, or `most` steps have been taken."""
        while self.filled < len(self.draws) and self.steps < most:
            if stop():
                raise Stopped
            left = (len(self.draws) - self.filled) * thinning - self.steps % thinning
            count = min(self.body.slice_steps, left, most - self.steps)
            self.filled += self._walk(self.rng.random(count), self.draws[self.filled :], thinning)
            self.steps += count

    def thin(self) -> None:
        """Drop every other draw; the last one stays."""
        kept = self.draws[1 : self.filled : 2]
        self.draws[: len(kept)] = kept.copy()
        self.filled = len(kept)


def centre_of_mass(
    gram: FloatArray,
    centre: FloatArray,
    *,
    seeds: Sequence[Any],
    n_draws: int,
    tol: float,
    min_ess: float,
    limits: "Limits",
    n_jobs: int | None = None,
) -> Sampled:
    """The mean direction of the version space.

    Parameters
    ----------
    gram : ndarray (n, n)
        <z_i, z_j>.
    centre : ndarray (n,)
        Coefficients of the analytic centre.
    seeds : sequence of SeedSequence
        One for each chain.
    n_draws : int
        Draws kept of each chain; the second half of them is used.
    tol, min_ess : float
        Goal of the diagnostics: R-hat at most 1 + tol, effective sample size at least min_ess.
    limits : Limits
        `max_iter` bounds the steps of each chain.
    n_jobs : int, optional
        Threads; each chain is walked by one of them.

    Returns
    -------
    Sampled
    """
    body = Body(gram, centre)
    if not body.is_inside:
        # The walls are so close together that rounding decides which side a point is on.
        return Sampled(centre, ChainDiagnostics.of_nothing(len(seeds)), Status.STALLED)
    return _Sampling(body, seeds, n_draws, tol, min_ess, limits, n_jobs).run()


class _Sampling:
    """The rounds of `centre_of_mass`."""

    trace: list[TracePoint]

    def __init__(
        self,
        body: Body,
        seeds: Sequence[Any],
        n_draws: int,
        tol: float,
        min_ess: float,
        limits: "Limits",
        n_jobs: int | None,
    ) -> None:
        self.body, self.limits, self.workers = body, limits, thread_count(n_jobs)
        self.tol, self.min_ess = tol, min_ess
        self.draws = np.empty((len(seeds), n_draws, body.rank))
        self.chains = [_Chain(body, *each) for each in zip(seeds, self.draws, strict=True)]
        self.most = MOST_STEPS if limits.max_iter < 0 else limits.max_iter
        self.thinning, self.trace = max(1, int(FIRST_THINNING * body.rank)), []

    def run(self) -> Sampled:
        while True:
            status = self._round()
            mean, diagnostics = self._diagnose()
            self._record(mean, diagnostics)
            if status is None:
                status = self._ending(diagnostics)
            if status is not None:
                return Sampled(self.body.coefficients(mean), diagnostics, status, self.trace)
            self.thinning *= 2
            for chain in self.chains:
                chain.thin()

    def _round(self) -> Status | None:
        """Fill the draws of every chain; a status if that was stopped."""
        try:
            run_parallel(self._run_chain, self.chains, self.workers, self.limits.stop)
        except Stopped:
            return self.limits.reached()
        return None

    def _run_chain(self, chain: _Chain) -> None:
        chain.run(self.thinning, self.most, self.limits.stop)

    def _diagnose(self) -> tuple[FloatArray, ChainDiagnostics]:
        """(mean direction, diagnostics) from the second half of the draws that all chains have."""
        filled = min(chain.filled for chain in self.chains)
        steps = min(chain.steps for chain in self.chains)
        if filled < FEWEST_DRAWS:
            return self.body.centre, ChainDiagnostics.of_nothing(len(self.chains), steps)
        kept = self.draws[:, filled // 2 : filled]
        mean = kept.mean(axis=(0, 1))
        length = float(np.linalg.norm(mean))
        watched = kept @ self.body.walls[:: -(-len(self.body.walls) // MOST_WATCHED)].T
        worst, size = float(r_hat(watched).max()), float(effective_sample_size(watched).min())
        # Draws have length 1, so the variances of their coordinates add up to 1 - |mean|^2.
        error = float(np.sqrt(max(0.0, 1.0 - length**2) / size) / length)
        return mean / length, ChainDiagnostics(worst, size, error, len(kept), kept[..., 0].size, steps)

    def _record(self, mean: FloatArray, diagnostics: ChainDiagnostics) -> None:
        """A trace point: R-hat - 1 as the violation, the smallest distance as the dual value."""
        point = TracePoint(
            self.limits.seconds,
            diagnostics.steps,
            diagnostics.r_hat - 1.0,
            float((self.body.walls @ mean).min()),
            diagnostics.n_draws,
            len(self.body.walls),
        )
        self.trace.append(point)
        self.limits.report(point)

    def _ending(self, diagnostics: ChainDiagnostics) -> Status | None:
        if diagnostics.has_converged(self.tol, self.min_ess):
            return Status.OPTIMAL
        if diagnostics.steps >= self.most:
            return Status.ITERATION_LIMIT
        return self.limits.reached()
