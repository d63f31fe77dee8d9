"""Files that earlier versions wrote still load, and say what they said then."""

import json

import numpy as np
import pytest

import mercer
from mercer.exchange.model_file.save import describe
from tests.exchange.model_file.make_fixtures import FOLDER, READERS

FILES = sorted(FOLDER.glob("v*.mercer"))


def test_there_are_files_of_every_version():
    from mercer.exchange.model_file.container import VERSION

    assert {path.name.partition("_")[0] for path in FILES} == {f"v{number}" for number in range(1, VERSION + 1)}
    assert len(FILES) >= 10


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_of_an_earlier_version(path):
    said = json.loads(path.with_suffix(".json").read_text())
    model = mercer.load(path)
    answer = getattr(model, said["method"])(READERS[said["reader"]](said["question"]))
    # Another machine may add up in another order.
    assert np.allclose(answer, said["answer"], rtol=1e-10, atol=1e-12)
    assert describe(path)["metadata"] == {"fixture": path.stem.partition("_")[2]}
