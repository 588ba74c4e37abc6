"""The format in which the hook program hands over an event: a few fields, and the agent's payload unchanged.

    cairn-hook 1 NUL id NUL agent NUL event NUL seconds NUL folder NUL size NUL NAME=value NUL … NUL NUL payload

`size` is the payload's, in bytes. A missing payload was too large for the hook program; one with another size was cut
off, along with the rest of the event. The hook program writes this by hand; see `cairn.hooks.entry`.
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
    """An event as handed over by the hook program.

    Attributes:
        report: everything but the payload, which is empty there.
        payload: as sent by the agent.
    """

    report: Report
    payload: bytes


def open_envelope(content: bytes) -> Envelope:
    """Unpack an envelope.

    Raises:
        RequestError: if it is not an envelope, or incomplete.
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
    """Return the fields up to the empty one after the variables, and the offset of the payload."""
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
    """Parse the payload; an empty one is an empty object.

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
