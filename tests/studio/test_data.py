"""Your data: opened, learnt from, explained, tuned, taken home; and every bad file a sentence."""

import io
import json
import time
import zipfile
from types import SimpleNamespace

import numpy as np
import pytest

import mercer
from mercer._errors import DataError
from mercer.selection.tuning.progress import SearchPoint
from mercer.studio.playground import datasets
from mercer.studio.server.quiet_warnings import expected_warnings_ignored
from mercer.studio.server.worker import Job
from mercer.studio.views import explaining, opening, training, tuning
from tests.studio.conftest import ORIGIN, TOKEN

CSV = b"age,town,same,buys\n" + b"".join(
    f"{20 + k % 40},{'Ulm' if k % 3 else 'Bonn'},1,{'yes' if k % 40 > 20 else 'no'}\n".encode() for k in range(80)
)


def run(action, job, **request):
    with expected_warnings_ignored():
        return list(action(request, job))[-1]


def opened(body=CSV, name="shop.csv"):
    job = Job({"files": {"key": (name, body)}})
    header, _ = run(opening.open_data, job, file="key")
    return job, header


@pytest.mark.parametrize("key", datasets.SHIPPED)
def test_every_shipped_set_opens(key):
    job = Job()
    header, _ = run(opening.open_data, job, set=key)
    assert header["rows"] == len(job.memory["data"]) > 100
    assert header["preview"]


def test_a_table_is_described_column_by_column():
    _, header = opened()
    assert [(c["name"], c["kind"], c["constant"]) for c in header["columns"]] == [
        ("age", "numbers", False),
        ("town", "texts", False),
        ("same", "numbers", True),
        ("buys", "texts", False),
    ]
    assert header["target"] == "buys"
    assert {c["name"]: c["left_out"] for c in header["columns"]}["same"] == "the same value everywhere"


def test_a_model_is_trained_scored_saved_and_explained(tmp_path):
    job, _ = opened()
    header, arrays = run(training.train, job, target="buys")
    record = header["record"]
    assert record["model"]["status"] == "OPTIMAL"
    assert record["scores"]["accuracy"] > 0.8
    assert sum(map(sum, record["scores"]["confusion"]["counts"])) == record["scores"]["rows"]
    assert arrays["places"].shape[1] == 2
    path = tmp_path / "model.mercer"
    path.write_bytes(job.memory["made"]["model"][2])
    again = mercer.load(path)
    X, model = job.memory["X"], job.memory["model"]
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert b"<!doctype html>" in job.memory["made"]["report"][2]
    why, _ = run(explaining.explain, job, row=header["list"][0]["row"])
    assert why["kind"] == "term"
    value = why["intercept"] + sum(value for _, value in why["contributions"])
    assert value == pytest.approx(why["decision"])


def test_columns_can_be_left_out():
    job, _ = opened()
    header, _ = run(training.train, job, target="buys", columns=["town"])
    assert header["record"]["data"]["columns"] == ["town"]


def test_texts_are_explained_by_their_words():
    job = Job()
    run(opening.open_data, job, set="texts")
    header, _ = run(training.train, job)
    why, _ = run(explaining.explain, job, row=header["list"][0]["row"])
    assert why["kind"] == "feature"
    assert set(why["text"].split()) & set(why["words"])
    assert sum(why["words"].values()) + why["intercept"] == pytest.approx(why["decision"])


def test_quantities_are_learnt_too():
    job = Job()
    run(opening.open_data, job, set="diabetes")
    header, _ = run(training.train, job, target="target", kernel="linear()")
    assert header["record"]["scores"]["r2"] > 0.2


def test_graphs_in_a_zip_are_read_and_told_apart():
    file = io.BytesIO()
    edges, where, labels, nodes, at = [], [], [], [], 0
    for k in range(24):
        n = 5
        pairs = [(i, (i + 1) % n) for i in range(n)] if k % 2 else [(0, i) for i in range(1, n)]
        edges += [f"{at + a + 1}, {at + b + 1}" for a, b in (*pairs, *((b, a) for a, b in pairs))]
        where += [str(k + 1)] * n
        nodes += ["1"] * n
        labels.append(str(k % 2))
        at += n
    with zipfile.ZipFile(file, "w") as archive:
        for name, lines in (("A", edges), ("graph_indicator", where), ("graph_labels", labels), ("node_labels", nodes)):
            archive.writestr(f"rings_{name}.txt", "\n".join(lines) + "\n")
    job, header = opened(file.getvalue(), "rings.zip")
    assert (header["kind"], header["rows"], header["name"]) == ("graphs", 24, "rings.zip")
    trained, _ = run(training.train, job)
    assert trained["record"]["scores"]["accuracy"] == 1.0


def test_svmlight_rows_are_learnt_from(rng):
    X = rng.normal(size=(60, 4))
    lines = [f"{int(x[0] > 0)} " + " ".join(f"{j + 1}:{v:.3f}" for j, v in enumerate(x)) for x in X]
    job, header = opened("\n".join(lines).encode() + b"\n", "rows.svm")
    assert header["kind"] == "vectors"
    trained, _ = run(training.train, job)
    assert trained["record"]["scores"]["accuracy"] > 0.7


def test_a_parquet_file_is_read(rng):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    file = io.BytesIO()
    x = rng.normal(size=50)
    parquet.write_table(pa.table({"x": x, "z": rng.normal(size=50), "y": (x > 0).astype(int)}), file)
    job, header = opened(file.getvalue(), "rows.parquet")
    assert (header["format"], header["target"]) == ("parquet", "y")
    assert run(training.train, job, target="y")[0]["record"]["scores"]["accuracy"] > 0.7


def test_tuning_fills_its_map_row_by_row_and_keeps_the_best():
    told = []
    job = Job({}, lambda header, arrays: told.append((header, arrays)))
    run(opening.open_data, job, set="iris")
    header, _ = run(tuning.tune, job, target="target")
    maps = [(h["heat"], a["scores"].copy()) for h, a in told if "heat" in h]
    filled = [int(np.isfinite(scores).sum()) for _, scores in maps]
    assert filled == sorted(filled)
    heat, scores = maps[-1]
    assert scores.shape == (len(heat["kernels"]), len(heat["Cs"]))
    assert {"rough", "additive"} <= {kernel.split()[0] for kernel in heat["kernels"]}
    row, column = np.unravel_index(np.nanargmax(scores), scores.shape)
    assert f"C = {heat['Cs'][column]:.4g}" in header["record"]["notes"][-3]
    assert heat["kernels"][row].split()[0] in header["record"]["notes"][-3]
    assert header["record"]["model"]["parameters"]["C"] in heat["Cs"]
    assert "in 5 folds" in header["record"]["notes"][-3]


def test_a_stopped_fit_keeps_the_best_model(rng):
    X = rng.normal(size=(4000, 8))
    y = (X[:, 0] * X[:, 1] + rng.normal(size=4000) > 0).astype(int)
    lines = [
        "a,b,c,d,e,f,g,h,y",
        *(",".join([*(f"{v:.4f}" for v in row), str(k)]) for row, k in zip(X, y, strict=True)),
    ]
    job, _ = opened("\n".join(lines).encode(), "noise.csv")
    job.stop()
    begin = time.monotonic()
    header, _ = run(training.train, job, target="y", C=1e6)
    assert header["record"]["model"]["status"] == "INTERRUPTED"
    assert time.monotonic() - begin < 60
    assert job.memory["made"]["model"][2].startswith(b"\x89MERCER")


def test_a_model_file_is_opened_and_shown():
    job, _ = opened()
    run(training.train, job, target="buys")
    job.memory["files"]["model"] = ("shop.mercer", job.memory["made"]["model"][2])
    header, _ = run(explaining.inspect, job, file="model")
    assert header["model"]["estimator"] == "SVC"
    assert header["file"]["metadata"]["target"] == "buys"
    assert header["model"]["classes"] == ["no", "yes"]


@pytest.mark.parametrize(
    "body", [b"", b"\x89MERCER\n", b"PK\x03\x04", b"cos\nsystem\n(S'true'\ntR.", b"\x80\x04\x95junk"]
)
def test_what_is_no_model_is_a_sentence(open_tab, client, body):
    with open_tab("tab-number-one") as tab:
        query = {"token": TOKEN, "tab": tab.hello["tab"], "name": "m.mercer"}
        key = client.post("/upload", params=query, content=body, headers={"origin": ORIGIN}).json()["file"]
        error = tab.ask("inspect", file=key)[0]["error"]
    assert "m.mercer" in error
    assert "/tmp" not in error  # noqa: S108 - no path of ours is told


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("empty.csv", b""),
        ("header.csv", b"a,b,c\n"),
        ("ragged.csv", b"a,b\n1,2\n3,4,5\n6,7\n"),
        ("binary.csv", bytes(range(256)) * 3),
        ("broken.parquet", b"PAR1 nothing here PAR1"),
        ("broken.zip", b"PK\x03\x04 nothing here"),
        ("pickle.pkl", b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00\x8c\x02os\x94\x8c\x06system\x94\x93\x94."),
        ("broken.jsonl", b'{"a": 1}\n{"a": \n'),
        ("rows.svm", b"1 1:2 x:y\n"),
    ],
)
def test_broken_files_are_a_sentence_and_the_tab_goes_on(open_tab, client, name, body):
    with open_tab("tab-number-one") as tab:
        query = {"token": TOKEN, "tab": tab.hello["tab"], "name": name}
        key = client.post("/upload", params=query, content=body, headers={"origin": ORIGIN}).json()["file"]
        header, _ = tab.ask("open", file=key)
        if "error" not in header:  # some garbage is a table of texts
            header, _ = tab.ask("train", target=header.get("target"))
        assert header["error"]
        assert tab.ask("open", set="iris")[0]["rows"] == 150


def test_an_archive_that_unpacks_to_too_much_is_refused(monkeypatch):
    monkeypatch.setattr("mercer.studio.playground.datasets.MOST_UNPACKED", 2**20)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("rings_A.txt", "1, 2\n" * 100_000)
        archive.writestr("rings_graph_indicator.txt", "1\n1\n")
    with pytest.raises(DataError, match=r"rings.zip: the graphs do not fit into 1,048,576 bytes"):
        datasets.open_upload("rings.zip", file.getvalue())


def test_a_name_from_the_client_is_never_opened(tmp_path):
    secret = tmp_path / "secret.csv"
    secret.write_text("a,b\n1,2\n")
    found = datasets.open_upload(str(secret), b"x,y\n5,6\n7,8\n")
    assert found.columns == ["x", "y"]
    assert found.name == "secret.csv"


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"target": "nobody"}, "one of the columns"),
        ({"target": "buys", "columns": []}, "at least one column"),
        ({"target": "same"}, "'same' has the same value '1' in all 80 rows; there must be at least two"),
        ({"target": "buys", "C": 0}, "C must be"),
        ({"target": "buys", "kernel": "nonsense("}, "nonsense"),
        ({"target": "buys", "columns": ["same"], "kernel": "chi2()@town"}, "town"),
    ],
)
def test_settings_that_cannot_be_are_a_sentence(request_, words):
    job, _ = opened()
    with pytest.raises((mercer.MercerError, ValueError), match=words):
        run(training.train, job, **request_)


def test_a_column_of_constants_does_no_harm():
    job, _ = opened()
    header, _ = run(training.train, job, target="buys", columns=["age", "same"], kernel="rbf()")
    assert header["record"]["model"]["status"] == "OPTIMAL"


def test_nothing_can_be_asked_of_nothing(open_tab):
    with open_tab() as tab:
        assert "open a file" in tab.ask("train", target="x")[0]["error"]
        assert "train a model" in tab.ask("explain", row=0)[0]["error"]
        assert "choose it again" in tab.ask("open", file="../../etc/passwd")[0]["error"]


@pytest.mark.parametrize("row", [-1, 10**9, None, "0", 1.5, True])
def test_rows_that_are_no_rows_are_a_sentence(row):
    job, _ = opened()
    run(training.train, job, target="buys")
    if row is True:
        return  # a whole number to Python, and row 1
    with pytest.raises(mercer.ParameterError, match="row must be"):
        run(explaining.explain, job, row=row)


def test_a_reloaded_tab_finds_its_model(open_tab):
    with open_tab("tab-number-one") as tab:
        tab.ask("open", set="iris")
        number = tab.send("train", target="target")
        while "record" not in (header := tab.receive()[0]):
            assert header["n"] == number
    with open_tab("tab-number-one") as again:
        header, _ = again.ask("resume")
        assert header["opened"]["rows"] == 150
        assert header["record"]["model"]["status"] == "OPTIMAL"
    with open_tab() as other:
        assert other.ask("resume")[0]["opened"] is None


def test_the_model_and_the_report_are_downloaded(open_tab, client):
    with open_tab("tab-number-one") as tab:
        tab.ask("open", set="iris")
        tab.send("train", target="target")
        while "record" not in tab.receive()[0]:
            pass
        query = {"token": TOKEN, "tab": tab.hello["tab"]}
        model = client.get("/download", params={**query, "what": "model"})
        report = client.get("/download", params={**query, "what": "report"})
        other = client.get("/download", params={**query, "tab": "somebody-else", "what": "model"})
    assert model.content.startswith(b"\x89MERCER")
    assert "attachment" in report.headers["content-disposition"]
    assert other.status_code == 404


def test_names_and_labels_of_a_file_are_escaped_in_the_report():
    script = "<script>alert(1)</script>"
    body = f"a,{script}\n".encode() + b"".join(f"{k},{script if k % 2 else 'b'}\n".encode() for k in range(40))
    job, header = opened(body, f"{script}.csv")
    assert header["columns"][1]["name"] == script
    run(training.train, job, target=script)
    assert script.encode() not in job.memory["made"]["report"][2]
    assert json.dumps(header)


@pytest.mark.parametrize("name", ["rings.zip", "../../etc/rings.zip"])
def test_what_is_wrong_with_a_zip_is_said_by_its_own_name(name):
    """No path of this machine is shown, and nothing is written to it."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("rings_A.txt", "1, 2\n1, x\n")
        archive.writestr("rings_graph_indicator.txt", "1\n1\n")
    with pytest.raises(DataError, match=r"^rings_A.txt in rings.zip, line 2: 2 whole numbers were expected"):
        datasets.open_upload(name, file.getvalue())


def test_the_best_of_the_map_is_the_best_of_those_judged_on_the_most_rows():
    """A higher score on fewer rows is luck as much as merit, and its setting has been given up."""
    sent = []
    heat = tuning.Heat(SimpleNamespace(send=lambda *what: sent.append(what), watch=lambda _: False), "accuracy")
    lucky, steady = {"family": "rough", "gamma": 1.0, "C": 1.0}, {"family": "rough", "gamma": 1.0, "C": 10.0}
    for rows, judged in ((100, ((lucky, 0.967), (steady, 0.95))), (400, ((steady, 0.958),))):
        heat._note(SearchPoint(0.0, 0.0, 1, 2, 0.0, None, judged, rows))
    told, arrays = sent[-1]
    assert told["heat"]["best"] == [0.958, 0, 1]
    assert (arrays["scores"].tolist(), arrays["rows"].tolist()) == ([[0.967, 0.958]], [[100, 400]])
    assert told["heat"]["rows"] == 400
