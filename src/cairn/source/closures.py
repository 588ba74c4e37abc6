"""Finds anonymous functions passed to calls: what is called, as which argument, and with which parameters."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import tree_sitter

_NAMES = frozenset({"identifier", "simple_identifier"})
_PARAMETERS = frozenset(
    {
        "closure_parameters",
        "formal_parameters",
        "lambda_parameters",
        "lambda_function_type",
        "function_value_parameters",
    }
    | {"lambda_function_type_parameters", "block_parameters"}
)
_CALLS = frozenset({"call_expression", "new_expression"})
_BLOCKS = frozenset({"block", "do_block"})  # Ruby
_TRAILING = frozenset({"annotated_lambda", "call_suffix"})
_OF_SCALA = "lambda_expression"
_MAX_STEPS = 6  # levels from a closure up to its call
LAST = -1  # place of an argument that follows all others


class Closure(NamedTuple):
    """An anonymous function that is passed to a call.

    Attributes:
        scope: the enclosing definition, or for an enclosing closure the number of definitions plus its place.
        callee: the called expression.
        argument: its place among the arguments, `LAST` if it follows them.
        label: the argument's name, empty for none.
        given: the first argument, if names in the closure refer to it.
        parameters: the names of its parameters, each followed by `:` and its type if declared.
        types: the type arguments of the call, or of the expected type if that has the called name.
    """

    scope: int
    callee: str
    argument: int
    label: str
    given: str
    parameters: tuple[str, ...]
    types: tuple[str, ...] = ()


class ParsedClosure(NamedTuple):
    """A closure in a syntax tree, with the nodes of the callee and of the first argument."""

    node: tree_sitter.Node
    callee: tree_sitter.Node
    argument: int
    label: str
    given: tree_sitter.Node | None
    parameters: tuple[tuple[str, str], ...]
    types: tuple[str, ...]


def read_closure(node: tree_sitter.Node) -> ParsedClosure | None:
    """Return the call that a closure is passed to, None if it is not an argument."""
    child, argument, label = node, LAST, ""
    if node.type in _BLOCKS:
        call = node.parent
        is_given = call is not None and call.type == "call"
        return ParsedClosure(node, call, LAST, "", None, tuple(_parameters(node)), ()) if call and is_given else None
    for _ in range(_MAX_STEPS):
        parent = child.parent
        if parent is None:
            return None
        if parent.type in ("arguments", "value_arguments"):
            argument = [item.id for item in parent.named_children if "comment" not in item.type].index(child.id)
        elif parent.type == "value_argument":
            label = _label(parent, child)
        elif parent.type in _CALLS:
            callee = parent.child_by_field_name("function") or parent.child_by_field_name("constructor")
            callee = callee or _first(parent)
            if callee is None or callee.id == child.id:
                return None
            first = _first_argument(callee if argument == LAST else parent)
            if argument == LAST and callee.type == "call_expression" and child.type == "annotated_lambda":
                callee = _first(callee) or callee  # `name(…) { … }` is one call
            types = tuple(_type_arguments(parent, callee))
            return ParsedClosure(node, callee, argument, label, first, tuple(_parameters(node)), types)
        elif parent.type not in _TRAILING and not (node.type == _OF_SCALA and parent.type == "block"):
            return None
        child = parent
    return None


def _first(node: tree_sitter.Node) -> tree_sitter.Node | None:
    return node.named_child(0) if node.named_child_count else None


def _label(argument: tree_sitter.Node, value: tree_sitter.Node) -> str:
    """Return the name of an argument, as in `name: value` or `name = value`."""
    first = _first(argument)
    if first is None or first.id == value.id:
        return ""
    return _text(first).strip() if first.type in _NAMES or first.type == "value_argument_label" else ""


def _first_argument(call: tree_sitter.Node) -> tree_sitter.Node | None:
    for child in call.named_children:
        if child.type == "value_arguments" and child.named_child_count:
            argument = child.named_children[0]
            return argument.named_children[-1] if argument.named_child_count else argument
    return None


def _type_arguments(call: tree_sitter.Node, callee: tree_sitter.Node) -> list[str]:
    own = [child for child in (*call.named_children, *callee.named_children) if child.type == "type_arguments"]
    if not own and call.parent is not None and call.parent.type == "variable_declarator":
        declared = call.parent.child_by_field_name("type")
        generic = _first(declared) if declared is not None else None
        if generic is not None and generic.type == "generic_type":
            name = _first(generic)
            is_same = name is not None and _text(name).rpartition(".")[2] == _text(callee).rpartition(".")[2]
            own = [child for child in generic.named_children if child.type == "type_arguments" and is_same]
    return [_text(child) for child in own[0].named_children] if own else []


def _parameters(node: tree_sitter.Node) -> list[tuple[str, str]]:
    """Return the names and types of a closure's parameters; a name is empty for a destructuring pattern."""
    if (single := node.child_by_field_name("parameter")) is not None:
        return [(_text(single), "")]
    if node.type == _OF_SCALA and (given := node.child_by_field_name("parameters")) is not None:
        return [_parameter(item) for item in given.named_children or [given]]
    lists = [child for child in node.named_children if child.type in _PARAMETERS]
    if lists and lists[0].type == "lambda_function_type":
        lists = [child for child in lists[0].named_children if child.type in _PARAMETERS]
    return [_parameter(item) for item in lists[0].named_children] if lists else []


def _parameter(item: tree_sitter.Node) -> tuple[str, str]:
    if item.type in _NAMES:
        return _text(item), ""
    first = item.child_by_field_name("pattern") or item.child_by_field_name("name") or _first(item)
    while (
        first is not None and first.type in ("mut_pattern", "reference_pattern", "pattern") and first.named_child_count
    ):
        first = first.named_children[-1]
    if first is None or first.type not in _NAMES or item.type == "tuple_pattern":
        return "", ""
    after = item.named_children[-1]
    return _text(first), _text(after) if after.id != first.id and item.type not in ("mut_pattern",) else ""


def _text(node: tree_sitter.Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


class Blocks:
    """The closures of a file as scopes, numbered from the number of definitions on.

    Args:
        spans: the bytes of the closures, in reading order.
        starts: the first bytes of the definitions; `parents` has the definition around each.
        definition_at: returns the innermost definition around a byte, -1 for none.
    """

    def __init__(
        self,
        spans: Sequence[tuple[int, int]],
        starts: Sequence[int],
        parents: Sequence[int],
        definition_at: Callable[[int], int],
    ) -> None:
        self._spans = spans
        self._starts = starts
        self._parents = parents
        self._definition_at = definition_at
        self._first = first = len(starts)
        self._borders, self._owners = [0], [-1]
        open_: list[int] = []
        for place, (start, _) in enumerate(spans):
            self._close(open_, start)
            self._borders.append(start)
            self._owners.append(first + place)
            open_.append(place)
        self._close(open_, 1 << 62)

    def _close(self, open_: list[int], until: int) -> None:
        while open_ and self._spans[open_[-1]][1] <= until:
            self._borders.append(self._spans[open_.pop()][1])
            self._owners.append(self._first + open_[-1] if open_ else -1)

    def _around(self, byte: int) -> int:
        """Return the scope of the innermost closure around a byte, -1 for none."""
        return self._owners[bisect_right(self._borders, byte) - 1]

    def scope_at(self, byte: int) -> int:
        """Return the innermost definition or closure around a byte."""
        block, scope = self._around(byte), self._definition_at(byte)
        if block < 0:
            return scope
        is_inside = scope >= 0 and self._starts[scope] >= self._start(block)
        return scope if is_inside else block

    def block_at(self, byte: int) -> int:
        """Return the closure around a byte, -1 for none or if a definition lies between them."""
        scope = self.scope_at(byte)
        return scope if scope >= self._first else -1

    def enclosed(self) -> tuple[tuple[int, int], ...]:
        """Return the definitions directly inside closures, not those nested in other definitions."""
        found = []
        for place, start in enumerate(self._starts if self._spans else ()):
            parent, block = self._parents[place], self._around(start)
            if block >= 0 and (parent < 0 or self._start(block) > self._starts[parent]):
                found.append((place, block))
        return tuple(found)

    def _start(self, scope: int) -> int:
        return self._spans[scope - self._first][0]
