"""Resident memory of this process, now and at its peak.

Linux folds the peak of a parent into the `getrusage` of a child it spawns, so the peak is
read from /proc, where it belongs to the process alone; elsewhere `getrusage` must do.
"""

import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")


def _from_status(field):
    for line in _STATUS.read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    return 0


def _from_getrusage():
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def resident_bytes():
    """Bytes resident now (the peak so far where the system does not tell)."""
    return _from_status("VmRSS") if _STATUS.exists() else _from_getrusage()


def peak_bytes():
    """The largest number of bytes that were resident at once."""
    return _from_status("VmHWM") if _STATUS.exists() else _from_getrusage()


def reset_peak():
    """Set the peak to what is resident now; True where the system allows it."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True
