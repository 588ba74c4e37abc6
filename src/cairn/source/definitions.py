"""Finds the definitions of one file by running its language's query over the syntax tree.

Compiling a query costs most for the children a pattern names: for each node type with children in the pattern, the
compiler walks all that the grammar allows there. Cheap are a node without children, and `_` in place of an inner node,
since the compiler looks into no wildcard. Dear are patterns without one root of a certain type, `((a) . (b))` and
`(_ field: (a))`: name the parent instead. What the compiler would have to work hard for is done here.

A pattern may say what stands around its definition, in types of nodes with spaces between:
    `(#set! up "A B")`: the definition is not the captured node but the nearest A or B from there upwards. Between the
        two may stand nothing but what `(#set! through "C D")` names.
    `(#set! inside "E F")`: the nearest node above the definition must be an E or F. On the way to it may stand what
        `(#set! within "G H")` names.
    `(#set! without "field")`: the definition must not have this field.
A match for which that does not hold counts for nothing. Looking up is slow where matches are many.

Where a word tells the kinds apart, one pattern serves for all: it captures `@definition` and lists the words of each
kind as `(#set! kinds "@definition.kind word word @definition.other word")`; `*` is any other word, without it any other
word defines nothing. The word is the text of `@keyword`, else the type of `@form`, else that of the declarator next to
the name.

What a pattern captures as `@declarator` is, or holds, the name: the one that `*`, `&`, `[]` and `()` surround in C.
`(#set! declares "field")` does so with each child in that field of the definition.

`(#set! omit "text text")` leaves these texts out of the name.

The directives are read here and hidden from py-tree-sitter: 0.26 crashes on a pattern with both a `#set!` and a test.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from cairn.source.languages import Language, load_grammar, load_query_text
from cairn.types import Definition, Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    import tree_sitter

MAX_SIGNATURE_CHARS = 300
MAX_DOC_CHARS = 2_000
# A function directly inside one of these is a method.
TYPE_KINDS = frozenset(
    {"class", "interface", "struct", "trait", "impl", "enum", "contract", "record", "object"}
    | {"extension", "instance", "protocol", "union"}
)
# Inside a function these are local, and so is what a query marks `@outer`; nested functions and types are listed.
FUNCTION_KINDS = frozenset({"function", "method", "constructor", "test"})
VARIABLE_KINDS = frozenset({"constant", "variable"})
_QUALIFIED_NAME = re.compile(r"~?[\w$]+(?:(?:::|\.|:)~?[\w$]+[?!=]?)+")
_NAME_SEPARATOR = re.compile(r"::|\.|:")
_TEMPLATE_ARGUMENTS = re.compile(r"<[^<>]*(?:<[^<>]*>[^<>]*)*>")
_SPACE = re.compile(r"\s+")
_DIRECTIVE = re.compile(rb'\(#set!\s+(\w+)\s+"([^"]*)"\)')
_UNDECODABLE = re.compile("[\udc80-\udcff]")


@dataclass(frozen=True, slots=True)
class Lines:
    """Where each line of a file's bytes starts. Line indexes are 0-based here."""

    starts: tuple[int, ...]
    size: int

    @classmethod
    def of(cls, data: bytes) -> Lines:
        """Find the lines of a file."""
        starts = [0]
        starts.extend(match.end() for match in re.finditer(b"\n", data))
        if starts[-1] == len(data) and len(starts) > 1:
            starts.pop()
        return cls(tuple(starts), len(data))

    def __len__(self) -> int:
        return len(self.starts)

    def at(self, byte: int) -> int:
        """Return the line that holds `byte`."""
        return bisect_right(self.starts, byte) - 1

    def end_byte(self, line: int) -> int:
        """Return the offset just past `line`, its line feed included."""
        return self.starts[line + 1] if line + 1 < len(self.starts) else self.size

    def bytes_between(self, first: int, last: int) -> int:
        """Return the size of the lines `first` to `last`, both included."""
        return self.end_byte(last) - self.starts[first]


@dataclass(frozen=True, slots=True)
class Found:
    """A definition with what only the chunker needs: its lines from the comment or decorator above, and its node."""

    definition: Definition
    lead_line: int
    last_line: int
    node: tree_sitter.Node


@dataclass(frozen=True, slots=True)
class _Context:
    """What a pattern says about the nodes around its definition; see the top of this file."""

    up: frozenset[str]
    through: frozenset[str]
    inside: frozenset[str]
    within: frozenset[str]
    without: str
    declares: str
    omit: tuple[str, ...]
    kinds: dict[str, str]

    @classmethod
    def of(cls, settings: dict[str, str]) -> _Context | None:
        """Read the `#set!` directives of one pattern."""
        up, through, inside, within = (
            frozenset(settings.get(key, "").split()) for key in ("up", "through", "inside", "within")
        )
        kinds: dict[str, str] = {}
        kind = ""
        for word in settings.get("kinds", "").split():
            if word.startswith("@definition."):
                kind = word.removeprefix("@definition.")
            else:
                kinds[word] = kind
        without, declares = settings.get("without", ""), settings.get("declares", "")
        omit = tuple(settings.get("omit", "").split())
        return cls(up, through, inside, within, without, declares, omit, kinds) if settings else None

    def place(self, node: tree_sitter.Node) -> tree_sitter.Node | None:
        """Return the definition that `node` belongs to, None where it is none."""
        found: tree_sitter.Node | None = node
        if self.up and node.type not in self.up:
            found = _nearest(node.parent, self.up, self.through)
        if found is None or (self.without and found.child_by_field_name(self.without) is not None):
            return None
        if self.inside and _nearest(found.parent, self.inside, self.within) is None:
            return None
        return found


def _nearest(node: tree_sitter.Node | None, wanted: frozenset[str], through: frozenset[str]) -> tree_sitter.Node | None:
    while node is not None and node.type not in wanted:
        node = node.parent if node.type in through else None
    return node


@dataclass(slots=True)
class _Match:
    kind: str
    scope: str
    name: str
    node: tree_sitter.Node
    end: int
    body: tree_sitter.Node | None
    docs: list[tree_sitter.Node]
    namespace: str  # qualifies the name, but makes no method of a function as a receiver does
    receiver: str
    signature: tree_sitter.Node | None
    clause: bool
    outer: bool
    pattern: int


@dataclass(slots=True)
class _Wrapper:
    """What belongs to a definition but stands around or above it: a decorator, a doc attribute, a type signature."""

    start: int
    docs: list[tree_sitter.Node] = field(default_factory=list)
    signature: tree_sitter.Node | None = None


@cache
def _parser(language: Language) -> tree_sitter.Parser:
    import tree_sitter  # noqa: PLC0415 - start-up time: searching needs no parser

    return tree_sitter.Parser(load_grammar(language))


@cache
def _compiled(language: Language, members: bool) -> tuple[tree_sitter.Query, tuple[_Context | None, ...]]:
    import tree_sitter  # noqa: PLC0415 - start-up time: searching needs no parser

    text = load_query_text(language, members=members).encode("utf-8")
    query = tree_sitter.Query(
        load_grammar(language), _DIRECTIVE.sub(lambda match: b" " * len(match[0]), text).decode("utf-8")
    )
    contexts = tuple(
        _Context.of(
            {
                key.decode(): value.decode()
                for key, value in _DIRECTIVE.findall(
                    text, query.start_byte_for_pattern(i), query.end_byte_for_pattern(i)
                )
            }
        )
        for i in range(query.pattern_count)
    )
    return query, contexts


def parse(data: bytes, language: Language) -> tree_sitter.Tree:
    """Return the syntax tree of `data`; syntax errors become error nodes, never an exception.

    A query raises for text that is not UTF-8, so each byte that isn't (a letter of Latin-1, mostly) is read as `_`.
    """
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        data = _UNDECODABLE.sub("_", data.decode("utf-8", "surrogateescape")).encode("utf-8")
    for noise in language.noise:
        data = re.sub(noise, _blank, data)
    return _parser(language).parse(data)


def _blank(match: re.Match[bytes]) -> bytes:
    return match[0].replace(match[1], b" " * len(match[1]))


def find_definitions(
    tree: tree_sitter.Tree, data: bytes, lines: Lines, language: Language, *, members: bool = False
) -> list[Found]:
    """Return the definitions of a file in reading order, an enclosing one before what it encloses.

    With `members` also those that only an outline lists, such as enumerators: too small to be searched for.
    """
    matches, wrappers = _run_query(tree, language, members)
    found: list[Found] = []
    open_parents: list[int] = []
    for match in matches:
        if not match.name or _repeats(found, match):  # the parser makes up an empty name where one is missing
            continue
        while open_parents and not _encloses(found[open_parents[-1]].definition.span, match):
            open_parents.pop()
        parent = open_parents[-1] if open_parents else -1
        if parent >= 0 and match.outer and found[parent].definition.kind in FUNCTION_KINDS:
            continue  # a local variable, or what only looks like a definition there
        if match.clause and found and _continues(found[-1].definition, match, parent):
            found[-1] = _extended(found[-1], match, lines)
        else:
            found.append(_build(match, parent, found, data, lines, language, wrappers))
        open_parents.append(len(found) - 1)
    return found


def _run_query(tree: tree_sitter.Tree, language: Language, members: bool) -> tuple[list[_Match], dict[int, _Wrapper]]:
    """Return matches sorted by start (outermost first), and the wrapper of each wrapped node by the node's id."""
    import tree_sitter  # noqa: PLC0415 - start-up time: searching needs no parser

    matches: list[_Match] = []
    wrappers: dict[int, _Wrapper] = {}
    query, contexts = _compiled(language, members)
    for pattern, captures in tree_sitter.QueryCursor(query).matches(tree.root_node):
        context = contexts[pattern]
        if "wrapped" in captures:
            outermost = captures["wrapper"][0]
            if context is not None:
                outermost = context.place(outermost) or outermost
            start = outermost.start_byte
            wrapper = wrappers.setdefault(captures["wrapped"][0].id, _Wrapper(start))
            wrapper.start = min(wrapper.start, start)
            wrapper.docs += captures.get("doc", [])
            wrapper.signature = captures.get("signature", [wrapper.signature])[0]
            continue
        for capture, nodes in captures.items():
            if not capture.startswith("definition"):
                continue
            node = nodes[0] if context is None else context.place(nodes[0])
            if node is None:
                continue
            declarators: Sequence[tree_sitter.Node | None] = captures.get("declarator") or [None]
            if context is not None and context.declares:
                declarators = node.children_by_field_name(context.declares)
            for declarator in declarators:
                declared, form = _declared(declarator) if declarator is not None else ("", "")
                kind = _kind(capture, captures, form, context)
                if kind:
                    matches.append(_match(kind, node, captures, declared, pattern, context, language))
    matches.sort(key=lambda match: (match.node.start_byte, -match.end, match.pattern))
    return matches, wrappers


def _kind(capture: str, captures: dict[str, list[tree_sitter.Node]], form: str, context: _Context | None) -> str:
    if context is None or not context.kinds:
        return capture.removeprefix("definition.")
    if "keyword" in captures:
        form = _text(captures["keyword"][0])
    elif "form" in captures:
        form = captures["form"][0].type
    return context.kinds.get(form) or context.kinds.get("*", "")


def _match(
    kind: str,
    node: tree_sitter.Node,
    captures: dict[str, list[tree_sitter.Node]],
    declared: str,
    pattern: int,
    context: _Context | None,
    language: Language,
) -> _Match:
    names = [_unquoted(_text(node)) for node in captures.get("name", [])]
    names += [_text(node).removeprefix(":") for node in captures.get("symbol", [])]
    raw = " ".join([*names, declared]).strip()
    for omitted in context.omit if context is not None else ():
        raw = raw.replace(omitted, "")
    receivers = captures.get("receiver", [])
    bodies = captures.get("body", [])
    # Elsewhere a dot or a colon is part of the name: a file, a version in a heading, a selector.
    scope, name = _split_name(raw, split=language.group == "code")
    return _Match(
        kind=kind,
        scope=scope,
        name=name,
        node=node,
        end=_end(node, bodies),
        body=bodies[0] if bodies else node.child_by_field_name("body") or node.child_by_field_name("computed_value"),
        docs=captures.get("doc", []),
        namespace=".".join(_unquoted(_text(part)) for part in captures.get("namespace", [])),
        receiver=_text(receivers[0]) if receivers else "",
        signature=captures.get("signature", [None])[0],
        clause="clause" in captures,
        outer="outer" in captures or kind in VARIABLE_KINDS,
        pattern=pattern,
    )


def _declared(node: tree_sitter.Node) -> tuple[str, str]:
    """Return the name that a declarator declares, empty where a syntax error left none, and its form.

    The form is the type of the declarator next to the name, which parentheses don't change, else that of the name.
    """
    form = ""
    kind = node.type
    while kind.endswith("_declarator") or kind in ("template_type", "template_function"):
        inner: tree_sitter.Node | None
        if kind == "parenthesized_declarator":
            inner = node.named_child(node.named_child_count - 1)
            if inner is not None and inner.type.endswith("identifier") and node.has_error:
                return "", ""
        else:
            inner = node.child_by_field_name("declarator") or node.child_by_field_name("name") or node.named_child(0)
        if inner is None:
            return "", ""
        if kind.endswith("_declarator") and (kind != "parenthesized_declarator" or not form):
            form = kind
        if kind == inner.type == "function_declarator":
            # No function returns a function: `EXPORT int (name)(...)` makes the name look like a parameter.
            parameters = inner.child_by_field_name("parameters")
            only = parameters.named_child(0) if parameters is not None and parameters.named_child_count == 1 else None
            inner = only.child_by_field_name("type") if only is not None else None
            if inner is None or inner.type != "type_identifier":
                return "", ""
        node, kind = inner, inner.type
    is_name = kind.endswith("identifier") or kind in ("operator_name", "destructor_name")
    return (_text(node), form or kind) if is_name and not node.has_error else ("", "")


def _end(node: tree_sitter.Node, bodies: list[tree_sitter.Node]) -> int:
    """Return where a definition ends.

    Bodies may be siblings of the head, and a node may take in blank lines. A comment at the end leads what follows.
    """
    last = max([node, *(body for body in bodies if not _is_comment(body))], key=lambda one: one.end_byte)
    end = last.end_byte
    for index in range(last.child_count - 1, -1, -1):
        child = last.child(index)
        if child is None or not _is_comment(child):
            break
        end = child.start_byte
    return last.start_byte + len((last.text or b"")[: end - last.start_byte].rstrip())


def _is_comment(node: tree_sitter.Node) -> bool:
    return node.is_extra and not node.is_error


def _encloses(outer: Span, inner: _Match) -> bool:
    """The names of one statement, as in `int a, b;`, share its node and stand side by side."""
    return outer.end_byte >= inner.end and (outer.start_byte, outer.end_byte) != _range(inner)


def _repeats(found: list[Found], match: _Match) -> bool:
    """Two patterns may match one node under one name; the earlier pattern in the query file is the one to keep."""
    for previous in reversed(found):
        if (previous.definition.span.start_byte, previous.definition.span.end_byte) != _range(match):
            return False
        if previous.definition.name == match.name or previous.definition.kind == "test":
            return True
    return False


def _continues(previous: Definition, match: _Match, parent: int) -> bool:
    return previous.parent == parent and previous.name == match.name


def _extended(item: Found, match: _Match, lines: Lines) -> Found:
    """Return `item` with the clause `match` added; its node becomes the one that holds all clauses."""
    last = lines.at(max(match.node.start_byte, match.end - 1))
    span = item.definition.span._replace(end_line=last + 1, end_byte=match.end)
    return Found(item.definition._replace(span=span), item.lead_line, last, match.node.parent or match.node)


def _range(match: _Match) -> tuple[int, int]:
    return match.node.start_byte, match.end


def _build(
    match: _Match,
    parent: int,
    found: list[Found],
    data: bytes,
    lines: Lines,
    language: Language,
    wrappers: dict[int, _Wrapper],
) -> Found:
    first, last = lines.at(match.node.start_byte), lines.at(max(match.node.start_byte, match.end - 1))
    wrapper = wrappers.get(match.node.id) or _Wrapper(match.node.start_byte)
    lead, comment = _lead(first, wrapper.start, data, lines, language)
    if parent >= 0:
        lead = max(lead, found[parent].lead_line)
    enclosing = found[parent].definition if parent >= 0 else None
    if enclosing is not None and enclosing.span.start_line == first + 1:
        comment = ""  # what stands above a line is about the first definition on it
    kind = match.kind
    if kind == "function" and (
        match.receiver or match.scope or (enclosing is not None and enclosing.kind in TYPE_KINDS)
    ):
        kind = "method"
    prefix = [enclosing.qualified_name] if enclosing is not None else []
    prefix += [part for part in (match.namespace, match.receiver, match.scope) if part]
    definition = Definition(
        kind=kind,
        name=match.name,
        qualified_name=".".join([*prefix, match.name]),
        signature=_signature(match, wrapper, data),
        doc=_doc([*wrapper.docs, *match.docs], comment),
        parent=parent,
        span=Span(first + 1, last + 1, match.node.start_byte, match.end),
    )
    # What the chunker cuts a long definition by has to hold its body.
    whole = match.node if match.end <= match.node.end_byte else match.node.parent or match.node
    return Found(definition, lead, last, whole)


def _split_name(raw: str, *, split: bool) -> tuple[str, str]:
    """Split `Foo<T>::bar` into ("Foo", "bar"); plain names, and operators of their own, have no scope."""
    raw = _SPACE.sub(" ", raw)
    if not split:
        return "", raw
    raw = raw.removeprefix("::")
    qualified, _, operator = raw.partition("::operator")
    if "::" in raw:
        qualified = _TEMPLATE_ARGUMENTS.sub("", qualified)
    if operator:
        return _NAME_SEPARATOR.sub(".", qualified), "operator" + operator
    if _QUALIFIED_NAME.fullmatch(qualified):
        *scope, name = _NAME_SEPARATOR.split(qualified)
        return ".".join(scope), name
    return "", raw


def _unquoted(name: str) -> str:
    quoted = len(name) > 1 and name[0] == name[-1] and name[0] in "\"'`"
    return name[1:-1] if quoted else name


def _text(node: tree_sitter.Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _signature(match: _Match, wrapper: _Wrapper, data: bytes) -> str:
    """Return the definition up to its body on one line, or its first line where it has none."""
    start, end = match.node.start_byte, match.node.end_byte
    if match.docs and match.docs[0].start_byte == start:
        start = end - len(data[match.docs[0].end_byte : end].lstrip())
    if given := wrapper.signature or match.signature:
        start, end = given.start_byte, given.end_byte
    elif match.body is not None and match.body.start_byte > start:
        # A grammar whose body has no opening mark puts the comment that opens it between head and body.
        comments = [
            child.start_byte for child in match.node.children if _is_comment(child) and child.start_byte > start
        ]
        end = min([match.body.start_byte, *comments])
    else:
        line_end = data.find(b"\n", start, end)
        end = line_end if line_end >= 0 else end
    text = data[start : min(end, start + 4 * MAX_SIGNATURE_CHARS)].decode("utf-8", "replace")
    return _SPACE.sub(" ", text).strip().rstrip("{:=").rstrip()[:MAX_SIGNATURE_CHARS]


def _doc(docs: list[tree_sitter.Node], comment: str) -> str:
    own = "\n".join(_text(node).strip("rRuUbBfF").strip("\"'`").strip() for node in docs)
    return "\n".join(part for part in (comment, own) if part)[:MAX_DOC_CHARS]


def _lead(first: int, wrapper_start: int, data: bytes, lines: Lines, language: Language) -> tuple[int, str]:
    """Return the first line of the comments and attributes directly above `first`, and the comments' text."""
    lead = min(first, lines.at(wrapper_start))
    comments: list[str] = []
    inside_block = ""
    while lead > 0:
        text = data[lines.starts[lead - 1] : lines.end_byte(lead - 1)].decode("utf-8", "replace").strip()
        opener = next((pair[0] for pair in language.block_comments if text.endswith(pair[1])), "")
        if inside_block or opener:
            inside_block = "" if (inside_block or opener) in text else (inside_block or opener)
        elif text.startswith(language.attributes) and not text.startswith(language.line_comments):
            lead -= 1
            continue
        elif not text.startswith(language.line_comments):
            break
        comments.append(text)
        lead -= 1
    if inside_block:  # a closing mark without its opening one: that was code, not a comment
        return min(first, lines.at(wrapper_start)), ""
    return lead, "\n".join(_strip_marks(text) for text in reversed(comments)).strip()


def _strip_marks(line: str) -> str:
    return line.strip("/*#-!;%<>{|}= \t")
