"""Finds what a file refers to: its facts, from which the symbol graph is built.

The query `references.scm` of a language captures whole nodes, whose text is read here, because one wide node is cheaper
than many small ones:
    `@call @construct @inherit @implement @decorate`: an expression that refers to something. With `@receiver` in the
        same match, the expression begins there.
    `@use`: a name passed on as a value; it counts where the file defines or imports it.
    `@import`: a statement. `@package`: the name of what the whole file belongs to.
    `@var` with `@value` or `@type`: a variable, and what it holds.
    `@fields`: types in brackets, each of a field with a number for a name.
    `@head`: the beginning of a definition that looks like a call to itself; no reference begins there.
    `@this` with `@type`: the name of a method of an anonymous class, and what this class extends.
    `@result`: what a function returns, kept as the value of a variable called `return`.
    `@default`: the name that `import x from` gets.
    `@local`: a variable that hides what else has its name, whatever it holds.
    `@doc`: a comment that may declare the types of what follows it.
    `@macro`: the name of a macro that is called; kept with a `!` behind it.
    `@loose`: a name before brackets in what the grammar leaves as a row of tokens; what it is called on is read from
        the tokens before it.

An expression is kept in one form for all languages: `a->b`, `A::b` and `a?.b` become `a.b`; the content of brackets is
left out, so that `f(x)[0].g` becomes `f()[].g`; anything else becomes `?`.
"""

from __future__ import annotations

import json
import re
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from cairn.source.definitions import Lines, ParsedDefinition, find_definitions, parse
from cairn.source.docblocks import declared_types
from cairn.source.imports import Import, ImportFlag, read_import
from cairn.source.languages import Language, load_grammar, load_reference_text
from cairn.source.tokens import read_call
from cairn.types import Definition

if TYPE_CHECKING:
    import tree_sitter

FACTS_FORMAT = b"7"  # to be raised whenever a query or this module finds something else
KINDS = ("call", "construct", "inherit", "implement", "decorate", "use")
_KIND_OF = {name: number for number, name in enumerate(KINDS)}
RESULT, THIS = "return", "this"
_BARE_ARGUMENTS = frozenset({"ruby"})  # may follow a name without brackets
_CALL, _DECORATE, _USE = _KIND_OF["call"], _KIND_OF["decorate"], _KIND_OF["use"]
# A value belongs to the function or type around it, not to the variable it is assigned to.
_VALUE_KINDS = frozenset({"variable", "constant", "field", "property", "key", "section", "type", "macro"})
_MAX_EXPRESSION_BYTES = 400
_MAX_SHORTENED_BYTES = 20_000  # of an expression with all that stands in its brackets
_MAX_WRAPPINGS = 8
# Of one file; more is generated code.
_MAX_KEPT_REFERENCES = 60_000
_MAX_IMPORTS, _MAX_VALUES = 20_000, 60_000
_MAX_IMPORT_CHARS = 500  # of a module, or of a name
_MAX_TYPE_CHARS = 400

_PLAIN = re.compile(r"[@$\w]+(?:\.[@$\w]+)*")
_STRING = re.compile(r"""[rbfu]*"(?:[^"\\\n]|\\.)*"|[rbfu]*'(?:[^'\\\n]|\\.)*'|`[^`]*`""", re.IGNORECASE)
_BRACKETS = re.compile(r"\([^()\[\]{}]*\)|\[[^()\[\]{}]*\]|\{[^()\[\]{}]*\}")
_EMPTIED = {"(": "\1", "[": "\2", "{": "\3"}  # stand for empty brackets while those around them are emptied
_GENERICS = re.compile(r"(?:::)?<[^<>()]*>")
_TURBOFISH = re.compile(r"::<(?:[^<>]|<[^<>]*>)*>")
_ARROW = re.compile(r"->|::|\?\.|&\.|!!?\.|\\")
_ROUND = re.compile(r"[()]")
_CAST = re.compile(r"\(\s*(?:(?:const|struct|final) )*([A-Za-z_][\w.:]*)(?:<[^()]*>)?[\s*&?]*\)\s*[&*]?[\w$\"(]")
_CAST_BEHIND = re.compile(r"\sas\s+([A-Za-z_][\w.]*)(?:<[^()]*>)?\??$")
_ASSERTED = re.compile(r"^.*[\w)\]]\.\((?:\*([A-Za-z_][\w.]*)|((?:\w+\.)?[A-Z]\w*))\)(?=\.)", re.DOTALL)
_BRACKETED = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`[^`]*`|[()\[\]{}]", re.DOTALL)
_NEW_BARE = re.compile(rb"new\s+[\w\\.]+")
_MADE = re.compile(r"\(new\s+(\\?[A-Za-z_][\w\\.]*)\s*[()]")
_KEYWORD = re.compile(r"^(?:await|new|yield|typeof|void|return|throw)\s+")
_CHAIN = re.compile(r"(?:[@$\w]+[?!]?|\"\"|\[\]|\{\})(?:\(\)|\[\]|\{\})*(?:\.[@$\w~]+[?!=]?(?:\(\)|\[\]|\{\})*)*")
_LAST_NAME = re.compile(r"([$\w]+[?!]?)$")
_SPACE = re.compile(r"\s+")
_WRAPPER = re.compile(
    r"^(?:Optional|Annotated|Final|ClassVar|Required|Readonly|Promise|Awaitable|Box|Rc|Arc|Ref|RefCell|Mutex|RwLock"
    r"|Lazy|Partial|Task|ValueTask|unique_ptr|shared_ptr|Self)[\[<](.+)[\]>]$"
)
_TYPE_MODIFIERS = re.compile(
    r"^(?:(?:const|mut|dyn|impl|any|some|weak|borrowing|consuming|final|static|struct|readonly|in|out|ref) "
    r"|&(?:'\w+ )?|\*)+"
)
_NOT_A_TYPE = frozenset({"None", "null", "undefined", "nil", "any", "Any", "object", "var", "auto", "let", "val"})


class Facts(NamedTuple):
    """What a file refers to, in columns, because references are many.

    `kinds`, `expressions`, `scopes` and `lines` are as long as there are references: what kind (a place in `KINDS`),
    to what (a place in `texts`), in which definition (its place in the file, -1 outside of all), and on which line.
    `values` say what a variable holds: (scope, variable, expression); an expression that begins with `:` is a type.
    """

    texts: Sequence[str] = ()
    kinds: Sequence[int] = ()
    expressions: Sequence[int] = ()
    scopes: Sequence[int] = ()
    lines: Sequence[int] = ()
    imports: Sequence[Import] = ()
    values: Sequence[tuple[int, str, str]] = ()
    package: str = ""


NO_FACTS = Facts()
Captures = dict[str, list["tree_sitter.Node"]]


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
    for wrapper in language.support.wrappers:
        collector.add_wrappers(re.finditer(wrapper, data))
    facts = collector.collect([captures for _, captures in matches])
    return tuple(item.definition for item in parsed), facts


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
        self._def_starts = [item.definition.span.start_byte for item in parsed]
        self._borders, self._owners = _owners(parsed)
        self._imports: list[Import] = []
        self._values: list[tuple[int, str, str]] = []
        self._locals: set[tuple[int, str]] = set()
        self._package = ""
        self._wrappers: list[tuple[int, int, bytes, int]] = []

    def add_wrappers(self, openings: Iterable[re.Match[bytes]]) -> None:
        """Add calls of macros that the parser did not see; see `Support.wrappers`."""
        self._wrappers += [(found.start(3), _CALL, found[3] + b"!", found.end(3)) for found in openings]

    def collect(self, matches: Sequence[Captures]) -> Facts:
        data, kind_of = self._data, _KIND_OF
        references = self._wrappers
        uses: list[tuple[int, int, bytes, int]] = []
        heads: set[int] = set()
        for captures in matches:
            for name, nodes in captures.items():
                node = nodes[0]
                if (kind := kind_of.get(name)) is not None:
                    start, end = node.start_byte, node.end_byte
                    if "receiver" in captures:
                        start = min(start, captures["receiver"][0].start_byte)
                    (uses if kind == _USE else references).append((start, kind, data[start:end], end))
                elif name == "head":
                    heads.add(node.start_byte)
                elif name == "macro":
                    references.append((node.start_byte, _CALL, (node.text or b"") + b"!", node.end_byte))
                elif name == "loose":
                    if (call := read_call(node)) is not None:
                        mark = b"!" if call.is_macro else b""
                        references.append((call.start, _CALL, data[call.start : node.end_byte] + mark, node.end_byte))
                else:
                    self._statement(name, node, captures)
        # Most uses are of local variables.
        names = {item.definition.name.encode("utf-8", "replace") for item in self._parsed}
        names |= {imported.alias.encode("utf-8", "replace") for imported in self._imports}
        references = [reference for reference in references if reference[0] not in heads] if heads else references
        references += [use for use in uses if use[2].rpartition(b".")[2] in names]
        references.sort()
        return self._facts(references[:_MAX_KEPT_REFERENCES])

    def _statement(self, name: str, node: tree_sitter.Node, captures: Captures) -> None:
        """Record a capture that is not a reference."""
        if name == "import":
            self._import(node)
        elif name == "var":
            self._value(node, captures)
        elif name == "fields":
            self._numbered_fields(node)
        elif name == "this" and (own := type_name(_text(captures["type"][0]))):
            self._values.append((self._scope(node.start_byte), THIS, f":{own}"))
        elif name == "result":
            if value := _typed_expression(expression_of(self._raw(node))):
                self._values.append((self._scope(node.start_byte), RESULT, value))
        elif name == "default":
            self._imports.append(Import("", _text(node), "default", self._line(node.start_byte), ImportFlag.REEXPORT))
        elif name in ("doc", "local"):
            (self._doc if name == "doc" else self._local)(node)
        elif name == "package" and not self._package:
            self._package = _SPACE.sub("", _text(node)).strip("\\.")

    def _facts(self, references: list[tuple[int, int, bytes, int]]) -> Facts:
        """Make the columns from (first byte, kind, expression, last byte + 1) of each reference."""
        texts: dict[str, int] = {}
        numbers: dict[bytes, int] = {}
        kinds: list[int] = []
        expressions: list[int] = []
        scopes: list[int] = []
        lines: list[int] = []
        starts, borders, owners = self._starts, self._borders, self._owners
        for start, kind, raw, end in references:
            number = numbers.get(raw)
            if number is None:
                expression = expression_of(raw)
                number = numbers[raw] = texts.setdefault(expression, len(texts)) if expression else -1
            if number < 0:
                continue
            scope = owners[bisect_right(borders, start) - 1]
            kinds.append(kind)
            expressions.append(number)
            scopes.append(self._decoration_target(start, scope) if kind == _DECORATE else scope)
            lines.append(bisect_right(starts, end - 1))
        imports, values = self._imports[:_MAX_IMPORTS], self._values[:_MAX_VALUES]
        package = self._package[:_MAX_IMPORT_CHARS]
        return Facts(list(texts), kinds, expressions, scopes, lines, imports, values, package)

    def _import(self, node: tree_sitter.Node) -> None:
        start = node.start_byte
        flags = ImportFlag.DEFERRED if self._scope(start) >= 0 else ImportFlag(0)
        block = node.parent
        if block is not None and block.parent is not None and block.parent.type == "if_statement":
            condition = block.parent.child_by_field_name("condition")
            if condition is not None and b"TYPE_CHECKING" in (condition.text or b""):
                flags |= ImportFlag.TYPE_ONLY
        imports = read_import(_text(node), self._language, self._line(start), flags)
        self._imports += [imported for imported in imports if max(map(len, imported[:3])) <= _MAX_IMPORT_CHARS]

    def _value(self, node: tree_sitter.Node, captures: Captures) -> None:
        start = node.start_byte
        variable = expression_of(self._data[start : node.end_byte])
        if not variable or "(" in variable or "[" in variable or variable[0] == "?":
            return
        if (types := captures.get("type")) and (name := type_name(_text(types[0]))):
            self._values.append((self._scope(start), variable, f":{name}"))
        elif values := captures.get("value"):
            value = _typed_expression(expression_of(self._raw(values[0])))
            if value and value != variable:
                self._values.append((self._scope(start), variable, value))

    def _local(self, node: tree_sitter.Node) -> None:
        local = (self._scope(node.start_byte), _text(node))
        if local not in self._locals:
            self._locals.add(local)
            self._values.append((*local, "?"))

    def _raw(self, node: tree_sitter.Node) -> bytes:
        """Return the text of a value; of a call without brackets, or with a block, what is called and brackets."""
        if node.type == "call" and self._language in _BARE_ARGUMENTS:
            given = node.child_by_field_name("arguments")
            block = node.child_by_field_name("block")
            ends = [part.start_byte for part in (given, block) if part is not None]
            if ends and self._data[ends[0] : ends[0] + 1] != b"(":
                return self._data[node.start_byte : min(ends)].rstrip() + b"()"
            if block is not None:
                return self._data[node.start_byte : block.start_byte].rstrip()
        return self._data[node.start_byte : node.end_byte]

    def _doc(self, node: tree_sitter.Node) -> None:
        for variable, type_, byte in declared_types(node):
            if declared := "static" if type_ == "$this" else type_name(type_):
                self._values.append((self._scope(byte), variable or RESULT, f":{declared}"))

    def _numbered_fields(self, node: tree_sitter.Node) -> None:
        types = (type_name(_text(field)) for field in node.children_by_field_name("type"))
        scope = self._scope(node.start_byte)
        self._values += [(scope, str(number), f":{name}") for number, name in enumerate(types) if name]

    def _scope(self, byte: int) -> int:
        return self._owners[bisect_right(self._borders, byte) - 1]

    def _line(self, byte: int) -> int:
        return bisect_right(self._starts, byte)

    def _decoration_target(self, start: int, scope: int) -> int:
        """Return the definition that a decorator is for: the one it begins, or the next one."""
        if scope >= 0:
            body = self._parsed[scope].node.child_by_field_name("body")
            if body is not None and start < body.start_byte:
                return scope
        following = bisect_left(self._def_starts, start)
        return following if following < len(self._parsed) else scope


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


def _typed_expression(expression: str) -> str:
    """Return an expression if its type can be inferred, empty for literals and for anything too complex."""
    return expression if expression and expression[0] not in '?"[{0123456789' else ""


def _text(node: tree_sitter.Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


@lru_cache(maxsize=1 << 16)
def expression_of(raw: bytes) -> str:
    """Return the one form of an expression; see the top of this file. Empty where it names nothing."""
    text = raw.decode("utf-8", "replace") if len(raw) <= _MAX_EXPRESSION_BYTES else _shortened(raw)
    if _PLAIN.fullmatch(text):
        return text
    text = _KEYWORD.sub("", text.strip()).lstrip("&*~!")
    if _NEW_BARE.fullmatch(raw):
        text += "()"
    if text.startswith("(new "):
        text = _instance(text)
    text = _STRING.sub('""', text)
    if text.startswith("("):
        text = _unwrapped(text)
    if ".(" in text and (asserted := _ASSERTED.match(text)):
        text = f"{asserted[1] or asserted[2]}{{}}{text[asserted.end() :]}"
    text = _TURBOFISH.sub("", _without_contents(text))
    text = text.replace("->", ".")
    while (plain := _GENERICS.sub("", text)) != text:
        text = plain
    text = _ARROW.sub(".", text)
    text = _SPACE.sub("", text).replace(".await", "").replace(")?", ")").strip(".")
    if _CHAIN.fullmatch(text):
        return text
    last = _LAST_NAME.search(text)
    return f"?.{last[1]}" if last is not None and not last[1][0].isdigit() else ""


def _instance(text: str) -> str:
    """Return `(new Type(…)).x` as `Type{}.x`."""
    made = _MADE.match(text)
    depth = 0
    for place, letter in enumerate(text if made is not None else ""):
        depth += (letter == "(") - (letter == ")")
        if not depth:
            return f"{made[1]}{{}}{text[place + 1 :]}" if made is not None else text
    return text


def called_name(expression: str) -> str:
    """Return the last name of an expression."""
    return expression.rpartition(".")[2].partition("(")[0].removesuffix("[]")


def _shortened(raw: bytes) -> str:
    """Return a long expression without what stands in its brackets, its end if they do not match."""
    text = raw[-_MAX_SHORTENED_BYTES:].decode("utf-8", "replace")
    parts: list[str] = []
    depth = at = 0
    for match in _BRACKETED.finditer(text):
        mark = match[0]
        if mark in ("(", "[", "{"):
            parts += [text[at : match.start()], mark] if not depth else []
            depth += 1
        elif mark in (")", "]", "}"):
            depth -= 1
            at = match.start() if not depth else at
        elif not depth and mark.startswith("/"):
            parts.append(text[at : match.start()])
            at = match.end()
    whole = "".join([*parts, text[at:]])
    return whole if not depth and len(whole) <= _MAX_EXPRESSION_BYTES else text[-_MAX_EXPRESSION_BYTES:]


def _unwrapped(text: str) -> str:
    """Return an expression without the brackets around its beginning; a cast becomes a literal of its type."""
    for _ in range(_MAX_WRAPPINGS):
        closing = _closing(text) if text.startswith("(") else -1
        if closing < 0:
            break
        inner, rest = _KEYWORD.sub("", text[1:closing].strip()).lstrip("&*"), text[closing + 1 :]
        cast = _CAST.match(inner) if rest else None
        if cast or (cast := _CAST_BEHIND.search(inner)):
            return f"{cast[1]}{{}}{rest}"
        if not inner.startswith("(") and not _CHAIN.fullmatch(_ARROW.sub(".", _without_contents(inner))):
            break
        text = inner + rest
    return text


def _closing(text: str) -> int:
    """Return where the bracket closes that a text begins with, -1 where it does not."""
    depth = 0
    for match in _ROUND.finditer(text):
        depth += 1 if match[0] == "(" else -1
        if not depth:
            return match.start()
    return -1


def _without_contents(text: str) -> str:
    """Return a text with all brackets empty."""
    for _ in range(_MAX_EXPRESSION_BYTES):
        shorter = _BRACKETS.sub(lambda match: _EMPTIED[match[0][0]], text)
        if shorter == text:
            break
        text = shorter
    return text.replace("\1", "()").replace("\2", "[]").replace("\3", "{}")


@lru_cache(maxsize=1 << 14)
def type_name(text: str) -> str:
    """Return the class that a type annotation names, empty for a union of several, a container, or none at all."""
    if len(text) > _MAX_TYPE_CHARS:
        return ""
    text = _SPACE.sub(" ", text).strip().lstrip(":?").strip().strip("\"'")
    text = _TYPE_MODIFIERS.sub("", text)
    text = re.sub(r"(?:[?*&!]| const)+$", "", text)
    if text.startswith("(any ") and text.endswith(")"):
        text = text[5:-1]
    parts = [part.strip().strip("\"'") for part in text.split("|")] if "[" not in text.partition("|")[0] else [text]
    parts = [part for part in parts if part not in _NOT_A_TYPE]
    if len(parts) != 1:
        return ""
    text = parts[0]
    inner = text.rpartition("::")[2] if text.startswith("std::") else text.removeprefix("typing.").removeprefix("t.")
    if wrapped := _WRAPPER.match(inner):
        return type_name(wrapped[1].split(",")[0])
    if text.startswith(("list[", "List[", "dict[", "Dict[", "tuple[", "set[", "Callable")) or text.endswith("[]"):
        return ""
    text = re.sub(r"[\[<].*$", "", text).replace("::", ".").replace("\\", ".").lstrip(".").strip()
    return text if re.fullmatch(r"[\w$]+(?:\.[\w$]+)*", text) and text not in _NOT_A_TYPE else ""


# -- as bytes, for the index ------------------------------------------------------------------------------------------


def encode(facts: Facts) -> bytes:
    """Return facts as bytes."""
    imports = [(*imported[:4], int(imported.flags)) for imported in facts.imports]
    return FACTS_FORMAT + zlib.compress(
        json.dumps((*facts[:5], imports, *facts[6:]), separators=(",", ":")).encode(), 1
    )


def decode(data: bytes) -> Facts | None:
    """Return the facts that `encode` wrote, None if another version of this module wrote them."""
    if not data.startswith(FACTS_FORMAT):
        return None
    document = json.loads(zlib.decompress(data[len(FACTS_FORMAT) :]))
    texts, kinds, expressions, scopes, lines, imports, values, package = document
    decoded = [Import(module, name, alias, line, ImportFlag(flags)) for module, name, alias, line, flags in imports]
    return Facts(
        texts,
        kinds,
        expressions,
        scopes,
        lines,
        decoded,
        [(scope, name, value) for scope, name, value in values],
        package,
    )
