"""Finds where a value may come from: the branches of a conditional, both sides of a default, a cast."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from cairn.source.destructured import names_in_pattern

if TYPE_CHECKING:
    import tree_sitter

_MAX_DEPTH = 8
_CASTS = frozenset({"as_expression", "cast_expression"})
# Nodes whose last child, if any, is the value.
_LAST = frozenset({"block", "statements", "statement_block", "when_entry", "switch_expression_arm", "else_clause"})
# Nodes whose only child is the value.
_FIRST = frozenset(
    {"parenthesized_expression", "non_null_expression", "satisfies_expression", "await_expression", "getter"}
    | {"function_body", "expression_statement", "unsafe_block", "clone_expression", "satisfies_expression"}
)
_FIELDS = {
    "ternary_expression": ("consequence", "alternative", "if_true", "if_false"),
    "conditional_expression": ("consequence", "body", "alternative"),
    "match_conditional_expression": ("return_expression",),
    "match_default_expression": ("return_expression",),
    "match_arm": ("value",),
    "match_expression": ("body",),
    "nil_coalescing_expression": ("value", "if_nil"),
    "boolean_operator": ("left", "right"),
    "assignment_expression": ("right",),
}
_ARMS = {
    "when_expression": "when_entry", "match_block": "", "switch_expression": "switch_expression_arm",
    "try_expression": "block",
}  # fmt: skip
_OF_CONDITION = frozenset({"condition", "bound_identifier"})
_MARKS = frozenset({"(", ")", "{", "}", ","})
_OPTIONAL = frozenset({"Some", "Ok", "Err", "Poll::Ready"})
_OWNERS = frozenset(
    {b"Arc::new", b"Rc::new", b"Box::new", b"Box::pin"}
)  # Rust: smart pointers that are used like what they own
_DEFAULTS = frozenset({"?:", "??", "||"})


class Branch(NamedTuple):
    """A possible value: an expression, or the type that it is cast to."""

    node: tree_sitter.Node
    is_type: bool = False


def branches_of(node: tree_sitter.Node, depth: int = 0) -> Iterator[Branch]:
    """Yield the expressions that a value may be, and the types it is cast to; usually just the value itself."""
    kind = node.type
    if kind in _CASTS:
        yield Branch(node.child_by_field_name("type") or node.named_children[-1], is_type=True)
        return
    parts = _parts(node, kind) if depth < _MAX_DEPTH else None
    if parts is None:
        yield Branch(node)
        return
    for part in parts:
        yield from branches_of(part, depth + 1)


def bound_by(pattern: tree_sitter.Node) -> Iterator[tuple[tree_sitter.Node, str]]:
    """Yield the names that a Rust pattern binds, each with its field: `Variant~0` or `0` in tuples.

    Optional values and results are handled elsewhere. For JavaScript patterns, yield what the names hold.
    """
    if pattern.type == "object_pattern":
        yield from names_in_pattern(pattern)
        return
    path = pattern.child_by_field_name("type")
    text = (path.text or b"").decode("utf-8", "replace") if path is not None else ""
    if path is None or text in _OPTIONAL:
        return
    owner, _, variant = text.rpartition("::") if path.type.startswith("scoped") else (text, "", "")
    items = (child for child in pattern.children if child != path and child.type not in _MARKS)
    for at, item in enumerate(items):
        name, field = _bound_name(item), f"{variant}~{at}" if variant else str(at)
        if item.type == "field_pattern":
            plain = item.child_by_field_name("name")
            field = (plain.text or b"").decode("utf-8", "replace") if plain is not None else ""
        if name is not None and field:
            yield name, f"{owner}{{}}.{field}"


def _bound_name(item: tree_sitter.Node) -> tree_sitter.Node | None:
    """Return the name that a part of a pattern binds, None for a nested pattern."""
    while item.type in ("ref_pattern", "mut_pattern", "reference_pattern", "field_pattern") and item.named_child_count:
        item = item.named_children[-1]
    return item if item.type in ("identifier", "shorthand_field_identifier") else None


def _parts(node: tree_sitter.Node, kind: str) -> list[tree_sitter.Node] | None:
    """Return the alternatives of a value, None if it is not a choice."""
    if kind in _FIELDS:
        fields = (node.child_by_field_name(field) for field in _FIELDS[kind])
        parts = [part for part in fields if part is not None]
        return parts or node.named_children[::2] or None  # Python's `a if b else c` has no fields
    if kind in _FIRST:
        return node.named_children[:1]
    if kind in _LAST:
        return node.named_children[-1:]
    if kind in ("if_expression", "if_statement"):
        return _of_if(node)
    if kind in _ARMS:
        expression = node.child_by_field_name("expr")
        return (
            [expression]
            if expression is not None
            else [child for child in node.named_children if child.type == _ARMS[kind] or not _ARMS[kind]]
        )
    if kind == "call_expression":
        return _of_owner(node)
    return _of_operator(node) if kind in ("binary_expression", "unary_expression", "postfix_unary_expression") else None


def _of_owner(call: tree_sitter.Node) -> list[tree_sitter.Node] | None:
    """Return the argument of a call that makes an owned value of it, None for other calls."""
    function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    if function is None or arguments is None or function.type != "scoped_identifier" or function.text not in _OWNERS:
        return None
    return arguments.named_children[:1]


def _of_if(node: tree_sitter.Node) -> list[tree_sitter.Node]:
    """Return the branches of an `if` expression, without the conditions."""
    parts = [node.child_by_field_name(field) for field in ("consequence", "alternative")]
    if parts[0] is not None:
        return [part for part in parts if part is not None]
    return [
        child
        for at, child in enumerate(node.children)
        if child.is_named and child.type != "else" and node.field_name_for_child(at) not in _OF_CONDITION
    ]


def _of_operator(node: tree_sitter.Node) -> list[tree_sitter.Node] | None:
    """Return both sides of a default operator, or the operand of a non-null `!`; None for pointers, else nothing."""
    if node.named_child_count == 1:
        text = node.text or b""
        return node.named_children if text.endswith(b"!") else None if text.startswith((b"&", b"*", b"<-")) else []
    sign = node.child_by_field_name("operator")
    return node.named_children if sign is not None and sign.type in _DEFAULTS else []
