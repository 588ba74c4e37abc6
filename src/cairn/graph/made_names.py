"""Finds names that code makes of parts, such as `"on_#{kind}"`: what has one may be called though nothing says it."""

from __future__ import annotations

import re
from typing import NamedTuple

from cairn import waiting
from cairn.graph.code import Code
from cairn.graph.rules import rules_of
from cairn.graph.source_file import SourceFile

# Where a file of these families looks names up at run time, and where the first part of such a name ends there.
_MADE = {
    "ruby": (
        re.compile(
            rb"\b(?:(?:public_|__)?send|respond_to\?|method|define_method|alias_method|(?:class|instance)_eval|try)\b"
        ),
        re.compile(rb"[\"':. ](\w+)#\{"),
    ),
    "python": (
        re.compile(rb"\b(?:getattr|hasattr|methodcaller|globals|locals|attrgetter)\b|__dict__"),
        re.compile(rb"[\"'](\w+)(?:[\"']\s*\+|\{|%s)"),
    ),
    "ecmascript": (re.compile(rb"\[\s*[`\"']"), re.compile(rb"\[\s*(?:`(\w+)\$\{|[\"'](\w+)[\"']\s*\+)")),
    "php": (
        re.compile(rb"->\{|->\$|::\$|method_exists|is_callable|call_user_func|function_exists"),
        re.compile(rb"[\"'](\w+)(?:[\"']\s*\.|\{?\$)"),
    ),
    "elixir": (re.compile(rb"\bapply\b|\bto_(?:existing_)?atom\b|:\""), re.compile(rb"\"(\w+)#\{")),
}
_LEAST_CHARS = 3  # of a part that tells
_LEAST_PASTED_CHARS = 4
# Macros of C that join their arguments with more to names: those of the project, and those that declare types of GLib.
_MACRO = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)\(((?:[^\\\n]+|\\\r?\n|\\.)*)", re.MULTILINE)
_OF_GLIB = b"G_DEFINE_\\w+|G_DECLARE_\\w+"
_MOST_MACROS = 200
_WORD = re.compile(rb"[A-Za-z_]\w*")

MAKING = frozenset(_MADE)  # families whose programs often look names up at run time


class MadeNames(NamedTuple):
    """The first parts of names that files make, by families, and the parts that macros of C join to names."""

    begun: dict[str, tuple[str, ...]]
    joined: frozenset[str]

    @classmethod
    def of(cls, code: Code) -> MadeNames:
        """Find those of all files."""
        begun: dict[str, set[str]] = {}
        texts_of_c: list[bytes] = []
        for number, language in enumerate(code.languages):
            waiting.check()
            family = rules_of(language).family
            if family != "c" and family not in _MADE:
                continue
            data = code.checkout.read(number) or b""
            if family == "c":
                texts_of_c.append(data)
                continue
            looks_up, first_part = _MADE[family]
            if looks_up.search(data):
                parts = (next(filter(None, found.groups())) for found in first_part.finditer(data))
                begun.setdefault(family, set()).update(part.decode() for part in parts if _tells(part))
        return cls({family: tuple(parts) for family, parts in begun.items()}, frozenset(_joined(texts_of_c)))

    def may_be(self, source: SourceFile, name: str) -> bool:
        """Tell whether a name in a file may be one of those that are made."""
        if source.rules.family == "c":
            ends = (name[:at] for at in range(_LEAST_PASTED_CHARS, len(name)))
            begins = (name[at:] for at in range(1, len(name) - _LEAST_PASTED_CHARS + 1))
            return any(part in self.joined for part in (*ends, *begins))
        begun = self.begun.get(source.rules.family, ())
        return bool(begun) and any(_begins(name, part) for part in begun)


def _tells(part: bytes) -> bool:
    return len(part) >= _LEAST_CHARS and part.isascii() and not part.isdigit()


def _begins(name: str, part: str) -> bool:
    """Tell whether a name begins with a part, and another part begins behind it: `on_send`, `onSend`."""
    rest = name[len(part) :]
    return bool(rest) and name.startswith(part) and (part.endswith("_") or not rest[0].islower())


def _joined(texts: list[bytes]) -> set[str]:
    """Return the words that stand as arguments where the text of a file of C uses a macro that joins names."""
    defined = (found for text in texts if b"##" in text for found in _MACRO.finditer(text))
    macros = {found[1] for found in defined if b"##" in found[2]}
    names = b"|".join((*sorted(macros, key=len)[-_MOST_MACROS:], _OF_GLIB))
    use = re.compile(rb"\b(?:" + names + rb")\s*\(([^()]{1,500})")
    return {
        word.decode()
        for text in texts
        for found in use.finditer(text)
        for word in _WORD.findall(found[1])
        if len(word) >= _LEAST_PASTED_CHARS
    }
