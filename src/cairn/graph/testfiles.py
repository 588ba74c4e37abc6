"""The files of a project that hold tests, and how their names find them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from math import log1p
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cairn import waiting
from cairn.graph.code import Code
from cairn.graph.nodes import NODE_BITS, place_of
from cairn.graph.rules import rules_of
from cairn.graph.source_file import SourceFile
from cairn.graph.table import Ints
from cairn.graph.test_marks import find_marked, marks_of
from cairn.source.languages import BY_NAME

_MARKS = re.compile(r"^(?:test_|tests_|spec_)|(?:_test|_tests|_spec|[.-]test|[.-]spec|Tests?|TestCase|Spec|IT)$")
# So many files are called one of these that only the folder says which of them a test is about.
_NAMELESS = frozenset({"__init__", "index", "mod", "main", "lib", "conftest", "utils", "helpers"})
# Folders that hold all code or all tests, so that the rest of a path is the same for a file and its test.
_ROOTS = frozenset({"src", "lib", "app", "main", "test", "tests", "__tests__", "spec", "specs", "unit"})
_WORD = re.compile(r"[a-z]+|[A-Z][a-z]*|\d+")


class NameLikeness(NamedTuple):
    """The share of words that two names have in common, 1 if one has all of the other, and weighed by their rarity."""

    share: float
    telling: float


class TestFiles:
    """The tests of one state of the code.

    Attributes:
        numbers: the files that hold tests, rather than what tests need.
        beside: further files, of code, with tests beside that, as in Rust.
        all: both.
    """

    __test__ = False  # pytest takes the name for a class of tests

    def __init__(self, code: Code) -> None:
        self._code = code
        likely = [number for number in np.flatnonzero(code.tests).tolist() if _may_hold_tests(code, number)]
        named = {number for number in likely if _is_named_so(code.paths[number])}
        marked = set(_iter_marked(code, named))
        self.numbers = frozenset(
            number for number in likely if number in named or number in marked or _defines_tests(code.file(number))
        )
        self.beside = frozenset(number for number in marked if not code.tests[number])
        self.all = self.numbers | self.beside
        self._paths = code.paths
        self._holds_tests = np.zeros(len(code.paths), np.bool_)
        self._holds_tests[sorted(self.numbers)] = True
        self._marked: dict[int, Set[int]] = {}  # of files with tests beside the code, what belongs to these
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

    def hold(self, nodes: Ints) -> npt.NDArray[np.bool_]:
        """Tell of each of some nodes whether it belongs to tests: it is in a file of these, or in a part of one."""
        files = nodes >> NODE_BITS
        held: npt.NDArray[np.bool_] = self._holds_tests[files]
        for at in np.flatnonzero(np.isin(files, list(self.beside))).tolist():
            held[at] = place_of(int(nodes[at])) in self._marked_in(int(files[at]))
        return held

    def _marked_in(self, number: int) -> Set[int]:
        if (found := self._marked.get(number)) is None:
            found = self._marked[number] = find_marked(self._code.file(number))
        return found

    def twins(self, path: str) -> list[int]:
        """Return the tests that are named after a file."""
        plain = _plain(path)
        named = self._twins.get(plain, [])
        is_of_folder = plain in _NAMELESS or path.endswith(".go")  # tests of Go stand beside what they test
        return [number for number in named if _mirrors(self._paths[number], path)] if is_of_folder else named

    def alike(self, file: int) -> Mapping[int, NameLikeness]:
        """Return the tests in a language like that of a file whose names share words with its name."""
        words = _words_of(self._paths[file])
        shared: dict[int, list[str]] = defaultdict(list)
        for word in words:
            for number in self._with_word.get(word, ()):
                if self._is_in_language_of(number, file):
                    shared[number].append(word)
        return {
            number: NameLikeness(
                len(same) / min(len(words), len(self._words[number])),
                self._telling(same) / min(self._telling(words), self._telling(self._words[number])),
            )
            for number, same in shared.items()
        }

    def _is_in_language_of(self, test: int, file: int) -> bool:
        """Tell whether a test may be about a file by their languages; of what is no code, any may be."""
        of_test, of_file = (self._code.languages[number] for number in (test, file))
        return BY_NAME[of_file].group != "code" or rules_of(of_test).family == rules_of(of_file).family

    def _telling(self, words: Iterable[str]) -> float:
        """Return how much some words tell of a file: more if fewer tests have them in their names."""
        return sum(log1p(len(self._words) / (1 + len(self._with_word.get(word, ())))) for word in words)


def _may_hold_tests(code: Code, number: int) -> bool:
    """Tell whether a file is code and no part of what tests need."""
    return _stem(code.paths[number]) not in ("__init__", "conftest") and BY_NAME[code.languages[number]].group == "code"


def _is_named_so(path: str) -> bool:
    stem = _stem(path)
    return _MARKS.search(stem) is not None or _MARKS.search(stem.partition(".")[0]) is not None


def _stem(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0]


def _iter_marked(code: Code, others: Set[int]) -> Iterator[int]:
    """Yield the files, without some others, in whose text something is marked as a test."""
    for language in sorted(set(code.languages)):
        if (marks := marks_of(language)) is not None:
            saying = {number for word in marks.words for number in code.mentions.may_mention(word)}
            for number in saying - others:
                waiting.check()
                if code.languages[number] == language and marks.in_text.search(code.checkout.read(number) or b""):
                    yield number


def _defines_tests(source: SourceFile) -> bool:
    return any(
        definition.kind == "test" or definition.name.startswith(("test", "Test")) for definition in source.definitions
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
    """Return the words of the name of a file, none if only its folder says what it is about."""
    stem = path.rpartition("/")[2].partition(".")[0]
    if _plain(path) in _NAMELESS:
        return frozenset()
    found = {word.lower() for word in _WORD.findall(stem)}
    return frozenset(found - {"test", "tests", "spec", "src", "lib", "init", "py"})
