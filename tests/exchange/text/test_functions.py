"""Functions of the user's are not saved: they have a name in the file and are given again."""

import numpy as np
import pytest

import mercer
from mercer import SVC, SVDD, CustomLoss, KernelMachine, KernelRidge
from mercer import kernels as k
from tests.exchange.sameness import same, same_answers


def inner(X, Y):
    return np.asarray(X) @ np.asarray(Y).T


def power(x, y, exponent=1):
    return float(np.dot(x, y) + 1.0) ** exponent


def pieces(text):
    return text.split("-")


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(30, 3))
    return X, (X[:, 0] > 0).astype(int)


CASES = {
    "function": (lambda: SVC(kernel=inner), {"inner": inner}),
    "function, in parts": (lambda: SVC(kernel=inner, memory_limit=13_000_000), {"inner": inner}),
    "custom": (lambda: SVC(kernel=k.Custom(inner)), {"inner": inner}),
    "custom, combined": (lambda: SVC(kernel=2.0 * k.Custom(inner).normalized() + k.Custom(inner)), {"inner": inner}),
    "pairs": (lambda: KernelRidge(kernel=power), {"power": power}),
    "pairs with arguments": (lambda: KernelRidge(kernel=power, kernel_params={"exponent": 2}), {"power": power}),
    "ball": (lambda: SVDD(kernel=inner), {"inner": inner}),
}


@pytest.mark.parametrize("name", CASES)
def test_a_kernel_that_is_a_function(name, rows, tmp_path):
    X, y = rows
    make, functions = CASES[name]
    model = make().fit(X, y)
    path = tmp_path / "model.mercer"
    with pytest.raises(mercer.ParameterError, match=r"is a function, which a model file cannot hold; name it"):
        mercer.save(model, path)
    assert not list(tmp_path.iterdir())
    mercer.save(model, path, kernels=functions)
    again = mercer.load(path, kernels=functions)
    # Other rows: the product of a matrix with itself is another routine, with other last bits.
    same_answers(model, again, X + 0.5)
    only = next(iter(functions))
    for given in (None, {}, {"other": inner}):
        with pytest.raises(mercer.ParameterError, match=rf"kernels={{'{only}'"):
            mercer.load(path, kernels=given)


def test_a_tokenizer_that_is_a_function(tmp_path):
    texts = ["a-b-c", "a-c", "b-b", "c-a-b"]
    model = SVC(kernel=k.Spectrum(2, tokenizer=pieces)).fit(texts, [0, 1, 0, 1])
    with pytest.raises(mercer.ParameterError, match="'pieces' is a function"):
        mercer.save(model, tmp_path / "m")
    mercer.save(model, tmp_path / "m", kernels={"pieces": pieces})
    same_answers(model, mercer.load(tmp_path / "m", {"pieces": pieces}), texts)


def squares(r):
    return r**2


def twice(r):
    return 2.0 * r


def test_a_loss_of_functions(rows, tmp_path):
    X, _ = rows
    model = KernelMachine(loss=CustomLoss(squares, twice), task="regression").fit(X, X[:, 1])
    with pytest.raises(mercer.ParameterError, match="'squares' is a function"):
        mercer.save(model, tmp_path / "m")
    given = {"loss": squares, "slope": twice}
    mercer.save(model, tmp_path / "m", kernels=given)
    same_answers(model, mercer.load(tmp_path / "m", given), X)


def test_a_kernel_of_another_class_is_given_again(rows, tmp_path):
    class Mine(k.Linear):
        """A kernel that a file does not know."""

    X, y = rows
    model = SVC(kernel=Mine()).fit(X, y)
    with pytest.raises(mercer.ParameterError, match="class Mine cannot be saved"):
        mercer.save(model, tmp_path / "m")
    mercer.save(model, tmp_path / "m", kernels={"mine": Mine()})
    same_answers(model, mercer.load(tmp_path / "m", {"mine": Mine()}), X)


def test_what_is_given_must_have_names(rows, tmp_path):
    X, y = rows
    with pytest.raises(mercer.ParameterError, match="kernels must be a dict"):
        mercer.save(SVC().fit(X, y), tmp_path / "m", kernels=[inner])
    with pytest.raises(mercer.ParameterError, match="kernels must be a dict"):
        mercer.load(tmp_path / "m", kernels={1: inner})


def test_a_file_says_what_it_will_ask_for(rows, tmp_path):
    from mercer.exchange.model_file.save import describe

    X, y = rows
    mercer.save(SVC(kernel=inner).fit(X, y), tmp_path / "m", kernels={"inner": inner, "unused": power})
    assert describe(tmp_path / "m")["given"] == ["inner"]
    same(mercer.load(tmp_path / "m", {"inner": inner}).kernel, inner)
