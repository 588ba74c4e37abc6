"""Records questions after they are answered, so that no answer waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from cairn.daemon.state import Daemon
from cairn.errors import CairnError
from cairn.loading import load

if TYPE_CHECKING:
    from cairn.workspace import Workspace

# Time to send the answer; the agent's hook that reports the question takes longer to start.
_AFTER_SECONDS = 0.02
_NOTING: set[asyncio.Task[None]] = set()  # keeps the tasks alive, since the event loop only has weak references


def note_later(daemon: Daemon, operation: str, request: Any, document: Any) -> None:  # noqa: ANN401 - as for `note_answer`
    """Record the answer to a question about one project in the background."""
    surface = "mcp" if request.hints == "tools" else "http"
    note = partial(_note_answer, operation=operation, request=request, document=document, surface=surface)
    task = asyncio.create_task(_note(daemon, request.project, note))
    _NOTING.add(task)
    task.add_done_callback(_NOTING.discard)


def _note_answer(workspace: Workspace, **asked: Any) -> None:  # noqa: ANN401 - as above
    load("cairn.operations.asked:note_answer")(
        workspace, **asked
    )  # its imports are large, and an idle daemon does not need them


async def _note(daemon: Daemon, project: str, note: Callable[[Workspace], None]) -> None:
    await asyncio.sleep(_AFTER_SECONDS)
    with suppress(CairnError):
        await daemon.projects.run_at_once(project, note)
