"""Which reader a path gets."""

import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from mercer import ParameterError
from mercer.io import Blocks, SvmlightFile
from mercer.io.batches import open_batches


@pytest.mark.parametrize("name", ["a.svm", "a.libsvm", "a.svmlight.gz", "a.txt.xz", "A.SVM.BZ2"])
def test_svmlight_endings(tmp_path, name):
    (tmp_path / name).touch()
    assert isinstance(open_batches(str(tmp_path / name)), SvmlightFile)


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "a.feather"])
def test_arrow_endings(tmp_path, name):
    table = pa.table({"a": [1.0, 2.0], "y": [0, 1]})
    if name.endswith("parquet"):
        parquet.write_table(table, tmp_path / name)
    else:
        feather.write_feather(table, tmp_path / name)
    found = open_batches(tmp_path / name)
    assert isinstance(found, Blocks)
    assert found.target == "y"


def test_other_endings_and_other_things_are_refused(tmp_path):
    with pytest.raises(ParameterError, match=r"must end in one of .svm, .*'data.csv'"):
        open_batches("data.csv")
    with pytest.raises(ParameterError, match="iterable"):
        open_batches(3)


def test_what_can_be_iterated_is_left_alone():
    batches = [([[1.0]], [0])]
    assert open_batches(batches) is batches
