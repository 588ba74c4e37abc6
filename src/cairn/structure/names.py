"""Finds which variables a statement reads and writes.

A variable is a name, one attribute of a name (`self.total`), or all elements of a name (`items[]`). Writing a part
leaves the rest alone; reading the whole reads all parts. A method whose result nobody uses, or that is known to,
changes what it is called on. What is passed to a call is noted, since the call may change it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from cairn.source.languages.flow_syntax import FlowSyntax

if TYPE_CHECKING:
    import tree_sitter

ELEMENTS = "[]"
# In front of a name: the object is needed, whatever its parts hold.
REFERENCE = "*"
# Nodes around a target that change nothing about it, or of which only one field is the target.
_TARGET_FIELDS = {
    "assignment_pattern": ("left", "right"),
    "object_assignment_pattern": ("left", "right"),
    "pair_pattern": ("value", "key"),
    "default_parameter": ("name", "value"),
    "typed_default_parameter": ("name", "value"),
    "required_parameter": ("pattern", "value"),
    "optional_parameter": ("pattern", "value"),
    "formal_parameter": ("name", ""),
    "catch_formal_parameter": ("name", ""),
    "parameter_declaration": ("name", ""),
    "variadic_parameter_declaration": ("name", ""),
    "resource": ("name", "value"),
    "variable_declarator": ("name", "value"),
}
# Functions, patterns and assignments that are nested more deeply are left out.
_MAX_DEPTH = 60
_CALLED = "await await_expression expression_statement parenthesized_expression"
_DISCARDING = frozenset({"expression_statement", "go_statement", "defer_statement"})


class Passed(NamedTuple):
    """A variable that is handed to a call: to what, and as which argument, counted from 0 or by its name."""

    variable: str
    callee: str
    argument: int | str


@dataclass(slots=True)
class Access:
    """What is read and written. `writes` has, for each variable, whether its old value is certainly gone.

    `called` are variables with a method whose result nobody uses: a change, unless they are modules or types. `passed`
    are the arguments of calls, and `calls` tells whether there is any call.
    """

    reads: set[str] = field(default_factory=set)
    writes: dict[str, bool] = field(default_factory=dict)
    called: set[str] = field(default_factory=set)
    declared: set[str] = field(default_factory=set)
    outer: set[str] = field(default_factory=set)
    passed: list[Passed] = field(default_factory=list)
    calls: bool = False

    def write(self, name: str, *, certain: bool = True) -> None:
        """Add a write."""
        self.writes[name] = self.writes.get(name, False) or certain

    def add(self, other: Access) -> None:
        """Add what another part of the statement does."""
        self.reads |= other.reads
        self.declared |= other.declared
        self.outer |= other.outer
        self.called |= other.called
        self.passed += other.passed
        self.calls = self.calls or other.calls
        for name, certain in other.writes.items():
            self.write(name, certain=certain)


def base_of(name: str) -> str:
    """Return the name that a variable is, or is a part of."""
    return name.removeprefix(REFERENCE).partition(".")[0].removesuffix(ELEMENTS)


def affects(written: str, read: str) -> bool:
    """Tell whether a write to one variable may be seen by a read of another."""
    if read.startswith(REFERENCE):
        return written == read[1:]
    return written == read or base_of(written) == read or written == base_of(read)


class NameReader:
    """Reads the names of one language's nodes.

    `captures` holds what named nested functions read and write outside of themselves: mentioning one may call it.
    """

    def __init__(self, syntax: FlowSyntax) -> None:
        self._syntax = syntax
        self._depth = 0
        self.captures: dict[str, Access] = {}

    def access(self, node: tree_sitter.Node | None) -> Access:
        """Return what a statement or expression reads and writes."""
        access = Access()
        if node is not None:
            self._read(node, access)
        return access

    def binding(self, node: tree_sitter.Node | None) -> Access:
        """Return what binding a value to a pattern, or calling with parameters, writes."""
        access = Access()
        if node is not None:
            self._write(node, access)
        access.declared |= set(access.writes)
        return access

    def _read(self, node: tree_sitter.Node, access: Access) -> None:
        """Read an expression part by part; of parts within parts, only what binds names takes another call."""
        if self._depth >= _MAX_DEPTH:
            return
        self._depth += 1
        waiting = [node]
        while waiting:
            waiting += reversed(self._read_one(waiting.pop(), access))
        self._depth -= 1

    def _read_one(self, node: tree_sitter.Node, access: Access) -> list[tree_sitter.Node]:  # noqa: C901 - one branch a form of expression
        """Add what a node by itself reads and writes, and return those of its parts that are to be read next."""
        syntax, kind = self._syntax, node.type
        if kind in syntax.identifiers:
            self._use(_text(node), access)
        elif kind in syntax.outer_statements:
            access.outer |= {_text(child) for child in node.named_children}
        elif kind in syntax.skipped or kind in syntax.ignored:
            return []
        elif kind in syntax.functions:
            self._read_function(node, access)
        elif kind in syntax.comprehensions:
            self._comprehension(node, access)
        elif (bound := assigned_function(node, syntax)) is not None and bound[0] in self.captures:
            access.write(bound[0])
            access.declared |= {bound[0]} if kind != "assignment_expression" else set()
        elif kind in syntax.updates or (kind in syntax.assignments and _is_update(node)):
            self._update(node, access)
        elif kind in syntax.assignments:
            self._assign(node, access)
        elif kind in syntax.declarators:
            self._declare(node, access)
        elif kind in _BINDINGS:
            self._bind(node, access)
        elif kind in _IMPORTS:
            _write_imports(node, access)
        elif syntax.attributes and kind in syntax.attributes:
            return self._part(node, *syntax.attributes[kind], access)
        elif syntax.subscripts and kind in syntax.subscripts:
            return self._element(node, syntax.subscripts[kind], access)
        else:
            if syntax.calls and kind in syntax.calls:
                _add_call(node, *syntax.calls[kind], access, syntax)
                _add_arguments(node, *syntax.calls[kind], access, syntax)
            return _children(node, syntax)
        return []

    def _use(self, name: str, access: Access) -> None:
        access.reads.add(name)
        if name in self.captures:
            access.add(self.captures[name])

    def _read_function(self, node: tree_sitter.Node, access: Access) -> None:
        name = node.child_by_field_name("name")
        if node.type in self._syntax.named_functions and name is not None:
            access.write(_text(name))
            access.declared.add(_text(name))
            return
        access.add(captures_of(node, self, self._syntax))

    def _comprehension(self, node: tree_sitter.Node, access: Access) -> None:
        inner, own = Access(), set()
        for child in node.named_children:
            if child.type in self._syntax.comprehension_clauses:
                own |= set(self.binding(child.child_by_field_name("left")).writes)
                self._read_field(child, "right", inner)
            else:
                self._read(child, inner)
        access.reads |= {name for name in inner.reads if base_of(name) not in own}

    def _update(self, node: tree_sitter.Node, access: Access) -> None:
        target = node.child_by_field_name("left") or node.child_by_field_name("argument") or node.named_child(0)
        if target is not None:
            self._read(target, access)
            self._write(target, access)
        self._read_field(node, "right", access)

    def _assign(self, node: tree_sitter.Node, access: Access) -> None:
        right = node.child_by_field_name("right") or node.child_by_field_name("value")
        if right is not None:
            self._read(right, access)
        left = node.child_by_field_name("left") or node.child_by_field_name("name")
        targets = [left] if left is not None else ([] if right is not None else node.named_children)
        declares = node.type in ("short_var_declaration", "range_clause")
        for target in targets:
            before = set(access.writes)
            if right is not None or node.type not in ("assignment",):  # `name: type` writes nothing
                self._write(target, access)
            if declares:
                access.declared |= set(access.writes) - before

    def _declare(self, node: tree_sitter.Node, access: Access) -> None:
        value = node.child_by_field_name("value")
        if value is not None:
            self._read(value, access)
        for name in node.children_by_field_name("name"):
            bound = self.binding(name)
            access.reads |= bound.reads
            access.declared |= bound.declared
            for variable in bound.writes:
                access.write(variable)

    def _bind(self, node: tree_sitter.Node, access: Access) -> None:
        """Read what a node binds to the name behind it, such as `open(path) as file`."""
        for index, child in enumerate(node.children):
            if node.field_name_for_child(index) == _BINDINGS[node.type]:
                access.add(self.binding(child))
            elif child.is_named:
                self._read(child, access)

    def _part(self, node: tree_sitter.Node, owner: str, name: str, access: Access) -> list[tree_sitter.Node]:
        holder, part = node.child_by_field_name(owner), node.child_by_field_name(name)
        if holder is None:
            return []
        if part is None or holder.type not in self._syntax.identifiers:
            return [holder]
        access.reads.add(f"{_text(holder)}.{_text(part)}")
        if _text(holder) in self.captures:
            access.add(self.captures[_text(holder)])
        return []

    def _element(self, node: tree_sitter.Node, owner: str, access: Access) -> list[tree_sitter.Node]:
        holder = node.child_by_field_name(owner)
        parts = [
            child
            for index, child in enumerate(node.children)
            if child.is_named and node.field_name_for_child(index) != owner
        ]
        if holder is not None and holder.type in self._syntax.identifiers:
            access.reads.add(_text(holder) + ELEMENTS)
        elif holder is not None:
            parts.append(holder)
        return parts

    def _read_field(self, node: tree_sitter.Node, name: str, access: Access) -> None:
        if (child := node.child_by_field_name(name)) is not None:
            self._read(child, access)

    def _write(self, node: tree_sitter.Node, access: Access) -> None:
        if self._depth < _MAX_DEPTH:
            self._depth += 1
            self._write_one(node, access)
            self._depth -= 1

    def _write_one(self, node: tree_sitter.Node, access: Access) -> None:
        syntax, kind = self._syntax, node.type
        if kind in syntax.identifiers or kind in ("shorthand_property_identifier_pattern", "identifier"):
            access.write(_text(node))
        elif syntax.attributes and kind in syntax.attributes:
            self._write_part(node, *syntax.attributes[kind], access)
        elif syntax.subscripts and kind in syntax.subscripts:
            self._write_element(node, syntax.subscripts[kind], access)
        elif kind == "unary_expression":  # `*pointer = value`
            self._inside(node.named_children[-1], access)
        elif kind in _TARGET_FIELDS:
            target, value = _TARGET_FIELDS[kind]
            for part in node.children_by_field_name(target):
                self._write(part, access)
            if value:
                self._read_field(node, value, access)
        elif kind not in syntax.skipped:
            for child in node.named_children[: 1 if kind == "typed_parameter" else None]:
                self._write(child, access)

    def _write_part(self, node: tree_sitter.Node, owner: str, name: str, access: Access) -> None:
        holder, part = node.child_by_field_name(owner), node.child_by_field_name(name)
        if holder is not None and part is not None and holder.type in self._syntax.identifiers:
            access.write(f"{_text(holder)}.{_text(part)}")
            access.reads.add(REFERENCE + _text(holder))
        elif holder is not None:
            self._inside(holder, access)

    def _write_element(self, node: tree_sitter.Node, owner: str, access: Access) -> None:
        for index, child in enumerate(node.children):
            if child.is_named and node.field_name_for_child(index) != owner:
                self._read(child, access)
        holder = node.child_by_field_name(owner)
        if holder is not None and holder.type in self._syntax.identifiers:
            access.write(_text(holder) + ELEMENTS, certain=False)
            access.reads.add(REFERENCE + _text(holder))
        elif holder is not None:
            self._inside(holder, access)

    def _inside(self, owner: tree_sitter.Node, access: Access) -> None:
        """Write into what an expression holds: `a.b.c = 1` changes `a.b`, but not all of it."""
        self._read(owner, access)
        if held := _variable_of(owner, self._syntax):
            access.write(held, certain=False)


def captures_of(function: tree_sitter.Node, names: NameReader, syntax: FlowSyntax) -> Access:
    """Return what a nested function reads and writes outside of itself."""
    parameters = function.child_by_field_name("parameters") or function.child_by_field_name("parameter")
    own = set(names.binding(parameters).declared)
    body = names.access(function.child_by_field_name("body"))
    own |= body.declared
    if not syntax.declares_locals:
        own |= {name for name in body.writes if base_of(name) == name}
    own -= body.outer
    captures = Access()
    captures.reads = {name for name in body.reads if base_of(name) not in own}
    captures.writes = {name: False for name in body.writes if base_of(name) not in own}
    captures.called = {name for name in body.called if base_of(name) not in own}
    return captures


def assigned_function(node: tree_sitter.Node, syntax: FlowSyntax) -> tuple[str, tree_sitter.Node] | None:
    """Return the name and the function of `name = function`, None for any other node."""
    if node.type in syntax.declarators:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    elif node.type in syntax.assignments:
        name, value = node.child_by_field_name("left"), node.child_by_field_name("right")
    else:
        return None
    name, value = _only(name), _only(value)
    if name is None or value is None or name.type not in syntax.identifiers or value.type not in syntax.functions:
        return None
    return _text(name), value


def _children(node: tree_sitter.Node, syntax: FlowSyntax) -> list[tree_sitter.Node]:
    skipped = {field for kind, field in syntax.skipped_fields if kind == node.type}
    if not skipped:
        return node.named_children
    return [
        child
        for index, child in enumerate(node.children)
        if child.is_named and (node.field_name_for_child(index) or "") not in skipped
    ]


def _write_imports(node: tree_sitter.Node, access: Access) -> None:
    """Write the names that an import binds: the last ones in each of its parts, without strings and paths."""
    for child in node.named_children:
        module = node.child_by_field_name("module_name")
        if child.type in ("dotted_name", "identifier") and child != module:
            first = child.named_children[0] if child.named_children else child
            access.write(_text(first))
        elif child.type in ("aliased_import", "import_specifier"):
            name = child.child_by_field_name("alias") or child.child_by_field_name("name")
            access.write(_text(name) if name is not None else _text(child))
        elif child.type in ("import_clause", "named_imports", "namespace_import"):
            _write_imports(child, access)


def _add_call(node: tree_sitter.Node, called: str, name: str, access: Access, syntax: FlowSyntax) -> None:
    """Add that a call may change what its method is called on."""
    target = node.child_by_field_name(called)
    method = node.child_by_field_name(name) if name else None
    if target is not None and not name:
        attributes = syntax.attributes or {}
        if target.type not in attributes:
            return
        owner, part = attributes[target.type]
        method, target = target.child_by_field_name(part), target.child_by_field_name(owner)
    if target is None or method is None:
        return
    written = _variable_of(target, syntax)
    if written and _text(method) in syntax.mutators:
        access.write(written, certain=False)
    elif written and _is_discarded(node):
        access.called.add(written)


def _add_arguments(node: tree_sitter.Node, called: str, name: str, access: Access, syntax: FlowSyntax) -> None:
    """Add that a call gets some variables, which it may change."""
    access.calls = True
    callee = " ".join(_text(child) for field in (called, name) if (child := node.child_by_field_name(field)))
    arguments = node.child_by_field_name("arguments")
    if arguments is None:
        return
    for place, argument in enumerate(child for child in arguments.named_children if child.type not in syntax.ignored):
        value = argument.child_by_field_name("value") if argument.type == "keyword_argument" else argument
        keyword = argument.child_by_field_name("name") if argument.type == "keyword_argument" else None
        if value is not None and value.type == "unary_expression":  # `&variable`
            value = value.named_child(0)
        if variable := _variable_of(value, syntax):
            access.passed.append(Passed(variable, callee, _text(keyword) if keyword is not None else place))


def _variable_of(node: tree_sitter.Node | None, syntax: FlowSyntax) -> str:
    """Return the variable that holds what a path such as `a.b[i].c` leads to, empty if it is not a variable."""
    while node is not None:
        if node.type in syntax.identifiers:
            return _text(node)
        if syntax.attributes and node.type in syntax.attributes:
            owner, part = (node.child_by_field_name(name) for name in syntax.attributes[node.type])
            if owner is not None and part is not None and owner.type in syntax.identifiers:
                return f"{_text(owner)}.{_text(part)}"
        elif syntax.subscripts and node.type in syntax.subscripts:
            owner = node.child_by_field_name(syntax.subscripts[node.type])
            if owner is not None and owner.type in syntax.identifiers:
                return f"{_text(owner)}{ELEMENTS}"
        else:
            return ""
        node = owner
    return ""


# Nodes that bind a name to what stands before it: the field of that name.
_BINDINGS = {"as_pattern": "alias", "catch_formal_parameter": "name", "instanceof_expression": "name"}
_IMPORTS = frozenset({"import_statement", "import_from_statement"})


def _only(node: tree_sitter.Node | None) -> tree_sitter.Node | None:
    """Return what a list of one expression holds, anything else as it is."""
    is_list = node is not None and node.type == "expression_list" and node.named_child_count == 1
    return node.named_children[0] if node is not None and is_list else node


def _is_update(node: tree_sitter.Node) -> bool:
    """Tell whether an assignment reads its target first, as `+=` does where it has no node type of its own."""
    operator = node.child_by_field_name("operator")
    return operator is not None and operator.type not in ("=", ":=")


def _is_discarded(call: tree_sitter.Node) -> bool:
    parent = call.parent
    while parent is not None and parent.type in _CALLED.split() and parent.type not in _DISCARDING:
        parent = parent.parent
    return parent is not None and parent.type in _DISCARDING


def _text(node: tree_sitter.Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
