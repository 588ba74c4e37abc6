"""What a command says beside its result. Every command imports this, so it imports little itself."""

from __future__ import annotations

import re
import sys

_CONTROL = r"[\x00-\x08\x0a-\x1f\x7f\x80-\x9f\ud800-\udfff]"


def printable(text: str) -> str:
    """Return text that cannot control a terminal and that any encoding can carry: control characters become escapes."""
    if text.isprintable():
        return text
    return re.sub(_CONTROL, lambda match: f"\\x{ord(match[0]) & 0xFF:02x}", text)


def note(text: str) -> None:
    """Print a note to stderr. Paths and names in it, which anybody may have chosen, cannot control the terminal."""
    sys.stderr.write("\n".join(map(printable, text.split("\n"))) + "\n")
