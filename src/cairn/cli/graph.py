"""`cairn callers`, `callees`, `references`, `subclasses`, `path`, `importers`, `impact` and `tests`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

from cairn.cli.notes import note, openable, printable
from cairn.cli.outcomes import EXIT_FOUND, EXIT_NONE
from cairn.cli.places import Standpoint, standpoint_of
from cairn.cli.remote import answer
from cairn.cli.render import Style, emit, emit_json
from cairn.source.text import pluralize

_MAX_NAMED = 5  # deleted files or namesakes in a note
_LISTS_OF_PATHS = {"importers", "others"}

Document = dict[str, Any]  # an answer of the symbol graph, as JSON in docs/cli.md


def _ask(options: argparse.Namespace, question: str, **fields: object) -> Document:
    """Ask the symbol graph a question, in the daemon or in this process."""
    here = standpoint_of(options)
    asked = {name: here.place(value) if isinstance(value, str) else value for name, value in fields.items()}
    document: Document = answer(options, f"graph/{question}", {**asked, "update": not options.no_update})
    return from_here(document, options)


def from_here(document: Document, options: argparse.Namespace) -> Document:
    """Return an answer with its paths as they are from where one stands; JSON has them from the root."""
    here = standpoint_of(options)
    return document if options.json or not here.inside else _with_paths(document, here)


def _with_paths(part: Any, here: Standpoint) -> Any:  # noqa: ANN401 - JSON
    """Return a part of an answer; its notes name commands, which take paths from the root everywhere."""
    if isinstance(part, list):
        return [_with_paths(item, here) for item in part]
    if not isinstance(part, dict):
        return part
    shown = {name: value if name == "notes" else _with_paths(value, here) for name, value in part.items()}
    if isinstance(path := part.get("filepath"), str):
        shown["filepath"] = here.show(path)
    for name in _LISTS_OF_PATHS & part.keys():
        shown[name] = [here.show(item) if isinstance(item, str) else item for item in shown[name]]
    return shown


def show(
    document: Document,
    options: argparse.Namespace,
    rows: Callable[[Style], Iterator[str]],
    *,
    something: bool,
    omitted: str = "",
    nothing: str = "",
) -> int:
    """Print an answer with its notes; return the exit code.

    Args:
        document: the answer.
        options: of the command.
        rows: yields the lines of the answer.
        something: whether anything was document.
        omitted: says what was left out; empty if nothing was.
        nothing: what to say if nothing was document.
    """
    if options.json:
        emit_json(document)
    else:
        for row in rows(Style(sys.stdout)):
            emit(row)
        for text in ("" if something else nothing, *document["notes"], omitted):
            if text:
                note(printable(text))
    return EXIT_FOUND if something else EXIT_NONE


def more(count: int, what: str = "more", option: str = "-n") -> str:
    """Return a note about rows that were left out; empty if none were."""
    counts = f"{count:,} {what}" if what.startswith("more of") or what == "more" else pluralize(count, what)
    return f"{counts}; raise {option} to see {'it' if count == 1 else 'them'}." if count else ""


def run_callers(options: argparse.Namespace) -> int:
    """Show what calls a symbol directly."""
    return _show_links(_ask(options, "callers", symbol=options.symbol, limit=options.limit), options, "calls")


def run_callees(options: argparse.Namespace) -> int:
    """Show what a symbol calls directly."""
    return _show_links(_ask(options, "callees", symbol=options.symbol, limit=options.limit), options, "is called by")


def run_subclasses(options: argparse.Namespace) -> int:
    """Show what derives from a type or implements it."""
    document = _ask(options, "subclasses", symbol=options.symbol, limit=options.limit)
    return _show_links(document, options, "derives from or overrides")


# What heads the references of each kind; they come in this order.
_HEADINGS = {
    "call": "calls", "construct": "constructions", "read": "reads", "write": "writes", "type": "uses as a type",
    "import": "imports", "base": "subclasses and implementations", "decorate": "decorations",
}  # fmt: skip


def run_references(options: argparse.Namespace) -> int:
    """Show all that refers to a symbol, by kind."""
    document = _ask(options, "references", symbol=options.symbol, kinds=options.kinds, limit=options.limit)

    def rows(style: Style) -> Iterator[str]:
        kind = ""
        for reference in document["references"]:
            if reference["kind"] != kind:
                kind = reference["kind"]
                yield style.name(f"{_HEADINGS[kind]}: {document['counts'][kind]:,}")
            inside = reference["symbol"]["name"]
            facts = ", ".join(filter(None, (inside and f"in {inside}", "name" if reference["how"] == "name" else "")))
            shown = f"  {style.faint(f'({printable(facts)})')}" if facts else ""
            yield f"  {at(reference, style)}  {printable(reference['text'])}{shown}"

    kinds = " or ".join(_HEADINGS[kind] for kind in options.kinds)
    nothing = f"There are no {kinds} of" if kinds else "Nothing refers to"
    return show(
        document,
        options,
        rows,
        something=bool(document["references"]) or "unfollowed" in document,
        omitted=more(document["omitted"]),
        nothing=unless_unresolved(document, f"{nothing} {_asked_about(document)}."),
    )


def _show_links(document: Document, options: argparse.Namespace, verb: str) -> int:
    def rows(style: Style) -> Iterator[str]:
        if "namesakes" not in document:
            yield from (_line(link, style) for link in document["links"])
        else:
            for number, links in groupby(document["links"], key=itemgetter("namesake")):
                yield place_of(document["namesakes"][number], style)
                yield from (f"  {_line(link, style)}" for link in links)
        for base in document.get("above", ()):
            yield f"{place_of(base['symbol'], style)}, which it overrides:"
            yield from (f"  {_line(link, style)}" for link in base["links"])

    return show(
        document,
        options,
        rows,
        something=bool(document["links"]) or "above" in document or "unfollowed" in document,
        omitted=more(document["omitted"]),
        nothing=unless_unresolved(document, f"Nothing {verb} {_asked_about(document)}."),
    )


def unless_unresolved(document: Document, nothing: str) -> str:
    """Return what to say of an empty answer; nothing where its notes say what could not be resolved or followed."""
    return "" if document["unresolved"] or document.get("unfollowed") else nothing


def _line(link: Document, style: Style) -> str:
    symbol = link["symbol"]
    elsewhere = symbol["filepath"] != link["filepath"]
    beyond = f"  {openable(symbol['filepath'])}:{symbol['line']}" if elsewhere else ""
    stale = "  (changed since it was indexed)" if symbol["stale"] else ""
    origin = f", {symbol['origin']}" if symbol["origin"] else ""
    facts = style.faint(f"({link['kind']}, {link['how']}{origin}){beyond}{stale}")
    return f"{at(link, style)}  {_label(symbol, style)}  {facts}"


def at(place: Document, style: Style) -> str:
    """Return the file and line of a place."""
    return style.path(f"{openable(place['filepath'])}:{place['line']}")


def _label(symbol: Document, style: Style) -> str:
    return style.name(printable(f"{symbol['kind']} {symbol['name']}".strip()))


def place_of(symbol: Document, style: Style) -> str:
    """Return the file and line of a symbol, with its kind and name."""
    return f"{at(symbol, style)}  {_label(symbol, style)}"


def _name_of(symbol: Document) -> str:
    return f"{symbol['kind']} {symbol['name'] or symbol['filepath']} ({symbol['filepath']}:{symbol['line']})"


def _asked_about(document: Document, one: str = "symbol", several: str = "namesakes") -> str:
    """Return what an answer is about in words: a symbol, or all that share a name."""
    namesakes = document.get(several, ())
    if not namesakes:
        return _name_of(document[one])
    shown = ", ".join(f"{symbol['filepath']}:{symbol['line']}" for symbol in namesakes[:_MAX_NAMED])
    return f"any of {len(namesakes):,} definitions ({shown}{', …' if len(namesakes) > _MAX_NAMED else ''})"


def run_path(options: argparse.Namespace) -> int:
    """Show the shortest chain of calls from one symbol to another."""
    document = _ask(options, "path", source=options.source, target=options.target)
    return show(
        document,
        options,
        lambda style: (_line(link, style) for link in document["steps"]),
        something=bool(document["steps"]),
        nothing=f"No chain of calls leads from {_asked_about(document, 'source', 'sources')} "
        f"to {_asked_about(document, 'target', 'targets')}.",
    )


def run_importers(options: argparse.Namespace) -> int:
    """Show which files import a file."""
    document = _ask(options, "importers", target=options.target)

    def rows(style: Style) -> Iterator[str]:
        for link in document["importers"]:
            what = "for types only" if link["typing_only"] else "when a function runs" if link["deferred"] else ""
            yield f"{at(link, style)}  {style.faint(what)}".rstrip()

    nothing = unless_unresolved(document, f"Nothing imports {document['filepath']}.")
    return show(
        document, options, rows, something=bool(document["importers"]) or "unfollowed" in document, nothing=nothing
    )


def run_impact(options: argparse.Namespace) -> int:
    """Show what a change of a symbol, or the current change, may break."""
    document = _ask(options, "impact", symbol=options.symbol, diff=options.diff, limit=options.limit)

    def rows(style: Style) -> Iterator[str]:
        for symbol in document["changed"] if options.diff is not None else ():
            yield f"changed   {place_of(symbol, style)}"
        for effect in document["affected"]:
            facts = style.faint(f"({effect['via']}, {effect['confidence']:.2f})")
            yield f"depth {effect['depth']:<3} {place_of(effect['symbol'], style)}  {facts}"
        yield from _deletion_rows(document, style)
        for path in document["importers"]:
            yield f"importer  {style.path(openable(path))}"
        for test in document["tests"]:
            yield f"test      {_test(test, style)}"

    return show(
        document,
        options,
        rows,
        something=bool(document["affected"] or document["importers"] or document["tests"] or _is_mentioned(document))
        or "unfollowed" in document,
        omitted=more(document["omitted"], "more symbol"),
        nothing=unless_unresolved(document, "Nothing else is affected, as far as can be resolved.")
        if document["changed"] or document["deleted"]
        else "No indexed file has changed.",
    )


def _deletion_rows(document: Document, style: Style) -> Iterator[str]:
    """Yield the deleted files, each with the lines that still name it or what it defined."""
    for file in document["deleted"]:
        names = f": {', '.join(map(printable, file['definitions']))}" if file["definitions"] else ""
        yield f"deleted   {style.path(printable(file['filepath']))}{style.faint(names)}"
        for mention in file["mentions"]:
            yield f"names it  {at(mention, style)}  {style.name(printable(mention['name']))}"
        if file["omitted"]:
            yield f"names it  {file['omitted']:,} more"


def _is_mentioned(document: Document) -> bool:
    return any(file["mentions"] for file in document["deleted"])


def _test(test: Document, style: Style) -> str:
    facts = f"({test['reason']}, {test['score']:.2f})"
    return f"{style.path(openable(test['filepath']))}  {style.faint(facts)}"


def run_tests(options: argparse.Namespace) -> int:
    """Show which tests to run for a symbol or the current change."""
    document = _ask(options, "tests", symbol=options.symbol, diff=options.diff, limit=options.limit)
    if document["deleted"] and not options.json:
        gone = [file["filepath"] for file in document["deleted"]]
        rest = f" and {len(gone) - _MAX_NAMED:,} more" if len(gone) > _MAX_NAMED else ""
        note(
            f"Deleted: {', '.join(gone[:_MAX_NAMED])}{rest}; what still names them: cairn impact --diff {options.diff}"
        )
    return show(
        document,
        options,
        lambda style: (_test(test, style) for test in document["tests"]),
        something=bool(document["tests"]) or "unfollowed" in document,
        omitted=more(document["omitted"], f"more of {pluralize(document['total'], 'test file')}"),
        nothing=unless_unresolved(
            document, f"None of {pluralize(document['total'], 'test file')} concerns it, as far as can be resolved."
        )
        if document["changed"] or document["deleted"]
        else "No indexed file has changed.",
    )
