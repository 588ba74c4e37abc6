"""Finds the occurrences of a name in a file's code, and their roles: reading, writing, importing and so on.

Roles follow from the shape of the syntax tree, which is much the same in all grammars, and from the text between two
names. Which definition a name means is not decided here, but names of parameters and local variables are marked.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, NamedTuple

from cairn.source.bindings import BLOCKS, PATTERNS, Binding, field_of, find_binding, is_bound, is_declaration
from cairn.source.definitions import Lines, parse
from cairn.source.destructured import DESTRUCTURING, owner_of_property
from cairn.source.expressions import expression_of
from cairn.source.inner_names import read_inner_name
from cairn.source.languages import BY_NAME
from cairn.source.made_objects import makes_object

if TYPE_CHECKING:
    import tree_sitter

# The roles of a name; a `declaration` defines it.
ROLES = ("call", "construct", "base", "decorate", "import", "type", "write", "read", "declaration")
_MAX_OCCURRENCES = 5_000  # of a file
_MAX_CLIMB = 40
_MANY_CHILDREN = 2_000  # children of a node that holds statements or data

_NAMING = frozenset({"global_statement", "nonlocal_statement", "preproc_params"})  # just names
_IDENTIFIER_MARKS = b"@$&:"
_SEPARATOR = re.compile(rb"(?:\?\.|&\.|!{1,2}\.|::|\.)[ \t\r\n]*$")
_OTHER_SEPARATORS = {
    "c": re.compile(rb"(?:->|\.)[ \t\r\n]*$"),
    "cpp": re.compile(rb"(?:->|::|\.)[ \t\r\n]*$"),
    "php": re.compile(rb"(?:\?->|->|::|\\)[ \t\r\n]*\$?$"),
}
_COLON_CALLS = frozenset({"lua"})
_CHAIN_BEFORE = re.compile(rb"([@$\w]+(?:\([^()]*\))?(?:(?:\.|::|->)[\w]+(?:\([^()]*\))?)*)$")
_FOLLOWED_BY_CALL = re.compile(
    rb"[ \t]?(?:::)?(?:<[^<>()\n;=]*(?:<[^<>()\n;]*>[^<>()\n;]*)*>)?(?:\[[\w., *]+\])?[ \t]?\(|![ \t]?[\[({]"
)
_NEW = re.compile(rb"\bnew[ \t]+[\w.:\\]*$")
_DECORATOR = re.compile(rb"(?:^|[ \t\n(])(?:@|#\[)[\w.:]*$")

_IMPORTS = re.compile(
    r"import|^(?:use_declaration|use_list|extern_crate_declaration|using_directive|namespace_use|preproc_include"
    r"|export_clause|export_specifier|namespace_export|alias_directive)"
)
_BASES = frozenset(
    {"superclass", "super_interfaces", "extends_interfaces", "base_list", "base_class_clause", "class_heritage"}
    | {"extends_clause", "implements_clause", "extends_type_clause", "delegation_specifier", "delegation_specifiers"}
    | {"inheritance_specifier", "base_clause", "class_interface_clause", "type_inheritance_clause", "derives_clause"}
)
_ARGUMENTS_OF_TYPES = frozenset(
    {"type_arguments", "type_argument_list", "type_projection", "template_argument_list", "type_parameters"}
)
_CONSTRUCTIONS = {
    "object_creation_expression": None, "new_expression": None, "composite_literal": "type",
    "struct_expression": "name", "instance_expression": None, "struct_literal": "name",
}  # fmt: skip
_TYPES = re.compile(
    r"^(?:type|type_annotation|generic_type|user_type|nullable_type|optional_type|union_type|array_type|pointer_type"
    r"|reference_type|named_type|scoped_type_identifier|qualified_type|type_list|type_constraint|type_bound"
    r"|trait_bounds|where_predicate|intersection_type|function_type|tuple_type|slice_type|map_type|channel_type"
    r"|return_type|simple_type|type_descriptor|bounded_type|dynamic_type|abstract_type|catch_type|throws|type_elem"
    r"|constrained_type_parameter|existential_type|opaque_type|member_type|type_query|predefined_type|readonly_type)$"
)
_TYPE_TESTS = frozenset({"as_expression", "is_expression", "instanceof_expression", "binary_expression_is"})
_TYPE_FIELDS = frozenset({"type", "return_type", "returns", "trait"})
_STOPS = re.compile(
    r"block|body|statement_list|^(?:source_file|module|program|translation_unit|compilation_unit)$|_list$"
)

_MAY_UPDATE = frozenset(
    {"postfix_expression", "prefix_expression", "postfix_unary_expression", "prefix_unary_expression"}
    | {"unary_expression"}
)
_FIELD_PATTERNS = re.compile(r"^(?:field_pattern|object_pattern)$")
_UPDATES = re.compile(rb"(?:\+\+|--)\s*$|^\s*(?:\+\+|--)")
_KEYS = {
    "keyed_element": 0, "field_initializer": 0, "shorthand_field_initializer": 0, "keyword_argument": 0, "pair": 0,
    "initializer_pair": 0, "named_argument": 0, "value_argument": 0, "value_argument_label": 0, "argument": 0,
    "field_designator": 0, "designator": 0, "field_pattern": 0, "name_colon": 0,
}  # fmt: skip
_LITERALS = {
    "composite_literal": "type", "struct_expression": "name", "call": "function", "call_expression": "function",
    "object_creation_expression": "type", "new_expression": "constructor", "struct_pattern": "type",
    "function_call_expression": "function", "invocation_expression": "function",
    "implicit_object_creation_expression": "type", "compound_literal_expression": "type",
}  # fmt: skip

# Elixir's type attributes, in which things that look like calls are not.
_SPECIFICATIONS = frozenset({b"spec", b"callback", b"macrocallback", b"type", b"typep", b"opaque"})


class Occurrence(NamedTuple):
    """An occurrence of a name in code.

    Attributes:
        line: 1-based.
        start_byte: of the name.
        name: the name.
        role: one of `ROLES`.
        head: the expression before the last dot, in the form of `cairn.source.references`; empty for a plain name. For
            a `key`, the type of its literal, or the function called with it.
        is_local: whether it is the name of a parameter or local variable there.
        is_key: whether it is a key in a literal, or the name of an argument.
    """

    line: int
    start_byte: int
    name: str
    role: str
    head: str = ""
    is_local: bool = False
    is_key: bool = False


def find_occurrences(data: bytes, language: str, names: Collection[str]) -> list[Occurrence]:
    """Return the occurrences of names in a file's code, in reading order; strings and most comments do not count."""
    reader = _Reader(data, language, parse(data, BY_NAME[language]).root_node)
    return reader.read(frozenset(names))


class _Reader:
    """Reads the occurrences of names in one file."""

    def __init__(self, data: bytes, language: str, root: tree_sitter.Node) -> None:
        self._data = data
        self._language = language
        self._root = root
        self._starts = Lines.of(data).starts  # the parser may have other ideas of line breaks

    def read(self, names: frozenset[str]) -> list[Occurrence]:
        """Return the occurrences of some names."""
        found: list[Occurrence] = []
        bindings: list[Binding] = []
        for leaf, match in self._leaves(names):
            name, start = match[0].decode("utf-8", "surrogateescape"), match.start()
            inner = read_inner_name(leaf, self._data, start, match.end(), self._language)
            if inner is not None:
                line, head = bisect_right(self._starts, start), "?" if inner.is_member else ""
                found.append(Occurrence(line, start, name, inner.role, head))
                continue
            occurrence = self._occurrence(leaf, name) if self._is_name(leaf, match[0]) else None
            if occurrence is None:
                continue
            is_assigned = occurrence.role == "write" and not occurrence.is_key
            binding = find_binding(self._data, self._language, leaf, occurrence.name, is_assigned=is_assigned)
            if binding is not None and (not occurrence.head or (occurrence.is_key and occurrence.role == "read")):
                bindings.append(binding)
            found.append(occurrence)
        return [occurrence._replace(is_local=_is_local(occurrence, bindings)) for occurrence in found]

    def _leaves(self, names: frozenset[str]) -> Iterator[tuple[tree_sitter.Node, re.Match[bytes]]]:
        """Yield the leaves of the tree that are among the names, each with the name that it matches."""
        words = b"|".join(re.escape(name.encode("utf-8", "surrogateescape")) for name in sorted(names))
        pattern = re.compile(rb"(?<!\w)(?:" + words + rb")(?!\w)")
        for count, match in enumerate(pattern.finditer(self._data)):
            if count >= _MAX_OCCURRENCES:
                return
            leaf = self._root.descendant_for_byte_range(match.start(), match.end())
            if leaf is None:
                continue
            yield leaf, match

    def _is_name(self, leaf: tree_sitter.Node, name: bytes) -> bool:
        """Tell whether a leaf is a name, and not in a string or comment, except for a type in quotes."""
        text = leaf.text or b""
        if leaf.parent is not None and leaf.parent.type == "destructor_name":
            return False  # C++'s `~Type` is another name
        if leaf.type == "alias" and text.endswith(b"." + name):  # an Elixir module with its outer modules
            return True
        is_symbol = text.startswith(b":")
        if name not in (text, text.strip(_IDENTIFIER_MARKS)) or leaf.child_count > 1 or is_symbol:
            return False
        if "comment" in leaf.type or "string" in leaf.type:
            return "string" in leaf.type and _is_in_annotation(leaf)
        return leaf.is_named or leaf.type == name.decode("utf-8", "replace")

    def _occurrence(self, leaf: tree_sitter.Node, name: str) -> Occurrence | None:
        line, start = bisect_right(self._starts, leaf.start_byte), leaf.start_byte
        expression, head = self._expression(leaf)
        if leaf.type == "alias" and self._language == "elixir":
            around = (leaf.text or b"").decode("utf-8", "replace")[: -len(name)].rstrip(".")
            return Occurrence(line, start, name, _role_of_module(leaf), around)
        if self._language == "elixir" and self._data[start - 1 : start] == b"@":
            return Occurrence(line, start, name, _role_of_attribute(leaf), "@")
        if self._language == "php" and not head and self._data[start - 1 : start] == b"$":
            name = f"${name}"
        if leaf.parent is not None and leaf.parent.type in _NAMING:
            return Occurrence(line, start, name, "declaration", head="?")
        if _is_within(leaf, _IMPORTS):
            return Occurrence(line, start, name, "import")
        if self._language in DESTRUCTURING and (owner := owner_of_property(leaf)):
            return Occurrence(line, start, name, "read", owner, is_key=True)
        if (key := self._literal_of(expression)) is not None and not head:
            is_pattern = _is_within(leaf, _FIELD_PATTERNS)
            return Occurrence(line, start, name, "read" if is_pattern else "write", key, is_key=True)
        if not head and is_declaration(leaf):
            return Occurrence(line, start, name, "declaration")
        if self._language == "elixir" and (specification := _specification_around(leaf)) is not None:
            is_head = specification.start_byte == start
            return Occurrence(line, start, name, "declaration" if is_head else "type", head)
        return Occurrence(line, start, name, self._role(leaf, expression, head), head)

    # -- expressions ---------------------------------------------------------------------------------------------------

    def _expression(self, leaf: tree_sitter.Node) -> tuple[tree_sitter.Node, str]:
        """Return the node that ends in a leaf's name, and the expression before the name; empty for a plain name."""
        data = self._data
        if leaf.type in ("instance_variable", "class_variable"):
            return leaf, "@"
        if leaf.parent is not None and leaf.parent.type == "field_designator":
            return leaf.parent, ""
        window = max(0, leaf.start_byte - 200)
        match = _OTHER_SEPARATORS.get(self._language, _SEPARATOR).search(data, window, leaf.start_byte)
        at = match.start() if match is not None else -1
        if at >= 0 and b"\n" in data[at : leaf.start_byte] and self._is_comment(at):
            return leaf, ""
        if match is None and self._language in _COLON_CALLS and data[leaf.start_byte - 1 : leaf.start_byte] == b":":
            at = leaf.start_byte - 1
        if at < 0 or (data[at : at + 1] == b"." and data[at - 1 : at] == b"."):
            return leaf, ""
        node = leaf
        while node.parent is not None and node.start_byte >= at:
            node = node.parent
        before = data[node.start_byte : at]
        if node.type in ("token_tree", "ERROR") or node.start_byte < at - 400 or BLOCKS.search(node.type):
            chain = _CHAIN_BEFORE.search(data, window, at)
            before = chain[1] if chain is not None else b""
        head = expression_of(before.lstrip(b"([{ \t\n")) if before.strip() else ""
        return node, head or "?"

    def _is_comment(self, byte: int) -> bool:
        node = self._root.descendant_for_byte_range(byte, byte + 1)
        return node is not None and ("comment" in node.type or "string" in node.type)

    def _literal_of(self, node: tree_sitter.Node) -> str | None:
        """Return the type of the literal, or the called function, that has a name as key; None for other names."""
        inner, parent = node, node.parent
        for _ in range(3):
            if parent is None:
                return None
            if parent.type in _KEYS and _is_key_of(inner, parent, self._data):
                return self._owner_of_key(parent)
            if parent.type == "assignment_expression" and parent.parent is not None:
                if parent.parent.type == "initializer_expression" and parent.named_child(0) == inner:
                    return self._owner_of_key(parent)
                return None
            if parent.start_byte != node.start_byte:
                return None
            inner, parent = parent, parent.parent
        return None

    def _owner_of_key(self, node: tree_sitter.Node) -> str:
        for _ in range(_MAX_CLIMB):
            parent = node.parent
            if parent is None:
                break
            if parent.type in _LITERALS:
                owner = parent.child_by_field_name(_LITERALS[parent.type]) or parent.named_child(0)
                if owner is None or owner.end_byte > node.start_byte:
                    break
                text = re.sub(rb"^(?:\[[^\]]*\]|map\[[^\]]*\]|[*&])+", b"", owner.text or b"")
                return expression_of(text) or "?"
            if BLOCKS.search(parent.type) and parent.type not in ("match_arm",):
                break
            node = parent
        return "?"

    # -- roles ---------------------------------------------------------------------------------------------------------

    def _role(self, leaf: tree_sitter.Node, expression: tree_sitter.Node, head: str) -> str:
        data = self._data
        if "string" in leaf.type:
            return "type"
        node = expression if head else leaf
        role = _role_by_ancestors(node, self._data)
        if (
            role == "read"
            and self._language == "csharp"
            and leaf.parent is not None
            and leaf.parent.type == "attribute"
        ):
            return "decorate"
        if role == "type" and self._language == "cpp" and _is_type_of_object(node):
            return "construct"
        if role in ("base", "construct", "write"):
            return role
        before = data[max(0, node.start_byte - 60) : node.start_byte]
        if _NEW.search(before) or (head and _NEW.search(data[max(0, leaf.start_byte - 80) : leaf.start_byte])):
            return "construct"
        if role == "decorate" or _DECORATOR.search(before):
            return "decorate"
        if role != "type" and _FOLLOWED_BY_CALL.match(data, leaf.end_byte):
            return "call"
        return role


def _is_type_of_object(node: tree_sitter.Node) -> bool:
    """Tell whether a name is the type in a C++ declaration that constructs an object; see `makes_object`."""
    for _ in range(_MAX_CLIMB):
        parent = node.parent
        if parent is None or parent.type == "template_argument_list":
            return False
        if parent.type in ("declaration", "field_declaration"):
            return parent.child_by_field_name("type") == node and makes_object(parent)
        node = parent
    return False


def _role_of_module(leaf: tree_sitter.Node) -> str:
    """Return the role of an Elixir module: imported, or used otherwise."""
    node = leaf.parent
    for _ in range(4):
        if node is None:
            break
        if node.type == "call":
            target = node.child_by_field_name("target")
            word = (target.text or b"").decode("utf-8", "replace") if target is not None else ""
            if word in ("alias", "import", "use", "require"):
                return "import"
            return "declaration" if word in ("defmodule", "defprotocol") else "read"
        node = node.parent
    return "read"


def _role_of_attribute(leaf: tree_sitter.Node) -> str:
    """Return the role of an Elixir module attribute: `@rate 2` sets it."""
    return "write" if leaf.parent is not None and leaf.parent.type == "call" else "read"


def _specification_around(leaf: tree_sitter.Node) -> tree_sitter.Node | None:
    """Return the Elixir type attribute around a name, such as `@spec`, if there is one."""
    node = leaf.parent
    while node is not None and not BLOCKS.search(node.type):
        around = node.parent
        if node.type == "arguments" and around is not None and around.type == "call":
            word = around.child_by_field_name("target")
            is_attribute = around.parent is not None and around.parent.type == "unary_operator"
            if word is not None and is_attribute and word.text in _SPECIFICATIONS:
                return node
        node = around
    return None


def _is_local(occurrence: Occurrence, bindings: Collection[Binding]) -> bool:
    if occurrence.head or occurrence.is_key or occurrence.role == "import":
        return False
    return is_bound(occurrence.name, occurrence.start_byte, bindings)


def _is_in_annotation(leaf: tree_sitter.Node) -> bool:
    node = leaf.parent
    for _ in range(4):
        if node is None:
            return False
        if node.type in ("type", "type_parameter"):
            return True
        node = node.parent
    return False


def _is_within(leaf: tree_sitter.Node, types: re.Pattern[str]) -> bool:
    node = leaf.parent
    for _ in range(8):
        if node is None or BLOCKS.search(node.type):
            return False
        if types.search(node.type):
            return True
        node = node.parent
    return False


def _is_key_of(inner: tree_sitter.Node, parent: tree_sitter.Node, data: bytes) -> bool:
    """Tell whether a node comes before the colon or equals sign of an entry in a literal."""
    if parent.type in ("shorthand_field_initializer", "designator", "value_argument_label", "initializer_pair"):
        return parent.named_child(0) == inner
    first = parent.named_child(0)
    if first is None or first != inner:
        return False
    mark = data[inner.end_byte : inner.end_byte + 3].lstrip()[:2]
    return (mark[:1] == b":" and mark != b"::") or (mark[:1] == b"=" and mark not in (b"==", b"=>"))


def _role_by_ancestors(node: tree_sitter.Node, data: bytes) -> str:  # noqa: C901 - one branch a shape
    """Return the role of an expression by the nodes around it."""
    role = "type" if node.type in ("type_identifier",) else "read"
    inner, parent = node, node.parent
    is_target = True
    for _ in range(_MAX_CLIMB):
        if parent is None or parent.child_count > _MANY_CHILDREN:
            return role
        kind = parent.type
        field = field_of(inner, parent)
        if kind == "pointer_type" and parent.parent is not None and parent.parent.type == "declaration_expression":
            return "read"  # C#'s `Wait(Timeout * Factor)`
        if kind == "generic_name":  # C#: a type or function with type arguments
            inner, parent = parent, parent.parent
            continue
        if kind in _ARGUMENTS_OF_TYPES:
            return "type"
        if kind in _BASES or field in ("superclass", "superclasses", "interfaces"):
            return "base"
        if kind == "impl_item" and field == "trait":
            return "base"
        if kind in _CONSTRUCTIONS and field == (_CONSTRUCTIONS[kind] or field) and field not in ("arguments", "body"):
            return "construct" if inner.start_byte == node.start_byte or kind == "composite_literal" else role
        if is_target and (written := _is_written(inner, parent, field, data)):
            return "write" if written == "yes" else role
        if kind in ("decorator", "annotation", "marker_annotation", "attribute_item", "attribute_list"):
            return "decorate" if kind != "attribute_list" else role
        if _TYPES.match(kind) or field in _TYPE_FIELDS or (kind in _TYPE_TESTS and parent.named_child(0) != inner):
            role = "type"
        elif kind not in PATTERNS:
            is_target = False
            if (role != "type" or _STOPS.search(kind)) and not _is_bases_of_class(parent):
                return role
        if _STOPS.search(kind) and kind not in PATTERNS and not _is_bases_of_class(parent):
            return role
        inner, parent = parent, parent.parent
    return role


def _is_bases_of_class(node: tree_sitter.Node) -> bool:
    return node.type == "argument_list" and node.parent is not None and node.parent.type == "class_definition"


def _is_written(inner: tree_sitter.Node, parent: tree_sitter.Node, field: str, data: bytes) -> str:
    """Return `yes` if a node assigns to a child, `no` if the child is the assigned value, else an empty string."""
    kind = parent.type
    if "assign" in kind and kind not in ("assignment_list",) and kind not in PATTERNS:
        return "yes" if field in ("left", "target", "lhs") or (not field and parent.named_child(0) == inner) else "no"
    if kind in ("update_expression", "inc_statement", "dec_statement", "delete_statement"):
        return "yes"
    if kind in _MAY_UPDATE:
        return "yes" if _UPDATES.search(data[parent.start_byte : parent.end_byte]) else ""
    if kind in ("for_statement", "for_in_clause", "for_in_statement", "range_clause") and field == "left":
        return "yes"
    return ""
