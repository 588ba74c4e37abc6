"""`cairn dead`, `cycles` and `map`: what only this process answers, about the project as a whole."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

from cairn.cli.graph import Document, at, more, place_of, show
from cairn.cli.here import answer_from_graph
from cairn.cli.notes import printable
from cairn.cli.render import ProgressBar, Style
from cairn.graph.values import GraphAnswer
from cairn.protocol.documents import graph_to_dict
from cairn.workspace import Workspace


def _whole(options: argparse.Namespace, answer: Callable[[Workspace, ProgressBar], GraphAnswer]) -> Document:
    document: Document = answer_from_graph(options, lambda workspace, bar: graph_to_dict(answer(workspace, bar)))
    return document


def run_dead(options: argparse.Namespace) -> int:
    """Show definitions that nothing seems to reach."""
    found = _whole(options, lambda workspace, bar: workspace.graph.dead_code(limit=options.limit, progress=bar))

    def rows(style: Style) -> Iterator[str]:
        for one in found["dead"]:
            facts = f"({one['reason']}, {one['confidence']:.1f})"
            yield f"{place_of(one['symbol'], style)}  {style.faint(facts)}"

    nothing = "Everything is reached, or may be."
    return show(found, options, rows, something=bool(found["dead"]), omitted=more(found["omitted"]), nothing=nothing)


def run_cycles(options: argparse.Namespace) -> int:
    """Show circles of imports."""
    found = _whole(options, lambda workspace, bar: workspace.graph.import_cycles(progress=bar))

    def rows(style: Style) -> Iterator[str]:
        for cycle in found["cycles"]:
            yield f"{cycle['kind']}, {cycle['size']} files:"
            for step in cycle["steps"]:
                yield f"  {at(step, style)}"

    nothing = "No files import each other in a circle."
    return show(found, options, rows, something=bool(found["cycles"]), nothing=nothing)


def run_map(options: argparse.Namespace) -> int:
    """Show the most central files and definitions within a budget."""
    found = _whole(
        options,
        lambda workspace, bar: workspace.graph.map(max_tokens=options.max_tokens, focus=options.focus, progress=bar),
    )

    def rows(style: Style) -> Iterator[str]:
        for entry in found["entries"]:
            yield style.path(printable(entry["filepath"]))
            for line, head in entry["symbols"]:
                yield f"  {line}: {style.name(printable(head))}"

    omitted = more(found["omitted_files"], "more file", "--max-tokens")
    return show(found, options, rows, something=bool(found["entries"]), omitted=omitted)
