"""Conversion of database values to those of tables."""

import datetime as dt
import json
from decimal import Decimal
from typing import Any

_PLAIN = (str, bytes, int, float, dt.date, dt.timedelta)


def plain(value: Any) -> Any:
    """A value as a number, a date or a text: identifiers, times of day, lists and objects become texts."""
    if value is None or isinstance(value, _PLAIN):
        return value
    if isinstance(value, Decimal):
        return int(value) if value.is_finite() and value == value.to_integral_value() else float(value)
    if isinstance(value, memoryview):
        return bytes(value)
    if isinstance(value, list | dict):
        return json.dumps(value, sort_keys=True, default=str)
    return value.isoformat() if isinstance(value, dt.time) else str(value)
