"""What a request means by a day, by so long ago, and by a file or a folder."""

from __future__ import annotations

import os
import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from cairn.errors import RequestError
from cairn.memory.targets import target_below

_DAY, _AGO = re.compile(r"\d{4}-\d\d-\d\d"), re.compile(r"(\d{1,4})([hdw])")
_HOURS = {"h": 1, "d": 24, "w": 168}
_LAST_DAY = date(9998, 12, 31)


def start_of(text: str) -> str:
    """Return the beginning of a time of the clock, for a day or for so long ago; empty for no text.

    Raises:
        RequestError: if it is neither.
    """
    return _day_of(text).isoformat() if _DAY.fullmatch(text) else _ago(text)


def end_of(text: str) -> str:
    """Return the beginning of the first time that is too late, a day counting as a whole; empty for no text.

    Raises:
        RequestError: as `start_of`.
    """
    return (_day_of(text) + timedelta(days=1)).isoformat() if _DAY.fullmatch(text) else _ago(text)


def _day_of(text: str) -> date:
    try:
        return min(date.fromisoformat(text), _LAST_DAY)
    except ValueError as error:  # the 31st of February
        raise _no_time(text) from error


def _ago(text: str) -> str:
    if not text:
        return ""
    if (ago := _AGO.fullmatch(text)) is None:
        raise _no_time(text)
    return (datetime.now(UTC) - timedelta(hours=int(ago[1]) * _HOURS[ago[2]])).isoformat(timespec="seconds")[:19]


def _no_time(text: str) -> RequestError:
    return RequestError(f"{text!r} is not a date", "give a day as 2026-01-31, or how long ago as 12h, 7d or 4w")


def folder_or_file(root: Path, file: str) -> str:
    """Return a path as the memory has it; that of a folder ends with a slash, and the root is empty."""
    if not file:
        return ""
    path = target_below(root, file).path
    if path == ".":
        return ""
    is_folder = file.endswith("/") or os.path.isdir(root / path)
    return f"{path}/" if is_folder else path
