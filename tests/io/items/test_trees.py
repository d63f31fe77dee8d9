"""Trees read from brackets, XML, HTML and JSON: what they become, what is refused, and where."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer import DataError, Tree
from mercer.io import read_brackets, read_html, read_json, read_xml

DEPTH = 10_000


def test_brackets_with_several_trees():
    trees = read_brackets("(S (NP I) (VP go))\n\n( (S (VP go)) )")
    assert [str(tree) for tree in trees] == ["(S (NP I) (VP go))", "( (S (VP go)))"]
    assert trees[1].label == ""
    assert read_brackets("(A(B)(C(D)))")[0] == Tree("A", ["B", Tree("C", ["D"])])
    assert read_brackets(" \n") == []


def test_a_compressed_file_is_read(tmp_path):
    path = tmp_path / "trees.ptb.gz"
    path.write_bytes(gzip.compress("(S größer)".encode()))
    assert read_brackets(path) == [Tree("S", ["größer"])]
    with path.open("rb") as file:
        assert read_brackets(gzip.GzipFile(fileobj=file)) == [Tree("S", ["größer"])]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(S (NP I)", r"unbalanced brackets: the \( at position 0 is never closed"),
        ("(S (NP I", r"unbalanced brackets: the \( at position 3 is never closed"),
        ("(S I))", r"unbalanced brackets: the \) at position 5 closes nothing"),
        ("hello (S I)", r"a tree must begin with \(, got 'hello' at position 0"),
        ("(S I) tail", r"got 'tail' at position 6"),
        ("(S a\\", "a backslash at position 4"),
    ],
)
def test_brackets_that_do_not_match_are_located(text, message):
    with pytest.raises(DataError, match=message):
        read_brackets(text)


def test_xml():
    tree = read_xml('<a b="1" c="x y">one <d/>two three</a>')
    assert str(tree) == r"(a (@b 1) (@c x\ y) one d two three)"
    assert str(read_xml(b'<?xml version="1.0" encoding="latin-1"?><a>\xfc</a>')) == "(a ü)"
    assert str(read_xml('<a b="1">t<c/></a>', text=False, attributes=False)) == "(a c)"


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("<a><b></a>", "not well-formed XML: mismatched tag at line 1, column 8"),
        ("", "not well-formed XML: no element found"),
        ('<!DOCTYPE a [<!ENTITY x "xxx">]><a>&x;</a>', "declares the entity 'x'"),
        ('<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>', "declares the entity 'x'"),
        (b"<a>\xff</a>", "not well-formed XML"),
    ],
)
def test_xml_that_is_refused(document, message):
    with pytest.raises(DataError, match=message):
        read_xml(document)


def test_html_is_forgiving():
    page = "<!doctype html><p>one<p>two <b>bold<br></p><script>var x = '<p>';</script><img src=a.png></i>"
    assert str(read_html(page)) == "(#document (p one) (p two (b bold br)) script img)"
    assert str(read_html('<a href="x" disabled>t</a>', attributes=True)) == "(#document (a (@disabled ()) (@href x) t))"
    assert str(read_html("")) == "(#document)"
    assert str(read_html("<p>a<![ no section>b<![if x]>c")) == "(#document (p a b c))"
    assert str(read_html("<tr><td>1<td>2<tr><td>3", text=False)) == "(#document (tr td td) (tr td))"


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
documents = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=20
)


def expected_json(value):
    if isinstance(value, dict):
        return Tree("{}", [Tree(key, [expected_json(value[key])]) for key in sorted(value)])
    if isinstance(value, list):
        return Tree("[]", [expected_json(part) for part in value])
    return Tree(value if isinstance(value, str) else json.dumps(value))


@given(documents, st.sampled_from([None, 2]))
def test_json_has_the_shape_of_the_document(document, indent):
    assert read_json(json.dumps(document, indent=indent)) == expected_json(document)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a value at position 0"),
        ('{"a": 1', "expected , or } at position 7"),
        ("[1, ]", "expected a value at position 4"),
        ("{1: 2}", "expected a key in quotes at position 1"),
        ('{"a" 1}', "expected a colon at position 5"),
        ("[1] 2", "expected the end at position 4"),
        ('"abc', "Unterminated string"),
        ("[1}", "expected , or ] at position 2"),
    ],
)
def test_json_that_is_not(text, message):
    with pytest.raises(DataError, match=message):
        read_json(text)


def test_depth_is_no_trouble():
    assert read_brackets("(a " * DEPTH + "b" + ")" * DEPTH)[0].depth == DEPTH + 1
    assert read_xml("<a>" * DEPTH + "</a>" * DEPTH).depth == DEPTH
    assert read_html("<i>" * DEPTH).depth == DEPTH + 1
    assert read_json("[" * DEPTH + "]" * DEPTH).depth == DEPTH
    assert read_json('{"a":' * DEPTH + "1" + "}" * DEPTH).depth == 2 * DEPTH + 1


@pytest.mark.parametrize("read", [read_brackets, read_html, read_json])
def test_bytes_that_are_not_utf8(read):
    with pytest.raises(DataError, match="not UTF-8: invalid start byte at byte 1"):
        read(b"(\xff)")


def test_what_is_no_document():
    with pytest.raises(DataError, match="source must be a document, a path or an open file, got int"):
        read_xml(3)
