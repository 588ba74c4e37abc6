"""Collects names that code passes as values and that may mean a definition rather than a local variable."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from cairn.source.tokens import begin_of_path

if TYPE_CHECKING:
    import tree_sitter

PASSED = frozenset({"use", "given", "token", "bound"})  # captures of a query; see `cairn.source.references`
_GOING_ON = frozenset({"selector", "cascade_section", "argument_part"})  # Dart
_LAST = re.compile(rb"[^.:&*\s]*$")  # a name in a chain


class PassedName(NamedTuple):
    """A name passed as a value: its start and end, its text, and whether another file may define it."""

    start: int
    end: int
    raw: bytes
    is_open: bool


class PassedNames:
    """Collects the names that a file passes as values.

    Args:
        scope_of: returns the definition around a byte, -1 for none.
        parents: the definition around each definition, -1 for none.
    """

    def __init__(self, scope_of: Callable[[int], int], parents: Sequence[int]) -> None:
        self._scope_of, self._parents = scope_of, parents
        self._passed: list[PassedName] = []
        self._bound: set[tuple[int, bytes]] = set()

    def add_member(self, receiver: tree_sitter.Node, node: tree_sitter.Node) -> None:
        """Add the last name of a chain, given with what the chain begins with; nothing if the chain goes on."""
        following, around = node.next_named_sibling, node.parent
        if around is None or (following is not None and following.type in _GOING_ON):
            return
        raw = (around.text or b"")[receiver.start_byte - around.start_byte : node.end_byte - around.start_byte]
        self._passed.append(PassedName(receiver.start_byte, node.end_byte, raw, is_open=True))

    def add(self, capture: str, node: tree_sitter.Node) -> None:
        """Add a capture of a query whose name is in `PASSED`."""
        start, raw = node.start_byte, (node.text or b"").removeprefix(b":")  # a Ruby symbol names a method
        around = node.parent
        if capture == "token" and around is not None and (begin := begin_of_path(node)) >= 0:
            path = (around.text or b"")[begin - around.start_byte : node.end_byte - around.start_byte]
            self._passed.append(PassedName(begin, node.end_byte, path, is_open=True))
        elif capture != "bound":
            self._passed.append(PassedName(start, node.end_byte, raw, capture == "given"))
        elif (scope := self._scope_of(start)) >= 0:  # otherwise it is known in the whole file or beyond
            self._bound.add((scope, raw))

    def counting(self, known: Collection[bytes]) -> Iterator[PassedName]:
        """Yield the names that count.

        Args:
            known: the names that the file defines or imports; most others are local variables.
        """
        for passed in self._passed:
            name = _LAST.search(passed.raw)
            if name is None:
                continue
            is_member = passed.raw[: name.start()].rstrip(b":.") != passed.raw[: name.start()]
            may_count = passed.is_open or name[0] in known
            if may_count and (is_member or not self._is_bound(passed.start, name[0])):
                yield passed

    def _is_bound(self, start: int, name: bytes) -> bool:
        scope = self._scope_of(start)
        while scope >= 0:
            if (scope, name) in self._bound:
                return True
            scope = self._parents[scope]
        return False
