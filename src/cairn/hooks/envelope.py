"""What the hook program hands over: a few fields, and the agent's payload as it came.

    cairn-hook 1 NUL id NUL agent NUL event NUL seconds NUL folder NUL size NUL NAME=value NUL … NUL NUL payload

`size` is that of the payload in bytes. A payload that is missing was larger than the hook program takes; one of another
size was cut off, and so was the rest of the event. The hook program writes this by hand, see `cairn.hooks.entry`.
"""

from __future__ import annotations

import json
import math
import os
from typing import Any, NamedTuple

from cairn.errors import RequestError
from cairn.hooks.report import Report

MAGIC = b"cairn-hook 1"
_N_FIELDS = 6
_MAX_FIELDS, _MAX_FIELD_BYTES = 100, 100_000
_MAX_ID_CHARS = 200
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_HINT = "docs/http-api.md describes an event"


class Envelope(NamedTuple):
    """An event as the hook program handed it over.

    Attributes:
        report: all but the payload, which is empty there.
        payload: the bytes that the agent sent.
    """

    report: Report
    payload: bytes


def open_envelope(content: bytes) -> Envelope:
    """Return what is in an envelope.

    Raises:
        RequestError: if it is none, or not a whole one.
    """
    fields, start = _fields_of(content)
    if fields[0] != MAGIC:
        raise RequestError("this is not an event of the hook program", _HINT)
    payload = content[start:]
    id, agent, event, seconds, folder, size = (os.fsdecode(field) for field in fields[1 : _N_FIELDS + 1])
    if not size.isdecimal() or (payload and int(size) != len(payload)):
        raise RequestError("the event is cut off", _HINT)
    if not 0 < len(id) <= _MAX_ID_CHARS:
        raise RequestError("the event has no id", _HINT)
    variables = (os.fsdecode(field).partition("=") for field in fields[_N_FIELDS + 1 :])
    environment = {name: value for name, _, value in variables}
    return Envelope(Report(id, agent, event, _seconds_of(seconds), folder, environment, {}), payload)


def _fields_of(content: bytes) -> tuple[list[bytes], int]:
    """Return the fields up to the empty one behind the variables, and where the payload begins."""
    fields: list[bytes] = []
    start = 0
    while (end := content.find(b"\0", start, start + _MAX_FIELD_BYTES)) >= 0 and len(fields) < _MAX_FIELDS:
        field = content[start:end]
        start = end + 1
        if not field and len(fields) > _N_FIELDS:
            return fields, start
        fields.append(field)
    raise RequestError("this is not an event of the hook program, or it is cut off", _HINT)


def read_payload(payload: bytes) -> dict[str, Any]:
    """Return the payload; an empty one is an empty object.

    Raises:
        RequestError: if it is not a JSON object in UTF-8.
    """
    if not payload.strip():
        return {}
    try:
        document = json.loads(payload.removeprefix(_BYTE_ORDER_MARK).decode("utf-8"))
    except UnicodeDecodeError as error:
        raise RequestError("the payload is not UTF-8", _HINT) from error
    except (ValueError, RecursionError) as error:
        raise RequestError("the payload is not JSON", _HINT) from error
    if not isinstance(document, dict):
        raise RequestError("the payload is not an object", _HINT)
    return document


def _seconds_of(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not math.isfinite(seconds):
        raise RequestError("the time of the event is not a number", _HINT)
    return seconds
