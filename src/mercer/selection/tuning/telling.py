"""What a search tells whoever started it: fits that failed, scores that are missing, an early end."""

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning

from mercer.selection.tuning.results import DONE, UNTRIED, Table
from mercer.solvers.result import Status

if TYPE_CHECKING:
    from mercer.selection.tuning.base import TunedModel

# From here to the user's line that called `fit`.
_LEVEL = 4


def warn_failed(model: "TunedModel", table: Table) -> None:
    """Warn of fits that failed while the others went on."""
    if not table.errors:
        return
    reasons = "; ".join(dict.fromkeys(table.errors.values()))
    text = f"{len(table.errors)} of {table.state.size} fits failed and have the score {model.error_score!r}: {reasons}"
    lost = np.flatnonzero(table.is_lost().any(axis=0)).tolist()
    if lost:
        text = f"{text}. On {_folds_told(lost)} every setting failed; settings are compared on the others"
    if not table.is_complete().any() and UNTRIED not in table.state:
        text = f"{text}. No setting was judged on all folds: {model.best_params_} is the best of those judged on most"
    warnings.warn(text, FitFailedWarning, stacklevel=_LEVEL)


def warn_without_score(table: Table, judge: str) -> None:
    """Warn of fits that succeeded but have no score."""
    is_nan = (table.state == DONE) & np.isnan(table.test[judge])
    if not is_nan.any():
        return
    text = f"{is_nan.sum()} of {table.state.size} fits have the score NaN"
    blank = np.flatnonzero((table.is_blank(table.test[judge]) & is_nan).any(axis=0)).tolist()
    if blank:
        text = f"{text}. On {_folds_told(blank)} no setting has a score; settings are compared on the others"
    text = f"{text}. A setting without a score on a fold where others have one cannot win"
    warnings.warn(text, UserWarning, stacklevel=_LEVEL)


def warn_unless_done(model: "TunedModel", table: Table, ended: Status | None) -> None:
    """Record how a search ended, and warn if it was cut short."""
    fitted = model.best_estimator_.status_ if model.refit else Status.OPTIMAL
    is_done = _is_all_done(table)
    model.status_ = fitted if ended is None or is_done else ended
    # Unless the user has set a limit, the limit on fits that only serve a score is as intended.
    is_own = getattr(model, "max_iter", -1) >= 0
    expected = (Status.OPTIMAL,) if is_own else (Status.OPTIMAL, Status.ITERATION_LIMIT)
    endings = table.status[(table.state == DONE) & ~np.isin(table.status, expected)]
    if model.status_ in (Status.TIME_LIMIT, Status.INTERRUPTED) and not is_done:
        text = f"{_what_was_judged(model, table)}{_how_it_was_fitted(model)}"
        warnings.warn(text, ConvergenceWarning, stacklevel=_LEVEL)
    elif model.status_ == Status.TIME_LIMIT:
        text = f"TIME_LIMIT: all {table.planned} fits were made{_how_it_was_fitted(model)}"
        warnings.warn(text, ConvergenceWarning, stacklevel=_LEVEL)
    elif len(endings):
        names = ", ".join(Status(code).name for code in np.unique(endings).tolist())
        text = f"{len(endings)} of {table.state.size} fits of the search ended with {names}, before tol={model.tol:g}"
        warnings.warn(text, ConvergenceWarning, stacklevel=_LEVEL)


def _what_was_judged(model: "TunedModel", table: Table) -> str:
    """What a search that was ended early has to go by."""
    done, folds = np.count_nonzero(table.state == DONE, axis=1), table.state.shape[1]
    text = f"{model.status_.name}: {done.sum()} of {table.planned} fits were made"
    on = int(done[model.best_index_])
    if on == 0:
        return f"{text}; nothing was judged, and {model.best_params_}, the middle of the grid, is kept. {_more(model)}"
    if np.count_nonzero(done) == 1:
        text = f"{text}, those of one setting; {model.best_params_} was not compared with any other"
    elif not table.is_complete()[model.best_index_]:
        text = f"{text}; {model.best_params_} is the best of those judged on {on} of {folds} folds"
    else:
        rivals = table.is_complete() & (table.rounds == table.rounds[model.best_index_])
        text = f"{text}; the best of {np.count_nonzero(rivals)} settings{_on_rows(model, table)} is kept"
    return f"{text}. {_more(model)}"


def _how_it_was_fitted(model: "TunedModel") -> str:
    if not model.refit or model.best_estimator_.status_ != Status.TIME_LIMIT:
        return ""
    return ". The last fit had no time to finish; certificate_ says how good it is"


def _more(model: "TunedModel") -> str:
    if model.search == "adaptive":
        return "Raise time_limit to judge more"
    other = "" if model.search == "halving" else ", or use search='halving'"
    return f"To judge more, raise time_limit or shorten the grid{other}"


def _on_rows(model: "TunedModel", table: Table) -> str:
    """How many rows the winner was judged on, if there are rounds."""
    rows: Any = table.extra.get("n_resources")
    return "" if rows is None else f", judged on {rows[model.best_index_]} rows,"


def _is_all_done(table: Table) -> bool:
    return UNTRIED not in table.fate() and table.planned == table.state.size


def _folds_told(numbers: Sequence[int]) -> str:
    return f"fold{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers))}"
