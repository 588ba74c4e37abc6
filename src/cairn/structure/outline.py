"""Lists what a file defines and imports, from its content as it is now: the facts that `outline_text` lays out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from cairn.answers import OutlineSymbol
from cairn.source.definitions import Lines, find_definitions, first_error_line, parse
from cairn.source.languages import BY_NAME, Language
from cairn.source.merges import first_merge_line
from cairn.source.text import estimate_tokens, shown_text
from cairn.types import MAX_DEFINITIONS, ON_REST, Definition, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    import tree_sitter

MAX_DOC_LINE_CHARS = 120
MAX_SECTION_CHARS = 80
# What separates the path of a definition from its name in an id, and the name from its number among equal names.
ID_MARK, ID_COUNTER = "#", "~"

_SPACE = re.compile(r"\s+")
_LETTER = re.compile(r"\w")
_BLOCKS = rb"/\*[^\0]{0,4000}?\*/|\{\{-?[ ]*/\*[^\0]{0,4000}?\*/[ ]*-?\}\}|<!--[^\0]{0,4000}?-->"
# What stands at the margin after an empty line and comments, or in brackets.
_SECTION = re.compile(
    rb"(?m)^(?:\A|(?<=\n\n)|(?<=\n\r\n))(?:(?:(?:%s)[ \t\r]*|(?:#|;|%%|//|--)[^\n]*)\n)*"
    rb"(?P<line>(?!\{\{-?[ ]*/\*|<!--)[^\s#;%%/*\-=][^\n]*)|^(?P<heading>\[[^\n]*\])\s*$" % _BLOCKS
)
# Nodes that import, by the beginning of their type.
_IMPORT_NODES = (
    "import_", "future_import", "preproc_include", "use_declaration", "using_directive", "using_declaration",
    "namespace_use_declaration", "extern_crate", "package_import", "library_import", "import",
)  # fmt: skip
# Nodes whose children may be imports, apart from the root.
_IMPORT_HOLDERS = frozenset(
    {"import_list", "imports", "import_declaration", "import_spec_list", "preproc_ifdef", "preproc_if", "try_statement"}
    | {"if_statement", "block", "namespace_declaration", "do_block", "call", "header", "package_clause"}
)
_IMPORT_WORDS = re.compile(
    r"^(?:pub(?:\([^)]*\))?\s+)?(?:#\s*include|@?import|using|use|require_once|include_once|require_relative|require"
    r"|include|source|alias|global\s+using|static)\b\s*(?:type\b|static\b)?\s*"
)
_FROM_BEHIND = re.compile(r"(.+?)\s+from\s+[\"']([^\"']*)[\"']")
_FROM = re.compile(r"from\s+(\S+)\s+import\s+\(?\s*(.*?),?\s*\)?$")


class FileOutline(NamedTuple):
    """All that a file defines and imports. `imports` has the first and last line of the imports, (0, 0) for none."""

    path: str
    language: str
    lines: int
    tokens: int
    imports: tuple[str, ...]
    import_lines: tuple[int, int]
    symbols: tuple[OutlineSymbol, ...]
    spans: tuple[Span, ...]
    leads: tuple[int, ...]
    notes: tuple[str, ...]


def outline_file(data: bytes, path: str, language: Language) -> FileOutline:
    """List the definitions and imports of one file; never raises for bad content.

    Args:
        data: the file's normalized bytes.
        path: goes into the ids.
        language: without a grammar, the lines that open a section are listed.
    """
    lines = Lines.of(data)
    if not language.support.grammar:
        return _without_grammar(data, path, language, lines)
    tree = parse(data, language)
    found = find_definitions(tree, data, lines, language, members=True)
    definitions = [entry.definition for entry in found]
    notes: tuple[str, ...] = ()
    if line := first_merge_line(data):
        notes = (f"a merge is not finished, see line {line}; what both sides define is listed, if they fit together",)
    if line := first_error_line(tree):
        notes += (f"the syntax is not understood from line {line} on; definitions near it may be missing",)
    if len(definitions) >= MAX_DEFINITIONS:
        notes += (f"{ON_REST}: there may be more from line {definitions[-1].span.end_line} on",)
    imports, import_lines = _imports(tree.root_node, language)
    return FileOutline(
        path=path,
        language=language.name,
        lines=len(lines) if data else 0,
        tokens=estimate_tokens(len(data)),
        imports=imports,
        import_lines=import_lines,
        symbols=tuple(_symbols(definitions, path)),
        spans=tuple(definition.span for definition in definitions),
        leads=tuple(min(entry.lead_line + 1, entry.definition.span.start_line) for entry in found),
        notes=notes,
    )


def outline_named(data: bytes, language: str, path: str) -> FileOutline:
    """List the definitions and imports of one file in the language of a name; see `outline_file`."""
    return outline_file(data, path, BY_NAME[language])


def plain_outline(data: bytes, parsed_as: str, path: str, language: str, note: str) -> FileOutline:
    """List the lines of a file that open a section, with a note on why there is no more.

    Args:
        parsed_as: not used: the file is not parsed.
    """
    outline = _without_grammar(data, path, BY_NAME[language], Lines.of(data))
    return outline._replace(notes=(f"{note}: these are the lines that open a section",))


def symbol_id(path: str, qualified_name: str, occurrence: int) -> str:
    """Return the id of the definition that is number `occurrence`, counted from 1, of its name in a file."""
    text = f"{path}{ID_MARK}{qualified_name}"
    return text if occurrence == 1 else f"{text}{ID_COUNTER}{occurrence}"


def _symbols(definitions: list[Definition], path: str) -> Iterator[OutlineSymbol]:
    seen: dict[str, int] = {}
    depths: list[int] = []
    for definition in definitions:
        seen[definition.qualified_name] = seen.get(definition.qualified_name, 0) + 1
        depths.append(depths[definition.parent] + 1 if definition.parent >= 0 else 0)
        yield OutlineSymbol(
            id=symbol_id(path, definition.qualified_name, seen[definition.qualified_name]),
            kind=definition.kind,
            name=definition.name,
            qualified_name=definition.qualified_name,
            signature=definition.signature,
            doc=_first_line(definition.doc),
            start_line=definition.span.start_line,
            end_line=definition.span.end_line,
            depth=depths[-1],
        )


def _first_line(doc: str) -> str:
    for line in doc.splitlines():
        if _LETTER.search(line):
            return line.strip()[:MAX_DOC_LINE_CHARS]
    return ""


def _imports(root: tree_sitter.Node, language: Language) -> tuple[tuple[str, ...], tuple[int, int]]:
    """Return what a file imports on its outermost level, and the lines where that begins and ends."""
    calls = re.compile(language.support.import_calls) if language.support.import_calls else None
    found: list[str] = []
    first = last = 0
    holders = frozenset(language.support.import_holders)
    for node in _import_nodes(root, calls, holders, 3):
        text = _import_text(_SPACE.sub(" ", (node.text or b"").decode("utf-8", "replace")))
        if text:
            found.append(text)
            first = first or node.start_point.row + 1
            last = node.end_point.row + 1
    return tuple(found), (first, last)


def _import_nodes(
    holder: tree_sitter.Node, calls: re.Pattern[str] | None, holders: frozenset[str], levels: int
) -> Iterator[tree_sitter.Node]:
    for node in holder.named_children:
        kind = node.type
        if levels and (kind in holders or (kind in _IMPORT_HOLDERS and _holds_imports(node))):
            yield from _import_nodes(node, calls, holders, levels - 1)
        elif kind.startswith(_IMPORT_NODES) or (
            calls is not None and calls.match((node.text or b"")[:200].decode("utf-8", "replace"))
        ):
            yield node


def _holds_imports(node: tree_sitter.Node) -> bool:
    return any(child.type in _IMPORT_HOLDERS or child.type.startswith(_IMPORT_NODES) for child in node.named_children)


def _import_text(text: str) -> str:
    """Return an import without its keyword and quotes: `from a import b, c` becomes `a(b, c)`."""
    text = text.rstrip("; ")
    if given := _FROM.match(text):
        return f"{given[1]}({given[2]})"
    text = _IMPORT_WORDS.sub("", text, count=1).strip()
    if given := _FROM_BEHIND.match(text):
        return f"{given[2]}({given[1].strip('{} ')})"
    return text.replace('"', "").replace("'", "")


def _without_grammar(data: bytes, path: str, language: Language, lines: Lines) -> FileOutline:
    """List the lines that open a section of text: those at the margin after an empty line or comments behind one.

    `[headings]` do wherever they are.
    """
    found = list(_SECTION.finditer(data))
    definitions = []
    for place, match in enumerate(found):
        start, end = match.span(match.lastgroup or 0)
        name = shown_text(data[start:end]).strip()[:MAX_SECTION_CHARS]
        stop = found[place + 1].start() if place + 1 < len(found) else len(data)
        stop = start + len(data[start:stop].rstrip())
        span = Span(lines.at(start) + 1, lines.at(max(start, stop - 1)) + 1, start, stop)
        definitions.append(Definition("section", name, name, name, "", -1, span))
    return FileOutline(
        path=path,
        language=language.name,
        lines=len(lines) if data else 0,
        tokens=estimate_tokens(len(data)),
        imports=(),
        import_lines=(0, 0),
        symbols=tuple(_symbols(definitions, path)),
        spans=tuple(definition.span for definition in definitions),
        leads=tuple(lines.at(match.start()) + 1 for match in found),
        notes=(f"{language.name} has no grammar here: these are the lines that open a section",),
    )


def subtree(outline: FileOutline, number: int) -> FileOutline:
    """Return the outline of one definition and what is in it, without imports; `tokens` are then those of its text."""
    end = number + 1
    depth = outline.symbols[number].depth
    while end < len(outline.symbols) and outline.symbols[end].depth > depth:
        end += 1
    span = outline.spans[number]
    return outline._replace(
        lines=span.end_line - span.start_line + 1,
        tokens=estimate_tokens(span.end_byte - span.start_byte),
        imports=(),
        import_lines=(0, 0),
        symbols=tuple(symbol._replace(depth=symbol.depth - depth) for symbol in outline.symbols[number:end]),
        spans=outline.spans[number:end],
        leads=outline.leads[number:end],
    )
