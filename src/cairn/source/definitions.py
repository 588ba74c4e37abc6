"""Finds the definitions of a file: parses it, and turns each match of its language's query into a definition."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache, lru_cache
from io import BytesIO
from itertools import accumulate
from typing import TYPE_CHECKING

from cairn.source.languages import BY_NAME, Language, load_grammar
from cairn.source.matching import Match, Wrapper, is_comment, run_query, text_of
from cairn.source.merges import sides_of, without_marks
from cairn.types import MAX_DEFINITIONS, Definition, Span

if TYPE_CHECKING:
    import tree_sitter

MAX_SIGNATURE_CHARS = 300
MAX_DOC_CHARS = 2_000
# Anything nested deeper or with a longer qualified name is data written as code, and is not listed.
MAX_DEPTH, MAX_NAME_CHARS = 48, 1_000
MAX_LEAD_LINES = 1_000  # lines of comments and attributes above a definition, at most
# A function directly inside one of these is a method.
TYPE_KINDS = frozenset(
    {"class", "interface", "struct", "trait", "impl", "enum", "contract", "record", "object"}
    | {"extension", "instance", "protocol", "union"}
)
# What a pattern marks as `outer` is local inside one of these and not listed; nested functions and types are.
FUNCTION_KINDS = frozenset({"function", "method", "constructor", "test"})
# Languages in which a macro belongs to the whole file, wherever it is defined.
_WITH_FLAT_MACROS = frozenset({"c", "cpp"})
_UNDECODABLE = re.compile("[\udc80-\udcff]")


@dataclass(frozen=True, slots=True)
class Lines:
    """Maps byte offsets of a file to its lines. Line indexes are 0-based here.

    Attributes:
        starts: the offset of each line.
        bounds: the same, followed by the end of the last line.
    """

    starts: tuple[int, ...]
    bounds: tuple[int, ...]

    @classmethod
    @lru_cache(maxsize=1)  # parsing a file asks several times
    def of(cls, data: bytes) -> Lines:
        """Find the lines of a file."""
        bounds = tuple(accumulate(map(len, BytesIO(data).readlines()), initial=0)) if data else (0, 0)
        return cls(bounds[:-1], bounds)

    def __len__(self) -> int:
        return len(self.starts)

    def at(self, byte: int) -> int:
        """Return the line that holds `byte`."""
        return bisect_right(self.starts, byte) - 1

    def end_byte(self, line: int) -> int:
        """Return the offset just past `line`, its line feed included."""
        return self.bounds[line + 1]

    def bytes_between(self, first: int, last: int) -> int:
        """Return the size of the lines `first` to `last`, inclusive."""
        return self.bounds[last + 1] - self.bounds[first]


@dataclass(frozen=True, slots=True)
class ParsedDefinition:
    """A definition with what only the chunker needs: its first line, with comments and decorators, and its node."""

    definition: Definition
    lead_line: int
    last_line: int
    node: tree_sitter.Node


@cache
def _parser(language: Language) -> tree_sitter.Parser:
    import tree_sitter  # noqa: PLC0415 - start-up time: searching needs no parser

    return tree_sitter.Parser(load_grammar(language))


def parse(data: bytes, language: Language) -> tree_sitter.Tree:
    """Return the syntax tree of `data`; syntax errors become error nodes, never an exception.

    The latest tree is cached, because a helper is asked first for a file's outline and then for its flow.
    """
    global _latest
    latest = _latest
    if latest is not None and latest[0] is language and latest[1] == data:
        return latest[2]
    _latest = None  # two large trees may not fit into memory
    tree = _parse(_parser_input(data, language), language)
    _latest = language, data, tree
    return tree


def _parse(data: bytes, language: Language) -> tree_sitter.Tree:
    """Return the syntax tree of a file; of an unfinished merge with both sides, or the first if that does not parse."""
    parser = _parser(language)
    if (sides := sides_of(data)) is None:
        return parser.parse(data)
    both, one = (parser.parse(side) for side in sides)
    return one if both.root_node.has_error and not one.root_node.has_error else both


def first_error_line(tree: tree_sitter.Tree, start: int = 1) -> int:
    """Return the first line from `start` on with a syntax error, 0 if there is none."""
    nodes = [tree.root_node]
    while nodes:
        node = nodes.pop()
        if node.end_point.row + 1 < start:
            continue
        if node.is_error or node.is_missing:
            return max(start, node.start_point.row + 1)
        if node.has_error:
            nodes += reversed(node.children)
    return 0


_latest: tuple[Language, bytes, tree_sitter.Tree] | None = None


def _parser_input(data: bytes, language: Language) -> bytes:
    """Return the bytes to parse, of the same length as `data`.

    Queries fail on text that is not UTF-8, so each invalid byte, mostly a Latin-1 letter, becomes `_`. A language's
    noise is blanked.
    """
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        data = _UNDECODABLE.sub("_", data.decode("utf-8", "surrogateescape")).encode("utf-8")
    if language.support.code_of is not None:
        data = language.support.code_of(data)
    for noise in language.support.noise:
        data = re.sub(noise, _blank, data)
    for wrapper in language.support.wrappers:
        data = _unwrap(data, wrapper)
    return data


def _unwrap(data: bytes, wrapper: bytes) -> bytes:
    """Blank the openings of wrapper blocks and the braces that close them, at the same indentation."""
    kept: bytearray | None = None
    for opening in re.finditer(wrapper, data):
        closing = data.find(b"\n%b}" % opening[1], opening.end())
        if closing >= 0:
            kept = bytearray(data) if kept is None else kept
            kept[opening.start(2) : opening.end(2)] = b" " * len(opening[2])
            kept[closing + 1 + len(opening[1])] = 0x20
    return data if kept is None else bytes(kept)


def _blank(match: re.Match[bytes]) -> bytes:
    return match[0].replace(match[1], b" " * len(match[1]))


def find_definitions(
    tree: tree_sitter.Tree, data: bytes, lines: Lines, language: Language, *, members: bool = False
) -> list[ParsedDefinition]:
    """Return the definitions of a file in reading order, outer ones first.

    With `members`, include those too small to be searched for, such as enumerators, which only outlines list.
    """
    matches, wrappers = run_query(tree, language, members=members)
    parsed: list[ParsedDefinition] = []
    open_parents: list[int] = []
    for match in matches:
        if len(parsed) >= MAX_DEFINITIONS:
            break
        if not match.name or _repeats(parsed, match):  # the parser inserts an empty name where one is missing
            continue
        while open_parents and not _encloses(parsed[open_parents[-1]].definition.span, match):
            open_parents.pop()
        parent = open_parents[-1] if open_parents else -1
        if len(open_parents) >= MAX_DEPTH or _name_chars(parsed, parent, match) > MAX_NAME_CHARS:
            continue
        if parent >= 0 and match.outer and parsed[parent].definition.kind in FUNCTION_KINDS:
            continue  # a local variable, or something that only looks like a definition here
        if match.clause and parsed and _continues(parsed[-1].definition, match, parent):
            parsed[-1] = _add_clause(parsed[-1], match, lines)
        else:
            parsed.append(_build(match, parent, parsed, data, lines, language, wrappers))
        open_parents.append(len(parsed) - 1)
    return parsed


def find_leads(data: bytes, language: str) -> tuple[int, ...]:
    """Return the first line of each definition of a file, including comments, attributes and decorators above it."""
    known = BY_NAME[language]
    parsed = find_definitions(parse(data, known), data, Lines.of(data), known)
    return tuple(min(item.lead_line + 1, item.definition.span.start_line) for item in parsed)


def _name_chars(parsed: list[ParsedDefinition], parent: int, match: Match) -> int:
    around = len(parsed[parent].definition.qualified_name) if parent >= 0 else 0
    return around + len(match.namespace) + len(match.receiver) + len(match.scope) + len(match.name)


def _encloses(outer: Span, inner: Match) -> bool:
    """Tell whether a definition encloses a match; the names in `int a, b;` share a node and are siblings."""
    return outer.end_byte >= inner.end and (outer.end_byte != inner.end or outer.start_byte != inner.start)


def _repeats(parsed: list[ParsedDefinition], match: Match) -> bool:
    """Tell whether an earlier pattern of the query matched this node with this name; the earlier one is kept."""
    for previous in reversed(parsed):
        span = previous.definition.span
        if span.start_byte != match.start or span.end_byte != match.end:
            return False
        if previous.definition.name == match.name or previous.definition.kind == "test":
            return True
    return False


def _continues(previous: Definition, match: Match, parent: int) -> bool:
    return previous.parent == parent and previous.name == match.name


def _add_clause(item: ParsedDefinition, match: Match, lines: Lines) -> ParsedDefinition:
    """Return `item` with the clause `match` added; its node becomes the one around all of its clauses."""
    last = lines.at(max(match.start, match.end - 1))
    span = item.definition.span._replace(end_line=last + 1, end_byte=match.end)
    return ParsedDefinition(item.definition._replace(span=span), item.lead_line, last, match.node.parent or match.node)


def _build(
    match: Match,
    parent: int,
    parsed: list[ParsedDefinition],
    data: bytes,
    lines: Lines,
    language: Language,
    wrappers: dict[int, Wrapper],
) -> ParsedDefinition:
    first, last = lines.at(match.start), lines.at(max(match.start, match.end - 1))
    wrapper = wrappers.get(match.node.id) if wrappers else None
    outermost = first if wrapper is None else min(first, lines.at(wrapper.start))
    lead, comment = _lead(first, outermost, data, lines, language)
    if parent >= 0:
        lead = max(lead, parsed[parent].lead_line)
    enclosing = parsed[parent].definition if parent >= 0 else None
    if enclosing is not None and enclosing.span.start_line == first + 1:
        comment = ""  # a comment above a line belongs to the first definition on it
    kind = match.kind
    if kind == "function" and (
        match.receiver or match.scope or (enclosing is not None and enclosing.kind in TYPE_KINDS)
    ):
        kind = "method"
    is_flat = kind == "macro" and language.name in _WITH_FLAT_MACROS
    prefix = [enclosing.qualified_name] if enclosing is not None and not is_flat else []
    prefix += [part for part in (match.namespace, match.receiver, match.scope) if part]
    definition = Definition(
        kind,
        match.name,
        ".".join([*prefix, match.name]),
        _signature(match, wrapper, data),
        _doc(match.docs if wrapper is None else [*wrapper.docs, *match.docs], comment),
        parent,
        Span(first + 1, last + 1, match.start, match.end),
    )
    # The chunker cuts a long definition at the parts of this node, so it has to contain the body.
    whole = match.node if match.end <= match.node.end_byte else match.node.parent or match.node
    return ParsedDefinition(definition, lead, last, whole)


_CALLED = frozenset({"function", "method", "constructor"})
_GOES_ON = (b"(", b"<", b",")  # a line end after which the head continues
_ATTRIBUTES = re.compile(rb"(?:\s*@[\w.]+(?:\([^()\n]*\))?)+[ \t]*\n")


def _signature(match: Match, wrapper: Wrapper | None, data: bytes) -> str:
    """Return the definition's head on one line; without a body, its first line and the attributes above it.

    It includes all parameters of a function, however many lines they take.
    """
    start, end = match.start, match.node.end_byte
    if match.docs and match.docs[0].start_byte == start:
        start = end - len(data[match.docs[0].end_byte : end].lstrip())
    if head := (wrapper and wrapper.signature) or match.signature:
        start, end = head.start_byte, head.end_byte
    elif match.body is not None and match.body.start_byte > start:
        # If a body has no opening mark, the grammar puts its first comment between head and body.
        comments = [child.start_byte for child in match.node.children if is_comment(child) and child.start_byte > start]
        end = min([match.body.start_byte, *comments])
    else:
        above = _ATTRIBUTES.match(data, start, end)
        line_end = data.find(b"\n", above.end() if above is not None else start, end)
        is_whole = line_end < 0 or (match.kind in _CALLED and data[start:line_end].rstrip().endswith(_GOES_ON))
        end = end if is_whole else line_end
    text = without_marks(data[start : min(end, start + 4 * MAX_SIGNATURE_CHARS)]).decode("utf-8", "replace")
    return " ".join(text.split()).rstrip("{:=").rstrip()[:MAX_SIGNATURE_CHARS]


def _doc(docs: list[tree_sitter.Node], comment: str) -> str:
    if not docs:
        return comment[:MAX_DOC_CHARS]
    own = "\n".join(text_of(node).strip("rRuUbBfF").strip("\"'`").strip() for node in docs)
    return "\n".join(part for part in (comment, own) if part)[:MAX_DOC_CHARS]


def _lead(first: int, outermost: int, data: bytes, lines: Lines, language: Language) -> tuple[int, str]:
    """Return the first line of the comments and attributes directly above a line, and the text of the comments.

    Args:
        first: that line.
        outermost: the first line of whatever wraps the definition, such as a decorator.
        data, lines, language: of the file.
    """
    lead = outermost
    comments: list[str] = []
    inside_block = ""
    support = language.support
    line_comments, attributes, closers = support.line_comments, support.attributes, _closers(support.block_comments)
    bounds = lines.bounds
    lowest = max(0, first - MAX_LEAD_LINES)
    while lead > lowest:
        text = data[bounds[lead - 1] : bounds[lead]].decode("utf-8", "replace").strip()
        opener = ""
        if text.endswith(closers):
            opener = next(pair[0] for pair in support.block_comments if text.endswith(pair[1]))
        if inside_block or opener:
            inside_block = "" if (inside_block or opener) in text else (inside_block or opener)
        elif not text.startswith(line_comments):
            if not text.startswith(attributes):
                break
            lead -= 1
            continue
        comments.append(text)
        lead -= 1
    if inside_block:  # closing mark without an opening one: this was code, not a comment
        return outermost, ""
    return lead, "\n".join([_strip_marks(text) for text in reversed(comments)]).strip() if comments else ""


@cache
def _closers(block_comments: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    return tuple(closer for _, closer in block_comments)


def _strip_marks(line: str) -> str:
    return line.strip("/*#-!;%<>{|}= \t")
