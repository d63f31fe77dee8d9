"""The Boston housing data in the forms in which they go round; all numbers here are made up."""

import csv
import io

import numpy as np
import pytest

from benchmarks.sets.data import data_folder
from mercer import DataError, ParameterError
from mercer.io import read_boston_housing
from mercer.io.housing import COLUMNS

ABOUT = "The Boston house-price data, made up.\n\nVariables in order:\n CRIM crime rate\n MEDV value in $1000's\n\n"


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return rng.uniform(0.0, 100.0, size=(9, 14)).round(4)


def plain(table):
    return "".join(" " + "  ".join(f"{value:8.4f}" for value in row) + "\n" for row in table)


def statlib(table):
    def line(values):
        return " ".join(f"{value:9.4f}" for value in values) + "\n"

    return ABOUT + "".join(line(row[:11]) + "  " + line(row[11:]) for row in table)


def comma(table, names=COLUMNS, index=False, counts=False, quoted=False):
    file = io.StringIO()
    writer = csv.writer(file, quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL)
    if counts:
        writer.writerow([len(table), 13, *[""] * 12])
    writer.writerow([*([""] if index else []), *names])
    writer.writerows([[*([k + 1] if index else []), *row] for k, row in enumerate(table.tolist())])
    return file.getvalue()


FORMS = {
    "housing.data": plain,
    "StatLib": statlib,
    "capitals": comma,
    "small letters": lambda table: comma(table, [name.lower() for name in COLUMNS]),
    "numbered": lambda table: comma(table, [*[name.lower() for name in COLUMNS[:11]], "black", "lstat", "medv"], True),
    "scikit-learn's": lambda table: comma(table, counts=True, quoted=True),
    "no header": lambda table: "".join(",".join(map(str, row)) + "\n" for row in table.tolist()),
    "byte order mark": lambda table: "\ufeff" + comma(table),
    "Windows": lambda table: plain(table).replace("\n", "\r\n"),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_read(form, table, tmp_path):
    path = tmp_path / "boston"
    path.write_text(FORMS[form](table), encoding="utf-8", newline="")
    housing = read_boston_housing(path, n_rows=None)
    assert pytest.approx(table[:, :13]) == housing.X
    assert housing.price == pytest.approx(table[:, 13])
    assert housing.columns == list(COLUMNS[:13])
    assert housing.is_dear.sum() == 4


def test_columns_in_another_order_are_found_by_name(table, tmp_path):
    order = np.random.default_rng(1).permutation(14)
    path = tmp_path / "boston.csv"
    path.write_text(comma(table[:, order], [COLUMNS[k] for k in order]))
    housing = read_boston_housing(path, without=["B", "ZN"], n_rows=9)
    kept = [k for k in range(13) if COLUMNS[k] not in ("B", "ZN")]
    assert pytest.approx(table[:, kept]) == housing.X
    assert housing.columns == [COLUMNS[k] for k in kept]


FAULTS = {
    "a part": (plain, {}, "must have 506 rows, got 9; n_rows=None accepts any number"),
    "too short": (lambda t: plain(t)[:-10], {"n_rows": None}, "the last row must have 14 numbers, got 13"),
    "too long": (
        lambda t: plain(t[:1]) + "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n",
        {},
        "a row must have 14 numbers, got 15",
    ),
    "a word": (lambda t: plain(t) + " 1 2 x\n", {}, "line 10: INDUS must be a finite number, got 'x'"),
    "missing": (
        lambda t: comma(t).replace(str(t[0, 0]), "NA", 1),
        {},
        "line 2: CRIM must be a finite number, got 'NA'",
    ),
    "empty cell": (lambda t: comma(t).replace(str(t[0, 0]), "", 1), {}, "line 2: CRIM must be .*, got an empty value"),
    "ragged": (lambda t: comma(t) + "1,2\n", {}, "line 11: there are 2 values for 14 columns"),
    "a column less": (lambda t: comma(t[:, 1:], COLUMNS[1:]), {}, "has no column CRIM; the columns must be CRIM, ZN"),
    "no rows": (lambda t: comma(t[:0]), {}, "has no rows after its names"),
    "another file": (
        lambda _: "sepal,petal\n1,2\n",
        {},
        "has neither a line of names with MEDV nor rows of 14 numbers",
    ),
    "empty": (lambda _: "", {}, "has neither a line of names with MEDV nor rows of 14 numbers"),
    "large": (lambda _: "1 " * 2**20, {}, "has 2,097,152 bytes, too many for the Boston housing data"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_wrong_is_said(fault, table, tmp_path):
    write, options, message = FAULTS[fault]
    path = tmp_path / "boston"
    path.write_text(write(table))
    with pytest.raises(DataError, match=message):
        read_boston_housing(path, **options)


def test_columns_that_are_none_are_refused(tmp_path):
    with pytest.raises(ParameterError, match=r"without must name columns among CRIM, .*, got 'MEDV'"):
        read_boston_housing(tmp_path / "none", without="MEDV")
    with pytest.raises(ParameterError, match="without must leave at least one column"):
        read_boston_housing(tmp_path / "none", without=COLUMNS[:13])
    with pytest.raises(FileNotFoundError):
        read_boston_housing(tmp_path / "none")


# The numbers themselves, where the data of the races are there.
if data_folder() is not None:

    def test_the_real_rows_survive_every_form(tmp_path):
        with np.load(data_folder() / "regression" / "boston.npz") as held:
            table = np.column_stack([held["X"], held["y"]]).astype(np.float64)
        for write in (comma, lambda rows: "\n".join(" ".join(map(repr, row)) for row in rows.tolist())):
            path = tmp_path / "boston"
            path.write_text(write(table))
            housing = read_boston_housing(path)
            assert pytest.approx(table[:, :13]) == housing.X
            # 21.2 thousand dollars is the median, and 22 tracts or so have it or nearly so.
            assert abs(housing.is_dear.mean() - 0.5) < 0.03
