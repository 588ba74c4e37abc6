"""`cairn callers`, `callees`, `path`, `importers`, `impact`, `tests`, `dead`, `cycles` and `map`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager

from cairn.cli.main import EXIT_FOUND, EXIT_NONE
from cairn.cli.render import ProgressBar, Style, emit, emit_json, note, printable
from cairn.graph.values import Link, Links, RankedTest, Symbol
from cairn.protocol import graph_to_dict
from cairn.workspace import Workspace


@contextmanager
def _opened(options: argparse.Namespace) -> Iterator[tuple[Workspace, ProgressBar]]:
    """Open the project, its index brought up to date unless that is not wanted, with a bar for the rest of the way."""
    with Workspace.containing(options.project, state_dir=options.state_dir) as workspace:
        if not options.no_update:
            with closing(ProgressBar("Indexing")) as bar:
                workspace.index(progress=bar)
        with closing(ProgressBar("Reading references")) as bar:
            yield workspace, bar


def _tell(notes: Sequence[str]) -> None:
    for text in notes:
        note(printable(text))


def run_callers(options: argparse.Namespace) -> int:
    """Show what calls a symbol directly."""
    with _opened(options) as (workspace, bar):
        found = workspace.callers(options.symbol, limit=options.limit, progress=bar)
    return _show_links(found, options, "calls")


def run_callees(options: argparse.Namespace) -> int:
    """Show what a symbol calls directly."""
    with _opened(options) as (workspace, bar):
        found = workspace.callees(options.symbol, limit=options.limit, progress=bar)
    return _show_links(found, options, "is called by")


def _show_links(found: Links, options: argparse.Namespace, verb: str) -> int:
    if options.json:
        emit_json(graph_to_dict(found))
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
    with _opened(options) as (workspace, bar):
        found = workspace.call_path(options.source, options.target, progress=bar)
    if options.json:
        emit_json(graph_to_dict(found))
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
    with _opened(options) as (workspace, bar):
        found = workspace.importers(options.target, progress=bar)
    if options.json:
        emit_json(graph_to_dict(found))
        return EXIT_FOUND if found.importers else EXIT_NONE
    style = Style(sys.stdout)
    for one in found.importers:
        what = "for types only" if one.typing_only else "when a function runs" if one.deferred else ""
        emit(f"{style.path(f'{printable(one.path)}:{one.line}')}  {style.faint(what)}".rstrip())
    _tell(found.notes)
    if not found.importers:
        note(f"Nothing imports {printable(found.path)}, as far as can be resolved.")
    return EXIT_FOUND if found.importers else EXIT_NONE


def run_impact(options: argparse.Namespace) -> int:
    """Show what a change of a symbol, or the current change, may break."""
    with _opened(options) as (workspace, bar):
        found = workspace.impact(options.symbol, diff=options.diff, limit=options.limit, progress=bar)
    something = bool(found.affected or found.importers or found.tests)
    if options.json:
        emit_json(graph_to_dict(found))
        return EXIT_FOUND if something else EXIT_NONE
    style = Style(sys.stdout)
    if options.diff is not None:
        for symbol in found.changed:
            emit(f"changed   {_place(symbol, style)}")
    for one in found.affected:
        facts = style.faint(f"({one.via}, {one.confidence:.2f})")
        emit(f"depth {one.depth:<3} {_place(one.symbol, style)}  {facts}")
    for path in found.importers:
        emit(f"importer  {style.path(printable(path))}")
    for test in found.tests:
        emit(f"test      {_test(test, style)}")
    _tell(found.notes)
    if found.omitted:
        note(f"{found.omitted:,} more symbols; raise -n to see them.")
    if not something:
        note("Nothing else feels this change, as far as can be resolved." if found.changed else "Nothing changed.")
    return EXIT_FOUND if something else EXIT_NONE


def _place(symbol: Symbol, style: Style) -> str:
    label = printable(f"{symbol.kind} {symbol.name}".strip())
    return f"{style.path(f'{printable(symbol.path)}:{symbol.line}')}  {style.name(label)}"


def _test(test: RankedTest, style: Style) -> str:
    return f"{style.path(printable(test.path))}  {style.faint(f'({test.reason}, {test.score:.2f})')}"


def run_tests(options: argparse.Namespace) -> int:
    """Show which tests to run for a symbol or the current change."""
    with _opened(options) as (workspace, bar):
        found = workspace.choose_tests(options.symbol, diff=options.diff, limit=options.limit, progress=bar)
    if options.json:
        emit_json(graph_to_dict(found))
        return EXIT_FOUND if found.tests else EXIT_NONE
    style = Style(sys.stdout)
    for test in found.tests:
        emit(_test(test, style))
    _tell(found.notes)
    if found.omitted:
        note(f"{found.omitted:,} more of {found.total:,} test files; raise -n to see them.")
    if not found.tests:
        note(f"None of {found.total:,} test files concerns it, as far as can be resolved.")
    return EXIT_FOUND if found.tests else EXIT_NONE


def run_dead(options: argparse.Namespace) -> int:
    """Show definitions that nothing seems to reach."""
    with _opened(options) as (workspace, bar):
        found = workspace.dead_code(limit=options.limit, progress=bar)
    if options.json:
        emit_json(graph_to_dict(found))
        return EXIT_FOUND if found.dead else EXIT_NONE
    style = Style(sys.stdout)
    for one in found.dead:
        emit(f"{_place(one.symbol, style)}  {style.faint(f'({one.reason}, {one.confidence:.1f})')}")
    _tell(found.notes)
    if found.omitted:
        note(f"{found.omitted:,} more; raise -n to see them.")
    if not found.dead:
        note("Everything is reached, or may be.")
    return EXIT_FOUND if found.dead else EXIT_NONE


def run_cycles(options: argparse.Namespace) -> int:
    """Show circles of imports."""
    with _opened(options) as (workspace, bar):
        found = workspace.import_cycles(progress=bar)
    if options.json:
        emit_json(graph_to_dict(found))
        return EXIT_FOUND if found.cycles else EXIT_NONE
    style = Style(sys.stdout)
    for cycle in found.cycles:
        emit(f"{cycle.kind}, {cycle.size} files:")
        for step in cycle.steps:
            emit(f"  {style.path(f'{printable(step.path)}:{step.line}')}")
    _tell(found.notes)
    if not found.cycles:
        note("No files import each other in a circle.")
    return EXIT_FOUND if found.cycles else EXIT_NONE


def run_map(options: argparse.Namespace) -> int:
    """Show the most central files and definitions within a budget."""
    with _opened(options) as (workspace, bar):
        found = workspace.map(max_tokens=options.max_tokens, focus=options.focus, progress=bar)
    if options.json:
        emit_json(graph_to_dict(found))
        return EXIT_FOUND if found.entries else EXIT_NONE
    style = Style(sys.stdout)
    for entry in found.entries:
        emit(style.path(printable(entry.path)))
        for line, head in entry.symbols:
            emit(f"  {line}: {style.name(printable(head))}")
    _tell(found.notes)
    if found.omitted_files:
        note(f"{found.omitted_files:,} more files; raise --max-tokens to see them.")
    return EXIT_FOUND if found.entries else EXIT_NONE
