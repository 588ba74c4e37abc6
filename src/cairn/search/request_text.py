"""Reads requests in texts: what logs, browsers, shells and people say of what was asked of a server."""

from __future__ import annotations

import re
from typing import NamedTuple

METHODS = "GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS"
_ALL_METHODS = METHODS.split("|")
_MAX_REQUESTS, _MAX_SEGMENTS = 3, 12

_PATH = r"(/[^\s\"'`?#<>()|]{0,500})"
# What a log, a browser or somebody says: a method and a path or an address. A method begins with one set of characters,
# for which `re` looks quickly.
_METHOD = rf"[GPDHO](?<!\w.)(?:{'|'.join(f'(?<={one[0]}){one[1:]}' for one in _ALL_METHODS)})"
_REQUEST = re.compile(rf"({_METHOD})[\]\"']{{0,2}}:?\s{{1,3}}[\"']?(?:https?://[^\s/\"']{{1,200}})?{_PATH}")
# The fields of a log: `method=GET path=/users/12`, `"method": "GET", "url": "/users/12"`.
_FIELDS = re.compile(
    rf"(?i:method)[\"']?[=:] ?[\"']?({METHODS})[\"']?[ ,;]{{1,3}}[\"']?(?i:path|url|uri)[\"']?[=:] ?[\"']?"
    rf"(?:https?://[^\s/\"']{{1,200}})?{_PATH}"
)
# An address in a command; it begins where a word does, so that long ones are read once.
_ADDRESS = re.compile(rf"(?<![\w.:/-])(?:https?://)?[\w-][\w.-]{{0,200}}(?::\d{{1,5}})?{_PATH}")
_CURL_METHOD = re.compile(rf"(?:-X|--request)[ =]?[\"']?({METHODS})\b")
_ADDRESS_ALONE = re.compile(rf"(?:https?://[^\s/\"']{{1,200}})?{_PATH}(?:[?#]\S*)?")
# A short question for a route: `where is /users handled`, `the /users endpoint`, `POST to /users`.
_SAYS_ROUTE = re.compile(
    r"(?i)\b(?:routes?|endpoints?|handle[rsd]?|controllers?|served?|serves|requests?|api|calls?|hits?|url|views?"
    r"|respon(?:ds?|se))\b"
)
_PATH_IN_QUESTION = re.compile(rf"(?<!\S)[\"'`]?{_PATH}[\"'`]?(?=[?,.]?(?:\s|$))")
_METHOD_TO = re.compile(rf"\b({METHODS})(?: requests?)?(?: to| on| for| at)?\s+[\"'`]?/")
_MAX_WORDS = 10
_NUMBER = re.compile(r"\d+")
_STATUS = re.compile(r"[^\n]{0,60}?(?<![\w.:/-])(\d)\d\d(?![\w.:/-])")  # of the answer, behind a request


class RequestLine(NamedTuple):
    """A request: its method, empty if unknown, and the segments of its path."""

    method: str
    segments: tuple[str, ...]


def read_requests(text: str) -> list[RequestLine]:
    """Return the requests that a text says, each once, those first that an error of the server answered.

    A path alone counts if it is all of the text, or if a short question for a route has it.
    """
    if "/" not in text:
        return []
    may_have = any(method in text for method in _ALL_METHODS)
    may_have_fields = may_have and (not text.isascii() or "method" in text.lower())
    patterns = ((_REQUEST, may_have), (_FIELDS, may_have_fields))
    matches = sorted(
        (match for pattern, may_match in patterns if may_match for match in pattern.finditer(text)),
        key=lambda match: _badness(text, match.end()),
        reverse=True,
    )
    found = [(match[1], match[2]) for match in matches]
    if not found and "curl " in text:
        option = _CURL_METHOD.search(text)
        commands = "\n".join([line for line in text.split("\n") if "curl " in line])
        found = [(option[1] if option else "", match[1]) for match in _ADDRESS.finditer(commands)]
    if not found and (alone := _ADDRESS_ALONE.fullmatch(text.strip())) is not None:
        found = [("", alone[1])]
    if not found and text.count(" ") < _MAX_WORDS and "\n" not in text:
        found = _asked_for(text)
    requests: dict[str, RequestLine] = {}  # those that differ in numbers alone are one
    for method, path in found:
        segments = tuple(filter(None, path.rstrip(".,;:").split("/")))
        if (segments or method) and len(segments) <= _MAX_SEGMENTS:
            requests.setdefault(_NUMBER.sub("0", f"{method} {path}"), RequestLine(method, segments))
    by_depth = sorted(requests.values(), key=lambda request: not request.segments)  # that of the first page comes last
    return by_depth[:_MAX_REQUESTS]


def _asked_for(text: str) -> list[tuple[str, str]]:
    """Return the method, empty if unknown, and the path of the one route that a short question is for."""
    paths, method = _PATH_IN_QUESTION.findall(text), _METHOD_TO.search(text)
    is_asked = len(paths) == 1 and (method is not None or _SAYS_ROUTE.search(text) is not None)
    return [(method[1] if method else "", paths[0])] if is_asked else []


def _badness(text: str, end: int) -> int:
    """Return 5 if the request that ends there was answered by an error of the server, 4 by one of the client, or 0."""
    status = _STATUS.match(text, end)
    return int(status[1]) if status and status[1] in "45" else 0
