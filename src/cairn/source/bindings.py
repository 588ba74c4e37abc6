"""Finds the names that code declares, and the scope in which each means a local variable."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import tree_sitter

# Nodes that may wrap the target of an assignment.
PATTERNS = frozenset(
    {"expression_list", "pattern_list", "tuple_pattern", "list_pattern", "array_pattern", "object_pattern", "tuple"}
    | {"left_hand_side", "left_assignment_list", "directly_assignable_expression", "variable_list", "tuple_expression"}
    | {"parenthesized_expression", "list_splat_pattern", "rest_pattern", "splat", "rest_assignment"}
    | {"destructured_left_assignment", "variable_name", "expression", "list"}
)
# Node types that declare a name, with the field that holds it; None for any child.
_BINDINGS: dict[str, tuple[str, ...] | None] = {
    "variable_declarator": ("name",), "let_declaration": ("pattern",), "var_spec": ("name",), "const_spec": ("name",),
    "short_var_declaration": ("left",), "range_clause": ("left",), "for_in_statement": ("left",),
    "for_in_clause": ("left",), "for_statement": ("left", "item", "pattern"), "for_expression": ("pattern",),
    "foreach_statement": ("left",), "enhanced_for_statement": ("name",), "catch_formal_parameter": ("name",),
    "catch_clause": ("parameter",), "catch_declaration": ("name",), "catch_block": None, "resource": ("name",),
    "as_pattern_target": None, "named_expression": ("name",), "init_declarator": ("declarator",),
    "declaration": ("declarator",), "parameter_declaration": ("name", "declarator"),
    "optional_parameter_declaration": ("declarator",), "variadic_parameter_declaration": ("name",),
    "let_condition": ("pattern",), "match_pattern": None, "closure_parameters": None, "lambda_parameters": None,
    "lambda_parameter": ("name",), "parameters": None, "formal_parameters": None, "block_parameters": None,
    "method_parameters": None, "parameter": ("name", "pattern", "external_name"), "formal_parameter": ("name",),
    "simple_parameter": ("name",), "variadic_parameter": ("name",), "property_promotion_parameter": ("name",),
    "required_parameter": ("pattern",), "optional_parameter": ("pattern", "name"), "default_parameter": ("name",),
    "typed_parameter": None, "typed_default_parameter": ("name",), "list_splat_pattern": None,
    "dictionary_splat_pattern": None, "variable_declaration": None, "multi_variable_declaration": None,
    "function_value_parameters": None, "class_parameter": None, "keyword_parameter": ("name",),
    "splat_parameter": ("name",), "hash_splat_parameter": ("name",), "block_parameter": ("name",),
    "exception_variable": None, "local_declaration": None, "attnamelist": None, "bindings": None,
    "implicit_parameter_list": None, "inferred_parameters": None, "tuple_struct_pattern": None,
    "value_binding_pattern": None, "static_variable_declaration": ("name",), "type_parameter": ("name",),
    "single_variable_designation": None, "declaration_expression": ("name",), "declaration_pattern": ("name",),
    "condition_declaration": None, "value_definition": ("pattern",), "val_definition": ("pattern",),
    "patterns": None,
}  # fmt: skip
_PARAMETER = re.compile(r"param|closure|lambda")
_DEFINITIONS = re.compile(
    r"(?:definition|declaration|_item|_spec|signature|binding_list|_signature_item|enum_entry|enum_constant|enum_variant|enumerator"
    r"|enum_case|element|attr|_elem|method|constructor|assignment|class|macro_def|property_element|member_declaration"
    r"|field_declaration|class_declaration|binding)$"
)
_NAME_FIELDS = frozenset({"name", "declarator", "pattern", "property", "key"})
_FUNCTIONS = re.compile(
    r"function|method|lambda|closure|arrow|func_literal|constructor|init_declaration|^(?:do_)?block$"
)
BLOCKS = re.compile(r"block|body|statement_list|compound_statement|for_|match_arm|case|if_|while|try|catch|with")
_CLASSES = re.compile(
    r"^(?:class|interface|struct|enum|trait|object(?!_pattern)|impl|module|record|protocol|extension)"
)
_COMPREHENSIONS = frozenset(
    {"list_comprehension", "generator_expression", "set_comprehension", "dictionary_comprehension"}
)
# Languages in which an assignment declares a variable of the function.
_ASSIGNING_DECLARES = frozenset({"python", "ruby", "php", "julia", "elixir", "r"})


class Binding(NamedTuple):
    """The declaration of a local variable, and the bytes of its scope."""

    name: str
    at: int
    start: int
    end: int


def find_binding(data: bytes, language: str, leaf: tree_sitter.Node, name: str, *, is_assigned: bool) -> Binding | None:
    """Return the binding of a local variable, if this leaf declares it.

    Args:
        data: the file.
        language: the name of its language.
        leaf: the node of the name.
        name: its text; in PHP with the `$`.
        is_assigned: whether it is assigned to there.
    """
    if language == "php" and not name.startswith("$"):
        return None
    kind, visible_from = _binding_kind(leaf)
    if not kind and is_assigned:
        kind = "function" if language in _ASSIGNING_DECLARES else ""
    if not kind:
        return None
    if kind == "block" and language in _ASSIGNING_DECLARES:
        kind = "function"
    scope = _scope_of(leaf, kind, language)
    if scope is None or (kind == "function" and _is_global(data, scope, name)):
        return None
    first = scope.start_byte if kind != "block" else visible_from
    return Binding(name, leaf.start_byte, first, scope.end_byte)


def _scope_of(leaf: tree_sitter.Node, kind: str, language: str) -> tree_sitter.Node | None:
    """Return the function or block that is the scope of a name bound here, None at the top level."""
    node = leaf.parent
    for _ in range(200):
        if node is None or node.parent is None:
            return None
        if node.type in _COMPREHENSIONS:
            return node
        if node.type == "for_in_clause" or (
            kind == "function" and language == "ruby" and node.type in ("block", "do_block")
        ):
            pass  # shares the variables around it
        elif _FUNCTIONS.search(node.type) and not (kind == "function" and node.type == "block"):
            if "declarator" not in node.type and "parameters" not in node.type and "type" not in node.type:
                return node
        elif _CLASSES.search(node.type):
            return node if kind == "type" else None
        elif kind == "block" and BLOCKS.search(node.type):
            return node
        node = node.parent
    return None


def _is_global(data: bytes, scope: tree_sitter.Node, name: str) -> bool:
    """Tell whether a function declares a name as global."""
    text = data[scope.start_byte : scope.end_byte]
    word = re.escape(name.encode("utf-8", "surrogateescape"))
    return re.search(rb"\b(?:global|nonlocal)[ \t]+[\w, \t$]*\$?\b" + word + rb"\b", text) is not None


def is_bound(name: str, byte: int, bindings: Collection[Binding]) -> bool:
    """Tell whether a name refers to a local variable where it occurs."""
    return any(
        binding.name == name and (binding.start <= byte < binding.end or binding.at == byte) for binding in bindings
    )


def field_of(child: tree_sitter.Node, parent: tree_sitter.Node) -> str:
    """Return the field of its parent that a node is, empty for none."""
    for index, other in enumerate(parent.children):
        if other == child:
            return parent.field_name_for_child(index) or ""
    return ""


def is_declaration(leaf: tree_sitter.Node) -> bool:
    """Tell whether a leaf is the name in a definition: of a parameter, a variable, a field or a function."""
    if _binding_kind(leaf)[0]:
        return True
    node, parent = leaf, leaf.parent
    for _ in range(4):
        if parent is None:
            return False
        field = field_of(node, parent)
        if field in _NAME_FIELDS and _DEFINITIONS.search(parent.type):
            return True
        is_declarator = "declarator" in parent.type or parent.type in ("variable_name", "property_element", "pattern")
        if not is_declarator and parent.start_byte != leaf.start_byte:
            return False
        if not is_declarator and field not in _NAME_FIELDS:
            return False
        node, parent = parent, parent.parent
    return False


def _is_product(node: tree_sitter.Node) -> bool:
    """Tell whether C# multiplies where the grammar sees a pointer declaration, as in `Wait(Timeout * Factor)`."""
    type_ = node.child_by_field_name("type")
    return type_ is not None and type_.type == "pointer_type"


def _binding_kind(leaf: tree_sitter.Node) -> tuple[str, int]:
    """Return the kind of scope of a name declared here, and the byte where it starts.

    The kind is `parameter` or `block`, or empty for a name that is not declared here.
    """
    node, parent = leaf, leaf.parent
    for _ in range(6):
        if parent is None:
            return "", 0
        if parent.type == "declaration_expression" and _is_product(parent):
            return "", 0
        if parent.type in _BINDINGS:
            fields = _BINDINGS[parent.type]
            field = field_of(node, parent)
            is_value = field in ("value", "default", "default_value", "type", "right", "body", "return_type", "init")
            is_first = not field and parent.named_child(0) == node
            if (fields is None and not is_value) or (fields is not None and (field in fields or is_first)):
                if parent.type in ("variable_declaration", "value_binding_pattern", "pattern") and not is_first:
                    return "", 0
                begins_body = any(BLOCKS.search(child.type) for child in parent.children[1:])
                first = leaf.start_byte if begins_body else parent.end_byte
                return "parameter" if _PARAMETER.search(parent.type) else "block", first
            return "", 0
        is_pattern = parent.type in PATTERNS or "pattern" in parent.type or "declarator" in parent.type
        if not is_pattern or parent.type in ("init_declarator",):
            return "", 0
        node, parent = parent, parent.parent
    return "", 0
