"""What a command says beside its result; imported by every command, so nothing here takes long to import."""

from __future__ import annotations

import re
import sys

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f\x80-\x9f\ud800-\udfff]")


def printable(text: str) -> str:
    """Return text that cannot steer a terminal and that every encoding can carry: control bytes become escapes."""
    return _CONTROL.sub(lambda match: f"\\x{ord(match[0]) & 0xFF:02x}", text)


def note(text: str) -> None:
    """Tell the user something that is no result. Paths and names in it, which anybody may have given, steer nothing."""
    sys.stderr.write("\n".join(map(printable, text.split("\n"))) + "\n")
