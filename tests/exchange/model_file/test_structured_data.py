"""Models of texts, trees, graphs, nodes, tables and records come back from their files as they were."""

import datetime as dt

import numpy as np
import pytest

import mercer
from mercer import SVC, Graph, KernelPCA, KernelRidge, OneClassSVM, PegasosSVC, Tree
from mercer import kernels as k
from mercer.kernels.relational.tables import Tables
from tests.exchange.sameness import same, same_answers

SIDES = np.arange(24) % 2


def round_trip(model, tmp_path, kernels=None):
    path = tmp_path / "model.mercer"
    mercer.save(model, path, kernels=kernels)
    return mercer.load(path, kernels)


def texts():
    return [f"{'abc' * (place % 3)} x{'yz'[place % 2]} \N{GREEK SMALL LETTER ALPHA}{place}" for place in range(24)]


def trees():
    return [Tree.parse(f"(S (NP a{place % 4}) (VP (V {'xy'[place % 2]}) b))") for place in range(24)]


def graphs(**more):
    """Rings and stars, with all that a graph can have."""
    found = []
    for place in range(24):
        n = 4 + place % 3
        edges = [(i, (i + 1) % n) if place % 2 else (0, i or 1) for i in range(n)]
        edges = list(dict.fromkeys(edges))
        found.append(
            Graph(
                edges,
                nodes=n,
                node_labels=[("C", "N", None, 3, ("a", 1.5))[(i + place) % 5] for i in range(n)],
                edge_labels=[i % 2 for i in range(len(edges))],
                weights=[1.0 + i for i in range(len(edges))],
                directed=False,
                **more,
            )
        )
    return found


ITEMS = {
    "spectrum": (k.Spectrum(2), texts()),
    "spectrum, normalised, with numbers": (k.Spectrum(3).normalized() + 0.5 * k.Spectrum(1), texts()),
    "mismatch": (k.Mismatch(3, 1), texts()),
    "subsequence": (k.Subsequence(2, decay=0.5), texts()),
    "texts in an array": (k.Spectrum(2), np.array(texts())),
    "texts as objects": (k.Spectrum(2), np.array(texts(), dtype=object)),
    "bytes": (k.Spectrum(2), [text.encode() for text in texts()]),
    "subtree": (k.Subtree(), trees()),
    "subset tree": (k.SubsetTree(decay=0.4), trees()),
    "partial tree": (k.PartialTree(), trees()),
    "tree in brackets": (k.SubsetTree(), [str(tree) for tree in trees()]),
    "weisfeiler-lehman": (k.WeisfeilerLehman(2), graphs()),
    "label path": (k.LabelPath(3), graphs()),
    "shortest path": (k.ShortestPath(), graphs()),
    "graphlet": (k.Graphlet(), graphs()),
    "random walk": (k.RandomWalk(), graphs()),
}


@pytest.mark.parametrize("name", ITEMS)
def test_items(name, tmp_path):
    kernel, items = ITEMS[name]
    model = SVC(kernel=kernel).fit(items, SIDES)
    again = round_trip(model, tmp_path)
    same_answers(model, again, items)
    same(model, again)


@pytest.mark.parametrize("estimator", [KernelRidge, KernelPCA, OneClassSVM, PegasosSVC])
def test_texts_in_other_estimators(estimator, tmp_path):
    model = estimator(kernel=k.Spectrum(2)).fit(texts(), SIDES)
    same_answers(model, round_trip(model, tmp_path), texts())


def test_graphs_with_numbers_at_their_nodes(tmp_path):
    items = [
        Graph(graph.ends, nodes=graph.n_nodes, node_attributes=np.arange(2.0 * graph.n_nodes).reshape(-1, 2))
        for graph in graphs()
    ]
    model = SVC(kernel=k.ShortestPath(labeled=False, attributes=k.RBF(gamma=0.5))).fit(items, SIDES)
    again = round_trip(model, tmp_path)
    same_answers(model, again, items)
    same(model, again)


def test_graphs_with_numbers_at_their_edges(tmp_path):
    items = [
        Graph(graph.ends, nodes=graph.n_nodes, edge_attributes=np.arange(2.0 * graph.n_edges).reshape(-1, 2))
        for graph in graphs()
    ]
    model = SVC(kernel=k.RandomWalk(0.01, labeled=False, edge_attributes=k.RBF(gamma=0.5))).fit(items, SIDES)
    again = round_trip(model, tmp_path)
    same_answers(model, again, items)
    same(model, again)


def web():
    names = [f"page {place}" for place in range(24)]
    return Graph([(names[i], names[(i * 5 + 1) % 24]) for i in range(24)], nodes=names, directed=True)


@pytest.mark.parametrize(
    "kernel",
    [
        lambda graph: k.Diffusion(graph, beta=0.5),
        lambda graph: k.RegularizedLaplacian(graph) + k.CoCitation(graph, self_links=True),
        lambda graph: k.AtNodes(graph, dict(zip(graph.nodes, texts(), strict=True)), k.Spectrum(2)),
        lambda graph: k.AtNodes(graph, np.arange(48.0).reshape(24, 2), k.RBF()),
    ],
)
def test_nodes_of_a_graph(kernel, tmp_path):
    graph = web()
    model = SVC(kernel=kernel(graph)).fit(list(graph.nodes), SIDES)
    again = round_trip(model, tmp_path)
    same_answers(model, again, list(graph.nodes))


def rows():
    return [
        {
            "age": 20.0 + place if place % 5 else None,
            "town": ("Ulm", "Bonn", "Köln")[place % 3],
            "since": dt.date(2020, 1, 1) + dt.timedelta(days=37 * place),
            "is_in": bool(place % 2),
            "text": texts()[place],
        }
        for place in range(24)
    ]


def column_kernel():
    return k.Columns(
        {"age": k.RBF(), "town": k.Delta(), "since": k.RBF(), "is_in": k.Delta(), "text": k.Spectrum(2).normalized()},
        weights={"town": 2.0},
        standardize=True,
    )


def test_a_table_of_dictionaries(tmp_path):
    model = SVC(kernel=column_kernel()).fit(rows(), SIDES)
    again = round_trip(model, tmp_path)
    same_answers(model, again, rows())
    same(model, again)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_data_frame(library, tmp_path):
    module = pytest.importorskip(library)
    columns = {name: [row[name] for row in rows()] for name in rows()[0]}
    frame = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    if library == "pandas":
        frame["since"] = module.to_datetime(frame["since"])
        frame["town"] = frame["town"].astype("category")
    model = SVC(kernel=column_kernel()).fit(frame, SIDES)
    again = round_trip(model, tmp_path)
    same_answers(model, again, frame)
    assert type(again.support_vectors_) is type(frame)
    assert again.support_vectors_.equals(model.support_vectors_)
    assert again.feature_names_in_.tolist() == model.feature_names_in_.tolist()


def test_times_with_a_zone(tmp_path):
    pl = pytest.importorskip("polars")
    start = dt.datetime(2020, 1, 1, 7, 30, tzinfo=dt.UTC)
    times = [start + dt.timedelta(hours=7 * place) if place % 7 else None for place in range(24)]
    frame = pl.DataFrame({"when": times}, schema={"when": pl.Datetime("us", "Europe/Berlin")})
    model = SVC(kernel=k.On("when", k.RBF(gamma=1.0))).fit(frame, SIDES)
    again = round_trip(model, tmp_path)
    same_answers(model, again, frame)
    assert again.support_vectors_.equals(model.support_vectors_)


def database():
    return {
        "train": [{"id": place, "wheels": 2.0 + place % 3} for place in range(24)],
        "car": [{"train": place // 2, "roof": ("flat", "none", "arc")[place % 3]} for place in range(48)],
    }


def test_records(tmp_path):
    cars = k.Link("car", on=("id", "train"), columns={"roof": k.Delta()}, how="sum")
    for tables in (database(), Tables(database(), {"train": "id"}, ["car.train -> train.id"])):
        kernel = k.Record("train", "id", columns={"wheels": k.RBF()}, links=[cars], database=tables)
        model = SVC(kernel=kernel).fit(list(range(24)), SIDES)
        again = round_trip(model, tmp_path)
        same_answers(model, again, list(range(24)))


def test_a_database_is_given_again(tmp_path):
    import sqlite3

    from mercer.io import SQLiteDatabase

    connection = sqlite3.connect(tmp_path / "trains.sqlite")
    connection.execute("create table train (id integer primary key, wheels real)")
    connection.executemany("insert into train values (?, ?)", [(place, 2.0 + place % 3) for place in range(24)])
    connection.commit()
    connection.close()
    trains = SQLiteDatabase(tmp_path / "trains.sqlite")
    kernel = k.Record("train", "id", columns={"wheels": k.RBF()}, links=[], database=trains)
    model = SVC(kernel=kernel).fit(list(range(24)), SIDES)
    with pytest.raises(mercer.ParameterError, match="SQLiteDatabase cannot be saved"):
        mercer.save(model, tmp_path / "m.mercer")
    again = round_trip(model, tmp_path, kernels={"trains": trains})
    same_answers(model, again, list(range(24)))
    with pytest.raises(mercer.ParameterError, match="'trains'"):
        mercer.load(tmp_path / "model.mercer")


def test_many_items_make_no_long_manifest(tmp_path):
    """Bulk is in arrays: five thousand graphs, or a thousand rounds of a trace."""
    from mercer.exchange.model_file.container import LONGEST_MANIFEST, read_model_file

    items = graphs() * 200
    mercer.save(SVC(kernel=k.LabelPath(2), tol=0.1).fit(items, np.arange(len(items)) % 2), tmp_path / "m.mercer")
    _, arrays = read_model_file(tmp_path / "m.mercer")
    head = (tmp_path / "m.mercer").read_bytes()[16:24]
    assert int.from_bytes(head, "little") < LONGEST_MANIFEST // 20
    assert len(arrays) < 200
