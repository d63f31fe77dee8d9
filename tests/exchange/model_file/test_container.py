"""The bytes of a model file: what the documentation says is what is written."""

import hashlib
import json
import re
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load as load_safetensors
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import SVC, KernelDensity
from mercer.exchange.model_file import container
from mercer.exchange.model_file.container import read_model_file, write_model_file
from mercer.exchange.model_file.decode import Reader
from mercer.exchange.model_file.encode import Writer
from mercer.exchange.model_file.save import _about, _json_number, describe
from mercer.exchange.model_file.tensors import read_tensors
from mercer.problems.certificate import EVERYTHING
from tests.exchange.model_file.forging import split
from tests.exchange.sameness import same


def test_byte_by_byte(petals, tmp_path):
    """Read by hand, by the table in the documentation."""
    path = tmp_path / "iris.mercer"
    mercer.save(SVC().fit(*petals), path)
    whole = path.read_bytes()
    assert whole[:8] == bytes.fromhex("894D45524345520A")
    assert whole[8:16] == bytes([1, 0, 0, 0, 0, 0, 0, 0])
    manifest_length, payload_length = (int.from_bytes(whole[place : place + 8], "little") for place in (16, 24))
    assert manifest_length % 64 == 0
    assert len(whole) == 128 + manifest_length + payload_length
    manifest, payload = whole[128 : 128 + manifest_length], whole[128 + manifest_length :]
    assert hashlib.sha256(manifest).digest() == whole[32:64]
    pieces = [payload[begin : begin + 2**22] for begin in range(0, len(payload), 2**22)]
    sums = b"".join(hashlib.sha256(piece).digest() for piece in pieces)
    assert hashlib.sha256(sums).digest() == whole[64:96]
    assert hashlib.sha256(whole[:96]).digest() == whole[96:128]
    assert json.loads(manifest)["format"] == "mercer-model"


def test_the_documentation_has_the_same_table():
    text = (Path(__file__).parents[3] / "docs" / "model_file.md").read_text()
    for said in (
        "89 4D 45 52 43 45 52 0A",
        "0-7",
        "8-11",
        "12-15",
        "16-23",
        "24-31",
        "32-63",
        "64-95",
        "96-127",
        "4 MiB",
    ):
        assert said in text
        assert said in container.__doc__


def test_the_payload_is_a_file_of_safetensors(petals, tmp_path):
    path = tmp_path / "iris.mercer"
    mercer.save(SVC().fit(*petals), path)
    ours = read_tensors(split(path)[1])
    theirs = load_safetensors(split(path)[1])
    assert sorted(ours) == sorted(theirs)
    assert len(ours) > 5
    for name, array in ours.items():
        assert array.dtype == theirs[name].dtype
        assert array.tobytes() == theirs[name].tobytes()
        assert array.__array_interface__["data"][0] % array.dtype.itemsize == 0


def test_what_a_file_says_of_itself(petals, tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")
    X, y = petals
    mercer.save(SVC().fit(X, y), tmp_path / "m", metadata={"by": "me", "folds": [1, 2.5], "deep": {"a": None}})
    said = describe(tmp_path / "m")
    assert said["created"] == "2001-09-09T01:46:40+00:00"
    assert said["mercer"] == mercer.__version__
    assert set(said["versions"]) >= {"python", "numpy", "scipy", "scikit-learn"}
    assert said["metadata"] == {"by": "me", "folds": [1, 2.5], "deep": {"a": None}}
    assert said["about"]["class"] == "SVC"
    assert said["about"]["shape_fit"] == [150, 2]
    assert said["about"]["status"] == "OPTIMAL"
    assert said["about"]["classes"] == ["0", "1", "2"]
    assert len(said["about"]["certificate"]) == 3
    assert said["about"]["certificate"][0]["gap"] < 1e-3
    assert said["about"]["certificate"][0]["basis"] == EVERYTHING
    assert "model" not in said


def test_the_same_model_is_the_same_file(petals, tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")
    for name in ("one", "two"):
        # Times of a trace are never the same.
        model = SVC().fit(*petals)
        model._traces = list
        mercer.save(model, tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_equal_arrays_are_stored_once(rng, tmp_path):
    X = rng.normal(size=(300, 200))
    model = SVC(kernel="linear", C=1e-3).fit(X, np.arange(300) % 2)
    mercer.save(model, tmp_path / "m")
    assert (tmp_path / "m").stat().st_size < 1.2 * model.support_vectors_.nbytes


def test_large_files_are_mapped_and_small_ones_read(rng, tmp_path, monkeypatch):
    X = rng.normal(size=(200, 100))
    mercer.save(KernelDensity().fit(X), tmp_path / "m")
    assert mercer.load(tmp_path / "m").expansion_.vectors.base is not None

    def mapped(**options):
        base = mercer.load(tmp_path / "m", **options).expansion_.vectors
        while isinstance(base.base, np.ndarray):
            base = base.base
        return type(base.base.obj).__name__

    assert mapped() == "bytearray"
    assert mapped(mapped=True) == "mmap"
    monkeypatch.setattr(container, "WORTH_MAPPING", 1000)
    assert mapped() == "mmap"
    assert mapped(mapped=False) == "bytearray"


@pytest.mark.parametrize("mapped", [True, False])
def test_a_change_of_a_loaded_model_stays_in_memory(mapped, rng, tmp_path):
    X = rng.normal(size=(200, 100))
    mercer.save(KernelDensity().fit(X), tmp_path / "m")
    whole = (tmp_path / "m").read_bytes()
    again = mercer.load(tmp_path / "m", mapped=mapped)
    # Writeable, so that compiled code is the same as after a fit.
    again.expansion_.vectors[0] = 0.0
    assert (tmp_path / "m").read_bytes() == whole
    assert mercer.load(tmp_path / "m").expansion_.vectors[0, 0] == X[0, 0]


def test_loading_is_fast(rng, tmp_path):
    """20 MB of rows within 0.1 s; `benchmarks/model_file.py` measures 100 MB."""
    mercer.save(KernelDensity(bandwidth=30.0).fit(rng.normal(size=(2500, 1000))), tmp_path / "m")
    mercer.load(tmp_path / "m")
    begin = time.process_time()
    mercer.load(tmp_path / "m")
    assert time.process_time() - begin < 0.1


def test_pieces_are_summed_wherever_arrays_end(tmp_path, monkeypatch):
    monkeypatch.setattr(container, "PIECE", 1000)
    arrays = {f"t{size}": np.arange(size, dtype=np.float64) for size in (0, 1, 124, 125, 126, 600)}
    write_model_file(tmp_path / "m", {"a": 1}, arrays)
    manifest, found = read_model_file(tmp_path / "m")
    assert manifest == {"a": 1}
    same(arrays, {name: np.array(found[name]) for name in arrays})


def test_nothing_is_unpickled_or_evaluated():
    """No module of the room so much as names what could execute a file."""
    forbidden = re.compile(
        r"(?<!re\.)\b(pickle|marshal|eval|exec|compile|__import__|shelve|dill|joblib|cloudpickle)\b\(?"
    )
    for source in Path(container.__file__).parents[1].rglob("*.py"):
        for line in source.read_text().splitlines():
            code = line.partition("#")[0]
            assert not forbidden.search(code) or '"""' in code or "compiled" in code, (source.name, line)


scalars = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text() | st.binary()
keys = st.text() | st.integers(-100, 100) | st.booleans() | st.none() | st.tuples(st.text(), st.integers(0, 9))
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=25) | st.dictionaries(keys, inner, max_size=5) | st.tuples(inner, inner),
    max_leaves=20,
)


@given(value=values)
def test_any_plain_value_comes_back(value):
    writer = Writer()
    node = json.loads(json.dumps(writer.node(value), allow_nan=False))
    arrays = {name: np.array(array) for name, array in writer.arrays.items()}
    same(value, Reader(arrays).value(node))


@given(
    dtype=st.sampled_from(["f8", "f4", "f2", "i8", "i4", "u8", "u1", "?", "M8[us]", "m8[s]", "U5", ">f8"]),
    shape=st.lists(st.integers(0, 5), min_size=1, max_size=3),
    order=st.sampled_from("CF"),
)
def test_any_array_comes_back(dtype, shape, order):
    array = np.asarray(np.arange(np.prod(shape)).reshape(shape), order=order).astype(dtype)
    writer = Writer()
    again = Reader(writer.arrays).value(json.loads(json.dumps(writer.node(array))))
    same(array.astype(array.dtype.newbyteorder("=")), again)
    # The order of numbers in memory decides about the last bits of sums.
    assert array.dtype.kind in "mMU" or again.flags.f_contiguous == array.flags.f_contiguous


def test_numbers_of_numpy_in_metadata_are_plain_numbers(tmp_path):
    given = {"n": np.int64(3), "x": np.float32(0.5), "is": np.bool_(True), "word": np.str_("a"), "one": np.array(7)}
    model = SVC().fit([[0.0], [1.0]], [0, 1])
    mercer.save(model, tmp_path / "m", metadata=given)
    assert describe(tmp_path / "m")["metadata"] == {"n": 3, "x": 0.5, "is": True, "word": "a", "one": 7}
    with pytest.raises(mercer.ParameterError, match="got a ndarray"):
        mercer.save(model, tmp_path / "m", metadata={"rows": np.arange(3)})


def test_a_pipeline_is_known_by_its_last_step():
    pipeline = make_pipeline(StandardScaler(), PCA(1), SVC()).fit([[0.0, 1.0], [1.0, 3.0], [2.0, 1.0]], [0, 1, 1])
    about = _about(pipeline)
    assert (about["class"], about["estimator"], about["classes"]) == ("Pipeline", "SVC", ["0", "1"])


def test_numbers_keep_their_type_in_json_and_those_that_are_none_have_names():
    found = [_json_number(value) for value in (3, 0.5, np.float64(2.0), np.inf, np.float64(-np.inf), np.nan)]
    assert found == [3, 0.5, 2.0, "inf", "-inf", "nan"]
    assert [type(value) for value in found[:3]] == [int, float, float]
