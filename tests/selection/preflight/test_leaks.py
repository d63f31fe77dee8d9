"""One column that predicts the target alone is named before anybody fits."""

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes, load_iris

from mercer import SVC, SVR, preflight
from mercer.selection.preflight.leaks import leaks

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame({"x": RNG.normal(size=200), "town": RNG.choice(["Ulm", "Bonn"], 200)})


def test_parts_of_a_count_are_named():
    registered, casual = RNG.integers(0, 900, 200), RNG.integers(0, 100, 200)
    frame = FRAME.assign(registered=registered, casual=casual)
    (found,) = leaks(frame, registered + casual, is_quantity=True)
    assert found.is_problem
    assert "'registered' alone predicts the target" in found.message
    assert "casual" not in found.message
    told = preflight(SVR(kernel="auto"), frame, (registered + casual).astype(float), seconds=0.2)
    assert any(each.subject == "leak" for each in told.findings)


def test_a_label_that_is_the_class_in_other_words_is_named():
    y = (FRAME["x"] > 0).to_numpy()
    frame = FRAME.assign(verdict=np.where(y, "guilty", "free"), x=RNG.normal(size=200))
    (found,) = leaks(frame, y, is_quantity=False)
    assert "'verdict'" in found.message


def test_honest_tables_are_not_accused():
    X, y = load_iris(return_X_y=True)
    assert leaks(X, y, is_quantity=False) == []
    assert leaks(*load_diabetes(return_X_y=True), is_quantity=True) == []
    assert leaks(FRAME, (FRAME["town"] == "Ulm").to_numpy()[::-1], is_quantity=False) == []
    assert leaks(["a text", "another"], np.array([0, 1]), is_quantity=False) == []
    assert not any(each.subject == "leak" for each in preflight(SVC(), X, y, seconds=0.1).findings)


def test_a_copy_on_another_scale_is_named_even_among_few_rows():
    for seed in range(1, 5):
        y = np.random.default_rng(seed).normal(size=30)
        frame = FRAME[:30].assign(copy=2 * y + 1)
        (found,) = leaks(frame, y, is_quantity=True)
        assert "'copy' alone predicts" in found.message
        assert "'x'" not in found.message
