"""Tells an open page what has happened to a list since it was loaded, so that it can offer to show that."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from cairn.dashboard.visit import Visit
from cairn.digest import blake2b

_DIGEST_BYTES = 8


class News(NamedTuple):
    """What an open page says above a list.

    Attributes:
        seen: the state of the list when it was loaded, to send with the next request.
        offer: what there is to show, empty if the list is unchanged.
        is_asked: whether the browser asks for nothing else.
        loss: what to say if there is nothing left to show.
    """

    seen: str
    offer: str
    is_asked: bool
    loss: str = ""


def asks_for_news(visit: Visit) -> bool:
    """Tell whether an open page only asks for what is new since it was loaded."""
    return bool(visit.query.get("seen")) and visit.request.headers.get("hx-request") is not None


def news_of(visit: Visit, total: int, rows: Sequence[object]) -> News:
    """Return what is new in a list.

    Args:
        visit: of a page with the list.
        total: its number of rows.
        rows: the displayed rows, as JSON.
    """
    digest = blake2b(json.dumps(rows, sort_keys=True).encode("ascii"), digest_size=_DIGEST_BYTES).hexdigest()
    seen, now = visit.query.get("seen", ""), f"{total}-{digest}"
    if not asks_for_news(visit):
        return News(now, "", is_asked=False)
    before = seen.partition("-")[0]
    n_new = total - int(before) if before.isascii() and before.isdigit() and len(before) < 12 else 0
    offer = "" if seen == now else f"Show {n_new:,} new" if n_new > 0 else "Show what changed"
    return News(seen, offer, is_asked=True)
