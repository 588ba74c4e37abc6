"""`cairn callers`, `callees`, `path`, `importers`, `impact` and `tests`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from typing import Any

from cairn.cli.notes import note, printable
from cairn.cli.outcomes import EXIT_FOUND, EXIT_NONE
from cairn.cli.remote import answer
from cairn.cli.render import Style, emit, emit_json
from cairn.source.text import counted

_MAX_NAMED = 5  # deleted files that a note names

Document = dict[str, Any]  # an answer of the symbol graph as docs/cli.md describes its JSON


def _ask(options: argparse.Namespace, question: str, **asked: object) -> Document:
    """Return the answer to one of the questions that the daemon can be asked, by it or by this process."""
    document: Document = answer(options, f"graph/{question}", {**asked, "update": not options.no_update})
    return document


def show(
    found: Document,
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
        emit_json(found)
    else:
        for row in rows(Style(sys.stdout)):
            emit(row)
        for text in (*found["notes"], omitted, "" if something else nothing):
            if text:
                note(printable(text))
    return EXIT_FOUND if something else EXIT_NONE


def more(count: int, what: str = "more", option: str = "-n") -> str:
    """Return what is said of so many rows that were left out, empty for none."""
    counts = f"{count:,} {what}" if what.startswith("more of") or what == "more" else counted(count, what)
    return f"{counts}; raise {option} to see {'it' if count == 1 else 'them'}." if count else ""


def run_callers(options: argparse.Namespace) -> int:
    """Show what calls a symbol directly."""
    return _show_links(_ask(options, "callers", symbol=options.symbol, limit=options.limit), options, "calls")


def run_callees(options: argparse.Namespace) -> int:
    """Show what a symbol calls directly."""
    return _show_links(_ask(options, "callees", symbol=options.symbol, limit=options.limit), options, "is called by")


def _show_links(found: Document, options: argparse.Namespace, verb: str) -> int:
    return show(
        found,
        options,
        lambda style: (_line(link, style) for link in found["links"]),
        something=bool(found["links"]),
        omitted=more(found["omitted"]),
        nothing=f"Nothing {verb} {_called(found['symbol'])}, as far as can be resolved.",
    )


def _line(link: Document, style: Style) -> str:
    symbol = link["symbol"]
    elsewhere = symbol["filepath"] != link["filepath"]
    beyond = f"  {printable(symbol['filepath'])}:{symbol['line']}" if elsewhere else ""
    stale = "  (changed since it was indexed)" if symbol["stale"] else ""
    facts = style.faint(f"({link['kind']}, {link['how']}){beyond}{stale}")
    return f"{at(link, style)}  {_label(symbol, style)}  {facts}"


def at(place: Document, style: Style) -> str:
    """Return file and line of a place."""
    return style.path(f"{printable(place['filepath'])}:{place['line']}")


def _label(symbol: Document, style: Style) -> str:
    return style.name(printable(f"{symbol['kind']} {symbol['name']}".strip()))


def place_of(symbol: Document, style: Style) -> str:
    """Return file and line of a symbol, and what it is called."""
    return f"{at(symbol, style)}  {_label(symbol, style)}"


def _called(symbol: Document) -> str:
    return f"{symbol['kind']} {symbol['name'] or symbol['filepath']} ({symbol['filepath']}:{symbol['line']})"


def run_path(options: argparse.Namespace) -> int:
    """Show the shortest way of calls from one symbol to another."""
    found = _ask(options, "path", source=options.source, target=options.target)
    return show(
        found,
        options,
        lambda style: (_line(link, style) for link in found["steps"]),
        something=bool(found["steps"]),
        nothing=f"No way of calls leads from {_called(found['source'])} to {_called(found['target'])}.",
    )


def run_importers(options: argparse.Namespace) -> int:
    """Show which files import a file."""
    found = _ask(options, "importers", target=options.target)

    def rows(style: Style) -> Iterator[str]:
        for one in found["importers"]:
            what = "for types only" if one["typing_only"] else "when a function runs" if one["deferred"] else ""
            yield f"{at(one, style)}  {style.faint(what)}".rstrip()

    nothing = f"Nothing imports {found['filepath']}, as far as can be resolved."
    return show(found, options, rows, something=bool(found["importers"]), nothing=nothing)


def run_impact(options: argparse.Namespace) -> int:
    """Show what a change of a symbol, or the current change, may break."""
    found = _ask(options, "impact", symbol=options.symbol, diff=options.diff, limit=options.limit)

    def rows(style: Style) -> Iterator[str]:
        for symbol in found["changed"] if options.diff is not None else ():
            yield f"changed   {place_of(symbol, style)}"
        for one in found["affected"]:
            facts = style.faint(f"({one['via']}, {one['confidence']:.2f})")
            yield f"depth {one['depth']:<3} {place_of(one['symbol'], style)}  {facts}"
        yield from _deleted(found, style)
        for path in found["importers"]:
            yield f"importer  {style.path(printable(path))}"
        for test in found["tests"]:
            yield f"test      {_test(test, style)}"

    return show(
        found,
        options,
        rows,
        something=bool(found["affected"] or found["importers"] or found["tests"] or _is_named(found)),
        omitted=more(found["omitted"], "more symbol"),
        nothing="Nothing else feels this change, as far as can be resolved."
        if found["changed"] or found["deleted"]
        else "Nothing that is indexed changed.",
    )


def _deleted(found: Document, style: Style) -> Iterator[str]:
    """Yield the deleted files, each with the lines that name it or what it defined."""
    for one in found["deleted"]:
        names = f": {', '.join(map(printable, one['definitions']))}" if one["definitions"] else ""
        yield f"deleted   {style.path(printable(one['filepath']))}{style.faint(names)}"
        for mention in one["mentions"]:
            yield f"names it  {at(mention, style)}  {style.name(printable(mention['name']))}"
        if one["omitted"]:
            yield f"names it  {one['omitted']:,} more"


def _is_named(found: Document) -> bool:
    return any(one["mentions"] for one in found["deleted"])


def _test(test: Document, style: Style) -> str:
    facts = f"({test['reason']}, {test['score']:.2f})"
    return f"{style.path(printable(test['filepath']))}  {style.faint(facts)}"


def run_tests(options: argparse.Namespace) -> int:
    """Show which tests to run for a symbol or the current change."""
    found = _ask(options, "tests", symbol=options.symbol, diff=options.diff, limit=options.limit)
    if found["deleted"] and not options.json:
        gone = [one["filepath"] for one in found["deleted"]]
        rest = f" and {len(gone) - _MAX_NAMED:,} more" if len(gone) > _MAX_NAMED else ""
        note(
            f"Deleted: {', '.join(gone[:_MAX_NAMED])}{rest}; what still names them: cairn impact --diff {options.diff}"
        )
    return show(
        found,
        options,
        lambda style: (_test(test, style) for test in found["tests"]),
        something=bool(found["tests"]),
        omitted=more(found["omitted"], f"more of {counted(found['total'], 'test file')}"),
        nothing=f"None of {counted(found['total'], 'test file')} concerns it, as far as can be resolved.",
    )
