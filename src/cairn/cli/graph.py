"""`cairn callers`, `callees`, `path`, `importers`, `impact`, `tests`, `dead`, `cycles` and `map`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict

from cairn.cli.main import EXIT_FOUND, EXIT_NONE
from cairn.cli.render import ProgressBar, Style, emit, emit_json, note, printable
from cairn.graph import questions
from cairn.graph.graph import Graph
from cairn.graph.values import Link, Links, Symbol
from cairn.workspace import Workspace


@contextmanager
def _graph(options: argparse.Namespace) -> Iterator[Graph]:
    """Open the project's graph, the index being brought up to date first unless that is not wanted."""
    with Workspace.containing(options.project, state_dir=options.state_dir) as workspace:
        if not options.no_update:
            with closing(ProgressBar("Indexing")) as bar:
                workspace.index(progress=bar)
        with closing(ProgressBar("Reading references")) as bar:
            yield workspace.graph(progress=bar)


def _tell(notes: Sequence[str]) -> None:
    for text in notes:
        note(printable(text))


def run_callers(options: argparse.Namespace) -> int:
    """Show what calls a symbol directly."""
    with _graph(options) as graph:
        found = questions.callers(graph, options.symbol, options.limit)
    return _show_links(found, options, "calls")


def run_callees(options: argparse.Namespace) -> int:
    """Show what a symbol calls directly."""
    with _graph(options) as graph:
        found = questions.callees(graph, options.symbol, options.limit)
    return _show_links(found, options, "is called by")


def _show_links(found: Links, options: argparse.Namespace, verb: str) -> int:
    if options.json:
        emit_json(asdict(found))
    else:
        style = Style(sys.stdout)
        for link in found.links:
            emit(_line(link, style))
        _tell(found.notes)
        if found.omitted:
            note(f"{found.omitted:,} more; raise -n to see them.")
        if not found.links:
            note(f"Nothing {verb} {_called(found.symbol)}, as far as can be resolved.")
    return EXIT_FOUND if found.links else EXIT_NONE


def _line(link: Link, style: Style) -> str:
    where = style.path(f"{printable(link.path)}:{link.line}")
    symbol = link.symbol
    label = style.name(printable(f"{symbol.kind} {symbol.name}".strip()))
    beyond = f"  {printable(symbol.path)}:{symbol.line}" if symbol.path != link.path else ""
    stale = "  (changed since it was indexed)" if symbol.stale else ""
    return f"{where}  {label}  {style.faint(f'({link.kind}, {link.how}){beyond}{stale}')}"


def _called(symbol: Symbol) -> str:
    return printable(f"{symbol.kind} {symbol.name or symbol.path} ({symbol.path}:{symbol.line})")


def run_path(options: argparse.Namespace) -> int:
    """Show the shortest way of calls from one symbol to another."""
    with _graph(options) as graph:
        found = questions.call_path(graph, options.source, options.target)
    if options.json:
        emit_json(asdict(found))
        return EXIT_FOUND if found.steps else EXIT_NONE
    style = Style(sys.stdout)
    for link in found.steps:
        emit(_line(link, style))
    _tell(found.notes)
    if not found.steps:
        note(f"No way of calls leads from {_called(found.source)} to {_called(found.target)}.")
    return EXIT_FOUND if found.steps else EXIT_NONE


def run_importers(options: argparse.Namespace) -> int:
    """Show which files import a file."""
    with _graph(options) as graph:
        found = questions.importers(graph, options.target)
    if options.json:
        emit_json(asdict(found))
        return EXIT_FOUND if found.importers else EXIT_NONE
    style = Style(sys.stdout)
    for one in found.importers:
        what = "for types only" if one.typing_only else "when a function runs" if one.deferred else ""
        emit(f"{style.path(f'{printable(one.path)}:{one.line}')}  {style.faint(what)}".rstrip())
    _tell(found.notes)
    if not found.importers:
        note(f"Nothing imports {printable(found.path)}, as far as can be resolved.")
    return EXIT_FOUND if found.importers else EXIT_NONE
