"""What a reader must know of the machine to read a figure."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("mercer", "numpy", "scipy", "numba", "scikit-learn", "scikit-learn-intelex")


def thread_count():
    """Cores this process may use: what every contestant is given."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


def _version(package):
    try:
        return version(package)
    except PackageNotFoundError:
        return "source"


def processor():
    """The processor's name, as the system has it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def instruction_level():
    """The level for which code is compiled: this processor's, or the one it is told to stand for."""
    from mercer._jit.kept_code import levels_of_processor

    told = os.environ.get("NUMBA_CPU_NAME")
    return f"as on {told}" if told else next(iter(levels_of_processor()), platform.machine())


def environment():
    """Python, packages, processor, threads and how busy the machine was at the start."""
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "processor": processor(),
        "level": instruction_level(),
        "threads": thread_count(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "versions": {package: _version(package) for package in PACKAGES},
    }


def headline(found):
    """One or two lines that open a report."""
    versions = ", ".join(f"{package} {number}" for package, number in found["versions"].items())
    lines = [
        f"{found['processor']}, {found['level']}, {found['threads']} threads",
        f"Python {found['python']}; {versions}",
    ]
    if (found["load"] or 0) > 0.5:
        lines.append(f"Load average is {found['load']}: other work is running, and these figures are noisy.")
    return "\n".join(lines)
