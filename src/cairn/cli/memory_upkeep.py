"""`cairn memories code`, `cairn memories embed` and `cairn memories change`."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from typing import TYPE_CHECKING

from cairn.cli.memories import answer_memory, ask_to_erase, filter_fields
from cairn.cli.notes import note, printable
from cairn.cli.outcomes import EXIT_FOUND, EXIT_NONE, EXIT_USAGE
from cairn.cli.render import ProgressBar, Style, emit, emit_json
from cairn.cli.stdin import is_anybody_here
from cairn.errors import RequestError
from cairn.loading import load
from cairn.memory.actors import find_actor
from cairn.source.text import pluralize

if TYPE_CHECKING:
    from cairn.protocol.memory_documents import (
        BulkChangeDocument,
        EmbeddedDocument,
        LinkedCodeDocument,
        MemoryCodeDocument,
    )


def run_code(options: argparse.Namespace) -> int:
    """Print the code that a memory speaks of, then and now."""
    document: MemoryCodeDocument = answer_memory(options, "memories/code", {"id": options.id})
    if options.json:
        emit_json(document)
        return EXIT_FOUND if document["links"] else EXIT_NONE
    style = Style(sys.stdout)
    for link in document["links"]:
        _print(link, style)
    if not document["links"]:
        note("It speaks of no code.")
    return EXIT_FOUND if document["links"] else EXIT_NONE


def _print(link: LinkedCodeDocument, style: Style) -> None:
    revision = f", linked at {link['revision'][:12]}" if link["revision"] else ""
    emit(f"{style.path(printable(link['file']))}  {link['state']}{revision}")
    text = link["diff"] or link["now"] or link["then"] or ""
    for line in text.split("\n") if text else []:
        emit(f"  {printable(line)}".rstrip())
    if link["then"] is None and link["state"] != "current":
        note(f"What {printable(link['file'])} said then is not known: no commit has it.")


def run_embed(options: argparse.Namespace) -> int:
    """Embed all memories again, or say what that takes."""
    embed = load("cairn.cli.memory_here:embed_here")
    with closing(ProgressBar("Embedding", unit="vectors")) as bar:
        document: EmbeddedDocument = embed(options, bar)
    if options.json:
        emit_json(document)
    for model in [] if options.json else document["models"]:
        memories = pluralize(model["memories"], "memory", "memories")
        if document["dry_run"]:
            emit(
                f"{printable(model['model'])}: {memories}, {model['missing']:,} without a vector; "
                f"about {model['tokens']:,} tokens, {model['seconds']:g} s"
            )
        else:
            emit(f"{printable(model['model'])}: {model['embedded']:,} of {memories} embedded")
        if model["error"]:
            note(printable(model["error"]))
    if not document["models"] and not options.json:
        note("Nothing is remembered here.")
    failed = any(model["error"] for model in document["models"])
    return EXIT_USAGE if failed else EXIT_FOUND if document["models"] else EXIT_NONE


_DONE = {"archive": "archived", "resolve": "resolved", "reopen": "reopened", "keep": "kept", "forget": "erased"}


def run_change(options: argparse.Namespace) -> int:
    """Do the same with all memories that a filter finds, or say with how many; erase them only if that is confirmed."""
    if options.action == "forget" and not options.dry_run and not options.yes and not _confirm(options):
        note("Nothing was erased.")
        return EXIT_NONE
    document = _ask(options, dry_run=options.dry_run)
    if options.json:
        emit_json(document)
        return EXIT_FOUND if document["total"] else EXIT_NONE
    for memory_id in document["ids"]:
        emit(memory_id)
    verb = f"would be {_DONE[options.action]}" if options.dry_run else _DONE[options.action]
    note(f"{pluralize(document['total'], 'memory', 'memories')} {verb}.")
    return EXIT_FOUND if document["total"] else EXIT_NONE


def _ask(options: argparse.Namespace, *, dry_run: bool) -> BulkChangeDocument:
    fields = {**filter_fields(options), "action": options.action, "dry_run": dry_run, "actor": find_actor().actor}
    document: BulkChangeDocument = answer_memory(options, "memories/change", fields)
    return document


def _confirm(options: argparse.Namespace) -> bool:
    """Ask the user whether to erase what the filter finds.

    Raises:
        RequestError: if there is nobody to ask.
    """
    total = _ask(options, dry_run=True)["total"]
    if not total:
        return False
    if options.json or not is_anybody_here():
        raise RequestError(
            f"{pluralize(total, 'memory', 'memories')} would be gone for ever, and nobody is here to be asked",
            "see which with --dry-run, then confirm it with --yes",
        )
    return ask_to_erase(total)
