"""Machines that find their own kernel: what is shared by the classifier and the regression."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self, cast

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone

from mercer._errors import ParameterError
from mercer._types import ArrayLike, FloatArray, Labels, Rows
from mercer.kernels.base.kernel import Kernel
from mercer.kernels.table.frame import Frame
from mercer.selection.auto.lattice import Line, Space
from mercer.selection.auto.named_scores import named_score
from mercer.selection.families.family import Family
from mercer.selection.families.items import item_families
from mercer.selection.families.learnt import Aligned
from mercer.selection.families.vectors import vector_families
from mercer.selection.tuning.base import TunedModel
from mercer.selection.tuning.results import Table
from mercer.selection.tuning.search import Task
from mercer.selection.tuning.winner import unless_told_apart

# Where C begins and ends, for kernel values of about 1 and targets with standard deviation 1.
CS = (0.25, 1.0, 4.0, 16.0, 64.0)
ENDS_OF_C = (2.0**-12, 2.0**18)
STEP = 4.0
MIXTURE = "mixture"


class AutoKernel(TunedModel):
    """Base: what `AutoKernelClassifier` and `AutoKernelRegressor` have in common."""

    # Parameters of a grid search that are fixed here, and parameters of the machine that are not chosen here.
    search, kernel, kernels, param_grid, factor = "adaptive", "auto", None, None, 3
    _nests = True
    early_stop, error_score, return_train_score, refit = False, np.nan, False, True
    cache_size = None

    def families_for(self, X: Rows) -> tuple[str, ...]:
        """Names of the kernel families that are tried for data like X.

        Parameters
        ----------
        X : rows, texts, trees, graphs or a table

        Returns
        -------
        tuple of str
        """
        return tuple(_families_of(X))

    def _scoring(self, y: Any) -> Any:
        return named_score(self.scoring, y, self._classifies)

    def _chosen_families(self, X: Rows, weights: FloatArray | None) -> dict[str, Family]:
        known = _families_of(X, weights)
        if self.families is None:
            return known
        names = [self.families] if isinstance(self.families, str) else list(self.families)
        unknown = [name for name in names if name not in known]
        if unknown or not names:
            raise ParameterError(
                f"families must be None or some of {', '.join(known)} for data like these, got {self.families!r}"
            )
        return {name: known[name] for name in names}

    def _unit(self, task: Task) -> float:
        """The unit of C."""
        return 1.0

    def _common(self, unit: float) -> dict[str, Any]:
        """What every setting has besides its kernel and C."""
        return {}

    def _extras(self, unit: float) -> tuple[Mapping[str, Any], ...]:
        """Other parameters that are tried with the best kernel."""
        return ()

    def fit(
        self, X: Rows, y: Labels, sample_weight: ArrayLike | None = None, *, groups: ArrayLike | None = None
    ) -> Self:
        """Search for the kernel and C, and fit the best machine to all rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or n texts, trees, graphs or rows of a table
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            Weighs rows in the fits, and in the scores that can weigh them.
        groups : array-like of shape (n,), optional
            For a `cv` that keeps groups together.

        Returns
        -------
        self
        """
        try:
            return super().fit(X, y, sample_weight, groups=groups)
        finally:
            # Functions, which no file can hold and nobody needs any longer.
            for name in ("_families", "_rule"):
                vars(cast(Any, self)).pop(name, None)

    def _space(self, template: BaseEstimator, task: Task) -> Space:
        unit = self._unit(task)
        self._families = self._chosen_families(task.X, task.weights)
        lines = [family.line() for family in self._families.values()]
        lines = [replace(line, fixed={**line.fixed, **self._common(unit)}) for line in lines]
        ends = ENDS_OF_C[0] * unit, ENDS_OF_C[1] * unit
        self._rule = lines[0].setting(1.0) if lines[0].name == "width" and self.families is None else None
        return Space(tuple(lines), tuple(unit * C for C in CS), STEP, ends, self._extras(unit))

    def _winner(self, table: Table, judge: str) -> int:
        """The kernel chosen by rule, unless the folds show another to be better."""
        best, rule = super()._winner(table, judge), self._rule
        usual = [{name: value for name, value in each.items() if name != "C"} == rule for each in table.settings]
        return unless_told_apart(table, judge, best, np.array(usual))

    def _blend(self, settings: Sequence[Mapping[str, Any]]) -> Line | None:
        parts = [setting for setting in settings if isinstance(_kernel_of(setting, self._families), Kernel)]
        if len(parts) < 2:
            return None
        common = {name: value for name, value in parts[0].items() if name not in ("family", "parts", *_NUMBERS)}
        return Line({"family": MIXTURE, "parts": tuple(_told(setting) for setting in parts), **common})

    def _model(self, template: BaseEstimator, setting: Mapping[str, Any], task: Task) -> Any:
        own = {name: value for name, value in setting.items() if name not in ("family", "parts", *_NUMBERS)}
        return clone(template).set_params(kernel=_kernel_of(setting, self._families), **own)


_NUMBERS = ("width", "length", "decay")


def _families_of(X: Rows, weights: FloatArray | None = None) -> dict[str, Family]:
    is_rows = sparse.issparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fiu")
    is_rows = is_rows and not isinstance(X, Frame)
    return {family.name: family for family in (vector_families if is_rows else item_families)(X, weights)}


def _told(setting: Mapping[str, Any]) -> tuple[Any, ...]:
    """A family and its number as a setting shows them, in as few words as possible."""
    return tuple(value for name, value in setting.items() if name == "family" or name in _NUMBERS)


def _kernel_of(setting: Mapping[str, Any], families: Mapping[str, Family]) -> Any:
    if setting["family"] != MIXTURE:
        return families[setting["family"]].kernel(setting)
    parts = [families[name].make(*(number or [1.0])) for name, *number in setting["parts"]]
    return Aligned(tuple(parts))
