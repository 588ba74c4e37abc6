"""Bar charts as SVG, with the same figures as text for screen readers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from markupsafe import Markup

from cairn.dashboard.rendering import spelled

_HEIGHT, _BOTTOM, _TOP = 180, 24, 20  # in pixels
_MOST_LABELS = 8
_GAP = 0.25  # share of its slot that a bar fills


class Bar(NamedTuple):
    """One bar: its label, its height, which may be negative, and a shorter label to print below it."""

    label: str
    value: float
    short: str = ""


def daily(since: str, values: Iterable[tuple[str, float]], title: str, unit: str) -> Markup:
    """Return a bar for each day from `since` until today (UTC), including days without a value; none if all are."""
    sums = dict(values)
    first, last = date.fromisoformat(since), datetime.now(UTC).date()
    days = [(first + timedelta(days=number)).isoformat() for number in range((last - first).days + 1)]
    return bars([Bar(day, sums.get(day, 0), day[5:]) for day in days], title, unit) if sums else Markup("")


def bars(values: Sequence[Bar], title: str, unit: str) -> Markup:
    """Return bars side by side; empty for no values.

    Horizontal positions are shares of the width and the height is fixed, so that text has the same size on any screen.
    """
    if not values:
        return Markup("")
    most, least = max(0.0, *(bar.value for bar in values)), min(0.0, *(bar.value for bar in values))
    scale = (_HEIGHT - _BOTTOM - _TOP) / ((most - least) or 1.0)
    width = 100 / len(values)
    zero = _TOP + most * scale
    parts = [Markup('<line class="axis" x1="0" x2="100%" y1="{0:.1f}" y2="{0:.1f}"/>').format(zero)]
    levels = [value for value in (most, least) if value]
    parts += [_level(_TOP + (most - value) * scale, _amount(value, unit), is_above=value > 0) for value in levels]
    step = -(-len(values) // _MOST_LABELS)
    for place, bar in enumerate(values):
        left, height = (place + _GAP / 2) * width, abs(bar.value) * scale
        said = f"{bar.label}: {_amount(bar.value, unit)}{_after(unit)}"
        parts.append(
            Markup(
                '<rect class="{}" x="{:.2f}%" y="{:.1f}" width="{:.2f}%" height="{:.1f}"><title>{}</title></rect>'
            ).format(
                "bar" if bar.value >= 0 else "bar-2",
                left,
                zero - max(bar.value, 0) * scale,
                width * (1 - _GAP),
                height,
                said,
            )
        )
        if place % step == 0:
            parts.append(
                Markup('<text class="{}" x="{:.2f}%" y="{}">{}</text>').format(
                    "under minor" if place // step % 2 else "under",
                    left + width * (1 - _GAP) / 2,
                    _HEIGHT - 6,
                    bar.short or bar.label,
                )
            )
    head = Markup('<svg class="chart" width="100%" height="{}" role="img" aria-label="{}"><title>{}</title>').format(
        _HEIGHT, title, title
    )
    return spelled(head + Markup("").join(parts) + Markup("</svg>"))


def _level(y: float, label: str, *, is_above: bool) -> Markup:
    """Return a horizontal grid line with its label."""
    line = Markup('<line class="level" x1="0" x2="100%" y1="{0:.1f}" y2="{0:.1f}"/><text x="0" y="{1:.1f}">{2}</text>')
    return line.format(y, y - 5 if is_above else y + 14, label)


def _amount(value: float, unit: str) -> str:
    return f"${value:,.4g}" if unit == "$" else f"{value:,.0f}"


def _after(unit: str) -> str:
    return "" if unit == "$" else f" {unit}"
