"""Finds where the text of a file says a name: where something is called, or elsewhere. No definitions, no comments."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from cairn.source.languages import BY_NAME, Language

# Where these languages call something, nothing need follow the name.
_BARE_CALLS = frozenset(
    {"bash", "clojure", "erlang", "fsharp", "haskell", "lisp", "make", "nix", "ocaml", "perl", "powershell", "ruby"}
    | {"tcl", "vimscript"}
)
_BLOCKS = frozenset({"groovy", "kotlin", "lua", "ruby", "scala", "swift"})  # a call may go on with a brace
_MARKUP = frozenset({"javascript", "svelte", "tsx", "typescript", "vue"})  # `<Name` uses a component

_ARGUMENTS = rb"[ \t]?(?:::)?(?:<[^<>()\n;]*(?:<[^<>()\n;]*>[^<>()\n;]*)*>)?(?:\[[\w., *]*\])?[ \t]?\("
_CALLED = re.compile(_ARGUMENTS + rb"|![ \t]?[\[({]|`")
_CALLED_WITH_BLOCK = re.compile(_ARGUMENTS + rb"|[ \t]*[{\"]|[ \t]+'")
_NEW = re.compile(rb"(?:@|\bnew[ \t]+)$")
_DEFINED = re.compile(
    rb"(?:^|[^\w.$])(?:fn|func|fun|def\w*|function\*?|sub|class|struct|interface|trait|enum|object|record|protocol"
    rb"|module|macro|macro_rules!|union|type|typedef|namespace|contract|@(?:spec|callback|macrocallback|typep?|opaque)"
    rb"|val|var|let|const|#[ \t]*(?:define|undef))[ \t]+"
    rb"(?:<[^<>\n]*>[ \t]*)?(?:\([^()\n]*\)[ \t]*)?(?:[\w<>,?]+(?:\.|::))*[&*]?$"
)
_IMPORTED = re.compile(
    rb"[ \t]*(?:import\b|from[ \t]+\S+[ \t]+import\b|(?:pub(?:\([^()\n]*\))?[ \t]+)?use[ \t]+[\w\\:{]"
    rb"|#[ \t]*(?:include|import)\b|package\b|export[ \t]+(?:type[ \t]+)?[{*])"
)
_COMMENT_ROW = re.compile(rb"[ \t]*\*[ \t/]")  # of a long comment in C's style


class Sighting(NamedTuple):
    """A line that says a name, and whether that is where something is called."""

    line: int
    is_call: bool


@lru_cache(maxsize=64)
def names_pattern(names: frozenset[str]) -> re.Pattern[bytes]:
    """Return what finds some names as whole words."""
    words = b"|".join(re.escape(name.encode("utf-8", "surrogateescape")) for name in sorted(names))
    return re.compile(rb"(?<![\w$])(?:" + words + rb")(?!\w)")


def find_sightings(
    data: bytes,
    names: frozenset[str],
    language: str,
    heads: Sequence[tuple[int, int]],
    code_lines: Collection[int],
    may_mean: Callable[[re.Match[bytes], bytes], bool] = lambda _name, _before: True,
) -> Iterator[Sighting]:
    """Yield the lines of a file that say one of some names, in reading order, each once.

    A line may look like a call and still stand in a text of several lines; only the parser knows that.

    Args:
        data: the file.
        heads: the definitions of these names, as (first byte, first byte behind it): what stands there is left out.
        code_lines: those on which the parser found such a name as code, so that they are not comments.
        may_mean: whether a call of a name, with what stands on its line before it, may mean what is asked for.
    """
    seen: dict[int, bool] = {}
    line, at = 1, 0
    for match in names_pattern(names).finditer(data):
        line, at = line + data.count(b"\n", at, match.start()), match.start()
        if seen.get(line) or any(first <= at < end for first, end in heads):
            continue
        before = data[data.rfind(b"\n", 0, at) + 1 : at]
        if _DEFINED.search(before) or (line not in code_lines and _is_comment(before, BY_NAME[language])):
            continue
        is_call = _is_call(data, match, before, language)
        # Python has neither macros nor templates: what the parser does not take for a call is a text.
        is_call = is_call and (language != "python" or line in code_lines)
        is_call = is_call and may_mean(match, before)
        if is_call or not _IMPORTED.match(before):
            seen[line] = seen.get(line, False) or is_call
    yield from (Sighting(line, is_call) for line, is_call in seen.items())


def _is_call(data: bytes, match: re.Match[bytes], before: bytes, language: str) -> bool:
    if language in _BARE_CALLS and not _IMPORTED.match(before):
        return True
    called = _CALLED_WITH_BLOCK if language in _BLOCKS else _CALLED
    is_component = before.endswith(b"<") and language in _MARKUP
    return is_component or called.match(data, match.end()) is not None or _NEW.search(before) is not None


def _is_comment(before: bytes, language: Language) -> bool:
    """Tell whether a line is a comment where a name stands on it, going by what stands before that."""
    support = language.support
    for begin, _ in support.block_comments:
        mark = begin.encode()
        if before.lstrip().startswith(mark) or (begin == "/*" and _COMMENT_ROW.match(before)):
            return True
    for begin in support.line_comments:
        mark = begin.encode()
        place = before.find(mark)
        if place >= 0 and not before[:place].endswith(b":") and _is_outside_quotes(before[:place]):
            return True
    return False


def _is_outside_quotes(text: bytes) -> bool:
    return text.count(b'"') % 2 == 0 and text.count(b"'") % 2 == 0
