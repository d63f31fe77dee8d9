"""The folder that any web host serves: whole, small, and never over somebody else's files."""

import json
import posixpath
import re

import pytest

from mercer._errors import MercerError, ParameterError
from mercer.studio.playground.presets import PRESETS, preset
from mercer.studio.static_site import site_files, write_site


def test_the_site_is_small_and_its_parts_are_there():
    files = site_files()
    assert sum(map(len, files.values())) <= 300_000
    assert not any("views/data" in name or "views/solve" in name or "vendor" in name for name in files)
    index = files["index.html"].decode()
    named = re.findall(r'(?:href|src)="([^"]+)"', index)
    assert named
    assert all(name in files for name in named), named
    # What a module imports at once is there; views that need the library are imported only when they are opened.
    for name, content in files.items():
        for other in re.findall(r'^(?:import .*|\}) from "(\.[^"]+)";', content.decode(), re.MULTILINE):
            assert posixpath.normpath(posixpath.join(posixpath.dirname(name), other)) in files, (name, other)


def test_every_module_of_the_site_is_asked_for():
    files, asked = site_files(), set()
    for name, content in files.items():
        for other in re.findall(r'"([\w./]+\.js)"', content.decode()):
            asked.add(posixpath.normpath(posixpath.join(posixpath.dirname(name), other)))
    assert {name for name in files if name.endswith(".js")} <= asked


def test_no_file_asks_another_host_for_anything():
    for name, content in site_files().items():
        addresses = set(re.findall(rb"https?://[\w.-]+", content)) - {b"http://www.w3.org"}
        assert not addresses, name


def test_the_presets_are_those_of_the_studio():
    found = json.loads(site_files()["page/engine/presets.json"])
    assert {key: preset(key) for key in PRESETS} == found["states"]


def test_a_new_an_empty_and_an_earlier_folder_are_written(tmp_path):
    folder = tmp_path / "deep" / "site"
    size = write_site(folder)
    assert size == sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    (folder / "page" / "old.js").write_text("of an earlier version")
    write_site(folder)
    assert not (folder / "page" / "old.js").exists()
    empty = tmp_path / "empty"
    empty.mkdir()
    write_site(empty)
    assert (empty / "index.html").is_file()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["deep", "empty"]


def test_somebody_elses_files_are_never_touched(tmp_path):
    (tmp_path / "index.html").write_text("my home page")
    with pytest.raises(ParameterError, match="holds other files"):
        write_site(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]
    with pytest.raises(ParameterError, match="holds other files"):
        write_site(tmp_path / "index.html")


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(MercerError, match="cannot be written to"):
        write_site(tmp_path / "file" / "site")
    assert (tmp_path / "file").read_text() == ""
