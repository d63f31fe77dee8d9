"""A file in which one fitted attribute is missing, or is something else: it is refused, or the model answers."""

import contextlib
import warnings

import pytest

import mercer
from mercer import MercerError, ModelFileError
from tests.exchange.model_file import forging
from tests.exchange.model_file.test_round_trip import ESTIMATORS, data, fitted, made, target
from tests.exchange.sameness import METHODS

# What a sound model may say of numbers that are not its own; another error would tell of a file that got through.
ANSWERS = (MercerError, ValueError, ArithmeticError)


def saved(name, path):
    """A model of this class, and its file taken apart."""
    X, y = data(24)
    model = made(name)
    fitted(model, X, target(model, X, y))
    mercer.save(model, path)
    return model, forging.parts_of(path)


def forgeries(manifest):
    """The manifest without each of the fitted attributes, and with other values of it."""
    for attribute in manifest["model"]["state"]:
        place = ("model", "state", attribute)
        yield forging.removed(manifest, place)
        yield from (forging.changed(manifest, place, value) for value in (None, 7, "x", []))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_file_with_one_attribute_amiss_is_refused_or_answers(name, tmp_path):
    model, (manifest, arrays) = saved(name, tmp_path / "sound")
    methods, X, refused = [method for method in METHODS if hasattr(model, method)], data(24)[0], 0
    for forgery in forgeries(manifest):
        try:
            found = mercer.load(forging.forged(tmp_path / "m", forgery, arrays))
        except ModelFileError:
            refused += 1
            continue
        for method in methods:
            with contextlib.suppress(*ANSWERS), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                getattr(found, method)(X)
    assert refused > 10
