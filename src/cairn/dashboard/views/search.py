"""One search over code, memories and sessions, in one list, with a preview of the selected hit."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.responses import Response

from cairn import fields
from cairn.config import load_settings
from cairn.dashboard.editors import editor_address
from cairn.dashboard.highlighting import highlight
from cairn.dashboard.visit import Visit, ask_or_say
from cairn.errors import CairnError, StoreError

_LIMIT, _MOST = 20, 500  # hits on a page
_STEP = 5  # times as many are shown on request
_SESSIONS = 5
_CENTRAL = "main entry point that starts the program"
_CALLED = ("function", "method", "class")
_ANY = ('"TODO"', r"TODO\(\w+\)")
_NOTHING: Mapping[str, Any] = {"code": [], "memory": [], "omitted": 0}
_OK = 200
_OF_SESSION = "session:"  # prefix of the id of a selected session


async def find(visit: Visit) -> Response:
    """Answer a question; without one, show example questions."""
    query = visit.query.get("q", "").strip()
    if not query:
        return visit.page("search.html", found=None, examples=await _examples(visit))
    filters: dict[str, object] = {
        "languages": tuple(visit.several("lang")),
        "globs": tuple(visit.several("in")),
        "kinds": tuple(visit.several("kind")),
        "explain": bool(visit.query.get("explain")),
    }
    limit = max(_LIMIT, visit.number("limit", _LIMIT, _MOST))
    found, status = await ask_or_say(visit, "search", _NOTHING, query=query, limit=limit, **filters)
    results = [] if found is _NOTHING else _in_one_list(found, await _sessions(visit, query))
    chosen = visit.query.get("id") or (results[0]["id"] if results else "")
    return visit.page(
        "search.html",
        status,
        query=query,
        found=found,
        results=results,
        more=min(_STEP * limit, _MOST) if limit < _MOST else 0,
        is_understood=status == _OK,
        chosen=chosen,
        preview=await _preview(visit, chosen) if chosen else None,
        kinds=sorted({hit["kind"] for hit in found["code"]}),
    )


async def _examples(visit: Visit) -> list[str]:
    """Return example questions about this project's definitions, or general ones if these are unknown."""
    try:
        found = (await visit.ask("search", query=_CENTRAL, limit=_LIMIT, build=False))["code"]
    except CairnError as error:
        if not visit.projects:
            raise
        visit.note(str(error), is_error=True, hint=str(error.hint))
        return []
    names = dict.fromkeys(hit["name"].rpartition(".")[2] for hit in found if hit["kind"] in _CALLED)
    if not names:
        return list(_ANY)
    first, *others = names
    words = " ".join(re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+", others[0] if others else first)).lower()
    return [f"how does {words} work", f"callers of {first}", *others[1:2], f'"{first}"', rf"{first}\w*\("]


async def _sessions(visit: Visit, query: str) -> Sequence[Mapping[str, Any]]:
    """Return sessions that touched a file, or with a matching prompt."""
    is_file = "/" in query and len(query.split()) == 1
    name, rule = ("file", fields.SESSION_FILE) if is_file else ("text", fields.SESSION_TEXT)
    about = {name: query[: rule.max_length]}  # no path is longer, and only the first words of a text count
    try:
        sessions: list[Mapping[str, Any]] = (await visit.ask("sessions", **about, limit=_SESSIONS))["sessions"]
    except StoreError as error:  # the code is found anyway
        visit.note(str(error), is_error=True, hint=str(error.hint))
        return []
    return sessions


def _in_one_list(found: Mapping[str, Any], sessions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return code and memories by relevance, then sessions."""
    hits = [{"what": "code", **hit} for hit in found["code"]] + [{"what": "memory", **hit} for hit in found["memory"]]
    hits.sort(key=lambda hit: -hit.get("relevance", 0.0))
    return hits + [{"what": "session", **session, "id": f"{_OF_SESSION}{session['id']}"} for session in sessions]


async def _preview(visit: Visit, id: str) -> dict[str, Any] | None:
    try:
        if id.startswith(_OF_SESSION):
            (session,) = await visit.ask("sessions/show", ids=(id.removeprefix(_OF_SESSION),), max_tokens=4_000)
            return {"what": "session", **session}
        if id.startswith("m_"):
            (memory,) = await visit.ask("memories/show", ids=(id,))
            return {"what": "memory", **memory}
        (piece,) = await visit.ask("fetch", ids=(id,), max_tokens=4_000)
    except CairnError as error:
        visit.note(str(error), is_error=True, hint=str(error.hint))
        return None
    return await asyncio.to_thread(_shown, visit, piece)


def _shown(visit: Visit, piece: Mapping[str, Any]) -> dict[str, Any]:
    """Return a highlighted piece of code with a link to the editor."""
    return {
        "what": "code",
        **piece,
        "code": highlight(piece["text"], piece["language"]),
        "editor": link_to_editor(visit, piece["filepath"], piece["start_line"]),
    }


def link_to_editor(visit: Visit, path: str, line: int) -> str:
    """Return the URL with which the user's editor opens a line, empty if they want none."""
    return editor_address(load_settings(visit.root).editor, visit.root / path, line)
