"""Reads more of a stack frame than its place: its function, and its line of source."""

from __future__ import annotations

import re
from collections.abc import Sequence

_MAX_NAME_CHARS = 300
# The function after a place: Python and pytest, Ruby, Elixir; Python's faulthandler, profiler and debugger; Lua, Zig.
_NAME_BEHIND = re.compile(
    r"[,:] in ([\w.<>]{1,200})(?:\([^\n]{0,300}\))?\s*$|:in [`']([^'`\n]{1,200})'|: [\w.]{1,200}\.(\w+[?!]?)/\d"
    r"|(?<=\d) in ([\w.<>]{1,200})$|\(([\w.<>]{1,200})\)\s*$|(?<=\))([\w<>]{1,200})\(\)"
    r"|: in (?:function|method|local|upvalue|field) '(?:[^'\n]{0,200}[.:])?([^'\n.:]{1,200})'"
    r"|:\d+: 0x[\da-f]+ in ([\w.]{1,200}) \("
)
_NAME_IN_DART = re.compile(r":\d+ {2,}(\S.{0,200}?)\s*$")
# The function before it: JavaScript, .NET and Vitest; Firefox and Safari; Visual Studio; Chrome. Of a qualified name,
# the last part counts.
_NAME_BEFORE = re.compile(
    r"[\s|>*]{0,40}(?:(?:at|bei|\u00e0|\u276f) (?:async )?(?:new )?([^\s()]+)[^\n]{0,400}?[( ]|([\w$.<>/]+)@\S{0,200}$"
    r"|[\w.+-]{1,200}\.(?:dll|exe)!([\w.+<>`]{1,300})\(|(?:[^\s@]{0,300}\.)?([\w$]{1,200}) (?:\| )?@ (?:\| )?$)"
)
# The same in native code: gdb, sanitizers and Dart (`#1 0x4f in f (a=1) at`), lldb, Valgrind, Swift, py-spy.
_NATIVE = re.compile(
    r"(?:[\s*]{0,20}(?:frame )?#\d{1,6}:?\s+(?:0x[\da-f]+\s+)?(?:in )?(?:[^\s`]{1,200}`)?"
    r"|(?:==\d+==)?\s+(?:at|by) 0x[\dA-F]+: |\s*(?=\S+ \($)"
    r"|\s{0,20}\d{1,6}\s+(?:\S{1,200}\s+){0,2}0x[\da-f]+\s+)"
    r"([^\n(]{1,2000}?)(?:\s?\([^\n]*\))?(?: const)?(?: \+ \d+)?(?: in \S{1,200})?\s*(?:at |\((?:package:|file:)?)?$"
)
_MAX_NATIVE_CHARS = 4_000
# A term of Elixir or Erlang: the function and its number of parameters come before the place.
_TERM = ("file: ", "file,")
_NAME_IN_TERM = re.compile(r"[,:\s]([a-z_]\w{0,80}[?!]?), ?\d{1,2},(?: ?\[\{?)?$")
_OF_POINTER = re.compile(r"\.\(\*?(\w{1,80})\)\.")
_TEMPLATE = re.compile(r"<[^<>]*>")
_JAVA = re.compile(r"(?:.*\.)?([\w$]+)\.([\w$<>-]+) ?\([\w$-]+\.\w+:\d+\)?\s*")
_OF_VALUE_CLASS = re.compile(r"-[\w-]{7}(?=$|\$)")  # for a value class as parameter
_GO = r"[\w./~@%\[\]-]+\.(?:\(\*?\w+(?:\[[^\]]*\])?\)\.)?[\w.\[\]-]+"
# On the line before a place that stands alone: Go, with the parameters; Rust and Julia, with a number; GCC and linkers.
_NAME_ABOVE = re.compile(
    rf"\s*(?:({_GO})\(.*\)|created by ({_GO})(?: in goroutine \d+)?"
    r"|\d+: (?:\s*0x[\da-f]+ - )?\s*(\S.*?)|\[\d+\]\s*([^\s(]{1,200})\(.*\)"
    r"|\S[^\n]{0,300}?: [Ii]n (?:static )?(?:member )?(?:function|constructor|destructor) "
    r"[`'\u2018]([^(\n]+)(?:\(.*)?['\u2019]:)\s*$"
)
_PLACE_ALONE = re.compile(r"\s*(?:at |@ (?:[\w.]{1,100} )?)?$")
_MADE_BY_COMPILER = re.compile(
    r"(?:::\{\{?[^}]*\}\}?|::h[\da-f]{16}|\.func\d+|\.gowrap\d+|\.\d+|-fm|\[[^\]]*\]|-range\d+)+$"
)
_WRITTEN_IN = re.compile(r"<(\w+)>[bdg]__")  # added by .NET compilers
_BETWEEN_NAMES = re.compile(r"\.|::|#|/| ")
_NAME = re.compile(r"[^\W\d][\w$]*[?!=]?")
# A function of Clojure is a class behind that of its namespace, in which what no name of Java has is spelt out.
_OF_CLOJURE = re.compile(r"\.cljc?:\d+\)?\s*$")
_CLOJURE_MARKS = {
    "QMARK": "?", "BANG": "!", "STAR": "*", "PLUS": "+", "GT": ">", "LT": "<", "EQ": "=", "SLASH": "/", "PERCENT": "%",
    "AMPERSAND": "&", "SINGLEQUOTE": "'", "CIRCA": "@", "DOT": ".", "SHARP": "#", "TILDE": "~", "BAR": "|",
}  # fmt: skip
_CLOJURE_MARK = re.compile(rf"_({'|'.join(_CLOJURE_MARKS)})_|_")
_MADE_BY_CLOJURE = re.compile(r"(?:fn|eval|reify|iter)?_{0,2}\d+$")
_NO_NAMES = frozenset({"anonymous", "eval", "MoveNext", "invoke"})
_CONSTRUCTORS = ("<init>", "ctor", "cctor", "<clinit>")
# A line of source after its number, as compilers and test runners print it.
_NUMBERED = re.compile(r"^[\s>\u276f\u2502|]{0,20}(\d{1,7})\s{0,4}[|\u2502] {0,200}(\S.{0,400}?)\s*$", re.MULTILINE)
_CARET = re.compile(r"\s+[~^][~^\s]*$")
_INDENTED = (" ", "\t")
# pytest prints the source above a place: the line is marked, and may be followed by values and the error.
_PLACE_OF_PYTEST = re.compile(r":(?: \w+)? *$")
_MARKED = re.compile(r"> {2,}(\S.*?)\s*$")
_BELOW_MARKED = ("E ", " ", "\t")
_MAX_BELOW_MARKED = 60


def function_of(line: str, start: int, end: int, above: str) -> str:
    """Return the name of a frame's function, empty if the text does not say.

    Args:
        line: the line with the frame.
        start: where the place begins in it.
        end: where it ends.
        above: the line before.
    """
    if "(" in line[start:end] and (java := _JAVA.fullmatch(line, start, end)) is not None:
        if "$" in java[1] and _OF_CLOJURE.search(line, start, end):
            return _plain_in_clojure(java[1])
        return java[1].rpartition("$")[2] if java[2] in _CONSTRUCTORS else _plain(_OF_VALUE_CLASS.sub("", java[2]))
    if line.startswith(_TERM, start):
        term = _NAME_IN_TERM.search(line, max(0, start - _MAX_NAME_CHARS), start) or _NAME_IN_TERM.search(above)
        return _plain(term[1]) if term else ""
    if (behind := _NAME_BEHIND.match(line, end)) is not None:
        return _plain(next(filter(None, behind.groups())))
    if ".dart " in line[start:end] and (dart := _NAME_IN_DART.match(line, end)) is not None:
        return _plain(_without_templates(dart[1]))
    if 0 < start <= _MAX_NATIVE_CHARS and (native := _NATIVE.match(_plain_head(line[:start]))) is not None:
        return _plain(_without_templates(native[1]))
    if start <= _MAX_NAME_CHARS and (before := _NAME_BEFORE.match(line, 0, start)) is not None:
        return _plain(next(filter(None, before.groups())))
    if _PLACE_ALONE.fullmatch(line, 0, start) and len(above) <= _MAX_NAME_CHARS:
        named = _NAME_ABOVE.match(above)
        return _plain(next(filter(None, named.groups()))) if named else ""
    return ""


def _plain_head(head: str) -> str:
    """Return the text before a place without brackets in names, such as anonymous namespaces and Go's methods."""
    return _OF_POINTER.sub(r".\1.", head.replace("(anonymous namespace)::", "")) if "(" in head else head


def _without_templates(name: str) -> str:
    """Return a C++ or Rust name without template arguments, up to three levels deep."""
    for _ in range(3):
        name = _TEMPLATE.sub("", name)
    return name


def _plain(name: str) -> str:
    """Return the last part of a function's name as in its source, empty if a compiler made it up."""
    if name.isascii() and name.isidentifier():  # the common case
        return "" if name in _NO_NAMES else name
    if (written_in := _WRITTEN_IN.search(name)) is not None:
        return written_in[1]
    parts = [part for part in _BETWEEN_NAMES.split(_MADE_BY_COMPILER.sub("", name)) if part]
    last = parts.pop() if parts else ""
    if last in _CONSTRUCTORS and parts:
        last = parts.pop()
    if "$" in last.strip("$"):  # `lambda$run$0`, `run$default`, `access$000`
        first, second = last.split("$")[:2]
        last = {"lambda": second, "access": ""}.get(first, first)
    return last if _NAME.fullmatch(last) and last not in _NO_NAMES else ""


def _plain_in_clojure(name: str) -> str:
    """Return the function that a class of Clojure is, `ns$takes_QMARK_$fn__7`, as its source has it."""
    function = _MADE_BY_CLOJURE.sub("", name.split("$")[1])
    return _CLOJURE_MARK.sub(lambda mark: _CLOJURE_MARKS[mark[1]] if mark[1] else "-", function)


def numbered_source(text: str) -> dict[int, str]:
    """Return {number: line of source} for numbered lines in a text, without numbers that occur twice."""
    found: dict[int, str] = {}
    for number, code in _NUMBERED.findall(text) if "|" in text or "\u2502" in text else ():
        found[int(number)] = code if found.get(int(number), code) == code else ""
    return {number: code for number, code in found.items() if code}


def source_below(lines: Sequence[str], number: int, *, shows_source: bool) -> str:
    """Return the line of source printed below a frame, empty if there is none.

    Args:
        lines: of the text.
        number: the index of the frame's line.
        shows_source: whether this kind of frame has its source below. Otherwise a marker line below it tells.
    """
    below = lines[number + 1] if number + 1 < len(lines) else ""
    if not below.startswith(_INDENTED) or _CARET.match(below):
        return ""
    is_marked = number + 2 < len(lines) and _CARET.match(lines[number + 2]) is not None
    return below.strip() if shows_source or is_marked else ""


def source_above(lines: Sequence[str], number: int, start: int, end: int) -> str:
    """Return the line of source above a place in pytest's format, empty if there is none.

    Args:
        lines: of the text.
        number: the index of the place's line.
        start: where the place begins in it.
        end: where it ends.
    """
    if start or not _PLACE_OF_PYTEST.match(lines[number], end):
        return ""
    for line in reversed(lines[max(0, number - _MAX_BELOW_MARKED) : number]):
        if (marked := _MARKED.match(line)) is not None:
            return marked[1]
        if line and not line.startswith(_BELOW_MARKED):
            break
    return ""
