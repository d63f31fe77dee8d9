"""The reference implementations, where they are installed: Debian's libsvm-tools and liblinear-tools.

Their programs print labels and six digits of probabilities; the libraries beside them give the
decision values themselves.
"""

import ctypes
import ctypes.util
import shutil
import subprocess

import numpy as np
import pytest

needs_libsvm = pytest.mark.skipif(
    not (shutil.which("svm-train") and ctypes.util.find_library("svm")), reason="libsvm-tools are not installed"
)
LIBLINEAR = shutil.which("liblinear-train") or shutil.which("train")
needs_liblinear = pytest.mark.skipif(
    not (LIBLINEAR and ctypes.util.find_library("linear")), reason="liblinear-tools are not installed"
)


class _Node(ctypes.Structure):
    _fields_ = [("index", ctypes.c_int), ("value", ctypes.c_double)]


def _nodes(row, first):
    used = [(k + first, value) for k, value in enumerate(row) if value != 0 or first == 0]
    nodes = (_Node * (len(used) + 1))()
    for node, (index, value) in zip(nodes, used, strict=False):
        node.index, node.value = index, value
    nodes[len(used)].index = -1
    return nodes


def reference_values(tool, path, X, n_functions, first=1):
    """Decision values of a model file, by the library itself: `tool` is "svm" or "linear"."""
    library = ctypes.CDLL(ctypes.util.find_library(tool))
    load = library.svm_load_model if tool == "svm" else library.load_model
    evaluate = library.svm_predict_values if tool == "svm" else library.predict_values
    load.restype, load.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
    evaluate.restype = ctypes.c_double
    evaluate.argtypes = [ctypes.c_void_p, ctypes.POINTER(_Node), ctypes.POINTER(ctypes.c_double)]
    model = load(str(path).encode())
    assert model, f"{tool} cannot load {path}"
    found, labels = np.empty((len(X), n_functions)), np.empty(len(X))
    for i, row in enumerate(X):
        buffer = (ctypes.c_double * n_functions)()
        labels[i] = evaluate(model, _nodes(row, first), buffer)
        found[i] = buffer[:]
    return found, labels


def run(*command):
    """Run one of the programs."""
    subprocess.run([str(word) for word in command], check=True, capture_output=True)


def write_rows(path, X, y):
    """An svmlight file of dense rows, all 17 digits."""
    lines = (
        f"{label:g} " + " ".join(f"{k + 1}:{value:.17g}" for k, value in enumerate(row) if value)
        for row, label in zip(X, y, strict=True)
    )
    path.write_text("\n".join(lines) + "\n")
