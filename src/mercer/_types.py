"""Names for the types that signatures share: arrays, rows, and what a user may hand over for either."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike as ArrayLike  # noqa: PLC0414 - this way it is exported
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
"""An array of any dtype, where the dtype is a parameter (float32 and float64 share one source)."""

FloatArray: TypeAlias = NDArray[np.floating[Any]]
"""Numbers in single or double precision."""

IndexArray: TypeAlias = NDArray[np.integer[Any]]
"""Places in another array."""

BoolArray: TypeAlias = NDArray[np.bool_]
"""A mask."""

Rows: TypeAlias = Any
"""Items to learn from as a user has them: an array, a SciPy matrix, a data frame, or a sequence of objects."""

Labels: TypeAlias = ArrayLike
"""Targets as a user has them."""

Items: TypeAlias = Sequence[Any]
"""Objects of one kind: texts, trees, graphs, records."""
