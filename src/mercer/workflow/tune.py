"""A run with a search in place of the fit."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from mercer._errors import ParameterError
from mercer.kernels.notation.words import kernel_words
from mercer.kernels.table.frame import is_data_frame
from mercer.selection.auto.classifier import AutoKernelClassifier
from mercer.selection.auto.named_scores import CLASS_SCORES, QUANTITY_SCORES, named_score
from mercer.selection.auto.regressor import AutoKernelRegressor
from mercer.selection.tuning.folds import most_folds
from mercer.selection.tuning.svc_cv import SVCCV
from mercer.selection.tuning.svr_cv import SVRCV
from mercer.workflow.assemble import Assembly
from mercer.workflow.run import Run, Watch, machine_and_rows, watched


@dataclass(frozen=True)
class Wanted:
    """What a search is to try, and how it judges."""

    folds: int = 5
    score: str | None = None  # a word of `named_scores`
    is_kernel_named: bool = False  # else kernels are chosen by what the data are
    kernels: Sequence[Any] = ()  # besides the machine's own, if that was named
    Cs: Sequence[float] = ()  # these and no others, in units of the target's standard deviation if it is a quantity
    gammas: int = 6  # how many to begin with; has no effect if a kernel has no gamma


def search_for(machine: Any, assembly: Assembly, y: NDArray[Any], wanted: Wanted, **others: Any) -> Any:
    """The search for an assembled machine and its targets; `others` are parameters of every search.

    If values of C are named, these and no others are tried; named kernels are tried with C and gamma, as far as the
    scores suggest; and if nothing is named, kernels of several families are tried.
    """
    own, classifies = machine.get_params(deep=False), assembly.task == "classification"
    require_score(wanted.score, assembly.task)
    of_kind = ["class_weight", "probability"] if classifies else []
    shared = {name: own[name] for name in ("n_jobs", "time_limit", "memory_limit", "tol", *of_kind)}
    shared |= {
        "cv": min(wanted.folds, most_folds(y, classifies)),
        "scoring": named_score(wanted.score, y, classifies),
        **others,
    }
    if not wanted.is_kernel_named and not wanted.Cs:
        shared["scoring"] = wanted.score
        return (AutoKernelClassifier if classifies else AutoKernelRegressor)(**shared)
    kernels = [own["kernel"], *wanted.kernels]
    has_gammas = all(kernel == "rbf" or hasattr(kernel, "gamma") for kernel in kernels)
    shared |= {} if classifies else {"epsilon": own["epsilon"]}
    if wanted.score == "log_loss":
        shared["probability"] = True
    return (SVCCV if classifies else SVRCV)(
        Cs=[assembly.unit * C for C in wanted.Cs or BEGIN],
        gammas=(wanted.gammas or None) if has_gammas else None,
        kernel=kernels[0],
        kernels=kernels if len(kernels) > 1 else None,
        search="all" if wanted.Cs else "adaptive",
        **shared,
    )


# Values of C with which named kernels begin.
BEGIN = (0.25, 1.0, 4.0, 16.0, 64.0)


def require_score(score: str | None, task: str | None) -> None:
    """Refuse a score for classes if the target is a quantity, and vice versa."""
    known = {"classification": CLASS_SCORES, "regression": QUANTITY_SCORES}
    allowed = known[task] if task is not None else (*CLASS_SCORES, *QUANTITY_SCORES)
    if score is not None and score not in allowed:
        what = "" if task is None else f" for {task}"
        raise ParameterError(f"score must be one of {', '.join(allowed)}{what}, got {score!r}")


class Tuning(Run):
    """One run: hold out, search, refit, save, score, report. Takes what `Run` takes, and what is wanted."""

    def __init__(self, data: Any, assembly: Assembly, wanted: Wanted, **others: Any) -> None:
        super().__init__(data, assembly, **others)
        self.wanted = wanted
        require_score(wanted.score, assembly.task)

    def fit(self, watch: Watch | None = None) -> None:
        """Search on the rows that are not held out, refit the best to them, and note what was chosen."""
        super().fit(watch)
        self.record.notes += self._found

    def _fitted(self, X: Any, y: NDArray[Any], watch: Watch | None) -> Any:
        estimator = self.assembly.estimator
        # A table stays a table: the machine remembers the names of its columns.
        machine, rows = machine_and_rows(estimator, X)
        X = X if is_data_frame(X) and not hasattr(estimator, "steps") else rows
        search = search_for(machine, self.assembly, y, self.wanted, random_state=self.seed)
        with watched(search, len(y), watch):
            search.fit(X, y)
        self._found = _notes(search, self.wanted)
        best = search.best_estimator_
        return Pipeline([*estimator.steps[:-1], ("model", best)]) if hasattr(estimator, "steps") else best


def _notes(search: Any, wanted: Wanted) -> list[str]:
    if not math.isfinite(search.best_score_):
        return [f"there was no time to judge any kernel: this is {setting_words(search.best_params_)}, untested"]
    tried = len(search.cv_results_["params"])
    notes = [f"chosen from {tried} settings in {search.n_splits_} folds: {setting_words(search.best_params_)}"]
    name, honest = wanted.score or ("accuracy" if hasattr(search, "classes_") else "r2"), search.honest_score_
    sign = -1.0 if name in ("log_loss", "mae") else 1.0
    scores = f"mean {name} {sign * search.best_score_:.4f} in the folds that chose it"
    if math.isfinite(honest):
        scores += f"; {sign * honest:.4f} ± {search.honest_error_:.4f} corrected for the luck of being chosen"
    return [*notes, scores, *([f"the search ended because {search.ending_}"] if hasattr(search, "ending_") else [])]


def setting_words(setting: Mapping[str, Any]) -> str:
    """A setting in words, the family of its kernel first."""
    return ", ".join(f"{name} = {_shown(value)}" for name, value in setting.items())


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, tuple):
        return " and ".join(" ".join(map(_shown, part)) for part in value)
    return kernel_words(value) if hasattr(value, "takes_items") else str(value)
