"""`cairn search`, `cairn similar` and `cairn fetch`."""

from __future__ import annotations

import argparse
import re
import sys
from typing import TYPE_CHECKING, Any

from cairn.cli.notes import limits_of, note, printable
from cairn.cli.outcomes import EXIT_FOUND, EXIT_NONE, EXIT_STORE
from cairn.cli.remote import answer
from cairn.cli.render import Style, emit, emit_json
from cairn.cli.stdin import read_sent
from cairn.errors import QueryError
from cairn.loading import load
from cairn.source.text import pluralize, raw_words

if TYPE_CHECKING:
    from cairn.cli.places import Standpoint
    from cairn.protocol.documents import FetchedDocument, HitDocument, SearchDocument


_DEFAULT_LIMIT = 10
_COMPLETE = ("literal", "regex", "structural", "graph")  # modes that find all there is


def run_search(options: argparse.Namespace) -> int:
    """Bring the index up to date, search it, and print the hits."""
    fields = {
        "query": load("cairn.cli.given:read_given")(options.query, "search", "query"),
        "type": options.type,
        "branch": options.branch,
        "limit": options.limit,
        "mode": options.mode,
        "kinds": options.kind,
        "languages": options.lang,
        "globs": _globs(options),
        "context": options.context,
        "max_tokens": options.max_tokens,
        "explain": options.explain,
        "expand": options.expand,
        "update": not options.no_update,
    }
    document: SearchDocument = answer(options, "search", fields)
    if _is_cut_short(document, options):
        document = answer(options, "search", fields | {"limit": 0})
    if options.json:
        emit_json(document)
    else:
        _print_search(document, options)
    if document["code"] or document["omitted"] or document["memory"] or document.get("omitted_memory"):
        return EXIT_FOUND
    return EXIT_STORE if "searched" in document else EXIT_NONE  # the time was up, so there may be hits


def _globs(options: argparse.Namespace) -> list[str]:
    """Return the globs of a search, those that are paths from the root of the project."""
    if not options.globs:
        return []
    globs: list[str] = _standpoint(options).globs(options.globs)
    return globs


def _standpoint(options: argparse.Namespace) -> Standpoint:
    here: Standpoint = load("cairn.cli.places:standpoint_of")(options)
    return here


def _is_cut_short(document: SearchDocument, options: argparse.Namespace) -> bool:
    """Tell whether a list of files or counts lacks matches that nobody asked to leave out."""
    if options.form not in ("files", "count") or options.max_tokens is not None or options.limit != _DEFAULT_LIMIT:
        return False
    return document["mode"] in _COMPLETE and document["omitted"] > 0


def run_similar(options: argparse.Namespace) -> int:
    """Bring the index up to date, and print code like that at a line or on stdin."""
    fields: dict[str, Any] = {
        "limit": options.limit,
        "kinds": options.kind,
        "languages": options.lang,
        "globs": _globs(options),
        "update": not options.no_update,
    }
    match = re.fullmatch(r"(.+):(\d{1,18})", options.target)
    if match is not None:
        fields |= {"file": _standpoint(options).file(match[1]), "line": int(match[2])}
    elif options.target == "-":
        fields["code"] = read_sent()
    else:
        raise QueryError(f"{options.target!r} does not name a line", "cairn similar FILE:LINE")
    document: SearchDocument = answer(options, "similar", fields)
    if options.json:
        emit_json(document)
    else:
        style = Style(sys.stdout)
        for hit in document["code"]:
            _print_hit(hit, style, [], document)
        for text in document.get("notes", ()):
            note(printable(text))
        if not document["code"]:
            note(f"Nothing similar in {pluralize(document['coverage']['indexed'], 'file')}{_filters_of(options)}.")
        elif document["omitted"]:
            note(f"{document['omitted']:,} more; raise -n to see them.")
    return EXIT_FOUND if document["code"] else EXIT_NONE


def _commit_searched(branch: str, revision: str) -> str:
    return f"commit {revision}" if branch == revision else f"{printable(branch)}, commit {revision}"


def _print_search(document: SearchDocument, options: argparse.Namespace) -> None:
    style = Style(sys.stdout)
    words: list[str] = []
    if style.on:
        words = [word for word in raw_words(document["query"]) if len(word) > 2]
    if options.form is not None:
        load("cairn.cli.lines:print_lines")(document, options.form, _standpoint(options))
    else:
        for hit in document["code"]:
            _print_hit(hit, style, words, document, explain=options.explain)
        for memory in document["memory"]:
            load("cairn.cli.memory_rows:print_hit")(memory, style)
    if revision := document.get("revision"):
        note(f"From {_commit_searched(document['branch'], revision[:12])}; the files on disk are not searched.")
    for text in document.get("notes", ()):
        note(printable(text))
    _note_what_is_missing(document, options)


def _note_what_is_missing(document: SearchDocument, options: argparse.Namespace) -> None:
    """Say how much is indexed, and what was not found or had no room."""
    coverage = document["coverage"]
    if coverage["pending"]:
        note(
            f"{coverage['indexed']:,} of {pluralize(coverage['eligible'], 'file')} "
            f"{'is' if coverage['indexed'] == 1 else 'are'} indexed; continue with: cairn index"
        )
    if document["mode"] == "memory":
        if not document["memory"] and not document.get("omitted_memory"):
            note(f"Nothing is remembered about {document['query']!r}.")
    elif not document["code"] and not document["omitted"]:
        where = (
            f"the {pluralize(document['searched'], 'file')} that were searched"
            if "searched" in document
            else pluralize(coverage["indexed"], "file")
        )
        note(f"Nothing relevant for {document['query']!r} in {where}{_filters_of(options)}.")
        if coverage["indexed"]:
            note(f"Try {_what_else(document, options)}.")
    elif document["omitted"]:
        note(f"{document['omitted']:,} more; raise {limits_of(options)} to see them.")
    if n_memories := document.get("omitted_memory"):
        had = pluralize(n_memories, "memory had", "memories had")
        note(f"{had} no room; raise --max-tokens to see more, or use: cairn recall")
    if n_notes := document.get("omitted_notes"):
        note(f"{pluralize(n_notes, 'note')} had no room; raise --max-tokens to see them.")


def _filters_of(options: argparse.Namespace) -> str:
    """Return the filters of a search as they were given; empty if there are none."""
    named = (("--kind", options.kind), ("--lang", options.lang), ("--in", options.globs))
    given = [f"{flag} {printable(value)}" for flag, values in named for value in values]
    return f", with {' '.join(given)}" if given else ""


def _what_else(document: SearchDocument, options: argparse.Namespace) -> str:
    """Return what may find more than a search that found nothing."""
    mode = document["mode"]
    if _filters_of(options):
        return "it without these filters"
    if mode in _COMPLETE or mode == "symbol":
        return "a search by meaning: --mode hybrid"
    if document["query"].startswith('"'):
        return "fewer words of it, or a name from the code"
    return "other words, a name from the code, or exact text between quotes: cairn search '\"TEXT\"'"


def _print_hit(
    hit: HitDocument, style: Style, words: list[str], document: SearchDocument, *, explain: bool = False
) -> None:
    project = f"{printable(hit['project'])}: " if "project" in hit else ""
    where = f"{project}{printable(hit['filepath'])}:{hit['start_line']}"
    label = f"{hit['kind']} {hit.get('qualified_name', hit['name'])}".strip()
    changed = " (changed since it was indexed)" if hit.get("stale") else ""
    facts = f"{hit['start_line']}-{hit['end_line']}"
    if "tokens" in hit:
        verdict = f"{hit['match']} {hit.get('similarity'):.2f}" if "match" in hit else hit["confidence"]
        facts += f"  ~{pluralize(hit['tokens'], 'token')}  {verdict}"
    if part := hit.get("part"):
        facts += f"  {part}"
    facts += f"  {hit['id']}{changed}"
    if "origin" in hit:
        facts += f"  {hit['origin']}"
    if style.on and sys.stdout.isatty() and "project" not in hit and "remote" not in document:
        where = load("cairn.cli.links:link_to")(where, document["view"], hit["filepath"])
    emit(f"{style.path(where)}  {style.name(printable(label))}  {style.faint(facts)}")
    for line in hit["preview"].split("\n") if hit.get("preview") else ():
        emit(f"    {style.mark(printable(line), words)}")
    for captures in hit.get("captures", ()) if explain else ():
        parts = "  ".join(f"${name} = {printable(text)}" for name, text in captures.items())
        emit(style.faint(f"    {parts}"))
    for neighbour in hit.get("neighbours", ()):
        label = printable(f"{neighbour['kind']} {neighbour['name']}".strip())
        where = style.path(f"{printable(neighbour['filepath'])}:{neighbour['line']}")
        emit(f"    {neighbour['relation']} {where}  {label}")
    if (features := hit.get("explain")) is not None:
        parts = "  ".join(f"{name} {value:+.3f}" for name, value in features.items())
        emit(style.faint(f"    score {hit.get('score'):.3f} = {parts}"))
    emit("")


def _ids_sent() -> list[str]:
    """Return the ids on stdin, one a line."""
    ids = [line.strip() for line in read_sent().splitlines() if line.strip()]
    if not ids:
        raise QueryError("stdin names no ids", "cairn fetch ID")
    return ids


def run_fetch(options: argparse.Namespace) -> int:
    """Print the full text of results."""
    here = _standpoint(options)
    ids = [found for given in options.ids for found in (_ids_sent() if given == "-" else (given,))]
    fields = {"ids": [here.place(found) for found in ids], "branch": options.branch}
    documents: list[FetchedDocument] = answer(options, "fetch", fields)
    is_whole = not any("error" in document for document in documents)
    if options.json:
        emit_json(documents)
        return EXIT_FOUND if is_whole else EXIT_NONE
    style = Style(sys.stdout)
    for document in documents:
        if error := document.get("error"):
            note(f"error[{error['code']}]: {error['message']}\n  try: {error['hint']}")
            continue
        changed = " (changed since it was indexed)" if document["stale"] else ""
        changed += f" (of commit {document['revision'][:12]}, not of the files on disk)" if document["revision"] else ""
        facts = f"{document['start_line']}-{document['end_line']}  ~{pluralize(document['tokens'], 'token')}{changed}"
        label = printable(f"{document['kind']} {document['name']}".strip())
        place = (
            f"{printable(document['filepath'])}:{document['start_line']}" if document["filepath"] else document["id"]
        )
        emit(f"{style.path(place)}  {style.name(label)}  {style.faint(facts)}")
        emit("\n".join(printable(line.removesuffix("\r")) for line in document["text"].split("\n")))
        emit("")
    return EXIT_FOUND if is_whole else EXIT_NONE
