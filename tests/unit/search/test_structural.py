from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cairn.errors import BusyError, QueryError
from cairn.index import isolation
from cairn.search.structural import (
    StructuralMatches,
    TreeEffort,
    _holds_word,
    files_to_search,
    matches_in,
    prepare,
    search_structure,
)
from cairn.source.languages import BY_NAME
from cairn.source.languages import LANGUAGES as ALL_LANGUAGES
from cairn.waiting import Asker

FILES = {
    "a.py": "class Größe(Base):\n    def m(self, x) -> int:\n        return x\n\n\nasync def g():\n"
    "    print(1); print(2)\n    if x == x:\n        print(g(h(3)),\n              4)\n",
    "a.js": "function f(a, b) { return foo(a); }\nclass A extends B { m(a) { console.log(a); } }\n",
    "a.ts": "const f = (x: number) => x;\nclass A { m(a: string): void { foo(a); } }\n",
    "a.go": "package m\n\nfunc F(a int) error {\n\tif err != nil {\n\t\treturn err\n\t}\n\tfoo(a)\n\treturn nil\n}\n",
    "a.rs": "fn f(a: i32) -> u32 {\n    foo(a).unwrap()\n}\nimpl A for B {\n    fn m(&self) {}\n}\n",
    "A.java": "class A {\n    public int m(int a) {\n        foo(a);\n        return a;\n    }\n}\n",
    "a.php": "<?php\nfunction f($a) {\n    foo($a, 1);\n    return $_GET['x'];\n}\n",
    "a.rb": "class A < B\n  def m(a)\n    foo(a)\n  end\nend\n",
    "a.sh": 'f() {\n  foo "$HOME" b\n}\n',
    "a.c": "int f(int a) {\n    foo(a);\n    if (a == NULL) return 1;\n    return 0;\n}\n",
    "a.cpp": "int A::x(int a) {\n    return std::move(a);\n}\n",
    "A.cs": "class A : B {\n    public int M(int a) {\n        Foo(a);\n        return a;\n    }\n}\n",
    "a.kt": "class A {\n    fun m(a: Int): Int {\n        return foo(a)\n    }\n}\n",
    "a.json": '{"foo": [1]}\n',
}
LANGUAGES = {".py": "python", ".js": "javascript", ".ts": "typescript", ".go": "go", ".rs": "rust", ".java": "java"}
LANGUAGES |= {".php": "php", ".rb": "ruby", ".sh": "bash", ".c": "c", ".cpp": "cpp", ".cs": "csharp", ".kt": "kotlin"}
LANGUAGES |= {".json": "json"}
SEARCHED = [one.name for one in ALL_LANGUAGES if one.support.frames]

PATTERNS: list[tuple[str, str, list[tuple[int, int]]]] = [
    ("a.py", "def $F($$$)", [(2, 3), (6, 10)]),
    ("a.py", "def $F($$$):", [(2, 3), (6, 10)]),
    ("a.py", "class $C($$$)", [(1, 3)]),
    ("a.py", "$X == $X", [(8, 8)]),
    ("a.py", "g($$$)", [(9, 9)]),
    ("a.py", "print($A, $B)", [(9, 10)]),
    ("a.js", "function $F($$$)", [(1, 1)]),
    ("a.js", "class $C extends $B { $$$ }", [(2, 2)]),
    ("a.ts", "($X) => $Y", [(1, 1)]),
    ("a.ts", "foo($A)", [(2, 2)]),
    ("a.go", "foo($A)", [(7, 7)]),
    ("a.go", "if $E != nil { $$$ }", [(4, 6)]),
    ("a.rs", "$X.unwrap()", [(2, 2)]),
    ("a.rs", "foo($A)", [(2, 2)]),
    ("A.java", "foo($A)", [(3, 3)]),
    ("A.java", "public int $M($$$)", [(2, 5)]),
    ("a.php", "foo($A, $B)", [(3, 3)]),
    ("a.php", "function $F($$$) { $$$ }", [(2, 5)]),
    ("a.rb", "def $M($$$)", [(2, 4)]),
    ("a.sh", "foo $$$", [(2, 2)]),
    ("a.c", "foo($A)", [(2, 2)]),
    ("a.c", "return $X;", [(3, 3), (4, 4)]),
    ("a.cpp", "std::move($X)", [(2, 2)]),
    ("A.cs", "Foo($A)", [(3, 3)]),
    ("A.cs", "public int $M($$$) { $$$ }", [(2, 5)]),
    ("a.kt", "foo($A)", [(3, 3)]),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("structural")
    for path, text in FILES.items():
        (root / path).write_text(text)
    return root


def reading(folder: Path) -> Callable[[str], bytes]:
    return lambda path: (folder / path).read_bytes()


def run(folder: Path, pattern: str, *paths: str, budget_seconds: float = 60) -> StructuralMatches:
    wanted = paths or tuple(FILES)
    files = [(number, path, LANGUAGES[Path(path).suffix]) for number, path in enumerate(wanted)]
    return search_structure(reading(folder), files_to_search(files), pattern, TreeEffort(budget_seconds))


def lines(found: StructuralMatches) -> list[tuple[int, int]]:
    return [(match.start_line, match.end_line) for match in found.matches]


@pytest.mark.parametrize(("path", "pattern", "expected"), PATTERNS)
def test_a_pattern_finds_code_of_its_form(
    folder: Path, path: str, pattern: str, expected: list[tuple[int, int]]
) -> None:
    assert lines(run(folder, pattern, path)) == expected


@pytest.mark.parametrize(("path", "pattern", "expected"), PATTERNS)
def test_a_helper_matches_a_pattern_that_was_prepared_for_a_language(
    path: str, pattern: str, expected: list[tuple[int, int]]
) -> None:
    language = LANGUAGES[Path(path).suffix]
    pattern = pattern.removesuffix(":")  # as a search does first
    rule, is_piece = prepare(b"", language, pattern)
    assert rule is not None
    assert is_piece
    found = matches_in(FILES[path].encode(), language, pattern, 7, rule)
    assert [(one.file, one.start_line, one.end_line) for one in found] == [(7, *place) for place in expected]


@pytest.mark.parametrize(("language", "pattern"), [("python", "func $F() {}"), ("json", "def $F($$$)")])
def test_a_pattern_is_no_piece_of_another_language(language: str, pattern: str) -> None:
    assert not prepare(b"", language, pattern)[1]


def test_metavariables_are_captured_once_for_each_match_on_a_line(folder: Path) -> None:
    (first, second) = run(folder, "print($$$ALL)", "a.py").matches
    assert first.captures == ({"ALL": "1"}, {"ALL": "2"})
    assert second.captures == ({"ALL": "g(h(3)), 4"},)
    (match,) = run(folder, "def $NAME($$$ALL) -> $R: $$$", "a.py").matches
    assert match.captures == ({"NAME": "m", "ALL": "self, x", "R": "int"},)


def test_all_languages_in_which_the_pattern_is_code_are_searched(folder: Path) -> None:
    found = run(folder, "foo($A)")
    paths = {list(FILES)[match.file] for match in found.matches}
    assert paths == {"a.js", "a.ts", "a.go", "a.rs", "A.java", "a.rb", "a.c", "a.kt"}


def test_documents_and_data_are_searched_only_when_named() -> None:
    files = [(0, "a.json", "json"), (1, "a.py", "python"), (2, "a.txt", "text")]
    assert files_to_search(files) == [(1, "a.py", "python")]
    assert files_to_search(files, ["json"]) == [(0, "a.json", "json"), (1, "a.py", "python")]


@pytest.mark.parametrize("pattern", ["foo(((", "$A.foo(", "foo)", "a[$X", "if ($X) { $$$"])
def test_an_unbalanced_pattern_is_refused(folder: Path, pattern: str) -> None:
    with pytest.raises(QueryError, match="unbalanced") as caught:
        run(folder, pattern)
    assert "cairn search" in caught.value.hint


@pytest.mark.parametrize("pattern", ["$X", "$$$", "$$$ALL", "($A)", "$A.$B", "{ $$$ }"])
def test_a_pattern_that_matches_everything_is_refused(folder: Path, pattern: str) -> None:
    with pytest.raises(QueryError, match="matches everything"):
        run(folder, pattern)


@pytest.mark.parametrize("pattern", ["x = = 3", "def def", "a b c", "where are users stored"])
def test_what_is_no_piece_of_code_is_refused_with_the_languages_tried(folder: Path, pattern: str) -> None:
    with pytest.raises(QueryError, match="is not code in python"):
        run(folder, pattern, "a.py")


def test_brackets_in_a_text_need_no_partner(folder: Path) -> None:
    assert lines(run(folder, "print('(')", "a.py")) == []


def test_a_pattern_that_matches_nothing_is_no_error(folder: Path) -> None:
    for path in FILES:
        if path != "a.json":
            assert lines(run(folder, "nowhere_used($A)", path)) == []


def test_a_language_that_is_not_known_is_refused() -> None:
    with pytest.raises(QueryError, match="does not support dockerfile, sql"):
        files_to_search([], ["sql", "dockerfile"])


def test_a_search_ends_when_its_time_is_up_and_says_how_far_it_came(folder: Path) -> None:
    found = run(folder, "foo($A)", budget_seconds=-1)
    assert (found.searched, found.matches) == (0, [])
    assert found.eligible > 5


BOMBS = {
    "open.js": b"x" + b"(" * 400_000,
    "nested.py": b"x(" * 30_000 + b")" * 30_000,
    "line.js": b"x(a);" * 100_000,
    "crash.yaml": b"x:\n  " + b"- " * 300 + b"x\n",
}


def test_a_file_that_is_too_much_costs_itself_alone_and_is_counted() -> None:
    texts = {**BOMBS, "last.py": b"x(1)\n"}
    languages = {".js": "javascript", ".py": "python", ".yaml": "yaml"}
    files = [(number, path, languages[Path(path).suffix]) for number, path in enumerate(texts)]
    found = search_structure(texts.__getitem__, files, "x($A)")
    assert (found.searched, found.eligible, found.unreadable) == (5, 5, 0)
    assert [match.start_line for match in found.matches if match.file == 4] == [1]
    assert found.failed <= 4


@pytest.mark.parametrize("pattern", ["x" * 2_001, "\ud800($X)", "- " * 900 + "x"], ids=range(3))
def test_a_pattern_that_is_too_much_is_refused(pattern: str) -> None:
    with pytest.raises(QueryError, match="pattern"):
        search_structure(lambda _: b"x(a)\n", [(0, "a", "javascript"), (1, "b", "yaml")], pattern)


def test_a_deeply_nested_pattern_is_answered() -> None:
    files = [(number, "file", language) for number, language in enumerate(SEARCHED)]
    assert search_structure(lambda _: b"x(a)\n", files, "x(" * 300 + "$A" + ")" * 300, TreeEffort(20)).matches == []


def test_a_structural_search_that_nobody_waits_for_stops() -> None:
    asker = Asker()

    def read(path: str) -> bytes:
        asker.leave()
        return b"foo(a)\n"

    with asker.serve(), pytest.raises(BusyError):
        search_structure(read, [(0, "a.py", "python"), (1, "b.py", "python")], "foo($A)")


def test_files_that_are_gone_are_counted(folder: Path) -> None:
    found = search_structure(reading(folder), [(0, "gone.py", "python")], "foo($A)")
    assert found.unreadable == 1


@pytest.mark.parametrize("language", SEARCHED)
def test_every_language_of_the_table_can_be_searched(tmp_path: Path, language: str) -> None:
    path = f"file{BY_NAME[language].extensions[0]}"
    (tmp_path / path).write_text("")
    assert (
        search_structure(reading(tmp_path), [(0, path, language)], '"a"' if language == "json" else "a").matches == []
    )


@pytest.mark.parametrize(
    ("data", "word", "expected"),
    [
        (b"int x", b"int", True),
        (b"print(x); point", b"int", False),
        (b"print(int)", b"int", True),
        (b"interface", b"int", False),
        (b"x = 1if y else 2", b"if", True),  # a number ends where a name begins
        (b"x\xc3\xa9if", b"if", True),  # in doubt
        (b"_if if_ if1", b"if", False),
        (b"210px", b"10", True),
        (b"", b"if", False),
    ],
)
def test_a_file_is_parsed_if_it_may_hold_a_word_of_the_pattern_as_a_whole_word(
    data: bytes, word: bytes, expected: bool
) -> None:
    assert _holds_word(data, word) is expected


def test_many_files_are_searched_by_several_helpers_and_few_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {f"{number:02}.py": b"pass\n" * 20_000 + b"foo(%d)\n" % number for number in range(24)}
    for count, n_helpers in ((3, 1), (24, 2)):
        monkeypatch.setattr(isolation, "_idle", [])
        files = [(number, path, "python") for number, path in enumerate(texts)][:count]
        found = search_structure(texts.__getitem__, files, "foo($A)", TreeEffort(helpers=2))
        assert [match.captures for match in found.matches] == [({"A": str(number)},) for number in range(count)]
        assert len(isolation._idle) == n_helpers
        for _, helper in isolation._idle:
            helper.close()


def test_no_more_is_begun_than_can_be_done_in_as_much_time_again() -> None:
    read: list[str] = []

    def read_one(path: str) -> bytes:
        read.append(path)
        return b"pass\n" * 4_000 + b"foo(1)\n"

    files = [(number, f"{number}.py", "python") for number in range(200)]
    found = search_structure(read_one, files, "foo($A)", TreeEffort(0.012, helpers=2))
    assert found.searched == len(read) == len(found.matches) < 30
