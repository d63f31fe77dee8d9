"""How much memory there is, so that caches are bounded by it."""

import os
import re

from mercer._errors import ParameterError

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 2**10, "mi": 2**20, "gi": 2**30}


def available_bytes():
    """Memory that could be taken now without swapping."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def parse_bytes(limit, name="memory_limit"):
    """Bytes from a number or a text such as "2GiB" or "500 MB"."""
    if isinstance(limit, str):
        match = re.fullmatch(r"\s*([0-9.]+)\s*([kmg]i?)?b?\s*", limit.lower())
        if match is None:
            raise ParameterError(f'{name} must be bytes or a text such as "2GiB", got {limit!r}')
        limit = float(match[1]) * _UNITS[match[2] or ""]
    if not limit > 0:
        raise ParameterError(f"{name} must be positive, got {limit!r}")
    return int(limit)
