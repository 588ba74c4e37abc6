"""Finds where the text of a file says a name: where something is called, or elsewhere. No definitions, no comments."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from cairn.source.languages import BY_NAME, Language

# Where these languages call something, nothing need follow the name.
BARE_CALLS = frozenset(
    {"bash", "clojure", "erlang", "fsharp", "haskell", "lisp", "make", "nix", "ocaml", "perl", "powershell", "ruby"}
    | {"tcl", "vimscript"}
)
_BLOCKS = frozenset({"groovy", "kotlin", "lua", "ruby", "scala", "swift"})  # a call may go on with a brace
_MARKUP = frozenset({"javascript", "svelte", "tsx", "typescript", "vue"})  # `<Name` uses a component

_WITHOUT_MACROS = frozenset({"python", "ruby"})  # nor templates: the parser takes all code for code
_CODE_IN_QUOTES = frozenset({"bash", "make", "powershell", "svelte", "vue"})
_LONG_QUOTES = (b'"""', b"'''")
# What begins and ends a text, where that is not only the double quote.
_QUOTES = dict.fromkeys(("javascript", "tsx", "typescript"), b"\"'`") | dict.fromkeys(("lua", "php"), b"\"'")

_MARK = re.compile(rb"[!?](?![=~\w])")
# Where `save!`, `saved?` and `@saved`, or `saved'`, are names of their own.
_MARKED_NAMES = {"elixir": _MARK, "ruby": _MARK, "haskell": re.compile(b"'")}

_ARGUMENTS = rb"[ \t]?(?:::)?(?:<[^<>()\n;]*(?:<[^<>()\n;]*>[^<>()\n;]*)*>)?(?:\[[\w., *]*\])?[ \t]?\("
_CALLED = re.compile(_ARGUMENTS + rb"|![ \t]?[\[({]")
_APPLIED = rb"|\??\.(?:call|apply|bind)[ \t]?\("  # in JavaScript
_CALLED_WITH_TEXT = re.compile(_ARGUMENTS + rb"|`" + _APPLIED)
_CALLED_WITH_BLOCK = re.compile(_ARGUMENTS + rb"|[ \t]*[{\"]|[ \t]+'")
_MADE = re.compile(_ARGUMENTS + rb"|![ \t]?[\[({]|`|(?:\.|::)new\b|[ \t]*\{" + _APPLIED)
_NEW = re.compile(rb"(?:@|\bnew[ \t]+)$")
_DEFINED = re.compile(
    rb"(?:^|[^\w.$])(?:fn|func|fun|def\w*|function\*?|sub|class|struct|interface|trait|enum|object|record|protocol"
    rb"|module|macro|macro_rules!|union|type|typedef|namespace|contract|@(?:spec|callback|macrocallback|typep?|opaque)"
    rb"|val|var|let|const|#[ \t]*(?:define|undef))[ \t]+"
    rb"(?:<[^<>\n]*>[ \t]*)?(?:\([^()\n]*\)[ \t]*)?(?:[\w<>,?]+(?:\.|::))*[&*]?$"
)
_WITH_TAGS = frozenset({"c", "cpp"})
_TAG = re.compile(rb"\b(?:struct|union|enum)[ \t]+$")
_TAG_DEFINED = re.compile(rb"\s*(?:[{;:]|final\b|$)")
# Where these languages only say what types something has: by what stands before a name, and behind it.
_ANY = re.compile(b"")
_TYPED = {
    "elixir": (re.compile(rb"[ \t]*@(?:spec|callback|macrocallback|typep?|opaque)\b"), _ANY),
    "haskell": (
        re.compile(rb"[ \t]*(?:(?:where|let)[ \t]+)?(?:[^\s,=]+[ \t]*,[ \t]*)*$"),
        re.compile(rb"[ \t]*(?:,[^=|]*)?::"),
    ),
}
_IMPORTED = re.compile(
    rb"[ \t]*(?:import\b|from[ \t]+\S+[ \t]+import\b|(?:pub(?:\([^()\n]*\))?[ \t]+)?use[ \t]+[\w\\:{]"
    rb"|#[ \t]*(?:include|import)\b|package\b|export[ \t]+(?:type[ \t]+)?[{*])"
)
IMPORTING = re.compile(
    rb"\b(?:import|from|use|using|require\w*|include\w*|source|load|mod|alias|export|part|package)\b|^[ \t]*\.[ \t]"
)
_NAME_IN_PATTERN = re.compile(rb"(?<=[(\[{<!$\s])#\w*$")  # as in `(send _ #settled? ...)`, of a text: no comment
_COMMENT_ROW = re.compile(rb"[ \t]*\*[ \t/]")  # of a long comment in C's style

# Compiled at their first use: start-up time. The head of a type on one line, or the words that add a base to one.
_MODIFIERS = (
    rb"(?:public|private|protected|internal|fileprivate|abstract|final|sealed|non-sealed|static|open|partial|export"
    rb"|default|declare|inline|pub(?:\([^()]*\))?|unsafe|readonly|inner|companion|data|value|fun|indirect|implicit|case"
    rb"|enum|record|ref|actual|expect|\w*@\w+(?:\([^()]*\))?|\[[^\[\]]*\])[ \t]+"
)
_HEAD = (
    rb"[ \t]*(?:" + _MODIFIERS + rb")*(?:class|struct|interface|trait|enum|record|protocol|extension|impl|actor"
    rb"|object(?=[ \t]+\w+[ \t]*(?::|extends))"
    rb"|contract|module|instance)\b|.*\b(?:new[ \t]+class|object(?=[ \t]*:))\b"
)
_ADDING = rb"^[ \t]*(?:include|extend|prepend|use|@behaviour|@impl|conforms?|with)\b[^\"'(=]*?$"
_DERIVING = rb"(?:\bextends\b|\bimplements\b|\bwith\b|\bfor\b|\bis\b|\(|<:|<|:|,)[^(){};=]*$"


# Templates, which call code of other files, and those of which every line may be code.
_TEMPLATE = re.compile(
    r"\.(?:erb|rhtml|rabl|ejs|hbs|handlebars|mustache|twig|j2|jinja2?|njk|liquid|as[cp]x|jsp[fx]?|tagx?|ftlh?|vm|gsp"
    r"|[hl]?eex|astro|gohtml|go?tmpl|tpl|mako|latte|volt|marko|x?html?|haml|slim|pug|jade|cshtml|vbhtml|razor|a?xaml"
    r"|blade\.php|yy?|ypp|l|lex|rl|xs|px[di]|pyx|routes)$"  # parsers and bindings, around code of C
    r"|(?:^|/)conf/routes$"  # of Play
)
_ALL_CODE = re.compile(
    r"\.(?:rabl|haml|slim|pug|jade|cshtml|vbhtml|razor|a?xaml|marko|yy?|ypp|l|lex|rl|xs|px[di]|pyx|routes)$"
    r"|(?:^|/)conf/routes$"
)
_TEMPLATE_CODE = ((b"<%", b"%>"), (b"{{", b"}}"), (b"{%", b"%}"), (b"${", b"}"), (b"#{", b"}"), (b"<#", b">"))
_BLADE = ".blade.php"
_OF_PHP = re.compile(rb"(?:\??->|::|\\)$|\b(?:new|instanceof)[ \t]+$")
_BRACES = ((b"{", b"}"),)  # in HEEx, too
_COMPONENT_OF_HEEX = re.compile(rb"<(?:[A-Z][\w.]*)?\.$")
_TEMPLATE_ATTRIBUTE = re.compile(rb"(?:[\s\"'](?:th|v-|x-|ng-|data-)[\w:.-]*|[*@:(\[][\w.:-]+[\])]*)=[\"'][^\"']*$")
_MAX_TEMPLATE_CODE = 5_000  # bytes


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
        mark = _MARKED_NAMES.get(language)
        if mark is not None and (before.endswith(b"@") or mark.match(data, match.end())):  # another name
            continue
        if _is_typed(data, match, before, language) or _is_defined(data, match, before, language):
            continue
        if line not in code_lines and _is_comment(data, at, before, BY_NAME[language]):
            continue
        is_call = _is_call(data, match, before, language)
        is_call = is_call and (line in code_lines or not _is_text(before, language))
        is_call = is_call and may_mean(match, before)
        if is_call or not _IMPORTED.match(before):
            seen[line] = seen.get(line, False) or is_call
    yield from (Sighting(line, is_call) for line, is_call in seen.items())


def is_template(path: str) -> bool:
    """Tell from its path whether a file is a template, which may call code although its own language is not read."""
    return _TEMPLATE.search(path) is not None


def is_only_template(path: str, language: str) -> bool:
    """Tell whether a file is a template whose code no grammar reads, or hardly any of it."""
    return is_template(path) and (BY_NAME[language].group != "code" or path.endswith(_BLADE))


def words_in(path: str, names: frozenset[str]) -> frozenset[str]:
    """Return what a file says that means some names: in Blade, `$total` is also a method of the view's component."""
    return names.union(f"${name}" for name in names) if path.endswith(_BLADE) else names


def find_in_template(
    data: bytes, names: frozenset[str], path: str, may_mean: Callable[[bytes], bool]
) -> Iterator[Sighting]:
    """Yield the lines of a template whose code says one of some names, each once, as calls.

    Args:
        data: the file.
        names: what is called.
        path: of the file.
        may_mean: whether a call may mean what is asked for, by what stands before the name on its line.
    """
    is_all_code = _ALL_CODE.search(path) is not None
    is_heex = path.endswith(".heex")
    marks = _TEMPLATE_CODE + _BRACES if is_heex else _TEMPLATE_CODE
    seen = 0
    line, at = 1, 0
    for match in names_pattern(words_in(path, names)).finditer(data):
        line, at = line + data.count(b"\n", at, match.start()), match.start()
        before = data[max(data.rfind(b"\n", 0, at) + 1, at - 500) : at]
        if path.endswith(_BLADE):
            is_code = _is_code_of_blade(data, match, before)
        else:
            is_code = is_all_code or (is_heex and _COMPONENT_OF_HEEX.search(before) is not None)
            is_code = is_code or _is_code_of_template(data, at, before, marks)
        if line != seen and is_code and may_mean(before):
            seen = line
            yield Sighting(line, is_call=True)


def _is_code_of_blade(data: bytes, match: re.Match[bytes], before: bytes) -> bool:
    """Tell whether a name in Blade is that of a member, a class or a call; as text it is most often one of HTML."""
    if _OF_PHP.search(before):
        return True
    return not before.endswith((b"@", b"-")) and _CALLED.match(data, match.end()) is not None


def _is_code_of_template(data: bytes, at: int, before: bytes, marks: Sequence[tuple[bytes, bytes]]) -> bool:
    """Tell whether a name in a template stands behind the mark that begins code, and in no text there."""
    first = max(0, at - _MAX_TEMPLATE_CODE)
    begins = (
        begin
        for begin, end in ((data.rfind(mark, first, at), data.rfind(close, first, at)) for mark, close in marks)
        if begin > end
    )
    if (begin := max(begins, default=-1)) >= 0:
        return _is_outside_quotes(data[begin:at])
    return _TEMPLATE_ATTRIBUTE.search(before) is not None


def code_like_calls(
    data: bytes, names: frozenset[str], language: str, code_lines: Collection[int]
) -> Iterator[tuple[int, int]]:
    """Yield calls that seem to be code where the parser found none, in languages in which it takes all code for code.

    Args:
        data, names, language, code_lines: as for `find_sightings`.

    Yields:
        The byte at which the name begins, and its line.
    """
    if language not in _WITHOUT_MACROS:
        return
    line, at = 1, 0
    for match in names_pattern(names).finditer(data):
        line, at = line + data.count(b"\n", at, match.start()), match.start()
        if line in code_lines or not _CALLED.match(data, match.end()):
            continue
        before = data[data.rfind(b"\n", 0, at) + 1 : at]
        is_text = not _is_outside_quotes(before) or _is_comment(data, at, before, BY_NAME[language])
        is_text = is_text or any(data.count(quotes, 0, at) % 2 for quotes in _LONG_QUOTES)
        if not is_text and not _DEFINED.search(before):
            yield at, line


def _is_call(data: bytes, match: re.Match[bytes], before: bytes, language: str) -> bool:
    if language in BARE_CALLS and not _IMPORTED.match(before):
        return True
    called = _CALLED_WITH_BLOCK if language in _BLOCKS else _CALLED_WITH_TEXT if language in _MARKUP else _CALLED
    is_component = before.endswith(b"<") and language in _MARKUP
    return is_component or called.match(data, match.end()) is not None or _NEW.search(before) is not None


def _is_defined(data: bytes, match: re.Match[bytes], before: bytes, language: str) -> bool:
    """Tell whether a name stands where something of the name is defined; `struct cart *c` of C uses one."""
    if not _DEFINED.search(before):
        return False
    return language not in _WITH_TAGS or not _TAG.search(before) or _TAG_DEFINED.match(data, match.end()) is not None


def _is_typed(data: bytes, match: re.Match[bytes], before: bytes, language: str) -> bool:
    """Tell whether a name stands where code only says what types something has."""
    before_it, behind_it = _TYPED.get(language, (None, _ANY))
    return before_it is not None and bool(before_it.match(before) and behind_it.match(data, match.end()))


def _is_comment(data: bytes, at: int, before: bytes, language: Language) -> bool:
    """Tell whether a name stands in a comment, given what stands before it on its line."""
    if _is_in_line_comment(before, language):
        return True
    for begin, end in language.support.block_comments:
        if begin == "/*" and _COMMENT_ROW.match(before):
            return True
        if _is_in_block_comment(data, at, begin.encode(), end.encode(), language):
            return True
    return False


def _is_in_line_comment(before: bytes, language: Language) -> bool:
    for begin in language.support.line_comments:
        place = before.find(begin.encode())
        if language.name == "ruby" and place > 0 and _NAME_IN_PATTERN.search(before, place):
            continue
        if place >= 0 and not before[:place].endswith(b":") and _is_outside_quotes(before[:place]):
            return True
    return False


def _is_in_block_comment(data: bytes, at: int, begin: bytes, end: bytes, language: Language) -> bool:
    """Tell whether a comment that may go over lines begins before a byte and ends behind it.

    Its beginning is none where it stands in a text, as in `"src/*"`, or behind what begins another comment.
    """
    start = data.rfind(begin, 0, at)
    if start < 0 or data.find(end, start + len(begin), at) >= 0:
        return False
    before = data[data.rfind(b"\n", 0, start) + 1 : start]
    if not _is_outside_quotes(before, _QUOTES.get(language.name, b'"')) or _is_in_line_comment(before, language):
        return False
    close = data.find(end, at)
    return close >= 0 and data.find(begin, at, close) < 0


def _is_text(before: bytes, language: str) -> bool:
    """Tell whether a name stands in a text, where the parser did not take it for code."""
    if language in _WITHOUT_MACROS:
        return True
    return language not in _CODE_IN_QUOTES and not _is_outside_quotes(before, _QUOTES.get(language, b'"'))


def _is_outside_quotes(text: bytes, quotes: bytes = b"\"'") -> bool:
    return not any(text.count(quote) % 2 for quote in quotes)


def lines_like_heads(data: bytes, names: frozenset[str], language: str, code_lines: Collection[int]) -> Iterator[int]:
    """Yield the lines that look like the head of a type with one of some names among its bases."""
    pattern = names_pattern(names)
    if not pattern.search(data):
        return
    lines = data.split(b"\n")
    for line in (sighting.line for sighting in find_sightings(data, names, language, (), code_lines)):
        text = lines[line - 1]
        for match in pattern.finditer(text):
            before = text[: match.start()]
            head = re.match(_HEAD, before)
            is_argument = language != "ruby" and before.count(b"<") > before.count(b">")  # of a generic type
            if (head and not is_argument and re.search(_DERIVING, before[head.end() :])) or re.match(_ADDING, before):
                yield line
                break


def lines_with(data: bytes, names: frozenset[str]) -> frozenset[int]:
    """Return the lines of a file that say one of some names."""
    lines: set[int] = set()
    line, at = 1, 0
    for match in names_pattern(names).finditer(data):
        line, at = line + data.count(b"\n", at, match.start()), match.start()
        lines.add(line)
    return frozenset(lines)


def is_line_of_comment(line: bytes, language: str) -> bool:
    """Tell whether a line is nothing but a comment that ends with it, or a row of a long one in C's style."""
    support = BY_NAME[language].support
    begins = line.lstrip().startswith(tuple(begin.encode() for begin in support.line_comments))
    return begins or (any(begin == "/*" for begin, _ in support.block_comments) and bool(_COMMENT_ROW.match(line)))


def first_line_saying(data: bytes, names: frozenset[str], language: str) -> int:
    """Return the first line of a file that says one of some names outside of comments and texts, 0 if none does."""
    for match in names_pattern(names).finditer(data):
        before = data[data.rfind(b"\n", 0, match.start()) + 1 : match.start()]
        is_text = not _is_outside_quotes(before, _QUOTES.get(language, b'"'))
        if not is_text and not _is_comment(data, match.start(), before, BY_NAME[language]):
            return data.count(b"\n", 0, match.start()) + 1
    return 0


def looks_derived(data: bytes, names: frozenset[str], language: str) -> bool:
    """Tell whether a line of a file looks like the head of a type with one of some names among its bases."""
    return any(True for _ in lines_like_heads(data, names, language, ()))


def looks_imported(data: bytes, names: frozenset[str]) -> bool:
    """Tell whether a line of a file says one of some names behind a word for an import."""
    for match in names_pattern(names).finditer(data):
        if IMPORTING.search(data, data.rfind(b"\n", 0, match.start()) + 1, match.start()):
            return True
    return False


def looks_called(data: bytes, names: frozenset[str], language: str) -> bool:
    """Tell whether a file seems to call something of some names, or to make one, going by its text."""
    for match in names_pattern(names).finditer(data):
        before = data[data.rfind(b"\n", 0, match.start()) + 1 : match.start()]
        # What is called with no sign of it begins with a small letter; what begins with a large one is made.
        is_bare = language in BARE_CALLS and not match[0][:1].isupper() and not _IMPORTED.match(before)
        if (is_bare or _MADE.match(data, match.end()) or _NEW.search(before)) and not _DEFINED.search(before):
            return True
    return False
