"""What a bug report needs to say about the machine and the libraries on it."""

import platform
import sys
from importlib import metadata

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "llvmlite", "clarabel", "threadpoolctl", "cyclopts", "rich")
EXTRAS = ("matplotlib", "scikit-learn-intelex")


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _blas() -> str:
    """The linear algebra that NumPy and SciPy brought along, and its threads."""
    import scipy.linalg  # noqa: F401 - loading it is what makes its BLAS visible
    from threadpoolctl import threadpool_info

    libraries = [entry for entry in threadpool_info() if entry["user_api"] == "blas"]
    parts = {f"{entry['internal_api']} {entry['version']}, {_threads(entry['num_threads'])}" for entry in libraries}
    return "; ".join(sorted(parts)) or "unknown"


def _threads(count: int) -> str:
    return "1 thread" if count == 1 else f"{count} threads"


def versions() -> dict[str, str | None]:
    """Everything `show_versions` prints, as a dictionary; None where not installed."""
    from mercer import __version__
    from mercer._jit.cache import cache_directory
    from mercer._jit.threads import available_cores

    return {
        "mercer": __version__,
        "python": sys.version.split()[0],
        "platform": platform.platform(),
        "cores": str(available_cores()),
        "blas": _blas(),
        "compiled code": str(cache_directory() or "not kept: no writable directory"),
        **{package: _version(package) for package in PACKAGES + EXTRAS},
    }


def show_versions() -> None:
    """Print the versions of Mercer, of its dependencies and of what they run on.

    Examples
    --------
    >>> import mercer
    >>> mercer.show_versions()  # doctest: +ELLIPSIS
    mercer         ...
    """
    for name, value in versions().items():
        print(f"{name:<22}{value or 'not installed'}")
