"""What a loaded model has instead of the objects of its fit."""

from typing import Any


class Recorded:
    """The traces of a fit, asked for as those of a fit are: by a call.

    Examples
    --------
    >>> from mercer.exchange.model_file.recorded import Recorded
    >>> Recorded([["first round"]])()
    [['first round']]
    """

    def __init__(self, values: list[Any]) -> None:
        self.values = values

    def __call__(self) -> list[Any]:
        return self.values
