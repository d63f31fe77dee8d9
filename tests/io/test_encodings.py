"""Text in other encodings: by its mark, by what is said, and what is said where it is not."""

import gzip
import io

import pytest

from mercer import DataError, ParameterError
from mercer.io import Blocks, read_table
from mercer.io.encodings import translated
from mercer.kernels.table.frame import as_frame

TEXT = "name,note\nZoë,crème brûlée\nJürgen,€ 5\n"
ROWS = [{"name": "Zoë", "note": "crème brûlée"}, {"name": "Jürgen", "note": "€ 5"}]


def rows_of(content, **options):
    return as_frame(read_table(io.BytesIO(content), **options).data).rows()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_a_mark_at_the_beginning_tells(encoding):
    assert rows_of(TEXT.encode(encoding)) == ROWS
    assert rows_of(gzip.compress(TEXT.encode(encoding))) == ROWS


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16-le", "utf-16-be", "cp1140"])
def test_any_encoding_that_is_named(encoding):
    assert rows_of(TEXT.encode(encoding), encoding=encoding) == ROWS


def test_json_lines_too():
    assert rows_of('{"a": "é"}\n'.encode("utf-16")) == [{"a": "é"}]
    assert rows_of('{"a": "é"}\n'.encode("latin-1"), encoding="latin-1") == [{"a": "é"}]


def test_a_file_that_is_not_utf_8_is_refused_with_the_encoding_it_may_have():
    with pytest.raises(DataError, match=r"line 2, column 3: UTF-8 was expected.*encoding='cp1252'.*would read 'Zoë,"):
        rows_of(TEXT.encode("cp1252"))


def test_bytes_that_make_no_letters_in_the_usual_encoding_suggest_none():
    with pytest.raises(DataError, match=r"got byte 0x81; name its real encoding"):
        rows_of(b"a,b\n\x81\x40,1\n")


def test_the_wrong_encoding_names_the_line():
    with pytest.raises(DataError, match="line 3: ascii was expected, got bytes that are not valid"):
        rows_of(b"a,b\n1,2\n\xff,3\n", encoding="ascii")
    with pytest.raises(DataError, match="line 3: cp1252 was expected, got bytes that are not valid"):
        rows_of(b"a,b\n1,2\n\x81,3\n", encoding="cp1252")


@pytest.mark.parametrize("name", ["klingon", "rot13", "base64", "a\0b", 3])
def test_encodings_that_are_none(name):
    with pytest.raises(ParameterError, match="encoding must be one that Python knows, such as utf-8"):
        rows_of(TEXT.encode(), encoding=name)


def test_an_encoding_is_for_text(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table({"x": [1]}), tmp_path / "t.parquet")
    with pytest.raises(ParameterError, match="it is for text files, and this is parquet"):
        read_table(tmp_path / "t.parquet", encoding="cp1252")


@pytest.mark.parametrize("size", [1, 2, 3, 7, 10_000])
def test_translation_does_not_depend_on_how_much_is_asked_for(size):
    with translated(io.BytesIO(TEXT.encode("utf-16")), "utf-16", "t") as file:
        assert b"".join(iter(lambda: file.read(size), b"")).decode() == TEXT


def test_blocks_of_another_encoding_are_read_too(tmp_path):
    (tmp_path / "t.csv").write_bytes(TEXT.encode("utf-16"))
    (tmp_path / "u.csv").write_bytes(TEXT.encode("cp1252"))
    assert Blocks(tmp_path / "t.csv").block(0).rows.rows() == ROWS
    assert Blocks(tmp_path / "u.csv", encoding="cp1252").block(0).rows.rows() == ROWS
