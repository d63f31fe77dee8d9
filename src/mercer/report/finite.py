"""Plain values without the numbers that JSON cannot express."""

import math
from typing import Any


def finite(value: Any) -> Any:
    """The same value with None for numbers that JSON cannot express."""
    if isinstance(value, dict):
        return {str(key): finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
