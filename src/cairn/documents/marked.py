"""Cairn's passage in somebody else's text file, between two marks that Markdown does not show."""

from __future__ import annotations

from typing import NamedTuple

from cairn.documents.nodes import MAX_PARSED_BYTES, invalid, line_of, too_large

START, END = "<!-- cairn:start -->", "<!-- cairn:end -->"
_BOM = b"\xef\xbb\xbf"


class _Passage(NamedTuple):
    """The range of a passage, including its marks."""

    start: int
    end: int


def set_passage(content: bytes, text: str, source: str) -> bytes:
    """Return a text with a passage: replacing an existing one, else at the end after an empty line.

    Args:
        content: of the file.
        text: of the passage, without the marks.
        source: the file, for messages.

    Raises:
        ConfigError: if the file is too large or not UTF-8, or its marks are incomplete or duplicated.
    """
    if START in text or END in text:
        raise ValueError("a passage cannot contain its own marks")
    found = _find(content, source)
    newline = _newline(content[found.start :] if found else content)
    lines = [START, *text.strip("\n").split("\n"), END]
    passage = newline.join(line.encode() for line in lines)
    if found is not None:
        return content[: found.start] + passage + content[found.end :]
    if content in (b"", _BOM):
        return content + passage + newline
    # The lines around the passage tell how the file ended before; see `remove_passage`.
    if content.endswith(b"\n"):
        return content + newline + passage + newline
    return content + newline * 2 + passage


def remove_passage(content: bytes, source: str) -> bytes:
    """Return a text without its passage, exactly as before `set_passage`; unchanged if it has none.

    Raises:
        ConfigError: as `set_passage`.
    """
    found = _find(content, source)
    if found is None:
        return content
    newline = _newline(content[found.start :])
    before, after = content[: found.start], content[found.end :]
    if not after:
        return before.removesuffix(newline).removesuffix(newline)
    after = after.removeprefix(b"\r\n" if after.startswith(b"\r\n") else b"\n")
    # Keep an empty line that now separates the user's own lines.
    return before + after if after.strip() and after[:1] not in b"\r\n" else before.removesuffix(newline) + after


def passage_of(content: bytes, source: str) -> str | None:
    """Return a text's passage without the marks, None if there is none.

    Raises:
        ConfigError: as `set_passage`.
    """
    found = _find(content, source)
    if found is None:
        return None
    return "\n".join(content[found.start : found.end].decode().replace("\r\n", "\n").split("\n")[1:-1])


def _find(content: bytes, source: str) -> _Passage | None:
    if len(content) > MAX_PARSED_BYTES:
        raise too_large(source, MAX_PARSED_BYTES)
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise invalid(source, line_of(content, error.start), "is not valid UTF-8") from None
    starts, ends = _lines_with(content, START), _lines_with(content, END)
    for mark, places in ((START, starts), (END, ends)):
        if len(places) > 1:
            raise invalid(source, line_of(content, places[1]), f"`{mark}` appears twice")
    if not starts and not ends:
        return None
    if not ends or (starts and ends[0] < starts[0]):
        raise invalid(source, line_of(content, starts[0]), f"`{START}` has no `{END}` below it")
    if not starts:
        raise invalid(source, line_of(content, ends[0]), f"`{END}` has no `{START}` above it")
    return _Passage(starts[0], ends[0] + len(END))


def _lines_with(content: bytes, mark: str) -> list[int]:
    """Return the positions of lines that are just a mark."""
    places, at = [], 0
    for line in content.splitlines(keepends=True):
        offset = len(_BOM) if at == 0 and line.startswith(_BOM) else 0
        if line[offset:].strip() == mark.encode():
            places.append(at + line.index(mark.encode()))
        at += len(line)
    return places


def _newline(content: bytes) -> bytes:
    at = content.find(b"\n")
    return b"\r\n" if at > 0 and content[at - 1 : at] == b"\r" else b"\n"
