"""What a function calls is compiled into it, whether or not Python calls it too."""

import os
import subprocess
import sys

import numpy as np
import pytest
from numba.core.compiler import Flags

from mercer._jit import compile as compiling
from mercer._jit.compile import jit
from mercer._jit.one_piece import _Flags

PROGRAM = """
import sys
import numpy as np
from mercer._jit.compile import compiled_here, jit
from mercer.solvers.linalg.compiled_cholesky import factorise, substitute

@jit
def solve(A, b):
    if not factorise(A, b.shape[0]):
        raise ValueError(b.shape[0])
    substitute(A, b.shape[0], b)

def apart():
    A, b = np.eye(3) + 0.1, np.ones(3)
    factorise(A, 3)
    substitute(A, 3, b)

def together():
    A, b = np.eye(3) + 0.1, np.ones(3)
    solve(A, b)
    print(b.tobytes().hex())

for word in sys.argv[1:]:
    globals()[word]()
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(compiling, "_DIRECTORY", tmp_path)
    return tmp_path


def functions():
    @jit
    def half(x):
        if x < 0:
            raise ValueError("less than nothing", x)
        return x / 2

    @jit
    def quarter(x):
        return half(x) / 2

    return half, quarter


def test_a_function_inside_another_is_neither_kept_nor_offered_to_python(folder):
    half, quarter = functions()
    assert quarter(8.0) == 2.0
    assert [path.name.split("-")[0].rsplit(".")[-1] for path in folder.rglob("*.nbc")] == ["quarter"]
    assert half.overloads == {}


def test_a_function_inside_another_can_be_called_afterwards_and_before(folder):
    half, quarter = functions()
    assert (quarter(8.0), half(8.0), quarter(8), half(8)) == (2.0, 4.0, 2.0, 4.0)
    half, quarter = functions()
    assert (half(8.0), quarter(8.0)) == (4.0, 2.0)


def test_an_error_from_inside_says_what_it_is_about(folder):
    for _ in ("compiled", "read from disk"):
        _, quarter = functions()
        with pytest.raises(ValueError, match="less than nothing") as caught:
            quarter(-3.0)
        assert caught.value.args == ("less than nothing", -3.0)


def test_the_last_bit_does_not_depend_on_what_was_compiled_before(tmp_path):
    """In one process the parts are compiled for Python first, in another they are not."""
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    seen = {
        subprocess.run(
            [sys.executable, file, *words],
            env={**os.environ, "MERCER_CACHE_DIR": str(tmp_path / "-".join(words))},
            capture_output=True, text=True, check=True,
        ).stdout
        for words in (["together"], ["apart", "together"])
    }  # fmt: skip
    assert len(seen) == 1
    assert np.isfinite(np.frombuffer(bytes.fromhex(seen.pop().strip()))).all()


def test_flags_are_the_same_key_as_numba_s_own():
    """A function that Numba has typed under its own flags is found under ours, and only if they say the same."""
    plain = Flags()
    plain.nrt = plain.forceinline = True
    ours, other = _Flags(plain), _Flags(plain)
    assert ours == plain == other
    assert hash(ours) == hash(plain)
    assert {plain: "found"}[ours] == "found"
    other.nrt = False
    assert ours != other
    assert plain != other
    other.nrt = Flags.options["nrt"].default  # said, or left as it is by default
    bare = Flags()
    bare.forceinline = True
    assert other == bare
    assert ours != "flags"
