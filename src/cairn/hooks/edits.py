"""Tells an agent once who calls a definition that it edited, if the symbol graph knows without delay."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from cairn.errors import CairnError
from cairn.graph.changes import nodes_on
from cairn.graph.graph import Graph
from cairn.graph.nodes import place_of
from cairn.graph.overriding import calls_above
from cairn.graph.questions import callers_of, calls_to
from cairn.graph.unresolved import unresolved_calls
from cairn.graph.values import Link, Links
from cairn.hints import Hint, show
from cairn.hooks.occasion import Occasion, Offer
from cairn.hooks.report import Reply
from cairn.hooks.session_state import SessionState
from cairn.hooks_settings import HooksSettings
from cairn.memory.inert import CLOSE, OPEN, inert_line
from cairn.source.line_diff import changed_ranges
from cairn.source.text import pluralize
from cairn.storage.memory.rows import ServedAnswer
from cairn.structure.locate import FileContent, read_source
from cairn.waiting import Asker, GiveWay

if TYPE_CHECKING:
    from cairn.workspace import Workspace

_SECONDS = 3.0  # for looking for callers
_MOST_DEFINITIONS = 3
_MOST_CALLERS = 5  # of each
_MOST_EDITS = 20
_MOST_PLACES = 3  # ranges of one edit, which may replace all occurrences of a text
_MOST_NAMED = 8  # definitions to look at


class _Edited(NamedTuple):
    """An edited definition, its known callers, and how many other lines may call it."""

    name: str
    links: Links
    n_unresolved: int = 0


class _Hurried(Asker):
    """An asker who leaves after a while, and for whom no graph is built."""

    def __init__(self) -> None:
        super().__init__(in_haste=True)
        self._end = time.monotonic() + _SECONDS

    def check(self) -> None:
        """Stop the current work once time is up."""
        self.is_gone = self.is_gone or time.monotonic() > self._end
        super().check()


class Edits:
    """The part of the interceptor for edits. Threads may share it.

    Args:
        workspace: the project, open.
        settings: whether to say anything.
    """

    def __init__(self, workspace: Workspace, settings: HooksSettings) -> None:
        self._workspace, self._settings = workspace, settings

    def answer(self, occasion: Occasion, state: SessionState) -> Offer | None:
        """Return the callers of what was edited; None if nothing is known or it was said before."""
        use = occasion.use
        if use.tool != "edit" or not (occasion.is_over and occasion.can_see and self._settings.edits):
            return None
        if occasion.has_failed or not occasion.path or not self._workspace.is_indexed:
            return None
        try:
            content = read_source(self._workspace.root, occasion.path)
            ranges = list(_ranges(content, use.edits[:_MOST_EDITS]))
            with _Hurried().serve():  # continues in the background, for the agent's next use
                edited = self._workspace.graph.ask(lambda graph: _edited(graph, content.path, ranges, state))
        except (CairnError, GiveWay):  # no index, or no answer in time
            return None
        if not edited:
            return None

        def settle() -> None:
            for definition in edited:
                state.named.put(_key(content.path, definition.name), value=True)

        row = ServedAnswer(
            occasion.ledger, occasion.seconds, occasion.agent, "callers", False, content.path, "", 0
        )  # fmt: skip
        return Offer(Reply(_text(content.path, edited)), row, settle, is_lasting=True)


def _ranges(content: FileContent, edits: Sequence[tuple[str, str]]) -> Iterator[tuple[int, int]]:
    """Yield the ranges (first, last) of lines that edits left in a file; those of removed text are unknown."""
    for old, new in edits:
        if not old or not new.strip():
            continue
        wanted = new.encode("utf-8", "replace")
        changed = changed_ranges(old.encode("utf-8", "replace").split(b"\n"), wanted.split(b"\n"))
        place = content.data.find(wanted)
        for _ in range(_MOST_PLACES):
            if place < 0:
                break
            before = content.data.count(b"\n", 0, place)
            yield from ((before + first, before + last) for first, last in changed)
            place = content.data.find(wanted, place + len(wanted))


def _edited(graph: Graph, path: str, ranges: Sequence[tuple[int, int]], state: SessionState) -> list[_Edited]:
    """Return the called definitions on some lines about which the session was not yet told."""
    code = graph.code
    if (number := code.numbers.get(path)) is None:
        return []
    nodes = dict.fromkeys(node for first, last in ranges for node in nodes_on(code, number, first, last))
    edited: list[_Edited] = []
    for node in [node for node in nodes if place_of(node) >= 0][:_MOST_NAMED]:
        name = code.definition(node).qualified_name
        if _key(path, name) in state.named or len(edited) == _MOST_DEFINITIONS:
            continue
        group = code.group(node)
        called = [*group, *(base for base, _ in calls_above(graph, group, partial(calls_to, graph), graph.reader()))]
        links = callers_of(graph, called)
        others = [link for link in links.links if (link.symbol.path, link.symbol.name) != (path, name)]
        if others:
            unresolved = unresolved_calls(graph, group, calls_to(graph, called))
            n_unresolved = unresolved.lines if unresolved is not None else 0
            others.sort(key=lambda link: (bool(code.tests[code.numbers[link.path]]), link.path == path))
            edited.append(_Edited(name, Links(links.symbol, tuple(others)), n_unresolved))
    return edited


def _key(path: str, name: str) -> str:
    return f"callers {path} {name}"


def _text(path: str, edited: Sequence[_Edited]) -> str:
    lines = [f"{OPEN}cairn{CLOSE} What calls the code that was edited:"]
    for definition in edited:
        links = definition.links.links
        more = len(links) - _MOST_CALLERS
        shown = "; ".join(map(_caller, links[:_MOST_CALLERS]))
        rest = Hint(f"and {pluralize(more, 'other')}", "callers", symbol=f"{path}:{definition.name}")
        ending = f"; {inert_line(show(rest, 'tools'), 300)}" if more > 0 else ""
        name = inert_line(definition.name, 120)
        count = pluralize(len(links), "known caller" if definition.n_unresolved else "caller")
        lines.append(f"{name} has {count}: {shown}{ending}{_doubt(definition.n_unresolved)}")
    return "\n".join(lines)


def _doubt(n_unresolved: int) -> str:
    """Return a note on unresolved lines that may call a definition."""
    if not n_unresolved:
        return ""
    return f"; {pluralize(n_unresolved, 'more line')} may call it"


def _caller(link: Link) -> str:
    doubt = " (by name only)" if link.how == "name" else ""
    return f"{inert_line(f'{link.path}:{link.line} {link.symbol.name}'.rstrip(), 200)}{doubt}"
