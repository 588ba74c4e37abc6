"""Makes a moment fit to be kept: without secrets, dated, and with paths as the project calls them."""

from __future__ import annotations

import os
from pathlib import Path

from cairn.memory.identity import name_to_keep, session_to_keep
from cairn.memory.ids import new_id
from cairn.memory.moments import Moment, ToolCall
from cairn.memory.redaction import redact

_PATH_TOOLS = ("read", "edit", "write", "delete", "list")


def fit_to_keep(moment: Moment, root: Path, now: float) -> Moment:
    """Return a moment whose texts hold no secrets; doing it again changes nothing.

    Args:
        moment: as an agent reported it.
        root: of the project; paths below it become relative.
        now: the time, in seconds since the epoch; that of a moment without one, or with one in the future.
    """
    return moment._replace(
        id=moment.id or new_id(now),
        session=session_to_keep(moment.session),
        agent=name_to_keep(moment.agent),
        seconds=moment.seconds if 0 < moment.seconds <= now else now,
        text=redact(moment.text).text,
        call=None if moment.call is None else _fit_call(moment.call, root),
        details={redact(name).text: redact(value).text for name, value in moment.details.items()},
    )


def _fit_call(call: ToolCall, root: Path) -> ToolCall:
    target = call.target
    if call.tool in _PATH_TOOLS and os.path.isabs(target):
        target = _relative(target, str(root))
    return call._replace(name=redact(call.name).text, target=redact(target).text, output=redact(call.output).text)


def _relative(path: str, root: str) -> str:
    path = os.path.normpath(path)
    for folder in (root, os.path.realpath(root)):
        if path.startswith(folder + os.sep):
            return path[len(folder) + 1 :].replace(os.sep, "/")
    return path
