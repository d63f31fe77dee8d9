"""The private parts of a fitted model: the only access to them for packages that build models from others.

A model that comes from a file, from another library or from a larger model is not fitted, so it is given its parts.

| part | what it is |
|---|---|
| `calibration` | what turns decision values into probabilities, or None |
| `conformity` | what prediction sets and intervals are made of |
| `constant`, `centre` | of a ball: k(x, x) where it is the same for all x, and the squared norm of the centre |
| `evidence`, `proof` | the certificate to be, or why there is none |
| `factor` | of landmarks: the Cholesky factor of their kernel matrix |
| `form` | of Pegasos: its run, which can be continued |
| `has_pairs` | whether there is a function for each pair of classes |
| `is_flat` | whether targets were one column, without a second dimension |
| `items` | training items of a kernel that is a Python function, or None |
| `kernel`, `origin`, `vectors` | of landmarks: their kernel, what is subtracted from rows, and the landmarks |
| `last`, `last_betas` | where a warm start begins, or None |
| `missing` | how much of the spectrum was not computed |
| `n_features_out` | how many columns a transformation gives |
| `rule` | of a discriminant: means and priors of the classes |
| `sparse` | whether coefficients are kept as a sparse matrix |
| `traces` | the traces of the solvers |
"""

from typing import Any

PARTS = frozenset({
    "calibration", "centre", "conformity", "constant", "evidence", "factor", "form", "has_pairs", "is_flat", "items",
    "kernel", "last", "last_betas", "missing", "n_features_out", "origin", "proof", "rule", "sparse", "traces",
    "vectors",
})  # fmt: skip
_REQUIRED = object()


def part(model: Any, name: str, default: Any = _REQUIRED) -> Any:
    """A part of a fitted model; `default`, if given, where it has none."""
    attribute = _attribute(name)
    return getattr(model, attribute) if default is _REQUIRED else getattr(model, attribute, default)


def set_parts(model: Any, **parts: Any) -> None:
    """Set the parts of a model that a fit would have set."""
    for name, value in parts.items():
        setattr(model, _attribute(name), value)


def drop_part(model: Any, name: str) -> None:
    """Remove a part that no longer holds for the model."""
    vars(model).pop(_attribute(name), None)


def _attribute(name: str) -> str:
    if name not in PARTS:
        raise KeyError(f"no fitted model has a part {name!r}; the parts are {', '.join(sorted(PARTS))}")
    return f"_{name}"
