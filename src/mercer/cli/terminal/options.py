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
    bool,
    Parameter(
        name="--json", negative="", group=OUTPUT, show_default=False, help="Print one JSON object on standard output."
    ),
]
Report = Annotated[Path | None, Parameter(group=OUTPUT, help="Write an HTML report with pictures to this file.")]


def _as_given(_type: Any, tokens: Any) -> Path | str:
    """The address of a database as typed; anything else is a file name."""
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
        help="A CSV file, spreadsheet (.xlsx, .ods), Parquet (or a folder of it), Arrow, JSON lines or svmlight, also "
        "as .gz or .xz; SQLite, DuckDB, or a database address such as postgresql://me@host/bank; a folder of texts, "
        "one subfolder per class; bracketed trees; a folder or zip of TU graphs; '-' for standard input.",
    ),
]
Output = Annotated[
    Path | None, Parameter(alias="-o", group=OUTPUT, help="Where to save the model; by default, named after the data.")
]
ClassWeight = Annotated[
    Literal["balanced"] | None,
    Parameter(help="'balanced' makes every class count as much as any other, however rare it is."),
]
Proba = Annotated[
    bool,
    Parameter(
        negative="",
        show_default=False,
        help="Learn probabilities too, for `mercer predict --proba`; takes about twice as long.",
    ),
]
SkipUnlabeled = Annotated[
    bool,
    Parameter(
        group=DATA,
        alias="--skip-unlabelled",
        negative="",
        show_default=False,
        help="Leave out rows that have no value in the target column.",
    ),
]
ModelFile = Annotated[Path, Parameter(help="A model file written by `mercer train`.")]


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
        Parameter(help="The format of the data; by default, detected from content and name."),
    ] = None
    table: Annotated[str | None, Parameter(help="The table in a database, or the sheet in a spreadsheet.")] = None
    query: Annotated[str | None, Parameter(help="A database query, SELECT ...")] = None
    row_limit: Annotated[
        int | None, Parameter(group=LIMITS, help="The most rows to accept from a database; a longer result is refused.")
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
    header: Annotated[bool, Parameter(help="Whether the first line of a CSV file names the columns.")] = True
    delimiter: Annotated[
        str | None, Parameter(alias="--sep", help="The character that separates CSV values, such as ';'.")
    ] = None
    decimal: Annotated[
        Literal[".", ","] | None, Parameter(help="The decimal mark in a CSV file; detected by default.")
    ] = None
    encoding: Annotated[
        str | None,
        Parameter(help="The text encoding, such as cp1252; by default UTF-8, unless the file says otherwise."),
    ] = None


@Parameter(name="*", group=DATA)
@dataclass(frozen=True)
class RowOptions(DataOptions):
    """How rows for a model are read, which knows its own target; whoever names one is told so."""

    target: Annotated[str | None, Parameter(alias="-t", show=False)] = None


@Parameter(name="*", group=DATA)
@dataclass(frozen=True)
class LearningOptions(DataOptions):
    """How data are read, and which columns are learnt from."""

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
    skip_unlabeled: SkipUnlabeled = False


@Parameter(name="*", group=MACHINE)
@dataclass(frozen=True)
class MachineOptions:
    """Which machine is fitted."""

    kernel: Annotated[
        str | None,
        Parameter(
            alias="-k",
            help="Such as 'rbf(gamma=0.1) + 2*spectrum(k=3)@text', or 'additive'; by default, chosen to suit the data.",
        ),
    ] = None
    C: Annotated[
        float | None,
        Parameter(name="--C", help="Weight of the losses against the margin; by default, chosen by cross-validation."),
    ] = None
    task: Annotated[
        Literal["classification", "regression"] | None,
        Parameter(help="What to learn; by default, decided by the target."),
    ] = None
    scale: Annotated[bool, Parameter(help="Bring numeric columns to a common scale first.")] = True
    class_weight: ClassWeight = None
    proba: Proba = False
    landmarks: Annotated[
        int | None,
        Parameter(
            help="Approximate the kernel with this many rows, for large data; the report says what that may cost. "
            "The default is 1000 if data are read block by block."
        ),
    ] = None


@Parameter(name="*", group=LIMITS)
@dataclass(frozen=True)
class FitOptions:
    """How much work a fit may do."""

    seed: Annotated[int, Parameter(help="Decides which rows are held out.")] = 0
    n_jobs: Annotated[int | None, Parameter(help="How many threads to use; by default, one per core.")] = None
    time_limit: Annotated[
        float | None,
        Parameter(help="Seconds for the fit; the best model so far is kept. Also limits a database query."),
    ] = None
    memory_limit: Annotated[
        str | None, Parameter(help="Such as 2GiB, for the data and again for the fit; by default, all that is free.")
    ] = None


@Parameter(name="*", group=LIMITS)
@dataclass(frozen=True)
class ClusterOptions:
    """Who helps with the work."""

    cluster: Annotated[
        str | None,
        Parameter(
            help="The address of a dask.distributed scheduler, such as tcp://10.0.0.1:8786. Its cluster does the work "
            "that can be divided: blocks of rows, kernels and the folds of a search."
        ),
    ] = None
    checkpoint: Annotated[
        Path | None,
        Parameter(help="Save the progress of a block-by-block fit in this file; the same command resumes it."),
    ] = None


@Parameter(name="*", group=LIMITS)
@dataclass(frozen=True)
class ReadOptions:
    """How much work reading may do, where nothing is fitted."""

    time_limit: Annotated[float | None, Parameter(help="Seconds for a database query; 600 by default.")] = None
    memory_limit: Annotated[str | None, Parameter(help="Such as 2GiB, for the data; by default, all that is free.")] = (
        None
    )
