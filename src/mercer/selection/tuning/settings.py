"""Which settings a search tries: a grid, or draws from its ranges."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import ParameterGrid, ParameterSampler

from mercer._errors import ParameterError
from mercer._types import FloatArray, Rows
from mercer.estimators.fitting.seeds import generator_of
from mercer.kernels.base.kernel import Kernel
from mercer.kernels.base.parameters import gamma_from_data, is_number
from mercer.kernels.notation.sklearn_names import takes_parameter
from mercer.kernels.table.frame import Frame
from mercer.problems.regularization import Regularization
from mercer.selection.auto.lattice import Line, Space

if TYPE_CHECKING:
    from mercer.selection.tuning.base import TunedModel


# A grid of k values of C ends here, and begins a factor of four lower for each.
LARGEST_C = 2.0**9
STEP = 4.0
# Beyond these an adaptive search does not go.
ENDS_OF_C = (2.0**-20, 2.0**20)
# Values of C drawn for each kernel drawn: its matrix costs about as much as they do.
DRAWS_OF_C = 4


def settings_of(
    search: "TunedModel", X: Rows, weights: FloatArray | None, names: Collection[str]
) -> list[dict[str, Any]]:
    """The settings, a dictionary of parameters each, in the order in which they are numbered.

    Parameters
    ----------
    search : SVCCV or SVRCV
    X : rows
        Rows from which values of gamma are computed, if only their number is given.
    weights : ndarray or None
    names : container of str
        Parameters that a setting may have.
    """
    if search.param_grid is not None:
        found = _given(search)
        if not found:
            raise ParameterError(f"param_grid must have at least one setting, got {search.param_grid!r}")
    else:
        kernels = _kernels(search)
        _require_some_gamma(search, kernels)
        axes = [_axes(search, kernel, X, weights) for kernel in kernels]
        found = [each for own in axes for each in _grid(own)] if search.n_iter is None else _drawn(search, axes)
    for setting in found:
        _require_known(setting, names)
        _require_positive_C(setting)
    return found


def space_of(search: "TunedModel", X: Rows, weights: FloatArray | None, names: Collection[str]) -> Space:
    """Where an adaptive search begins: at the values of a grid, of which each kernel is a line along its gamma."""
    if search.param_grid is not None:
        raise ParameterError("param_grid needs search='all' or 'halving'; an adaptive search takes Cs and gammas")
    kernels = _kernels(search)
    _require_some_gamma(search, kernels)
    lines, Cs, epsilons = [], [1.0], [None]
    for kernel in kernels:
        axes = _axes(search, kernel, X, weights)
        Cs, epsilons = axes.pop("C"), axes.pop("epsilon", [None])
        fixed = {} if kernel is None else {"kernel": kernel}
        _require_known(fixed, names)
        place = next((name for name in axes if name != "kernel"), None)
        values = (1.0,) if place is None else tuple(sorted(map(float, axes[place])))
        lines.append(Line(fixed, place, values, 0.0 if place is None else STEP))
    for C in Cs:
        _require_positive_C({"C": C})
        if not is_number(C):
            raise ParameterError(f"Cs must be numbers for an adaptive search, got {C!r}; or use search='all'")
    extras = [] if epsilons == [None] else [{"epsilon": each} for each in epsilons]
    return Space(tuple(lines), tuple(sorted(map(float, Cs))), STEP, ENDS_OF_C, tuple(extras))


def middle_of(settings: Sequence[dict[str, Any]]) -> int:
    """The number of the setting whose parameters are nearest to the middle of the numbers that are searched."""
    off = np.zeros(len(settings))
    for name in settings[0]:
        values = [setting.get(name) for setting in settings]
        if all(is_number(value) for value in values):
            known, places = np.unique(np.array(values, dtype=np.float64), return_inverse=True)
            off += np.abs(places / max(1, len(known) - 1) - 0.5)
    return int(np.argmin(off))


def _given(search: "TunedModel") -> list[dict[str, Any]]:
    try:
        if search.n_iter is None:
            return list(ParameterGrid(search.param_grid))
        return list(ParameterSampler(search.param_grid, search.n_iter, random_state=generator_of(search.random_state)))
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"param_grid must be a dictionary of lists, or a list of such dictionaries: {error}"
        ) from error


def _require_known(setting: Mapping[str, Any], names: Collection[str]) -> None:
    for name in setting:
        if name.partition("__")[0] not in names:
            raise ParameterError(f"param_grid has {name!r}, which cannot be searched; it may have {sorted(names)}")


def _require_positive_C(setting: Mapping[str, Any]) -> None:
    C = setting.get("C", 1.0)
    is_known = isinstance(C, Regularization) or (isinstance(C, str) and C == "auto")
    if not is_known and not (is_number(C) and C > 0):
        raise ParameterError(f"C must be positive in every setting, got {C!r}; remove it from the grid")


def _kernels(search: "TunedModel") -> list[Any]:
    if search.kernels is None:
        return [None]
    kernels = list(search.kernels) if isinstance(search.kernels, (list, tuple)) else []
    if not kernels:
        raise ParameterError(f"kernels must be None or a list of kernels, got {search.kernels!r}")
    return kernels


def _require_some_gamma(search: "TunedModel", kernels: Sequence[Any]) -> None:
    """Refuse gammas that no kernel takes; a mere number of them is allowed, even if none is needed."""
    is_counted = search.gammas is None or isinstance(search.gammas, Integral)
    if not is_counted and all(_gamma_of(search.kernel if k is None else k) is None for k in kernels):
        raise ParameterError(
            f"gammas were given, but {search.kernel if search.kernels is None else search.kernels!r} has no gamma of "
            "its own; name the parameters of such kernels in param_grid, such as kernel__k1__gamma"
        )


def _axes(search: "TunedModel", kernel: Any, X: Rows, weights: FloatArray | None) -> dict[str, Any]:
    """Values of each parameter for one kernel; None is the kernel of the search itself."""
    axes = {} if kernel is None else {"kernel": [kernel]}
    Cs = ["auto"] if isinstance(search.Cs, str) and search.Cs == "auto" else search.Cs
    axes["C"] = _values("Cs", Cs, lambda count: LARGEST_C * STEP ** np.arange(1 - count, 1.0))
    place = _gamma_of(search.kernel if kernel is None else kernel)
    if place is not None and search.gammas is not None:
        axes[place] = _values("gammas", search.gammas, lambda count: _around_scale(X, weights, count))
    epsilons = getattr(search, "epsilons", None)
    if epsilons is not None:
        axes["epsilon"] = _values("epsilons", epsilons, None)
    return axes


def _gamma_of(kernel: Any) -> str | None:
    """The name by which the gamma of a kernel is set; None if it has none."""
    if isinstance(kernel, str):
        return "gamma" if takes_parameter(kernel, "gamma") else None
    if isinstance(kernel, Kernel) and is_dataclass(kernel):
        return "kernel__gamma" if "gamma" in {field.name for field in fields(kernel)} else None
    return None


def _around_scale(X: Rows, weights: FloatArray | None, count: int) -> FloatArray:
    """A factor of four apart around gamma="scale"; one value above the middle less than below it."""
    if isinstance(X, Frame) or not hasattr(X, "shape") or len(X.shape) != 2:
        raise ParameterError("gammas must be a list of numbers if the items are not rows of numbers")
    return gamma_from_data("scale", X, weights) * STEP ** (np.arange(float(count)) - count // 2)


def _values(name: str, given: Any, make: Callable[..., Any] | None) -> list[Any]:
    """A list of values, from a list or from their number."""
    if isinstance(given, Integral) and not isinstance(given, bool) and make is not None:
        if given < 1:
            raise ParameterError(f"{name} must be a positive number of values, or a list of values, got {given!r}")
        return [float(value) for value in make(int(given))]
    if isinstance(given, str) or not hasattr(given, "__iter__"):
        raise ParameterError(f"{name} must be a list of values, or their number, got {given!r}")
    values = [value.item() if isinstance(value, np.generic) else value for value in given]
    if not values:
        raise ParameterError(f"{name} must have at least one value, got an empty list")
    return values


def _grid(axes: dict[str, Any]) -> list[dict[str, Any]]:
    return list(ParameterGrid(axes))


def _drawn(search: "TunedModel", axes: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Draws between the ends of each axis, in equal ratios; each kernel that is drawn serves several C."""
    rng = generator_of(search.random_state)
    found: list[dict[str, Any]] = []
    while len(found) < search.n_iter:
        own = axes[rng.randint(len(axes))]
        setting = {name: _draw(values, rng) for name, values in own.items() if name not in ("C", "epsilon")}
        for _ in range(min(DRAWS_OF_C, search.n_iter - len(found))):
            varied: dict[str, Any] = {name: _draw(own[name], rng) for name in ("C", "epsilon") if name in own}
            found.append({**setting, **varied})
    return found


def _draw(values: Sequence[Any], rng: np.random.RandomState) -> Any:
    if all(is_number(value) and value > 0 for value in values):
        low, high = math.log(min(values)), math.log(max(values))
        return float(math.exp(rng.uniform(low, high))) if high > low else float(values[0])
    return values[rng.randint(len(values))]
