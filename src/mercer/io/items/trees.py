"""Trees from documents: Penn brackets, XML, HTML and JSON.

A `str` or `bytes` is the document itself; a path (``pathlib.Path``) or an open file is read,
compressed (.gz, .xz, .bz2) or not. Every reader keeps an explicit stack, so
documents may be as deep as memory allows.
"""

import lzma
import os
import zlib
from collections.abc import Iterable
from html.parser import HTMLParser
from os import PathLike
from typing import IO, Any, NoReturn, cast
from xml.parsers import expat

from mercer._errors import DataError
from mercer._jit.memory import available_bytes, parse_bytes
from mercer.io.compressed import open_bytes
from mercer.io.items.json_tree import read_json_nodes
from mercer.kernels.tree.bracket_notation import read_all
from mercer.kernels.tree.tree import Tree

# Approximate memory of a tree, and of each of its nodes.
TREE, NODE = 500, 100
# Memory that a byte of a document may take as part of a tree: in JSON three of them are a node.
_IN_MEMORY = NODE // 2
PIECE = 2**20

# Elements without an end tag, and those that end where another of the same kind begins.
_VOID = {
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
}  # fmt: skip
_ENDED_BY = {
    "li": {"li"}, "p": {"p", "div", "ul", "ol", "table", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "form"},
    "tr": {"tr"}, "td": {"td", "th", "tr"}, "th": {"td", "th", "tr"}, "dt": {"dt", "dd"}, "dd": {"dt", "dd"},
    "option": {"option"},
}  # fmt: skip
_NOT_TEXT = ("script", "style")


class _Nodes:
    """A tree under construction: labels and numbers of children in preorder, and the open nodes."""

    def __init__(self, is_text: bool, is_attribute: bool) -> None:
        self.labels, self.counts, self.open = [], [], []
        self.is_text, self.is_attribute = is_text, is_attribute

    def begin(self, label: str, attributes: Iterable[tuple[str, str | None]] = ()) -> None:
        if self.open:
            self.counts[self.open[-1]] += 1
        self.open.append(len(self.labels))
        self.labels.append(label)
        self.counts.append(0)
        if self.is_attribute:
            for name, value in sorted(attributes):
                self.begin("@" + name)
                self.leaf(value or "")
                self.end()

    def end(self) -> None:
        self.open.pop()

    def leaf(self, label: str) -> None:
        self.begin(label)
        self.end()

    def words(self, text: str) -> None:
        if self.is_text and self.open:
            for word in text.split():
                self.leaf(word)

    def tree(self) -> Tree:
        return Tree.from_preorder(self.labels, self.counts)


def read_brackets(
    source: str | bytes | PathLike[str] | IO[Any], *, memory_limit: int | str | None = None
) -> list[Tree]:
    """Read all trees of a document in Penn brackets.

    Parameters
    ----------
    source : str, bytes, path or open file
        Trees may be on one line or on several.
    memory_limit : int or str, optional
        Bytes (or "2GiB") that the document and its tree may take; by default, the free memory.

    Returns
    -------
    list of Tree

    Examples
    --------
    >>> from mercer.io import read_brackets
    >>> [len(tree) for tree in read_brackets("(S (NP I) (VP go)) (S (VP go))")]
    [5, 3]
    """
    return [Tree.from_preorder(*nodes) for nodes in read_all(_text(source, memory_limit))]


def read_xml(
    source: str | bytes | PathLike[str] | IO[Any],
    *,
    text: bool = True,
    attributes: bool = True,
    memory_limit: int | str | None = None,
) -> Tree:
    """Read an XML document as a tree.

    Elements are nodes. An attribute is a child ``@name`` whose leaf is its value; the words of
    a text are leaves. Documents that declare entities are refused, because they can be made to grow
    without bound, or to read other files.

    Parameters
    ----------
    source : str, bytes, path or open file
    text, attributes : bool
        False leaves them out.
    memory_limit : int or str, optional
        Bytes (or "2GiB") that the document and its tree may take; by default, the free memory.

    Returns
    -------
    Tree

    Examples
    --------
    >>> from mercer.io import read_xml
    >>> print(read_xml('<book lang="en"><title>On trees</title></book>'))
    (book (@lang en) (title On trees))
    """
    nodes = _Nodes(text, attributes)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = lambda name, given: nodes.begin(name, given.items())
    parser.EndElementHandler = lambda _: nodes.end()
    parser.CharacterDataHandler = nodes.words
    parser.EntityDeclHandler = _refuse_entity
    try:
        parser.Parse(source if isinstance(source, str) else _bytes(source, memory_limit), True)
    except expat.ExpatError as error:
        message = expat.ErrorString(error.code)
        raise DataError(f"not well-formed XML: {message} at line {error.lineno}, column {error.offset}") from error
    return nodes.tree()


def _refuse_entity(name: str, *_: object) -> NoReturn:
    raise DataError(f"the XML document declares the entity {name!r}, which is refused; expand its entities first")


class _HTML(HTMLParser):
    """Elements as they come; anything left open ends with its parent."""

    def __init__(self, nodes: _Nodes) -> None:
        super().__init__(convert_charrefs=True)
        self.nodes, self.names = nodes, []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        while self.names and tag in _ENDED_BY.get(self.names[-1], ()):
            self._close()
        self.nodes.begin(tag, attrs)
        self.names.append(tag)
        if tag in _VOID:
            self._close()

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self._close()

    def handle_endtag(self, tag: str) -> None:
        if tag in self.names:
            while self.names[-1] != tag:
                self._close()
            self._close()

    def handle_data(self, data: str) -> None:
        if not self.names or self.names[-1] not in _NOT_TEXT:
            self.nodes.words(data)

    def parse_marked_section(self, i: int, report: int = 1) -> int:
        """Anything after ``<![`` that is not a section is a comment up to the next ``>``, as in browsers."""
        try:
            return super().parse_marked_section(i, cast(bool, report))
        except AssertionError:  # raised by Python up to 3.13
            return self.rawdata.find(">", i) + 1 or -1

    def _close(self) -> None:
        self.names.pop()
        self.nodes.end()


def read_html(
    source: str | bytes | PathLike[str] | IO[Any],
    *,
    text: bool = True,
    attributes: bool = False,
    memory_limit: int | str | None = None,
) -> Tree:
    """Read an HTML page as a tree, as forgiving as browsers are about missing end tags.

    The root is a node ``#document``; scripts and styles keep their node but not their text.

    Parameters
    ----------
    source : str, bytes, path or open file
        Bytes are read as UTF-8.
    text, attributes : bool
        Whether words and attributes (as in `read_xml`) become nodes.
    memory_limit : int or str, optional
        Bytes (or "2GiB") that the document and its tree may take; by default, the free memory.

    Returns
    -------
    Tree

    Examples
    --------
    >>> from mercer.io import read_html
    >>> print(read_html("<ul><li>one<li>two</ul>"))
    (#document (ul (li one) (li two)))
    """
    nodes = _Nodes(text, attributes)
    nodes.begin("#document")
    parser = _HTML(nodes)
    parser.feed(_text(source, memory_limit))
    parser.close()
    return nodes.tree()


def read_json(source: str | bytes | PathLike[str] | IO[Any], *, memory_limit: int | str | None = None) -> Tree:
    """Read a JSON document as a tree.

    An object is a node ``{}`` with a child for each key, sorted, whose child is the value; an
    array is a node ``[]``; strings, numbers, true, false and null are leaves.

    Parameters
    ----------
    source : str, bytes, path or open file
    memory_limit : int or str, optional
        Bytes (or "2GiB") that the document and its tree may take; by default, the free memory.

    Returns
    -------
    Tree

    Examples
    --------
    >>> from mercer.io import read_json
    >>> print(read_json('{"name": "Ada", "born": [1815, 12]}'))
    ({} (born ([] 1815 12)) (name Ada))
    """
    return Tree.from_preorder(*read_json_nodes(_text(source, memory_limit)))


def _bytes(source: str | bytes | PathLike[str] | IO[Any], memory_limit: int | str | None) -> bytes:
    if isinstance(source, (bytes, bytearray)):
        content = bytes(source)
    elif isinstance(source, os.PathLike):
        with open_bytes(source) as file:
            content = _bounded(file, source, memory_limit)
    elif hasattr(source, "read"):
        content = source.read()
        content = content.encode() if isinstance(content, str) else content
    else:
        raise DataError(f"source must be a document, a path or an open file, got {type(source).__name__}")
    return content


def _bounded(file: IO[bytes], name: object, memory_limit: int | str | None) -> bytes:
    """All of a file, read piece by piece so that one that unpacks to too much is refused on the way."""
    most = available_bytes() if memory_limit is None else parse_bytes(memory_limit)
    pieces, size = [], 0
    try:
        while piece := file.read(PIECE):
            size += len(piece)
            if size * _IN_MEMORY > most:
                raise DataError(
                    f"{name}: a tree of more than {size:,} bytes of text does not fit into {most:,} bytes of memory; "
                    "read a part of it, or allow more (memory_limit)"
                )
            pieces.append(piece)
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        raise DataError(f"{name}: cannot be read to its end: {error}") from error
    return b"".join(pieces)


def _text(source: str | bytes | PathLike[str] | IO[Any], memory_limit: int | str | None) -> str:
    if isinstance(source, str):
        return source
    content = _bytes(source, memory_limit)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"the document is not UTF-8: {error.reason} at byte {error.start}; decode it first") from error
