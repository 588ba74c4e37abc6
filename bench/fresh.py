"""Plays random histories of repositories and compares the answers of an updated index with those of a fresh one.

    python bench/fresh.py --histories 300

After each history the answers to ranked, exact and structural queries, to `similar` and to the symbol graph must be
equal: ids, order, scores to six digits, relevance, confidence, previews, counts and notes. In every other history
segments are merged from two on.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from cairn.answers import Answer
from cairn.config import Settings
from cairn.errors import CairnError
from cairn.index import build
from cairn.workspace import Workspace
from histories import STEPS, History

QUERIES = (
    "where is the total kept", "how are parts of alpha joined", "load_3", "store of the router cache", "parser",
    "which files are read when the index is updated", "error message for a missing folder", "beta", "join parts",
    "callers of load_1", "tests for load_2", "what imports file_1", "def load_$N($$$)", '"return total"', r"part_\d+\(",
)  # fmt: skip
SIZES = (8, 25, 25, 25, 120)  # files to begin with
SYMBOLS = ("load_0", "load_1", "load_3", "file_2.py", "lib/file_1.py")
# What a fresh index cannot know, and times.
_LEFT_OUT = ("generation", "took_ms", "view", "branch", "revision")
_SOURCES = sorted(Path(__file__).parent.parent.joinpath("src", "cairn").rglob("*.py"))


class RichHistory(History):
    """As `History`, with pieces of real code among the made-up ones: names and words of which some are rare."""

    def __init__(self, root: Path, dice: random.Random, n_files: int) -> None:
        super().__init__(root, dice)
        for number in range(n_files):
            self._write(f"{self._folder()}more_{number}.py")
        self._commit()

    def _text(self) -> str:
        if self._dice.random() < 0.5:
            return super()._text()
        lines = self._dice.choice(_SOURCES).read_text().split("\n")
        first = self._dice.randrange(max(1, len(lines) - 40))
        calls = "\n\n\ndef use(total):\n    return load_1(total) + load_2(total)\n"
        return "\n".join(lines[first : first + self._dice.randint(20, 160)]) + self._dice.choice(("\n", calls))

    def _revert(self) -> None:
        self._git("revert", "--no-edit", "HEAD") or self._git("revert", "--abort")

    def _merge(self) -> None:
        self._git("merge", "-q", "-m", "merge", self._dice.choice(self._branches)) or self._git("merge", "--abort")


Question = Callable[[Workspace], object]
ALL_STEPS = (*STEPS, "copy", "copy", "revert", "merge", "delete")


def plain_values(answer: Answer) -> dict[str, Any]:
    """Return an answer as plain values, without what belongs to one index."""
    document = {name: value for name, value in asdict(answer).items() if name not in _LEFT_OUT}
    rounded = [hit._replace(score=round(hit.score, 6), relevance=round(hit.relevance, 6)) for hit in answer.code]
    return {**document, "code": [hit._asdict() for hit in rounded]}


def questions(dice: random.Random) -> Iterator[tuple[str, Question]]:
    """Yield questions with their names, chosen once for both indexes."""
    for query in QUERIES:
        limit, expand = dice.choice((1, 3, 10, 10, 500)), dice.random() < 0.2
        options: dict[str, Any] = {"limit": limit, "expand": expand, "explain": dice.random() < 0.3}
        if dice.random() < 0.15:
            options["kinds"] = ("function",)
        if dice.random() < 0.15:
            options["globs"] = (dice.choice(("lib/**", "*.py", "!tests/**")),)
        if dice.random() < 0.15:
            options["mode"] = "semantic"
        yield f"search {query} {options}", partial(_search, query, options)
    code = "def load_9(total):\n    total += part_3(total)\n    total += part_1(total)\n    return total\n"
    yield "similar", partial(_similar, code, dice.choice((3, 10, 50)))
    for symbol in SYMBOLS:
        for method in ("callers", "callees", "impact", "choose_tests", "importers"):
            yield f"{method} {symbol}", partial(_ask_graph, method, symbol)
    for method in ("dead_code", "import_cycles", "map"):
        yield method, partial(_ask_graph, method)


def _search(query: str, options: Mapping[str, Any], workspace: Workspace) -> object:
    return plain_values(workspace.search(query, **options))


def _similar(code: str, limit: int, workspace: Workspace) -> object:
    return plain_values(workspace.similar(code=code, languages=("python",), limit=limit))


def _ask_graph(method: str, *arguments: object) -> object:
    *values, workspace = arguments
    assert isinstance(workspace, Workspace)
    return getattr(workspace.graph, method)(*values)


def answer_of(workspace: Workspace, question: Question) -> object:
    """Return the answer, or the error in its place."""
    try:
        return question(workspace)
    except CairnError as error:
        return type(error).__name__, str(error), error.hint


def play(base: Path, number: int, seed: int, n_steps: int) -> list[str]:
    """Play one history, and return how the index differs from a fresh one."""
    dice = random.Random(f"{seed}/{number}")
    settings = Settings(batch_chunks=dice.choice((12, 40, 1_000)), garbage_days=dice.choice((0.0, 14.0)))
    kept = build.MAX_SEGMENTS
    if number % 2:
        build.MAX_SEGMENTS = 2
    try:
        return list(_differences(base, dice, settings, n_steps))
    finally:
        build.MAX_SEGMENTS = kept


def _differences(base: Path, dice: random.Random, settings: Settings, n_steps: int) -> Iterator[str]:
    root = base / "root"
    root.mkdir()
    history = RichHistory(root, dice, dice.choice(SIZES))
    with Workspace.open(root, settings=settings) as ours:
        ours.index()
        for step in dice.choices(ALL_STEPS, k=n_steps):
            history.apply(step)
            if dice.random() < 0.6:
                ours.index(full=dice.random() < 0.05)
            if dice.random() < 0.15:
                ours.index(branch=dice.choice(history.branches))
            if dice.random() < 0.1:
                ours.upkeep.collect()
            if dice.random() < 0.2:
                answer_of(
                    ours, lambda workspace: workspace.graph.callers("load_1")
                )  # facts and edges are kept from here on
            if dice.random() < 0.1:
                answer_of(ours, lambda workspace: workspace.graph.map())
        ours.index()
        with Workspace.open(root, state_dir=base / "fresh", settings=settings) as fresh:
            fresh.index()
            for name, question in questions(dice):
                if (first := answer_of(ours, question)) != (second := answer_of(fresh, question)):
                    yield f"{name}: {_first_difference(first, second)}"


def _first_difference(first: object, second: object, at: str = "") -> str:
    if isinstance(first, dict) and isinstance(second, dict):
        for key in first.keys() | second.keys():
            if first.get(key) != second.get(key):
                return _first_difference(first.get(key), second.get(key), f"{at}.{key}")
    if isinstance(first, (list, tuple)) and isinstance(second, (list, tuple)) and len(first) == len(second):
        for place, pair in enumerate(zip(first, second, strict=True)):
            if pair[0] != pair[1]:
                return _first_difference(*pair, f"{at}[{place}]")
    return f"{at}: {str(first)[:160]} instead of {str(second)[:160]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--histories", type=int, default=300)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--steps", type=int, default=14)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    started, different = time.perf_counter(), 0
    for number in range(options.first, options.first + options.histories):
        with tempfile.TemporaryDirectory() as folder:
            found = play(Path(folder), number, options.seed, options.steps)
        different += bool(found)
        for difference in found[:5]:
            print(json.dumps({"history": number, "differs": difference}), file=sys.stderr, flush=True)
    questions_asked = options.histories * sum(1 for _ in questions(random.Random(0)))
    document = {"histories": options.histories, "equal": options.histories - different, "questions": questions_asked}
    print(json.dumps(document | {"seconds": round(time.perf_counter() - started, 1)}))


if __name__ == "__main__":
    main()
