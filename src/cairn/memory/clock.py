"""A hybrid logical clock: times that follow the machine's clock, as texts that sort as they do.

After Kulkarni et al., "Logical Physical Clocks" (2014): what is said of a memory is later than all that was known to be
said of it, even where the clock of the machine that said it is ahead. Other memories do not matter to it, so that a
clock that was wrong once does no harm to them.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime

from cairn.errors import EventError

MAX_AHEAD_SECONDS = 86_400  # a clock further ahead than a day is wrong, and would win over all edits until then
_MAX_COUNT = 0xFFFF
_FORM = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z-[0-9a-f]{4}")


def is_time(text: str) -> bool:
    """Tell whether a text is a time of this clock, such as `2026-01-31T23:59:59.000Z-0000`."""
    if _FORM.fullmatch(text) is None:
        return False
    try:
        seconds_of(text)
    except ValueError:  # the 31st of February
        return False
    return True


def seconds_of(text: str) -> float:
    """Return a time in seconds since the epoch.

    Raises:
        ValueError: if it is not a date.
    """
    return datetime.fromisoformat(text[:24]).timestamp()


def text_of(milliseconds: int, count: int = 0) -> str:
    """Return a time, in milliseconds since the epoch and a count within them, as text."""
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{milliseconds % 1000:03d}Z-{count:04x}"


class HybridClock:
    """Gives each event a time after those that it must follow.

    Args:
        now: the machine's clock, in seconds since the epoch.
    """

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now

    def tick(self, after: str = "") -> str:
        """Return a time for a new event.

        Args:
            after: the latest time that this must follow; empty for none.
        """
        text = text_of(int(self._now() * 1000))
        return text if text > after else _next(after)

    def latest_allowed(self) -> str:
        """Return the latest time that `check` lets pass."""
        return text_of(int((self._now() + MAX_AHEAD_SECONDS) * 1000), _MAX_COUNT)

    def check(self, text: str) -> None:
        """Refuse a time that no clock of a working machine shows yet.

        Raises:
            EventError: if it is more than a day ahead.
        """
        ahead = seconds_of(text) - self._now()
        if ahead > MAX_AHEAD_SECONDS:
            raise EventError(
                f"an event is dated {text[:10]}, {ahead / 86_400:.0f} days ahead of this machine's clock; "
                "nothing was taken over",
                "set the clock of this machine, or of the one that wrote it",
            )


def _next(text: str) -> str:
    count = int(text[-4:], 16) + 1
    if count <= _MAX_COUNT:
        return f"{text[:-4]}{count:04x}"
    return text_of(round(seconds_of(text) * 1000) + 1)
