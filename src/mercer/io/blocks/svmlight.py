"""svmlight files as blocks: an index of the bytes where blocks begin, and each read by itself."""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from scipy import sparse

from mercer._errors import DataError
from mercer._types import FloatArray
from mercer.io.blocks.reader import joined
from mercer.io.compressed import OPENERS, open_bytes
from mercer.io.svmlight.table import ANY_WIDTH, CHUNK, Layout, Table, chunks_of, tables_of

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


# Default bytes of text of a block.
BLOCK_BYTES = 2**25


@dataclass(frozen=True)
class _Piece:
    """Whole lines of a file: offset, number of bytes and lines, and contents."""

    begin: int
    size: int
    lines: int
    rows: int
    width: int


class SvmlightFiles:
    """Blocks (CSR rows, labels) of svmlight files; a compressed one cannot be read from its middle and is one block."""

    is_sparse, has_targets = True, True

    def __init__(
        self, paths: Sequence[Path], block_rows: int | None, n_features: int | None = None, zero_based: bool = False
    ) -> None:
        self.paths, self.n_bytes = [Path(path) for path in paths], sum(Path(path).stat().st_size for path in paths)
        self._layout = Layout(first=0 if zero_based else 1, n_features=n_features or ANY_WIDTH)
        self._blocks: list[tuple[int, _Piece, int]] = []  # (file, lines, lines before)
        width = 1
        for k, path in enumerate(self.paths):
            pieces = list(self._pieces(path, block_rows))
            if not sum(piece.rows for piece in pieces):
                raise DataError(f"{path}: the file has no rows")
            width = max(width, *(piece.width for piece in pieces))
            before, weights = 0, [piece.size if block_rows is None else piece.rows for piece in pieces]
            most = sum(weights) if path.suffix.lower() in OPENERS else block_rows or BLOCK_BYTES
            for begin, end in joined(weights, most):
                block = _united(pieces[begin:end])
                self._blocks.append((k, block, before))
                before += block.lines
        self.n_features = n_features or width
        self.sizes = [piece.rows for _, piece, _ in self._blocks]

    def _pieces(self, path: Path, block_rows: int | None) -> Iterator[_Piece]:
        place, lines = 0, 0
        with open_bytes(path) as file:
            # A block should not be much larger than requested, however long its lines are.
            for text in chunks_of(file, str(path), CHUNK if block_rows is None else min(CHUNK, 64 * block_rows)):
                count = text.count(b"\n")
                tables = list(tables_of(io.BytesIO(text), str(path), self._layout, len(text), lines))
                rows, width = sum(map(len, tables)), max((table.width for table in tables), default=0)
                yield _Piece(place, len(text), count, rows, width)
                place, lines = place + len(text), lines + count

    def matrix(self, i: int) -> "csr_matrix":
        table = self._table(i)
        return sparse.csr_matrix((table.values, table.indices, table.indptr), shape=(len(table), self.n_features))

    def targets(self, i: int) -> tuple[FloatArray, None]:
        return self._table(i).labels[:, 0], None

    def _table(self, i: int) -> Table:
        k, piece, lines = self._blocks[i]
        with open_bytes(self.paths[k]) as file:
            file.seek(piece.begin)
            text = file.read(piece.size)
        found = list(tables_of(io.BytesIO(text), str(self.paths[k]), self._layout, max(1, len(text)), lines))
        if sum(map(len, found)) != piece.rows:
            raise DataError(f"{self.place(i)}: {piece.rows} rows were expected; was the file changed meanwhile?")
        return Table.joined(found)

    def place(self, i: int, row: int | None = None) -> str:
        k, _, lines = self._blocks[i]
        where = f", row {row} of the block" if row is not None else ""
        return f"block {i}, {self.paths[k]}, from line {lines + 1}{where}"


def _united(pieces: Sequence[_Piece]) -> _Piece:
    size, lines, rows = (sum(getattr(piece, name) for piece in pieces) for name in ("size", "lines", "rows"))
    return _Piece(pieces[0].begin, size, lines, rows, max(piece.width for piece in pieces))
