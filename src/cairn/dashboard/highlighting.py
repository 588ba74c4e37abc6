"""Syntax highlighting, with the highlight queries that come with the grammars."""

from __future__ import annotations

import importlib.resources
import re
from functools import cache

import tree_sitter
from markupsafe import Markup

from cairn.dashboard.rendering import visible
from cairn.source.languages import LANGUAGES, load_grammar

MAX_BYTES = 40_000  # characters of a text to colour; a longer one is shown plain
# Classes of the style sheet by the first word of a capture's name.
_CLASSES = {
    "keyword": "keyword", "conditional": "keyword", "repeat": "keyword", "include": "keyword", "exception": "keyword",
    "string": "string", "character": "string", "escape": "string", "comment": "comment",
    "function": "function", "method": "function", "constructor": "type", "type": "type", "module": "type",
    "number": "number", "float": "number", "boolean": "constant", "constant": "constant",
}  # fmt: skip
# Grammars whose queries extend another's.
_BASES = {"typescript": ("javascript",), "tsx": ("javascript",), "cpp": ("c",)}
_DIRECTIVE = re.compile(
    r"\(#(?:set|is|is-not)!?\??[^()]*\)"
)  # py-tree-sitter crashes on some predicates, and none is needed


def highlight(text: str, language: str) -> Markup:
    """Return a text as highlighted markup; plain if there is no query."""
    data = text.encode("utf-8", "replace")
    found = _query_of(language) if len(data) <= MAX_BYTES else None
    if found is None:
        return visible(text)
    grammar, query = found
    tree = tree_sitter.Parser(grammar).parse(data)
    captures = tree_sitter.QueryCursor(query).captures(tree.root_node)
    marks = sorted(
        (node.start_byte, -node.end_byte, _CLASSES[kind])
        for name, nodes in captures.items()
        if (kind := name.partition(".")[0]) in _CLASSES
        for node in nodes
    )
    return _mark_up(data, [(start, -end, kind) for start, end, kind in marks])


def _mark_up(data: bytes, marks: list[tuple[int, int, str]]) -> Markup:
    """Return a text with the outermost of some sorted ranges in their classes."""
    parts: list[Markup] = []
    place = 0
    for start, end, kind in marks:
        if start < place or start == end:
            continue
        parts.append(visible(data[place:start].decode("utf-8", "replace")))
        text = visible(data[start:end].decode("utf-8", "replace"))
        parts.append(Markup('<span class="{}">{}</span>').format(kind, text))
        place = end
    parts.append(visible(data[place:].decode("utf-8", "replace")))
    return Markup("").join(parts)


@cache
def _query_of(name: str) -> tuple[tree_sitter.Language, tree_sitter.Query] | None:
    language = next((language for language in LANGUAGES if language.name == name), None)
    if language is None or not language.support.grammar or language.support.code_of is not None:
        return None
    texts = [text for part in (*_BASES.get(name, ()), name) if (text := _query_text(part))]
    grammar = load_grammar(language)
    try:
        return (grammar, tree_sitter.Query(grammar, "\n".join(texts))) if texts else None
    except tree_sitter.QueryError:  # the query is for another version of the grammar, or for one that it extends
        return None


def _query_text(name: str) -> str:
    """Return the highlight query in a grammar's wheel, empty if there is none."""
    language = next((language for language in LANGUAGES if language.name == name), None)
    if language is None or not language.support.grammar:
        return ""
    module = language.support.grammar.partition(":")[0]
    try:
        text = (importlib.resources.files(module) / "queries" / "highlights.scm").read_text(encoding="utf-8")
    except (OSError, ModuleNotFoundError):
        return ""
    return _DIRECTIVE.sub("", text)
