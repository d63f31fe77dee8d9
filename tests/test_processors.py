"""The emulation of other processors reaches every library that computes, in `make test-processors` too."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import processors
from tests.processors import PROCESSORS, environment, missing

ROOT = Path(__file__).parent.parent

LOOK = """
import json, numba, numpy, scipy.linalg
from numpy._core._multiarray_umath import __cpu_features__
from threadpoolctl import threadpool_info
from mercer._jit.cache import cache_root

@numba.njit(fastmath=True)
def total(a, b):
    s = 0.0
    for i in range(len(a)):
        s += a[i] * b[i]
    return s

a = numpy.ones(1000)
assert total(a, a) == 1000
code = next(iter(total.inspect_asm().values()))
print(json.dumps({
    "widest": max(register for register in ("xmm", "ymm", "zmm") if register in code),
    "fused": "vfmadd" in code,
    "blas": sorted({library["architecture"] for library in threadpool_info() if library["user_api"] == "blas"}),
    "avx2": __cpu_features__.get("X86_V3", __cpu_features__["AVX2"]),
    "compiled": str(cache_root()),
    "avx512": __cpu_features__.get("X86_V4", __cpu_features__["AVX512_SKX"]),
}))
"""

EXPECTED = {
    "nehalem": {"widest": "xmm", "fused": False, "avx2": False, "avx512": False},
    "haswell": {"widest": "ymm", "fused": True, "avx2": True, "avx512": False},
    "zen": {"widest": "ymm", "fused": True, "avx2": True, "avx512": False},
}


def run(*command, **variables):
    return subprocess.run(
        [sys.executable, "-m", "tests.processors", *command],
        cwd=ROOT,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_every_library_takes_the_processor_for_the_other_one(name, tmp_path):
    if lacking := missing(name):
        pytest.skip(f"this processor has no {', '.join(lacking)}")
    found = run(name, sys.executable, "-c", LOOK, MERCER_CACHE_DIR=str(tmp_path))
    assert not found.returncode, found.stderr
    common = {"blas": [PROCESSORS[name].core], "compiled": str(tmp_path / name)}
    assert json.loads(found.stdout) == EXPECTED[name] | common


def test_only_loops_that_numpy_has_and_the_processor_can_run_are_switched_off(monkeypatch):
    """NumPy refuses to start with others."""
    monkeypatch.setattr(processors, "__cpu_dispatch__", ["X86_V3", "X86_V4", "AVX512_SPR"])
    monkeypatch.setattr(processors, "__cpu_features__", {"X86_V3": True, "X86_V4": True, "AVX512_SPR": False})
    assert environment("nehalem", {})["NPY_DISABLE_CPU_FEATURES"] == "X86_V3 X86_V4"
    assert environment("haswell", {})["NPY_DISABLE_CPU_FEATURES"] == "X86_V4"
    assert not environment("skylakex", {})["NPY_DISABLE_CPU_FEATURES"]


def test_what_the_processor_lacks_is_said(monkeypatch):
    monkeypatch.setattr(processors.binding, "get_host_cpu_features", lambda: {"avx2": True, "fma": False})
    with pytest.raises(
        SystemExit, match="this processor cannot pass for a haswell: it has no bmi2, fma; leave haswell out"
    ):
        processors.main(["haswell", "true"])


@pytest.mark.parametrize("arguments", [[], ["haswell"], ["pentium", "true"]])
def test_how_it_is_used(arguments):
    with pytest.raises(SystemExit, match=r"usage: .* nehalem\|haswell\|zen\|skylakex COMMAND"):
        processors.main(arguments)
