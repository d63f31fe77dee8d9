"""What is fuzzed: each target takes any bytes and may refuse them with a declared error, and nothing else.

A model that is read must answer, and must be written and read again as the same model.
"""

import contextlib
import hashlib
import io
import tempfile
from pathlib import Path

import numpy as np
from scipy import sparse

import mercer
from mercer import DataError, ModelFileError, ParameterError
from mercer.io import (
    SvmlightFile,
    read_brackets,
    read_graphs,
    read_html,
    read_json,
    read_svmlight,
    read_table,
    read_xml,
)
from mercer.kernels import parse
from mercer.kernels.base.kernel import Kernel
from mercer.kernels.notation.words import kernel_words
from mercer.kernels.table.frame import as_frame

# In memory where there is such a folder: a disk is most of what a small file costs.
_MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of its own is made there
_FOLDER = tempfile.TemporaryDirectory(prefix="mercer-fuzz-", dir=_MEMORY if _MEMORY.is_dir() else None)
# Rows wider than this are not asked for: a row of a model is as wide as its largest index.
WIDEST = 100_000
_GRAPH_FILES = ("A", "graph_indicator", "graph_labels", "node_labels", "edge_labels", "node_attributes")


def _written(data, name="input"):
    path = Path(_FOLDER.name) / name
    path.write_bytes(data)
    return path


def svmlight(data):
    """An svmlight file, in batches and at once: the same rows, finite, or the same refusal."""
    path, parts = _written(data), []
    refused = _refusal(lambda: parts.extend(SvmlightFile(path, n_features=WIDEST, chunk_bytes=16)))
    whole = []
    again = _refusal(lambda: whole.extend(read_svmlight(path, n_features=WIDEST)))
    assert again == refused or not parts
    if again is not None:
        return
    X, y = whole
    assert np.isfinite(X.data).all()
    assert np.isfinite(y).all()
    assert X.has_canonical_format
    assert (sparse.vstack([each for each, _ in parts]) != X).nnz == 0


def _refusal(read):
    """What a reader says of bad data, or None."""
    try:
        read()
    except DataError as error:
        return str(error)
    return None


def _model(data, read, write):
    try:
        model = read(_written(data))
    except DataError:
        return
    if model.n_features_in_ > WIDEST:
        return
    row = sparse.csr_matrix(np.full((2, model.n_features_in_), 0.5)[:, : model.n_features_in_])
    row = row.toarray() if getattr(model, "kernel", None) == "precomputed" else row
    try:
        expected = _answer(model, row)
    except DataError:  # it overflows
        return
    try:
        write(model, _written(b"", "again"))
    except ParameterError:
        return
    again = read(Path(_FOLDER.name) / "again")
    if again.n_features_in_ == model.n_features_in_:
        scale = 1.0 + np.abs(expected).max() + np.abs(getattr(model, "dual_coef_", 0.0)).max(initial=0.0)
        assert np.abs(_answer(again, row) - expected).max() <= 1e-9 * scale


def _answer(model, row):
    return np.asarray(model.decision_function(row) if hasattr(model, "decision_function") else model.predict(row))


def libsvm_model(data):
    """A LIBSVM model."""
    _model(data, mercer.read_libsvm_model, mercer.write_libsvm_model)


def svmlight_model(data):
    """An SVMlight model."""
    _model(data, mercer.read_svmlight_model, mercer.write_svmlight_model)


def liblinear_model(data):
    """A LIBLINEAR model."""
    _model(data, mercer.read_liblinear_model, mercer.write_liblinear_model)


def trees(data):
    """A tree in brackets, XML, HTML or JSON, by the first byte."""
    readers = (read_brackets, read_xml, read_html, read_json)
    reader = readers[data[0] % len(readers)] if data else read_brackets
    _refusal(lambda: reader(data[1:] if reader is not read_brackets else data[1:].decode("utf-8", "replace")))


def graphs(data):
    """A set of graphs: a zip file, or texts divided by zero bytes."""
    if data[:2] == b"PK":
        source = _written(data, "set.zip")
    else:
        source = Path(_FOLDER.name) / "graphs"
        source.mkdir(exist_ok=True)
        for old in source.iterdir():
            old.unlink()
        for name, text in zip(_GRAPH_FILES, data.split(b"\x00"), strict=False):
            (source / f"DS_{name}.txt").write_bytes(text)
    _refusal(lambda: read_graphs(source))


def model_file(data):
    """A .mercer file."""
    path = _written(data, "model.mercer")
    try:
        mercer.load(path)
    except ModelFileError:
        return


def sealed_model(data):
    """A .mercer file whose checksums are right: two bytes say how long the manifest is, then it and the arrays follow.

    No mutation of a whole file gets past its sums, but whoever means harm computes them. A model that is loaded
    must answer, or say why not.
    """
    length = int.from_bytes(data[:2], "little")
    manifest, payload = data[2 : 2 + length], data[2 + length :]
    pieces = hashlib.sha256(payload).digest() if payload else b""
    head = b"\x89MERCER\n" + (1).to_bytes(8, "little")
    head += len(manifest).to_bytes(8, "little") + len(payload).to_bytes(8, "little")
    head += hashlib.sha256(manifest).digest() + hashlib.sha256(pieces).digest()
    path = _written(head + hashlib.sha256(head).digest() + manifest + payload, "sealed.mercer")
    try:
        model = mercer.load(path)
    except ModelFileError:
        return
    if getattr(model, "n_features_in_", WIDEST) < WIDEST:
        with contextlib.suppress(DataError, ParameterError):
            _answer(model, np.full((2, model.n_features_in_), 0.5))


def _table(data, **options):
    """A table that is read has columns as long as it is."""
    found = []
    _refusal(lambda: found.append(read_table(io.BytesIO(data), memory_limit=2**28, **options)))
    for each in found:
        assert len(each) > 0
        if each.kind == "table":
            frame = as_frame(each.data)
            assert all(len(frame.column(name).missing) == len(each) for name in frame.names)


def csv(data):
    """A table of delimited text."""
    _table(data, format="csv")


def json_lines(data):
    """A table of JSON lines."""
    _table(data, format="jsonl")


def any_table(data):
    """Whatever it is taken for: Parquet, Arrow, compressed, trees, svmlight."""
    _table(data)


def database(data):
    """A file of SQLite, or of DuckDB by its first bytes: the rows of its only table."""
    kind = "duckdb" if data[8:12] == b"DUCK" else "sqlite"
    path = _written(data, f"table.{kind}")
    _refusal(lambda: read_table(path, format=kind, memory_limit=2**28))
    for beside in path.parent.glob(f"{path.name}*"):
        beside.unlink()


def kernel_expression(data):
    """A kernel as text: what is read is a kernel, the same every time, that can be said in words."""
    text = data.decode("utf-8", "replace")
    try:
        kernel = parse(text)
    except ParameterError:
        return
    assert isinstance(kernel, Kernel)
    assert parse(text) == kernel
    assert kernel_words(kernel)


TARGETS = {
    "csv": csv,
    "model_file": model_file,
    "sealed_model": sealed_model,
    "json_lines": json_lines,
    "any_table": any_table,
    "svmlight": svmlight,
    "libsvm_model": libsvm_model,
    "svmlight_model": svmlight_model,
    "liblinear_model": liblinear_model,
    "trees": trees,
    "graphs": graphs,
    "database": database,
    "kernel_expression": kernel_expression,
}
