"""Run a command as if on another x86-64 processor: `python -m tests.processors haswell pytest tests/laws`.

Vectors of another width add up in another order, and without fused multiplications every product is rounded: what a
test asserts must hold either way. An emulation takes away what the processor has; it cannot add what it lacks. Nothing
is changed but the environment of the command: Numba's target, OpenBLAS's kernels, NumPy's loops, and a place of its
own for compiled code.
"""

import os
import sys
from collections.abc import Mapping
from typing import NamedTuple

from llvmlite import binding
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

from mercer._jit.cache import cache_root

# Names of NumPy's loops: those of release 2.4, which go by levels of x86-64, and the older ones, by instructions.
_OLDEST = frozenset({"X86_V2", "SSE", "SSE2", "SSE3", "SSSE3", "SSE41", "POPCNT", "SSE42"})
_AVX2 = _OLDEST | {"X86_V3", "AVX", "F16C", "FMA3", "AVX2"}
_AVX512 = _AVX2 | {"X86_V4", "AVX512F", "AVX512CD", "AVX512_SKX"}


class Processor(NamedTuple):
    """A processor to imitate.

    Parameters
    ----------
    target : str
        As the compiler calls it.
    core : str
        As OpenBLAS calls it.
    loops : frozenset of str
        What NumPy may use of its own.
    needs : frozenset of str
        What the processor of this machine must have, as the compiler calls it.
    """

    target: str
    core: str
    loops: frozenset[str]
    needs: frozenset[str]


PROCESSORS = {
    "nehalem": Processor("nehalem", "Nehalem", _OLDEST, frozenset({"sse4.2", "popcnt"})),
    "haswell": Processor("haswell", "Haswell", _AVX2, frozenset({"avx2", "fma", "bmi2"})),
    # OpenBLAS has no kernels of its own for it in NumPy's and SciPy's packages, and takes these.
    "zen": Processor("znver3", "Haswell", _AVX2, frozenset({"avx2", "fma", "bmi2"})),
    "skylakex": Processor(
        "skylake-avx512", "SkylakeX", _AVX512, frozenset({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})
    ),
}


def missing(name: str) -> list[str]:
    """What the processor of this machine lacks to pass for the one called `name`."""
    here = binding.get_host_cpu_features()
    return sorted(feature for feature in PROCESSORS[name].needs if not here.get(feature, False))


def environment(name: str, before: Mapping[str, str]) -> dict[str, str]:
    """The environment `before`, changed so that programs take this processor for the one called `name`."""
    chosen = PROCESSORS[name]
    found = {loop for loop in __cpu_dispatch__ if __cpu_features__.get(loop, False)}
    after = {
        **before,
        "NUMBA_CPU_NAME": chosen.target,
        "NUMBA_CPU_FEATURES": "",  # those of the target, not those found here
        "OPENBLAS_CORETYPE": chosen.core,
        "NPY_DISABLE_CPU_FEATURES": " ".join(sorted(found - chosen.loops)),
    }
    if (root := cache_root()) is not None:
        after["MERCER_CACHE_DIR"] = str(root / name)
    return after


def main(arguments: list[str]) -> None:
    """Become the command, in the changed environment."""
    name, command = arguments[0] if arguments else "", arguments[1:]
    if name not in PROCESSORS or not command:
        sys.exit(f"usage: python -m tests.processors {'|'.join(PROCESSORS)} COMMAND...")
    if lacking := missing(name):
        sys.exit(f"this processor cannot pass for a {name}: it has no {', '.join(lacking)}; leave {name} out")
    os.execvpe(command[0], command, environment(name, os.environ))  # noqa: S606 - the command is the caller's own


if __name__ == "__main__":
    main(sys.argv[1:])
