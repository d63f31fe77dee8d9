"""Whether a file is a model, judged by its first bytes: known before anything that computes is imported."""

from pathlib import Path
from typing import Any

from mercer.exchange.model_file.container import MAGIC


def is_model_file(path: Any) -> bool:
    """Whether a path leads to a Mercer model."""
    if not Path(path).is_file():
        return False
    with open(path, "rb") as file:
        return file.read(len(MAGIC)) == MAGIC
