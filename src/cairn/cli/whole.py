"""`cairn dead`, `cycles` and `map`: about the whole project, and always answered in this process."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

from cairn.cli.graph import Document, at, from_here, more, place_of, show
from cairn.cli.here import answer_from_graph
from cairn.cli.notes import openable, printable
from cairn.cli.render import ProgressBar, Style
from cairn.graph.values import GraphAnswer
from cairn.protocol.documents import graph_to_dict
from cairn.workspace import Workspace


def _ask_graph(options: argparse.Namespace, answer: Callable[[Workspace, ProgressBar], GraphAnswer]) -> Document:
    document: Document = answer_from_graph(options, lambda workspace, bar: graph_to_dict(answer(workspace, bar)))
    return from_here(document, options)


def run_dead(options: argparse.Namespace) -> int:
    """Show definitions that nothing seems to use."""
    document = _ask_graph(options, lambda workspace, bar: workspace.graph.dead_code(limit=options.limit, progress=bar))

    def rows(style: Style) -> Iterator[str]:
        for definition in document["dead"]:
            facts = f"({definition['reason']}, {definition['confidence']:.1f})"
            yield f"{place_of(definition['symbol'], style)}  {style.faint(facts)}"

    nothing = "Nothing is known to be unused."
    return show(
        document, options, rows, something=bool(document["dead"]), omitted=more(document["omitted"]), nothing=nothing
    )


def run_cycles(options: argparse.Namespace) -> int:
    """Show import cycles."""
    document = _ask_graph(options, lambda workspace, bar: workspace.graph.import_cycles(progress=bar))

    def rows(style: Style) -> Iterator[str]:
        for cycle in document["cycles"]:
            yield f"{cycle['kind']}, {cycle['size']} files:"
            for step in cycle["steps"]:
                yield f"  {at(step, style)}"
            for path in cycle["others"]:
                yield f"  {style.path(openable(path))}  {style.faint('(reaches them, and they reach it)')}"

    nothing = "There are no import cycles."
    return show(document, options, rows, something=bool(document["cycles"]), nothing=nothing)


def run_map(options: argparse.Namespace) -> int:
    """Show the most central files and definitions within a token budget."""
    document = _ask_graph(
        options,
        lambda workspace, bar: workspace.graph.map(max_tokens=options.max_tokens, focus=options.focus, progress=bar),
    )

    def rows(style: Style) -> Iterator[str]:
        for entry in document["entries"]:
            yield style.path(openable(entry["filepath"]))
            for line, head in entry["symbols"]:
                yield f"  {line}: {style.name(printable(head))}"

    omitted = more(document["omitted_files"], "more file", "--max-tokens")
    nothing = "No code is indexed; see what is skipped: cairn index --skipped"
    if document["omitted_files"]:
        nothing = f"Nothing fits into {options.max_tokens:,} tokens."
    return show(document, options, rows, something=bool(document["entries"]), nothing=nothing, omitted=omitted)
