"""What blocks have to be learnt from: the names of their columns, labels or quantities, and weights."""

from typing import Any

import numpy as np

from mercer._errors import DataError
from mercer._types import Array, FloatArray, IndexArray
from mercer.estimators.fitting.inputs import LARGEST_TARGET, classes_and_codes
from mercer.estimators.out_of_core.first_pass import all_labels, all_targets
from mercer.io.blocks.blocks import Blocks


def note_columns(model: Any, blocks: Blocks) -> None:
    """Record the number of columns of blocks, and their names."""
    vars(model).pop("feature_names_in_", None)
    model.n_features_in_ = blocks.n_columns
    if blocks.names is not None:
        model.feature_names_in_ = np.array(blocks.names, dtype=object)


def labels_of(blocks: Blocks, n_jobs: int | None, stop: Any) -> tuple[Array, IndexArray, FloatArray | None]:
    """(classes, the index of each row's label among them, weights or None), from a pass over the targets alone."""
    found, weights = all_labels(blocks, n_jobs, stop)
    classes = np.unique(np.concatenate([labels for labels, _ in found]))
    if classes.dtype.kind == "f" and not (classes == np.rint(classes)).all():
        raise DataError("Unknown label type: the targets are quantities, not classes; LinearSVR learns them")
    classes_and_codes(classes)  # refuses one class
    codes = np.concatenate([np.searchsorted(classes, labels)[places].astype(np.int32) for labels, places in found])
    return classes, codes, weights


def targets_of(blocks: Blocks, n_jobs: int | None, stop: Any) -> tuple[FloatArray, FloatArray | None]:
    """(targets of all rows as numbers, weights or None), from a pass over the targets alone."""
    parts, weights = all_targets(blocks, n_jobs, stop)
    if parts[0].dtype.kind == "U":
        raise DataError(f"{blocks.place(0)}: the target must hold numbers, got texts such as {parts[0][0]!r}")
    y = np.concatenate(parts).astype(np.float64)
    if not np.abs(y).max(initial=0.0) < LARGEST_TARGET:
        raise DataError(f"targets must be finite and below {LARGEST_TARGET:g} in absolute value; scale them")
    return y, weights
