"""Where private keys are in a text: PEM, OpenSSH, PGP and PuTTY, also when they were cut off."""

from __future__ import annotations

import re
from collections.abc import Iterator

_MARK = re.compile(
    rb"-----(BEGIN|END) (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
    rb"|---- (BEGIN|END) SSH2 (?:ENCRYPTED )?PRIVATE KEY ----"
)
# What stands between two lines of base64: line breaks, the quotes and signs that code and diffs add, and the numbers
# and files that agents, `cat -n` and `grep` put before lines. Possessive, so that no text is read in two ways.
_FILE = rb"(?<!\S)[\w./@~+-]{1,200}[:-](?:[0-9]{1,7}[:-])?"
_NUMBER = rb"(?<![0-9A-Za-z+/=])[0-9]{1,7}(?![0-9A-Za-z+/=])"
_BETWEEN = rb"""(?:""" + _FILE + rb"|" + _NUMBER + rb"""|[\s"'`+,.|>#*;()\\:?-]){0,60}+"""
_LABEL = rb"(?:" + _FILE.replace(b"200}", b"200}?") + rb"|" + _NUMBER + rb"[ \t]*[:|?-]?)?\s*"
_ARMOR = re.compile(rb"\s*" + _LABEL + rb"(?:[A-Z][A-Za-z0-9-]{2,20}: [^\n]{1,120}?(?:\n|  |$)\s*" + _LABEL + rb")*")
_LINES = re.compile(
    rb"(?:"
    + _BETWEEN
    + rb"[0-9A-Za-z+/]{16,}={0,2})+(?:"
    + _BETWEEN
    + rb"[0-9A-Za-z+/]{1,63}={1,2}|[\s\"'+]{1,20}=[0-9A-Za-z+/]{4}\b)?"
)
_TAIL = re.compile(rb"""[\w+/=\s"'`,.|>#*;:?()\\-]{0,200}""")
_BEFORE = re.compile(rb"[0-9A-Za-z+/]{16,}={0,2}")
_PUTTY = re.compile(
    rb"Private-Lines: ?[0-9]+((?:\s+[0-9A-Za-z+/]{16,}={0,2})+"
    rb"(?:\s+[0-9A-Za-z+/]{1,15}={0,2}(?=\s))?(?:\s+Private-MAC: ?[0-9a-f]+)?)"
)
_WINDOW = 4000  # characters before an END without its BEGIN


def private_keys(text: bytes) -> Iterator[tuple[int, int]]:
    """Yield start and end of each private key in a text of one byte for each character."""
    if b"PRIVATE KEY" in text:
        yield from _iter_armor(text)
    if b"Private-Lines:" in text:
        yield from (match.span(1) for match in _PUTTY.finditer(text))


def _iter_armor(text: bytes) -> Iterator[tuple[int, int]]:
    marks = list(_MARK.finditer(text))
    for number, mark in enumerate(marks):
        following = marks[number + 1] if number + 1 < len(marks) else None
        if b"BEGIN" in mark.group():
            if end := _end_of_body(text, mark.end(), following):
                yield mark.start(), end
        elif number == 0 or b"END" in marks[number - 1].group():
            floor = max(marks[number - 1].end() if number else 0, mark.start() - _WINDOW)
            if (start := _start_of_body(text, floor, mark.start())) is not None:
                yield start, mark.end()


def _end_of_body(text: bytes, start: int, following: re.Match[bytes] | None) -> int | None:
    """Return where the key ends that begins here; None if only its first line is there, as in code."""
    armor = _ARMOR.match(text, start)
    lines = _LINES.match(text, armor.end() if armor else start) or _LINES.match(text, start)
    if lines is None:
        return None
    if following and b"END" in following.group() and following.start() - lines.end() < 200:
        return following.end()
    return lines.end()


def _start_of_body(text: bytes, floor: int, end: int) -> int | None:
    """Return where the base64 begins that an END line closes, when what came before was cut off."""
    start, reached = None, end
    for run in reversed(list(_BEFORE.finditer(text, floor, end))):
        if reached - run.end() > 60 or not _TAIL.fullmatch(text, run.end(), reached):
            break
        start = reached = run.start()
    return start
