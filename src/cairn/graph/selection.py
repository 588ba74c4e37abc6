"""Chooses the tests worth running for a change, by calls, imports, and the names of files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from math import log1p
from typing import NamedTuple

import numpy as np

from cairn.graph.graph import Graph
from cairn.graph.nodes import NODE_BITS, file_of, place_of
from cairn.graph.reach import Reached
from cairn.graph.rules import FUNCTION_KINDS
from cairn.graph.values import RankedTest

_CHANGED, NAMES_DELETED, TWIN, _CALL, _MANY, _IMPORT, _FAR, _WORDS, _SAID = 3.0, 2.0, 1.5, 1.0, 0.3, 0.35, 0.1, 0.5, 0.6
NAMED_AFTER, _ALIKE, _MENTIONS = "is named after it", "has a name like it", "mentions its name"
_IMPORT_STEPS = 3
_MAX_NAMED = 20  # tests of a file that are named
_MAX_READ = 50  # tests that are read to see whether they mention a name; beyond that a mention says next to nothing
_MAX_GUESSED = 20  # tests of which only names speak, for each way in which they do

# Above the confidence of any way that has a step found by name only; see `cairn.graph.reach.CONFIDENCE`.
_RESOLVED = 0.55


class Evidence(NamedTuple):
    """A reason to run a test file, how strong it is, and whether the file surely uses what changed."""

    file: int
    reason: str
    strength: float
    is_use: bool = False


def rank_tests(
    graph: Graph,
    changed: Sequence[int],
    reached: Reached,
    importers: Callable[[int], Iterable[int]],
    limit: int = 0,
    more: Iterable[Evidence] = (),
    verb: str = "calls",
) -> tuple[list[RankedTest], int]:
    """Return the test files that a change may affect, each with its strongest reason, uses first.

    The best come first, but those of which only words of their names or their text speak come last.

    Args:
        reached: what the change affects.
        importers: gives the files that import one.
        limit: files at most, 0 for all; the second value counts those beyond.
        more: further evidence.
        verb: what a step from what changed to what it affects is.
    """
    tests, paths = graph.tests.numbers, graph.code.paths
    files = sorted({file_of(node) for node in changed})
    reasons: dict[int, dict[str, Evidence]] = defaultdict(dict)
    of_whole_files = (*_by_imports(importers, files), *_by_names(graph, changed, files), *more)
    found = [
        *_changed_tests(graph, changed),
        *_by_calls(graph, reached, verb),
        *(evidence for evidence in of_whole_files if evidence.file in tests),
    ]
    are_known = any(evidence.is_use or evidence.reason == NAMED_AFTER for evidence in found)
    for evidence in (*found, *_by_likeness(graph, files, only_whole=are_known)):
        known = reasons[evidence.file].get(evidence.reason, evidence)
        reasons[evidence.file][evidence.reason] = max(known, evidence, key=_weight)
    scores = {
        number: round(sum(evidence.strength for evidence in by_reason.values()), 3)
        for number, by_reason in reasons.items()
    }
    order = sorted(
        scores, key=lambda number: (reasons[number].keys() <= {_ALIKE, _MENTIONS}, -scores[number], paths[number])
    )
    shown = order[: limit or None]
    named = _test_names(graph, reached, shown)
    ranked = [
        RankedTest(paths[number], scores[number], max(reasons[number].values(), key=_weight).reason, named[number])
        for number in shown
    ]
    return ranked, len(order) - len(shown)


def _weight(evidence: Evidence) -> tuple[bool, float]:
    return evidence.is_use, evidence.strength


def _changed_tests(graph: Graph, changed: Sequence[int]) -> Iterable[Evidence]:
    """Yield the files of the tests among what changed."""
    nodes = np.array(changed, np.int64)
    for number in set((nodes[graph.tests.hold(nodes)] >> NODE_BITS).tolist()):
        yield Evidence(number, "changed itself", _CHANGED, is_use=True)


def _by_calls(graph: Graph, reached: Reached, verb: str) -> Iterable[Evidence]:
    """Yield evidence from calls: the nearest affected definition in each test file, and how many there are."""
    numbers = reached.nodes >> NODE_BITS
    inside = np.flatnonzero(graph.tests.hold(reached.nodes))
    strengths = reached.confidence[inside] / reached.depth[inside]
    files, at = np.unique(numbers[inside], return_inverse=True)
    sums = np.bincount(at, strengths, len(files))
    best = np.lexsort((-strengths, at))  # the strongest of each file first
    first = np.searchsorted(at[best], np.arange(len(files)))
    strongest = best[first] if len(files) else first
    for number, depth, sure, strength, total in zip(
        files.tolist(),
        reached.depth[inside][strongest].tolist(),
        reached.confidence[inside][strongest].tolist(),
        strengths[strongest].tolist(),
        sums.tolist(),
        strict=True,
    ):
        reason = f"{verb} it over {depth} steps" if depth > 1 else f"{verb} it"
        yield Evidence(number, reason, _CALL * strength + _MANY * log1p(total), is_use=sure > _RESOLVED)


def _test_names(graph: Graph, reached: Reached, files: Sequence[int]) -> dict[int, tuple[str, ...]]:
    """Return the names of the functions in some files that the change affects most surely."""
    found: dict[int, list[str]] = {number: [] for number in files}
    inside = np.flatnonzero(np.isin(reached.nodes >> NODE_BITS, files) & graph.tests.hold(reached.nodes))
    for node in reached.nodes[inside[np.argsort(-reached.confidence[inside], kind="stable")]].tolist():
        names = found[file_of(node)]
        if len(names) < _MAX_NAMED and place_of(node) >= 0:
            definition = graph.code.definition(node)
            if definition.kind in FUNCTION_KINDS:
                names.append(definition.qualified_name)
    return {number: tuple(sorted(names)) for number, names in found.items()}


def _by_imports(importers: Callable[[int], Iterable[int]], files: Sequence[int]) -> Iterable[Evidence]:
    """Yield the files that import some files, directly or by way of others."""
    found: set[int] = set()
    front = list(files)
    for steps in range(1, _IMPORT_STEPS + 1):
        front = [other for number in front for other in importers(number) if other not in found]
        for number in front:
            if number not in found:
                found.add(number)
                yield (
                    Evidence(number, "imports it", _IMPORT)
                    if steps == 1
                    else Evidence(number, f"imports it over {steps} files", _FAR / steps)
                )


def _by_names(graph: Graph, changed: Sequence[int], files: Sequence[int]) -> Iterable[Evidence]:
    """Yield evidence from names: a test file named after a changed file, or a test that mentions a changed symbol."""
    code, tests = graph.code, graph.tests
    twins = {number for file in files for number in tests.twins(code.paths[file])}
    yield from (Evidence(number, NAMED_AFTER, TWIN) for number in twins)
    mentions: dict[int, Evidence] = {}
    is_test = tests.hold(np.array(changed, np.int64)).tolist()
    own = [node for node, is_one in zip(changed, is_test, strict=True) if place_of(node) >= 0 and not is_one]
    for name in {code.definition(node).name for node in own}:
        if len(name) > 3:
            likely = code.mentions.may_mention(name)
            said = likely & tests.numbers
            if len(said) <= _MAX_READ:
                said = code.mentions.mentioning(name, said)
            for number in said:
                evidence = Evidence(number, _MENTIONS, _SAID / log1p(1 + len(likely)))
                mentions[number] = max(mentions.get(number, evidence), evidence, key=_weight)
    yield from _likeliest(mentions.values())


def _by_likeness(graph: Graph, files: Sequence[int], *, only_whole: bool) -> Iterable[Evidence]:
    """Return the likeliest test files whose names share words with that of a changed file, or all words of either."""
    found: list[tuple[float, Evidence]] = []
    for file in files:
        path = graph.code.paths[file]
        twins = graph.tests.twins(path)
        for number, alike in graph.tests.alike(file).items():
            if number not in twins and (alike.share == 1 or not only_whole):
                found.append((alike.telling, Evidence(number, _ALIKE, _WORDS * alike.share)))
    best = sorted(found, key=lambda one: (-one[0], graph.code.paths[one[1].file]))
    return [evidence for _, evidence in best[:_MAX_GUESSED]]


def _likeliest(evidence: Iterable[Evidence]) -> list[Evidence]:
    return sorted(evidence, key=lambda one: (-one.strength, one.file))[:_MAX_GUESSED]
