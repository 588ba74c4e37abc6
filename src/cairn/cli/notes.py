"""What a command says beside its result. Every command imports this, so it imports little itself."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    import argparse

_CONTROL = r"[\x00-\x08\x0a-\x1f\x7f\x80-\x9f\ud800-\udfff]"
_ORDER = r"[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"  # marks that have a terminal show text in another order
_RAW_BYTES = range(0xDC80, 0xDD00)  # how Python has bytes of names that are not UTF-8


def printable(text: str, stream: TextIO | None = None) -> str:
    """Return text that cannot control a terminal and that any encoding can carry: control characters become escapes.

    Args:
        text: of one line.
        stream: where it goes, by default stdout; on a terminal, what changes the order of the text is escaped, too.
    """
    if text.isprintable():
        return text
    shown = re.sub(_CONTROL, lambda match: f"\\x{ord(match[0]) & 0xFF:02x}", text)
    is_terminal = (stream or sys.stdout).isatty()
    return re.sub(_ORDER, lambda match: f"\\u{ord(match[0]):04x}", shown) if is_terminal else shown


def openable(path: str) -> str:
    """Return a path as another program that reads it can open it; on a terminal as `printable` does.

    A line break stays an escape: what follows it would be another path.
    """
    return printable(path) if path.isprintable() or sys.stdout.isatty() else path.replace("\n", "\\x0a")


def carry(error: UnicodeError) -> tuple[str | bytes, int]:
    """Encode what an encoding does not have: bytes of names as they are, and all else as escapes."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    code = ord(error.object[error.start])
    if code in _RAW_BYTES:
        return bytes([code & 0xFF]), error.start + 1
    return error.object[error.start].encode("ascii", "backslashreplace").decode("ascii"), error.start + 1


def limits_of(options: argparse.Namespace) -> str:
    """Return the options that may have cut an answer short."""
    return "-n" if getattr(options, "max_tokens", None) is None else "--max-tokens or -n"


def note(text: str) -> None:
    """Print a note to stderr. Paths and names in it, which anybody may have chosen, cannot control the terminal."""
    sys.stderr.write("\n".join(printable(line, sys.stderr) for line in text.split("\n")) + "\n")
