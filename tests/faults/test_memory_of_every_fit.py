"""`memory_limit` holds in a fit of every estimator that has one."""

import inspect

import pytest

import mercer
from tests.faults.companion import Companion
from tests.faults.long_fits import LONG
from tests.faults.memory_fits import LIMIT

# They keep no more than a few numbers for each row or feature, and have no such limit.
WITHOUT_MATRICES = {"Perceptron", "KernelDensity", "RandomFourierFeatures", "TableFeatures"}
# Rows in memory take no more than a few numbers each here too; the limit is for what blocks take that are read.
OF_BLOCKS = {"LinearSVC", "LinearSVR"}
# The limit is a parameter of the machine within, and holds for the whole search.
OF_ANOTHER = {"LinearCV"}
# What is kept is n_components by n_components, as asked for.
AS_ASKED = {"Nystroem"}
LIMITED = [name for name, (make, _) in LONG.items() if type(make()).__name__ not in WITHOUT_MATRICES | OF_BLOCKS]


@pytest.fixture(scope="module")
def answers():
    with Companion("tests.faults.memory_fits") as process:

        def ask(name):
            # Once more where code was compiled meanwhile: the compiler's memory is not the fit's.
            for _ in range(2):
                answer = process.ask(name)
                if not answer["compiled"]:
                    break
            return answer

        yield ask


def test_every_estimator_with_matrices_has_the_limit():
    estimators = {name for name in mercer.__all__ if hasattr(getattr(mercer, name), "fit")}
    limited = {name for name in estimators if "memory_limit" in inspect.signature(getattr(mercer, name)).parameters}
    assert estimators - limited == WITHOUT_MATRICES | OF_ANOTHER | AS_ASKED
    assert limited >= OF_BLOCKS
    assert set(LIMITED) >= OF_ANOTHER


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", LIMITED)
def test_no_more_is_taken(name, answers):
    answer = answers(name)
    assert answer["taken"] <= 1.1 * LIMIT
    is_status = answer["outcome"] in mercer.Status.__members__
    assert is_status or "memory_limit" in answer["outcome"] or "time_limit" in answer["outcome"]
