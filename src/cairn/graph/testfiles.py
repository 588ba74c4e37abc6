"""The files of a project that hold tests, and how their names find them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping

from cairn.graph.code import Code
from cairn.source.languages import BY_NAME

_MARKS = re.compile(r"^(?:test_|tests_|spec_)|(?:_test|_tests|_spec|[.-]test|[.-]spec|Tests?|TestCase|Spec|IT)$")
# So many files are called one of these that only the folder says which of them a test is about.
_NAMELESS = frozenset({"__init__", "index", "mod", "main", "lib", "conftest", "utils", "helpers"})
# Folders that hold all code or all tests, so that the rest of a path is the same for a file and its test.
_ROOTS = frozenset({"src", "lib", "app", "main", "test", "tests", "__tests__", "spec", "specs", "unit"})
_WORD = re.compile(r"[a-z]+|[A-Z][a-z]*|\d+")


class TestFiles:
    """The tests of one state of the code.

    Attributes:
        numbers: the files that hold tests, rather than what tests need.
    """

    __test__ = False  # pytest takes the name for a class of tests

    def __init__(self, code: Code) -> None:
        self.numbers = frozenset(number for number in range(len(code.paths)) if is_runnable(code, number))
        self._paths = code.paths
        self._twins: dict[str, list[int]] = defaultdict(list)
        self._with_word: dict[str, list[int]] = defaultdict(list)
        self._words: dict[int, frozenset[str]] = {}
        for number in sorted(self.numbers):
            path = code.paths[number]
            if plain := _plain(path):
                self._twins[plain].append(number)
                self._words[number] = _words_of(path)
                for word in self._words[number]:
                    self._with_word[word].append(number)

    def twins(self, path: str) -> list[int]:
        """Return the tests that are named after a file."""
        plain = _plain(path)
        named = self._twins.get(plain, [])
        return [number for number in named if _mirrors(self._paths[number], path)] if plain in _NAMELESS else named

    def alike(self, path: str) -> Mapping[int, float]:
        """Return the tests whose names share words with that of a file, with the share of the words, up to 1."""
        words = _words_of(path)
        shared: dict[int, int] = defaultdict(int)
        for word in words:
            for number in self._with_word.get(word, ()):
                shared[number] += 1
        return {number: count / min(len(words), len(self._words[number])) for number, count in shared.items()}


def is_runnable(code: Code, number: int) -> bool:
    """Tell whether a file holds tests, rather than what tests need."""
    path = code.paths[number]
    stem = path.rpartition("/")[2].rpartition(".")[0]
    if not code.tests[number] or stem in ("__init__", "conftest") or BY_NAME[code.languages[number]].group != "code":
        return False
    named = _MARKS.search(stem) is not None or _MARKS.search(stem.partition(".")[0]) is not None
    return named or any(
        definition.kind == "test" or definition.name.startswith(("test", "Test"))
        for definition in code.file(number).definitions
    )


def _plain(path: str) -> str:
    """Return the stem of a file without what marks it as a test, in lower case."""
    stem = path.rpartition("/")[2].partition(".")[0]
    for _ in range(2):
        stem = _MARKS.sub("", stem)
    return stem.lower().replace("_", "").replace("-", "")


def _mirrors(test: str, path: str) -> bool:
    """Tell whether a test is in the folder of a file, or in the one for its tests."""
    of_test, of_file = _folders_of(test), _folders_of(path)
    # Tests may leave out the folder that is the whole package.
    return of_test == of_file or (bool(of_test) and of_file[-len(of_test) :] == of_test)


def _folders_of(path: str) -> list[str]:
    return [folder for folder in path.split("/")[:-1] if folder.lower() not in _ROOTS]


def _words_of(path: str) -> frozenset[str]:
    parts = path.split("/")[-2:]
    found = {word.lower() for part in parts for word in _WORD.findall(part.partition(".")[0])}
    return frozenset(found - {"test", "tests", "spec", "src", "lib", "init", "py"})
