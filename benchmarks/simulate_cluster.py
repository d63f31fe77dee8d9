"""How long fits by blocks would take on clusters that are not here, from block times measured here.

What is measured: processor seconds of a kernel value with a landmark, of a value of the machine, of an entry of a
block's matrix of curvature, of an addition and of a factorisation, of a task on the scheduler; how block times scatter;
and how many passes a fit takes. What is assumed: the network (`--gigabytes`), and that a core there is a core here. The
rest is the division of work that `mercer.distributed` makes, task by task.

    python -m benchmarks.simulate_cluster
    python -m benchmarks.simulate_cluster --gigabytes 2.5 --cores 16
"""

import argparse
import heapq
import math
import time
from dataclasses import dataclass

import numpy as np
from distributed import LocalCluster

from benchmarks.harness.report import table
from mercer import distributed
from mercer._jit.threads import one_blas_thread
from mercer.distributed.crew import JOINED, TOGETHER, groups_of
from mercer.distributed.task import answer, packed
from mercer.kernels import RBF
from mercer.problems.linear.block_machine import BlockMachine
from mercer.solvers.blocks.newton import solve
from mercer.solvers.blocks.source import LocalBlocks

COLUMNS, LANDMARKS, ROWS = 50, 500, 8192
# Rows whose response moves: a third for the squared hinge, a few in a hundred for the hinge near its end.
ACTIVE = {"squared_hinge": 1 / 3, "hinge": 0.05}
# Vectors that the values of a pass are products with.
VECTORS = 2
CASES = (
    # rows, features, kernel, loss, workers
    (10**6, 1000, True, "squared_hinge", 1),
    (10**7, 1000, True, "squared_hinge", 10),
    (10**8, 2000, True, "squared_hinge", 100),
    (10**9, 2000, True, "squared_hinge", 100),
    (10**9, 2000, True, "hinge", 100),
    (10**9, 50, False, "squared_hinge", 10),
    (10**9, 50, False, "squared_hinge", 100),
    (10**9, 50, False, "hinge", 100),
)


@dataclass(frozen=True)
class Costs:
    """Processor seconds of one core here."""

    kernel: float  # a kernel value in COLUMNS columns
    value: float  # a multiplication for a machine's value
    curvature: float  # a multiplication for the matrix of curvature
    addition: float  # of two numbers of two matrices
    solution: float  # of a system of one equation: times m^3
    task: float  # of the scheduler and the client, for a task
    scatter: float  # deviation of a block's time, over its mean
    passes: dict


def cpu(work, least=0.3):
    """Processor seconds of one call: several of them, the first for warming up."""
    work()
    times, begin = [], time.process_time()
    while time.process_time() - begin < least or len(times) < 3:
        before = time.process_time()
        work()
        times.append(time.process_time() - before)
    return np.array(times)


def measured():
    """The costs, in a few seconds."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, COLUMNS)).astype(np.float32)
    Z, kernel = X[:LANDMARKS], RBF(1.0 / COLUMNS)
    F, v = kernel(X, Z), rng.normal(size=(LANDMARKS, VECTORS)).astype(np.float32)
    H = (F.T @ F).astype(np.float64)
    with one_blas_thread():
        kernels = cpu(lambda: kernel(X, Z))
        values = cpu(lambda: F @ v)
        grams = cpu(lambda: F.T @ F)
        additions = cpu(lambda: H + H)
        solutions = cpu(lambda: np.linalg.cholesky(H + np.eye(LANDMARKS)))
    return Costs(
        kernels.mean() / (ROWS * LANDMARKS),
        values.mean() / (ROWS * LANDMARKS * VECTORS),
        grams.mean() / (ROWS * LANDMARKS**2),
        additions.mean() / LANDMARKS**2,
        solutions.mean() / LANDMARKS**3,
        seconds_of_a_task(),
        float(grams.std() / grams.mean()),
        {loss: passes_of(loss) for loss in ACTIVE},
    )


def nothing(k):
    return k


def seconds_of_a_task(count=600):
    """Processor seconds of client and scheduler, which here are one process, for a task that does nothing."""
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0") as local,
        distributed.cluster(local) as crew,
    ):

        def submit(chunk):
            return crew.begin("task", chunk, answer, [packed((nothing, (k,))) for k in chunk], common=[])

        list(crew.patience.in_order(20, submit, lambda: False, str))
        before = time.process_time()
        list(crew.patience.in_order(count, submit, lambda: False, str))
        return (time.process_time() - before) / count


def passes_of(loss, rows=40_000, features=50):
    """Passes over the blocks that a fit to a gap of 1e-3 takes, certificate included."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(rows, features))
    y = np.sign(X @ rng.normal(size=features) + 5.0 * rng.normal(size=rows))
    passes = []

    class Counted(LocalBlocks):
        def total(self, *arguments):
            passes.append(1)
            return super().total(*arguments)

    source = Counted(lambda i, dtype: X[i * 10_000 : (i + 1) * 10_000].astype(dtype), [10_000] * 4, features)
    solve(source, BlockMachine(y, 0.1, loss), gap_tol=1e-3)
    return len(passes)


@dataclass(frozen=True)
class Cluster:
    """Machines that are alike, and what they reach each other by."""

    workers: int
    cores: int
    bandwidth: float  # bytes a second of one machine's network

    @property
    def threads(self):
        return self.workers * self.cores


def makespan(tasks, threads, mean, scatter, dispatch):
    """Seconds until the last of some tasks is done, which a scheduler hands out one after the other."""
    rng = np.random.default_rng(0)
    times = mean * np.maximum(0.2, 1.0 + scatter * rng.normal(size=tasks))
    free = [0.0] * min(threads, tasks)
    end = 0.0
    for k, took in enumerate(times):
        begin = max(heapq.heappop(free), (k + 1) * dispatch)
        end = max(end, begin + took)
        heapq.heappush(free, begin + took)
    return end


def seconds_of_a_pass(costs, cluster, rows, features, is_kernel, loss, block_rows):
    """{what: seconds} of one pass, in the order of events."""
    blocks = math.ceil(rows / block_rows)
    groups = groups_of(blocks, cluster.threads)
    active = ACTIVE[loss] * block_rows
    one = costs.value * block_rows * features * VECTORS + costs.curvature * active * features**2
    one += costs.kernel * block_rows * features if is_kernel else 0.0
    work = makespan(len(groups), cluster.threads, one * len(groups[0]), costs.scatter, costs.task)
    # Neighbours are added by workers, TOGETHER at a time, until few are left for the client.
    matrix, left, sums = 8.0 * (features + 1) ** 2, len(groups), 0.0
    while left > JOINED:
        left = math.ceil(left / TOGETHER)
        # Joins of a level that meet on one machine wait for its network.
        turns = math.ceil(left / cluster.workers)
        sums += turns * (TOGETHER - 1) * (matrix / cluster.bandwidth + costs.addition * features**2)
    sums += left * (2 * matrix / cluster.bandwidth + costs.addition * features**2)
    # Of a loss with kinks, the centres of rounding go out with every pass, by way of the scheduler.
    told = 2 * rows * (8.0 if loss == "hinge" else 0.0) / cluster.bandwidth
    return {"work": work, "sums": sums, "rows": told, "solve": costs.solution * (features + 1) ** 3}


def seconds_once(cluster, rows, is_kernel):
    """Of what is sent once: labels, of a low-rank machine with a weight each; for the certificate, values and then
    coefficients."""
    return 2 * rows * ((16.0 if is_kernel else 1.0) + 8.0 + 8.0) / cluster.bandwidth


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gigabytes", type=float, default=1.25, help="a second, of a machine's network: 10 Gbit/s")
    parser.add_argument("--cores", type=int, default=8)
    parser.add_argument("--block", type=int, default=131_072, help="rows")
    options = parser.parse_args()
    costs = measured()
    print(f"measured here, in processor seconds: kernel value {costs.kernel:.1e}, value {costs.value:.1e}, "
          f"curvature {costs.curvature:.1e},\naddition {costs.addition:.1e}, solution {costs.solution:.1e}, task "
          f"{costs.task:.1e}; scatter {costs.scatter:.2f}; passes {costs.passes}\nassumed: {options.cores} cores a "
          f"worker, {options.gigabytes:g} GB/s, blocks of {options.block} rows")  # fmt: skip
    rows = []
    for n, m, is_kernel, loss, workers in CASES:
        cluster = Cluster(workers, options.cores, options.gigabytes * 1e9)
        parts = seconds_of_a_pass(costs, cluster, n, m, is_kernel, loss, options.block)
        passes, one = costs.passes[loss], sum(parts.values())
        what = f"{'low rank' if is_kernel else 'linear'}, {loss.replace('_', ' ')}"
        each = [f"{parts[name]:.1f}" for name in ("work", "sums", "rows", "solve")]
        once = seconds_once(cluster, n, is_kernel)
        total = f"{passes * one + once:.0f}"
        rows.append((what, f"10^{round(math.log10(n))}", m, workers, passes, *each, f"{once:.1f}", total))
    heads = ("machine", "rows", "m", "workers", "passes", "work s", "sums s", "rows s", "solve s", "once s", "total s")
    print(table(heads, rows))


if __name__ == "__main__":
    main()
