"""Library calls that cannot be interrupted, run in a process that can be ended.

LAPACK's eigenvectors or an interior point's factor for some thousand rows take seconds, in
one call, which this process would have to wait for. A separate process is ended the moment
a limit expires or Ctrl-C is pressed, and its memory with it. It takes some tenths of a
second to start, so small work is done here.

Arrays and numbers go there and come back through pipes. If no process can be
started, or it dies, the work is done here after all.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from mercer._jit.threads import Stopped
from mercer._jit.waiting import run_apart

if TYPE_CHECKING:
    from mercer.kernels._types import Features

# The program of the process; it searches modules where this one does.
_PROGRAM = "import sys; sys.path[:] = sys.argv[1:]; from mercer.solvers.other_process import serve; serve()"

Stop = Callable[[], bool]
Arrays = dict[str, np.ndarray]


_PARTS = ("data", "indices", "indptr", "shape")


class _Died(Exception):
    """The process ended without an answer."""


def call(function: Callable[..., Arrays], stop: Stop, arrays: Arrays, **options: Any) -> Arrays:
    """Call ``function(**arrays, **options)``, a module-level function, in another process.

    Raises Stopped as soon as `stop`, polled meanwhile, says so.
    """
    try:
        process = _start()
    except OSError:
        return function(**arrays, **options)
    request = {"module": function.__module__, "name": function.__name__, "options": options}
    try:
        return run_apart(partial(_exchange, process, request, arrays), leave=lambda: Stopped() if stop() else None)
    except _Died as error:
        if process.wait() == -getattr(signal, "SIGKILL", 9):  # as systems do when memory runs out
            raise MemoryError(f"no memory for {function.__name__}") from error
        return function(**arrays, **options)
    finally:
        process.kill()
        process.wait()


def matrix_arrays(name: str, matrix: "Features") -> Arrays:
    """A matrix as named arrays: itself if it is dense, and else the parts of its columns."""
    if not sparse.issparse(matrix):
        return {name: np.asarray(matrix, dtype=np.float64)}
    columns = sparse.csc_matrix(matrix, dtype=np.float64)
    parts = (columns.data, columns.indices, columns.indptr, np.array(columns.shape))
    return {f"{name}_{part}": array for part, array in zip(_PARTS, parts, strict=True)}


def matrix_of(name: str, arrays: Arrays) -> "Features":
    """The matrix that `matrix_arrays` has taken apart."""
    if name in arrays:
        return arrays[name]
    *parts, shape = (arrays[f"{name}_{part}"] for part in _PARTS)
    return sparse.csc_matrix(tuple(parts), shape=tuple(shape))


def numbers_in(matrix: "Features") -> int:
    """How many numbers a matrix holds."""
    return matrix.nnz if sparse.issparse(matrix) else np.size(matrix)


def _start() -> subprocess.Popen[bytes]:
    if not sys.executable:
        raise FileNotFoundError("no interpreter to run")
    paths = [str(Path(path).absolute()) for path in sys.path]
    # In its own session, since Ctrl-C is for this process to handle.
    return subprocess.Popen(  # noqa: S603 - this very interpreter, with a program of our own
        [sys.executable, "-c", _PROGRAM, *paths],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _exchange(process: subprocess.Popen[bytes], request: dict[str, Any], arrays: Arrays) -> Arrays:
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        with process.stdin, process.stdout:
            _send(process.stdin, request, arrays)
            process.stdin.flush()
            return _receive(process.stdout)[1]
    except (OSError, EOFError, ValueError) as error:
        raise _Died from error


def _send(pipe: IO[bytes], header: dict[str, Any], arrays: Arrays) -> None:
    pipe.write(json.dumps({**header, "arrays": list(arrays)}).encode() + b"\n")
    # NumPy asks a real file for its position, which a pipe lacks, so it sees only `write`.
    for array in arrays.values():
        np.lib.format.write_array(SimpleNamespace(write=pipe.write), array, allow_pickle=False)


def _receive(pipe: IO[bytes]) -> tuple[dict[str, Any], Arrays]:
    header, source = json.loads(pipe.readline()), SimpleNamespace(read=pipe.read)
    return header, {name: np.lib.format.read_array(source, allow_pickle=False) for name in header["arrays"]}


def serve() -> None:
    """Answer one request: the main function of the process."""
    # Output printed by a library must not mix with the numbers.
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)
        request, arrays = _receive(sys.stdin.buffer)
        function = getattr(import_module(request["module"]), request["name"])
        _send(answers, {}, function(**arrays, **request["options"]))
