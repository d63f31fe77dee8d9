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
        "subfolder for each class; trees in brackets; a folder or zip of TU graphs; '-' for standard input.",
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
        Parameter(help="The format of the data; recognised by content and name unless given."),
    ] = None
    table: Annotated[str | None, Parameter(help="The table of a database, or the sheet of a spreadsheet.")] = None
    query: Annotated[str | None, Parameter(help="A query to a database, SELECT ...")] = None
    row_limit: Annotated[
        int | None, Parameter(group=LIMITS, help="Most rows to take from a database; a longer answer is refused.")
    ] = None
    text: Annotated[
        tuple[str, ...],
        Parameter(
            negative="",
            show_default=False,
            help="Read this column as text even if it looks like numbers; may be repeated.",
        ),
    ] = ()
    missing: Annotated[
        tuple[str, ...],
        Parameter(negative="", show_default=False, help="Another word that means 'no value' in CSV; may be repeated."),
    ] = ()
    header: Annotated[bool, Parameter(help="Whether the first line of CSV names the columns.")] = True
    delimiter: Annotated[
        str | None, Parameter(alias="--sep", help="The character between the values of CSV, such as ';'.")
    ] = None
    decimal: Annotated[
        Literal[".", ","] | None, Parameter(help="The decimal mark of CSV; recognised unless given.")
    ] = None
    encoding: Annotated[
        str | None,
        Parameter(help="The encoding of text, such as cp1252; UTF-8 unless given or the file says otherwise."),
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
        bool,
        Parameter(
            alias="--skip-unlabelled",
            negative="",
            show_default=False,
            help="Leave out rows that have no value in the target column.",
        ),
    ] = False


@Parameter(name="*", group=MACHINE)
@dataclass(frozen=True)
class MachineOptions:
    """Which machine is fitted."""

    kernel: Annotated[
        str | None,
        Parameter(
            alias="-k",
            help="Such as 'rbf(gamma=0.1) + 2*spectrum(k=3)@text', or 'additive'; chosen from the data unless given.",
        ),
    ] = None
    C: Annotated[
        float | None,
        Parameter(name="--C", help="Weight of the losses against the margin; chosen by cross-validation unless given."),
    ] = None
    task: Annotated[
        Literal["classification", "regression"] | None, Parameter(help="Decided by the target unless given.")
    ] = None
    scale: Annotated[bool, Parameter(help="Bring columns of numbers to one scale first.")] = True
    class_weight: ClassWeight = None
    proba: Proba = False
    landmarks: Annotated[
        int | None,
        Parameter(
            help="Approximate the kernel by this many rows, for large data; the report says what that may cost. "
            "If data are read block by block, 1000 unless given."
        ),
    ] = None


@Parameter(name="*", group=LIMITS)
@dataclass(frozen=True)
class FitOptions:
    """How much work a fit may be."""

    seed: Annotated[int, Parameter(help="Decides which rows are held out.")] = 0
    n_jobs: Annotated[int | None, Parameter(help="How many threads to use; one for each core unless given.")] = None
    time_limit: Annotated[
        float | None,
        Parameter(help="Seconds for the fit; the best model so far is kept. Holds for the query to a database too."),
    ] = None
    memory_limit: Annotated[
        str | None, Parameter(help="Such as 2GiB, for the data and again for the fit; as much as is free unless given.")
    ] = None


@Parameter(name="*", group=LIMITS)
@dataclass(frozen=True)
class ClusterOptions:
    """Who helps with the work."""

    cluster: Annotated[
        str | None,
        Parameter(
            help="The address of a dask.distributed scheduler, such as tcp://10.0.0.1:8786. Its cluster does what can "
            "be divided: blocks of rows, kernels and the folds of a search."
        ),
    ] = None
    checkpoint: Annotated[
        Path | None,
        Parameter(help="Save the progress of a fit by blocks in this file; the same command resumes from it."),
    ] = None


@Parameter(name="*", group=LIMITS)
@dataclass(frozen=True)
class ReadOptions:
    """How much work reading may be, where nothing is fitted."""

    time_limit: Annotated[float | None, Parameter(help="Seconds for the query to a database; 600 unless given.")] = None
    memory_limit: Annotated[str | None, Parameter(help="For the data, such as 2GiB; what is free unless given.")] = None
