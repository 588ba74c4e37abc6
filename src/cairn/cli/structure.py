"""`cairn context` and `cairn outline`."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from cairn.cli.notes import note, printable
from cairn.cli.outcomes import EXIT_FOUND, EXIT_NONE
from cairn.cli.places import standpoint_of
from cairn.cli.remote import answer
from cairn.cli.render import Style, emit, emit_json
from cairn.loading import load
from cairn.source.text import pluralize

if TYPE_CHECKING:
    from cairn.protocol.documents import ContextDocument, OutlineDocument


def run_context(options: argparse.Namespace) -> int:
    """Print the code that a task needs, or the context of results."""
    here = standpoint_of(options)
    fields = {
        "task": load("cairn.cli.given:read_given")(options.task, "context", "task"),
        "ids": options.ids,
        "files": [here.file(file) for file in options.files],
        "limit": options.limit,
        "max_tokens": options.max_tokens,
        "update": not options.no_update,
    }
    document: ContextDocument = answer(options, "context", fields)
    if options.json:
        emit_json(document)
        return EXIT_FOUND if document["items"] or document["omitted"] else EXIT_NONE
    style = Style(sys.stdout)
    for item in document["items"]:
        label = style.name(printable(f"{item['kind']} {item['name']}".strip()))
        tokens = pluralize(item["tokens"], "token")
        facts = f"{item['start_line']}-{item['end_line']}  ~{tokens}  {printable(item['id'])}".rstrip()
        where = style.path(f"{printable(item['filepath'])}:{item['start_line']}")
        emit(f"{where}  {label}  {style.faint(facts)}")
        emit(f"{printable_lines(item['text'])}\n")
    for memory in document["memory"]:
        load("cairn.cli.memory_rows:print_hit")(memory, style)
    for text in document["notes"]:
        note(printable(text))
    if document["omitted"]:
        note(f"{document['omitted']:,} more; raise --max-tokens or -n to see them.")
    elif not document["items"] and not document["notes"]:
        note("Nothing relevant. Try other words, or a search: cairn search QUERY")
    return EXIT_FOUND if document["items"] or document["omitted"] else EXIT_NONE


def run_outline(options: argparse.Namespace) -> int:
    """Print what a file defines."""
    fields = {
        "file": standpoint_of(options).file(options.file),
        "mode": options.mode,
        "symbol": options.symbol,
        "max_tokens": options.max_tokens,
    }
    document: OutlineDocument = answer(options, "outline", fields)
    if options.json:
        emit_json(document)
    else:
        emit(printable_lines(document["text"]))
    has_symbols = document["symbols"] or document["omitted"] or document.get("unlisted")
    return EXIT_FOUND if has_symbols else EXIT_NONE


def printable_lines(text: str) -> str:
    """Return text of several lines that cannot control a terminal."""
    return "\n".join(printable(line) for line in text.split("\n"))
