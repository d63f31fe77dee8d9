"""Compiling ahead: what is compiled once is found by whoever fits next."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mercer import ParameterError
from mercer.workflow.compile_ahead import CompilePace, Step, compile_ahead, jobs


def test_every_machine_can_be_compiled_ahead():
    from tests.conformance.test_one_vocabulary import ESTIMATORS

    assert set(ESTIMATORS) <= set(jobs())


def test_a_name_that_is_none_is_refused_before_any_work():
    with pytest.raises(ParameterError, match=r"'SVM' cannot be compiled; choose from .*SVC"):
        list(compile_ahead(["SVM"]))


@pytest.mark.slow
def test_after_it_a_fit_compiles_nothing(tmp_path):
    environment = {**os.environ, "MERCER_CACHE_DIR": str(tmp_path)}
    subprocess.run([Path(sys.executable).with_name("mercer"), "compile", "Perceptron"], env=environment, check=True)
    program = (
        "import numpy as np\n"
        "from mercer import Perceptron\nfrom mercer._jit.compile import compiled_here\n"
        "X = np.random.default_rng(1).normal(size=(30, 2)); Perceptron().fit(X, X[:, 0] > 0).predict(X)\n"
        "print(compiled_here())"
    )
    seen = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert seen.stdout.strip() == "[]"


def test_the_pace_moves_with_every_function_and_ends_with_the_last_job():
    pace = CompilePace(["SVC", "Perceptron"], processes=1)
    expected = pace.seconds_left
    shares = [pace.share]
    for step in (Step("SVC", "a", 0.2 * pace.whole["SVC"]), Step("SVC", "b", 2.0 * pace.whole["SVC"])):
        pace.note(step)
        shares.append(pace.share)
    assert expected == pytest.approx(sum(pace.whole.values()))
    assert 0.0 == shares[0] < shares[1] < shares[2] < pace.whole["SVC"] / sum(pace.whole.values())
    assert pace.seconds_left > 0.0
    pace.note(Step("SVC"))
    pace.note(Step("Perceptron"))
    assert (pace.share, pace.functions, pace.ended, pace.seconds_left) == (1.0, 2, 2, 0.0)
