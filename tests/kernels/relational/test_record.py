"""Records of databases: values by brute force, every source, and what is refused."""

import pickle
import sqlite3
from contextlib import closing

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from mercer import SVC, DataError, ParameterError
from mercer.io import DuckDBDatabase, SQLiteDatabase
from mercer.kernels import RBF, Columns, Constant, Delta, Linear, Link, On, Record, Tables
from mercer.kernels.relational import branch

SCHEMA = """
CREATE TABLE maker (id INTEGER PRIMARY KEY, country TEXT);
CREATE TABLE train (name TEXT PRIMARY KEY, speed REAL, label INTEGER, maker INTEGER REFERENCES maker(id));
CREATE TABLE car (number INTEGER PRIMARY KEY, train TEXT REFERENCES train(name), roof TEXT, length REAL);
CREATE TABLE load (car INTEGER REFERENCES car(number), what TEXT);
"""
MAKERS = [(1, "CH"), (2, "DE")]
TRAINS = [
    ("a", 80.0, 1, 1),
    ("b", 90.0, 1, 2),
    ("c", None, 0, None),
    ("d", 200.0, 0, 1),
    ("e", 85.0, 1, 2),
    ("f", 210.0, 0, 1),
]
CARS = [(1, "a", "flat", 3.0), (2, "a", None, 2.0), (3, "b", "flat", 3.0), (4, "d", "none", None),
        (5, "d", "none", 9.0), (6, "e", "flat", 2.5), (7, "f", "none", 8.0), (8, "f", "arc", 1.0)]  # fmt: skip
LOADS = [(1, "coal"), (1, "iron"), (3, "coal"), (4, "milk"), (8, "milk"), (5, "iron"), (6, "coal")]
ROWS = {"maker": MAKERS, "train": TRAINS, "car": CARS, "load": LOADS}
NAMES = [train[0] for train in TRAINS]
LABELS = [train[2] for train in TRAINS]
KEYS = ["train.maker -> maker.id", "car.train -> train.name", "load.car -> car.number"]
COLUMNS = {
    "maker": ["id", "country"], "train": ["name", "speed", "label", "maker"],
    "car": ["number", "train", "roof", "length"], "load": ["car", "what"],
}  # fmt: skip


def dictionaries(rows=ROWS):
    return {table: [dict(zip(COLUMNS[table], row, strict=True)) for row in rows[table]] for table in rows}


def filled(connection, rows=ROWS):
    for statement in SCHEMA.strip().split(";\n"):
        connection.execute(statement)
    for table, values in rows.items():
        if values:
            marks = ", ".join("?" * len(values[0]))
            connection.executemany(f"INSERT INTO {table} VALUES ({marks})", values)  # noqa: S608
    connection.commit()
    return connection


class ClosesItself(sqlite3.Connection):
    """A database in memory ends with whoever holds it; from Python 3.13 on a connection wants to be closed before."""

    def __del__(self):
        self.close()


def in_memory():
    # Any thread may be the one that collects it.
    return sqlite3.connect(":memory:", factory=ClosesItself, check_same_thread=False)


def sqlite_memory(rows=ROWS):
    return SQLiteDatabase(filled(in_memory(), rows))


def frames_of(make):
    tables = {name: make(pd.DataFrame(rows)) for name, rows in dictionaries().items()}
    return Tables(tables, {"train": "name", "car": "number", "maker": "id"}, KEYS)


SOURCES = {
    "sqlite": sqlite_memory,
    "duckdb": lambda: DuckDBDatabase(filled(duckdb.connect())),
    "pandas": lambda: frames_of(lambda frame: frame),
    "polars": lambda: frames_of(pl.from_pandas),
    "pyarrow": lambda: frames_of(lambda frame: pa.Table.from_pandas(frame, preserve_index=False)),
    "dictionaries": lambda: Tables(dictionaries(), {"train": "name"}, KEYS),
}


def both(u, v, compare):
    return float(u is None and v is None) if u is None or v is None else compare(u, v)


def same(u, v):
    return float(u == v)


def near(gamma):
    return lambda u, v: float(np.exp(-gamma * (u - v) ** 2))


def over_sets(first, second, compare, how):
    total = sum(compare(a, b) for a in first for b in second)
    if not first or not second:
        return 0.0
    if how == "mean":
        return total / (len(first) * len(second))
    if how == "cosine":
        own = [sum(compare(a, b) for a in group for b in group) for group in (first, second)]
        return total / np.sqrt(own[0] * own[1]) if min(own) > 0 else 0.0
    return total


def by_hand(rows, how="sum"):
    """The record kernel of EXPLICIT, written out over dictionaries."""
    tables = dictionaries(rows)

    def cars(train):
        return [car for car in tables["car"] if car["train"] == train["name"]]

    def loads(car):
        return [load for load in tables["load"] if load["car"] == car["number"]]

    def of_cars(a, b):
        columns = both(a["roof"], b["roof"], same) + 0.5 * both(a["length"], b["length"], near(0.1))
        return columns * (1.0 + 2.0 * over_sets(loads(a), loads(b), lambda u, v: both(u["what"], v["what"], same), how))

    def makers(train):
        return [maker for maker in tables["maker"] if maker["id"] == train["maker"]]

    def of_trains(s, t):
        linked = over_sets(cars(s), cars(t), of_cars, how)
        made = over_sets(makers(s), makers(t), lambda u, v: both(u["country"], v["country"], same), how)
        return both(s["speed"], t["speed"], near(1e-3)) + linked + made

    return np.array([[of_trains(s, t) for t in tables["train"]] for s in tables["train"]]).reshape(
        len(tables["train"]), len(tables["train"])
    )


def explicit(database, how="sum", **parameters):
    cars = Columns({"roof": Delta(), "length": RBF(0.1)}, weights={"length": 0.5})
    return Record(
        "train",
        columns={"speed": RBF(1e-3)},
        links=[
            Link(
                "car", columns=cars, how=how, combine="product",
                links=[Link("load", columns={"what": Delta()}, how=how, weight=2.0)],
            ),
            Link("maker", columns={"country": Delta()}, how=how),
        ],
        database=database,
        **parameters,
    )  # fmt: skip


@pytest.mark.parametrize("how", ["sum", "mean", "cosine"])
@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_values_are_those_written_out(source, how):
    kernel, expected = explicit(source(), how), by_hand(ROWS, how)
    np.testing.assert_allclose(kernel(NAMES), expected, atol=1e-12)
    np.testing.assert_allclose(kernel(["d", "a", "d"], NAMES), expected[[3, 0, 3]], atol=1e-12)
    np.testing.assert_allclose(kernel.diag(NAMES), np.diag(expected), atol=1e-12)
    assert kernel.is_psd
    assert np.linalg.eigvalsh(expected)[0] > -1e-10


@pytest.mark.parametrize("how", ["sum", "mean", "cosine"])
def test_values_are_the_same_in_blocks(how, monkeypatch):
    monkeypatch.setattr(branch, "WHOLE", 0)
    monkeypatch.setattr(branch, "CHUNK", 2)
    np.testing.assert_allclose(explicit(sqlite_memory(), how)(NAMES), by_hand(ROWS, how), atol=1e-12)


words = st.sampled_from(["x", "y", None])
numbers = st.sampled_from([0.0, 1.0, 2.5, None])


@st.composite
def databases(draw):
    makers = [(1, draw(words)), (2, draw(words))]
    trains = [
        (name, draw(numbers), 0, draw(st.sampled_from([1, 2, None]))) for name in "abcde"[: draw(st.integers(1, 5))]
    ]
    owners = st.sampled_from([*(train[0] for train in trains), None])
    cars = [(k, draw(owners), draw(words), draw(numbers)) for k in range(draw(st.integers(0, 6)))]
    loads = [(draw(st.integers(0, len(cars) - 1)), draw(words)) for _ in range(draw(st.integers(0, 6)) if cars else 0)]
    return {"maker": makers, "train": trains, "car": cars, "load": loads}


@settings(max_examples=60, deadline=None)
@given(databases(), st.sampled_from(["sum", "mean", "cosine"]))
def test_small_databases_against_brute_force(rows, how):
    names, expected = [train[0] for train in rows["train"]], by_hand(rows, how)
    np.testing.assert_allclose(explicit(sqlite_memory(rows), how)(names), expected, atol=1e-10)
    in_frames = Tables(dictionaries(rows) | {"load": pd.DataFrame(rows["load"], columns=COLUMNS["load"]),
                                             "car": pd.DataFrame(rows["car"], columns=COLUMNS["car"])},
                       {"train": "name"}, KEYS)  # fmt: skip
    np.testing.assert_allclose(explicit(in_frames, how)(names), expected, atol=1e-10)


def test_links_are_found_where_keys_are_declared():
    shallow = Record("train", database=sqlite_memory(), exclude="train.label").bind(NAMES)
    assert shallow.labels == ["maker", "car"]
    assert set(shallow.columns.kernels) == {"speed"}
    deep = shallow.replace(links=None, columns=None, depth=3).bind(NAMES)
    car = deep.onwards[1]
    # Not back to the train along the key by which one came.
    assert [(link.table, link.on, link.direction) for link in car.onwards] == [("load", "car", "from")]
    assert car.onwards[0].onwards == ()
    assert set(car.columns.kernels) == {"roof", "length"}
    makers = deep.onwards[0]
    assert [(link.table, link.direction) for link in makers.onwards] == []
    without = Record("train", database=sqlite_memory(), depth=2, exclude=["load", "train.label"]).bind(NAMES)
    assert without.onwards[1].onwards == ()
    for kernel in (shallow, deep, without):
        assert np.linalg.eigvalsh(kernel(NAMES))[0] > -1e-10


def test_cycles_end_at_the_depth_and_may_be_asked_for():
    staff = [
        {"id": 1, "boss": None, "role": "head"},
        {"id": 2, "boss": 1, "role": "cook"},
        {"id": 3, "boss": 1, "role": "cook"},
    ]
    tables = Tables({"staff": staff}, {"staff": "id"}, ["staff.boss -> staff.id"])
    found = Record("staff", database=tables, depth=4).bind([1, 2, 3])
    ways = [(link.direction, [inner.direction for inner in link.onwards]) for link in found.onwards]
    # A key to the same table can be followed on, to the boss's boss, but not turned round.
    assert ways == [("to", ["to"]), ("from", ["from"])]
    role = {"role": Delta()}
    back = Link("staff", "boss", role, how="sum", direction="from")
    siblings = Record(
        "staff", columns={}, links=[Link("staff", "boss", {}, [back], "sum", direction="to")], database=tables
    )
    # 2 and 3 have the boss 1, who has both: 1 + (1 + 2 * 2).
    np.testing.assert_array_equal(siblings([2, 3]), [[6.0, 6.0], [6.0, 6.0]])
    with pytest.raises(DataError, match=r"more than one foreign key links 'staff' and 'staff'.*direction"):
        Record("staff", links=["staff"], database=tables)([1])


def test_equal_rows_are_compared_once():
    kernel = explicit(sqlite_memory())
    prepared = kernel.bind(NAMES).prepare(NAMES)
    cars, loads = prepared.branch.sets[0].child, prepared.branch.sets[0].child.sets[0].child
    assert len(loads) == 3  # coal, iron and milk, of seven
    assert len(cars) == len(CARS)
    plain = Record(
        "train", columns={}, links=[Link("car", columns={"roof": Delta()}, how="sum")], database=sqlite_memory()
    )
    assert len(plain.prepare(NAMES).branch.sets[0].child) == 4  # flat, arc, none and no value


def test_features_have_the_kernel_as_inner_products():
    parts = {"roof": Delta(), "length": Linear()}
    for how in ("sum", "mean", "cosine"):
        for combine in ("sum", "product"):
            loads = Link("load", columns={"what": Delta()}, how=how, weight=0.5)
            link = Link("car", columns=parts, how=how, links=[loads], combine=combine)
            kernel = Record("train", columns={"speed": Linear()}, links=[link], database=sqlite_memory())
            features = kernel.feature_map(NAMES)
            assert features.shape[1] == len(kernel.feature_names(NAMES))
            np.testing.assert_allclose((features @ features.T).toarray(), kernel(NAMES), atol=1e-9)
    assert "car: load: what: coal" in Record(
        "train", columns={}, links=[Link("car", columns={}, links=[loads])], database=sqlite_memory()
    ).feature_names(NAMES)


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_estimators_take_the_keys(source):
    kernel = Record("train", database=source(), exclude=["train.label"], depth=2)
    model = SVC(kernel=kernel, C=100.0).fit(NAMES, LABELS)
    assert model.score(NAMES, LABELS) == 1.0
    assert sorted(model.support_vectors_) == sorted(NAMES[k] for k in model.support_)
    gram = kernel(NAMES)
    reference = SVC(kernel="precomputed", C=100.0).fit(gram, LABELS)
    np.testing.assert_allclose(model.decision_function(NAMES), reference.decision_function(gram), atol=1e-6)
    assert len(cross_val_score(clone(model), np.array(NAMES), LABELS, cv=2)) == 2


def test_a_search_reaches_a_column_of_linked_rows():
    kernel = explicit(sqlite_memory())
    assert kernel.get_params()["car__columns__length__gamma"] == 0.1
    grid = {"kernel__car__columns__length__gamma": [0.01, 1.0], "kernel__maker__weight": [0.0, 1.0]}
    search = GridSearchCV(SVC(kernel=kernel, C=10.0), grid, cv=2).fit(NAMES, LABELS)
    assert set(search.best_params_) == set(grid)
    np.testing.assert_allclose(
        kernel.replace(maker__weight=0.0, car__weight=0.0)(NAMES),
        Record("train", columns={"speed": RBF(1e-3)}, links=[], database=sqlite_memory())(NAMES),
    )


def test_terms_add_up():
    link = Link(
        "car",
        columns={"roof": Delta(), "length": RBF(0.1)},
        links=[Link("load", columns={"what": Delta()}, how="cosine")],
    )
    kernel = Record("train", columns={"speed": RBF(1e-3)}, links=[link, "maker"], database=sqlite_memory()).bind(NAMES)
    terms = dict(kernel.terms())
    assert list(terms) == ["speed", "car.roof", "car.length", "car.load", "maker.country"]
    np.testing.assert_allclose(sum(term(NAMES, NAMES) for term in terms.values()), kernel(NAMES, NAMES), atol=1e-12)


def test_numbers_are_scaled_by_the_rows_that_training_keys_reach():
    cars = Columns({"length": Linear()}, standardize=True, missing=0.0)
    kernel = Record("train", columns={}, links=[Link("car", columns=cars, how="sum")], database=sqlite_memory())
    bound = kernel.bind(["a", "b"])
    column = bound.onwards[0].columns.kernels["length"].kernel
    np.testing.assert_allclose(column.mean, [np.mean([3.0, 2.0, 3.0])])
    # A key twice, or of no weight, changes nothing.
    assert kernel.bind(["a", "b", "b"]) == bound
    assert kernel.bind(["a", "b", "d"], np.array([1.0, 2.0, 0.0])) == bound


@pytest.mark.parametrize(("module", "source"), [(sqlite3, SQLiteDatabase), (duckdb, DuckDBDatabase)])
def test_files_are_read_only_and_travel(tmp_path, module, source):
    path = tmp_path / "trains.db"
    filled(module.connect(str(path))).close()
    before = path.read_bytes()
    model = SVC(kernel=explicit(source(path)), C=100.0).fit(NAMES, LABELS)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own bytes
    np.testing.assert_array_equal(again.decision_function(NAMES), model.decision_function(NAMES))
    assert path.read_bytes() == before
    with (
        closing(module.connect(":memory:")) as connection,
        pytest.raises(ParameterError, match="cannot be sent to another process; pass its path"),
    ):
        pickle.dumps(source(filled(connection)))
    with pytest.raises(DataError, match="there is no database file"):
        source(tmp_path / "other.db")


def test_keys_of_several_columns_and_joins_that_are_not_declared():
    stops = [{"line": 1, "stop": "x", "n": 1.0}, {"line": 1, "stop": "y", "n": 2.0}, {"line": 2, "stop": "x", "n": 4.0}]
    tables = {"stop": stops, "line": [{"id": 1, "kind": "bus"}, {"id": 2, "kind": "tram"}]}
    kernel = Record(
        "stop", ("line", "stop"), {"n": Linear()}, [Link("line", ("line", "id"), {"kind": Delta()})], database=tables
    )
    expected = np.outer([1.0, 2.0, 4.0], [1.0, 2.0, 4.0]) + np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    np.testing.assert_array_equal(kernel([(1, "x"), (1, "y"), (2, "x")]), expected)
    connection = in_memory()
    connection.execute("CREATE TABLE stop (line INTEGER, stop TEXT, n REAL, PRIMARY KEY (line, stop))")
    connection.executemany("INSERT INTO stop VALUES (?, ?, ?)", [tuple(row.values()) for row in stops])
    single = Record("stop", columns={"n": Linear()}, links=[], database=SQLiteDatabase(connection))
    np.testing.assert_array_equal(single([(2, "x"), (1, "y")]), [[16.0, 8.0], [8.0, 4.0]])
    with pytest.raises(DataError, match=r"a key must have 2 values, got 1"):
        single([1])


def test_keys_are_no_columns_to_learn_from():
    tables = {
        "t": [{"id": 1, "v": 1.0, "n": 0}, {"id": 2, "v": 3.0, "n": 0}], "u": [{"t": 1, "w": 2.0}, {"t": 2, "w": 5.0}]
    }  # fmt: skip
    bound = Record("t", "id", links=[Link("u", ("id", "t"))], exclude="t.n", database=tables).bind([1, 2])
    assert list(bound.columns.kernels) == ["v"]
    assert list(bound.onwards[0].columns.kernels) == ["w"]


def test_a_linked_table_without_rows_adds_nothing():
    rows = {**ROWS, "car": [], "load": []}
    kernel = Record("train", database=sqlite_memory(rows), exclude="train.label", depth=2)
    alone = Record("train", database=sqlite_memory(rows), exclude=["train.label", "car"])
    np.testing.assert_allclose(kernel(NAMES), alone(NAMES))
    with pytest.raises(DataError, match="table 'train', of 0 rows, has none with name = 'a'"):
        explicit(sqlite_memory({table: [] for table in ROWS}))(["a"])
    assert explicit(sqlite_memory()).prepare([]).index.shape == (0,)


def test_dangling_keys_are_an_error_or_no_link():
    rows = {**ROWS, "maker": MAKERS[:1]}
    message = r"foreign key train.maker -> maker.id dangles: no row has 2; dangling='ignore'"
    for database in (sqlite_memory(rows), Tables(dictionaries(rows), {"train": "name"}, KEYS)):
        with pytest.raises(DataError, match=message):
            explicit(database)(NAMES)
        np.testing.assert_allclose(explicit(database, dangling="ignore")(NAMES), by_hand(rows), atol=1e-12)


def test_a_key_twice_is_named():
    twice = {"t": [{"id": 7, "v": 1.0}, {"id": 7, "v": 2.0}]}
    message = "key id of table 't' must name one row, but 2 rows have id = 7"
    with pytest.raises(DataError, match=message):
        Record("t", "id", {"v": Linear()}, [], database=twice)([7])
    connection = in_memory()
    connection.execute("CREATE TABLE t (id INTEGER, v REAL)")
    connection.executemany("INSERT INTO t VALUES (?, ?)", [(7, 1.0), (7, 2.0)])
    with pytest.raises(DataError, match=message):
        Record("t", "id", {"v": Linear()}, [], database=SQLiteDatabase(connection))([7])


def test_text_that_is_not_utf8_is_named():
    connection = in_memory()
    connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)")
    connection.execute("INSERT INTO t VALUES (1, CAST(x'61ff' AS TEXT))")
    with pytest.raises(DataError, match=r"holds text that is not UTF-8.*store it as UTF-8"):
        Record("t", columns={"v": Delta()}, links=[], database=SQLiteDatabase(connection))([1])


def no_rowid():
    connection = in_memory()
    connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, v REAL) WITHOUT ROWID")
    return SQLiteDatabase(connection)


FRAMES = {"t": [{"id": 1, "v": 1.0}], "u": [{"t": 1, "w": "x"}]}
REFUSED = {
    "no database": (lambda: Record("t", "id"), ParameterError, "database must be given"),
    "no such table": (
        lambda: Record("trian", database=sqlite_memory())(["a"]), DataError,
        r"the database has no table 'trian' \(did you mean 'train'\?\); it has car, load, maker, train",
    ),
    "no such key": (lambda: Record("t", "idd", database=FRAMES)([1]), DataError, r"no column 'idd' \(did you mean"),
    "no key": (lambda: Record("t", database=FRAMES)([1]), DataError, "table 't' declares no primary key; name one"),
    "no such row": (lambda: Record("t", "id", database=FRAMES)([2]), DataError, "of 1 rows, has none with id = 2"),
    "no such column": (
        lambda: Record("t", "id", {"vv": Linear()}, [], database=FRAMES)([1]), DataError,
        r"table 't' has no column 'vv' \(did you mean 'v'\?\); it has id, v",
    ),
    "no such column in SQL": (
        lambda: Record("train", columns={"sped": RBF()}, links=[], database=sqlite_memory())(["a"]), DataError,
        r"table 'train' has no column 'sped' \(did you mean 'speed'\?\)",
    ),
    "no declared key": (
        lambda: Record("t", "id", links=["u"], database=FRAMES)([1]), DataError,
        r"no declared foreign key links 't' and 'u'; name the columns: Link\('u', on=",
    ),
    "no such linked column": (
        lambda: Record("t", "id", links=[Link("u", ("id", "tt"))], database=FRAMES)([1]), DataError, "no column 'tt'",
    ),
    "two keys to choose from": (
        lambda: Record("b", "id", links=["a"], database=Tables(
            {"a": [{"id": 1}], "b": [{"id": 1, "x": 1, "y": 1}]}, None, ["b.x -> a.id", "b.y -> a.id"]))([1]),
        DataError, "more than one foreign key links 'b' and 'a': b.x -> a.id; b.y -> a.id; choose one by on=",
    ),
    "a table without row numbers": (
        lambda: Record("t", columns={"v": Linear()}, links=[], database=no_rowid())([1]), DataError,
        "without row numbers.*pass its tables as data frames",
    ),
    "a key that is no key": (
        lambda: Record("train", columns={}, links=[], database=sqlite_memory())([b"a"]), DataError,
        "keys must be texts or numbers",
    ),
    "columns": (lambda: Record("t", columns=RBF(), database=FRAMES), ParameterError, "columns must be a dict"),
    "links": (lambda: Record("t", links=[3], database=FRAMES), ParameterError, "links must hold Link"),
    "depth": (lambda: Record("t", depth=-1, database=FRAMES), ParameterError, "depth must be a whole number"),
    "how": (lambda: Link("t", how="max"), ParameterError, "how must be one of sum, mean, cosine, got 'max'"),
    "how of a record": (lambda: Record("t", how="max", database=FRAMES), ParameterError, "how must be one of"),
    "weight": (lambda: Link("t", weight=-1.0), ParameterError, "weight must not be negative"),
    "on": (lambda: Link("t", on=3), ParameterError, "on must be a column, or a pair"),
    "direction": (lambda: Link("t", direction="up"), ParameterError, "direction must be 'to' or 'from'"),
    "combine": (lambda: Link("t", combine="max"), ParameterError, "combine must be 'sum' or 'product'"),
    "dangling": (lambda: Record("t", dangling="x", database=FRAMES), ParameterError, "dangling must be"),
    "table": (lambda: Link(3), ParameterError, "table must be the name of a table, got 3"),
    "frames": (lambda: Tables([]), ParameterError, "frames must be a dict of tables by name"),
    "a foreign key": (lambda: Tables(FRAMES, None, ["u.t = t.id"]), ParameterError, "must be written 'table.column ->"),
    "a foreign key to nowhere": (lambda: Tables(FRAMES, None, ["u.t -> t.idd"]), DataError, "no column 'idd'"),
}  # fmt: skip


@pytest.mark.parametrize(("attempt", "kind", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_and_how(attempt, kind, message):
    with pytest.raises(kind, match=message):
        attempt()


def test_a_column_of_keys_is_compared_by_what_they_stand_for():
    table = pd.DataFrame({"train": ["a", "b", "d"], "day": [1.0, 2.0, 5.0]})
    kernel = On("train", explicit(sqlite_memory())) + On("day", RBF(0.1))
    days = table["day"].to_numpy()
    expected = by_hand(ROWS)[np.ix_([0, 1, 3], [0, 1, 3])] + np.exp(-0.1 * (days[:, None] - days) ** 2)
    np.testing.assert_allclose(kernel(table), expected, atol=1e-12)
    assert SVC(kernel=kernel, C=100.0).fit(table, [1, 1, 0]).predict(table).tolist() == [1, 1, 0]


def test_algebra_and_constants():
    record = explicit(sqlite_memory())
    np.testing.assert_allclose((record + 1.0)(NAMES), by_hand(ROWS) + 1.0)
    np.testing.assert_allclose(record.normalized().diag(NAMES), 1.0)
    product = Record("train", columns=On("speed", RBF(1e-3)) * On("label", Delta()), links=[], database=sqlite_memory())
    assert product(["a"], ["d"]) == 0.0
    assert Record("train", columns=Constant(2.0), links=[], database=sqlite_memory())(["a"]) == 2.0


@pytest.mark.parametrize("name", ["a#b.db", "a?mode=rwc.db", "a%23.db", "ä ö.db"])
def test_files_of_any_name_are_opened_as_they_are_called(name, tmp_path):
    """None of these characters is part of an address; nothing is created beside the file."""
    with closing(sqlite3.connect(tmp_path / name)) as connection:
        filled(connection, ROWS)
        connection.commit()
    database = SQLiteDatabase(tmp_path / name)
    assert "train" in database.schema
    assert [file.name for file in tmp_path.iterdir()] == [name]
