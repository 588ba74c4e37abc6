"""Texts that are given as they are, in a file, `@FILE`, or on stdin, `-`."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import BinaryIO

from cairn.errors import PathError, QueryError
from cairn.hints import Hint
from cairn.loading import load

# What is read of a longer text: a search reads less, and says so. Multiples of four, the bytes of a unit in UTF-32.
_HEAD_BYTES, _TAIL_BYTES, _BLOCK_BYTES = 300_000, 100_000, 1_000_000
_MAY_BE_MARKED = (b"\xff\xfe", b"\xfe\xff", b"\0\0")  # the beginnings of UTF-16 and UTF-32
# `@router.get` is a query, `@notes/bug` and `@bug.md` are files, there or not.
_LOOKS_LIKE_FILE = re.compile(
    r"@(?:\S*[/\\]\S*|\S+\.(?:md|markdown|txt|text|rst|log|out|err|html?|eml|patch|diff|json|csv|xml|ya?ml))", re.I
)


def read_given(given: str, command: str, field: str) -> str:
    """Return the text given, that of the file named after `@`, or, for `-`, that on stdin.

    What begins with `@` and names no file, such as a decorator, is a text itself.

    Args:
        given: as it stands on the command line.
        command: which command it is for.
        field: what that calls it.

    Raises:
        PathError: if the file is not there or cannot be read.
        QueryError: if stdin is empty.
    """
    if given == "-":
        if not (text := _read(sys.stdin.buffer)).strip():
            raise QueryError("stdin is empty", Hint("give a text, or a file as @FILE", command, **{field: None}))
        return text
    if not given.startswith("@") or not (_is_file(given[1:]) or _LOOKS_LIKE_FILE.fullmatch(given)):
        return given
    try:
        with Path(given[1:]).expanduser().open("rb") as file:
            text = _read(file)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it has no such name"
        hint = Hint("put a space before the @ if it is the text itself", command, **{field: f" {given}"})
        raise PathError(f"{given[1:]} cannot be read: {reason}", hint) from error
    if not text.strip():
        raise QueryError(
            f"{given[1:]} is empty", Hint("give a text, or another file as @FILE", command, **{field: None})
        )
    return text


def _is_file(path: str) -> bool:
    try:
        return Path(path).expanduser().is_file()
    except (OSError, ValueError, RuntimeError):
        return False


def _read(file: BinaryIO) -> str:
    """Return a text, or of a very long one the beginning and the end. A byte order mark says how it is written."""
    head, tail = file.read(_HEAD_BYTES), b""
    while block := file.read(_BLOCK_BYTES):
        tail = (tail + block)[-_TAIL_BYTES:]
    encoding = "utf-8"
    if head.startswith(_MAY_BE_MARKED):  # what tells encodings also tells languages, and takes a while to import
        encoding = load("cairn.source.content:marked_encoding")(head) or encoding
    return (head + tail).decode(encoding, "replace").removeprefix("\ufeff")
