"""Kernels as parameters of an estimator: values that are replaced, never changed."""

from typing import Any, Self, cast

from sklearn.base import BaseEstimator

from mercer.kernels.base.parameters import Parameters


class HoldsKernels(BaseEstimator):
    """An estimator some of whose parameters are kernels.

    Whoever else holds a kernel keeps it as it is: another estimator, or the fitted function of this one.
    """

    def set_params(self, **params: Any) -> Self:
        """Change parameters; ``kernel__gamma`` replaces the kernel by one with another gamma."""
        inner = {}
        for key in [key for key in params if "__" in key]:
            name, _, rest = key.partition("__")
            if isinstance(params.get(name, getattr(self, name, None)), Parameters):
                inner.setdefault(name, {})[rest] = params.pop(key)
        for name, changes in inner.items():
            params[name] = cast(Any, params.get(name, getattr(self, name, None))).replace(**changes)
        return super().set_params(**params)
