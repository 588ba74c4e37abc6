"""What agents did: sessions, and what was asked, done, shown and learned in each."""

from __future__ import annotations

from starlette.responses import Response

from cairn.dashboard.visit import Visit

PAGE = 25
_MOST_QUESTIONS = 50
_SAID = {"good": "Noted: that helped.", "bad": "Noted: that did not help."}
_FILTERS = ("agent", "branch", "file", "since")


async def browse(visit: Visit) -> Response:
    """List sessions, the last heard of first."""
    offset = visit.number("offset", 0)
    fields = {name: visit.query.get(name, "").strip() for name in _FILTERS}
    found = await visit.ask("sessions", **fields, limit=PAGE, offset=offset)
    return visit.page("sessions.html", found=found, offset=offset, page=PAGE, fields=fields)


async def show(visit: Visit) -> Response:
    """Show one session whole."""
    (session,) = await visit.ask("sessions/show", ids=(visit.request.path_params["id"],))
    asked = await visit.ask("feedback", session=session["id"], limit=_MOST_QUESTIONS)
    if (verdict := visit.query.get("marked", "")) in _SAID:
        visit.note(_SAID[verdict])
    return visit.page("session.html", session=session, questions=asked["questions"][::-1])


async def mark(visit: Visit) -> Response:
    """Keep that something which a session was shown was good or bad."""
    form = await visit.form()
    session, verdict, id = (form.get(name, [""])[-1] for name in ("session", "verdict", "id"))
    await visit.ask("feedback/mark", ids=(id,), verdict=verdict, session=session)
    return visit.back(f"/sessions/{session}", marked=verdict)
