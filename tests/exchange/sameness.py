"""Whether two values are the same, bit by bit and all the way down."""

import dataclasses

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from mercer.kernels.graph.graph import Graph
from mercer.kernels.tree.tree import Tree

METHODS = ("predict", "decision_function", "predict_proba", "predict_log_proba", "transform", "score_samples")


def same(left, right, where="model"):
    """Fail with the path to the first difference."""
    if isinstance(left, np.ndarray):
        assert isinstance(right, np.ndarray), where
        assert left.dtype == right.dtype, (where, left.dtype, right.dtype)
        assert left.shape == right.shape, (where, left.shape, right.shape)
        if left.dtype == object:
            same(left.ravel().tolist(), right.ravel().tolist(), where)
        else:
            assert np.ascontiguousarray(left).tobytes() == np.ascontiguousarray(right).tobytes(), where
    elif sparse.issparse(left):
        assert type(left) is type(right), where
        assert left.shape == right.shape, where
        for part in ("data", "indices", "indptr"):
            same(getattr(left, part), getattr(right, part), f"{where}.{part}")
    elif isinstance(left, (list, tuple)):
        assert type(left) is type(right), (where, type(left), type(right))
        assert len(left) == len(right), where
        for place, pair in enumerate(zip(left, right, strict=True)):
            same(*pair, f"{where}[{place}]")
    elif isinstance(left, dict):
        assert list(left) == list(right), where
        for key in left:
            same(left[key], right[key], f"{where}[{key!r}]")
    elif isinstance(left, BaseEstimator):
        assert type(left) is type(right), where
        same(_state(left), _state(right), where)
    elif isinstance(left, (Graph, Tree)):
        assert left == right, where
    elif dataclasses.is_dataclass(left) and not isinstance(left, type):
        assert type(left) is type(right), where
        for field in dataclasses.fields(left):
            same(getattr(left, field.name), getattr(right, field.name), f"{where}.{field.name}")
    elif hasattr(left, "equals"):
        assert left.equals(right), where
    elif isinstance(left, float) and left != left:
        assert right != right, where
    elif type(left).__name__ == "Expansion":
        for name in ("kernel", "vectors", "groups", "intercepts", "origin"):
            same(getattr(left, name), getattr(right, name), f"{where}.{name}")
    elif type(left).__module__.startswith("mercer.kernels.table.frame"):
        same(left.native, right.native, where)
    elif type(left).__name__ == "MatrixItems":
        same(left.index, right.index, where)
    elif isinstance(left, (int, float, str, type(None), type, np.generic, np.dtype, slice, range)):
        assert type(left) is type(right), (where, type(left), type(right))
        assert left == right, where


def _state(estimator):
    """Parameters and public attributes, the computed ones too."""
    found = dict(estimator.get_params(deep=False))
    found.update({name: value for name, value in vars(estimator).items() if name.endswith("_") and name[0] != "_"})
    for name in ("certificate_", "trace_", "coef_", "probA_", "probB_", "center_", "mistake_bound_", "bound_"):
        if isinstance(getattr(type(estimator), name, None), property):
            found[name] = _asked(estimator, name)
    return found


def _asked(estimator, name):
    try:
        return getattr(estimator, name)
    except Exception as error:
        return type(error).__name__, str(error)


def same_answers(left, right, X):
    """Fail unless both answer every question about X with the same bits."""
    asked = [name for name in METHODS if hasattr(left, name)]
    assert asked == [name for name in METHODS if hasattr(right, name)]
    assert asked
    for name in asked:
        same(getattr(left, name)(X), getattr(right, name)(X), name)
