import pytest

from pairs import (
    blank_name,
    hunk_lines,
    lead,
    most_changed,
    name_question,
    question,
    says,
    subject_question,
    without,
    without_subject,
)


@pytest.mark.parametrize(
    ("doc", "expected"),
    [
        ("Return the parsed value of a header.\n\nMore text here.", "Return the parsed value of a header"),
        ("Opens a file for reading.\n@param path where it lies", "Opens a file for reading"),
        ("Opens a file for reading.\n\nArgs:\n    path: where", "Opens a file for reading"),
        ("Opens a file.\n:param path: where it lies", ""),
        ("@brief Reads {@code n} bytes from the `stream` given.", "Reads n bytes from the stream given"),
        ('summary\nGets the <see cref="T:Foo"/> of this item.\n/summary', "Gets the Foo of this item"),
        ("Reads one line of the input.\np\nSee also the other one", "Reads one line of the input"),
        (".SYNOPSIS\nLists the installed apps by name.\n.PARAMETER x\nno", "Lists the installed apps by name"),
        ("Copyright 2020 Someone. Licensed under the MIT licence", ""),
        ("TODO: make this faster for large inputs", ""),
        ("eslint-disable no-console because of reasons", ""),
        ("for (int i = 0; i < n; i++) { sum += a[i]; }", ""),
        ("Считает сумму всех элементов списка", ""),
        ("The [spec](http://x.y) says :class:`~a.Foo` is needed.", "The spec says a.Foo is needed"),
    ],
)
def test_a_comment_becomes_its_first_sentence(doc: str, expected: str) -> None:
    assert question(lead(doc)) == expected


def test_a_question_leaves_doc_and_commented_body() -> None:
    query = "Return the parsed value of a header"
    body = "    # Return the parsed\n    # value of a header. Never fails.\n    def f(): ...\n"
    assert not says(without(body, query), query)
    assert without(body, query) == "    #  Never fails.\n    def f(): ...\n"
    assert without("other text", query) == "other text"


def test_only_whole_identifiers_are_blanked() -> None:
    assert blank_name("def read(x): reread(read, read_all, a.read)", "read") == "def  (x): reread( , read_all, a. )"


def test_the_identifier_a_sentence_opens_with_is_dropped() -> None:
    assert without_subject("Foo returns the bar of it", "Foo") == "returns the bar of it"
    assert without_subject("Foo is a holder of bars", "Foo") == "a holder of bars"
    assert without_subject("Returns the bar of it", "Foo") == "Returns the bar of it"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("parseHTTPResponse", "parse http response"),
        ("read_config_file", "read config file"),
        ("getName", ""),
        ("__init__", ""),
        ("test_reads_file", ""),
        ("main", ""),
        ("x1", ""),
    ],
)
def test_a_name_becomes_words(name: str, expected: str) -> None:
    assert name_question(name) == expected


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        ("fix(router): keep the query when redirecting (#123)", "keep the query when redirecting"),
        ("[Fix #9] Do not retry a request that was cancelled", "Do not retry a request that was cancelled"),
        ("Merge pull request #4 from a/b and some more", ""),
        ("Bump serde from 1.0 to 1.1 in /x", ""),
        ("chore: move the files around a bit", ""),
        ("Fix typo in the error message shown", ""),
        ("Fix it", ""),
    ],
)
def test_a_subject_is_cleaned_or_refused(subject: str, expected: str) -> None:
    assert subject_question(subject) == expected


def test_hunks_are_lines_of_the_new_file() -> None:
    assert hunk_lines("@@ -10,2 +12,3 @@ def f") == range(12, 15)
    assert hunk_lines("@@ -10 +12 @@") == range(12, 13)
    assert hunk_lines("@@ -10,2 +9,0 @@") == range(9, 10)
    assert hunk_lines("nothing") == range(0)


def test_the_span_with_most_changed_lines_wins() -> None:
    spans = [(1, 10), (11, 20), (30, 40)]
    assert most_changed([range(9, 11), range(12, 16)], spans) == 1
    assert most_changed([range(22, 25)], spans) is None
    assert most_changed([range(1, 5)], []) is None
