"""A run with a search in place of the fit."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from mercer.report.kernel_words import kernel_words
from mercer.selection.tuning.svc_cv import SVCCV
from mercer.selection.tuning.svr_cv import SVRCV
from mercer.workflow.assemble import Assembly
from mercer.workflow.run import Run, Watch, machine_and_rows, watched


@dataclass(frozen=True)
class Grid:
    """What a search tries."""

    Cs: Sequence[float]  # in units of the target's deviation where that is a quantity
    gammas: int | Sequence[float] | None  # as `SVCCV` has them; without effect where a kernel has no gamma
    folds: int
    kernels: Sequence[Any] = ()  # beside the machine's own
    search: str = "all"  # or "halving"


def search_for(machine: Any, unit: float, grid: Grid, **others: Any) -> Any:
    """The search of a grid for an assembled machine; `others` are parameters of `SVCCV` or `SVRCV`."""
    own = machine.get_params(deep=False)
    kernels = [own["kernel"], *grid.kernels]
    has_gammas = all(kernel == "rbf" or hasattr(kernel, "gamma") for kernel in kernels)
    kind = SVCCV if hasattr(machine, "class_weight") else SVRCV
    shared = ["n_jobs", "time_limit", "memory_limit", "tol", *(["epsilon"] if kind is SVRCV else [])]
    return kind(
        Cs=[unit * C for C in grid.Cs],
        gammas=(grid.gammas or None) if has_gammas else None,
        kernel=kernels[0],
        kernels=kernels if len(kernels) > 1 else None,
        cv=grid.folds,
        search=grid.search,
        **{name: own[name] for name in shared},
        **others,
    )


class Tuning(Run):
    """One run: hold out, search, refit, save, score, report. It takes what `Run` takes, and a grid."""

    def __init__(self, data: Any, assembly: Assembly, grid: Grid, **others: Any) -> None:
        super().__init__(data, assembly, **others)
        self.grid = grid

    def fit(self, watch: Watch | None = None) -> None:
        """Search on the rows that are not held out, refit the best to them, and note what was chosen."""
        super().fit(watch)
        self.record.notes.append(self._chosen)

    def _fitted(self, X: Any, y: NDArray[Any], watch: Watch | None) -> Any:
        estimator = self.assembly.estimator
        machine, X = machine_and_rows(estimator, X)
        search = search_for(machine, self.assembly.unit, self.grid, random_state=self.seed)
        with watched(search, len(y), watch):
            search.fit(X, y)
        self._chosen = _words(search, self.grid.folds)
        best = search.best_estimator_
        return Pipeline([*estimator.steps[:-1], ("model", best)]) if hasattr(estimator, "steps") else best


def _words(search: Any, folds: int) -> str:
    chosen = ", ".join(f"{name} = {_shown(value)}" for name, value in search.best_params_.items())
    tried = len(search.cv_results_["params"])
    return f"chosen from {tried} settings in {folds} folds: {chosen}; mean score {search.best_score_:.4f}"


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return kernel_words(value) if hasattr(value, "takes_items") else str(value)
