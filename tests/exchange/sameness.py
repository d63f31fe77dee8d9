"""Whether two values are the same, bit by bit and all the way down."""

import dataclasses
import math
from datetime import date

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from mercer import Loss, MercerError
from mercer.kernels.graph.graph import Graph
from mercer.kernels.tree.tree import Tree

METHODS = ("predict", "decision_function", "predict_proba", "predict_log_proba", "transform", "score_samples")
COMPUTED = ("offset_", "certificate_", "trace_", "coef_", "probA_", "probB_", "center_", "mistake_bound_", "bound_")
# Classes without equality, by the attributes that make them.
PARTS = {
    "Expansion": ("kernel", "vectors", "groups", "intercepts", "origin"),
    "MatrixItems": ("index",),
    "Frame": ("native",),
}


def same(left, right, where="model"):
    """Fail with the path to the first difference."""
    for kinds, compare in _COMPARISONS:
        if isinstance(left, kinds):
            return compare(left, right, where)
    if hasattr(left, "equals"):
        assert left.equals(right), where
    elif dataclasses.is_dataclass(left) and not isinstance(left, type):
        assert type(left) is type(right), where
        _same_parts(left, right, where, [field.name for field in dataclasses.fields(left)])
    elif isinstance(left, Loss):
        assert type(left) is type(right), where
    elif type(left).__name__ in PARTS:
        assert type(left) is type(right), where
        _same_parts(left, right, where, PARTS[type(left).__name__])
    elif callable(left):
        # A scorer of scikit-learn is made anew each time it is asked for.
        assert left is right or (type(left) is type(right) and repr(left) == repr(right)), where
    else:
        raise AssertionError(f"{where}: no way to compare a {type(left).__name__}")
    return None


def _same_arrays(left, right, where):
    assert isinstance(right, np.ndarray), where
    assert left.dtype == right.dtype, (where, left.dtype, right.dtype)
    assert left.shape == right.shape, (where, left.shape, right.shape)
    if left.dtype == object:
        same(left.ravel().tolist(), right.ravel().tolist(), where)
    else:
        assert np.ascontiguousarray(left).tobytes() == np.ascontiguousarray(right).tobytes(), where


def _same_sparse(left, right, where):
    assert type(left) is type(right), where
    _same_parts(left, right, where, ("shape", "data", "indices", "indptr"))


def _same_parts(left, right, where, names):
    for name in names:
        same(getattr(left, name), getattr(right, name), f"{where}.{name}")


def _same_lists(left, right, where):
    assert type(left) is type(right), (where, type(left), type(right))
    assert len(left) == len(right), where
    for place, pair in enumerate(zip(left, right, strict=True)):
        same(*pair, f"{where}[{place}]")


def _same_dicts(left, right, where):
    assert list(left) == list(right), where
    for key in left:
        same(left[key], right[key], f"{where}[{key!r}]")


def _same_estimators(left, right, where):
    assert type(left) is type(right), where
    same(_state(left), _state(right), where)


def _same_plain(left, right, where):
    assert type(left) is type(right), (where, type(left), type(right))
    both_nan = isinstance(left, float) and math.isnan(left) and math.isnan(right)
    assert both_nan or left == right, (where, left, right)


def _same_random(left, right, where):
    same(left.get_state(), right.get_state(), where)


_COMPARISONS = (
    (np.ndarray, _same_arrays),
    ((sparse.sparray, sparse.spmatrix), _same_sparse),
    ((list, tuple), _same_lists),
    (dict, _same_dicts),
    (BaseEstimator, _same_estimators),
    (np.random.RandomState, _same_random),
    ((int, float, str, bytes, type(None), type, np.generic, np.dtype, slice, range, Graph, Tree, date), _same_plain),
)


def _state(estimator):
    """Parameters and public attributes, the computed ones too."""
    found = dict(sorted(estimator.get_params(deep=False).items()))
    public = {name: value for name, value in vars(estimator).items() if name.endswith("_") and name[0] != "_"}
    found.update(sorted((name, value) for name, value in public.items() if not _is_computed(estimator, name)))
    for name in COMPUTED:
        if _is_computed(estimator, name):
            found[name] = _asked(estimator, name)
    return found


def _is_computed(estimator, name):
    return isinstance(getattr(type(estimator), name, None), property)


def _asked(estimator, name):
    try:
        return getattr(estimator, name)
    except (MercerError, AttributeError) as error:
        return type(error).__name__, str(error)


def same_answers(left, right, X):
    """Fail unless both answer every question about X with the same bits."""
    asked = [name for name in METHODS if hasattr(left, name)]
    assert asked == [name for name in METHODS if hasattr(right, name)]
    assert asked
    for name in asked:
        same(getattr(left, name)(X), getattr(right, name)(X), name)
