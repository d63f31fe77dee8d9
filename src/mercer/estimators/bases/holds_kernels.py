"""Kernels as parameters of an estimator: values that are replaced, never changed."""

from functools import cache
from typing import Any, Self, cast

from mercer._errors import ParameterError
from mercer.estimators.notebook.fit_html import ShowsFit
from mercer.kernels.base.parameters import Parameters


class HoldsKernels(ShowsFit):
    """An estimator some of whose parameters are kernels.

    A kernel is never changed in place, so other holders of it, such as the fitted function, keep theirs.
    """

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        # Cached: reading them off the signature is most of the time of a clone, and a search makes hundreds.
        return super()._get_param_names()

    def set_params(self, **params: Any) -> Self:
        """Change parameters; ``kernel__gamma`` replaces the kernel by one with another gamma."""
        inner = {}
        for key in [key for key in params if "__" in key]:
            name, _, rest = key.partition("__")
            value = params.get(name, getattr(self, name, None))
            if name == "kernel" and isinstance(value, str):
                raise ParameterError(
                    f"{key} sets a parameter of a Kernel, but kernel={value!r} is a string; "
                    f"pass mercer.kernels.parse({value!r}), or write the number in the string"
                )
            if isinstance(value, Parameters):
                inner.setdefault(name, {})[rest] = params.pop(key)
        for name, changes in inner.items():
            params[name] = cast(Any, params.get(name, getattr(self, name, None))).replace(**changes)
        return super().set_params(**params)
