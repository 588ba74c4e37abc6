"""The style of a file, such as line ends, indentation and spaces; and the positions of its lines."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any

from cairn.documents.nodes import Format, Node, Splice
from cairn.documents.rendering import FileStyle
from cairn.documents.syntax import iter_members

_BLANK = b" \t\r\n"
_COMMENTS = {
    "json": re.compile(rb"[ \t\r\n]*+"),
    "jsonc": re.compile(rb"(?:[ \t\r\n]++|//[^\r\n]*+|/\*.*?\*/)*+", re.DOTALL),
    "toml": re.compile(rb"(?:[ \t\r\n]++|#[^\r\n]*+)*+"),
    "yaml": re.compile(rb"(?:[ \t\r\n]++|#[^\r\n]*+)*+"),
}


class Layout:
    """A text and its style.

    Args:
        body: the text, without a byte order mark.
        format: of the text.
        root: its nodes; None if it is empty.
    """

    def __init__(self, body: bytes, format: Format, root: Node | None) -> None:
        self.body = body
        self.format = format
        self.root = root

    @cached_property
    def style(self) -> FileStyle:
        """The style of the file as a whole."""
        colon = self._colon(self.root) if self.format != "toml" else " = "
        comma = ", " if colon.endswith(" ") else ","
        return FileStyle(self.format, self.newline, self._unit(), colon, comma, self._pad(), self._dash_indent())

    @cached_property
    def newline(self) -> str:
        """The end of the first line."""
        at = self.body.find(b"\n")
        return "\r\n" if at > 0 and self.body[at - 1 : at] == b"\r" else "\n"

    def style_near(self, node: Node) -> FileStyle:
        """Return the style of a mapping or list, or the file's if it is empty."""
        if self.format == "toml":
            return self.style
        colon = self._colon(node) if node.kind == "mapping" and node.members else self.style.colon
        return self.style._replace(colon=colon, comma=", " if colon.endswith(" ") else ",")

    def line_start(self, at: int) -> int:
        """Return where the line of a byte begins."""
        return self.body.rfind(b"\n", 0, at) + 1

    def line_end(self, at: int) -> int:
        """Return where the next line begins, or the end."""
        found = self.body.find(b"\n", at)
        return len(self.body) if found < 0 else found + 1

    def indent_at(self, at: int) -> str:
        """Return the spaces and tabs that begin the line of a byte, at most as far as the byte."""
        line = self.body[self.line_start(at) : at]
        return line[: len(line) - len(line.lstrip(b" \t"))].decode()

    def column(self, at: int) -> int:
        """Return how many characters stand before a byte in its line."""
        return len(self.body[self.line_start(at) : at].decode())

    def begins_line(self, at: int) -> bool:
        """Tell whether only spaces and tabs stand before a byte in its line."""
        while at and self.body[at - 1] in b" \t\r":
            at -= 1
        return not at or self.body[at - 1] == ord("\n")

    def skip_blank(self, at: int) -> int:
        """Return the first position from a given one on that is neither white space nor in a comment."""
        found = _COMMENTS[self.format].match(self.body, at)
        return found.end() if found else at

    def last_text(self, start: int, end: int) -> int:
        """Return where the trailing white space of a passage begins."""
        return start + len(self.body[start:end].rstrip(_BLANK))

    def cut(self, start: int, end: int, inserted: str = "") -> Splice:
        """Return the change that replaces a passage."""
        return Splice(start, self.body[start:end].decode(), inserted)

    def insert_lines(self, at: int, lines: list[str]) -> Splice:
        """Return the change that inserts lines, ending the line before them if it has no end."""
        text = self.newline.join(lines)
        is_open = at and self.body[at - 1 : at] != b"\n"
        return Splice(at, "", f"{self.newline}{text}" if is_open else f"{text}{self.newline}")

    def _unit(self) -> str:
        for holder, member in iter_members(self.root) if self.root else ():
            if holder.form == "brackets" and self.begins_line(member.start):
                outer, inner = self.indent_at(holder.start), self.indent_at(member.start)
                if inner.startswith(outer) and len(inner) > len(outer):
                    return inner[len(outer) :]
            if holder.form == "block" and holder.kind == member.node.kind == "mapping" and member.node.form == "block":
                return " " * (self.column(member.node.start) - self.column(member.start))
        return "  "

    def _colon(self, node: Node | None) -> str:
        for holder, member in iter_members(node) if node else ():
            if holder.kind == "mapping" and holder.form == "brackets" and member.node.start > member.start:
                between = self.body[member.start : member.node.start]
                found = re.search(rb"\s*+:[ \t]*+\Z", between)
                if found and b"\n" not in found[0]:
                    return found[0].decode()
        return ": "

    def _pad(self) -> str:
        for holder, member in iter_members(self.root) if self.root else ():
            if holder.kind == "mapping" and holder.form == "brackets" and member is holder.members[0]:
                between = self.body[holder.start + 1 : member.start]
                if not between.strip(b" "):
                    return between.decode()
        return " " if self.format == "toml" else ""

    def _dash_indent(self) -> str:
        for holder, member in iter_members(self.root) if self.root else ():
            if holder.kind == "mapping" and member.node.form == "block" and member.node.kind == "sequence":
                return " " * (self.column(member.node.start) - self.column(member.start))
        return "  "


def as_text(value: Any) -> str:  # noqa: ANN401 - a name of YAML may be anything
    """Return a name for messages."""
    return value if isinstance(value, str) else repr(value)
