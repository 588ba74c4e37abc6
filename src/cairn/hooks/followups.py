"""Charges later reads of a file to the outline that an agent was given instead of the file."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from cairn.errors import CairnError
from cairn.hooks.occasion import Occasion, Offer
from cairn.hooks.outline_hint import adapter_or_any
from cairn.hooks.reads import hash_of
from cairn.hooks.session_state import SessionState
from cairn.hooks_settings import HooksSettings
from cairn.memory.served import ServedAnswers
from cairn.source.text import count_tokens
from cairn.structure.locate import code_lines, read_source
from cairn.structure.outline import ID_MARK

if TYPE_CHECKING:
    from cairn.workspace import Workspace

_FETCH = re.compile(r"(?:^|[^a-z])fetch$", re.IGNORECASE)
_MOST_IDS = 20
_LAST_LINE = 2**31


class FollowUps:
    """The part of the interceptor that says nothing and keeps the ledger honest. Threads may share it.

    Args:
        workspace: the project, open.
        settings: unused.
    """

    def __init__(self, workspace: Workspace, settings: HooksSettings) -> None:
        self._workspace, self._root = workspace, workspace.root
        self._served = ServedAnswers(workspace.memory.store, workspace.memory.sessions)

    def answer(self, occasion: Occasion, state: SessionState) -> Offer | None:
        """Charge a read, of lines, of a whole file or by id, if an outline replaced the file earlier."""
        if occasion.has_failed or not len(state.replaced) or not _happens_now(occasion):
            return None
        if occasion.use.tool == "read":
            first = max(1, occasion.use.offset)
            last = first + occasion.use.limit - 1 if occasion.use.limit else _LAST_LINE
            self._charge(occasion, state, occasion.path, first, last)
        for id in _ids(occasion):
            try:
                (fetched,) = self._workspace.code.fetch([id])
            except (CairnError, ValueError):
                continue
            self._charge(occasion, state, fetched.path, fetched.start_line, fetched.end_line)
        return None

    def _charge(self, occasion: Occasion, state: SessionState, path: str, first: int, last: int) -> None:
        """Charge some lines of a file, if it has not changed since it was replaced."""
        if not path or path not in state.replaced:
            return
        try:
            data = read_source(self._root, path).data
        except CairnError:
            return
        if hash_of(data) == state.replaced.get(path):
            tokens = min(count_tokens(code_lines(data, first, last)), adapter_or_any(occasion.agent).max_read_tokens)
            self._served.charge(occasion.ledger, path, hash_of(data), tokens)


def _happens_now(occasion: Occasion) -> bool:
    """Tell whether to count a use now: after the tool, or before it if the agent does not report the end."""
    events = adapter_or_any(occasion.agent).events
    return occasion.is_over or (bool(events) and "after-tool" not in events)


def _ids(occasion: Occasion) -> list[str]:
    """Return the ids of definitions that are fetched, with our server's tool or our command."""
    words: list[str] = []
    if occasion.use.tool == "mcp" and _FETCH.search(occasion.use.name):
        words = occasion.target.split()
    elif occasion.is_shell and " fetch " in occasion.asked.command:
        try:
            words = shlex.split(occasion.asked.command)
        except ValueError:
            return []
        words = words[words.index("fetch") + 1 :] if "fetch" in words else []
    return [word for word in words if ID_MARK in word][:_MOST_IDS]
