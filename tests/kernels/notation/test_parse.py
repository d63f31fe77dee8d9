"""Kernels written as text: what is understood, and what is refused and where."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer import kernels
from mercer._errors import ParameterError
from mercer.kernels import (
    RBF,
    Centered,
    Columns,
    Constant,
    Delta,
    Linear,
    Matern,
    Mismatch,
    Normalized,
    On,
    Polynomial,
    Scaled,
    ShortestPath,
    Spectrum,
    Sum,
    WeisfeilerLehman,
    kernel_names,
    parse,
)


@pytest.mark.parametrize(
    ("text", "kernel"),
    [
        ("rbf(gamma=0.1)", RBF(gamma=0.1)),
        ("RBF(0.1)", RBF(gamma=0.1)),
        ("rbf", RBF(gamma="scale")),
        ("rbf(gamma=auto)", RBF(gamma="auto")),
        (" poly ( 2 , coef0 = -1.5e0 ) ", Polynomial(degree=2, gamma="scale", coef0=-1.5)),
        ("matern(nu=inf_)", None),
        ("Rational_Quadratic", kernels.RationalQuadratic()),
        ("wl(iterations=2, edge_labels=true)", WeisfeilerLehman(iterations=2, edge_labels=True)),
        ("spectrum(k=3)@text", On("text", Spectrum(length=3))),
        ("spectrum(length=[2, 4], tokenizer='words')", Spectrum(length=(2, 4), tokenizer="words")),
        ("mismatch(alphabet=none)", Mismatch()),
        ("rbf(gamma=0.1) + 2*spectrum(k=3)@text", RBF(gamma=0.1) + 2 * On("text", Spectrum(length=3))),
        ("linear + linear * linear ^ 2", Linear() + Linear() * Linear() ** 2),
        ("(linear + 1) ** 2", (Linear() + 1) ** 2),
        ("1 + linear", Constant(1) + Linear()),
        ("2 * 3 * linear", 6 * Linear()),
        ("linear.normalized().centered()", Centered(Normalized(Linear()))),
        ("linear@a.normalized()", Normalized(On("a", Linear()))),
        ('linear@[a, \'b c\', "d\\"e"]', On(["a", "b c", 'd"e'], Linear())),
        ("delta@0", On(0, Delta())),
        ("linear@Größe", On("Größe", Linear())),
        ("on(column=age, kernel=rbf(gamma=1), missing=0.5)", On("age", RBF(gamma=1), missing=0.5)),
        ("shortest_path(attributes=rbf(2))", ShortestPath(attributes=RBF(gamma=2))),
        ("matern(nu=inf)", Matern(nu=math.inf)),
        ("spectrum(length=(2, 4))", Spectrum(length=(2, 4))),
        ("mismatch(alphabet=['a', 'c',])", Mismatch(alphabet=["a", "c"])),
        (r"linear@'a\tb\x41\u00df\'\\'", On("a\tbAß'\\", Linear())),
        ("Sum((Linear(),))", Sum((Linear(),))),
        ("scaled(2, 3*linear)", Scaled(2, 3 * Linear())),
        ("shortest_path(attributes=(rbf(2) + linear) * 2)", ShortestPath(attributes=(RBF(2) + Linear()) * 2)),
        ("columns({age: rbf(1), 'home town': delta})", Columns({"age": RBF(gamma=1), "home town": Delta()})),
    ],
)
def test_understood(text, kernel):
    if kernel is None:
        with pytest.raises(ParameterError, match="nu"):
            parse(text)
    else:
        assert parse(text) == kernel


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "character 1: expected a kernel, got the end"),
        ("rfb", "character 1: no kernel is called 'rfb'; did you mean 'rbf'"),
        ("linear + spektrum(k=3)", "character 10: no kernel is called 'spektrum'; did you mean 'spectrum'"),
        ("zzz", "there are .*rbf"),
        ("rbf(gama=1)", "character 5: 'gama' is not a parameter of rbf, which has gamma"),
        ("rbf(gamma=)", "character 11: expected a value, got '\\)'"),
        ("rbf(1, 2)", "character 8: '2' is not a parameter of rbf"),
        ("rbf(1, gamma=2)", "character 8: rbf is given gamma twice"),
        ("rbf(gamma=-1)", "gamma must be positive, got -1"),
        ("rbf(gamma=1 2)", "character 13: expected ',' or '\\)', got '2'"),
        ("rbf +", "character 6: expected a kernel, got the end"),
        ("rbf rbf", "character 5: expected '\\+'"),
        ("(rbf", "character 5: expected '\\)', got the end"),
        ("rbf)", "character 4: expected '\\+'"),
        ("linear^rbf", "character 8: expected a number after '\\^'"),
        ("linear^-1", "exponent"),
        ("linear.shifted()", "character 8: expected normalized\\(\\) or centered\\(\\), got 'shifted'"),
        ("linear.", "got the end"),
        ("rbf@", "character 5: expected the name or the number of a column"),
        ("rbf@2.5", "character 5: expected the name or the number of a column"),
        ("2@x", "character 2: expected '\\+' or '\\*' after a number"),
        ("3 + 4", "expected a kernel, got 7"),
        ("-1 * rbf", "factor"),
        ("1e999 * rbf", "finite"),
        ("rbf^" + "9" * 9000, "may have at most 18 digits, got 9000"),
        ("rbf@" + "9" * 9000, "may have at most 18 digits, got 9000"),
        ("on([a b], rbf)", "character 7: expected ',' or '\\]', got 'b'"),
        ("spectrum(length=(2, 4)", "character 23: expected ',' or '\\)', got the end"),
        ("rbf; linear", "character 4: ';' has no meaning here"),
        ("'rbf'", "expected a kernel"),
        ("diffusion(beta=1)", "no kernel is called 'diffusion'"),
        ("on(rbf)", "on needs kernel"),
        ("columns(3)", "kernels must be a dict"),
        ("columns({age: 3})", "the kernel of column 'age'"),
        ("shortest_path(attributes=2)", "attributes"),
        ("(" * 60 + "rbf" + ")" * 60, "nested more than 50 deep"),
        ("rbf(" * 60, "nested more than 50 deep|expected"),
        ("rbf+" * 5000, "may have at most 10000 characters"),
        ("__import__('os').system('true')", "no kernel is called '__import__'"),
        ("rbf.__class__()", "expected normalized"),
    ],
)
def test_refused_with_the_place(text, reason):
    with pytest.raises(ParameterError, match=reason):
        parse(text)


def test_not_a_string():
    with pytest.raises(ParameterError, match="must be a string, got 3"):
        parse(3)


def test_every_name_is_a_kernel_that_can_be_made_or_says_what_it_needs():
    for name in kernel_names():
        try:
            kernel = parse(name)
        except ParameterError as missing:
            assert f"{name} needs " in str(missing)  # noqa: PT017
        else:
            assert type(kernel).__name__ == kernel_names()[name]


@given(st.text(alphabet="rbflinea(gm=.1)+*^@[]{}:,'\" -", max_size=40))
def test_any_text_gives_a_kernel_or_a_clear_refusal(text):
    try:
        kernel = parse(text)
    except ParameterError as refused:
        assert "kernel expression" in str(refused)  # noqa: PT017
    else:
        assert isinstance(kernel, kernels.Kernel)


def test_what_the_text_leaves_out_is_filled_in():
    assert parse("poly + rbf + linear", gamma=0.5, degree=2, coef0=1) == Polynomial(2, 0.5, 1) + RBF(0.5) + Linear()
    assert parse("poly(degree=4) + rbf(gamma=1)", gamma=0.5, degree=2, coef0=1) == Polynomial(4, 0.5, 1) + RBF(1)
    assert parse("matern + cyclic", gamma=0.5) == Matern() + kernels.Cyclic()
