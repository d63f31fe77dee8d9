"""How much memory there is, so that caches are bounded by it."""

import os
import re
from collections.abc import Iterator
from functools import cache
from numbers import Real
from pathlib import Path
from typing import NamedTuple, cast

from mercer._errors import ParameterError

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None  # type: ignore[assignment]

_UNITS = {"": 1} | {
    prefix + suffix: base**power
    for power, prefix in enumerate("kmgt", start=1)
    for suffix, base in (("", 1000), ("i", 1024))
}
# Where nothing can be asked: little enough for any machine in use.
_UNKNOWN = 2**31
_THREAD_BYTES = 2**28


def available_bytes() -> int:
    """Memory that could be taken now: of the machine, of the container, of this process."""
    bounds = (_free_in_machine(), *_free_in_groups(), _free_in_address_space())
    return max(0, min(bound for bound in bounds if bound is not None))


def room_for_a_thread() -> bool:
    """Whether the address space has room for a thread's stack and what BLAS sets aside for it;
    BLAS ends the process where it finds none."""
    free = _free_in_address_space()
    return free is None or free > _THREAD_BYTES


def _free_in_machine() -> int:
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return _half_of_physical()


def _half_of_physical() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (OSError, ValueError, AttributeError):
        return _UNKNOWN


def _free_in_address_space() -> int | None:
    """What `ulimit -v` leaves, or None when it sets no bound."""
    if resource is None or not hasattr(resource, "RLIMIT_AS"):
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return None
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        return limit
    return limit - pages * os.sysconf("SC_PAGE_SIZE")


def _free_in_groups() -> Iterator[int]:
    """What each control group of this process that has a bound leaves free."""
    for folder, names in _bounded_groups():
        try:
            used = _number(folder / names.used) - _reclaimable(folder / "memory.stat", names.inactive)
            yield _number(folder / names.limit) - used
        except (OSError, ValueError):
            continue


class _Names(NamedTuple):
    """Where one version of Linux control groups writes its numbers."""

    limit: str
    used: str
    inactive: str


_VERSION_1 = _Names("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
_VERSION_2 = _Names("memory.max", "memory.current", "inactive_file")


@cache
def _bounded_groups(root: str = "/sys/fs/cgroup", membership: str = "/proc/self/cgroup") -> list[tuple[Path, _Names]]:
    """(folder, names) of every group from this process's up to the root that has a bound.

    Found once: a small fit takes less time than looking through these folders.
    """
    try:
        lines = Path(membership).read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers not in ("", "memory"):
            continue
        names = _VERSION_1 if controllers else _VERSION_2
        top = Path(root, controllers)
        own = top / path.lstrip("/")
        # Inside a container the path may be the host's; its own group is then at the top.
        folders = {own, *(parent for parent in own.parents if parent.is_relative_to(top)), top}
        found += [(folder, names) for folder in sorted(folders) if _has_bound(folder / names.limit)]
    return found


def _has_bound(file: Path) -> bool:
    try:
        # Version 1 says "no bound" with a number of about 2**63, version 2 with "max".
        return _number(file) < 2**60
    except (OSError, ValueError):
        return False


def _number(file: Path) -> int:
    return int(file.read_text(encoding="ascii"))


def _reclaimable(stat: Path, key: str) -> int:
    """Bytes of file cache that count as used but are given up when asked for."""
    for line in stat.read_text(encoding="ascii").splitlines():
        name, _, value = line.partition(" ")
        if name == key:
            return int(value)
    return 0


def parse_bytes(limit: float | str, name: str = "memory_limit") -> int:
    """Bytes from a number or a text such as "2GiB" or "500 MB"."""
    given = limit
    if isinstance(limit, str):
        match = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*([kmgt]i?)?b?\s*", limit.lower())
        limit = cast(float, None if match is None else float(match[1]) * _UNITS[match[2] or ""])
    if not isinstance(limit, Real) or isinstance(limit, bool):
        raise ParameterError(f'{name} must be bytes or a text such as "2GiB", got {given!r}')
    if not 0 < cast(float, limit) < float("inf"):
        raise ParameterError(f"{name} must be positive and finite, got {given!r}")
    return int(cast(float, limit))
