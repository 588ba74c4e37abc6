"""Finds the owner of a property in JavaScript and TypeScript where there is no dot: in patterns and JSX."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.source.expressions import expression_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import tree_sitter

DESTRUCTURING = frozenset({"javascript", "typescript", "tsx", "svelte", "vue"})
TAG = "<"  # precedes the name of a component
_SHORTHAND = "shorthand_property_identifier_pattern"
_PARAMETERS = frozenset({"required_parameter", "optional_parameter"})
_INNER = frozenset({"object_assignment_pattern", "pair_pattern"})
_DECLARING = _PARAMETERS | {"variable_declarator", "formal_parameters", "assignment_pattern"}
_IMPORTING = ("require(", "import(")
_UNKNOWN = "?"


def owner_of_property(leaf: tree_sitter.Node) -> str:
    """Return the owner of a property: an expression, a type, or a component after `TAG`; empty for none.

    In `function Row({ cells }: RowProps)` and `memo<RowProps>(({ cells }) => …)` that is `RowProps`, in
    `const { cells } = useRows()` it is `useRows()`, and in `<Row cells={1} />` it is `<Row`.
    """
    around = leaf.parent
    if around is None:
        return ""
    if around.type == "jsx_attribute" and around.named_child(0) == leaf and around.parent is not None:
        tag = _text(around.parent.child_by_field_name("name"))
        return f"{TAG}{tag}" if tag[:1].isupper() or "." in tag else ""
    is_key = around.type == "pair_pattern" and around.child_by_field_name("key") == leaf
    if leaf.type != _SHORTHAND and not is_key:
        return ""
    pattern = around.parent if around.type in _INNER else around
    return "".join(_taken_from(pattern)) if pattern is not None and pattern.type == "object_pattern" else ""


def names_in_pattern(pattern: tree_sitter.Node) -> Iterator[tuple[tree_sitter.Node, str]]:
    """Yield the variables that a pattern declares, each with the expression that it holds, `?` if unknown."""
    holder = pattern.parent
    if holder is None or holder.type not in _DECLARING:
        return
    if holder.type == "variable_declarator" and _value_of(holder).startswith(_IMPORTING):
        return
    type_, value = _taken_from(pattern)
    owner = f"{type_}{{}}" if type_ else value
    for part in pattern.named_children:
        name, inner = part, part
        if part.type == "pair_pattern":
            key, inner = part.child_by_field_name("key") or part, part.child_by_field_name("value") or part
            name = key
        if inner.type in ("object_assignment_pattern", "assignment_pattern"):
            inner = inner.named_children[0]
            name = name if part.type == "pair_pattern" else inner
        if inner.type in (_SHORTHAND, "identifier"):
            yield inner, f"{owner}.{_text(name)}" if owner else _UNKNOWN


def _taken_from(pattern: tree_sitter.Node) -> tuple[str, str]:
    """Return the type name of what a pattern destructures, or the expression itself."""
    holder = pattern.parent
    if holder is not None and holder.type == "variable_declarator":
        type_ = _type_in(holder)
        return type_, "" if type_ else _value_of(holder)
    if holder is not None and holder.type in _PARAMETERS:
        return _type_in(holder) or _type_of_argument(holder), ""
    return "", ""


def _value_of(declarator: tree_sitter.Node) -> str:
    """Return the destructured expression."""
    value = declarator.child_by_field_name("value")
    if value is not None and value.type == "await_expression":
        value = value.named_child(0)
    return expression_of(value.text or b"") if value is not None else ""


def _type_in(node: tree_sitter.Node) -> str:
    """Return the name of the declared type of a parameter or variable, empty for none or an anonymous one."""
    declared = node.child_by_field_name("type")
    return _name_of(declared.named_child(0)) if declared is not None else ""


def _name_of(type_: tree_sitter.Node | None) -> str:
    if type_ is not None and type_.type == "generic_type":
        type_ = type_.named_child(0)
    return _text(type_) if type_ is not None and type_.type == "type_identifier" else ""


def _type_of_argument(parameter: tree_sitter.Node) -> str:
    """Return the type that its context gives an anonymous function's first parameter: `memo<Props>`, `FC<Props>`."""
    function = parameter.parent.parent if parameter.parent is not None else None
    around = function.parent if function is not None else None
    if around is None or parameter.parent is None or parameter.parent.named_child(0) != parameter:
        return ""
    if around.type == "arguments" and around.parent is not None:
        return _last_of(around.parent.child_by_field_name("type_arguments"))
    declared = around.child_by_field_name("type") if around.type == "variable_declarator" else None
    generic = declared.named_child(0) if declared is not None else None
    is_generic = generic is not None and generic.type == "generic_type"
    return _last_of(generic.child_by_field_name("type_arguments")) if generic is not None and is_generic else ""


def _last_of(types: tree_sitter.Node | None) -> str:
    return _name_of(types.named_children[-1]) if types is not None and types.named_child_count else ""


def _text(node: tree_sitter.Node | None) -> str:
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""
