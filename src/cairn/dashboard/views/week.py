"""The last seven days at a glance: what agents did, what they learned, what it saved, and what may be false by now."""

from __future__ import annotations

from starlette.responses import Response

from cairn.dashboard.charts import daily
from cairn.dashboard.views.done import say_done
from cairn.dashboard.visit import Visit

_DAYS = 7
_MOST = 500


async def show(visit: Visit) -> Response:
    """Show the week of a project."""
    since = f"{_DAYS}d"
    sessions = await visit.ask("sessions", since=since, limit=_MOST)
    learned = await visit.ask("memories", since=since, limit=8)
    active = await visit.ask("memories", statuses=("active",), limit=1)
    savings = await visit.ask("savings", days=_DAYS)
    doubtful = await visit.ask("memories/doubtful", limit=1)
    asked = await visit.ask("feedback", since=since, limit=6, empty=True)
    rows = sessions["sessions"]
    saved = ((row["day"], row["saved"]) for row in savings["rows"])
    return visit.page(
        "week.html",
        sessions=sessions,
        agents=sorted({row["agent"] for row in rows if row["agent"]}),
        failures=[row for row in rows if row["failures"]][:8],
        n_failures=sum(row["failures"] for row in rows),
        learned=learned,
        active=active["total"],
        undone=say_done(visit),
        doubtful=doubtful,
        asked=asked,
        savings=savings,
        chart=daily(savings["since"], saved, "Tokens saved on each day, net", "tokens"),
    )
