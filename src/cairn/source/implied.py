"""Finds the type of a Swift call that names none, as in `paint(.named(1))`, from its context."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import tree_sitter

RESULT_OF_FUNCTION = "<"  # as a value: the result type of the enclosing function
ARGUMENT = ">"  # prefix of a value `>callee>label>place`: the type of that argument
# Nodes with the same type as the node inside them.
_AROUND = frozenset(
    {"ternary_expression", "nil_coalescing_expression", "try_expression", "await_expression", "tuple_expression"}
    | {"navigation_expression", "navigation_suffix", "call_expression", "if_statement", "switch_statement"}
    | {"switch_entry", "statements"}
)
_MAX_STEPS = 10
_VARIABLE = "__implied"  # prefix of variables that stand for a contextual type


class Implied(NamedTuple):
    """The meaning of a call: an expression on a variable, and what that holds, if known."""

    expression: str
    values: list[tuple[str, str]]


class _Told(NamedTuple):
    """The source of an expression's type.

    Attributes:
        value: what has that type: `RESULT_OF_FUNCTION`, or empty if another attribute tells.
        node: an expression, or a type if `is_type`; for an argument, the call.
        label: of the argument.
        place: the index of the argument, -1 if it is none.
        n_arrays: how many array literals it is nested in.
    """

    value: str
    node: tree_sitter.Node | None = None
    is_type: bool = False
    label: str = ""
    place: int = -1
    n_arrays: int = 0


def read_implied(
    name: tree_sitter.Node, expression: Callable[[tree_sitter.Node], str], type_: Callable[[str], str]
) -> Implied:
    """Return a call like `.named()` as an expression on a variable of its contextual type.

    Args:
        name: the called name, with its dot.
        expression: returns the normal form of a node's expression.
        type_: returns the normal form of a type.
    """
    called = _text(name).lstrip(".")
    context = _context_of(name)
    value = _value_of(context, expression, type_) if context is not None else ""
    if context is None or not value:
        return Implied(f"?.{called}", [])
    variable = f"{_VARIABLE}{name.start_byte}"
    return Implied(f"{variable}{'[]' * context.n_arrays}.{called}", [(variable, value)])


def _value_of(context: _Told, expression: Callable[[tree_sitter.Node], str], type_: Callable[[str], str]) -> str:
    """Return a context's type as the value of a variable, empty if unknown."""
    node = context.node
    if node is None:
        return context.value
    if context.is_type:
        name = type_(_text(node))
        return f":{name}" if name else ""
    if context.place < 0:
        value = expression(node)
        return value if value[:1].isalpha() else ""
    is_implied = node.type == "prefix_expression" and _text(node).startswith(".")
    callee = f"{_VARIABLE}{node.start_byte}{_text(node)}" if is_implied else expression(node)
    return f"{ARGUMENT}{callee}{ARGUMENT}{context.label}{ARGUMENT}{context.place}" if callee else ""


def _context_of(call: tree_sitter.Node) -> _Told | None:
    """Return the source of a call's type, None if there is none."""
    node, n_arrays = call, 0
    for _ in range(_MAX_STEPS):
        parent = node.parent
        if parent is None:
            return None
        if parent.type == "array_literal":
            n_arrays += 1
        elif (found := _told_by(node, parent)) is not None:
            return found._replace(n_arrays=n_arrays)
        elif parent.type not in _AROUND:
            return None
        node = parent
    return None


def _told_by(node: tree_sitter.Node, parent: tree_sitter.Node) -> _Told | None:
    """Return what the node around an expression says about its type."""
    kind = parent.type
    if kind == "value_argument":
        return _of_argument(parent)
    if kind == "property_declaration":
        types = [child for child in parent.named_children if child.type == "type_annotation"]
        return _Told("", types[0].named_children[-1], is_type=True) if types else None
    if kind == "assignment":
        target = parent.child_by_field_name("target")
        return _Told("", target) if target is not None and target.id != node.id else None
    if kind == "equality_expression":
        other = parent.child_by_field_name("lhs")
        return _Told("", other) if other is not None and other.id != node.id else None
    if kind in ("function_body", "control_transfer_statement", "computed_property"):
        return _Told(RESULT_OF_FUNCTION)
    return None


def _of_argument(argument: tree_sitter.Node) -> _Told | None:
    arguments = argument.parent
    suffix = arguments.parent if arguments is not None else None
    call = suffix.parent if suffix is not None else None
    if arguments is None or call is None or call.type != "call_expression":
        return None
    name = argument.child_by_field_name("name")
    label = _text(name).rstrip(":") if name is not None else ""
    place = [child.id for child in arguments.named_children].index(argument.id)
    return _Told("", call.named_children[0], label=label, place=place) if call.named_children else None


def _text(node: tree_sitter.Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
