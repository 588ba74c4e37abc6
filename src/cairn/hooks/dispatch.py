"""Processes an event: opens what the hook program sent, finds the project, records the event, and words the answer.

Bad input from an agent never raises an error here: it is logged, and the agent gets no answer.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Collection
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, Protocol

from cairn.errors import CairnError, RequestError, StoreError
from cairn.hooks.adapter import TEST_SESSION, Ability, Adapter
from cairn.hooks.agents import adapter_of
from cairn.hooks.duplicates import SeenEvents, key_of
from cairn.hooks.envelope import open_envelope, read_payload
from cairn.hooks.report import SILENCE, Happening, Reply, Report
from cairn.hooks.whereabouts import find_whereabouts, folders_of, settle
from cairn.memory.moments import EVENTS

if TYPE_CHECKING:
    from cairn.hooks.raw_spool import RawSpool
    from cairn.workspace import Workspace

_log = logging.getLogger("cairn.hooks")
_NOTHING: frozenset[Ability] = frozenset()


class Asked(Protocol):
    """Decides whether an agent is shown something about a tool; see `cairn.hooks.intercept`."""

    def before(self, happening: Happening, abilities: Collection[Ability]) -> Reply:
        """Return what to answer before a tool runs."""

    def after(self, happening: Happening, abilities: Collection[Ability]) -> Reply:
        """Return what to answer after a tool ran."""

    def hear(self, happening: Happening) -> None:
        """Take note of any other event."""


class Case(NamedTuple):
    """An event of a project.

    Attributes:
        report: as the agent described it.
        adapter: of the agent.
        happening: its interpretation.
        root: of the project.
        key: tells it from other events.
        has_id: whether the agent gave it an id.
    """

    report: Report
    adapter: Adapter
    happening: Happening
    root: str
    key: bytes
    has_id: bool

    @property
    def abilities(self) -> frozenset[Ability]:
        """What the agent accepts in answer."""
        return self.adapter.takes(self.report)

    @property
    def is_test(self) -> bool:
        """Whether it only tests the hook, and leaves no trace."""
        return self.happening.session.endswith(f":{TEST_SESSION}")

    @property
    def silence(self) -> str:
        """The agent's form of no answer."""
        return _silence(self.adapter, self.report)


def open_case(content: bytes, roots: Collection[str]) -> Case | str:
    """Return the event that the hook program sent, or the agent's form of no answer if it belongs to no project.

    Args:
        content: an envelope.
        roots: of the projects that the user allowed.

    Raises:
        RequestError: if it is not an envelope.
    """
    envelope = open_envelope(content)
    report = envelope.report
    try:
        adapter = adapter_of(report.agent)
    except RequestError as error:
        _note(report, error)
        return ""
    try:
        if report.event not in EVENTS:
            raise RequestError("there is no such event", "see docs/cli.md")
        report = report._replace(payload=read_payload(envelope.payload))
        happening = adapter.read(report)
    except (CairnError, ValueError, RecursionError) as error:
        _note(report, error)
        return _silence(adapter, report)
    except Exception:  # noqa: BLE001 - the edge of an event, whose payload comes from another program
        _log.exception("an event cannot be read")
        return _silence(adapter, report)
    if happening is None or not happening.moments:
        return _silence(adapter, report)
    place = find_whereabouts(folders_of(happening, report.folder, report.environment), roots)
    if place is None:
        return _silence(adapter, report)
    happening = settle(happening, place)
    return Case(report, adapter, happening, place.root, *key_of(report, happening, envelope.payload))


def take_in(case: Case, workspace: Workspace, asked: Asked | None = None, *, is_late: bool = False) -> str:
    """Record an event, and return the agent's answer. Events recorded before change nothing.

    Args:
        case: the event.
        workspace: the project.
        asked: may have more to say than the memory.
        is_late: nobody is waiting for the answer any more, so show nothing.

    Raises:
        StoreError: if it can be neither recorded nor spooled to disk.
    """
    if case.is_test:
        return word(case, Reply(f"Cairn answers for {workspace.root.name}."))
    shows = "context" in case.abilities and not is_late
    contexts = [workspace.memory.take(moment, shows=shows).context for moment in case.happening.moments]
    if is_late:
        owe(case, workspace)
    reply = SILENCE if asked is None else _ask(asked, case, is_late=is_late)
    return word(case, SILENCE if is_late else join(reply, contexts, case.adapter.max_context_chars))


def owe(case: Case, workspace: Workspace) -> None:
    """Have shown later what the agent did not wait for."""
    if "context" in case.abilities:
        for moment in case.happening.moments:
            with suppress(StoreError):
                workspace.memory.injection.owe(workspace.memory.inbox.locate(moment))


def take_in_waiting(workspace: Workspace, spool: RawSpool, roots: Collection[str], seconds: float) -> int:
    """Take in what waits on disk for the daemon, which may be down or only starting; return how many events wait on.

    What the daemon takes in meanwhile counts once, for each event has an id. What is of other projects is left to it.

    Args:
        workspace: the project whose events are taken in.
        spool: where they wait.
        roots: of the projects that the user allowed.
        seconds: how long this may take.
    """
    seen, deadline = SeenEvents(), time.monotonic() + seconds
    n_waiting = 0
    for name in spool.names():
        try:
            case = open_case(spool.read(name), roots)
        except (OSError, CairnError):
            continue
        if isinstance(case, str) or case.root != str(workspace.root):
            continue
        n_waiting += 1
        if n_waiting > 1 or time.monotonic() > deadline:  # events are taken in in their order
            continue
        try:
            if seen.see(case.key, case.report, has_id=case.has_id) == "new":
                take_in(case, workspace, is_late=True)
        except CairnError as error:
            _log.warning("an event waits on: %s", error)
            continue
        spool.remove(name)
        n_waiting -= 1
    return n_waiting


def repeat(case: Case, asked: Asked | None = None) -> str:
    """Return the answer to a duplicate event: a denial is repeated, but nothing is shown twice."""
    if asked is None or case.happening.event != "before-tool":
        return word(case, SILENCE)
    return word(case, Reply(denial=_ask(asked, case, is_late=False).denial))


def _ask(asked: Asked, case: Case, *, is_late: bool) -> Reply:
    try:
        if case.happening.event not in ("before-tool", "after-tool"):
            asked.hear(case.happening)
            return SILENCE
        abilities = _NOTHING if is_late else case.abilities
        answer = asked.before if case.happening.event == "before-tool" else asked.after
        return answer(case.happening, abilities)
    except Exception:  # noqa: BLE001 - the edge of what may be said; the event itself is taken in
        _log.exception("nothing is said to %s", case.report.agent)
        return SILENCE


def join(reply: Reply, contexts: Collection[str], max_chars: int) -> Reply:
    """Return a reply with more context, within an agent's limit: later pieces are dropped first."""
    parts: list[str] = []
    room = max_chars
    for context in filter(None, (reply.context, *contexts)):
        if len(context) + 2 <= room:
            parts.append(context)
            room -= len(context) + 2
    return Reply("\n\n".join(parts), reply.denial[:max_chars])


def word(case: Case, reply: Reply) -> str:
    """Return a reply in the agent's form, without what it does not accept."""
    context = reply.context if "context" in case.abilities else ""
    denial = reply.denial if "denial" in case.abilities else ""
    try:
        return case.adapter.answer(case.report, Reply(context, denial))
    except Exception:  # noqa: BLE001 - the edge: what is wrong with our answer must not stop an agent
        _log.exception("no answer for %s", case.report.agent)
        return _silence(case.adapter, case.report)


def _silence(adapter: Adapter, report: Report) -> str:
    try:
        return adapter.answer(report, SILENCE)
    except Exception:  # noqa: BLE001 - as above
        _log.exception("no answer for %s", report.agent)
        return ""


def _note(report: Report, error: Exception) -> None:
    what = " ".join(f"{report.agent or '?'} {report.event or '?'}".split())
    _log.warning("an event is dropped (%s): %s", what.encode("ascii", "replace").decode()[:100], error)
