"""Chooses the tests worth running for a change, by calls, imports, and the names of files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from math import log1p

from cairn.graph.code import Code, file_of, place_of
from cairn.graph.graph import Graph
from cairn.graph.rules import FUNCTION_KINDS, rules_of
from cairn.graph.values import RankedTest

Reached = Mapping[int, tuple[float, int, str]]
_Add = Callable[[int, str, float], None]

_CHANGED, _TWIN, _CALL, _MANY, _IMPORT, _FAR, _WORDS = 3.0, 1.5, 1.0, 0.3, 0.35, 0.1, 0.5
_IMPORT_STEPS = 3
_MARKS = re.compile(r"^(?:test_|tests_|spec_)|(?:_test|_tests|_spec|[.-]test|[.-]spec|Tests?|TestCase|Spec|IT)$")
_NAMELESS = frozenset({"__init__", "index", "mod", "main", "lib", "conftest", "utils", "helpers"})
_WORD = re.compile(r"[a-z]+|[A-Z][a-z]*|\d+")


def rank_tests(graph: Graph, changed: Sequence[int], reached: Reached) -> list[RankedTest]:
    """Return the test files that a change may concern, best first, each with its strongest reason.

    Args:
        reached: what the change is felt by, as `cairn.graph.impact.reach` gives it.
    """
    code = graph.code
    tests = runnable_tests(graph)
    evidence: dict[int, dict[str, float]] = {number: {} for number in tests}

    def add(number: int, reason: str, strength: float) -> None:
        if number in evidence:
            evidence[number][reason] = max(strength, evidence[number].get(reason, 0.0))

    files = sorted({file_of(node) for node in changed})
    for number in files:
        add(number, "changed itself", _CHANGED)
    named: dict[int, list[str]] = {}
    counts: dict[int, float] = {}
    calls: dict[int, tuple[float, str]] = {}
    for node, (confidence, depth, _) in reached.items():
        number = file_of(node)
        if number in evidence:
            strength = confidence / depth
            reason = f"calls it over {depth} steps" if depth > 1 else "calls it"
            calls[number] = max(calls.get(number, (0.0, "")), (_CALL * strength, reason))
            counts[number] = counts.get(number, 0.0) + strength
            if place_of(node) >= 0 and code.definition(node).kind in FUNCTION_KINDS:
                named.setdefault(number, []).append(code.definition(node).qualified_name)
    for number, (strength, reason) in calls.items():
        add(number, reason, strength + _MANY * log1p(counts[number]))
    for number, steps in _importing(graph, files).items():
        add(
            number,
            "imports it" if steps == 1 else f"imports it over {steps} files",
            _IMPORT if steps == 1 else _FAR / steps,
        )
    _add_names(graph, tests, changed, files, add)
    ranked = [
        RankedTest(
            code.paths[number],
            round(sum(reasons.values()), 3),
            max(reasons, key=lambda reason: reasons[reason]),
            tuple(sorted(named.get(number, ()))[:20]),
        )
        for number, reasons in evidence.items()
        if reasons
    ]
    return sorted(ranked, key=lambda one: (-one.score, one.path))


def runnable_tests(graph: Graph) -> list[int]:
    """Return the files that hold tests; the list is kept until a file changes."""
    if graph.tests is None:
        graph.tests = [number for number in range(len(graph.code.paths)) if is_runnable(graph.code, number)]
    return graph.tests


def is_runnable(code: Code, number: int) -> bool:
    """Tell whether a file holds tests, rather than what tests need."""
    path = code.paths[number]
    stem = path.rpartition("/")[2].rpartition(".")[0]
    if not code.is_test(number) or stem in ("__init__", "conftest") or not rules_of(code.languages[number]).family:
        return False
    named = _MARKS.search(stem) is not None or _MARKS.search(stem.partition(".")[0]) is not None
    return named or any(
        one.kind == "test" or one.name.startswith(("test", "Test")) for one in code.file(number).definitions
    )


def _importing(graph: Graph, files: Sequence[int]) -> dict[int, int]:
    """Return {file: steps} of the files that import some files, directly or by way of others."""
    importers = graph.network.importers
    found: dict[int, int] = {}
    front = list(files)
    for steps in range(1, _IMPORT_STEPS + 1):
        front = [other for number in front for other in importers.get(number, ()) if other not in found]
        for number in front:
            found.setdefault(number, steps)
    return found


def _add_names(graph: Graph, tests: Sequence[int], changed: Sequence[int], files: Sequence[int], add: _Add) -> None:
    """Add what names tell: a test file called like a changed file, or a test that says a changed symbol's name."""
    code = graph.code
    stems = {_plain(code.paths[number]): number for number in files}
    words_of_files = {number: _words(code.paths[number]) for number in files}
    names = {code.definition(node).name for node in changed if place_of(node) >= 0}
    mentioning = {name: code.mentioning(name) for name in names if len(name) > 3}
    for number in tests:
        path = code.paths[number]
        plain = _plain(path)
        if plain in stems and plain not in _NAMELESS:
            add(number, "is called like it", _TWIN)
        elif plain:
            own = _words(path)
            share = max((_overlap(own, words) for words in words_of_files.values()), default=0.0)
            if share:
                add(number, "has a name like it", _WORDS * share)
        said = [name for name, found in mentioning.items() if number in found]
        if said:
            rare = max(1 / log1p(1 + len(mentioning[name])) for name in said)
            add(number, "says its name", 0.6 * rare)


@lru_cache(maxsize=1 << 14)
def _plain(path: str) -> str:
    """Return the stem of a file without what marks it as a test, in lower case."""
    stem = path.rpartition("/")[2].partition(".")[0]
    for _ in range(2):
        stem = _MARKS.sub("", stem)
    return stem.lower().replace("_", "").replace("-", "")


@lru_cache(maxsize=1 << 14)
def _words(path: str) -> frozenset[str]:
    parts = path.split("/")[-2:]
    found = {word.lower() for part in parts for word in _WORD.findall(part.partition(".")[0])}
    return frozenset(found - {"test", "tests", "spec", "src", "lib", "init", "py"})


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / min(len(one), len(other)) if one and other else 0.0
