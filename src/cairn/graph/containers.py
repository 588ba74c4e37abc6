"""Tells what a container gives: an item of a list, what is in an optional value or a result, a part of a tuple."""

from __future__ import annotations

from cairn.graph.entities import OUTSIDE, Entity, Expressions, How
from cairn.graph.nodes import file_of, node_of, place_of
from cairn.graph.sight import Sight
from cairn.source.type_names import HOLD_FIRST, HOLD_LAST, TUPLE, split_types

# What members of containers of many languages give: what is in it, or a container of the same.
_GIVE_WORDS = """
    at back back_mut component1 Dequeue ElementAt elementAt elementAtOrNull expect expect_err find findLast
    First first first_mut firstOrDefault FirstOrDefault firstOrNull front front_mut get get_mut
    get_or_insert_with get_unchecked getOrElse getOrNull getOrPut getOrThrow insert_entry last Last last_mut
    LastOrDefault lastOrDefault lastOrNull max_by_key maxBy maxByOrNull min_by_key minBy minByOrNull next nth
    Peek peek peek_mut poll pop Pop pop_back pop_first pop_front popFirst popLast popleft randomElement remove
    removeAt removeFirst removeFirstOrNull removeLast removeLastOrNull shift single Single SingleOrDefault
    singleOrNull swap_remove unwrap unwrap_or unwrap_or_default unwrap_or_else unwrap_unchecked value
"""
GIVE = frozenset(_GIVE_WORDS.split())
_KEEP_WORDS = """
    as_deref as_deref_mut as_mut as_pin_mut as_pin_ref as_ref as_slice asIterable asReversed asSequence by_ref
    chain clone cloned concat copied copy cycle Distinct distinct drain drop dropFirst dropLast dropWhile
    enumerated err extend filter filterNot filterNotNull fuse insert inspect into_iter into_values iter iter_mut
    iterator keep lazy lock map_err notify ok ok_or ok_or_else or or_else OrderBy OrderByDescending peekable
    prefix replace rev Reverse reversed shuffled Skip skip skip_while skipWhile slice sort sortBy sorted
    sortedBy sortedByDescending splice split_off step_by stream suffix take Take take_while takeLast takeWhile
    to_owned to_vec ToArray toList ToList toMutableList toReversed toSet toSorted toSortedSet toTypedArray
    values values_mut Where
"""
_KEEP = frozenset(_KEEP_WORDS.split())
_WRAPPING = frozenset({"Result", "Option"})


class Containers:
    """The contents of containers."""

    def __init__(self, sight: Sight, expressions: Expressions) -> None:
        self._sight = sight
        self._expressions = expressions

    def container(self, file: int, scope: int, text: str) -> Entity | None:
        """Return a container that a text in a scope names, None for any other type."""
        base = text.partition("<")[0].rpartition(".")[2]
        if "<" not in text or not (base in HOLD_FIRST or base in HOLD_LAST or base == TUPLE):
            return None
        return Entity("container", node_of(file, scope), How.RECEIVER, text)

    def member(self, container: Entity, name: str) -> Entity | None:
        """Return what `.name` or `.name()` gives after a container, None if that is unknown."""
        base, items = _taken_apart(container.text)
        if name.isdigit() and base in _WRAPPING and items[0].startswith(f"{TUPLE}<"):
            return self.member(container._replace(text=items[0]), name)
        if base == TUPLE:
            return self._instance(container, items[int(name)]) if name.isdigit() and int(name) < len(items) else None
        if name in _KEEP:
            return container
        return self.item(container) if name in GIVE else None

    def item(self, container: Entity) -> Entity | None:
        """Return what a container holds, the values of a map; None for a tuple and what is unknown."""
        base, items = _taken_apart(container.text)
        if base == TUPLE or not items:
            return None
        return self._instance(container, items[-1 if base in HOLD_LAST else 0])

    def _instance(self, container: Entity, text: str) -> Entity | None:
        if not text:
            return None
        source = self._sight.file(file_of(container.node))
        return self._expressions.type_of(source, place_of(container.node), text).by(How.RECEIVER)


def _taken_apart(text: str) -> tuple[str, list[str]]:
    base, _, rest = text.partition("<")
    return base.rpartition(".")[2], split_types(rest[:-1])


def as_outside(container: Entity) -> Entity:
    """Return a container as nothing but something of another library."""
    return OUTSIDE._replace(text=container.text.partition("<")[0])
