"""`cairn callers`, `callees`, `path`, `importers`, `impact`, `tests`, `dead`, `cycles` and `map`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from cairn.cli.main import EXIT_FOUND, EXIT_NONE
from cairn.cli.remote import ask_daemon
from cairn.cli.render import ProgressBar, Style, emit, emit_json, note, printable

if TYPE_CHECKING:
    from cairn.workspace import Workspace

Document = dict[str, Any]  # an answer of the symbol graph as docs/cli.md describes its JSON
_Answer = Callable[["Workspace", ProgressBar], Document]


def _ask(options: argparse.Namespace, question: str, **asked: object) -> Document:
    """Return the answer to one of the questions that the daemon can be asked, by it or by this process."""
    asked["update"] = not options.no_update

    def answer(workspace: Workspace, bar: ProgressBar) -> Document:
        from cairn.operations import perform  # noqa: PLC0415 - start-up time: the daemon may have answered
        from cairn.protocol import OPERATIONS  # noqa: PLC0415 - as above
        from cairn.schema import decode  # noqa: PLC0415 - as above

        request = decode(OPERATIONS[f"graph/{question}"].request, {**asked, "update": False})
        document: Document = perform(workspace, f"graph/{question}", request, bar)
        return document

    document: Document | None = ask_daemon(options, f"graph/{question}", asked)
    return _here(options, answer) if document is None else document


def _here(options: argparse.Namespace, answer: _Answer) -> Document:
    """Answer in this process, the index brought up to date unless that is not wanted, with a bar on the way."""
    from cairn.workspace import Workspace  # noqa: PLC0415 - start-up time, as above

    with Workspace.containing(options.project, state_dir=options.state_dir) as workspace:
        if not options.no_update:
            with closing(ProgressBar("Indexing")) as bar:
                workspace.index(progress=bar)
        with closing(ProgressBar("Reading references")) as bar:
            return answer(workspace, bar)


def _tell(notes: Sequence[str]) -> None:
    for text in notes:
        note(printable(text))


def run_callers(options: argparse.Namespace) -> int:
    """Show what calls a symbol directly."""
    return _show_links(_ask(options, "callers", symbol=options.symbol, limit=options.limit), options, "calls")


def run_callees(options: argparse.Namespace) -> int:
    """Show what a symbol calls directly."""
    return _show_links(_ask(options, "callees", symbol=options.symbol, limit=options.limit), options, "is called by")


def _show_links(found: Document, options: argparse.Namespace, verb: str) -> int:
    if options.json:
        emit_json(found)
    else:
        style = Style(sys.stdout)
        for link in found["links"]:
            emit(_line(link, style))
        _tell(found["notes"])
        if found["omitted"]:
            note(f"{found['omitted']:,} more; raise -n to see them.")
        if not found["links"]:
            note(f"Nothing {verb} {_called(found['symbol'])}, as far as can be resolved.")
    return EXIT_FOUND if found["links"] else EXIT_NONE


def _line(link: Document, style: Style) -> str:
    where = style.path(f"{printable(link['filepath'])}:{link['line']}")
    symbol = link["symbol"]
    label = style.name(printable(f"{symbol['kind']} {symbol['name']}".strip()))
    elsewhere = symbol["filepath"] != link["filepath"]
    beyond = f"  {printable(symbol['filepath'])}:{symbol['line']}" if elsewhere else ""
    stale = "  (changed since it was indexed)" if symbol["stale"] else ""
    facts = f"({link['kind']}, {link['how']}){beyond}{stale}"
    return f"{where}  {label}  {style.faint(facts)}"


def _called(symbol: Document) -> str:
    name = symbol["name"] or symbol["filepath"]
    return printable(f"{symbol['kind']} {name} ({symbol['filepath']}:{symbol['line']})")


def run_path(options: argparse.Namespace) -> int:
    """Show the shortest way of calls from one symbol to another."""
    found = _ask(options, "path", source=options.source, target=options.target)
    if options.json:
        emit_json(found)
        return EXIT_FOUND if found["steps"] else EXIT_NONE
    style = Style(sys.stdout)
    for link in found["steps"]:
        emit(_line(link, style))
    _tell(found["notes"])
    if not found["steps"]:
        note(f"No way of calls leads from {_called(found['source'])} to {_called(found['target'])}.")
    return EXIT_FOUND if found["steps"] else EXIT_NONE


def run_importers(options: argparse.Namespace) -> int:
    """Show which files import a file."""
    found = _ask(options, "importers", target=options.target)
    if options.json:
        emit_json(found)
        return EXIT_FOUND if found["importers"] else EXIT_NONE
    style = Style(sys.stdout)
    for one in found["importers"]:
        what = "for types only" if one["typing_only"] else "when a function runs" if one["deferred"] else ""
        where = style.path(f"{printable(one['filepath'])}:{one['line']}")
        emit(f"{where}  {style.faint(what)}".rstrip())
    _tell(found["notes"])
    if not found["importers"]:
        note(f"Nothing imports {printable(found['filepath'])}, as far as can be resolved.")
    return EXIT_FOUND if found["importers"] else EXIT_NONE


def run_impact(options: argparse.Namespace) -> int:
    """Show what a change of a symbol, or the current change, may break."""
    found = _ask(options, "impact", symbol=options.symbol, diff=options.diff, limit=options.limit)
    something = bool(found["affected"] or found["importers"] or found["tests"])
    if options.json:
        emit_json(found)
        return EXIT_FOUND if something else EXIT_NONE
    style = Style(sys.stdout)
    if options.diff is not None:
        for symbol in found["changed"]:
            emit(f"changed   {_place(symbol, style)}")
    for one in found["affected"]:
        facts = style.faint(f"({one['via']}, {one['confidence']:.2f})")
        emit(f"depth {one['depth']:<3} {_place(one['symbol'], style)}  {facts}")
    for path in found["importers"]:
        emit(f"importer  {style.path(printable(path))}")
    for test in found["tests"]:
        emit(f"test      {_test(test, style)}")
    _tell(found["notes"])
    if found["omitted"]:
        note(f"{found['omitted']:,} more symbols; raise -n to see them.")
    if not something:
        note("Nothing else feels this change, as far as can be resolved." if found["changed"] else "Nothing changed.")
    return EXIT_FOUND if something else EXIT_NONE


def _place(symbol: Document, style: Style) -> str:
    label = printable(f"{symbol['kind']} {symbol['name']}".strip())
    where = style.path(f"{printable(symbol['filepath'])}:{symbol['line']}")
    return f"{where}  {style.name(label)}"


def _test(test: Document, style: Style) -> str:
    facts = f"({test['reason']}, {test['score']:.2f})"
    return f"{style.path(printable(test['filepath']))}  {style.faint(facts)}"


def run_tests(options: argparse.Namespace) -> int:
    """Show which tests to run for a symbol or the current change."""
    found = _ask(options, "tests", symbol=options.symbol, diff=options.diff, limit=options.limit)
    if options.json:
        emit_json(found)
        return EXIT_FOUND if found["tests"] else EXIT_NONE
    style = Style(sys.stdout)
    for test in found["tests"]:
        emit(_test(test, style))
    _tell(found["notes"])
    if found["omitted"]:
        note(f"{found['omitted']:,} more of {found['total']:,} test files; raise -n to see them.")
    if not found["tests"]:
        note(f"None of {found['total']:,} test files concerns it, as far as can be resolved.")
    return EXIT_FOUND if found["tests"] else EXIT_NONE


def run_dead(options: argparse.Namespace) -> int:
    """Show definitions that nothing seems to reach."""
    found = _whole(options, lambda workspace, bar: workspace.dead_code(limit=options.limit, progress=bar))
    if options.json:
        emit_json(found)
        return EXIT_FOUND if found["dead"] else EXIT_NONE
    style = Style(sys.stdout)
    for one in found["dead"]:
        facts = f"({one['reason']}, {one['confidence']:.1f})"
        emit(f"{_place(one['symbol'], style)}  {style.faint(facts)}")
    _tell(found["notes"])
    if found["omitted"]:
        note(f"{found['omitted']:,} more; raise -n to see them.")
    if not found["dead"]:
        note("Everything is reached, or may be.")
    return EXIT_FOUND if found["dead"] else EXIT_NONE


def _whole(options: argparse.Namespace, answer: Callable[[Workspace, ProgressBar], object]) -> Document:
    """Return an answer about the project as a whole, which only this process gives."""

    def run(workspace: Workspace, bar: ProgressBar) -> Document:
        from cairn.protocol import graph_to_dict  # noqa: PLC0415 - start-up time, as above

        document: Document = graph_to_dict(answer(workspace, bar))
        return document

    return _here(options, run)


def run_cycles(options: argparse.Namespace) -> int:
    """Show circles of imports."""
    found = _whole(options, lambda workspace, bar: workspace.import_cycles(progress=bar))
    if options.json:
        emit_json(found)
        return EXIT_FOUND if found["cycles"] else EXIT_NONE
    style = Style(sys.stdout)
    for cycle in found["cycles"]:
        emit(f"{cycle['kind']}, {cycle['size']} files:")
        for step in cycle["steps"]:
            where = style.path(f"{printable(step['filepath'])}:{step['line']}")
            emit(f"  {where}")
    _tell(found["notes"])
    if not found["cycles"]:
        note("No files import each other in a circle.")
    return EXIT_FOUND if found["cycles"] else EXIT_NONE


def run_map(options: argparse.Namespace) -> int:
    """Show the most central files and definitions within a budget."""
    found = _whole(
        options,
        lambda workspace, bar: workspace.map(max_tokens=options.max_tokens, focus=options.focus, progress=bar),
    )
    if options.json:
        emit_json(found)
        return EXIT_FOUND if found["entries"] else EXIT_NONE
    style = Style(sys.stdout)
    for entry in found["entries"]:
        emit(style.path(printable(entry["filepath"])))
        for line, head in entry["symbols"]:
            emit(f"  {line}: {style.name(printable(head))}")
    _tell(found["notes"])
    if found["omitted_files"]:
        note(f"{found['omitted_files']:,} more files; raise --max-tokens to see them.")
    return EXIT_FOUND if found["entries"] else EXIT_NONE
