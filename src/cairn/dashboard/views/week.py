"""The last seven days at a glance: what agents did and learned, what was saved, and what may have become false."""

from __future__ import annotations

import time
from typing import Any

from starlette.responses import Response

from cairn.dashboard.charts import daily
from cairn.dashboard.visit import Visit

_DAYS = 7
_DAY_SECONDS = 86_400
_ROWS = 8


async def show(visit: Visit) -> Response:
    """Show the week of a project."""
    savings = await visit.ask("savings", days=_DAYS)
    since = savings["since"]  # the same day for all figures, so that the chart adds up to the totals above it
    found = await visit.ask_each(
        sessions=("sessions", {"since": since, "limit": 1}),
        failures=("sessions/failures", {"since": since, "limit": _ROWS}),
        learned=("memories", {"since": since, "limit": _ROWS}),
        active=("memories", {"statuses": ("active",), "limit": 1}),
        doubtful=("memories/doubtful", {"limit": 1}),
        asked=("feedback", {"since": since, "limit": 6, "empty": True}),
    )
    agents = await visit.agents()
    return visit.page(
        "week.html",
        **found,
        since=since,
        savings=savings,
        agents=agents,
        silent=[agent for agent in agents if not _is_heard(agent)],
        chart=daily(
            savings["since"],
            ((group["name"], group["saved"]) for group in savings["groups"]),
            "Tokens saved on each day, net",
            "tokens",
        ),
    )


def _is_heard(agent: dict[str, Any]) -> bool:
    """Tell whether an agent reported anything this week."""
    return bool(agent["heard"] >= time.time() - _DAYS * _DAY_SECONDS)
