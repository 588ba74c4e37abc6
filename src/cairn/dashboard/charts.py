"""Bars as SVG, with the same figures as text for those who do not see them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from markupsafe import Markup

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 1120, 180, 64, 24, 8
_MOST_LABELS = 8
_GAP = 0.25  # of a bar's place


class Bar(NamedTuple):
    """One bar: what it stands for, its height, which may be below 0, and what stands under it if that is shorter."""

    label: str
    value: float
    short: str = ""


def daily(since: str, values: Iterable[tuple[str, float]], title: str, unit: str) -> Markup:
    """Return a bar for each day from `since` on until today (UTC), of the sum of its values; empty for none."""
    sums: dict[str, float] = {}
    for day, value in values:
        sums[day] = sums.get(day, 0) + value
    first, last = date.fromisoformat(since), datetime.now(UTC).date()
    days = [(first + timedelta(days=number)).isoformat() for number in range((last - first).days + 1)]
    return bars([Bar(day, sums.get(day, 0), day[5:]) for day in days], title, unit) if sums else Markup("")


def bars(values: Sequence[Bar], title: str, unit: str) -> Markup:
    """Return bars side by side; empty for no values."""
    if not values:
        return Markup("")
    most, least = max(0.0, *(bar.value for bar in values)), min(0.0, *(bar.value for bar in values))
    span = (most - least) or 1.0
    height, width = _HEIGHT - _BOTTOM - _TOP, (_WIDTH - _LEFT) / len(values)

    def y_of(value: float) -> float:
        return _TOP + (most - value) / span * height

    parts = [
        Markup('<line class="axis" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>').format(_LEFT, _WIDTH, y_of(0), y_of(0))
    ]
    for value in dict.fromkeys((most, least)):
        label = _amount(value, unit)
        parts.append(
            Markup('<text x="{}" y="{:.1f}" text-anchor="end">{}</text>').format(_LEFT - 4, y_of(value) + 4, label)
        )
    step = -(-len(values) // _MOST_LABELS)
    for place, bar in enumerate(values):
        x, top = _LEFT + (place + _GAP / 2) * width, min(y_of(bar.value), y_of(0))
        said = f"{bar.label}: {_amount(bar.value, unit)}{_after(unit)}"
        parts.append(
            Markup(
                '<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"><title>{}</title></rect>'
            ).format(
                "bar" if bar.value >= 0 else "bar-2", x, top, width * (1 - _GAP), abs(y_of(bar.value) - y_of(0)), said
            )
        )
        if place % step == 0:
            middle = x + width * (1 - _GAP) / 2
            parts.append(
                Markup('<text x="{:.1f}" y="{}" text-anchor="middle">{}</text>').format(
                    middle, _HEIGHT - 6, bar.short or bar.label
                )
            )
    head = Markup('<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}"><title>{}</title>').format(
        _WIDTH, _HEIGHT, title, title
    )
    return head + Markup("").join(parts) + Markup("</svg>")


def _amount(value: float, unit: str) -> str:
    return f"${value:,.4g}" if unit == "$" else f"{value:,.0f}"


def _after(unit: str) -> str:
    return "" if unit == "$" else f" {unit}"
