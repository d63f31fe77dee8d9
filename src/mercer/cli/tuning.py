"""The steps of `mercer tune`: those of training, with a search in place of the fit."""

from typing import Any, NamedTuple

from sklearn.pipeline import Pipeline

from mercer.cli.terminal.options import DataOptions, FitOptions, MachineOptions
from mercer.cli.terminal.progress import shown_progress
from mercer.cli.training import Training
from mercer.kernels.table.frame import as_frame, is_data_frame
from mercer.report.kernel_words import kernel_words
from mercer.report.model_words import machine_of
from mercer.selection.tuning.estimators import SVCCV, SVRCV
from mercer.workflow.assemble import assemble


class Grid(NamedTuple):
    """What a search tries."""

    kernels: tuple[str, ...]
    Cs: tuple[float, ...]
    gammas: int
    folds: int
    search: str


class Tuning(Training):
    """One run: read, search, refit, save, score, report."""

    def __init__(self, source: str, reading: DataOptions, machine: MachineOptions, fit: FitOptions, grid: Grid) -> None:
        super().__init__(source, reading, machine, fit)
        self.grid, self.machine_options = grid, machine

    def _fitted(self, estimator: Any, X: Any, y: Any) -> Any:
        """The best machine, refitted to all rows that are learnt from."""
        search = self._search(machine_of(estimator))
        steps = estimator.steps[:-1] if hasattr(estimator, "steps") else []
        for _, step in steps:
            X = step.fit_transform(X)
        if is_data_frame(X):
            # Folds are chosen by position, which tables of Arrow do not know.
            X = as_frame(X).rows()
        with shown_progress(search, len(y)):
            search.fit(X, y)
        self._note(search)
        best = search.best_estimator_
        return Pipeline([*steps, ("model", best)]) if steps else best

    def _search(self, machine: Any) -> Any:
        own, grid = machine.get_params(deep=False), self.grid
        kernels = [own["kernel"], *self._other_kernels()]
        is_named = all(isinstance(kernel, str) or hasattr(kernel, "gamma") for kernel in kernels)
        kind = SVCCV if hasattr(machine, "class_weight") else SVRCV
        units = 1.0 if kind is SVCCV else own["C"]
        shared = {name: own[name] for name in ("n_jobs", "time_limit", "memory_limit", "tol")}
        more = {"epsilon": own["epsilon"]} if kind is SVRCV else {}
        return kind(
            Cs=[units * C for C in grid.Cs],
            gammas=grid.gammas if is_named and grid.gammas else None,
            kernel=kernels[0],
            kernels=kernels if len(kernels) > 1 else None,
            cv=grid.folds,
            search=grid.search,
            random_state=self.options.seed,
            **shared,
            **more,
        )

    def _other_kernels(self) -> list[Any]:
        """The kernels that were named beside the first, as the data need them."""
        options = self.machine_options
        found = [assemble(self.data, text, task=options.task, scale=options.scale) for text in self.grid.kernels[1:]]
        return [machine_of(each.estimator).kernel for each in found]

    def _note(self, search: Any) -> None:
        found = {name: _shown(value) for name, value in search.best_params_.items()}
        chosen = ", ".join(f"{name} = {value}" for name, value in found.items())
        tried = len(search.cv_results_["params"])
        words = f"chosen from {tried} settings in {self.grid.folds} folds: {chosen}"
        self.extra = [f"{words}; mean score {search.best_score_:.4f}"]

    def fit(self, holdout: float) -> None:
        """Search on the rows that are not held out, and say what was chosen."""
        super().fit(holdout)
        self.record.notes += self.extra


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return kernel_words(value) if hasattr(value, "takes_items") else str(value)
