"""
A cluster that loses a worker
=============================

A search over kernels and folds is divided among the workers of a cluster. Here it is a `LocalCluster` of three
processes; pass an address such as ``tcp://10.0.0.1:8786`` to use other machines. Each bar is one kernel on one fold, in
the row of the worker that scored it. Along the way a worker is killed: others redo what it had started, and a new one
takes its place. The result has the same bits as that of a single process.
"""

import logging
import os
import signal
import time

import matplotlib.pyplot as plt
import numpy as np
from distributed import LocalCluster
from sklearn.datasets import make_moons

from mercer import SVCCV, distributed

# Each process of the cluster loads this file before anything else, and should do none of its work.
is_worker = __name__ == "__mp_main__"

X, y = make_moons(700, noise=0.3, random_state=0)
grid = {"Cs": 2.0 ** np.arange(-4, 9), "gammas": 2.0 ** np.arange(-6, 6)}
if not is_worker:
    alone = SVCCV(**grid).fit(X, y)

# %%
# The same search on the cluster. A callback receives every finished task, and after the twentieth it kills a worker
# without warning, as a power failure would.

heard, death = [], []


def kill_after_twenty(point):
    """End one process once twenty tasks are done."""
    heard.append(point)
    if len(heard) == 20:
        worker = next(iter(local.workers.values()))
        death.append((worker.worker_address, time.time()))
        os.kill(worker.pid, signal.SIGKILL)


if not is_worker:
    with (
        LocalCluster(
            n_workers=3, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=logging.CRITICAL
        ) as local,
        distributed.cluster(local) as crew,
    ):
        SVCCV(**grid).fit(X, y)  # the first search loads compiled code into the workers
        crew.client.get_task_stream()  # from now on the scheduler takes notes
        begin = time.time()
        model = SVCCV(**grid, callbacks=[kill_after_twenty]).fit(X, y)
        notes = [note for note in crew.client.get_task_stream(start=begin) if "mercer-task" in note["key"]]


def scores(search):
    """Every setting on every fold."""
    return np.stack([search.cv_results_[f"split{k}_test_score"] for k in range(search.n_splits_)])


if not is_worker:
    is_same = (scores(model) == scores(alone)).all() and (model.dual_coef_ == alone.dual_coef_).all()
    print(f"{len(notes)} tasks by {len({note['worker'] for note in notes})} workers; the same bits: {is_same}")

# %%
# Who did what, and when.

if not is_worker:
    fig, ax = plt.subplots(figsize=(9, 3.2), layout="constrained")
    workers = list(
        dict.fromkeys(note["worker"] for note in sorted(notes, key=lambda note: note["startstops"][-1]["stop"]))
    )
    for note in notes:
        work = next(each for each in note["startstops"] if each["action"] == "compute")
        kernel = int(note["key"].split("-")[2]) // model.n_splits_
        colour = plt.colormaps["viridis"](kernel / (len(grid["gammas"]) - 1))
        ax.barh(
            workers.index(note["worker"]), work["stop"] - work["start"], left=work["start"] - begin,
            height=0.7, color=colour, edgecolor="white", linewidth=0.5,
        )  # fmt: skip
    lost, moment = death[0]
    ax.axvline(moment - begin, color="crimson", linewidth=1)
    if lost in workers:
        ax.annotate(
            "killed",
            (moment - begin, workers.index(lost)),
            (6, 0),
            textcoords="offset points",
            color="crimson",
            va="center",
        )
    ax.set(
        yticks=range(len(workers)), yticklabels=[f"worker {k + 1}" for k in range(len(workers))], xlabel="seconds",
        title=f"{len(notes)} tasks, a kernel and a fold each; colour is the kernel",
    )  # fmt: skip
    ax.invert_yaxis()
    plt.show()
