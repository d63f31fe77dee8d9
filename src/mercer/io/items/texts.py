"""Folders of texts: one file per text, one folder per class."""

from collections.abc import Iterable
from pathlib import Path
from sys import getsizeof
from typing import cast

import numpy as np

from mercer._errors import DataError
from mercer._types import Array
from mercer.io.source import Source


def read_text_folder(source: Source) -> tuple[list[str], Array | None, list[str]]:
    """(texts, the class of each or None, names) of the files of a folder.

    The class of a text is its folder. If a folder contains the files themselves, the
    texts have no class. Names that begin with a dot are ignored.
    """
    inside = sorted(each for each in cast(Path, source.path).iterdir() if not each.name.startswith("."))
    folders = [each for each in inside if each.is_dir()]
    files = [each for each in inside if each.is_file()]
    if folders and files:
        raise DataError(
            f"{source.name}: folders of texts, one for each class, or texts alone were expected; "
            f"got both the folder {folders[0].name!r} and the file {files[0].name!r}"
        )
    if files:
        return _texts(files, source), None, [file.name for file in files]
    found = [(folder.name, file) for folder in folders for file in _files(folder)]
    if not found:
        raise DataError(f"{source.name}: there are no texts in its folders")
    labels, paths = zip(*found, strict=True)
    return _texts(paths, source), np.array(labels), [f"{label}/{path.name}" for label, path in found]


def _files(folder: Path) -> list[Path]:
    inside = sorted(each for each in folder.iterdir() if not each.name.startswith("."))
    deeper = next((each for each in inside if not each.is_file()), None)
    if deeper is not None:
        raise DataError(f"{deeper}: a text was expected, got a folder; the folder of a class must contain only texts")
    return inside


def _texts(paths: Iterable[Path], source: Source) -> list[str]:
    texts = []
    room = source.most
    for path in paths:
        file = Source(path, room)
        text = file.text()
        if "\0" in text:
            raise DataError(f"{path}: a text was expected, got a binary file")
        room -= getsizeof(text)
        texts.append(text)
    return texts
