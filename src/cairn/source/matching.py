"""Runs a language's query over a syntax tree and applies its directives; the matches are not definitions yet.

The cost of compiling a query lies in the children that a pattern names: for each node type with children, the compiler
walks everything that the grammar allows there. Nodes without children are cheap, and so is `_` in place of an inner
node, because the compiler does not look into wildcards. Patterns whose root has no single type, `((a) . (b))` and
`(_ field: (a))`, are expensive: name the parent instead. Whatever would be expensive to compile is done here.

A pattern may say what is around its definition, as space-separated node types:
    `(#set! up "A B")`: the definition is not the captured node but the nearest A or B from there upwards. Only
        nodes that `(#set! through "C D")` names may be between the two.
    `(#set! inside "E F")`: the nearest node above the definition must be an E or F. Only nodes that
        `(#set! within "G H")` names may be between the two.
    `(#set! without "field")`: the definition must not have this field.
Other matches are dropped. Looking upwards is slow if there are many matches.

If kinds differ only in a word, one pattern serves them all: it captures `@definition` and lists the words of each kind
as `(#set! kinds "@definition.kind word word @definition.other word")`; `*` is any other word; without
`*`, other words define nothing. The word is the text of `@keyword`, else the type of `@form`, else that of the
declarator next to the name.

A capture `@declarator` is or contains the name: in C, the one inside `*`, `&`, `[]` and `()`.
`(#set! declares "field")` does this for each child in that field of the definition.

`(#set! omit "text text")` drops these texts from the name.

The directives are removed before py-tree-sitter sees them: 0.26 crashes on a pattern with a `#set!` and a predicate.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from cairn.source.languages import Language, load_grammar, load_query_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    import tree_sitter

# Inside a function these are local, as is anything that a query marks `@outer`.
_VARIABLE_KINDS = frozenset({"constant", "variable"})
_QUALIFIED_NAME = re.compile(r"~?[\w$]+(?:(?:::|\.|:)~?[\w$]+[?!=]?)+")
_NAME_SEPARATOR = re.compile(r"::|\.|:")
_TEMPLATE_ARGUMENTS = re.compile(r"<[^<>]*(?:<[^<>]*>[^<>]*)*>")
_SPACE = re.compile(r"\s+")
_BLANKS = b" \t\n\r\x0b\x0c"
_DIRECTIVE = re.compile(rb'\(#set!\s+(\w+)\s+"([^"]*)"\)')


@dataclass(slots=True)
class Match:
    """A match of a pattern: the node of a definition, its name, and its parts."""

    kind: str
    scope: str
    name: str
    node: tree_sitter.Node
    start: int
    end: int
    body: tree_sitter.Node | None
    docs: list[tree_sitter.Node]
    namespace: str  # qualifies the name without making the function a method, as a receiver would
    receiver: str
    signature: tree_sitter.Node | None
    clause: bool
    outer: bool
    pattern: int


@dataclass(slots=True)
class Wrapper:
    """What belongs to a definition but is around or above it: a decorator, a doc attribute, a type signature."""

    start: int
    docs: list[tree_sitter.Node] = field(default_factory=list)
    signature: tree_sitter.Node | None = None


@dataclass(frozen=True, slots=True)
class _Context:
    """A pattern's conditions on the nodes around its definition; see the top of this file."""

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
        """Return the node of the definition that `node` belongs to, None if there is none."""
        definition: tree_sitter.Node | None = node
        if self.up and node.type not in self.up:
            definition = _nearest(node.parent, self.up, self.through)
        if definition is None or (self.without and definition.child_by_field_name(self.without) is not None):
            return None
        if self.inside and _nearest(definition.parent, self.inside, self.within) is None:
            return None
        return definition


def _nearest(node: tree_sitter.Node | None, wanted: frozenset[str], through: frozenset[str]) -> tree_sitter.Node | None:
    while node is not None and node.type not in wanted:
        node = node.parent if node.type in through else None
    return node


def run_query(tree: tree_sitter.Tree, language: Language, *, members: bool) -> tuple[list[Match], dict[int, Wrapper]]:
    """Return matches sorted by start, outermost first; and the wrapper of each wrapped node by the node's id."""
    import tree_sitter  # noqa: PLC0415 - start-up time: searching needs no parser

    matches: list[Match] = []
    wrappers: dict[int, Wrapper] = {}
    source = _Source(tree.root_node.text or b"", tree.root_node.start_byte)
    query, contexts = _compile(language, members)
    for pattern, captures in tree_sitter.QueryCursor(query).matches(tree.root_node):
        context = contexts[pattern]
        if "wrapped" in captures:
            outermost = captures["wrapper"][0]
            if context is not None:
                outermost = context.place(outermost) or outermost
            start = outermost.start_byte
            wrapper = wrappers.setdefault(captures["wrapped"][0].id, Wrapper(start))
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
                declared, form = _declared_name(declarator) if declarator is not None else ("", "")
                kind = _kind(capture, captures, form, context)
                if kind:
                    matches.append(_match(kind, node, captures, declared, pattern, context, language, source))
    matches.sort(key=lambda match: (match.start, -match.end, match.pattern))
    return matches, wrappers


@cache
def _compile(language: Language, members: bool) -> tuple[tree_sitter.Query, tuple[_Context | None, ...]]:
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


def _kind(capture: str, captures: dict[str, list[tree_sitter.Node]], form: str, context: _Context | None) -> str:
    if context is None or not context.kinds:
        return capture.removeprefix("definition.")
    if "keyword" in captures:
        form = text_of(captures["keyword"][0])
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
    source: _Source,
) -> Match:
    names = [_strip_quotes(text_of(node)) for node in captures.get("name", [])]
    names += [text_of(node).removeprefix(":") for node in captures.get("symbol", [])]
    raw = " ".join([*names, declared]).strip() if declared or len(names) != 1 else names[0].strip()
    for omitted in context.omit if context is not None else ():
        raw = raw.replace(omitted, "")
    receivers, namespace = captures.get("receiver"), captures.get("namespace")
    bodies = captures.get("body", [])
    # In prose and data, a dot or colon is part of the name: a file, a version in a heading, a selector.
    scope, name = _split_name(raw, split=language.group == "code")
    return Match(
        kind=kind,
        scope=scope,
        name=name,
        node=node,
        start=node.start_byte,
        end=_end(node, bodies, source),
        body=bodies[0] if bodies else node.child_by_field_name("body") or node.child_by_field_name("computed_value"),
        docs=captures.get("doc", []),
        namespace=".".join([_strip_quotes(text_of(part)) for part in namespace]) if namespace else "",
        receiver=text_of(receivers[0]) if receivers else "",
        signature=captures.get("signature", [None])[0],
        clause="clause" in captures,
        outer="outer" in captures or kind in _VARIABLE_KINDS,
        pattern=pattern,
    )


def _declared_name(node: tree_sitter.Node) -> tuple[str, str]:
    """Return the name in a declarator, empty if a syntax error left none, and its form.

    The form is the type of the innermost declarator, ignoring parentheses, else that of the name.
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
            # No function returns a function: in `EXPORT int (name)(...)` the name looks like a parameter.
            parameters = inner.child_by_field_name("parameters")
            only = parameters.named_child(0) if parameters is not None and parameters.named_child_count == 1 else None
            inner = only.child_by_field_name("type") if only is not None else None
            if inner is None or inner.type != "type_identifier":
                return "", ""
        node, kind = inner, inner.type
    is_name = kind.endswith("identifier") or kind in ("operator_name", "destructor_name")
    return (text_of(node), form or kind) if is_name and not node.has_error else ("", "")


class _Source(NamedTuple):
    """The parsed source: the text of the tree's root, and the offset where it begins."""

    text: bytes
    start: int


def _end(node: tree_sitter.Node, bodies: list[tree_sitter.Node], source: _Source) -> int:
    """Return the end of a definition.

    Bodies may be siblings of the head, and nodes may include blank lines. A comment at the end belongs to what follows.
    """
    last, end = node, node.end_byte
    for body in bodies:
        if body.end_byte > end and not is_comment(body):
            last, end = body, body.end_byte
    for index in range(last.child_count - 1, -1, -1):
        child = last.child(index)
        if child is None or not is_comment(child):
            break
        end = child.start_byte
    text, start = source
    first, end = last.start_byte - start, end - start
    while end > first and text[end - 1] in _BLANKS:
        end -= 1
    return start + end


def is_comment(node: tree_sitter.Node) -> bool:
    """Tell whether a node may occur anywhere in the grammar and is not a syntax error."""
    return node.is_extra and not node.is_error


def _split_name(raw: str, *, split: bool) -> tuple[str, str]:
    """Split `Foo<T>::bar` into ("Foo", "bar"); plain names and operators have no scope."""
    raw = raw.removeprefix("r#")  # Rust's prefix for names that are keywords
    if raw.isidentifier():
        return "", raw
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


def _strip_quotes(name: str) -> str:
    quoted = len(name) > 1 and name[0] == name[-1] and name[0] in "\"'`"
    return name[1:-1] if quoted else name


def text_of(node: tree_sitter.Node) -> str:
    """Return the text of a node; bytes that are not UTF-8 become U+FFFD."""
    return (node.text or b"").decode("utf-8", "replace")
