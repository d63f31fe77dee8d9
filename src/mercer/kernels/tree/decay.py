"""The decay of a kernel that sums over fragments, which keeps large ones from dominating."""

from typing import Any

from mercer._errors import ParameterError
from mercer.kernels.base.parameters import require_positive


def require_decay(name: str, value: Any) -> None:
    """Refuse anything but a number above 0 and at most 1."""
    require_positive(name, value)
    if value > 1:
        raise ParameterError(f"{name} must be at most 1, got {value!r}")
