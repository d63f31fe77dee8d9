"""The playground and the ideas as a folder of files that any web host serves, with a solver of the page's own.

The page is the same; a worker beside it answers in the place of the server (`page/engine`). Links go from one to
the other. What needs the library (files, films of solvers, other machines) is left out, and the page says so.
"""

import json
import shutil
import tempfile
from pathlib import Path

from mercer._errors import MercerError, ParameterError
from mercer.studio.playground.presets import PRESETS, preset, preset_list

PAGE = Path(__file__).parent / "page"
# Parts of the page that only the server can answer.
LEFT_OUT = ("vendor/", "views/data/", "views/solve/", "curves.js", "index.html")
# What tells the page, and us, that it has to do by itself.
MARK = 'data-engine="page"'
_POLICY = (
    "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; "
    "img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'"
)


def site_files() -> dict[str, bytes]:
    """Every file of the site, by its path in the folder.

    Examples
    --------
    >>> from mercer.studio.static_site import site_files
    >>> files = site_files()
    >>> sorted(files)[0], sum(map(len, files.values())) < 300_000
    ('index.html', True)
    """
    files = {"index.html": _index().encode()}
    for path in sorted(PAGE.rglob("*")):
        name = path.relative_to(PAGE).as_posix()
        if path.is_file() and not name.startswith(LEFT_OUT):
            files[f"page/{name}"] = path.read_bytes()
    states = {key: preset(key) for key in PRESETS}
    files["page/engine/presets.json"] = json.dumps(
        {"list": preset_list(), "states": states}, ensure_ascii=False, separators=(",", ":")
    ).encode()
    return files


def _index() -> str:
    """The page's frame: it knows that there is no server, and asks for nothing that is left out."""
    lines = (PAGE / "index.html").read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if "page/vendor/" not in line) + "\n"
    policy = f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    return text.replace('<html lang="en">', f'<html lang="en" {MARK}>').replace(
        '<meta charset="utf-8">', f'<meta charset="utf-8">\n{policy}'
    )


def write_site(folder: Path) -> int:
    """Write the site: all of it or nothing.

    Parameters
    ----------
    folder : Path
        New, empty, or one that this function has written before.

    Returns
    -------
    int
        Bytes written.
    """
    if folder.exists() and not _is_ours(folder):
        raise ParameterError(
            f"--static must name a new or an empty folder, or an earlier playground; {str(folder)!r} holds other files"
        )
    files = site_files()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as beside:
            whole = Path(beside) / "site"
            for name, content in files.items():
                (whole / name).parent.mkdir(parents=True, exist_ok=True)
                (whole / name).write_bytes(content)
            _put(whole, folder)
    except OSError as error:
        raise MercerError(f"the playground cannot be written to {str(folder)!r}: {error.strerror}") from error
    return sum(map(len, files.values()))


def _is_ours(folder: Path) -> bool:
    if not folder.is_dir():
        return False
    index = folder / "index.html"
    is_site = index.is_file() and MARK in index.read_text(encoding="utf-8", errors="replace")
    return is_site or not any(folder.iterdir())


def _put(whole: Path, folder: Path) -> None:
    """Move the finished folder to its place; an earlier one is out of the way only for that moment."""
    if folder.exists():
        folder.rename(whole.with_name("before"))
    whole.replace(folder)
    shutil.rmtree(whole.with_name("before"), ignore_errors=True)
