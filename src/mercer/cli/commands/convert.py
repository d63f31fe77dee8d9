"""`mercer convert`: Mercer's models to those of other tools, and back."""

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from mercer._errors import DataError, ParameterError
from mercer.cli.terminal.exit_codes import ExitCode
from mercer.cli.terminal.options import AsJson
from mercer.cli.terminal.output import say, write_json, write_line

ENDINGS = {
    ".mercer": "mercer",
    ".onnx": "onnx",
    ".libsvm": "libsvm",
    ".svmlight": "svmlight",
    ".liblinear": "liblinear",
}
Kind = Literal["mercer", "onnx", "libsvm", "svmlight", "liblinear"]


def convert(
    model: Annotated[Path, Parameter(help="A model from Mercer, LIBSVM, SVMlight or LIBLINEAR.")],
    output: Annotated[
        Path, Parameter(help="The file to write; its extension decides the format: .mercer .onnx .libsvm ...")
    ],
    *,
    from_format: Annotated[
        Kind | None, Parameter(name="--from", help="The format of the model; detected by default.")
    ] = None,
    to_format: Annotated[
        Kind | None, Parameter(name="--to", help="The format to write; by default, decided by the extension.")
    ] = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Convert a model: .mercer, .onnx, .libsvm, .svmlight or .liblinear, by the extensions of the file names."""
    source, target = from_format or _read_as(model), to_format or _written_as(output)
    fitted = _readers()[source](model)
    _write(fitted, output, target)
    if as_json:
        write_json({"from": source, "to": target, "model": str(output), "bytes": output.stat().st_size})
    else:
        write_line(output)
    return ExitCode.DONE


def _written_as(path: Path) -> str:
    if path.suffix.lower() not in ENDINGS:
        raise ParameterError(f"OUTPUT must end in one of {', '.join(ENDINGS)}, got {str(path)!r}; or pass --to")
    return ENDINGS[path.suffix.lower()]


def _read_as(path: Path) -> str:
    """By the extension, or else by how the text begins."""
    if not path.is_file():
        raise DataError(f"there is no model file {str(path)!r}")
    known = ENDINGS.get(path.suffix.lower())
    if known is not None:
        return known
    with open(path, "rb") as file:
        first = file.read(64)
    begins = {b"svm_type": "libsvm", b"solver_type": "liblinear", b"SVM-light": "svmlight"}
    return next((kind for mark, kind in begins.items() if first.startswith(mark)), "mercer")


def _readers() -> dict[str, Any]:
    import mercer

    return {
        "mercer": mercer.load,
        "libsvm": mercer.read_libsvm_model,
        "svmlight": mercer.read_svmlight_model,
        "liblinear": mercer.read_liblinear_model,
        "onnx": _refuse_onnx,
    }


def _refuse_onnx(path: Path) -> Any:
    raise ParameterError(f"ONNX models can be written but not read, got {str(path)!r}; convert from the .mercer file")


def _write(model: Any, path: Path, kind: str) -> None:
    import mercer

    if kind == "mercer":
        mercer.save(model, path)
    elif kind == "onnx":
        from mercer.io.replace_file import replace_file

        replace_file(path, [mercer.to_onnx(model).SerializeToString()])
    else:
        writers: dict[str, Any] = {
            "libsvm": mercer.write_libsvm_model,
            "svmlight": mercer.write_svmlight_model,
            "liblinear": mercer.write_liblinear_model,
        }
        machine = _alone(model, kind)
        writers[kind](machine, path, **_numbered(machine, kind))


def _numbered(machine: Any, kind: str) -> dict[str, Any]:
    """Whole numbers for classes that are not, as these tools require."""
    classes = getattr(machine, "classes_", None)
    if classes is None or kind == "svmlight" or classes.dtype.kind in "iu":
        return {}
    say(
        f"{kind} models identify classes by number: " + ", ".join(f"{k} is {name}" for k, name in enumerate(classes, 1))
    )
    return {"labels": list(range(1, len(classes) + 1))}


def _alone(model: Any, kind: str) -> Any:
    """The machine of a pipeline, where the other tool has no scaler: its user must scale first."""
    if not hasattr(model, "steps"):
        return model
    steps = " > ".join(type(step).__name__ for _, step in model.steps[:-1])
    say(f"{kind} models cannot include {steps}: scale the rows yourself before using this one", "yellow")
    return model.steps[-1][1]
