"""The core of the suite elsewhere: ``python -m tests.versions python3.12 python3.13 oldest``.

Each name is an interpreter, with the versions of constraints.txt, or "oldest": the oldest Python with the oldest
versions that pyproject.toml allows. Each has an environment and compiled code of its own in build/versions. An
interpreter that is missing is named, and fails the run after all others had their turn.
"""

import argparse
import hashlib
import os
import subprocess
import sys
from pathlib import Path

from tests.versions.bounds import constraints, lower_bounds, oldest_python
from tests.versions.interpreters import find

CORE = (
    "tests/test_package.py",
    "tests/conformance/test_sklearn_checks.py",
    "tests/conformance/test_sklearn_kernel_methods.py",
    "tests/conformance/test_sklearn_svm.py",
    "tests/estimators/fitting/test_inputs.py",
    "tests/estimators/test_structured_input.py",
    "tests/estimators/svm/test_svc.py",
    "tests/exchange/test_from_sklearn.py",
    "tests/exchange/model_file/test_container.py",
    "tests/exchange/test_onnx.py",
    "tests/io",
    "tests/jit",
    "tests/kernels/algebra/test_sum_product.py",
    "tests/kernels/gram/test_kernel_matrix.py",
    "tests/kernels/table/test_tables.py",
    "tests/laws",
    "tests/oracles",
    "tests/problems",
    "tests/solvers/linear/test_dual_cd.py",
    "tests/solvers/reference/test_interior_point.py",
    "tests/solvers/stochastic/test_pegasos.py",
    "tests/solvers/dual_qp/test_decomposition.py",
)
"""What touches Python, NumPy, SciPy, scikit-learn, Numba and the readers, and takes minutes."""

SHOW_VERSIONS = """
import importlib.metadata as installed, platform
names = ("numpy", "scipy", "scikit-learn", "numba", "clarabel", "pandas")
print("Python", platform.python_version(), *(f"{name} {installed.version(name)}" for name in names))
"""

OLDEST = "oldest"
PYPROJECT = Path("pyproject.toml")
PINNED = Path("constraints.txt")


def prepare(folder: Path, interpreter: str, limits: Path) -> Path:
    """The Python of an environment with these versions, made if it must be."""
    python, stamp = folder / "bin" / "python", folder / ".installed"
    wanted = hashlib.sha256(repr(lower_bounds(PYPROJECT)).encode() + limits.read_bytes()).hexdigest()
    if not stamp.exists() or stamp.read_text() != wanted:
        say(f"setting up {folder}")
        pip = [python, "-m", "pip", "install", "-qq", "-c"]
        subprocess.run([interpreter, "-m", "venv", "--clear", folder], check=True)
        # The build backend is no requirement of Mercer's: its version is the pinned one everywhere.
        subprocess.run([*pip, PINNED, "hatchling", "editables"], check=True)
        subprocess.run([*pip, limits, "--no-build-isolation", "-e", ".[test]"], check=True)
        stamp.write_text(wanted)
    return python


def limits_of(name: str, build: Path) -> Path:
    """The versions for this name, as a file for pip."""
    if name != OLDEST:
        return PINNED
    file = build / "oldest.txt"
    file.write_text(constraints(lower_bounds(PYPROJECT)), encoding="utf-8")
    return file


def say(words: str) -> None:
    print(words, flush=True)


def run(name: str, build: Path, arguments: list[str]) -> str | None:
    """Run the core tests for this name; what went wrong, if anything did."""
    command = oldest_python(PYPROJECT) if name == OLDEST else name
    interpreter = find(command)
    if interpreter is None:
        return f"there is no {command}: install it, or name another one by its path in VERSIONS"
    folder = build / name.replace(os.sep, "_")
    try:
        python = prepare(folder, interpreter, limits_of(name, build))
    except subprocess.CalledProcessError as error:
        return f"could not be set up: {error}"
    say(f"{name}: {subprocess.check_output([python, '-c', SHOW_VERSIONS], text=True).strip()}")
    environment = {**os.environ, "MERCER_CACHE_DIR": str((folder / "compiled").resolve())}
    pytest = [python, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", "-m", "not slow"]
    ended = subprocess.run([*pytest, *(arguments or CORE)], check=False, env=environment).returncode
    return f"pytest ended with {ended}" if ended else None


def main() -> None:
    """Run the core tests for each name; 1 if any fails or is missing."""
    parser = argparse.ArgumentParser(prog="python -m tests.versions", description="Core tests on other versions.")
    parser.add_argument("names", nargs="+")
    parser.add_argument("--build", type=Path, default=Path("build/versions"))
    parser.add_argument("--pytest", nargs=argparse.REMAINDER, default=[], help="arguments in place of the core tests")
    chosen = parser.parse_args()
    chosen.build.mkdir(parents=True, exist_ok=True)
    failures = {name: run(name, chosen.build, chosen.pytest) for name in chosen.names}
    for name, failure in failures.items():
        say(f"{name}: {failure or 'passed'}")
    sys.exit(any(failures.values()))


if __name__ == "__main__":
    main()
