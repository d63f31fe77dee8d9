"""Notes that a reader makes about a column: what it understood, and what it was not sure about."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ColumnNote:
    """A note about one column of a table.

    Attributes
    ----------
    name : str
        The column.
    kind : {"numbers", "ambiguous", "mixed", "empty"}
        "numbers": they are written in an unusual way, and were understood. "ambiguous": they can be read in two
        ways, and the text says which was chosen. "mixed": they look like numbers, but not of one kind, and were left as
        texts. "empty": no row has a value.
    text : str
        A phrase, such as "read as numbers: 1.234,56 -> 1234.56".
    """

    name: str
    kind: str
    text: str

    def __str__(self) -> str:
        return f"column {self.name!r}: {self.text}"


class AmbiguousNumbersWarning(UserWarning):
    """Numbers in a text file can be read in two ways; the message says which was chosen, and how to choose."""
