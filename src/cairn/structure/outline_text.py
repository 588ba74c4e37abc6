"""Lays out an outline as dense text within a budget: details are dropped first, kind by kind, then definitions.

A line is `FIRST-LAST head doc`, indented by one space for each definition around it; the numbers stand first because
that costs a language model fewest tokens. Small definitions next to each other share a line. Parentheses say that
something is a function, so that its keyword is left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from cairn.answers import OutlineSymbol
from cairn.hints import Hint, HintStyle, show
from cairn.source.languages import BY_NAME
from cairn.source.text import MOST_CHARS_PER_TOKEN, count_tokens, on_one_line, pluralize
from cairn.structure.outline import ID_MARK, FileOutline

# What the text may take of the file's tokens before details are left out, but never less than `_SMALL_TOKENS`.
TARGET_SHARE = 0.085
_SMALL_TOKENS = 250
# These share a line; all others have their own.
MINOR_KINDS = frozenset(
    {"constant", "enumerator", "field", "key", "property", "setting", "variable", "type_parameter", "pair"}
)
# So do these where they take one line and have no parameters, once space is short.
_SMALL_KINDS = frozenset({"type", "macro", "callback", "attribute"})
_FUNCTION_WORDS = re.compile(r"\b(?:def|defp|func|fn|fun|function|sub)\s+(?=[^\s(])")
_MODIFIERS = re.compile(
    r"^(?:(?:public|private|protected|internal|final|override|virtual|abstract|static|async|export|default|pub"
    r"(?:\([^)]*\))?|const|inline|extern|synchronized|open|readonly|unsafe|constexpr|explicit|declare|sealed|partial"
    r"|@\w+(?:\([^)]*\))?)\s+)+"
)
_TRAILING = re.compile(r",? \)")
_SELF = re.compile(r"\((?:self|cls|&(?:mut )?self|mut self)(?:,\s*|(?=\)))")
_WORD = re.compile(r"[\w$]+")
_OPEN, _CLOSE = "([{<", ")]}>"
_CLOSED = {"(": ")", "[": "]", "{": "}"}
_INLINE_BODY = re.compile(r",\s*do:.*$|\s*\\$")  # of Elixir; and the mark that goes on with a macro of C
_MOST_BEFORE_NAME = 40  # characters above the limit, to show a whole name
_TYPE_WORDS = ("class ", "struct ", "case class ", "record ", "object ", "trait ", "type ", "data class ")


class _Detail(NamedTuple):
    """How much of each definition is shown. `doc_depth` is how deep documentation is shown, -1 for nowhere."""

    head_chars: int
    doc_chars: int
    doc_depth: int
    types: bool
    modifiers: bool
    values: bool  # the types or values of small definitions
    results: bool
    imports_chars: int


_DETAILS = (
    _Detail(160, 100, 9, True, True, True, True, 1_000),
    _Detail(120, 60, 9, True, True, True, True, 600),
    _Detail(120, 50, 0, True, True, False, True, 300),
    _Detail(120, 0, -1, True, False, False, True, 300),
    _Detail(90, 0, -1, False, False, False, True, 200),
    _Detail(50, 0, -1, False, False, False, True, 120),
    _Detail(32, 0, -1, False, False, False, False, 60),
)


class OutlineText(NamedTuple):
    """A text, its estimated tokens, and which of the symbols it shows (by their number)."""

    text: str
    tokens: int
    shown: tuple[int, ...]


def lay_out(outline: FileOutline, max_tokens: int, hints: HintStyle = "commands") -> OutlineText:
    """Return the outline as text of at most about `max_tokens` tokens; what does not fit is counted in it.

    Args:
        hints: how the text says what to do next.
    """
    target = min(max_tokens, max(_SMALL_TOKENS, int(outline.tokens * TARGET_SHARE)))
    everything = range(len(outline.symbols))
    low, high = 0, len(_DETAILS) - 1
    if len(outline.symbols) > target:  # each costs a token at least
        low = high
    fitting: tuple[str, int] | None = None
    text = ""
    while low <= high:  # the most detail that fits
        middle = (low + high) // 2
        text = _render(outline, everything, _DETAILS[middle], "")
        tokens = count_tokens(text) if len(text) <= MOST_CHARS_PER_TOKEN * target else target + 1
        if tokens <= target:
            fitting, high = (text, tokens), middle - 1
        else:
            low = middle + 1
    if fitting is None:  # the search ended with the least detail
        fitting = text, count_tokens(text)
    if fitting[1] <= max_tokens:
        return OutlineText(*fitting, tuple(everything))
    return _lay_out_part(outline, max_tokens, fitting[1], hints)


def _lay_out_part(outline: FileOutline, max_tokens: int, all_tokens: int, hints: HintStyle) -> OutlineText:
    """Leave out the deepest and smallest definitions, the later ones first, until the rest fits."""
    order = sorted(range(len(outline.symbols)), key=lambda number: (*_importance(outline.symbols[number]), number))
    low, high = 0, min(len(order), max_tokens)
    while low < high:  # the most definitions that fit
        middle = (low + high + 1) // 2
        if count_tokens(_render_part(outline, order[:middle], all_tokens, hints)) <= max_tokens:
            low = middle
        else:
            high = middle - 1
    shown = sorted(order[:low])
    text = _render_part(outline, shown, all_tokens, hints)
    return OutlineText(text, count_tokens(text), tuple(shown))


def _importance(symbol: OutlineSymbol) -> tuple[int, bool]:
    return symbol.depth, symbol.kind in MINOR_KINDS


def _render_part(outline: FileOutline, shown: Sequence[int], all_tokens: int, hints: HintStyle) -> str:
    omitted = len(outline.symbols) - len(shown)
    words = f"{omitted} of {len(outline.symbols)} left out; all take {pluralize(all_tokens, 'token')}, or ask for one"
    rest = Hint(words, "outline", file=outline.path, symbol=None)
    return _render(outline, sorted(shown), _DETAILS[-1], show(rest, hints))


def _render(outline: FileOutline, shown: Sequence[int], detail: _Detail, ending: str) -> str:
    lines = [
        f"{on_one_line(outline.path)} {pluralize(outline.lines, 'line')} ~{pluralize(outline.tokens, 'token')}; "
        f"fetch PATH{ID_MARK}NAME or {ID_MARK}LINE"
    ]
    if outline.imports:
        lines.append(f"{_range(*outline.import_lines)} imports {_join_imports(outline.imports, detail.imports_chars)}")
    previous: OutlineSymbol | None = None
    for number in shown:
        symbol = outline.symbols[number]
        beside = previous is not None and (previous.kind, previous.depth) == (symbol.kind, symbol.depth)
        numbers = _range(symbol.start_line, symbol.end_line)
        if _is_minor(symbol, detail):
            item = f"{numbers} {_minor(symbol, detail)}"
            if previous is not None and beside and _is_minor(previous, detail):
                lines[-1] += f", {item}"
            else:
                lines.append(f"{' ' * symbol.depth}{symbol.kind} {item}")
        elif previous is not None and beside and not detail.types and previous.name == symbol.name:
            first = lines[-1].find(" ")
            lines[-1] = f"{lines[-1][:first]},{numbers}{lines[-1][first:]}"  # another clause or overload
        else:
            lines.append(f"{numbers}{' ' * (symbol.depth + 1)}{_head(symbol, outline.language, detail)}")
        previous = symbol
    lines += [f"({note})" for note in (*outline.notes, ending) if note]
    return "\n".join(lines)


def heading(symbol: OutlineSymbol, language: str) -> str:
    """Return the line of one definition in full detail."""
    return f"{_range(symbol.start_line, symbol.end_line)} {_head(symbol, language, _DETAILS[0])}"


def _is_minor(symbol: OutlineSymbol, detail: _Detail) -> bool:
    if symbol.kind in MINOR_KINDS:
        return True
    small = symbol.kind in _SMALL_KINDS and symbol.start_line == symbol.end_line
    return small and not detail.types and f"{symbol.name}(" not in symbol.signature


def _range(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def _minor(symbol: OutlineSymbol, detail: _Detail) -> str:
    if not detail.values or symbol.name not in symbol.signature:
        return symbol.name
    rest = symbol.signature.split(symbol.name, 1)[1].strip(" ,;")
    return _shorten(f"{symbol.name}{'' if rest.startswith(':') else ' '}{rest}".strip(), 40, symbol.name)


def _head(symbol: OutlineSymbol, language: str, detail: _Detail) -> str:
    head = _tidy(symbol.signature, symbol.name)
    if not detail.modifiers and symbol.name in (plain := _MODIFIERS.sub("", head)):
        head = plain
    if not detail.types:
        head = _without_types(head, symbol.name, language, results=detail.results)
    head = _shorten(head, detail.head_chars, symbol.name)
    if symbol.doc and symbol.depth <= detail.doc_depth:
        head = f"{head}  {_shorten(symbol.doc, detail.doc_chars)}"
    return head


@lru_cache(maxsize=4_096)
def _tidy(signature: str, name: str) -> str:
    """Return a signature with its name and without redundant words; independent of the detail."""
    head = signature if name in signature else f"{name} {signature}".strip()
    head = _TRAILING.sub(")", head.replace("( ", "("))
    without = _SELF.sub("(", _FUNCTION_WORDS.sub("", head, count=1), count=1)
    return without if name in without else head  # a name may be one of these words


def _without_types(head: str, name: str, language: str, *, results: bool) -> str:
    """Return a head whose parameters are names alone; what stands behind them stays with `results`."""
    head = _INLINE_BODY.sub("", head)
    start = head.find("(", _end_of_name(head, name))
    if start < 0:
        return head
    inside, end = _parameters(head, start)
    written = BY_NAME[language].support.parameters
    if written == "type name":
        head, start, end = name + head[start:], len(name), end - start + len(name)
    rest = head[end:] if results or head.startswith(_TYPE_WORDS) else ")"
    return f"{head[:start]}({', '.join(_parameter(parameter, written) for parameter in inside)}{rest}"


def _parameters(head: str, start: int) -> tuple[list[str], int]:
    """Split what the parenthesis at `start` holds at its commas; also return where it closes, or the head ends."""
    depth, begin, parts = 0, start + 1, []
    for place in range(start, len(head)):
        character = head[place]
        if character in _OPEN:
            depth += 1
        elif character in _CLOSE and head[place - 1] not in "-=~":
            depth -= 1
        if depth == 0 or (depth == 1 and character == ","):
            parts.append(head[begin:place].strip())
            begin = place + 1
        if depth == 0:
            return [part for part in parts if part], place
    return [*parts, head[begin:].strip()], len(head)


def _parameter(text: str, written: str) -> str:
    """Return the name of a parameter; see `cairn.source.languages.support.Support.parameters` for `written`."""
    if text[:1] in _CLOSED:
        return f"{text[0]}…{_CLOSED[text[0]]}"
    plain = re.split(r"[:=]", text, maxsplit=1)[0].strip()
    if written == "type name":
        words = _WORD.findall(plain)
        return words[-1] if words else text[:12]
    if written == "name type":
        plain = plain.split(" ", 1)[0]
    return plain.rsplit(" ", 1)[-1] or text[:12]


def _shorten(text: str, limit: int, name: str = "") -> str:
    """Cut a text behind its `name`; what stands before that goes instead where there is much of it."""
    if len(text) <= limit:
        return text
    end = _end_of_name(text, name)
    if end > limit + _MOST_BEFORE_NAME:
        text, end = text[end - len(name) :], len(name)
    limit = max(limit, end + 1)
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"


def _end_of_name(head: str, name: str) -> int:
    """Return where the name in a head ends, 0 if it is not there; as a word of its own if it is one."""
    whole = re.search(rf"(?<![\w$]){re.escape(name)}(?![\w$])", head) if name else None
    return whole.end() if whole else max(0, head.find(name)) + len(name) if name in head else 0


def _join_imports(imports: Sequence[str], limit: int) -> str:
    text = ", ".join(imports)
    if len(text) <= limit:
        return text
    names = [imported.split("(", 1)[0] for imported in imports]
    names = list(dict.fromkeys(names))
    shown: list[str] = []
    for name in names:
        if sum(map(len, shown)) + 2 * len(shown) + len(name) > limit:
            break
        shown.append(name)
    rest = len(names) - len(shown)
    return ", ".join(shown) + (f" +{rest}" if rest else "")
