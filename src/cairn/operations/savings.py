"""What agents were shown when they used tools, in the place of what, and what that saved: sums of what was measured."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from cairn.memory.served import TOKENIZER, ServedAnswers
from cairn.memory_settings import MemorySettings
from cairn.operations.whole_text import perform_all
from cairn.protocol.memory_documents import (
    ModelCostDocument,
    SavingsDocument,
    SavingsGroupDocument,
    SavingsRowDocument,
    SavingsSumDocument,
)
from cairn.protocol.memory_requests import SavingsRequest
from cairn.storage.memory import chat_db
from cairn.storage.memory.served_db import ServedTotal
from cairn.types import SavingsGroup
from cairn.workspace import Workspace

if TYPE_CHECKING:
    from cairn.index.limits import Progress


def savings(workspace: Workspace, request: SavingsRequest, progress: Progress | None = None) -> SavingsDocument:
    """Return what was shown and saved on each of the last days, by agent and kind."""
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    since = today - timedelta(days=request.days - 1)
    served = ServedAnswers(workspace.memory.store, workspace.memory.sessions)
    totals = served.totals(since.timestamp())
    costs = _costs(workspace, since.timestamp())
    return {
        "tokenizer": TOKENIZER,
        "since": f"{since:%Y-%m-%d}",
        "rows": [_row(total) for total in totals],
        "total": _sum(totals),
        "by": request.by,
        "groups": _groups(totals, costs, request.by),
        "costs": costs,
        "cost": round(sum(row["cost"] for row in costs), 4),
        "price": (workspace.settings.memory or MemorySettings()).chat_price_per_million_tokens,
    }


def _costs(workspace: Workspace, since: float) -> list[ModelCostDocument]:
    store = workspace.memory.store
    if not store.exists:
        return []
    with store.reading() as connection:
        found = chat_db.costs(connection, since)
    return [
        {
            "day": cost.day,
            "agent": cost.agent,
            "kind": "summary",
            "model": cost.model,
            "calls": cost.n_calls,
            "input_tokens": cost.input_tokens,
            "output_tokens": cost.output_tokens,
            "cost": round(cost.cost, 6),
        }
        for cost in found
    ]


def _groups(
    totals: Sequence[ServedTotal], costs: Sequence[ModelCostDocument], by: SavingsGroup
) -> list[SavingsGroupDocument]:
    """Return the sums of each day, the oldest first, or of each agent or kind, the most saved first."""
    own: dict[str, list[ServedTotal]] = defaultdict(list)
    for total in totals:
        own[getattr(total, by)].append(total)
    paid: dict[str, float] = defaultdict(float)
    for cost in costs:
        paid[cost[by]] += cost["cost"]
    groups: list[SavingsGroupDocument] = [
        {"name": name, **_sum(own.get(name, [])), "cost": round(paid.get(name, 0.0), 6)} for name in {*own, *paid}
    ]
    return sorted(groups, key=lambda group: group["name"] if by == "day" else (-group["saved"], group["name"]))


def _row(total: ServedTotal) -> SavingsRowDocument:
    return {
        "day": total.day,
        "agent": total.agent,
        "kind": total.kind,
        "replacing": total.is_replacing,
        **_sum([total]),
    }


def _sum(totals: Sequence[ServedTotal]) -> SavingsSumDocument:
    tokens = sum(total.tokens for total in totals)
    replaced_tokens = sum(total.replaced_tokens for total in totals)
    followup_tokens = sum(total.followup_tokens for total in totals)
    return {
        "answers": sum(total.n_answers for total in totals),
        "tokens": tokens,
        "replaced_tokens": replaced_tokens,
        "followups": sum(total.n_followups for total in totals),
        "followup_tokens": followup_tokens,
        "saved": replaced_tokens - tokens - followup_tokens,
    }


PERFORM = perform_all({"savings": savings})
