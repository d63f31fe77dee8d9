from mercer.plot.drawing.text_layout import WIDTH, lines_of


def test_characters_fill_lines():
    lines = lines_of(list("x" * (2 * WIDTH + 5)))
    assert [len(line) for line in lines] == [WIDTH, WIDTH, 5]


def test_words_are_not_broken():
    words = ["extraordinarily"] * 9
    lines = lines_of(words)
    assert [k for line in lines for k in line] == list(range(9))
    assert all(sum(len(words[k]) + 1 for k in line) <= WIDTH for line in lines)


def test_a_new_line_begins_where_the_text_has_one():
    assert lines_of(list("ab\ncd")) == [[0, 1], [2, 3, 4]]


def test_a_word_longer_than_a_line_has_a_line_of_its_own():
    assert lines_of(["a", "b" * (WIDTH + 1), "c"]) == [[0], [1], [2]]


def test_no_symbols_are_one_empty_line():
    assert lines_of([]) == [[]]
