"""The text of answers from the symbol graph and the history for agents: one place per line."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

from cairn.hints import Hint, show
from cairn.history.values import rest_of_files
from cairn.mcp.text import Page, label, place_notes
from cairn.source.text import pluralize

_LINE_CHARS = 100  # characters of a line of code beside its place
_CHANGED_NAMES = 10  # changed definitions to list for a file
_IMPORTERS = 10  # files to list that import a changed one


def graph_text(relation: str, document: dict[str, Any]) -> str:
    """Return an answer from the symbol graph, one place per line."""
    page = Page()
    for line in _GRAPH[relation](document):
        page.add(line)
    notes = []
    if page.n_left_out:
        question = {"callers": "callers of X", "references": "references to X"}.get(relation)
        more = f"`search` for `{question}` with `globs` narrows them" if question else "the nearest are here"
        n_left_out = page.n_left_out + document.get("omitted", 0)
        notes.append(f"{pluralize(n_left_out, 'more has', 'more have')} no room: {more}.")
    elif document.get("omitted"):
        notes.append(f"{'at least ' * document.get('is_cut', False)}{document['omitted']:,} more: raise `limit`.")
    is_empty = not page.n_left_out and not document.get("omitted")
    if is_empty and not document.get("changed", True) and not document["deleted"]:
        notes.append("No definition changed since then.")
    elif is_empty and not any(document.get(name) for name in _PARTS):
        notes.append(_NONE.get(relation, "None, as far as can be resolved."))
    return page.close([*notes, *document["notes"], *place_notes(document)])


def _links(document: dict[str, Any]) -> Iterator[str]:
    if "namesakes" not in document:
        yield f"of {_symbol(document['symbol'])}:"
    number = None
    for link in document["links"]:
        if "namesakes" in document and number != link["namesake"]:
            number = link["namesake"]
            yield f"of {_symbol(document['namesakes'][number])}:"
        yield _link(link)
    for base in document.get("above", ()):
        yield f"of {_symbol(base['symbol'])}, which it overrides:"
        yield from map(_link, base["links"])


def _references(document: dict[str, Any]) -> Iterator[str]:
    counts = ", ".join(f"{count:,} {kind}" for kind, count in document["counts"].items())
    *others, last = document.get("namesakes", [document["symbol"]])
    for symbol in others:
        yield f"of {_symbol(symbol)},"
    yield f"of {_symbol(last)}:{f'  ({counts})' if counts else ''}"
    for reference in document["references"]:
        inside = f"  in {reference['symbol']['name']}" if reference["symbol"]["name"] else ""
        how = f", {reference['how']}" if reference["how"] == "name" else ""
        place = f"{reference['filepath']}:{reference['line']}"
        yield f"{reference['kind']}  {place}{inside}{how}  {reference['text'][:_LINE_CHARS]}"


def _link(link: dict[str, Any]) -> str:
    symbol = link["symbol"]
    beyond = f"  {symbol['filepath']}:{symbol['line']}" if symbol["filepath"] != link["filepath"] else ""
    return (
        f"{link['filepath']}:{link['line']}  {label(symbol)}  ({link['kind']}, {link['how']}{_origin(symbol)}){beyond}"
    )


def _origin(symbol: dict[str, Any]) -> str:
    return f", {symbol['origin']}" if symbol["origin"] else ""


def _symbol(symbol: dict[str, Any]) -> str:
    return f"{symbol['filepath']}:{symbol['line']}  {label(symbol)}"


def _steps(document: dict[str, Any]) -> Iterator[str]:
    yield f"from {_symbol(document['source'])}"
    yield f"to {_symbol(document['target'])}:"
    yield from map(_link, document["steps"])


def _importers(document: dict[str, Any]) -> Iterator[str]:
    yield f"of {document['filepath']}:"
    for importer in document["importers"]:
        late = "  (when a function runs)" if importer["deferred"] else ""
        yield f"{importer['filepath']}:{importer['line']}{'  (for types only)' if importer['typing_only'] else late}"


def _changed(document: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each changed file, with what changed in it."""
    for _, group in groupby(document["changed"], key=itemgetter("filepath")):
        first, *others = sorted(group, key=lambda symbol: bool(symbol["name"]))
        names = [f"{symbol['line']} {symbol['name']}" for symbol in others[:_CHANGED_NAMES]]
        more = f", {len(others) - len(names)} more" if len(others) > len(names) else ""
        yield f"changed  {_symbol(first)}" + (f", and in it: {', '.join(names)}{more}" if others else "")


def _impact(document: dict[str, Any]) -> Iterator[str]:
    yield from _changed(document)
    for entry in document["affected"]:
        symbol = entry["symbol"]
        facts = f"{entry['via']}, {entry['confidence']:.2f}{_origin(symbol)}"
        yield f"depth {entry['depth']}  {_symbol(symbol)}  ({facts})"
    yield from _deleted_files(document)
    yield from map(_test, document["tests"])
    yield from _importing(document)


def _importing(document: dict[str, Any]) -> Iterator[str]:
    """Yield the files that import what changed; only a few unless a whole file changed, since most may not use it."""
    is_of_file = any(symbol["kind"] == "file" for symbol in document["changed"])
    shown = document["importers"] if is_of_file else document["importers"][:_IMPORTERS]
    yield from (f"importer  {path}:1" for path in shown)
    if n_more := len(document["importers"]) - len(shown):
        path = document["changed"][0]["filepath"]
        hint = Hint(f"importer  {n_more:,} more, of which no use is known; list them", "importers", target=path)
        yield show(hint, "tools")


def _tests(document: dict[str, Any]) -> Iterator[str]:
    yield from _changed(document)
    yield from _deleted_files(document)
    yield from map(_test, document["tests"])


def _deleted_files(document: dict[str, Any]) -> Iterator[str]:
    for file in document["deleted"]:
        yield f"deleted  {file['filepath']}:1" + (
            f"  ({', '.join(file['definitions'])})" if file["definitions"] else ""
        )
        for mention in file["mentions"]:
            yield f"names it  {mention['filepath']}:{mention['line']}  {mention['name']}"
        if file["omitted"]:
            yield f"names it  {file['omitted']:,} more"


def _test(test: dict[str, Any]) -> str:
    names = f": {', '.join(test['tests'])}" if test["tests"] else ""
    return f"test  {test['filepath']}:1  ({test['reason']}){names}"


def _history(document: dict[str, Any]) -> Iterator[str]:
    for commit in document["commits"]:
        files = ", ".join([*commit["files"], *rest_of_files(len(commit["files"]), commit["omitted_files"])])
        yield f"{commit['hash']}  {commit['date']}  {commit['subject']}" + (f"\n    {files}" if files else "")
    for file in document.get("files", ()):
        yield f"changed  {file['filepath']}:1  ({pluralize(file['commits'], 'commit')})"


def _related(document: dict[str, Any]) -> Iterator[str]:
    if document["commits"]:
        yield f"with {document['filepath']}, which {pluralize(document['commits'], 'commit')} changed:"
    for file in document["files"]:
        yield f"{file['filepath']}:1  ({file['together']} of its {pluralize(file['commits'], 'commit')})"


# The lists that an answer may have; unresolved lines have their own note.
_PARTS = (
    *("links", "above", "references", "steps", "importers", "affected", "tests", "deleted", "unresolved", "unfollowed"),
    *("commits", "files"),
)
_NONE = {
    "callers": "Nothing calls it.",
    "importers": "Nothing imports it.",
    "references": "Nothing refers to it.",
    "subclasses": "Nothing derives from it.",
    **dict.fromkeys(("history", "related", "why"), "No commit that Cairn counts says so."),
}
_GRAPH = {
    "callers": _links,
    "callees": _links,
    "references": _references,
    "subclasses": _links,
    "path": _steps,
    "importers": _importers,
    "impact": _impact,
    "tests": _tests,
    "history": _history,
    "related": _related,
    "why": _history,
}
