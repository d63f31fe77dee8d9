"""TU files: what is read, and what is wrong with which line of which file."""

import subprocess
import sys
import zipfile

import numpy as np
import pytest

from mercer import Graph
from mercer._errors import DataError
from mercer.io import read_graphs

FILES = {
    "DS_A.txt": "1, 2\n2, 1\n2, 3\n3, 2\n4, 5\n5, 4\n",
    "DS_graph_indicator.txt": "1\n1\n1\n2\n2\n3\n",
    "DS_graph_labels.txt": "1\n-1\n1\n",
    "DS_node_labels.txt": "0\n1\n0\n2\n2\n1\n",
    "DS_edge_labels.txt": "7\n7\n8\n8\n7\n7\n",
    "DS_node_attributes.txt": "0.5, 1\n1, 2\n2, 3\n3, 4\n4, 5\n5, 6e-1\n",
    "DS_graph_attributes.txt": "0.25\n0.5\n1e3\n",
    "README.txt": "anything",
}


def written(folder, **changes):
    for name, text in {**FILES, **{key + ".txt": value for key, value in changes.items()}}.items():
        if text is not None:
            (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def zipped(folder, path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in folder.iterdir():
            archive.write(file, f"DS/{file.name}")
    return path


def test_folder_and_zip(tmp_path):
    folder = tmp_path / "DS"
    folder.mkdir()
    for source in (written(folder), zipped(folder, tmp_path / "DS.zip"), str(folder)):
        found = read_graphs(source)
        assert found.name == "DS"
        assert found.labels.tolist() == [1, -1, 1]
        assert found.targets.tolist() == [0.25, 0.5, 1000.0]
        first = Graph(
            [(0, 1), (1, 2)],
            node_labels=[0, 1, 0],
            edge_labels=[7, 8],
            node_attributes=[[0.5, 1], [1, 2], [2, 3]],
        )
        assert found.graphs[0] == first
        assert [graph.n_nodes for graph in found.graphs] == [3, 2, 1]
        assert [graph.n_edges for graph in found.graphs] == [2, 1, 0]


def test_numbers_on_edges(tmp_path):
    found = read_graphs(written(tmp_path, DS_edge_attributes="1\n1\n2\n2\n.5\n.5\n"))
    assert [graph.edge_attributes.ravel().tolist() for graph in found.graphs] == [[1.0, 2.0], [0.5], []]
    written(tmp_path, DS_edge_attributes="1\n1\n2\n3\n.5\n.5\n")
    with pytest.raises(
        DataError, match=r"DS_edge_attributes.txt in .*, line 4: the numbers differ from those in line 3"
    ):
        read_graphs(tmp_path)


def test_directed_and_bare(tmp_path):
    rest = dict.fromkeys(("DS_graph_labels", "DS_node_labels", "DS_edge_labels", "DS_node_attributes"))
    folder = written(tmp_path, DS_A="1 2\r\n3 2\r\n", DS_graph_indicator="1\n1\n1\n", DS_graph_attributes=None, **rest)
    found = read_graphs(folder, directed=True)
    assert found.labels is None
    assert found.targets is None
    np.testing.assert_array_equal(found.graphs[0].adjacency().toarray(), [[0, 1, 0], [0, 0, 0], [0, 1, 0]])


def test_graphs_without_edges_or_nodes(tmp_path):
    folder = written(tmp_path, DS_A="", DS_edge_labels="", DS_graph_indicator="1\n1\n1\n3\n3\n3\n")
    found = read_graphs(folder)
    assert [(graph.n_nodes, graph.n_edges) for graph in found.graphs] == [(3, 0), (0, 0), (3, 0)]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"DS_A": None}, "must hold one file whose name ends in _A.txt, got none"),
        ({"XY_A": "1, 2\n"}, "must hold one file whose name ends in _A.txt, got DS_A.txt, XY_A.txt"),
        ({"DS_graph_indicator": None}, "has no DS_graph_indicator.txt"),
        ({"DS_A": "1, 2\n2, x\n"}, r"DS_A.txt in .*, line 2: 2 whole numbers were expected, got '2, x'"),
        ({"DS_A": "1, 2\n2\n"}, r"DS_A.txt in .*, line 2: 2 whole numbers were expected, got '2'"),
        ({"DS_A": "1, 2, 3, 4\n"}, r"DS_A.txt in .*, line 1: 2 whole numbers were expected"),
        ({"DS_A": "1, 2\n\n\n2, 1\n"}, r"DS_A.txt in .*, line 2: 2 whole numbers were expected, got ''"),
        ({"DS_A": "1, 7\n"}, r"DS_A.txt in .*, line 1: nodes are 1 to 6, got \(1, 7\)"),
        ({"DS_A": "1, 2\n0, 1\n"}, r"line 2: nodes are 1 to 6, got \(0, 1\)"),
        ({"DS_A": "1, 2\n3, 4\n"}, r"line 2: nodes \(3, 4\) belong to different graphs"),
        ({"DS_graph_indicator": "1\n1\n2\n1\n2\n3\n"}, "DS_graph_indicator.txt in .*, line 4: graphs must be numbered"),
        (
            {"DS_graph_indicator": "0\n1\n1\n1\n2\n3\n"},
            "line 1: graphs must be numbered from 1 in ascending order, got 0",
        ),
        ({"DS_graph_indicator": "1\n1\n1.5\n2\n2\n3\n"}, "DS_graph_indicator.txt in .*, line 3: 1 whole numbers"),
        (
            {"DS_graph_indicator": "1\n1\n2\n2\n3\n999999999\n"},
            "graph_indicator.txt in .*, line 6: graph 999999999 was not expected, as there are labels of 3 graphs",
        ),
        ({"DS_node_labels": "0\n1\n"}, "DS_node_labels.txt in .* must have 6 lines, got 2"),
        ({"DS_edge_labels": "0\n"}, "DS_edge_labels.txt in .* must have 6 lines, got 1"),
        (
            {"DS_edge_labels": "7\n9\n8\n8\n7\n7\n"},
            "DS_edge_labels.txt in .*, line 2: label 9, but line 1 labels the same",
        ),
        (
            {"DS_graph_labels": "1\nwhat\n1\n"},
            "DS_graph_labels.txt in .*, line 2: 1 whole numbers were expected, got 'what'",
        ),
        (
            {"DS_graph_labels": "1\n92233720368547758080\n1\n"},
            "DS_graph_labels.txt in .*, line 2: 1 whole numbers were expected, got '9223",
        ),
        ({"DS_node_attributes": "1\nnan\n1\n1\n1\n1\n"}, "DS_node_attributes.txt in .*, line 2: 1 finite numbers"),
        ({"DS_node_labels": b"\xff\xfe\n1\n0\n2\n2\n1\n"}, "DS_node_labels.txt in .*, line 1"),
    ],
)
def test_broken_files_are_named_with_the_line(tmp_path, changes, message):
    with pytest.raises(DataError, match=message):
        read_graphs(written(tmp_path, **changes))


def test_broken_zips(tmp_path):
    folder = tmp_path / "DS"
    folder.mkdir()
    path = zipped(written(folder), tmp_path / "DS.zip")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match="is neither a folder nor a valid zip file"):
        read_graphs(path)
    with pytest.raises(DataError, match="there is no folder or file"):
        read_graphs(tmp_path / "nothing")


def test_a_zip_with_a_wrong_byte_anywhere_is_read_or_refused(tmp_path):
    folder = tmp_path / "DS"
    folder.mkdir()
    path = zipped(written(folder), tmp_path / "DS.zip")
    whole = path.read_bytes()
    refused = 0
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            read_graphs(path)
        except DataError:
            refused += 1
    assert refused > 10


def test_graphs_without_labels_are_no_more_than_nodes(tmp_path):
    (tmp_path / "DS_A.txt").write_text("")
    (tmp_path / "DS_graph_indicator.txt").write_text("999999999\n")
    with pytest.raises(DataError, match=r"line 1: graph 999999999 was not expected, as there are 1 nodes in all"):
        read_graphs(tmp_path)


# What a process takes at most is only its own where nothing else has run in it.
MEASURED = """
import resource, sys
import numpy, zipfile
from mercer import DataError
from mercer.io import read_graphs
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
try:
    read_graphs(sys.argv[1], memory_limit=int(sys.argv[2]))
except DataError as error:
    print(error)
else:
    print("read")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before)
"""
BOMBS = {
    "arcs": ("1,1\n" * 6_000_000, "1\n"),
    "nodes": ("", "1\n" * 9_000_000),
    "graphs": ("", "".join(f"{k}\n" for k in range(1, 1_000_000))),
    "one line": ("1" * 60_000_000, "1\n"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_small_zip_of_large_files_is_bounded(name, tmp_path):
    arcs, nodes = BOMBS[name]
    with zipfile.ZipFile(tmp_path / "g.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("DS_A.txt", arcs)
        archive.writestr("DS_graph_indicator.txt", nodes)
    limit = 40_000_000
    command = [sys.executable, "-c", MEASURED, str(tmp_path / "g.zip"), str(limit)]
    said, taken = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")[:2]
    assert "g.zip: the graphs do not fit into 40,000,000 bytes of memory" in said
    assert int(taken) < 2 * limit


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_zips_that_cannot_be_unpacked_piece_by_piece_are_refused(method, tmp_path):
    with zipfile.ZipFile(tmp_path / "g.zip", "w", method) as archive:
        archive.writestr("DS_A.txt", "1, 2\n2, 1\n")
        archive.writestr("DS_graph_indicator.txt", "1\n1\n")
    with pytest.raises(DataError, match="make the zip again with deflate"):
        read_graphs(tmp_path / "g.zip")


def test_lines_are_counted_over_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr("mercer.io.items.graphs.PIECE", 7)
    assert len(read_graphs(written(tmp_path)).graphs) > 0
    (tmp_path / "DS_A.txt").write_text("\n\n" + "1, 2\n" * 20 + "1, x\n")
    with pytest.raises(DataError, match=r"DS_A.txt in .*, line 21: 2 whole numbers were expected"):
        read_graphs(tmp_path)
