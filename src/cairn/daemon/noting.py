"""Notes what was asked once it is answered, so that no answer waits for it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from typing import Any

from cairn.daemon.state import Daemon
from cairn.errors import CairnError
from cairn.operations.asked import note_question

_NOTING: set[asyncio.Task[None]] = set()  # nobody waits for these, and a loop keeps weak references alone


def note_later(daemon: Daemon, request: Any, document: Any) -> None:  # noqa: ANN401 - as for `note_question`
    """Have a question of one project noted, beside what the daemon does next."""
    task = asyncio.create_task(_note(daemon, request, document))
    _NOTING.add(task)
    task.add_done_callback(_NOTING.discard)


async def _note(daemon: Daemon, request: Any, document: Any) -> None:  # noqa: ANN401 - as above
    with suppress(CairnError):
        await daemon.projects.run_at_once(request.project, partial(note_question, request=request, document=document))
