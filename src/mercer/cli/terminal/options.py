"""Options that mean the same in every command."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Group, Parameter

DATA = Group("Data", sort_key=1)
MACHINE = Group("Machine", sort_key=2)
LIMITS = Group("Limits", sort_key=3)
OUTPUT = Group("Output", sort_key=4)

AsJson = Annotated[
    bool, Parameter(name="--json", negative="", group=OUTPUT, help="Print one JSON object on standard output.")
]
Report = Annotated[Path | None, Parameter(group=OUTPUT, help="Write a page with pictures to this file (HTML).")]


def _as_given(_type: Any, tokens: Any) -> Path | str:
    """The address of a database as it was typed; anything else is the name of a file."""
    text = tokens[0].value
    return text if "://" in text else Path(text)


Where = Path | str
Source = Annotated[
    Where,  # also '-': shells complete the names of files
    Parameter(
        converter=_as_given,
        n_tokens=1,
        accepts_keys=False,
        allow_leading_hyphen=True,  # for '-' alone
        help="CSV, a spreadsheet (.xlsx, .ods), Parquet (or a folder of it), Arrow, JSON lines or svmlight, also .gz "
        "or .xz; SQLite, DuckDB, or the address of a database, postgresql://me@host/bank; a folder of texts, one "
        "folder a class; trees in brackets; a folder or zip of TU graphs; '-' for standard input.",
    ),
]
Output = Annotated[
    Path | None, Parameter(alias="-o", group=OUTPUT, help="The model's file; named after the data unless given.")
]
ClassWeight = Annotated[
    Literal["balanced"] | None,
    Parameter(help="'balanced': each class counts for as much as any other, however rare it is."),
]
Proba = Annotated[
    bool,
    Parameter(
        negative="",
        show_default=False,
        help="Learn probabilities too, for `mercer predict --proba`; about twice the time.",
    ),
]
ModelFile = Annotated[Path, Parameter(help="A model that `mercer train` has written.")]


@Parameter(name="*", group=DATA)
@dataclass(frozen=True)
class DataOptions:
    """How data are read."""

    target: Annotated[str | None, Parameter(alias="-t", help="The column to predict.")] = None
    format: Annotated[
        Literal[
            "csv",
            "xlsx",
            "ods",
            "parquet",
            "arrow",
            "jsonl",
            "svmlight",
            "sqlite",
            "duckdb",
            "texts",
            "trees",
            "graphs",
        ]
        | None,
        Parameter(help="Recognised by content and name unless given."),
    ] = None
    table: Annotated[str | None, Parameter(help="The table of a database, or the sheet of a spreadsheet.")] = None
    query: Annotated[str | None, Parameter(help="A query to a database, SELECT ...")] = None
    row_limit: Annotated[
        int | None, Parameter(group=LIMITS, help="Rows that the answer of a database may have; more are refused.")
    ] = None
    text: Annotated[
        tuple[str, ...],
        Parameter(
            negative="",
            show_default=False,
            help="A column of texts or labels even if it looks like numbers; may be repeated.",
        ),
    ] = ()
    missing: Annotated[
        tuple[str, ...],
        Parameter(
            negative="", show_default=False, help="One more word that stands for no value in CSV; may be repeated."
        ),
    ] = ()
    header: Annotated[bool, Parameter(help="Whether the first line of CSV names the columns.")] = True
    delimiter: Annotated[str | None, Parameter(help="What stands between the values of CSV, such as ';'.")] = None
    decimal: Annotated[Literal[".", ","] | None, Parameter(help="The decimal mark of CSV; found unless given.")] = None
    encoding: Annotated[
        str | None, Parameter(help="Of text, such as cp1252; UTF-8 unless given, or what the file's first bytes say.")
    ] = None


@Parameter(name="*", group=DATA)
@dataclass(frozen=True)
class LearningOptions(DataOptions):
    """How data are read, and what of them is learnt from."""

    columns: Annotated[
        tuple[str, ...],
        Parameter(negative="", show_default=False, help="Learn from these columns only: a,b,c; may be repeated."),
    ] = ()
    drop: Annotated[
        tuple[str, ...], Parameter(negative="", show_default=False, help="Leave these columns out; may be repeated.")
    ] = ()
    keep: Annotated[
        tuple[str, ...],
        Parameter(
            negative="",
            show_default=False,
            help="Learn from these columns even if they look like an id; may be repeated.",
        ),
    ] = ()
    skip_unlabeled: Annotated[
        bool, Parameter(negative="", show_default=False, help="Leave out rows whose target has no value.")
    ] = False


@Parameter(name="*", group=MACHINE)
@dataclass(frozen=True)
class MachineOptions:
    """Which machine is fitted."""

    kernel: Annotated[
        str | None,
        Parameter(
            alias="-k", help="Such as 'rbf(gamma=0.1) + 2*spectrum(k=3)@text', or 'additive'; by the data unless given."
        ),
    ] = None
    C: Annotated[
        float | None, Parameter(name="--C", help="Weight of the losses against the margin; by folds unless given.")
    ] = None
    task: Annotated[Literal["classification", "regression"] | None, Parameter(help="By the target unless given.")] = (
        None
    )
    scale: Annotated[bool, Parameter(help="Bring columns of numbers to one scale first.")] = True
    class_weight: ClassWeight = None
    proba: Proba = False
    landmarks: Annotated[
        int | None,
        Parameter(
            help="Restrict a kernel machine to what so many rows span, for many rows; what that may cost is said. "
            "1000 unless given where data are read block by block."
        ),
    ] = None


@Parameter(name="*", group=LIMITS)
@dataclass(frozen=True)
class FitOptions:
    """How much work a fit may be."""

    seed: Annotated[int, Parameter(help="Decides which rows are held out.")] = 0
    n_jobs: Annotated[int | None, Parameter(help="Threads; all cores unless given.")] = None
    time_limit: Annotated[
        float | None,
        Parameter(help="Seconds for the fit; the best model so far is kept. As many for the query to a database."),
    ] = None
    memory_limit: Annotated[
        str | None, Parameter(help="Such as 2GiB, for the data and again for the fit; by what is free unless given.")
    ] = None


@Parameter(name="*", group=LIMITS)
@dataclass(frozen=True)
class ClusterOptions:
    """Who helps with the work."""

    cluster: Annotated[
        str | None,
        Parameter(
            help="Have a cluster of dask.distributed do what can be divided: blocks of rows, kernels and folds of a "
            "search. The address of its scheduler, such as tcp://10.0.0.1:8786."
        ),
    ] = None
    checkpoint: Annotated[
        Path | None, Parameter(help="Keep how far a fit by blocks is in this file; the same command goes on from it.")
    ] = None


@Parameter(name="*", group=LIMITS)
@dataclass(frozen=True)
class ReadOptions:
    """How much work reading may be, where nothing is fitted."""

    time_limit: Annotated[float | None, Parameter(help="Seconds for the query to a database; 600 unless given.")] = None
    memory_limit: Annotated[str | None, Parameter(help="For the data, such as 2GiB; what is free unless given.")] = None
