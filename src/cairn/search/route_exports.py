"""Finds what handles a request in a file that its folders make a route: what it exports, in whatever framework."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cairn.search.request_text import METHODS
from cairn.search.route_fit import NO_METHOD, OTHER_METHOD, SAME
from cairn.search.route_templates import MAX_LINE

PAGES = (".vue", ".svelte", ".astro", ".mdx")
_EXPORTS = r"\bexport\s+(?:async\s+)?(?:function\b\*?|const|let|var)\s*"
_METHOD = re.compile(rf"\b(?:{METHODS})\b", re.IGNORECASE)
_NAMED = re.compile(rf"{_EXPORTS}(?:onRequest)?({METHODS})\b|\bexport\s*(?:const\s*)?\{{([^}}]*)\}}", re.IGNORECASE)
_MEMBER = re.compile(rf"\s*(?:async\s+)?({METHODS})\s*[:(=]")  # of an object that is exported
# What a line may export that handles requests of several methods.
_READS, _WRITES, _ANY = "reads", "writes", "any"
_KINDS = {
    _READS: re.compile(rf"{_EXPORTS}(?:load|loader|getServerSideProps|getStaticProps)\b"),
    _WRITES: re.compile(rf"{_EXPORTS}actions?\b"),
    _ANY: re.compile(
        r"\bexport\s+default\b|\bmodule\.exports\s*=|\bexports\.handler\b|\bexport\s*\{[^}]*\bdefault\b"
        rf"|{_EXPORTS}(?:handlers?|ALL|onRequest|Route)\b"
    ),
}
_OF_PAGE = 0.01  # how much less a page counts than what loads its data
_SAFE = frozenset({"GET", "HEAD", "OPTIONS", ""})


def handler_in(path: str, lines: Sequence[str], method: str, own_method: str, *, on_server: bool) -> tuple[int, float]:
    """Return the number of the line that handles a request, and how well it does, 0 to 1: 0 if none does.

    Args:
        path: of the file.
        lines: of the file.
        method: of the request, empty if that is not known.
        own_method: the only one that the name of the file lets it handle, empty if it says none.
        on_server: whether it is no page, so that what it exports as a default handles all methods.
    """
    reads = method in _SAFE
    of_page = SAME - _OF_PAGE if reads else OTHER_METHOD
    if path.endswith(PAGES):
        return 1, of_page
    own = _exports_of(lines)
    if not own:
        return 0, 0.0
    if own_method:
        return own.get(_ANY, min(own.values())), (SAME if method in ("", own_method) else OTHER_METHOD)
    for name in (method, "GET") if method == "HEAD" else (method,):
        if name in own:
            return own[name], SAME
    if (data := _READS if reads else _WRITES) in own:
        return own[data], SAME
    if _ANY not in own:
        return min(own.values()), (OTHER_METHOD if method else SAME)
    if not on_server:
        return own[_ANY], of_page
    says = not method or any(f"{quote}{method}" in line for line in lines for quote in "\"'`.")
    return own[_ANY], (SAME if says else NO_METHOD)


def _exports_of(lines: Sequence[str]) -> dict[str, int]:
    """Return the numbers of the lines that export what handles requests, by method or by what they do."""
    found: dict[str, int] = {}
    members: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        if len(line) > MAX_LINE:
            continue
        if "export" not in line:
            if (member := _MEMBER.match(line)) is not None:
                members.setdefault(member[1], number)
            continue
        for name, pattern in _KINDS.items():
            if pattern.search(line):
                found.setdefault(name, number)
        for match in _NAMED.finditer(line):
            for name in _METHOD.findall(match[1] or match[2]):
                found.setdefault(name.upper(), number)
    return members | found if found else found
