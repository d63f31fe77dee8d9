"""A model file from a stranger: damaged or forged, it is an error that is declared, and never more."""

import contextlib
import json
import os
import tracemalloc
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import (
    SVC,
    Graph,
    KernelDensity,
    KernelRidge,
    LinearSVC,
    MercerError,
    ModelFileError,
    PegasosSVC,
    Perceptron,
    Tree,
)
from mercer import kernels as k
from mercer.exchange.model_file.container import HEADER
from mercer.exchange.model_file.save import describe
from tests.exchange.model_file import forging
from tests.exchange.model_file.forging import forged, parts_of

rng = np.random.default_rng(5)
X = rng.normal(size=(12, 3))
Y = np.arange(12) % 3
TEXTS = [f"{'ab' * (place % 3)}{'xyz'[place % 3]}" for place in range(12)]
TREES = [Tree.parse(f"(S (A {place % 3}) (B x))") for place in range(12)]
GRAPHS = [Graph([(0, 1), (1, 2)], node_labels=["a", "b", "ab"[place % 2]]) for place in range(12)]
ROWS = [{"n": float(place), "c": "uvw"[place % 3]} for place in range(12)]
MODELS = {
    "dense": (lambda: SVC().fit(X, Y), X),
    "sparse": (lambda: SVC(kernel="linear").fit(sparse.csr_matrix(X), Y), sparse.csr_matrix(X)),
    "laplacian": (lambda: SVC(kernel=k.Laplacian()).fit(X, Y), X),
    "isotonic": (lambda: SVC(probability="isotonic").fit(X, Y), X),
    "precomputed": (lambda: SVC(kernel="precomputed").fit(X @ X.T, Y), X @ X.T),
    "texts": (lambda: SVC(kernel=k.Spectrum(2)).fit(TEXTS, Y), TEXTS),
    "subsequences": (lambda: KernelRidge(kernel=k.Subsequence(2)).fit(TEXTS, Y), TEXTS),
    "trees": (lambda: SVC(kernel=k.SubsetTree()).fit(TREES, Y), TREES),
    "graphs": (lambda: SVC(kernel=k.LabelPath(2)).fit(GRAPHS, Y), GRAPHS),
    "table": (lambda: SVC(kernel=k.Columns({"n": k.RBF(), "c": k.Delta()})).fit(ROWS, Y), ROWS),
    "linear": (lambda: LinearSVC().fit(X, Y), X),
    "weights": (lambda: PegasosSVC(T=50).fit(X, Y), X),
    "coefficients": (lambda: PegasosSVC(T=50, kernel="rbf").fit(X, Y), X),
    "perceptron": (lambda: Perceptron(max_iter=3).fit(X, Y), X),
    "pipeline": (lambda: make_pipeline(StandardScaler(), SVC()).fit(X, Y), X),
}
# What a model that was forged within the rules may answer: numbers, or an error about them. A TypeError or an
# AttributeError would say that it should not have been loaded.
ANSWERS = (MercerError, ValueError, ArithmeticError)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A sound file of each model."""
    folder = tmp_path_factory.mktemp("sound")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, (make, _) in MODELS.items():
            mercer.save(make(), folder / f"{name}.mercer")
    return folder


def asked(path, items):
    """Load; if that succeeds, use the model for everything that reaches compiled code."""
    try:
        model = mercer.load(path)
    except ModelFileError:
        return False
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for method in ("predict", "decision_function", "predict_proba"):
            if hasattr(model, method):
                with contextlib.suppress(*ANSWERS):
                    getattr(model, method)(items)
        if hasattr(model, "partial_fit"):
            with contextlib.suppress(*ANSWERS):
                model.partial_fit(items, Y)
    return True


def test_the_files_are_sound(files):
    for name, (_, items) in MODELS.items():
        assert asked(files / f"{name}.mercer", items)


def refuses(path):
    """Whether a file is refused as it must be: by a ModelFileError."""
    with pytest.raises(ModelFileError):
        mercer.load(path)


def truncated_at(lengths, whole, path):
    """Cut a file at each of these lengths, the longest first."""
    path.write_bytes(whole)
    for length in sorted(lengths, reverse=True):
        os.truncate(path, length)
        refuses(path)


def flipped_at(places, whole, path):
    """Change each of these bytes, one at a time."""
    path.write_bytes(whole)
    with path.open("r+b", buffering=0) as file:
        for place in places:
            os.pwrite(file.fileno(), bytes([whole[place] ^ 0xFF]), place)
            refuses(path)
            os.pwrite(file.fileno(), whole[place : place + 1], place)


def test_longer_than_it_says(files, tmp_path):
    (tmp_path / "m").write_bytes((files / "linear.mercer").read_bytes() + b"\0")
    with pytest.raises(ModelFileError, match="truncated or damaged"):
        mercer.load(tmp_path / "m")


@pytest.mark.parametrize("name", MODELS)
def test_truncated_or_changed_at_some_bytes(name, files, tmp_path):
    """The same bytes in every run: all of the header, and some of the rest. The slow test tries every one."""
    whole, path = (files / f"{name}.mercer").read_bytes(), tmp_path / "m"
    places = np.unique([*range(0, HEADER, 5), *np.random.default_rng(8).integers(0, len(whole), 25), len(whole) - 1])
    truncated_at(places, whole, path)
    flipped_at(places, whole, path)
    assert asked(path, MODELS[name][1])


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("name", MODELS)
def test_truncated_and_changed_at_every_byte(name, files, tmp_path):
    whole, path = (files / f"{name}.mercer").read_bytes(), tmp_path / "m"
    truncated_at(range(len(whole)), whole, path)
    flipped_at(range(len(whole)), whole, path)
    assert asked(path, MODELS[name][1])


@pytest.mark.parametrize("value", forging.EXTREMES)
def test_every_integer_of_the_header(value, files, tmp_path):
    """With the checksums of the attacker's own header."""
    manifest, payload = forging.split(files / "dense.mercer")
    for lengths in ((value, len(payload)), (len(manifest), value), (value, value), (value, -value)):
        with pytest.raises(ModelFileError, match="truncated or damaged"):
            mercer.load(forging.raw(tmp_path / "m", manifest, payload, lengths=lengths))
    if 0 <= value < 2**32:
        with pytest.raises(ModelFileError, match=r"version|checksum"):
            mercer.load(forging.raw(tmp_path / "m", manifest, payload, version=value))
    if 0 < value < 2**32:
        with pytest.raises(ModelFileError):
            mercer.load(forging.raw(tmp_path / "m", manifest, payload, reserved=value))


def test_every_integer_of_the_header_of_the_arrays(files, tmp_path):
    manifest, payload = forging.split(files / "weights.mercer")
    length = int.from_bytes(payload[:8], "little")
    header = json.loads(payload[8 : 8 + length])
    for value in forging.EXTREMES:
        changed = (value % 2**64).to_bytes(8, "little") + payload[8:]
        with pytest.raises(ModelFileError):
            mercer.load(forging.raw(tmp_path / "m", manifest, changed))
    tried = 0
    for place in forging.places(header):
        old = forging.at(header, place)
        values = [value for value in (*forging.EXTREMES, 1, 2, None, "x", 1.5, []) if value != old]
        for value in values:
            text = json.dumps(forging.changed(header, place, value))
            path = forging.raw(tmp_path / "m", manifest, forging.with_tensor_header(payload, lambda _, t=text: t))
            with pytest.raises(ModelFileError):
                mercer.load(path)
            tried += 1
    assert tried > 300


@pytest.mark.parametrize(
    "text",
    [
        b"", b"{}", b"[]", b"null", b"{", b"\xff\xfe", b'{"format": NaN}', b'{"a": 1, "a": 2}', b"[" * 100_000,
        b'{"a":' * 50_000, b"1" * 10_000, b'{"format": "mercer-model", "version": 1}',
        b'{"format": "mercer-model", "version": 2, "model": null}',
        b'{"format": "mercer-model", "version": 1, "model": null}',
        b'{"format": "mercer-model", "version": 1, "model": {"is": "object", "class": "os.system"}}',
        b'{"format": "mercer-model", "version": 1, "model": {"is": "object", "class": "SVC", "params": {}}}',
        b'{"format": "mercer-model", "version": 1, "model": {"is": "object", "class": ["SVC"]}}',
        b'{"format": "mercer-model", "version": 1, "model": {"is": ["object"]}}',
        b'{"format": "mercer-model", "version": 1, "model": {"is": "object", "class": "kernels.RBF"}}',
    ],
    ids=lambda text: text[:90].decode("latin-1"),
)  # fmt: skip
def test_manifests_that_are_none(text, files, tmp_path):
    _, payload = forging.split(files / "dense.mercer")
    with pytest.raises(ModelFileError):
        mercer.load(forging.raw(tmp_path / "m", text, payload))


def test_arrays_with_a_name_twice(files, tmp_path):
    manifest, payload = forging.split(files / "dense.mercer")
    length = int.from_bytes(payload[:8], "little")
    text = payload[8 : 8 + length].decode().rstrip()
    twice = text[:-1] + "," + text[1:]
    with pytest.raises(ModelFileError, match="twice"):
        mercer.load(forging.raw(tmp_path / "m", manifest, forging.with_tensor_header(payload, lambda _: twice)))


def forgeries(path):
    """A function for every forgery of one place of a manifest, or of one array: (manifest, arrays)."""
    manifest, arrays = parts_of(path)
    for place in forging.places(manifest["model"]):
        where = ("model", *place)
        for value in forging.hostile_nodes(forging.at(manifest, where)):
            yield lambda where=where, value=value: (forging.changed(manifest, where, value), arrays)
        yield lambda where=where: (forging.removed(manifest, where), arrays)
    for name, array in arrays.items():
        for other in forging.hostile_arrays(array):
            yield lambda name=name, other=other: (manifest, {**arrays, name: other})


@pytest.mark.parametrize("name", MODELS)
def test_forged_content(name, files, tmp_path):
    """Some of all forgeries, the same in every run; the slow test tries every one."""
    path, items, chosen = files / f"{name}.mercer", MODELS[name][1], np.random.default_rng(3)
    cases = [make for make in forgeries(path) if chosen.random() < 0.01]
    outcomes = [asked(forged(tmp_path / "m", *make()), items) for make in cases]
    assert len(outcomes) > 8
    assert not all(outcomes)


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("name", MODELS)
def test_all_forged_content(name, files, tmp_path):
    path, items = files / f"{name}.mercer", MODELS[name][1]
    outcomes = [asked(forged(tmp_path / "m", *make()), items) for make in forgeries(path)]
    assert len(outcomes) > 500
    assert sum(outcomes) < 0.7 * len(outcomes)


def _find(node, what, path=()):
    """The first place whose node is of a kind, or of a class."""
    if isinstance(node, dict) and what in (node.get("is"), node.get("class"), node.get("of")):
        return path
    entries = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return next((found for key, entry in entries if (found := _find(entry, what, (*path, key))) is not None), None)


SPECIFIC = [
    ("dense", "Expansion", ("fields", "groups", 0, "fields", "end"), 999, "coefficients of vectors"),
    ("dense", "Expansion", ("fields", "groups", 0, "fields", "begin"), -1, "at least 0"),
    ("dense", "SVC", ("state", "n_features_in_"), 4, "features"),
    ("dense", "SVC", ("state", "n_features_in_"), 2**31, "features"),
    ("dense", "SVC", ("state", "__class__"), 1, "may set"),
    ("dense", "SVC", ("state", "predict"), 1, "may set"),
    ("dense", "SVC", ("params", "__init__"), 1, "has no '__init__'"),
    ("dense", "SVC", ("params", "tol"), -1, "tol must be"),
    ("dense", "SVC", ("params", "n_jobs"), "many", "n_jobs"),
    ("dense", "kernels.RBF", ("fields", "gamma"), "scale", "waits for training data"),
    ("dense", "kernels.RBF", ("fields", "gamma"), -1.0, "gamma must be positive"),
    ("dense", "kernels.RBF", ("class",), "kernels.Spectrum", "has no 'gamma'"),
    ("dense", "Evidence", ("class",), "Proof", "must be a RidgeCertificate or"),
    ("sparse", "csr", ("shape",), [11, 2], "column indices outside"),
    ("sparse", "csr", ("shape",), [2**40, 3], "row pointers"),
    ("sparse", "csr", ("shape",), [11, 2**63], "cannot have shape"),
    ("subsequences", "kernels.Subsequence", ("fields", "length"), 2**31, "length of at most"),
    ("isotonic", "Calibration", ("fields", "n_classes"), 1000, "3 classes"),
    ("isotonic", "Calibration", ("fields", "maps"), [], "calibration for each function"),
    ("graphs", "object", ("class",), "Recorded", "does not know"),
]


@pytest.mark.parametrize(("name", "what", "place", "value", "message"), SPECIFIC)
def test_what_is_said_of_a_forgery(name, what, place, value, message, files, tmp_path):
    manifest, arrays = parts_of(files / f"{name}.mercer")
    where = ("model", *(_find(manifest["model"], what) or ()), *place)
    with pytest.raises(ModelFileError, match=message):
        mercer.load(forged(tmp_path / "m", forging.changed(manifest, where, value), arrays))


IN_TABLE = ("state", "expansion_", "fields", "kernel", "fields", "kernels")
# Each of these was loaded, and then raised a TypeError or an AttributeError.
INCOMPLETE = [
    ("pipeline", ("params", "steps", 0), None, "a name and an object"),
    ("pipeline", ("params", "steps", 0), 7, "a name and an object"),
    ("pipeline", ("params", "steps", 0, "items", 1), "x", "steps that can transform"),
    ("pipeline", ("params", "steps", 0, "items", 1, "state", "mean_"), None, "must have mean_"),
    ("pipeline", ("params", "steps", 0, "items", 1, "state", "scale_"), None, "must have scale_"),
    ("pipeline", ("params", "steps", 1, "items", 1, "state", "_items"), [], "training items"),
    ("table", ("params",), {}, "fitted with its kernel"),
    ("graphs", ("params", "kernel"), {"is": "array", "data": "t0"}, "a name, a Kernel or a function"),
    ("dense", ("params", "kernel"), 7, "a name, a Kernel or a function"),
    ("table", (*IN_TABLE, "values", 0, "fields", "origin"), "x", "must be a list"),
    ("subsequences", ("params", "n_jobs"), "x", "n_jobs must be a whole number"),
    ("pipeline", ("params", "steps", 1, "items", 1, "params", "n_jobs"), 1.5, "n_jobs must be a whole number"),
    ("weights", ("state", "_evidence"), None, "must have _rho"),
    ("weights", ("state", "_traces", 0), None, "_traces must be a list"),
    ("coefficients", ("state", "_form", "fields", "items"), None, "must have 12 items"),
    ("coefficients", ("state", "_form", "fields", "items"), [], "must have 12 items"),
]


@pytest.mark.parametrize(("name", "place", "value", "message"), INCOMPLETE)
def test_a_model_that_could_not_answer_is_not_loaded(name, place, value, message, files, tmp_path):
    manifest, arrays = parts_of(files / f"{name}.mercer")
    with pytest.raises(ModelFileError, match=message):
        mercer.load(forged(tmp_path / "m", forging.changed(manifest, ("model", *place), value), arrays))


# Attributes that a prediction reads; each was missed only when it was asked for.
MISSING = [
    ("isotonic", "_calibration"),
    ("linear", "_calibration"),
    ("precomputed", "n_features_in_"),
    ("subsequences", "_is_flat"),
    ("weights", "_mean_weight"),
]


@pytest.mark.parametrize(("name", "attribute"), MISSING)
def test_a_model_that_lacks_an_attribute_is_not_loaded(name, attribute, files, tmp_path):
    manifest, arrays = parts_of(files / f"{name}.mercer")
    with pytest.raises(ModelFileError, match=f"must have {attribute}"):
        mercer.load(forged(tmp_path / "m", forging.removed(manifest, ("model", "state", attribute)), arrays))


def test_a_classifier_without_its_classes_is_not_loaded(tmp_path):
    mercer.save(SVC().fit(X, Y > 0), tmp_path / "two.mercer")
    manifest, arrays = parts_of(tmp_path / "two.mercer")
    with pytest.raises(ModelFileError, match="must have classes_"):
        mercer.load(forged(tmp_path / "m", forging.removed(manifest, ("model", "state", "classes_")), arrays))


@pytest.mark.parametrize(("part", "value"), [("indices", 2**30), ("indices", -1), ("indptr", 2**30), ("indptr", -5)])
def test_csr_rows_that_point_elsewhere(part, value, files, tmp_path):
    """CVE-2020-28975 is such a file, and a crash."""
    manifest, arrays = parts_of(files / "sparse.mercer")
    name = forging.at(manifest["model"], _find(manifest["model"], "csr"))[part]
    arrays[name][1] = value
    with pytest.raises(ModelFileError, match="CSR matrix"):
        mercer.load(forged(tmp_path / "m", manifest, arrays))


def test_support_vectors_beyond_a_precomputed_matrix(files, tmp_path):
    manifest, arrays = parts_of(files / "precomputed.mercer")
    items = forging.at(manifest["model"], _find(manifest["model"], "MatrixItems"))
    arrays[items["fields"]["index"]["data"]][0] = 12
    with pytest.raises(ModelFileError, match="training items"):
        mercer.load(forged(tmp_path / "m", manifest, arrays))


def test_edges_between_nodes_that_are_not_there(files, tmp_path):
    manifest, arrays = parts_of(files / "graphs.mercer")
    column = forging.at(manifest["model"], _find(manifest["model"], "Graph"))["fields"]["ends"]
    arrays[column["data"]][0, 0] = 3
    with pytest.raises(ModelFileError, match="Graph has 3 nodes"):
        mercer.load(forged(tmp_path / "m", manifest, arrays))


def test_coefficients_that_are_no_numbers(files, tmp_path):
    manifest, arrays = parts_of(files / "dense.mercer")
    group = forging.at(manifest["model"], _find(manifest["model"], "Group"))
    arrays[group["fields"]["coefficients"]["data"]][0] = np.nan
    with pytest.raises(ModelFileError, match="finite"):
        mercer.load(forged(tmp_path / "m", manifest, arrays))


HUGE = {
    "list of None": {"is": "list", "column": {"of": "none", "data": "t0"}},
    "range": {"is": "range", "stop": 2**62},
    "wide texts": {"is": "objects", "dtype": "<U99999999", "shape": [0], "items": {"of": "none", "data": "t0"}},
    "large shape": {"is": "objects", "dtype": "object", "shape": [2**40, 2**20], "items": {"of": "none", "data": "t0"}},
    "empty shape": {"is": "objects", "dtype": "object", "shape": [2**60, 0], "items": {"of": "none", "data": "t0"}},
}  # fmt: skip


@pytest.mark.parametrize("name", HUGE)
def test_sizes_that_are_only_declared_take_no_memory(name, files, tmp_path):
    """At most twice the file, and what the interpreter needs for a small one."""
    manifest, arrays = parts_of(files / "dense.mercer")
    place = ("model", "params", "class_weight")
    path = forged(tmp_path / "m", forging.changed(manifest, place, HUGE[name]), arrays)
    mercer.load(files / "dense.mercer")
    tracemalloc.start()
    with contextlib.suppress(ModelFileError):
        mercer.load(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * path.stat().st_size + 2**20


def test_a_large_file_takes_no_memory_of_its_size(tmp_path):
    rows = np.random.default_rng(0).normal(size=(2500, 1000))
    model = KernelDensity(bandwidth=30.0).fit(rows)
    mercer.save(model, tmp_path / "large.mercer")
    size = (tmp_path / "large.mercer").stat().st_size
    assert size > 2e7
    tracemalloc.start()
    again = mercer.load(tmp_path / "large.mercer")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < size / 10
    assert not again.expansion_.vectors.flags.owndata
    assert np.array_equal(again.score_samples(rows[:5]), model.score_samples(rows[:5]))


def test_other_files_are_not_model_files(tmp_path):
    import pickle

    for content in (b"", b"\x89PNG\r\n", pickle.dumps(X), b"svm_type c_svc\n", b"\x89MERCER\n", bytes(1000)):
        (tmp_path / "m").write_bytes(content)
        with pytest.raises(ModelFileError):
            mercer.load(tmp_path / "m")
    with pytest.raises(FileNotFoundError):
        mercer.load(tmp_path / "nowhere")
    with pytest.raises(IsADirectoryError):
        mercer.load(tmp_path)


@pytest.mark.timeout(30)
def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for read in (mercer.load, describe):
        with pytest.raises(ModelFileError, match="pipe or a device"):
            read(tmp_path / "pipe")


def test_the_error_names_the_file(tmp_path):
    (tmp_path / "notes.mercer").write_bytes(b"hello")
    with pytest.raises(ModelFileError, match=r"notes\.mercer: this is not a Mercer model file"):
        mercer.load(tmp_path / "notes.mercer")
