"""Save a fitted model as one file, and load it again: `mercer.save` and `mercer.load`."""

import os
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from os import PathLike
from typing import TYPE_CHECKING, Any, cast

from sklearn.utils.validation import check_is_fitted

import mercer
from mercer._errors import MercerError, ModelFileError, ParameterError
from mercer._types import Array
from mercer.estimators.fitting.certificate import known_certificates
from mercer.exchange.model_file.container import (
    VERSION,
    read_manifest,
    read_model_bytes,
    read_model_file,
    write_model_file,
)
from mercer.exchange.model_file.decode import Reader
from mercer.exchange.model_file.encode import Writer
from mercer.exchange.model_file.registry import kind_of

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

FORMAT = "mercer-model"
_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")
# Python's errors for unforeseen numbers and objects; a stranger's file must not surprise the caller.
_UNFORESEEN = (ArithmeticError, LookupError, TypeError, AttributeError, RecursionError, MemoryError, UnicodeError)
# More feature names than this are stored only in the model, not in its description.
NAMES_SHOWN = 1000


def save(
    model: "BaseEstimator",
    path: str | PathLike[str],
    *,
    kernels: dict[str, Any] | None = None,
    metadata: dict[str, Any] | None = None,
) -> None:
    """Write a fitted model to a file that contains only data.

    The file is written completely or not at all: if the process is killed or the disk is full, an older
    file of that name is still there. The new file is read back before it replaces the old one.

    Parameters
    ----------
    model : estimator
        A Mercer estimator, or a pipeline of scikit-learn's transformers (the user guide lists them) that ends with one.
    path : str or path
        Usually ends in ``.mercer``.
    kernels : dict, optional
        A name for each function of yours in the model (a kernel, a loss), or database: a file cannot
        contain them, so `load` needs them by name.
    metadata : dict, optional
        Anything to keep with the model, as JSON: texts, numbers, lists and dicts of them.

    Notes
    -----
    Support vectors are training rows, and a model file contains them.

    Examples
    --------
    >>> import tempfile
    >>> import mercer
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = mercer.SVC().fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mercer.save(model, f"{folder}/iris.mercer", metadata={"by": "R. A. Fisher"})
    ...     again = mercer.load(f"{folder}/iris.mercer")
    >>> bool((again.decision_function(X) == model.decision_function(X)).all())
    True
    """
    kind = kind_of(model)
    if kind is None or not kind.is_estimator:
        raise ParameterError(
            f"model must be an estimator of Mercer, or a pipeline of one, got a {type(model).__name__}; "
            "those of scikit-learn that can be saved are listed in the user guide"
        )
    check_is_fitted(model)
    given = _checked_names(kernels)
    writer = Writer(given)
    node = writer.node(model)
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "mercer": mercer.__version__,
        "versions": _versions(),
        "created": _now(),
        "about": _about(model),
        "metadata": _plain_json(metadata or {}),
        "given": sorted(writer.used),
        "model": node,
    }
    write_model_file(path, manifest, writer.arrays, check=lambda temporary: _model(*read_model_file(temporary), given))


def load(path: str | PathLike[str], kernels: dict[str, Any] | None = None, *, mapped: bool | None = None) -> Any:
    """Read a model written by `save`; nothing in the file is ever executed.

    Parameters
    ----------
    path : str or path
    kernels : dict, optional
        The functions (or databases) that the model was saved with, by the same names.
    mapped : bool, optional
        Whether large arrays stay in the file and are read when needed, which makes loading
        fast and lets several processes share them; by default for files from 16 MiB. A mapped file must
        not be overwritten in place; `save` never does that.

    Returns
    -------
    estimator
        With the same predictions as the one saved, bit for bit.

    Raises
    ------
    ModelFileError
        If the file is damaged, is not a model file, or contains something that this version does not know.

    Examples
    --------
    See `mercer.save`.

    >>> import mercer
    >>> try:
    ...     mercer.load("/dev/null")
    ... except mercer.ModelFileError as error:
    ...     print(error)
    /dev/null: this is not a Mercer model file: it is a pipe or a device; copy it to a file first
    """
    given = _checked_names(kernels)
    with _errors_naming(os.fspath(path)):
        return _model(*read_model_file(path, mapped), given)


def load_bytes(body: bytes, name: str) -> tuple[Any, dict[str, Any]]:
    """(model, description) of the bytes of a model file; errors call the file `name`."""
    with _errors_naming(name):
        manifest, arrays = read_model_bytes(bytearray(body))
        return _model(manifest, arrays, {}), _description(manifest)


def describe(path: str | PathLike[str]) -> dict[str, Any]:
    """The description in a model file, without loading the model: versions, date, provenance, metadata.

    Examples
    --------
    >>> import tempfile
    >>> import mercer
    >>> from mercer.exchange.model_file.save import describe
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mercer.save(mercer.SVR().fit([[0.0], [1.0]], [0.0, 1.0]), f"{folder}/line.mercer")
    ...     describe(f"{folder}/line.mercer")["about"]["class"]
    'SVR'
    """
    return _description(read_manifest(path))


def _description(manifest: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in _checked_manifest(manifest).items() if name != "model"}


@contextmanager
def _errors_naming(name: str | bytes) -> Iterator[None]:
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"{name!s}: {error}") from error.__cause__


def _model(manifest: dict[str, Any], arrays: Mapping[str, Array], given: Mapping[str, Any]) -> Any:
    node = _checked_manifest(manifest)["model"]
    try:
        model = Reader(arrays, given).value(node)
    except _UNFORESEEN as error:
        raise ModelFileError(f"the file contains an impossible value: {error}") from error
    kind = kind_of(model)
    if kind is None or not kind.is_estimator:
        raise ModelFileError(f"the file holds a {type(model).__name__}, not a model")
    try:
        check_is_fitted(model)
    except Exception as error:
        raise ModelFileError(f"the file holds a {kind.name} that is not fitted") from error
    return model


def _checked_manifest(manifest: dict[str, Any]) -> dict[str, Any]:
    if manifest.get("format") != FORMAT or manifest.get("version") != VERSION or "model" not in manifest:
        raise ModelFileError(f"the manifest must be of format {FORMAT!r}, version {VERSION}, and hold a model")
    return manifest


def _checked_names(kernels: dict[str, Any] | None) -> dict[str, Any]:
    if kernels is None:
        return {}
    if not isinstance(kernels, dict) or not all(isinstance(name, str) for name in kernels):
        raise ParameterError(f"kernels must be a dict of functions by name, got {kernels!r}")
    return kernels


@cache
def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _now() -> str:
    """The time in UTC; SOURCE_DATE_EPOCH makes files reproducible, bit for bit."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    moment = datetime.fromtimestamp(int(given), UTC) if given else datetime.now(UTC)
    return moment.isoformat(timespec="seconds")


def _about(model: "BaseEstimator") -> dict[str, Any]:
    """What someone who finds the file may want to know first."""
    last = model.steps[-1][1] if hasattr(model, "steps") and isinstance(model.steps, list) else model
    about = cast(dict[str, Any], {"class": type(model).__name__, "estimator": type(last).__name__})
    for name, key in (("n_features_in_", "n_features"), ("shape_fit_", "shape_fit"), ("status_", "status")):
        value = getattr(model, name, getattr(last, name, None))
        if value is not None:
            about[key] = value.name if key == "status" else _plain_json(value)
    names = getattr(model, "feature_names_in_", None)
    if names is not None and len(names) <= NAMES_SHOWN:
        about["feature_names"] = [str(name) for name in names]
    if hasattr(last, "classes_") and len(last.classes_) <= NAMES_SHOWN:
        about["classes"] = [str(label) for label in last.classes_]
    about["certificate"] = _certificates(last)
    return about


def _certificates(model: "BaseEstimator") -> list[dict[str, Any]] | None:
    """The certificates as plain numbers; None if there are none."""
    try:
        found = known_certificates(model)
    except (MercerError, AttributeError):
        return None
    each = found if isinstance(found, list) else [found]
    shown = [_numbers_of(one) for one in each[:NAMES_SHOWN] if one is not None]
    return shown or None


def _numbers_of(certificate: object) -> dict[str, Any]:
    values = vars(certificate).items()
    numbers = {name: _json_number(value) for name, value in values if isinstance(value, (int, float))}
    return {**numbers, "basis": certificate.basis} if hasattr(certificate, "basis") else numbers


def _json_number(value: float) -> int | float | str:
    """A JSON number, or the name of infinity or NaN."""
    value = value if isinstance(value, int) else float(value)
    return value if value == value and abs(value) != float("inf") else repr(value)  # noqa: PLR0124 - NaN


def _plain_json(value: Any) -> Any:
    """`value` as JSON, or an error that says what cannot be stored."""
    if getattr(value, "ndim", None) == 0:  # a number of NumPy's
        value = value.item()
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (int, float)):
        return _json_number(value)
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _plain_json(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain_json(entry) for entry in value]
    raise ParameterError(f"metadata must be texts, numbers, lists and dicts of them, got a {type(value).__name__}")
