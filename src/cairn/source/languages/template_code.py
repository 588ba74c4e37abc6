"""Keeps the code of a Vue or Svelte file in place and blanks the rest, so that the TypeScript grammar can parse it.

Code is in scripts, and in braces and attributes of the markup. An expression in the markup becomes a statement, or in
Vue an array, `[save]`; a Vue handler becomes a block, `{save()}`; and a component becomes just its name. All bytes stay
in place, so lines keep their lengths.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

NOT_BREAK = re.compile(rb"[^\r\n]")
_SECTION = re.compile(rb"<!--|<(script|style)\b", re.IGNORECASE)
_TAG_END = re.compile(rb"(?:[^>\"']|\"[^\"]*\"|'[^']*')*+>")
_OTHER_CODE = re.compile(
    rb"\b(?:lang|type)\s*=\s*[\"']?(?!ts|js|text/|module|application/(?:java|type|ecma))\w", re.IGNORECASE
)
_COMPONENT = rb"<(?P<tag>[A-Z][\w.-]*|[a-z]\w*-[\w-]+)"
_IN_VUE = re.compile(rb"\{\{|" + _COMPONENT + rb"|\s(?P<attribute>v-[\w.:\[\]-]+|[:@#][\w.:\[\]-]*)=(?P<quote>[\"'])")
_IN_SVELTE = re.compile(rb"\{|<(?P<tag>[A-Z][\w.]*)|\s(?:use|transition|in|out|animate):(?P<action>[A-Za-z_$][\w$.]*)")
_OF = re.compile(rb"(?<=[\s)])of(?=\s)")
_STRING_OR_BRACE = re.compile(rb"[{}]|'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|`(?:[^`\\]|\\.)*`", re.DOTALL)
_WORD_OF_BLOCK = re.compile(
    rb"\s*(?:#(?:if|each|await|key)\b|:else(?:\s+if\b)?|:(?:then|catch)\b|@(?:html|render|const|debug|attach)\b|/\w+)"
)
_NO_STATEMENT = re.compile(rb"\s*[{.]")
_THEN = re.compile(rb"(?<=[\s)])then(?=\s)")
_SNIPPET, _SNIPPET_END = b"{#snippet ", b"{/snippet}"


def code_of_vue(data: bytes) -> bytes:
    """Return the code of a Vue single-file component, of the same length as the file."""
    return _Code(data).read(_Code.read_vue)


def code_of_svelte(data: bytes) -> bytes:
    """Return the code of a Svelte component, of the same length as the file; a snippet becomes a function."""
    return _Code(data).read(_Code.read_svelte)


class _Code:
    """Copies the code of a file onto blanks."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._kept = bytearray(NOT_BREAK.sub(b" ", data))

    def read(self, read_markup: Callable[[_Code, int, int], None]) -> bytes:
        for start, end in self._markup():
            read_markup(self, start, end)
        return bytes(self._kept)

    def _markup(self) -> Iterator[tuple[int, int]]:
        """Copy the scripts, and yield the ranges of markup."""
        data, place = self._data, 0
        while section := _SECTION.search(data, place):
            yield place, section.start()
            closing = b"-->" if section[1] is None else b"</" + section[1]
            head = _TAG_END.match(data, section.end()) if section[1] is not None else section
            end = data.find(closing, head.end()) if head is not None else -1
            if head is None or end < 0:
                return
            is_code = section[1] is not None and section[1].lower() == b"script" and not _OTHER_CODE.search(head[0])
            if is_code:
                self._kept[section.start()] = self._kept[end] = ord(";")
                self._kept[head.end() : end] = data[head.end() : end]
            place = end + len(closing)
        yield place, len(data)

    def read_vue(self, start: int, end: int) -> None:
        """Copy the code in a range of Vue markup."""
        data = self._data
        while found := _IN_VUE.search(data, start, end):
            start = found.end()
            if found["tag"] is not None:
                name = b";" + _pascal(found["tag"])
                self._kept[found.start() : found.start() + len(name)] = name
                continue
            closing = found["quote"] or b"}}"
            if (last := data.find(closing, start, end)) < 0:
                return
            attribute = found["attribute"] or b""
            text = data[start:last]
            text = _OF.sub(b"in", text, count=1) if attribute == b"v-for" else text
            self._put(start, text, b"{}" if attribute.startswith((b"@", b"v-on")) else b"[]")
            start = last + len(closing)

    def read_svelte(self, start: int, end: int) -> None:
        """Copy the code in a range of Svelte markup."""
        data = self._data
        while found := _IN_SVELTE.search(data, start, end):
            start = found.end()
            if name := found["tag"] or found["action"]:
                self._kept[start - len(name) - 1 : start] = name + b";"
            elif data.startswith(_SNIPPET, start - 1) and data.find(_SNIPPET_END, start, end) >= 0:
                start = self._begin_snippet(start - 1, end)
            elif data.startswith(_SNIPPET_END, start - 1):
                self._kept[start - 1] = ord("}")
                start += len(_SNIPPET_END) - 1
            elif (last := end_of_braces(data, start, end)) < 0:
                return
            else:
                word = _WORD_OF_BLOCK.match(data, start, last)
                text = data[start:last]
                text = text if word is None else NOT_BREAK.sub(b" ", word[0]) + text[len(word[0]) :]
                self._state(start, _without_names(text, word[0] if word is not None else b""))
                start = last + 1

    def _begin_snippet(self, start: int, end: int) -> int:
        """Copy the head of a snippet as that of a function, and return where it ends."""
        first = start + len(_SNIPPET)
        last = end_of_braces(self._data, first, end)
        if last < 0:
            return end
        self._kept[start:last] = b"function " + self._data[first - 1 : last]
        self._kept[last] = ord("{")
        return last + 1

    def _put(self, start: int, text: bytes, brackets: bytes) -> None:
        """Copy an expression in brackets as a statement, if there is one."""
        if not text.strip():
            return
        kept, end = self._kept, start + len(text)
        kept[start:end] = text
        kept[start - 1], kept[end] = brackets
        if start > 1 and kept[start - 2] == ord(" "):
            kept[start - 2] = ord(";")

    def _state(self, start: int, text: bytes) -> None:
        """Copy an expression as a statement."""
        if _NO_STATEMENT.match(text):
            self._put(start, text, b"[]")
        elif text.strip():
            kept, end = self._kept, start + len(text)
            kept[start:end] = text
            kept[end] = ord(";")
            if start > 1 and kept[start - 2] == ord(" "):
                kept[start - 2] = ord(";")


def _without_names(text: bytes, word: bytes) -> bytes:
    """Return the head of a Svelte block without the names that it binds: `rows` for `{#each rows as row}`."""
    if word.endswith(b"each") and (begin := text.rfind(b" as ")) >= 0:
        return text[:begin] + NOT_BREAK.sub(b" ", text[begin:])
    return _THEN.sub(b",   ", text, count=1) if word.endswith(b"await") else text


def _pascal(tag: bytes) -> bytes:
    """Return the code's name of a component in markup: `UserCard` for `user-card`."""
    return b"".join(part[:1].upper() + part[1:] for part in tag.split(b"-")) if b"-" in tag else tag


def end_of_braces(data: bytes, start: int, end: int) -> int:
    """Return the position of the brace that closes the one just before `start`, -1 if there is none."""
    depth = 1
    for found in _STRING_OR_BRACE.finditer(data, start, end):
        if found[0] == b"{":
            depth += 1
        elif found[0] == b"}":
            depth -= 1
            if not depth:
                return found.start()
    return -1
