"""`cairn context`, `cairn outline`, `cairn flow` and `cairn slice`."""

from __future__ import annotations

import argparse
import re
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any

from cairn.cli.main import EXIT_FOUND, EXIT_NONE
from cairn.cli.notes import note, printable
from cairn.cli.remote import ask_daemon
from cairn.cli.render import ProgressBar, Style, emit, emit_json, file_of
from cairn.errors import QueryError
from cairn.source.text import counted

if TYPE_CHECKING:
    from cairn.protocol.documents import ContextDocument, OutlineDocument


def run_context(options: argparse.Namespace) -> int:
    """Print what a task needs, or what is around results."""
    asked = {
        "task": options.task,
        "ids": options.ids,
        "files": [str(file_of(options.project, file)) for file in options.files],
        "limit": options.limit,
        "max_tokens": options.max_tokens,
        "update": not options.no_update,
    }
    document: ContextDocument = _answer(options, "context", asked, "Reading")
    if options.json:
        emit_json(document)
        return EXIT_FOUND if document["items"] or document["omitted"] else EXIT_NONE
    style = Style(sys.stdout)
    for one in document["items"]:
        label = style.name(printable(f"{one['kind']} {one['name']}".strip()))
        tokens = counted(one["tokens"], "token")
        facts = f"{one['start_line']}-{one['end_line']}  ~{tokens}  {printable(one['id'])}".rstrip()
        where = style.path(f"{printable(one['filepath'])}:{one['start_line']}")
        emit(f"{where}  {label}  {style.faint(facts)}")
        emit(f"{_printable_lines(one['text'])}\n")
    for text in document["notes"]:
        note(printable(text))
    if document["omitted"]:
        note(f"{document['omitted']:,} more; raise --max-tokens or -n to see them.")
    return EXIT_FOUND if document["items"] or document["omitted"] else EXIT_NONE


def run_outline(options: argparse.Namespace) -> int:
    """Print what a file defines."""
    asked = {
        "file": str(file_of(options.project, options.file)),
        "mode": options.mode,
        "symbol": options.symbol,
        "max_tokens": options.max_tokens,
    }
    document: OutlineDocument = _answer(options, "outline", asked, "Reading references")
    if options.json:
        emit_json(document)
    else:
        emit(_printable_lines(document["text"]))
    found = document["symbols"] or document["omitted"] or document.get("unlisted")
    return EXIT_FOUND if found else EXIT_NONE


def _answer(options: argparse.Namespace, operation: str, asked: dict[str, Any], doing: str) -> Any:  # noqa: ANN401 - JSON
    """Return the answer of the daemon, or of this process; `doing` stands before the progress bar."""
    if (document := ask_daemon(options, operation, asked)) is not None:
        return document
    from cairn.operations import perform  # noqa: PLC0415 - start-up time: the daemon may have answered
    from cairn.protocol.table import OPERATIONS  # noqa: PLC0415 - as above
    from cairn.schema import decode  # noqa: PLC0415 - as above
    from cairn.workspace import Workspace  # noqa: PLC0415 - as above

    with (
        Workspace.containing(options.project, state_dir=options.state_dir) as workspace,
        closing(ProgressBar(doing)) as bar,
    ):
        return perform(workspace, operation, decode(OPERATIONS[operation].request, asked), bar)


def run_flow(options: argparse.Namespace) -> int:
    """Print how control and data flow in a function."""
    from cairn.protocol.documents import flow_to_dict  # noqa: PLC0415 - as above
    from cairn.structure.flow import flow_lines, mermaid  # noqa: PLC0415 - start-up time: outlines need no flow
    from cairn.workspace import Workspace  # noqa: PLC0415 - as above

    file, _, function = options.target.rpartition(":")
    if not file or not function:
        raise QueryError(f"{options.target!r} names no function", "cairn flow FILE:FUNCTION")
    with Workspace.containing(options.project, state_dir=options.state_dir) as workspace:
        graph = workspace.code.flow(file_of(options.project, file), function)
    if options.json:
        emit_json(flow_to_dict(graph))
    elif options.mermaid:
        emit(_printable_lines(mermaid(graph, data=options.dfg)))
    else:
        emit(_printable_lines("\n".join(flow_lines(graph, control=not options.dfg, data=not options.cfg))))
    return EXIT_FOUND


def run_slice(options: argparse.Namespace) -> int:
    """Print the lines that a line depends on, or that depend on it."""
    match = re.fullmatch(r"(.+?):(\d{1,18})(?::([^:]+))?", options.target)
    if match is None:
        raise QueryError(f"{options.target!r} names no line", "cairn slice FILE:LINE[:VAR]")
    from cairn.protocol.documents import slice_to_dict  # noqa: PLC0415 - start-up time, as in run_flow()
    from cairn.workspace import Workspace  # noqa: PLC0415 - as above

    file, line, variable = match[1], int(match[2]), match[3] or ""
    with Workspace.containing(options.project, state_dir=options.state_dir) as workspace:
        found = workspace.code.slice(file_of(options.project, file), line, variable, forward=options.forward)
    if options.json:
        emit_json(slice_to_dict(found))
        return EXIT_FOUND
    style = Style(sys.stdout)
    emit(f"{style.path(printable(found.path))}  {style.name(printable(found.function))}")
    width = len(str(found.lines[-1][0]))
    for number, text in found.lines:
        mark = ">" if number == found.line else " "
        emit(f"{mark}{number:>{width}}  {printable(text)}")
    return EXIT_FOUND


def _printable_lines(text: str) -> str:
    return "\n".join(printable(line) for line in text.split("\n"))
