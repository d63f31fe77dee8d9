"""Ten-fold cross-validation on databases and on a mixed table, as they come.

``python -m benchmarks.structures.records`` runs all that the data folder has; names choose:
``python -m benchmarks.structures.records mutagenesis trains``. For each kernel: accuracy and balanced
accuracy over the folds, and processor seconds. C is chosen by an inner cross-validation of each
training part, so that no figure has seen its test rows.
"""

import argparse
import gzip
import re
import shutil
import sqlite3
import tempfile
import time
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.model_selection import GridSearchCV, LeaveOneOut, PredefinedSplit, StratifiedKFold

from benchmarks.sets.data import NO_FOLDER, data_folder
from mercer import SVC
from mercer.io import SQLiteDatabase
from mercer.kernels import RBF, Columns, Delta, Linear, Link, Record

SEED = 20
GRID = {"C": [1.0, 10.0, 100.0]}


def unpacked(name, folder):
    """The path of a database of the data folder, unpacked into `folder`."""
    path = Path(folder) / f"{name}.sqlite"
    with gzip.open(data_folder() / "relational" / f"{name}.sqlite.gz") as source, open(path, "wb") as target:
        shutil.copyfileobj(source, target)
    return path


def query(path, sql):
    with sqlite3.connect(path) as connection:
        return pd.read_sql_query(sql, connection)


def describe(name, schema):
    keys = sum(len(table.foreign_keys) for table in schema.values())
    print(f"{name}: {len(schema)} tables, {keys} foreign keys found: {', '.join(schema)}")


def chosen(items, places):
    return items.iloc[places] if hasattr(items, "iloc") else [items[place] for place in places]


def run(title, kernel, items, y, folds):
    """Cross-validate one kernel and print a line; each fold's kernel is bound to its training part."""
    start, found = time.process_time(), np.empty_like(y)
    for train, test in folds.split(items, y):
        known = chosen(items, train)
        fitted = kernel.bind(known)
        search = GridSearchCV(SVC(kernel="precomputed", class_weight="balanced"), GRID, cv=StratifiedKFold(3))
        search.fit(fitted(known), y[train])
        found[test] = search.predict(fitted(chosen(items, test), known))
    seconds = time.process_time() - start
    print(f"  {title:44} {accuracy_score(y, found):6.1%} {balanced_accuracy_score(y, found):9.1%} {seconds:8.1f} s")


def mutagenesis(folder):
    path = unpacked("mutagenesis", folder)
    database, label = (
        SQLiteDatabase(path),
        ["molecule.active", "molecule.log_mutag", "molecule.fold", "molecule.subset"],
    )
    atoms = Columns({"element": Delta(), "type": Delta(), "charge": RBF(1.0)}, combine="product", standardize=True)
    ends = Link("atom", on="atom2", columns=Columns({"element": Delta(), "type": Delta()}, combine="product"))
    bonds = Link("bond", on="atom1", columns={"type": Delta()}, links=[ends], combine="product")
    structure = [
        Link("atom", columns=atoms, links=[bonds], combine="product", how="cosine"),
        Link("ring", columns={"kind": Delta()}, how="cosine"),
    ]
    for subset in (188, 42):
        rows = query(path, f"SELECT id, active, fold FROM molecule WHERE subset = {subset} ORDER BY id")  # noqa: S608
        keys, y = rows["id"].tolist(), rows["active"].to_numpy()
        folds = PredefinedSplit(rows["fold"]) if subset == 188 else StratifiedKFold(10, shuffle=True, random_state=SEED)
        print(f"mutagenesis, {len(y)} molecules, {'published folds' if subset == 188 else 'ten random folds'}")
        for depth in range(3):
            title = f"inferred, depth {depth}"
            run(title, Record("molecule", depth=depth, exclude=label, database=database), keys, y, folds)
        run("atoms and bonds only", Record("molecule", columns={}, links=structure, database=database), keys, y, folds)
        both = Record("molecule", columns=None, links=structure, exclude=label, database=database)
        run("atoms, bonds and the molecule's columns", both, keys, y, folds)


def trains(_):
    """Michalski's trains: logical facts, turned into two tables."""
    with zipfile.ZipFile(data_folder() / "relational" / "trains.zip") as archive:
        facts = re.findall(r"(\w+)\(([^)]*)\)\.", archive.read("facts.txt").decode())
    cars = {car: {"car": car} for name, car in facts if name == "car"}
    for name, arguments in facts:
        first, *rest = arguments.split(",")
        if first in cars and name in ("short", "long", "open_car", "closed", "jagged", "double"):
            cars[first][name] = 1
        elif first in cars and name in ("shape", "wheels"):
            cars[first][name] = rest[0]
        elif first in cars and name == "load":
            cars[first]["load"], cars[first]["pieces"] = rest[0], float(rest[1])
        elif name == "has_car":
            cars[rest[0]]["train"] = first
    names = sorted({car["train"] for car in cars.values()})
    y = np.array([name.startswith("east") for name in names], dtype=int)
    tables = {"train": [{"id": name} for name in names], "car": list(cars.values())}
    whole = {
        "short": Delta(),
        "open_car": Delta(),
        "shape": Delta(),
        "wheels": Delta(),
        "load": Delta(),
        "pieces": RBF(1.0),
    }
    print(f"trains, {len(y)} trains of {len(cars)} cars, each left out once (ten folds)")
    for title, columns in (
        ("cars by column", whole),
        ("cars by pairs of columns", Columns(whole) ** 2),
        ("cars as wholes", Columns(whole, combine="product")),
        ("length and roof together", Columns({"short": Delta(), "open_car": Delta()}, combine="product")),
    ):
        link = Link("car", on=("id", "train"), columns=columns, how="sum")
        kernel = Record("train", "id", {}, [link], database=tables)
        run(title, kernel, names, y, LeaveOneOut())


def berka(folder):
    path = unpacked("berka", folder)
    database = SQLiteDatabase(path)
    describe("berka", database.schema)
    rows = query(path, "SELECT loan_id, status IN ('B', 'D') AS bad FROM loan ORDER BY loan_id")
    keys, y = rows["loan_id"].tolist(), rows["bad"].to_numpy()
    folds = StratifiedKFold(10, shuffle=True, random_state=SEED)
    hidden = ["loan.status", "order.bank_to", "order.account_to", "district.name"]
    for depth in range(3):
        kernel = Record("loan", depth=depth, exclude=hidden, database=database)
        run(f"bad loans, {len(y)}, depth {depth}", kernel, keys, y, folds)


def mixed(folder):
    """Loans with their account and district joined to one table of numbers, dates and categories."""
    path = unpacked("berka", folder)
    table = query(
        path,
        "SELECT l.granted_date, l.amount, l.duration, l.payments, a.create_date, a.frequency, d.region, "
        "d.average_salary, d.unemployment96, d.ratio_urban, "
        "l.status IN ('B', 'D') AS bad FROM loan l JOIN account a USING (account_id) "
        "JOIN district d USING (district_id) ORDER BY l.loan_id",
    )
    for name in ("granted_date", "create_date"):
        table[name] = pd.to_datetime(table[name])
    y, table = table.pop("bad").to_numpy(), table.mask(np.random.default_rng(SEED).random(table.shape) < 0.05)
    folds = StratifiedKFold(10, shuffle=True, random_state=SEED)
    numbers = table.select_dtypes("number")
    print(f"mixed table of loans, {table.shape[0]} x {table.shape[1]}, one value in twenty missing")
    only = Columns(dict.fromkeys(numbers.columns, RBF(1.0)), standardize=True, combine="mean")
    run("numbers only", only, table, y, folds)
    run("Columns.infer", Columns.infer(table), table, y, folds)
    run("Columns.infer, also the time of year", Columns.infer(table, cyclic=["year"]), table, y, folds)


def chinook(folder):
    path = unpacked("chinook", folder)
    database = SQLiteDatabase(path)
    describe("chinook", database.schema)
    rows = query(path, "SELECT TrackId, GenreId FROM Track WHERE GenreId IN (1, 3) ORDER BY TrackId").iloc[::4]
    keys, y = rows["TrackId"].tolist(), (rows["GenreId"] == 3).to_numpy(dtype=int)
    folds = StratifiedKFold(10, shuffle=True, random_state=SEED)
    numbers = Columns({"Milliseconds": RBF(1.0), "Bytes": RBF(1.0), "UnitPrice": Linear()}, standardize=True)
    lists = Link("PlaylistTrack", columns={}, links=[Link("Playlist", columns={"Name": Delta()})])
    run(
        f"rock or metal, {len(y)} tracks, numbers",
        Record("Track", columns=numbers, links=[], database=database),
        keys,
        y,
        folds,
    )
    linked = [Link("MediaType", columns={"Name": Delta()}), lists, Link("InvoiceLine", columns={"Quantity": Delta()})]
    linked.append(Link("Album", columns={}, links=[Link("Artist", columns={"Name": Delta()})]))
    run(
        "with media, playlists, sales and artist",
        Record("Track", columns=numbers, links=linked, database=database),
        keys,
        y,
        folds,
    )


TASKS = {"mutagenesis": mutagenesis, "trains": trains, "berka": berka, "mixed": mixed, "chinook": chinook}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", choices=[*TASKS, []], help="all unless named")
    names = parser.parse_args().names or list(TASKS)
    if data_folder() is None:
        raise SystemExit(NO_FOLDER)
    print(f"  {'kernel':44} {'accuracy':>6} {'balanced':>9} {'cpu':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            TASKS[name](folder)


if __name__ == "__main__":
    main()
