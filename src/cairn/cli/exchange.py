"""`cairn export` and `cairn import`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO

from cairn.cli.memories import filter_fields
from cairn.cli.notes import note, printable
from cairn.cli.outcomes import EXIT_FOUND, EXIT_NONE
from cairn.cli.render import emit, emit_json
from cairn.errors import PathError, RequestError
from cairn.operations.memory_bulk import iter_export
from cairn.protocol.memory_requests import MemoryExportRequest
from cairn.schema import decode
from cairn.source.text import pluralize
from cairn.storage.atomic import AtomicFile
from cairn.workspace import Workspace

_PIPE = "-"
_MODE = 0o600  # what is remembered is its user's alone


def run_export(options: argparse.Namespace) -> int:
    """Write memories with all that happened to them, as JSON Lines."""
    if options.json and options.into == _PIPE:
        raise RequestError("an export to stdout is JSON already, one document a line", "name a FILE, or omit --json")
    with Workspace.containing(options.project, state_dir=options.state_dir) as workspace:
        fields = {"ids": options.ids, "shared": options.shared, **filter_fields(options)}
        lines = iter_export(workspace, decode(MemoryExportRequest, fields))
        n_events = write_export(options.into, lines)
    if options.json:
        emit_json({"file": options.into, "events": n_events})
    elif options.into != _PIPE:
        emit(f"Wrote {pluralize(n_events, 'event')} to {printable(options.into)}.")
    elif not n_events:
        note("There are no memories to export.")
    return EXIT_FOUND if n_events else EXIT_NONE


def run_import(options: argparse.Namespace) -> int:
    """Read what `export` wrote; all of it or nothing."""
    with (
        Workspace.containing(options.project, state_dir=options.state_dir) as workspace,
        _open(options.file) as stream,
    ):
        done = workspace.memory.exchange.take(stream, dry_run=options.dry_run)
    if options.json:
        emit_json(
            {"dry_run": options.dry_run, "new": done.n_new, "known": done.n_known, "memories": done.n_memories}
            | {"erased": done.n_erased, "redacted": done.n_redacted}
        )
        return EXIT_FOUND
    known = f"; {pluralize(done.n_known, 'was', 'were')} here already" if done.n_known else ""
    if options.dry_run:
        emit(f"Would import {pluralize(done.n_new, 'event')}{known}.")
    else:
        changed = pluralize(done.n_memories, "memory", "memories")
        emit(f"Imported {pluralize(done.n_new, 'event')}, which changed {changed}{known}.")
    if done.n_erased:
        verb = "Would erase" if options.dry_run else "Erased"
        erased = pluralize(done.n_erased, "memory that was", "memories that were")
        note(f"{verb} {erased} erased elsewhere.")
    if done.n_redacted:
        held = pluralize(done.n_redacted, "event held", "events held")
        note(f"{held} secrets or private parts, which {'would be' if options.dry_run else 'were'} left out.")
    return EXIT_FOUND


def write_export(file: str, lines: Iterable[str]) -> int:
    """Write an export to a file, or to stdout if it is called `-`, and return how many events there were.

    Raises:
        PathError: if it cannot be written.
    """
    if file == _PIPE:
        return _write(sys.stdout.buffer, lines)
    with _replace(Path(file)) as stream:
        return _write(stream, lines)


def _write(stream: IO[bytes], lines: Iterable[str]) -> int:
    """Write lines, and return how many events there were: all but the header."""
    n_lines = 0
    for line in lines:
        stream.write(f"{line}\n".encode())
        n_lines += 1
    stream.flush()
    return n_lines - 1


@contextmanager
def _replace(file: Path) -> Iterator[IO[bytes]]:
    """Write a file as a whole, for this user alone.

    Raises:
        PathError: if it cannot be written.
    """
    try:
        if os.path.lexists(file) and not file.is_file():
            raise PathError(f"{file} is not a file", f"name a file, or {_PIPE} for stdout")
        with AtomicFile(Path(os.path.realpath(file)), mode=_MODE) as new:
            yield new.stream
    except OSError as error:
        raise PathError(
            f"cannot write {file}: {error.strerror}", f"name another file, or {_PIPE} for stdout"
        ) from error


@contextmanager
def _open(file: str) -> Iterator[BinaryIO | IO[bytes]]:
    if file == _PIPE:
        yield sys.stdin.buffer
        return
    try:
        with open(file, "rb") as stream:
            stream.peek(1)  # of a folder that is the first to fail
            yield stream
    except OSError as error:
        raise PathError(f"cannot read {file}: {error.strerror}", f"name a file, or {_PIPE} for stdin") from error
