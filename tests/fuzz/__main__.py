"""Fuzz a target with atheris: ``python -m tests.fuzz libsvm_model --seconds 60``.

What it finds interesting is kept in build/fuzz, where the next run goes on; the seeds are in
tests/fuzz/corpus. An input that breaks a reader is written to build/fuzz as crash-*; add it to the
corpus with the fix, and the tests run it ever after.
"""

import argparse
import importlib.util
import sys
from pathlib import Path

import atheris

ROOT = Path(importlib.util.find_spec("mercer").origin).parent


def compiled_modules():
    """Modules with functions that Numba compiles, from bytecode that must be left as it is."""
    for path in ROOT.rglob("*.py"):
        if path.parent.name == "_jit" or b"_jit" in path.read_bytes():
            yield ".".join(("mercer", *path.relative_to(ROOT).with_suffix("").parts))


with atheris.instrument_imports(include=["mercer"], exclude=list(compiled_modules()), enable_loader_override=False):
    from tests.fuzz.targets import TARGETS

HERE = Path(__file__).parent


def main():
    """Run one target."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Fuzz a reader of Mercer.")
    parser.add_argument("target", choices=sorted(TARGETS))
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--build", type=Path, default=Path("build/fuzz"))
    chosen = parser.parse_args()
    found = chosen.build / chosen.target
    found.mkdir(parents=True, exist_ok=True)
    for seed in sorted((HERE / "corpus" / chosen.target).iterdir()):
        # What compiles on first use must not count as an input that takes too long.
        TARGETS[chosen.target](seed.read_bytes())
    atheris.Setup(
        [
            sys.argv[0],
            str(found),
            str(HERE / "corpus" / chosen.target),
            f"-max_total_time={chosen.seconds}",
            f"-artifact_prefix={chosen.build}/{chosen.target}-",
            "-max_len=4096",
            "-timeout=20",
            "-rss_limit_mb=3000",
        ],
        TARGETS[chosen.target],
    )
    atheris.Fuzz()


if __name__ == "__main__":
    main()
