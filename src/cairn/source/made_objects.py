"""Tells which C++ declarations construct an object, such as `Type name(value);`, which can look like a function."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tree_sitter

_VALUES = frozenset({"argument_list", "initializer_list"})
_AROUND = frozenset({"function_definition", "lambda_expression"})
_NAMES = frozenset({"identifier", "field_identifier"})
_MEMBER = re.compile(rb"^m_\w|\w_$")  # two naming conventions that types never follow
_MOST_LOOKS = 50  # occurrences of a name in a function to look at


def makes_object(declaration: tree_sitter.Node) -> bool:
    """Tell whether a declaration constructs an object from values in parentheses or braces.

    If it may also declare a function, it only counts inside a function, and if a possible parameter is a value.
    """
    default = declaration.child_by_field_name("default_value")  # the name of a field
    if default is not None and default.type == "initializer_list":
        return True
    return any(map(_is_made, declaration.children_by_field_name("declarator")))


def _is_made(declarator: tree_sitter.Node) -> bool:
    named = declarator.child_by_field_name("declarator")
    if named is None or named.type != "identifier":
        return False
    if declarator.type == "init_declarator":
        value = declarator.child_by_field_name("value")
        return value is not None and value.type in _VALUES
    parameters = declarator.child_by_field_name("parameters")
    if declarator.type != "function_declarator" or parameters is None or declarator.parent is None:
        return False
    around = declarator.parent.parent
    if around is None or around.type != "compound_statement":
        return False
    return any(_is_value(name, around) for name in _likely_values(parameters))


def _likely_values(parameters: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """Yield names parsed as parameter types that may be values, `a` in `x(a)` and `x(f(a))`."""
    for parameter in parameters.named_children:
        own, inner = parameter.child_by_field_name("type"), parameter.child_by_field_name("declarator")
        if own is not None and own.type == "type_identifier":
            yield own
        nested = inner.child_by_field_name("parameters") if inner is not None else None
        if nested is not None:
            yield from _likely_values(nested)


def _is_value(name: tree_sitter.Node, node: tree_sitter.Node) -> bool:
    """Tell whether a name is a value elsewhere in the function around a node, or a member."""
    text = name.text or b""
    if _MEMBER.search(text):
        return True
    function: tree_sitter.Node | None = node
    while function is not None and function.type not in _AROUND:
        function = function.parent
    if function is None or function.text is None:
        return False
    start = function.start_byte
    for count, found in enumerate(re.finditer(rb"\b" + re.escape(text) + rb"\b", function.text)):
        leaf = function.descendant_for_byte_range(start + found.start(), start + found.end())
        if leaf is not None and leaf.type in _NAMES and not _is_called(leaf):
            return True
        if count >= _MOST_LOOKS:
            break
    return False


def _is_called(leaf: tree_sitter.Node) -> bool:
    """Tell whether a name is called, as a type may be."""
    parent = leaf.parent
    return parent is not None and parent.type == "call_expression" and parent.child_by_field_name("function") == leaf
