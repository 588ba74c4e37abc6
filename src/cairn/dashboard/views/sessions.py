"""Sessions: what agents were asked, did, were shown and learned."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from cairn.dashboard.news import news_of
from cairn.dashboard.remarks import Remark
from cairn.dashboard.visit import Visit, ask_for_list
from cairn.hooks.agents import adapter_of
from cairn.install.examine import told_agents

PAGE = 25
_OK = 200
_MOST_QUESTIONS = 50
_SAID = {"good": "Noted: that helped.", "bad": "Noted: that did not help."}
_FILTERS = ("agent", "branch", "file", "since")


async def browse(visit: Visit) -> Response:
    """List sessions, most recently active first."""
    fields = {name: visit.query.get(name, "").strip() for name in _FILTERS}
    found, offset, status = await ask_for_list(visit, "sessions", "sessions", PAGE, **fields)
    news = news_of(visit, found["total"], found["sessions"])
    if news.is_asked:
        return visit.page("news.html", news=news)
    silent = [] if found["total"] or any(fields.values()) else await _never_heard(visit)
    return visit.page(
        "sessions.html",
        status,
        found=found,
        is_understood=status == _OK,
        news=news,
        offset=offset,
        page=PAGE,
        fields=fields,
        silent=silent,
    )


async def _never_heard(visit: Visit) -> list[str]:
    """Return the agents that have Cairn installed but never reported anything here."""
    heard = {agent["agent"] for agent in await visit.agents()}
    told = await asyncio.to_thread(told_agents, visit.root)
    return [adapter_of(name).title for name in told if name not in heard]


async def show(visit: Visit) -> Response:
    """Show one session in full."""
    (session,) = await visit.ask("sessions/show", ids=(visit.request.path_params["id"],))
    asked = await visit.ask("feedback", session=session["id"], limit=_MOST_QUESTIONS)
    first, *others = _by_prompt(session)
    return visit.page(
        "session.html",
        session=session,
        questions=asked["questions"][::-1],
        shown_first=first,
        prompts=list(zip(session["batches"], others, strict=True)),
    )


def _by_prompt(session: Mapping[str, Any]) -> list[list[Mapping[str, Any]]]:
    """Return what a session was shown before its first prompt, and then after each prompt, in order."""
    starts = [batch["started"] for batch in session["batches"]]
    shown: list[list[Mapping[str, Any]]] = [[] for _ in (None, *starts)]
    for row in session["shown"]:
        shown[bisect_right(starts, row["time"])].append(row)
    return shown


async def mark(visit: Visit) -> Response:
    """Record that something shown in a session was good or bad."""
    form = await visit.form()
    session, verdict, id = (form.get(name, [""])[-1] for name in ("session", "verdict", "id"))
    await visit.ask("feedback/mark", ids=(id,), verdict=verdict, session=session)
    return visit.back(f"/sessions/{session}", Remark(_SAID[verdict]))
