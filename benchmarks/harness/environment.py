"""What a reader must know of the machine to read a figure."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("mercer", "numpy", "scipy", "numba", "scikit-learn", "scikit-learn-intelex")


def thread_count():
    """Cores this process may use: what every contestant is given."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


def _version(package):
    try:
        return version(package)
    except PackageNotFoundError:
        return "source"


def environment():
    """Python, packages, processor, threads and how busy the machine was at the start."""
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "threads": thread_count(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "versions": {package: _version(package) for package in PACKAGES},
    }


def headline(found):
    """One or two lines that open a report."""
    versions = ", ".join(f"{package} {number}" for package, number in found["versions"].items())
    lines = [f"Python {found['python']}, {found['machine']}, {found['threads']} threads; {versions}"]
    if (found["load"] or 0) > 0.5:
        lines.append(f"Load average is {found['load']}: other work is running, and these figures are noisy.")
    return "\n".join(lines)
