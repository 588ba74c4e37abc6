"""What Cairn's answers saved and what they cost: measured, never assumed."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup
from starlette.responses import Response

from cairn.dashboard.charts import Bar, bars, daily
from cairn.dashboard.visit import Visit

_DAYS, _MOST_DAYS = 30, 365
_BY = ("day", "agent", "kind")
_COLUMNS = (
    "day", "agent", "kind", "replacing", "answers", "tokens", "replaced_tokens", "followups", "followup_tokens",
    "saved", "model", "calls", "input_tokens", "output_tokens", "cost",
)  # fmt: skip


async def show(visit: Visit) -> Response:
    """Show what was saved, and what models cost, by day, agent and kind."""
    days = max(1, visit.number("days", _DAYS, _MOST_DAYS))
    by = visit.query.get("by", "day")
    by = by if by in _BY else "day"
    savings = await visit.ask("savings", days=days, by=by)
    return visit.page(
        "savings.html",
        savings=savings,
        chart=_chart(savings, "saved", f"Tokens saved by {by}, net", "tokens"),
        costs=_chart(savings, "cost", f"Cost of models by {by}", "$") if savings["cost"] else "",
        days=days,
        by=by,
        groups=_BY,
    )


def _chart(savings: Mapping[str, Any], field: str, title: str, unit: str) -> Markup:
    values = [(group["name"] or "unknown", group[field]) for group in savings["groups"]]
    if savings["by"] == "day":
        return daily(savings["since"], values, title, unit)
    return bars([Bar(name, value) for name, value in values], title, unit)


async def download(visit: Visit) -> Response:
    """Return the rows as CSV: first savings, then the cost of models."""
    days = max(1, visit.number("days", _DAYS, _MOST_DAYS))
    savings = await visit.ask("savings", days=days)
    stream = io.StringIO()
    writer = csv.DictWriter(stream, _COLUMNS, restval="", extrasaction="ignore")
    writer.writeheader()
    for row in [*savings["rows"], *savings["costs"]]:
        writer.writerow({name: _plain(value) for name, value in row.items()})
    headers = {"Content-Disposition": "attachment; filename=savings.csv"}
    return Response(stream.getvalue(), media_type="text/csv", headers=headers)


def _plain(value: object) -> object:
    """Return a value that no spreadsheet treats as a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value
