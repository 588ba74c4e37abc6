"""How often does an answer without callers say "nothing calls" where lines of the project look like calls?

    python bench/nothing_calls.py CHECKOUT... [--count 50] [--show]

Each CHECKOUT is a folder to index. Of functions chosen at random, those without a known caller are asked about, and
the lines of all code are searched for what looks like a call, without comments and definitions. Such a line may mean a
namesake, which the graph knows and this judge does not: `--show` prints the cases to be looked at.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from cairn.errors import AmbiguousError, UnknownSymbolError
from cairn.graph import questions
from cairn.graph.graph import Graph
from cairn.graph.nodes import file_of
from cairn.graph.patience import GraphPatience
from cairn.graph.rules import FUNCTION_KINDS
from cairn.source.languages import BY_NAME
from cairn.workspace import Workspace

_FOR_EACH_FILE = 2
_PATIENCE_SECONDS = 3_600
_HEAD_LINES = 6  # after which the name of a definition has been said
_DEFINES = re.compile(
    r"(?:\b(?:fn|func|fun|def\w*|function|sub|class|struct|interface|trait|enum|object|record|protocol|module|macro|union"
    r"|type|typedef)|@spec|@callback|@macrocallback|@type|@typep|@opaque)[&\s]+[\w.:<>,\s\\]*$"
)
_COMMENT = re.compile(r"^\s*(?://|#(?!define|\[|if|el)|/\*|\*(?:\s|/|$)|--\s)")

Texts = Mapping[str, Sequence[str]]


class Case(NamedTuple):
    """A function without a known caller: what `grep` finds, and whether the answer says that lines are not known."""

    symbol: str
    lines: list[str]
    is_told: bool


def main() -> None:
    """Print one row for each checkout."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", nargs="+", type=Path)
    parser.add_argument("--count", type=int, default=50, help="functions without a known caller in each")
    parser.add_argument("--show", action="store_true", help="print the cases in which `grep` finds what is not told")
    options = parser.parse_args()
    for checkout in options.checkouts:
        with tempfile.TemporaryDirectory() as state, Workspace.open(checkout, state_dir=Path(state)) as workspace:
            workspace.index()
            cases, seconds = workspace.graph.ask(partial(examine, root=checkout, count=options.count))
        untold = [case for case in cases if case.lines and not case.is_told]
        told = sum(case.is_told for case in cases)
        median, mean = 1_000 * statistics.median(seconds), 1_000 * statistics.mean(seconds)
        print(
            f"{checkout.name}: {len(cases)} without a known caller, {told} with lines told, {len(untold)} untold; "
            f"CPU ms of a question: median {median:.1f}, mean {mean:.1f}"
        )
        for case in untold if options.show else ():
            print(f"  {case.symbol}: {case.lines[:3]}")


def examine(graph: Graph, root: Path, count: int) -> tuple[list[Case], list[float]]:
    """Return the cases, and how many seconds of processor time each question took."""
    graph.patience = GraphPatience(seconds=_PATIENCE_SECONDS)  # no answer is cut
    code = graph.code
    texts = {
        path: (root / path).read_text(errors="replace").split("\n")
        for path, language in zip(code.paths, code.languages, strict=True)
        if BY_NAME[language].group == "code"
    }
    cases: list[Case] = []
    seconds: list[float] = []
    for path, name, qualified in _chosen(graph):
        started = time.process_time()
        try:
            links = questions.callers(graph, f"{path}:{qualified}")
        except (AmbiguousError, UnknownSymbolError):
            continue
        seconds.append(time.process_time() - started)
        if not links.links:
            is_told = links.unresolved is not None
            cases.append(Case(f"{path}:{qualified}", list(_calls(texts, name, _heads(graph, texts, name))), is_told))
        if len(cases) == count:
            break
    return cases, seconds


def _chosen(graph: Graph) -> Iterator[tuple[str, str, str]]:
    """Yield the path, the name and the qualified name of functions in a random order that is always the same."""
    chance = random.Random(7)
    numbers = [n for n, language in enumerate(graph.code.languages) if BY_NAME[language].has_references]
    chance.shuffle(numbers)
    for number in numbers:
        source = graph.code.file(number)
        functions = [
            definition
            for definition in source.definitions
            if definition.kind in FUNCTION_KINDS - {"test", "macro"} and len(definition.name) > 2
        ]
        chance.shuffle(functions)
        for definition in functions[:_FOR_EACH_FILE]:
            yield source.path, definition.name, definition.qualified_name


def _heads(graph: Graph, texts: Texts, name: str) -> set[tuple[str, int]]:
    """Return the lines on which definitions of a name begin, up to the name."""
    heads: set[tuple[str, int]] = set()
    for node in graph.code.nodes_named(name):
        span, path = graph.code.definition(node).span, graph.code.paths[file_of(node)]
        for line, text in enumerate(texts.get(path, ())[span.start_line - 1 : span.end_line][:_HEAD_LINES]):
            heads.add((path, span.start_line + line))
            if _word(name).search(text):
                break
    return heads


def _word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w$]){re.escape(name)}(?!\w)")


def _calls(texts: Texts, name: str, heads: set[tuple[str, int]]) -> Iterator[str]:
    """Yield the lines that look like calls of a name."""
    call = re.compile(_word(name).pattern + r"\s?(?:::)?(?:<[^<>()\n]*>)?\s?[({]")
    for path, lines in texts.items():
        for number, line in enumerate(lines, 1):
            match = call.search(line)
            if match is None or (path, number) in heads or _COMMENT.match(line):
                continue
            if not _DEFINES.search(line[: match.start()]):
                yield f"{path}:{number}: {line.strip()[:100]}"


if __name__ == "__main__":
    main()
