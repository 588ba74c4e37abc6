"""Keeps the code in HEEx templates of an Elixir file and blanks the markup, so that the Elixir grammar can parse it.

A sigil such as `~H"…"` becomes a block in parentheses. It holds the expressions in braces and `<%= … %>` as statements,
and the components: `<.card` becomes `&card`, which no other code says, and `<Shop.Card.show` becomes `Shop.Card.show`.
All bytes stay in place, so lines keep their lengths.
"""

from __future__ import annotations

import re

from cairn.source.languages.template_code import NOT_BREAK, end_of_braces

_SIGIL = re.compile(rb"~H(\"\"\"|'''|[\"'|/(\[{<])")
_CLOSING = {b"(": b")", b"[": b"]", b"{": b"}", b"<": b">"}
_CODE = re.compile(
    rb"<!--|<%!--|<%%|<(?:script|style)\b|<%(?P<mark>[=#]?)|<(?P<local>\.)(?P<name>[a-z_]\w*[?!]?)|<(?P<path>[A-Z][\w.]*\.[a-z_]\w*[?!]?)|\{"
)
_CLOSINGS = {b"<!--": b"-->", b"<%!--": b"--%>", b"<script": b"</script>", b"<style": b"</style>"}
_NEEDLESS = re.compile(rb";(?=[ \t]*\r?\n)")  # the grammar allows no end of statement within a clause
_FOR = b":for={"  # the grammar does not accept its generator as a statement
_OPEN_ENDED = re.compile(rb"(?:\bdo|->|\belse|^|\n)[ \t\r]*$")


def code_of_elixir(data: bytes) -> bytes:
    """Return the code of an Elixir file and its templates, of the same length as the file."""
    if b"~H" not in data:
        return data
    kept = bytearray(data)
    place, open_ended = 0, set[bytes]()  # do not search for a missing closing again and again
    while sigil := _SIGIL.search(data, place):
        place = sigil.end()
        closing = _CLOSING.get(sigil[1], sigil[1])
        if closing in open_ended:
            continue
        if (end := data.find(closing, place)) < 0:
            open_ended.add(closing)
        else:
            kept[sigil.start() : end + len(closing)] = NOT_BREAK.sub(b" ", data[sigil.start() : end + len(closing)])
            kept[sigil.start()], kept[end] = b"()"
            _copy_code(data, kept, place, end)
            kept[place:end] = _NEEDLESS.sub(b" ", kept[place:end])
            place = end + len(closing)
            while data[place : place + 1].isalpha():  # modifiers
                kept[place] = ord(" ")
                place += 1
    return bytes(kept)


def _copy_code(data: bytes, kept: bytearray, start: int, end: int) -> None:
    """Copy the code of a template onto the blanks."""
    while found := _CODE.search(data, start, end):
        start = found.end()
        if found["local"] or found["path"]:
            _copy_component(data, kept, found, end)
            continue
        if (behind := _end_of(data, found, end)) is None:
            return
        last, next_start = behind
        if found[0] == b"{" or found["mark"] in (b"", b"="):
            _state(data, kept, start, last)
        start = next_start


def _copy_component(data: bytes, kept: bytearray, found: re.Match[bytes], end: int) -> None:
    name = found["path"] or found["name"]
    first = found.end() - len(name)
    kept[first : found.end()] = name
    if found["local"]:
        kept[first - 1] = ord("&")
    if found.end() < end and data[found.end()] not in b"\r\n":
        kept[found.end()] = ord(";")


def _end_of(data: bytes, found: re.Match[bytes], end: int) -> tuple[int, int] | None:
    """Return the end of a comment's or expression's text, and the start of what follows; None if it is not closed."""
    if found[0] == b"{":
        last = end_of_braces(data, found.end(), end)
        return (last, last + 1) if last >= 0 else None
    if found[0] == b"<%%":
        return found.end(), found.end()
    closing = _CLOSINGS.get(found[0], b"%>")
    last = data.find(closing, found.end(), end)
    return (last, last + len(closing)) if last >= 0 else None


def _state(data: bytes, kept: bytearray, start: int, last: int) -> None:
    """Copy an expression as a statement."""
    text = data[start:last]
    kept[start:last] = text.replace(b"<-", b"= ", 1) if data.endswith(_FOR, 0, start) else text
    if not _OPEN_ENDED.search(text):
        kept[last] = ord(";")
