"""Reads the lines to which links lead: of repositories on the web, of code search, and of editors."""

from __future__ import annotations

import re
from urllib.parse import unquote

_MAX_CHARS = 2_000  # of a link
_LINK = re.compile(rf"\b[a-z][a-z+.-]{{1,20}}://[^\s<>\"'`)\]|]{{1,{_MAX_CHARS}}}")
_LINE = r"([1-9]\d{0,6})(?!\d)"
_FILE = r"\.[A-Za-z]\w{0,9}"  # how its path ends
# `cart.py#L7`, with or without a query before it, `#lines-7` and `#7` of Bitbucket, `?L7` of Sourcegraph, `;l=7` of
# Google.
_BEHIND_PATH = re.compile(rf"[^:]+://[^/?#]*(/[^?#;]*{_FILE})(?:(?:\?[^#]*)?#(?:L|lines-)?|\?L|;l=){_LINE}")
# `?path=/src/cart.py&line=7` of Azure and of editors, `&path=src/cart.py:7` of JetBrains' Toolbox.
_IN_QUERY = re.compile(rf"[?&](?:path|file|url)=(?:file:)?([^&#]*{_FILE})(?=$|[&#:])")
_LINE_IN_QUERY = re.compile(rf"(?:&line=|\w:){_LINE}")


def with_places(text: str) -> str:
    """Return a text in which each link to a line is a place, `PATH:LINE`; owner, branch and commit stay in the path."""
    return _LINK.sub(_place, text) if "://" in text else text


def _place(match: re.Match[str]) -> str:
    link = unquote(match[0])
    if behind := _BEHIND_PATH.match(link):
        return f"{behind[1].rpartition(':')[2]}:{behind[2]}"
    inside = _IN_QUERY.search(link)
    line = _LINE_IN_QUERY.search(link, inside.end() - 1) if inside else None
    return f"{inside[1]}:{line[1]}" if inside and line else match[0]
