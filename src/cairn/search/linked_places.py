"""Reads the lines to which links lead: of repositories on the web, of code search, and of editors."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import unquote

_MAX_CHARS = 2_000  # of a link
_LINK = re.compile(rf"\b[a-z][a-z+.-]{{1,20}}://[^\s<>\"'`)\]|]{{1,{_MAX_CHARS}}}")
_LINE = r"([1-9]\d{0,6})(?!\d)"
_FILE = r"\.[A-Za-z]\w{0,9}"  # how its path ends
# `cart.py#L7`, with or without a query before it, `#lines-7` and `#7` of Bitbucket, `?L7` of Sourcegraph, `;l=7` of
# Google.
_BEHIND_PATH = re.compile(
    rf"(?:https?:(//[^/?#:]+)(?::\d+)?|[^:]+://[^/?#]*)(/[^?#;]*{_FILE})(?:(?:\?[^#]*)?#(?:L|lines-)?|\?L|;l=){_LINE}"
)
# `?path=/src/cart.py&line=7` of Azure and of editors, `&path=src/cart.py:7` of JetBrains' Toolbox.
_IN_QUERY = re.compile(rf"[?&](?:path|file|url)=(?:file:)?([^&#]*{_FILE})(?=$|[&#:])")
_LINE_IN_QUERY = re.compile(rf"(?:&line=|\w:){_LINE}")
# The name of a repository, before what GitHub, GitLab, Gitea and Bitbucket have between it and the path of a file.
_OF_REPOSITORY = re.compile(
    r"//bitbucket\.org/[^/]+/([^/]+)/src/"
    r"|//[^/.]+\.[^/]+/(?:[^/]+/)+?([^/]+)/(?:(?:-/)?(?:blob|blame|raw)|browse|src/(?:branch|commit|tag))/"
)


def with_places(text: str) -> str:
    """Return a text in which each link to a line is a place, `PATH:LINE`.

    The host, `//HOST/`, the owner and the name of a repository, the branch and the commit stay in the path.
    """
    if "://" not in text:
        return text
    return "\n".join([_LINK.sub(_place, line) if "://" in line else line for line in text.split("\n")])


def is_elsewhere(path: str, own: Callable[[], str]) -> bool:
    """Tell whether the path of a place is that of a link into another repository; a fork has the same name.

    Args:
        path: as in `with_places`.
        own: returns the name of the project's own repository, empty where that is not known.
    """
    linked = _OF_REPOSITORY.match(path)
    return linked is not None and own().lower() not in ("", (linked[1] or linked[2]).lower())


def _place(match: re.Match[str]) -> str:
    link = unquote(match[0])
    if behind := _BEHIND_PATH.match(link):
        path = behind[2].rpartition(":")[2]
        return f"{(behind[1] or '') if path == behind[2] else ''}{path}:{behind[3]}"
    inside = _IN_QUERY.search(link)
    line = _LINE_IN_QUERY.search(link, inside.end() - 1) if inside else None
    return f"{inside[1]}:{line[1]}" if inside and line else match[0]
