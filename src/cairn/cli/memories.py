"""`cairn remember`, `recall`, `memories`, `resolve` and `forget`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cairn.cli.memory_rows import note_rest, print_hit, print_memory, print_row
from cairn.cli.notes import note, printable
from cairn.cli.outcomes import EXIT_FOUND, EXIT_NONE
from cairn.cli.remote import ask_daemon
from cairn.cli.render import Style, emit, emit_json, file_of
from cairn.cli.stdin import ask_whether, is_anybody_here
from cairn.errors import PathError, RequestError
from cairn.hints import Hint
from cairn.loading import load
from cairn.memory.actors import find_actor
from cairn.memory.targets import MARK, parse_target
from cairn.source.text import pluralize

if TYPE_CHECKING:
    from cairn.protocol.memory_documents import (
        ChangedMemoriesDocument,
        DoubtfulDocument,
        ForgottenDocument,
        MemoryDocument,
        MemoryListDocument,
        RecallDocument,
        RememberedDocument,
    )

_MAX_BYTES = 1_000_000  # of a text that is read
_NO_MEMORIES = "There are no memories yet; keep one with: cairn remember TEXT"


def answer_memory(options: argparse.Namespace, operation: str, fields: Mapping[str, object]) -> Any:  # noqa: ANN401 - JSON
    """Return the answer of the daemon, or of this process."""
    if (document := ask_daemon(options, operation, fields)) is not None:
        return document
    return load("cairn.cli.memory_here:answer_memory_here")(options, operation, fields)


def run_remember(options: argparse.Namespace) -> int:
    """Keep a memory, and print its id."""
    acting = find_actor()
    fields = {
        "text": _read_text(options.text),
        "type": options.type,
        "files": _files(options, options.files),
        "importance": options.importance,
        "tags": options.tags,
        "shared": options.shared,
        "session": options.session or acting.session,
        "actor": acting.actor,
    }
    document: RememberedDocument = answer_memory(options, "remember", fields)
    if options.json:
        emit_json(document)
        return EXIT_FOUND
    print_row(document["memory"], Style(sys.stdout))
    for text in document["notes"]:
        note(printable(text))
    if not document["is_new"]:
        note("It was there already.")
    return EXIT_FOUND


def run_recall(options: argparse.Namespace) -> int:
    """Print the memories that a query is about, best first."""
    fields = {
        "query": options.query,
        "limit": options.limit,
        "types": options.types,
        "include_resolved": options.include_resolved,
        "all_branches": options.all_branches,
        "max_tokens": options.max_tokens,
        "session": find_actor().session,
        "repeat": True,
    }
    document: RecallDocument = answer_memory(options, "recall", fields)
    if options.json:
        emit_json(document)
    else:
        style = Style(sys.stdout)
        for hit in document["memory"]:
            print_hit(hit, style)
        if document["omitted"]:
            found = (
                f"{document['omitted']:,} more" if document["memory"] else f"None of {document['omitted']:,} has room"
            )
            note(f"{found}; raise --max-tokens to see them.")
        if not document["memory"] and not document["omitted"]:
            note(f"Nothing is remembered about {options.query!r}. All there is: cairn memories")
    return EXIT_FOUND if document["memory"] or document["omitted"] else EXIT_NONE


def filter_fields(options: argparse.Namespace) -> dict[str, object]:
    """Return the options that choose memories as fields of a request."""
    lists = {name: getattr(options, name) for name in ("types", "statuses", "origins")}
    texts = {name: getattr(options, name) for name in ("session", "tag", "branch", "text", "since", "until")}
    return {**lists, **texts, "file": _file(options, options.file) if options.file else ""}


def run_memories(options: argparse.Namespace) -> int:
    """List memories, the newest first."""
    paging = {"limit": options.limit, "offset": options.offset, "max_tokens": options.max_tokens}
    chosen_by = filter_fields(options)
    document: MemoryListDocument = answer_memory(options, "memories", {**chosen_by, **paging})
    if options.json:
        emit_json(document)
    else:
        style = Style(sys.stdout)
        for row in document["memories"]:
            print_row(row, style)
        nothing = "There are no such memories." if any(chosen_by.values()) else _NO_MEMORIES
        note_rest(document["total"], options, len(document["memories"]), nothing)
    return EXIT_FOUND if document["total"] > options.offset else EXIT_NONE


def run_show(options: argparse.Namespace) -> int:
    """Print memories whole, each with what happened to it."""
    documents: list[MemoryDocument] = answer_memory(options, "memories/show", {"ids": options.ids})
    if options.json:
        emit_json(documents)
        return EXIT_FOUND
    style = Style(sys.stdout)
    for document in documents:
        print_memory(document, style)
    return EXIT_FOUND


def run_edit(options: argparse.Namespace) -> int:
    """Change what a memory says or is tied to."""
    fields: dict[str, object] = {
        "id": options.id,
        "text": None if options.new_text is None else _read_text(options.new_text),
        "type": options.new_type,
        "importance": options.importance,
        "shared": options.shared,
        "tags": options.edit_tags,
        "remove_tags": options.edit_remove_tags,
        "files": _files(options, options.edit_files),
        "remove_files": _files(options, options.edit_remove_files),
    }
    return _change(options, "memories/edit", fields)


def run_resolve(options: argparse.Namespace) -> int:
    """Say that what memories tell of is settled."""
    return _set_status(options, "resolved", session=options.session)


def run_archive(options: argparse.Namespace) -> int:
    """Put memories out of sight."""
    return _set_status(options, "archived")


def run_reopen(options: argparse.Namespace) -> int:
    """Make memories active again."""
    return _set_status(options, "active")


def _set_status(options: argparse.Namespace, status: str, session: str = "") -> int:
    fields = {"ids": options.ids, "session": session, "status": status, "reason": options.reason}
    return _change(options, "memories/status", fields)


def run_supersede(options: argparse.Namespace) -> int:
    """Say which memory takes the place of another."""
    fields = {
        "ids": [options.id],
        "status": "superseded",
        "superseded_by": options.successor,
        "reason": options.reason,
    }
    return _change(options, "memories/status", fields)


def run_undo(options: argparse.Namespace) -> int:
    """Give memories the status they had before."""
    return _change(options, "memories/undo", {"ids": options.ids})


def run_keep(options: argparse.Namespace) -> int:
    """Say that memories are right as they are."""
    return _change(options, "memories/keep", {"ids": options.ids})


def run_doubtful(options: argparse.Namespace) -> int:
    """List memories that somebody should look at."""
    fields = {"limit": options.limit, "offset": options.offset}
    document: DoubtfulDocument = answer_memory(options, "memories/doubtful", fields)
    if options.json:
        emit_json(document)
        return EXIT_FOUND if document["memories"] else EXIT_NONE
    style = Style(sys.stdout)
    for row in document["memories"]:
        print_row(row, style)
        for reason in row["reasons"]:
            emit(f"    {printable(reason)}")
    note_rest(document["total"], options, len(document["memories"]), "No memory is doubtful.")
    return EXIT_FOUND if document["memories"] else EXIT_NONE


def run_prune(options: argparse.Namespace) -> int:
    """Archive what nobody needs, or list it."""
    rows = load("cairn.cli.memory_here:prune_here")(options)
    if options.json:
        emit_json({"dry_run": options.dry_run, "memories": rows})
        return EXIT_FOUND if rows else EXIT_NONE
    style = Style(sys.stdout)
    for row in rows:
        print_row(row, style)
    verb = "would be archived" if options.dry_run else "archived"
    note(f"{pluralize(len(rows), 'memory', 'memories')} {verb}.")
    return EXIT_FOUND if rows else EXIT_NONE


def _change(options: argparse.Namespace, operation: str, fields: Mapping[str, object]) -> int:
    document: ChangedMemoriesDocument = answer_memory(options, operation, {**fields, "actor": find_actor().actor})
    if options.json:
        emit_json(document)
    else:
        style = Style(sys.stdout)
        for row in document["memories"]:
            print_row(row, style)
        if not document["memories"]:
            note("There are no such memories.")
    return EXIT_FOUND if document["memories"] else EXIT_NONE


def run_forget(options: argparse.Namespace) -> int:
    """Erase memories for ever, if the user confirms it."""
    if not options.yes and not _confirm(options):
        note("Nothing was erased.")
        return EXIT_NONE
    fields = {"ids": options.ids, "actor": find_actor().actor}
    document: ForgottenDocument = answer_memory(options, "memories/forget", fields)
    if options.json:
        emit_json(document)
    else:
        for memory_id in document["ids"]:
            emit(f"{memory_id} is erased.")
    return EXIT_FOUND


def _confirm(options: argparse.Namespace) -> bool:
    """Ask the user whether to erase memories.

    Raises:
        RequestError: if there is nobody to ask.
    """
    if options.json or not is_anybody_here():
        raise RequestError(
            "what is erased is gone for ever, and nobody is here to be asked",
            Hint("confirm it", "forget", ids=tuple(options.ids), yes=True),
        )
    documents: list[MemoryDocument] = answer_memory(options, "memories/show", {"ids": options.ids})
    for document in documents:
        note(f"{document['id']}  {document['type']}  {' '.join(document['text'].split())}")
    return ask_to_erase(len(documents))


def ask_to_erase(n_memories: int) -> bool:
    """Ask the user whether to erase so many memories."""
    them = "it" if n_memories == 1 else f"these {pluralize(n_memories, 'memory', 'memories')}"
    return bool(ask_whether(f"Erase {them} for ever, here and wherever shared? This cannot be undone."))


# -- what is given -----------------------------------------------------------------------------------------------------


def _read_text(given: str) -> str:
    """Return the text given, that of the file named after `@`, or, for `-`, that on stdin.

    Raises:
        PathError: if the file cannot be read.
    """
    if given == "-":
        return sys.stdin.buffer.read(_MAX_BYTES).decode("utf-8", "replace")
    if not given.startswith("@") or (any(map(str.isspace, given)) and not os.path.isfile(given[1:])):
        return given
    try:
        with Path(given[1:]).open("rb") as file:
            return file.read(_MAX_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it has no such name"
        hint = Hint("put a space before the @ if it is the text itself", "remember", text=f" {given}")
        raise PathError(f"{given[1:]} cannot be read: {reason}", hint) from error


def _files(options: argparse.Namespace, given: Sequence[str]) -> list[str]:
    return [_file(options, text) for text in given]


def _file(options: argparse.Namespace, text: str) -> str:
    """Return `FILE` or `FILE::NAME` with the path as the current folder means it."""
    path, symbol = parse_target(text, lambda path: os.path.isfile(file_of(options.project, path)))
    found = str(file_of(options.project, path))
    return f"{found}{MARK}{symbol}" if symbol else found
