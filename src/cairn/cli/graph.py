"""`cairn callers`, `callees`, `path`, `importers`, `impact`, `tests`, `dead`, `cycles` and `map`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from cairn.cli.main import EXIT_FOUND, EXIT_NONE
from cairn.cli.render import ProgressBar, Style, emit, emit_json, note, printable
from cairn.graph.values import GraphAnswer, Link, Links, RankedTest, Symbol
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


def _show(
    found: GraphAnswer,
    options: argparse.Namespace,
    rows: Callable[[Style], Iterator[str]],
    *,
    something: bool,
    omitted: str = "",
    nothing: str = "",
) -> int:
    """Print an answer and what there is to note about it; return the exit code.

    Args:
        rows: yields the lines of the answer.
        omitted: what was left out, empty for nothing.
        nothing: what to say where there is no answer.
    """
    if options.json:
        emit_json(graph_to_dict(found))
    else:
        for row in rows(Style(sys.stdout)):
            emit(row)
        for text in (*found.notes, omitted, "" if something else nothing):
            if text:
                note(printable(text))
    return EXIT_FOUND if something else EXIT_NONE


def _more(count: int, what: str = "more", option: str = "-n") -> str:
    return f"{count:,} {what}; raise {option} to see them." if count else ""


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
    return _show(
        found,
        options,
        lambda style: (_line(link, style) for link in found.links),
        something=bool(found.links),
        omitted=_more(found.omitted),
        nothing=f"Nothing {verb} {_called(found.symbol)}, as far as can be resolved.",
    )


def _line(link: Link, style: Style) -> str:
    symbol = link.symbol
    beyond = f"  {printable(symbol.path)}:{symbol.line}" if symbol.path != link.path else ""
    stale = "  (changed since it was indexed)" if symbol.stale else ""
    facts = style.faint(f"({link.kind}, {link.how}){beyond}{stale}")
    return f"{_at(link.path, link.line, style)}  {_label(symbol, style)}  {facts}"


def _at(path: str, line: int, style: Style) -> str:
    return style.path(f"{printable(path)}:{line}")


def _label(symbol: Symbol, style: Style) -> str:
    return style.name(printable(f"{symbol.kind} {symbol.name}".strip()))


def _place(symbol: Symbol, style: Style) -> str:
    return f"{_at(symbol.path, symbol.line, style)}  {_label(symbol, style)}"


def _called(symbol: Symbol) -> str:
    return f"{symbol.kind} {symbol.name or symbol.path} ({symbol.path}:{symbol.line})"


def run_path(options: argparse.Namespace) -> int:
    """Show the shortest way of calls from one symbol to another."""
    with _opened(options) as (workspace, bar):
        found = workspace.call_path(options.source, options.target, progress=bar)
    return _show(
        found,
        options,
        lambda style: (_line(link, style) for link in found.steps),
        something=bool(found.steps),
        nothing=f"No way of calls leads from {_called(found.source)} to {_called(found.target)}.",
    )


def run_importers(options: argparse.Namespace) -> int:
    """Show which files import a file."""
    with _opened(options) as (workspace, bar):
        found = workspace.importers(options.target, progress=bar)

    def rows(style: Style) -> Iterator[str]:
        for one in found.importers:
            what = "for types only" if one.typing_only else "when a function runs" if one.deferred else ""
            yield f"{_at(one.path, one.line, style)}  {style.faint(what)}".rstrip()

    nothing = f"Nothing imports {found.path}, as far as can be resolved."
    return _show(found, options, rows, something=bool(found.importers), nothing=nothing)


def run_impact(options: argparse.Namespace) -> int:
    """Show what a change of a symbol, or the current change, may break."""
    with _opened(options) as (workspace, bar):
        found = workspace.impact(options.symbol, diff=options.diff, limit=options.limit, progress=bar)

    def rows(style: Style) -> Iterator[str]:
        for symbol in found.changed if options.diff is not None else ():
            yield f"changed   {_place(symbol, style)}"
        for one in found.affected:
            facts = style.faint(f"({one.via}, {one.confidence:.2f})")
            yield f"depth {one.depth:<3} {_place(one.symbol, style)}  {facts}"
        for path in found.importers:
            yield f"importer  {style.path(printable(path))}"
        for test in found.tests:
            yield f"test      {_test(test, style)}"

    return _show(
        found,
        options,
        rows,
        something=bool(found.affected or found.importers or found.tests),
        omitted=_more(found.omitted, "more symbols"),
        nothing="Nothing else feels this change, as far as can be resolved." if found.changed else "Nothing changed.",
    )


def _test(test: RankedTest, style: Style) -> str:
    return f"{style.path(printable(test.path))}  {style.faint(f'({test.reason}, {test.score:.2f})')}"


def run_tests(options: argparse.Namespace) -> int:
    """Show which tests to run for a symbol or the current change."""
    with _opened(options) as (workspace, bar):
        found = workspace.choose_tests(options.symbol, diff=options.diff, limit=options.limit, progress=bar)
    return _show(
        found,
        options,
        lambda style: (_test(test, style) for test in found.tests),
        something=bool(found.tests),
        omitted=_more(found.omitted, f"more of {found.total:,} test files"),
        nothing=f"None of {found.total:,} test files concerns it, as far as can be resolved.",
    )


def run_dead(options: argparse.Namespace) -> int:
    """Show definitions that nothing seems to reach."""
    with _opened(options) as (workspace, bar):
        found = workspace.dead_code(limit=options.limit, progress=bar)

    def rows(style: Style) -> Iterator[str]:
        for one in found.dead:
            yield f"{_place(one.symbol, style)}  {style.faint(f'({one.reason}, {one.confidence:.1f})')}"

    nothing = "Everything is reached, or may be."
    return _show(found, options, rows, something=bool(found.dead), omitted=_more(found.omitted), nothing=nothing)


def run_cycles(options: argparse.Namespace) -> int:
    """Show circles of imports."""
    with _opened(options) as (workspace, bar):
        found = workspace.import_cycles(progress=bar)

    def rows(style: Style) -> Iterator[str]:
        for cycle in found.cycles:
            yield f"{cycle.kind}, {cycle.size} files:"
            for step in cycle.steps:
                yield f"  {_at(step.path, step.line, style)}"

    nothing = "No files import each other in a circle."
    return _show(found, options, rows, something=bool(found.cycles), nothing=nothing)


def run_map(options: argparse.Namespace) -> int:
    """Show the most central files and definitions within a budget."""
    with _opened(options) as (workspace, bar):
        found = workspace.map(max_tokens=options.max_tokens, focus=options.focus, progress=bar)

    def rows(style: Style) -> Iterator[str]:
        for entry in found.entries:
            yield style.path(printable(entry.path))
            for line, head in entry.symbols:
                yield f"  {line}: {style.name(printable(head))}"

    omitted = _more(found.omitted_files, "more files", "--max-tokens")
    return _show(found, options, rows, something=bool(found.entries), omitted=omitted)
