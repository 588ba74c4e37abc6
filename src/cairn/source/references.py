"""Finds what a file refers to: its facts, from which the symbol graph is built.

The query `references.scm` of a language captures whole nodes, whose text is read here, because one wide node is cheaper
than many small ones:
    `@call @construct @inherit @implement @decorate`: an expression that refers to something. With `@receiver` in the
        same match, the expression begins there. With `@made`, it counts where this declaration makes an object.
    `@use`: a name passed on as a value; it counts where the file defines or imports it, and no variable hides it.
    `@given`: the same, of a member, or in a language that sees names of other files without importing them. With
        `@receiver`, it begins there, and counts as the last name of a chain.
    `@bound`: the name in the declaration of a variable or parameter, which hides others within its definition.
    `@import`: a statement. `@package`: the name of what the whole file belongs to.
    `@var` with `@value` or `@type`: a variable, and what it holds.
    `@item` with `@value`: a variable that holds each item in turn; `@content`: one that holds what is in an optional
        value or a result; `@parts`: several variables that hold the parts of a tuple.
    `@closure`: a function without a name; it counts as an argument of a call, and is a scope of its own.
    `@fields`: types in brackets, each of a field with a number for a name; with `@variant`, of a case of an enum.
    `@pattern`: a pattern of Rust that takes a structure or a case of an enum apart.
    `@head`: the beginning of a definition that looks like a call to itself; no reference begins there.
    `@unnamed`: a namespace without a name, whose content no other file sees.
    `@types`: a statement in which what looks like a call names a type.
    `@this` with `@type`: the name of a method of an anonymous class, and what this class extends.
    `@implied`: a call that names no type, which comes from where it stands.
    `@cast` with `@type`: a variable that is found to be of a type, as in `x is Type`.
    `@result`: what a function returns, kept as the value of a variable called `return`.
    `@default`: the name that `import x from` gets.
    `@local`: a variable that hides what else has its name, whatever it holds.
    `@doc`: a comment that may declare the types of what follows it.
    `@macro`: the name of a macro that is called; kept with a `!` behind it.
    `@token`: a name in what the grammar leaves as a row of tokens: as `@use`, or as `@given` with the path before it.
    `@loose`: a name before brackets in what the grammar leaves as a row of tokens; what it is called on is read from
        the tokens before it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from cairn.source.arguments import OVERLOADING, UNKNOWN, count_given
from cairn.source.branches import Branch, bound_by, branches_of
from cairn.source.closures import Blocks, Closure, ParsedClosure, read_closure
from cairn.source.definitions import Lines, ParsedDefinition, find_definitions, parse
from cairn.source.docblocks import declared_types
from cairn.source.expressions import expression_in, expression_of
from cairn.source.extension_blocks import values_of_blocks
from cairn.source.facts import NO_FACTS, Facts
from cairn.source.implied import read_implied
from cairn.source.imports import Import, ImportFlag, read_import, without_known
from cairn.source.inner_names import imports_in_comments
from cairn.source.languages import Language, load_grammar, load_reference_text
from cairn.source.made_objects import makes_object
from cairn.source.passed import PASSED, PassedNames
from cairn.source.ruby_values import EVALUATED, Locals, delegated, last_values
from cairn.source.tokens import read_call
from cairn.source.type_names import type_name, type_text, type_written
from cairn.types import Definition

if TYPE_CHECKING:
    import tree_sitter

KINDS = ("call", "construct", "inherit", "implement", "decorate", "use")
_KIND_OF = {name: number for number, name in enumerate(KINDS) if name != "use"}
RESULT, THIS = "return", "this"
HIDDEN = " hidden"  # stands for a variable in what a namespace without a name holds
CAST = " is"  # behind the name of a variable: what it is found to be somewhere
_BARE_ARGUMENTS = frozenset({"ruby"})  # may follow a name without brackets
_CALL, _DECORATE, _USE = map(KINDS.index, ("call", "decorate", "use"))
_BASES = frozenset({_KIND_OF["inherit"], _KIND_OF["implement"]})
# A value belongs to the function or type around it, not to the variable it is assigned to.
_VALUE_KINDS = frozenset({"variable", "constant", "field", "property", "key", "section", "type", "macro"})
# What is taken out of a value, by how the query calls what holds it.
_TAKEN = {"item": "[]", "content": ".unwrap()"}
_OTHER_CALLS = frozenset({"implied", "macro", "loose", "later"})
_VARIABLES = frozenset({"var", "parts", "pattern", *_TAKEN})
_FUNCTIONS = frozenset({"arrow_function", "function_definition", "function_expression", "lambda"})
_NAMES = frozenset({"identifier", "simple_identifier", "shorthand_property_identifier_pattern"})
_SELECTORS = frozenset({"selector", "unconditional_assignable_selector"})
_PLAIN_PATTERNS = _NAMES | {"instance_variable", "mut_pattern", "ref_pattern", "variable_declaration", "pattern"}
_TUPLES = frozenset({"tuple_expression", "array_expression", "right_assignment_list"})
_NEW = re.compile(rb"(?:^|[.:])new$")  # of Ruby, without brackets
_NO_NULL = re.compile(r"^null\||\|null$")
# Of one file; more is generated code.
_MAX_KEPT_REFERENCES = 60_000
_MAX_IMPORTS, _MAX_VALUES = 20_000, 60_000
_MAX_CLOSURES = 20_000
_MAX_IMPORT_CHARS = 500  # of a module, or of a name

_SPACE = re.compile(r"\s+")
Captures = dict[str, list["tree_sitter.Node"]]


class _Reference(NamedTuple):
    """A reference in a file: where it begins and ends, what kind, its text, and how many arguments it gives."""

    start: int
    kind: int
    raw: bytes
    end: int
    given: int = UNKNOWN


def read_facts(data: bytes, language: Language) -> tuple[tuple[Definition, ...], Facts]:
    """Return the definitions of a file in reading order, and what it refers to.

    Never raises for bad content: a file without a grammar, or without a query for it, has no facts.
    """
    if not language.has_references or not data.strip():
        return (), NO_FACTS
    import tree_sitter  # noqa: PLC0415 - start-up time: what is stored needs no parser

    lines = Lines.of(data)
    tree = parse(data, language)
    parsed = find_definitions(tree, data, lines, language)
    matches = tree_sitter.QueryCursor(_compile_query(language)).matches(tree.root_node)
    collector = _Collector(parsed, data, lines, language.name)
    wrappers = [found for wrapper in language.support.wrappers for found in re.finditer(wrapper, data)]
    macros = [found for found in wrappers if found[3]]
    facts = collector.collect([captures for _, captures in matches if _counts(captures)], macros)
    if len(macros) < len(wrappers):
        extended = values_of_blocks(data, wrappers, [item.definition.span.start_byte for item in parsed])
        facts = facts._replace(values=[*facts.values, *extended])
    return tuple(item.definition for item in parsed), facts


def _counts(captures: Captures) -> bool:
    return "made" not in captures or makes_object(captures["made"][0])


@cache
def _compile_query(language: Language) -> tree_sitter.Query:
    import tree_sitter  # noqa: PLC0415 - start-up time: what is stored needs no parser

    return tree_sitter.Query(load_grammar(language), load_reference_text(language))


class _Collector:
    """Collects the facts of one file; `parsed` are its definitions in reading order."""

    def __init__(self, parsed: Sequence[ParsedDefinition], data: bytes, lines: Lines, language: str) -> None:
        self._parsed = parsed
        self._data = data
        self._starts = lines.starts
        self._language = language
        self._raw = partial(_raw, data, language)
        self._expression = partial(expression_in, language)
        self._type = type_name if language in ("go", "python") else type_text
        self._def_starts = [item.definition.span.start_byte for item in parsed]
        self._borders, self._owners = _owners(parsed)
        self._closures: list[ParsedClosure] = []
        self._parents = [item.definition.parent for item in parsed]
        self._blocks = Blocks((), self._def_starts, self._parents, self._scope)
        self._locals_of_ruby = Locals(self._blocks, len(parsed), ())
        self._imports = list(imports_in_comments(data, lines.starts, language))
        self._values: list[tuple[int, str, str]] = []
        self._locals: set[tuple[int, str]] = set()
        self._package = ""
        self._counts = language in OVERLOADING
        self._passed = PassedNames(self._scope, self._parents)
        self._records = {"import": self._import, "doc": self._doc, "local": self._local}

    def collect(self, matches: Sequence[Captures], wrappers: Iterable[re.Match[bytes]]) -> Facts:
        """Make the facts of what the query captures, and of macros that the parser did not see: `Support.wrappers`."""
        data = self._data
        references = [_Reference(found.start(3), _CALL, found[3] + b"!", found.end(3)) for found in wrappers]
        heads, types = set[int](), set[int]()
        self._find_closures(matches)
        for captures in matches:
            for name, nodes in captures.items():
                node = nodes[0]
                if (kind := _KIND_OF.get(name)) is not None:
                    start, end = node.start_byte, node.end_byte
                    if "receiver" in captures:
                        start = min(start, captures["receiver"][0].start_byte)
                    count = count_given(node, self._language) if self._counts and kind == _CALL else UNKNOWN
                    references.append(_Reference(start, kind, data[start:end], end, count))
                elif name == "given" and "receiver" in captures:
                    self._passed.add_member(captures["receiver"][0], node)
                elif name in PASSED:
                    self._passed.add(name, node)
                elif name == "head":
                    heads.add(node.start_byte)
                elif name == "types":
                    types.update(range(node.start_byte, node.end_byte))
                elif name in _OTHER_CALLS:
                    references += self._other_calls(name, node)
                else:
                    self._statement(name, node, captures)
        names = {item.definition.name.encode("utf-8", "replace") for item in self._parsed}
        names |= {imported.alias.encode("utf-8", "replace") for imported in self._imports}
        references = [
            reference._replace(kind=_USE) if reference.start in types else reference
            for reference in references
            if reference.start not in heads
        ]
        called = {(reference.start, reference.end) for reference in references if reference.kind == _CALL}
        passed = (use for use in self._passed.counting(names) if (use.start, use.end) not in called)
        references += [_Reference(use.start, _USE, use.raw, use.end) for use in passed]
        references.sort()
        return self._facts(references[:_MAX_KEPT_REFERENCES])

    def _other_calls(self, name: str, node: tree_sitter.Node) -> Iterator[_Reference]:
        """Yield the call that a node is which the grammar takes for something else, if it is one."""
        start, end = node.start_byte, node.end_byte
        if name == "implied":
            implied = read_implied(node, lambda part: self._expression(self._raw(part)), self._type)
            self._values += [(self._blocks.scope_at(start), *held) for held in implied.values]
            yield _Reference(start, _CALL, implied.expression.encode(), end, count_given(node, self._language))
        elif name == "later":
            module = node.prev_named_sibling
            if module is not None and (module.type == "alias" or module.text == b"__MODULE__"):
                raw = self._raw(module) + b"." + self._data[start:end].lstrip(b":")
                yield _Reference(module.start_byte, _CALL, raw, end)
        elif name == "macro":
            yield _Reference(start, _CALL, self._data[start:end] + b"!", end)
        elif (call := read_call(node)) is not None:
            mark = b"!" if call.is_macro else b""
            yield _Reference(call.start, _CALL, self._data[call.start : end] + mark, end)

    def _statement(self, name: str, node: tree_sitter.Node, captures: Captures) -> None:
        """Record a capture that is not a reference."""
        if (record := self._records.get(name)) is not None:
            record(node)
        elif name in _VARIABLES:
            self._variables(name, node, captures)
        elif name == "fields":
            self._numbered_fields(node, _text(captures["variant"][0]) if "variant" in captures else "")
        elif name == "this" and (own := type_name(_text(captures["type"][0]))):
            self._values.append((self._scope(node.start_byte), THIS, f":{own}"))
        elif name == "cast" and (own := self._type(_text(captures["type"][0]))):
            variable = f"{expression_of(self._data[node.start_byte : node.end_byte])}{CAST}"
            self._values.append((self._blocks.scope_at(node.start_byte), variable, own))
        elif name in ("result", "delegate", "evaluated", "yielded", "unnamed"):
            self._given(name, node)
        elif name == "default":
            self._imports.append(
                Import("", _text(node), "default", bisect_right(self._starts, node.start_byte), ImportFlag.REEXPORT)
            )
        elif name == "package" and not self._package:
            self._package = _SPACE.sub("", _text(node)).strip("\\.")

    def _facts(self, references: list[_Reference]) -> Facts:
        """Make the columns."""
        texts: dict[str, int] = {}
        numbers: dict[bytes, int] = {}
        rows: list[tuple[int, ...]] = []
        for start, kind, raw, end, given in references:
            number = numbers.get(raw)
            if number is None:
                expression = self._expression(raw)
                number = numbers[raw] = texts.setdefault(expression, len(texts)) if expression else -1
            if number >= 0:
                scope = self._target(kind, start, self._scope(start))
                rows.append((kind, number, scope, bisect_right(self._starts, end - 1), start, given))
        kinds, expressions, scopes, lines, starts, counts = map(list, zip(*rows, strict=True)) if rows else ([],) * 6
        closures = tuple(map(self._closure, self._closures))
        return Facts(
            list(texts),
            kinds,
            expressions,
            scopes,
            lines,
            without_known(self._imports, [item.definition.name for item in self._parsed])[:_MAX_IMPORTS],
            self._values[:_MAX_VALUES],
            self._package[:_MAX_IMPORT_CHARS],
            closures,
            tuple(map(self._blocks.block_at, starts)) if closures else (),
            self._blocks.enclosed(),
            counts if self._counts else (),
        )

    def _find_closures(self, matches: Sequence[Captures]) -> None:
        nodes = {captures["closure"][0].id: captures["closure"][0] for captures in matches if "closure" in captures}
        ordered = sorted(nodes.values(), key=lambda node: (node.start_byte, -node.end_byte))[:_MAX_CLOSURES]
        self._closures = [found for node in ordered if (found := read_closure(node)) is not None]
        spans = [(found.node.start_byte, found.node.end_byte) for found in self._closures]
        self._blocks = Blocks(spans, self._def_starts, self._parents, self._scope)
        self._locals_of_ruby = Locals(self._blocks, len(self._parsed), [start for start, _ in spans])

    def _closure(self, found: ParsedClosure) -> Closure:
        callee = self._expression(self._raw(found.callee))
        callee = callee.removesuffix("()") if self._language == "ruby" else callee
        given = self._expression(self._raw(found.given)) if found.given is not None and callee == "with" else ""
        parameters = tuple(f"{name}:{self._type(type_)}".rstrip(":") for name, type_ in found.parameters)
        around = self._blocks.scope_at(found.node.start_byte - 1)
        types = tuple(map(self._type, found.types))
        return Closure(around, callee, found.argument, found.label, given, parameters, types)

    def _import(self, node: tree_sitter.Node) -> None:
        start = node.start_byte
        flags = ImportFlag.DEFERRED if self._scope(start) >= 0 or _is_in_function(node) else ImportFlag(0)
        block = node.parent
        if block is not None and block.parent is not None and block.parent.type == "if_statement":
            condition = block.parent.child_by_field_name("condition")
            if condition is not None and b"TYPE_CHECKING" in (condition.text or b""):
                flags |= ImportFlag.TYPE_ONLY
        imports = read_import(_text(node), self._language, bisect_right(self._starts, start), flags)
        self._imports += [imported for imported in imports if max(map(len, imported[:3])) <= _MAX_IMPORT_CHARS]

    def _value(self, node: tree_sitter.Node, captures: Captures) -> None:
        start = node.start_byte
        variable = expression_of(self._data[start : node.end_byte].lstrip(b":"))
        if not variable or "(" in variable or "[" in variable or variable[0] == "?":
            return
        if (types := captures.get("type")) and (name := self._type(type_written(types[0]))):
            self._values.append((self._scope_of_variable(node), variable, f":{name}"))
        elif values := captures.get("value"):
            scope = self._scope_of_variable(node)
            self._values += [(scope, variable, value) for value in self._values_of(values[0]) if value != variable]

    def _values_of(self, node: tree_sitter.Node) -> list[str]:
        """Return the expressions, or types behind a `:`, that tell what a value is, one for each branch of it."""
        if self._language == "ruby":
            branches: Iterable[Branch] = map(Branch, last_values(node))
        else:
            branches = branches_of(node)
        values = (
            _as_type(self._type(_text(each.node)))
            if each.is_type
            else _typed_expression(self._expression(self._raw(each.node)))
            for each in branches
        )
        return list(filter(None, values))

    def _given(self, name: str, node: tree_sitter.Node) -> None:
        """Record results, what a method of Ruby delegates to or gives a block, and what an unnamed namespace holds."""
        scope = self._scope(node.start_byte)
        if name == "unnamed":
            first, behind = (bisect_left(self._def_starts, byte) for byte in (node.start_byte, node.end_byte))
            self._values += [(place, HIDDEN, "?") for place in range(first, behind)]
        elif name == "result":
            self._values += [(scope, RESULT, value) for value in self._values_of(node)]
        elif name == "delegate":
            self._values += [(scope, method, expression) for method, expression in delegated(node)]
        elif name == "evaluated":
            receiver = node.child_by_field_name("receiver")
            value = self._expression(self._raw(receiver)) if receiver is not None else "self"
            self._values.append((scope, EVALUATED, value))
        else:
            given = enumerate(node.named_children)
            self._values += [(scope, f"yield{at}", value) for at, item in given for value in self._values_of(item)]

    def _variables(self, name: str, node: tree_sitter.Node, captures: Captures) -> None:
        """Record what one or several variables hold."""
        if name == "var":
            self._value(node, captures)
        elif name == "pattern":
            scope = self._blocks.scope_at(node.start_byte)
            bound = ((_text(part), self._expression(own.encode()) or own[:1]) for part, own in bound_by(node))
            self._values += [(scope, *each) for each in bound if len(each[1]) > 1 or (each[1] == "?" and scope >= 0)]
        elif name == "parts":
            self._parts(node, captures["value"][0])
        else:
            self._variable(node, self._raw(captures["value"][0]), _TAKEN[name])

    def _variable(self, node: tree_sitter.Node, raw: bytes, taken: str) -> None:
        """Record a variable that holds what is taken out of a value."""
        value = _typed_expression(self._expression(raw))
        is_name = not node.named_child_count or node.type == "variable_name"
        names = [node] if is_name else [name for name in node.children if name.type in _NAMES]
        if value and names and (variable := _text(names[0])) != value:
            is_ruby = self._language == "ruby"
            scope = self._locals_of_ruby.scope_of(node) if is_ruby else self._blocks.scope_at(node.start_byte)
            self._values.append((scope, variable, f"{value}{taken}"))

    def _parts(self, node: tree_sitter.Node, value: tree_sitter.Node) -> None:
        items = [value] * node.named_child_count
        if is_tuple := value.type in _TUPLES:
            items = value.named_children
        for number, (name, item) in enumerate(zip(node.named_children, items, strict=False)):
            last = name.named_children[-1] if name.named_child_count else name
            is_name = last.type in _NAMES or name.type == "instance_variable"
            if is_name and name.type in _PLAIN_PATTERNS:
                self._variable(name, self._raw(item), "" if is_tuple else f".{number}")

    def _local(self, node: tree_sitter.Node) -> None:
        scope = self._scope_of_variable(node) if self._language == "ruby" else self._scope(node.start_byte)
        local = (scope, _text(node))
        if local not in self._locals:
            self._locals.add(local)
            self._values.append((*local, "?"))

    def _doc(self, node: tree_sitter.Node) -> None:
        for variable, type_, byte in declared_types(node):
            if declared := "static" if type_ == "$this" else type_text(_NO_NULL.sub("", type_)):
                self._values.append((self._scope(byte), variable or RESULT, f":{declared}"))

    def _numbered_fields(self, node: tree_sitter.Node, variant: str) -> None:
        types = (self._type(_text(field)) for field in node.children_by_field_name("type"))
        scope = self._scope(node.start_byte)
        names = (f"{variant}~{number}" if variant else str(number) for number in count())
        self._values += [(scope, name, f":{kind}") for name, kind in zip(names, types, strict=False) if kind]

    def _scope_of_variable(self, node: tree_sitter.Node) -> int:
        """Return where a variable is known: in the closure that declares it, else in the definition around."""
        if self._language == "ruby":
            return self._locals_of_ruby.scope_of(node)
        is_declared = any(
            around is not None and "declarat" in around.type
            for around in (node.parent, node.parent and node.parent.parent)
        )
        return self._blocks.scope_at(node.start_byte) if is_declared else self._scope(node.start_byte)

    def _scope(self, byte: int) -> int:
        return self._owners[bisect_right(self._borders, byte) - 1]

    def _target(self, kind: int, start: int, scope: int) -> int:
        """Return the definition that a reference in a scope is about: of a decorator, the one it begins or the next."""
        place = bisect_right(self._def_starts, start) - 1
        if kind in _BASES and place > scope:  # an abstract type of Julia is the scope of nothing, but has a base
            definition = self._parsed[place].definition
            return place if definition.kind == "type" and start < definition.span.end_byte else scope
        if kind != _DECORATE:
            return scope
        following = bisect_left(self._def_starts, start)
        if following == len(self._parsed):
            return scope
        if scope >= 0:
            around = self._parsed[scope]
            inner = around.node.child_by_field_name("body") or around.node.child_by_field_name("name")
            is_before = inner is not None and start < inner.start_byte
            if is_before or self._def_starts[following] >= around.definition.span.end_byte:  # as of a field of Rust
                return scope
        return following


def _is_in_function(node: tree_sitter.Node) -> bool:
    """Tell whether a node is in a function, which may have no name."""
    around = node.parent
    while around is not None and around.type not in _FUNCTIONS:
        around = around.parent
    return around is not None


def _owners(parsed: Sequence[ParsedDefinition]) -> tuple[list[int], list[int]]:
    """Return the bytes at which the innermost function or type changes, and which it is from each on."""
    borders, owners = [0], [-1]
    enclosing: list[int] = []

    def close(until: int) -> None:
        while enclosing and parsed[enclosing[-1]].definition.span.end_byte <= until:
            borders.append(parsed[enclosing.pop()].definition.span.end_byte)
            owners.append(enclosing[-1] if enclosing else -1)

    for place, item in enumerate(parsed):
        if item.definition.kind in _VALUE_KINDS:
            continue
        close(item.definition.span.start_byte)
        borders.append(item.definition.span.start_byte)
        owners.append(place)
        enclosing.append(place)
    close(1 << 62)
    return borders, owners


def _raw(data: bytes, language: str, node: tree_sitter.Node) -> bytes:
    """Return the text of a value; of a call without brackets, or with a block, what is called and brackets."""
    if node.type == "call" and language in _BARE_ARGUMENTS:
        given = node.child_by_field_name("arguments")
        block = node.child_by_field_name("block")
        ends = [part.start_byte for part in (given, block) if part is not None]
        if ends and data[ends[0] : ends[0] + 1] != b"(":
            return data[node.start_byte : min(ends)].rstrip() + b"()"
        if block is not None:
            return data[node.start_byte : block.start_byte].rstrip()
    raw = data[node.start_byte : _end_of_chain(node) if language == "dart" else node.end_byte]
    return raw + b"()" if language in _BARE_ARGUMENTS and _NEW.search(raw) else raw


def _end_of_chain(node: tree_sitter.Node) -> int:
    """Return where an expression of Dart ends, whose names and calls are siblings of the node that it begins with."""
    while (following := node.next_sibling) is not None and following.type in _SELECTORS:
        node = following
    return node.end_byte


def _as_type(name: str) -> str:
    """Return a type as the value of a variable, empty for none."""
    return f":{name}" if name else ""


def _typed_expression(expression: str) -> str:
    """Return an expression if its type can be inferred, empty for literals and for anything too complex."""
    return expression if expression and expression[0] not in '?"[{0123456789' else ""


def _text(node: tree_sitter.Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
