"""What a loaded model has in place of the objects of its fit."""

from typing import Any


class Recorded:
    """The traces of a fit, returned by a call like those of a live fit.

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
