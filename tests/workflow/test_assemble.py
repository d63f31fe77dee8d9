import io

import numpy as np
import pytest

from mercer import DataError, ParameterError
from mercer.io import Dataset, read_table
from mercer.kernels import RBF, Columns, Delta, On, Spectrum, Standardized, parse, placed
from mercer.workflow.assemble import assemble
from mercer.workflow.target import task_of

PEOPLE = b"age,town,note,buys\n31,Ulm,came by train,yes\n60,Bonn,came on foot,no\n45,Ulm,came by boat,yes\n"


def people(**options):
    return read_table(io.BytesIO(PEOPLE), target="buys", **options)


@pytest.mark.parametrize(
    ("target", "task"),
    [
        (np.array(["a", "b"]), "classification"),
        (np.arange(5), "classification"),
        (np.array([0.0, 1.0, 1.0]), "classification"),
        (np.arange(21), "regression"),
        (np.array([0.5, 1.0]), "regression"),
    ],
)
def test_the_target_says_the_task(target, task):
    assert task_of(target) == task


def test_a_table_is_left_to_auto_and_additive_is_a_choice():
    found = assemble(people())
    assert (found.estimator.kernel, found.estimator.C) == ("auto", "auto")
    for word in ("additive", "columns"):
        found = assemble(people(), word)
        assert set(found.estimator.kernel.kernels) == {"age", "town", "note"}
        assert "age by RBF" in found.notes[-1]
    plain = assemble(people(), scale=False).estimator.kernel
    assert isinstance(plain, Columns)
    assert not plain.standardize


def test_numbers_for_a_given_kernel_are_scaled_first():
    data = read_table(io.BytesIO(b"a,b,y\n1,2,x\n3,4,z\n"), target="y")
    found = assemble(data, "rbf", C=1.0)
    assert [name for name, _ in found.estimator.steps] == ["scale", "model"]
    model = found.estimator.fit(found.X, found.y)
    assert model[0].feature_names_in_.tolist() == ["a", "b"]
    assert not hasattr(assemble(data, "rbf", scale=False).estimator, "steps")


def test_scores_are_quantities_where_that_predicts_better_and_it_is_said():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 2))
    score = np.clip(np.rint(6 + x[:, 0] + rng.normal(size=200)), 3, 9).astype(int)
    kind = np.arange(200) % 6  # numbers of classes, in no order
    apart = 0.1 * x + np.array([[0, 0], [5, 5], [0, 5], [5, 0], [9, 0], [0, 9]])[kind]
    for rows, target, task in ((x, score, "regression"), (apart, kind, "classification")):
        text = "a,b,y\n" + "".join(f"{a:.3f},{b:.3f},{c}\n" for (a, b), c in zip(rows, target, strict=True))
        found = assemble(read_table(io.BytesIO(text.encode()), target="y"))
        assert found.task == task
        assert any("is treated as a quantity: whole numbers from" in note for note in found.notes) == (task[0] == "r")
        assert assemble(read_table(io.BytesIO(text.encode()), target="y"), task="classification").task[0] == "c"


def test_c_of_a_quantity_is_in_its_units():
    """Targets a thousand times as large give predictions a thousand times as large, and nothing else."""
    x = np.linspace(0, 3, 40)
    values = []
    for factor in (1.0, 1000.0):
        text = "x,y\n" + "\n".join(f"{a:.4f},{factor * np.sin(a):.8f}" for a in x)
        found = assemble(read_table(io.BytesIO(text.encode()), target="y"), tol=1e-8)
        values.append(found.estimator.fit(found.X, found.y).predict(found.X) / factor)
    assert values[0] == pytest.approx(values[1], abs=1e-5)


def test_what_does_not_fit_together_is_refused():
    with pytest.raises(DataError, match="no labels to learn from"):
        assemble(read_table(io.BytesIO(PEOPLE)))
    with pytest.raises(DataError, match="regression needs numbers, and the target holds texts such as 'yes'"):
        assemble(people(), task="regression")
    with pytest.raises(ParameterError, match="task must be one of classification, regression"):
        assemble(people(), task="ranking")
    texts = Dataset(["a b", "c d"], np.array(["x", "y"]), "texts", "texts", "notes")
    with pytest.raises(ParameterError, match="kernel must be a kernel for texts"):
        assemble(texts, "rbf")
    assert assemble(texts, "spectrum(k=2)").estimator.kernel == Spectrum(length=2)


# ------------------------------------------------------------------ placed


def test_a_kernel_without_columns_reads_all_it_can():
    assert placed(parse("rbf(gamma=0.5)"), people().data) == On("age", Standardized(RBF(0.5)))
    assert placed(Spectrum(length=3), [{"age": 3, "note": "a b c d"}]) == On("note", Spectrum(length=3))
    assert placed(Delta(), people().data) == Columns({"town": Delta(), "note": Delta()})


def test_parts_of_a_sum_are_placed_each_for_itself():
    kernel = placed(parse("rbf(gamma=0.5) + 2*spectrum(k=3)@note"), people().data)
    rows = [
        {"age": 31, "note": "came by train"},
        {"age": 60, "note": "came on foot"},
        {"age": 45, "note": "came by boat"},
    ]
    ages = np.array([[31.0], [60.0], [45.0]])
    expected = RBF(0.5)((ages - ages.mean()) / ages.std()) + 2 * Spectrum(length=3)([row["note"] for row in rows])
    assert kernel(rows) == pytest.approx(expected)


def test_several_columns_of_texts_ask_which():
    with pytest.raises(ParameterError, match=r"reads one column, but there are 'town', 'note'; say which: spectrum"):
        placed(Spectrum(), people().data)
    with pytest.raises(ParameterError, match="needs a column of numbers"):
        placed(RBF(1.0), [{"town": "Ulm"}])
