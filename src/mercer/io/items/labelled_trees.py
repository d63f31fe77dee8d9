"""Bracketed trees with a label in front: ``question (S (WH who) (VP came))``, one per line."""

import re
from typing import TYPE_CHECKING

import numpy as np

from mercer._errors import DataError
from mercer._types import Array
from mercer.io.items.trees import NODE, TREE, read_brackets

if TYPE_CHECKING:
    from mercer.io.source import Source
    from mercer.kernels.tree.tree import Tree

_LINE = re.compile(r"\s*([^\s()]*)\s*(\(.*)", re.DOTALL)


def read_labelled_trees(source: "Source") -> "tuple[list[Tree], Array | None]":
    """(trees, the label of each or None) of the lines of a `Source`; either all have a label or none has."""
    trees, labels, size = [], [], 0
    for number, line in source.lines():
        if line.strip():
            # Before parsing: the text shows how many nodes there may be.
            size += TREE + NODE * (line.count("(") + line.count(" ")) + len(line)
            source.require_room(size)
            label, tree = _line(line, number, source.name)
            if trees and bool(label) != bool(labels[-1]):
                meant = "a label before the tree" if labels[-1] else "no label before the tree"
                raise DataError(f"{source.name}, line {number}: {meant} was expected, as in the lines above")
            trees.append(tree)
            labels.append(label)
    if not trees:
        raise DataError(f"{source.name}: there are no trees")
    return trees, np.array(labels) if labels[0] else None


def _line(line: str, number: int, name: str) -> "tuple[str, Tree]":
    found = _LINE.fullmatch(line)
    if found is None:
        raise DataError(
            f"{name}, line {number}: a label and a tree in brackets were expected, got {line.strip()[:40]!r}"
        )
    try:
        trees = read_brackets(found[2])
    except DataError as error:
        raise DataError(f"{name}, line {number}: {error}") from error
    if len(trees) != 1:
        raise DataError(f"{name}, line {number}: one tree was expected, got {len(trees)}")
    return found[1], trees[0]
