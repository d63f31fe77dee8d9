"""Graphs from folders and zip files in the text format of the TU Dortmund collection.

A set called DS consists of ``DS_A.txt`` (one arc per line, nodes counted from 1 over all graphs),
``DS_graph_indicator.txt`` (the graph of each node) and optionally ``DS_graph_labels.txt``,
``DS_node_labels.txt``, ``DS_edge_labels.txt``, ``DS_node_attributes.txt``,
``DS_edge_attributes.txt`` and ``DS_graph_attributes.txt``.
"""

import lzma
import os
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import IO, Any, NamedTuple, NoReturn, cast

import numpy as np

from mercer._errors import DataError
from mercer._jit.memory import available_bytes, parse_bytes
from mercer._types import Array, IndexArray
from mercer.kernels.graph.graph import Graph

# Bytes of text read at a time.
PIECE = 2**20
# Approximate memory of each graph, each of its nodes, and each arc while edges are found.
_GRAPH, _NODE, _ARC = 1000, 100, 150
# Memory that Python needs per byte of a zip's list of files.
_ENTRIES = 16
# Errors that reading a damaged zip may raise: an unknown version or method, a password, a truncated stream.
BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    OSError,
    EOFError,
    ValueError,
    RuntimeError,
    struct.error,
    OverflowError,
)


class GraphSet(NamedTuple):
    """Graphs with their labels and targets."""

    graphs: list
    labels: np.ndarray | None  # the class of each graph
    targets: np.ndarray | None  # numbers of each graph, if there are any
    name: str


def read_graphs(
    path: str | PathLike[str] | IO[bytes], directed: bool = False, *, memory_limit: int | str | None = None
) -> GraphSet:
    r"""Read a set of graphs in TU format.

    Parameters
    ----------
    path : str, Path or open binary file
        A folder or a zip file with the text files of one set.
    directed : bool
        Whether the arcs are directed. If not, an arc and its reverse are one edge.
    memory_limit : int or str, optional
        Bytes (or "2GiB") that the graphs may take; by default, the free memory. A zip is unpacked piece by piece.

    Returns
    -------
    GraphSet
        ``graphs``, their class ``labels``, their numeric ``targets`` and the ``name`` of the set; None for
        anything that the set does not have.

    Raises
    ------
    DataError
        Names the faulty file and line.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from mercer.io import read_graphs
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "two_A.txt").write_text("1, 2\n2, 1\n")
    ...     _ = pathlib.Path(folder, "two_graph_indicator.txt").write_text("1\n1\n2\n")
    ...     _ = pathlib.Path(folder, "two_graph_labels.txt").write_text("1\n-1\n")
    ...     read_graphs(folder)
    GraphSet(graphs=[Graph(2 nodes, 1 edge), Graph(1 node, 0 edges)], labels=array([ 1, -1]), targets=None, name='two')
    """
    source = _Source(path, available_bytes() if memory_limit is None else parse_bytes(memory_limit))
    graph_of_node = source.numbers("graph_indicator", int, width=1)[:, 0]
    n_graphs = _require_in_order(graph_of_node, source)
    arcs = source.numbers("A", int, width=2)
    _require_within(arcs, graph_of_node, source)
    source.take(_GRAPH * n_graphs + _NODE * len(graph_of_node) + _ARC * len(arcs))
    return GraphSet(
        _split(source, graph_of_node, n_graphs, arcs - 1, directed),
        _column(source.numbers("graph_labels", int, rows=n_graphs, optional=True)),
        _column(source.numbers("graph_attributes", float, rows=n_graphs, optional=True)),
        source.name,
    )


def _column(numbers: Array | None) -> Array | None:
    return numbers[:, 0] if numbers is not None and numbers.shape[1] == 1 else numbers


class _Source:
    """The files of one set, in a folder or a zip."""

    def __init__(self, path: str | PathLike[str] | IO[bytes], most: int) -> None:
        self.most, self.left = most, most
        if hasattr(path, "read"):
            self.path = getattr(path, "name", "the file")
            self.files = self._in_zip(path, cast(IO[bytes], path).seek(0, os.SEEK_END))
        else:
            self.path = Path(path)
            if not self.path.exists():
                raise DataError(f"there is no folder or file {str(path)!r}")
            is_folder = self.path.is_dir()
            self.files = self._in_folder() if is_folder else self._in_zip(path, self.path.stat().st_size)
        names = [name for name in self.files if name.endswith("_A.txt")]
        if len(names) != 1:
            found = ", ".join(sorted(names)) or "none"
            raise DataError(f"{self.path} must hold one file whose name ends in _A.txt, got {found}")
        self.name = names[0].removesuffix("_A.txt")

    def take(self, size: int) -> None:
        """Count bytes of memory, and refuse more than there is room for."""
        self.left -= size
        if self.left < 0:
            raise DataError(
                f"{self.path}: the graphs do not fit into {self.most:,} bytes of memory; read a part of them, or allow "
                "more (memory_limit, --memory-limit)"
            )

    def _in_folder(self) -> dict[str, Any]:
        return {file.name: file.open for file in cast(Path, self.path).glob("*.txt")}

    def _in_zip(self, file: Any, size: int) -> dict[str, Any]:
        self.take(0 if size * _ENTRIES <= self.left else self.left + 1)
        try:
            archive = zipfile.ZipFile(file)
        except BROKEN as error:
            raise DataError(f"{self.path} is neither a folder nor a valid zip file: {error}") from None
        entries = [entry for entry in archive.infolist() if entry.filename.endswith(".txt")]
        return {Path(entry.filename).name: lambda _mode, entry=entry: _unpacking(archive, entry) for entry in entries}

    def _pieces(self, name: str) -> Iterator[bytes]:
        """The text of a file in pieces of whole lines."""
        rest = b""
        try:
            with self.files[name]("rb") as file:
                while block := file.read(PIECE):
                    whole, newline, after = block.rpartition(b"\n")
                    if newline:
                        yield rest + whole
                        rest = after
                    else:
                        rest += block
                        if len(rest) > self.left:
                            self.take(len(rest))
        except BROKEN as error:
            if isinstance(error, DataError):
                raise
            raise DataError(f"{name} in {self.path} cannot be unpacked: {error}") from None
        yield rest

    def file(self, what: str) -> str:
        """The name of a file for errors."""
        return f"{self.name}_{what}.txt"

    def numbers(
        self, what: str, kind: type, width: int | None = None, rows: int | None = None, optional: bool = False
    ) -> Any:
        """The numbers of a file, one row per line; None if it is optional and not there."""
        name = self.file(what)
        if name not in self.files:
            if optional:
                return None
            raise DataError(f"{self.path} has no {name}")
        parts, count = [], 0
        for lines in _without_blank_ends(self._pieces(name)):
            width = len(lines[0].replace(b",", b" ").split()) if width is None else width
            parts.append(_parsed(lines, kind, width, f"{name} in {self.path}", count))
            self.take(parts[-1].nbytes)
            count += len(lines)
        if rows is not None and count != rows:
            raise DataError(f"{name} in {self.path} must have {rows} lines, got {count}")
        return np.concatenate(parts) if parts else np.empty((0, width or 1), kind)


def _unpacking(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> IO[bytes]:
    """A file in a zip, to be read piece by piece."""
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        # Python unpacks the others without a limit that could be set.
        raise DataError(
            f"{entry.filename}: is compressed by a method other than deflate; make the zip again with deflate"
        )
    return archive.open(entry)


def _without_blank_ends(pieces: Iterable[bytes]) -> Iterator[list[bytes]]:
    """The lines of each piece, without leading and trailing blank lines."""
    blank, has_begun = 0, False
    for piece in pieces:
        lines = piece.splitlines()
        while lines and not has_begun and not lines[0].strip():
            del lines[0]
        has_begun = has_begun or bool(lines)
        lines = [b""] * blank + lines
        count = len(lines)
        while count and not lines[count - 1].strip():
            count -= 1
        blank = len(lines) - count
        if count:
            yield lines[:count]


def _parsed(lines: list[bytes], kind: type, width: int, where: str, before: int) -> Array:
    """Rows of numbers separated by commas or blanks; `before` counts the lines above."""
    try:
        values = np.array(b" ".join(lines).replace(b",", b" ").split(), dtype=kind)
    except (ValueError, OverflowError):  # not a number, or an integer of more than 64 bits
        values = None
    whole = values is not None and values.size == width * len(lines) and np.isfinite(values).all()
    if not whole or (kind is float and width == 0):
        _complain(lines, kind, width, where, before)
    return cast(Array, values).reshape(len(lines), width)


def _complain(lines: list[bytes], kind: type, width: int, where: str, before: int) -> NoReturn:
    """Raise an error that names the first faulty line."""
    meant = "whole numbers" if kind is int else "finite numbers"
    for number, line in enumerate(lines, before + 1):
        words = line.replace(b",", b" ").split()
        try:
            sound = len(words) == width > 0 and np.isfinite(np.array(words, dtype=kind)).all()
        except (ValueError, OverflowError):
            sound = False
        if not sound:
            shown = line[:40].decode("utf-8", "replace")
            raise DataError(f"{where}, line {number}: {width} {meant} were expected, got {shown!r}")
    raise DataError(f"{where}: every line must have {width} {meant}")


def _require_in_order(graph_of_node: IndexArray, source: _Source) -> int:
    """The number of graphs; they must be 1, 2, ... with the nodes of each together."""
    steps = np.diff(graph_of_node, prepend=graph_of_node[:1] if len(graph_of_node) else [1])
    wrong = np.flatnonzero((graph_of_node < 1) | (steps < 0))
    if len(wrong):
        where = f"{source.file('graph_indicator')} in {source.path}, line {wrong[0] + 1}"
        raise DataError(f"{where}: graphs must be numbered from 1 in ascending order, got {graph_of_node[wrong[0]]}")
    labels = source.numbers("graph_labels", int, optional=True)
    last, most = int(graph_of_node.max(initial=0)), len(graph_of_node) if labels is None else len(labels)
    if last > most:
        # Each number up to the last would be a graph, possibly without nodes: no real set has so many.
        where = f"{source.file('graph_indicator')} in {source.path}, line {len(graph_of_node)}"
        known = f"{most} nodes in all" if labels is None else f"labels of {most} graphs"
        raise DataError(f"{where}: graph {last} was not expected, as there are {known}")
    return max(last, 0 if labels is None else len(labels))


def _require_within(arcs: IndexArray, graph_of_node: IndexArray, source: _Source) -> None:
    where = f"{source.file('A')} in {source.path}, line"
    n = len(graph_of_node)
    outside = np.flatnonzero(((arcs < 1) | (arcs > n)).any(axis=1))
    if len(outside):
        raise DataError(f"{where} {outside[0] + 1}: nodes are 1 to {n}, got {tuple(arcs[outside[0]].tolist())}")
    across = np.flatnonzero(graph_of_node[arcs[:, 0] - 1] != graph_of_node[arcs[:, 1] - 1])
    if len(across):
        raise DataError(f"{where} {across[0] + 1}: nodes {tuple(arcs[across[0]].tolist())} belong to different graphs")


def _split(source: _Source, graph_of_node: IndexArray, n_graphs: int, arcs: IndexArray, directed: bool) -> list[Graph]:
    """The graphs, from arrays that hold all of them."""
    n_nodes, n_arcs = len(graph_of_node), len(arcs)
    node_labels = _labels(source.numbers("node_labels", int, rows=n_nodes, optional=True))
    attributes = source.numbers("node_attributes", float, rows=n_nodes, optional=True)
    edge_labels = _labels(source.numbers("edge_labels", int, rows=n_arcs, optional=True))
    numbers = source.numbers("edge_attributes", float, rows=n_arcs, optional=True)
    kept = _once(arcs, edge_labels, numbers, directed, source)
    graph_of_edge = graph_of_node[arcs[kept, 0]]
    kept = kept[np.argsort(graph_of_edge, kind="stable")]
    nodes = np.searchsorted(graph_of_node, np.arange(1, n_graphs + 2))
    edges = np.searchsorted(np.sort(graph_of_edge), np.arange(1, n_graphs + 2))
    ends = arcs[kept] if directed else np.sort(arcs[kept], axis=1)
    ends = (ends - nodes[graph_of_node[arcs[kept, 0]] - 1][:, None]).astype(np.int32)
    edge_labels = None if edge_labels is None else [edge_labels[arc] for arc in kept]
    numbers = None if numbers is None else numbers[kept]
    return [
        Graph.of_parts(
            int(nodes[number + 1] - nodes[number]),
            ends[edges[number] : edges[number + 1]],
            node_labels=None if node_labels is None else tuple(node_labels[nodes[number] : nodes[number + 1]]),
            edge_labels=None if edge_labels is None else tuple(edge_labels[edges[number] : edges[number + 1]]),
            node_attributes=None if attributes is None else attributes[nodes[number] : nodes[number + 1]],
            edge_attributes=None if numbers is None else numbers[edges[number] : edges[number + 1]],
            directed=directed,
        )
        for number in range(n_graphs)
    ]


def _labels(numbers: Array | None) -> list[Any] | None:
    """A label for each line: its number, or the tuple of them if there are several."""
    if numbers is None:
        return None
    return numbers[:, 0].tolist() if numbers.shape[1] == 1 else list(map(tuple, numbers.tolist()))


def _once(
    arcs: IndexArray, labels: Sequence[Any] | None, numbers: Array | None, directed: bool, source: _Source
) -> IndexArray:
    """Which arcs to keep so that each edge occurs once; both directions must have the same label and numbers."""
    pairs = arcs if directed else np.sort(arcs, axis=1)
    codes = pairs[:, 0] * (arcs.max(initial=0) + 1) + pairs[:, 1]
    _, first, group = np.unique(codes, return_index=True, return_inverse=True)
    if labels is not None:
        for arc, earlier in enumerate(first[group].tolist()):
            if labels[arc] != labels[earlier]:
                where = f"{source.file('edge_labels')} in {source.path}, line {arc + 1}"
                raise DataError(
                    f"{where}: label {labels[arc]}, but line {earlier + 1} labels the same edge {labels[earlier]}"
                )
    if numbers is not None:
        for arc in np.flatnonzero((numbers != numbers[first[group]]).any(axis=1))[:1].tolist():
            where = f"{source.file('edge_attributes')} in {source.path}, line {arc + 1}"
            earlier = first[group[arc]] + 1
            raise DataError(f"{where}: the numbers differ from those in line {earlier}, which is for the same edge")
    return np.sort(first)
