"""Reads places, `PATH:LINE`, and the frames of tracebacks in texts, whatever language wrote them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from itertools import pairwise
from typing import NamedTuple, TypeVar

from cairn.source.frame_details import function_of, numbered_source, source_above, source_below
from cairn.source.text import without_colours

MAX_CHARS = 40_000  # characters of a text to read: its beginning and its end
_MAX_PLACES = 50
_MAX_DIGITS = 7
_MAX_HEADING = 500  # characters
# A path begins at a word border: a pattern that tries every letter takes minutes for 40 kB without a path.
_BEGINS = r"(?<![^\s\"'`()<>\[\],:;|])"
_LINE = rf"([1-9]\d{{0,{_MAX_DIGITS - 1}}})"
_LINES = (
    "line",
    "Zeile",
    "ligne",
    "l\u00ednea",
    "linha",
    "riga",
    "\u0441\u0442\u0440\u043e\u043a\u0430",
    "\u884c",
    "\u884c\u53f7",
)  # .NET
# How a path ends, and what comes between it and its line; a quick test, since few lines have that.
_ENDING = r"\.[A-Za-z]\w{0,9}+"
_LINE_BEHIND = "|".join(
    (
        # PHP, TypeScript, MSBuild; Maven; Kotlin's compiler; links
        rf"(?:\(|:\[){_LINE}(?:,\d+)?[)\]]|: \({_LINE}, ?\d+\)|#L{_LINE}\b",
        # PHP, Swift, C#, shells, Perl, Octave, people; Ansible and Gradle behind the quote
        rf"`?(?: on line |, line |:(?:{'|'.join(_LINES)}) |'?: line |'? line: | line | at line ){_LINE}",
        rf"(?<=\.[Rr])#{_LINE}\b",  # R
        rf"(?:\?[\w.=&%-]{{0,200}})?:{_LINE}(?![\d.])",  # behind `?` what a server of modules adds
        rf"(?<=\.dart) {_LINE}(?=:\d)",  # Dart's tests
    )
)
# What places have that end in another way.
_OF_OTHERS = (
    *("file=", "file: ", "{file,", ": line ", '[string "', '.clj" ', '.cljc" '),
    *("akefile:", "ockerfile:", "emfile:"),
)
_ENDS = re.compile(rf"{_ENDING}(?:{_LINE_BEHIND})")
# One pattern, so that places are found in text order. Each alternative captures a path and a line; Java's and Kotlin's
# also the qualified name of the method before it.
_FRAME = re.compile(
    rf"[Ff]ile \"([^\"\n]+)\", line {_LINE}"  # Python, OCaml
    rf"|(?<![\w$.])([\w$.]+)\.[\w$<>-]+ ?\(([\w$-]+\.(?:java|kt|kts|scala|groovy|cljc?)):{_LINE}(?:\)|\s*$)"
    rf"|({_BEGINS}(?:(?<![A-Za-z])[A-Za-z]:[\\/])?[^\s\"'`()<>\[\],:;|]+{_ENDING})(?:{_LINE_BEHIND})"
    rf"|\bfile=([^\s,]+),(?:\w{{1,20}}=[^\s,]*,){{0,3}}line={_LINE}"  # GitHub's annotations
    # an Erlang or Elixir term
    rf"|\bfile(?:: |,)(?:~c)?[\"']([^\"'\n]{{1,500}})[\"'](?:\}},\s?\{{line,|, line: ){_LINE}"
    rf"|{_BEGINS}([\w.-]*/[\w./-]+): line {_LINE}:"  # shells, whose scripts often have no extension
    rf"|\[string \"([^\"\n]{{1,500}}{_ENDING})\"\]:{_LINE}"  # Lua, of a file that a program loaded by itself
    rf"|\[([\w.]{{1,300}}\$[^\s\"]{{1,300}}) \w+ \"([\w-]+\.cljc?)\" {_LINE}\]"  # a trace as data of Clojure
    rf"|\bline {_LINE} of (?:file )?([^\s\"'`()<>\[\],:;|]{{1,500}}{_ENDING})"  # Fortran, Pascal
    rf"|{_BEGINS}((?:[\w.-]+/){{0,20}}(?:(?:GNU)?[Mm]akefile|Dockerfile|Rakefile|Gemfile)):{_LINE}(?!\d)"
)
# A line of a linter's report below a file's path: ESLint, RuboCop.
_HEADING = re.compile(r"\s*(?:== )?((?:[A-Za-z]:[\\/])?[^\s:]+\.[A-Za-z]\w{0,9})(?: ==)?\s*$")
_BELOW_HEADING = re.compile(r"(?:[CWEFRI]:|\s)\s*([1-9]\d{0,6}): ?\s*\d+:?\s+\S")
_HAS_HEADED = re.compile(r"^(?:[CWEFRI]:|[ \t]) *[1-9]\d{0,6}: *\d+:? ", re.MULTILINE)
# A place that ExUnit puts on two lines.
_BROKEN_TERM = re.compile(r"(\bfile: (?:~c)?[\"'][^\"'\n]{1,500}[\"'],)\n\s{1,80}(?=line: \d)")
# A trace in a string of JSON: behind the end of a line there is an indented one, or one of a trace that has none.
_IN_STRING = re.compile(
    r"\\n(?:\\t|  |(?:Raised|Re-raised|Called) |[Ff]ile \\\"|(?:from|at) \S{1,300}:\d|stack (?:traceback|backtrace):"
    r"|goroutine \d|#\d{1,4} )"
)
_ESCAPE = re.compile(r"\\(?:([nrt])|([\\\"/]))")
_ESCAPED = {"n": "\n", "r": "", "t": "\t"}
# Above such a line are the frames of what handles a signal, or a panic of Go: what it handles is below.
_HANDLED_AT = ("<signal handler called>", "__kernel_rt_sigreturn", "__restore_rt", "_sigtramp", "panic(")
_PANICS = re.compile(r"panic\((?:0x|\{)")
# Lua puts where an error was raised again before what it said: `async.lua:53: net.lua:12: no host`.
_RETHROWN = re.compile(r"(?<=\.lua:\d|lua:\d\d|ua:\d\d\d|a:\d\d\d\d): (?!in \w).{0,300}\.lua:[1-9]")
_SOURCE_ROOTS = ("", "src/", "lib/", "app/", "src/main/java/", "src/main/kotlin/")
_LAST_CALL_LAST, _LAST_CALL_FIRST = "most recent call last", "most recent call first"  # Python; its faulthandler
_LAST_IS_DEEPEST = re.compile(r"^(?: *File \"|\S+\.py:\d+:(?: in \w| ?$))", re.MULTILINE)
_OF_LAST_IS_DEEPEST = ('File "', ".py:")  # a quick test
# A call without file and line, as printed by .NET without debug symbols, in the system's language, and by Java if they
# are unknown.
_CALL = re.compile(
    r"[ \t>]*(?:at|bei|\u00e0) ([\w$.`+<>|\[\],/@=-]{3,300})(?:\(([^()]{0,1000})\)| \(([^()]{0,1000})\) \[0x)"
)
_CALL_OF_DEBUGGER = re.compile(r"[ \t>]*[\w.+-]{1,200}\.(?:dll|exe)!([\w.+<>`]{3,300})\(([^()]{0,1000})()\)")
# Native calls without a place in their debug symbols. What wraps a name, such as Swift's closures, is part of it.
_OF_APPLE = r"(?!lib(?:system|swift|dispatch|objc))"
_CALL_OF_NATIVE = re.compile(
    r"\s*+(?:#\d{1,6} +0x[\da-f]+ (?:in )?(?=[A-Za-z_])(?!pc )([^\n(]{3,300}?) ?\((?!/(?:usr/)?lib|lib(?:c|m)\.)"
    r"(?!.* from /(?:usr/)?lib)"  # gdb, sanitizers, systemd
    rf"|\d{{1,4}}\s+{_OF_APPLE}[\w.+-]{{1,80}}\s+0x[\da-f]+\s(?=\S)([^\n]{{1,400}}?) \+ \d+\s*$"  # Apple
    rf"|(?:\* )?frame #\d{{1,6}}: 0x[\da-f]+ {_OF_APPLE}[^\s`]{{1,80}}`([^\n]{{1,400}}?) \+ \d+"  # lldb
    r"|(?:==\d+==\s+)?(?:at|by) 0x[\dA-F]+: ([^\n(]{3,300}?)(?:\([^\n]{0,300}\))? \(in (?!/(?:usr/)?lib)"  # Valgrind
    r"|(?:\[ *\d+\.\d+\]\s{1,3})?(?:RIP: \d+:|\? )?([A-Za-z_]\w{2,80})\+0x[\da-f]+/0x[\da-f]+"  # Linux's kernel
    r"|(?:\w [A-Z]+ +: +)?#\d{1,6} pc [\da-f]+\s+(?!/(?:apex|system)/)\S{1,300} \(([^\n]{3,300}?)\+\d+\)"  # Android
    r"|(?!/lib)[\w./-]{1,200}\((\w{3,80})\+0x[\da-f]+\) ?\[0x"  # glibc
    r"|\d{1,4}: 0x[\da-f]+ (?!-)([^\n\[]{3,300}?) \["  # Node
    r"|\d{1,4}: +(?:0x[\da-f]+ - )?(?!<?(?:std|core|alloc|backtrace)::)(<?[A-Za-z_]\w*::\S[^\n]{0,500}|_ZN\w+))"  # Rust
)
_CALL_IN_GO = re.compile(
    r"(?:created by )?[\w.-]+/(?:[\w.%~-]+/){0,20}([\w.%~-]+)\.(?:\(\*?(\w+)[^()]{0,200}\)\.)?([a-zA-Z_]\w*)"
    r"(?:\.func\d+|\.\d+)*(?:\((?:\.\.\.|_|\)|\{*0x).*| in goroutine \d+|$)"
)
# A quick test for lines without an address in which `_CALL_OF_NATIVE` may find a call.
_MAY_BE_NATIVE = re.compile(r"\s*+(?:#\d|\d{1,4}: |\w DEBUG )")
_IMPLEMENTED = re.compile(r"(?<![\w:])<([^<> ]{1,200})(?: as [^<>]{1,200})?>(?=::)")
_IN_ANGLES = re.compile(r"<[^<>]*>")
_HASH = re.compile(r"h[\da-f]{16}")  # the hash after a Rust function's name
_OF_COMPILER = re.compile(r"(?:::(?:h[\da-f]{16}|\{\{?[\w.:#-]+\}?\}))+$")
_SPELT = re.compile(r"[^\W_]_[^\W_]|[a-z][A-Z]")  # in a name of several words, which is rare in prose
# A mangled name: its prefix in C++ and Rust, its prefix in Swift, and a part with its length.
_MANGLED = re.compile(r"_ZN?[KVr]*|\$[sS]|_T[A-Z]*(?=[CVO]\d)[CVO]")
_MANGLED_PART = re.compile(r"(\d{1,3})(?=[A-Za-z_])")
_KINDS_OF_SWIFT = tuple("COVP")  # type arguments after a name
_OF_OBJECTIVE_C = re.compile(r"[-+]\[(\w+)(?:\(\w+\))? (\w+)[\w:]*\]")
_GENERIC = re.compile(r"`\d+|\[[^\]]*\]")
_CONSTRUCTORS = ("..ctor", "..cctor", ".<init>", ".<clinit>")
_WRITTEN_IN = re.compile(r"<([\w.]+)>")  # the method from which a compiler generated a class or method
_BETWEEN_NAMES = re.compile(r"[.+$]")
_TESTS_OF_ELIXIR = ".exs:"
_CAUSE = re.compile(
    r"^\s*(?:Caused by|\[cause\]): ", re.MULTILINE
)  # "caused by" in Java and Node; the last one is the root cause
_INDENTED = (" ", "\t")
_CAUSES = ("Caused by: ", "[cause]: ")


class TracebackFrame(NamedTuple):
    """A place named in a text.

    Attributes:
        path: as in the text, but with `/` between its parts.
        line: 1-based.
        function: around it, empty if the text does not say.
        code: the line's source, stripped, empty if the text does not show it.
    """

    path: str
    line: int
    function: str = ""
    code: str = ""


class CallFrame(NamedTuple):
    """A call in a trace without file and line.

    Attributes:
        owners: namespaces or packages, then the classes around it, outermost first.
        method: empty for a constructor or a compiler-generated method.
        parameters: as in the trace, empty if it does not say.
    """

    owners: tuple[str, ...]
    method: str
    parameters: str


_Frame = TypeVar("_Frame", bound=tuple[object, ...])


def read_frames(text: str) -> list[TracebackFrame]:
    """Return the distinct places in a text, the deepest call of a traceback first."""
    return _deepest_first(text, _frames_of)


def read_calls(text: str) -> list[TracebackFrame | CallFrame]:
    """Return the places in a text, and the calls of its traces that have no place.

    The order is that of `read_frames`; the places have their function and source if the text shows them.
    """
    frames: dict[object, TracebackFrame | CallFrame] = {}
    for frame in _deepest_first(text, _calls_of):
        if isinstance(frame, CallFrame):
            frames[frame] = frame
            continue
        place = (frame.path.removeprefix("./"), frame.line)
        known = frames.get(place)
        if isinstance(known, TracebackFrame):
            frame = known._replace(function=known.function or frame.function, code=known.code or frame.code)
        frames[place] = frame
    return list(frames.values())


def _deepest_first(text: str, frames_of: Callable[[str], Iterator[_Frame]]) -> list[_Frame]:
    text = _plain_text(without_colours(_shorten(text)))
    if "stacktrace:" in text and _TESTS_OF_ELIXIR in text:
        text = _with_headings_last(text)
    if any(mark in text for mark in _HANDLED_AT):
        text = _with_handlers_last(text)
    causes = _CAUSE.split(text) if any(cause in text for cause in _CAUSES) else [text]
    found = (frame for cause in reversed(causes) for frame in frames_of(cause))
    if len(causes) == 1 and _ends_deepest(text):
        return list(dict.fromkeys(found))[::-1][:_MAX_PLACES]
    frames: dict[_Frame, None] = {}
    for frame in found:
        frames[frame] = None
        if len(frames) == _MAX_PLACES:
            break
    return list(frames)


def _ends_deepest(text: str) -> bool:
    """Tell whether the last call of a traceback is the deepest, as in Python."""
    if _LAST_CALL_FIRST in text:
        return False
    may_match = any(part in text for part in _OF_LAST_IS_DEEPEST)
    return _LAST_CALL_LAST in text or (may_match and _LAST_IS_DEEPEST.search(text) is not None)


def _plain_text(text: str) -> str:
    """Return a text with traces unescaped from JSON, and the path repeated on each line of a linter's report."""
    if "\\n" in text and _IN_STRING.search(text):
        text = "\n".join(_unescaped(line) if _IN_STRING.search(line) else line for line in text.split("\n"))
    if "file: " in text:
        text = _BROKEN_TERM.sub(r"\1 ", text)
    if not _HAS_HEADED.search(text):
        return text
    lines, path = list[str](), ""
    for line in text.split("\n"):
        heading = _HEADING.match(line) if len(line) <= _MAX_HEADING else None
        below = _BELOW_HEADING.match(line)
        if heading is not None or not below:
            path = heading[1] if heading else ""
        lines.append(f"{path}:{below[1]}" if path and below else line)
    return "\n".join(lines)


def _unescaped(line: str) -> str:
    return _ESCAPE.sub(lambda match: _ESCAPED[match[1]] if match[1] else match[2], line)


def _with_headings_last(text: str) -> str:
    """Return ExUnit's output with the place of each test moved from above its trace to the end."""
    lines = text.split("\n")
    headings = dict.fromkeys(line for line in lines if _TESTS_OF_ELIXIR in line and is_place(line))
    return "\n".join([*(line for line in lines if line not in headings), *headings])


def _with_handlers_last(text: str) -> str:
    """Return traces of crashes with the frames of what handled them at their ends."""
    lines = text.split("\n")
    begin = 0
    for number, line in enumerate(lines):
        if number < begin:
            continue
        if not line.strip() or line.startswith("goroutine "):
            begin = number + 1
        elif any(mark in line for mark in _HANDLED_AT[:-1]) or _PANICS.match(line):
            end = next((at for at in range(number, len(lines)) if not lines[at].strip()), len(lines))
            lines[begin:end] = [*lines[number:end], *lines[begin:number]]
            begin = end
    return "\n".join(lines)


def _calls_of(text: str) -> Iterator[TracebackFrame | CallFrame]:
    lines, numbered = text.split("\n"), numbered_source(text)
    seen = set[tuple[str, ...]]()
    for number, (above, line) in enumerate(pairwise(["", *lines])):
        if line.startswith(_INDENTED):  # the details of such a place are in these lines, which traces repeat
            around = (above, *lines[number : number + 3])
            if around in seen:
                continue
            seen.add(around)
        places = _places_in(line)
        for place in places:
            path, at = _path_and_line(place)
            code = source_below(lines, number, shows_source=place[1] is not None or ": in " in line[place.end() :])
            code = code or numbered.get(at, "") or source_above(lines, number, *place.span())
            yield TracebackFrame(path, at, function_of(line, *place.span(), above), code)
        match = None if places else _CALL.match(line) or ("!" in line and _CALL_OF_DEBUGGER.match(line))
        call = None if places else _call(match) if match else _native_call(line)
        if call is not None and not (not match and number + 1 < len(lines) and _is_place_of_call(lines[number + 1])):
            yield call


def _places_in(line: str) -> list[re.Match[str]]:
    """Return where a line names places."""
    if 'ile "' in line or (" of " in line and "line " in line) or any(part in line for part in _OF_OTHERS):
        return [*_FRAME.finditer(line)]
    if (first := _ENDS.search(line)) is None:
        return []
    # No place has a space before its extension; this is a JVM that puts one before the parenthesis.
    start = max(line.rfind(" ", 0, first.start()), line.rfind("\t", 0, first.start()))
    start = max(line.rfind(" ", 0, start), line.rfind("\t", 0, start)) if line.startswith(" (", start) else start
    places = [*_FRAME.finditer(line, start + 1)]
    return places[::-1] if len(places) > 1 and _RETHROWN.match(line, places[0].end()) else places


def _call(match: re.Match[str]) -> CallFrame | None:
    """Return the call in a line of a trace; calls of JavaScript and of classes made at run time do not count."""
    parameters = match[2] or match[3] or ""
    name = _GENERIC.sub("", match[1]).rpartition("/")[2]
    if "$$" in match[1] or parameters.startswith(("<", "native", "eval ")):
        return None
    owners, method = name.rpartition(".")[::2]
    if constructor := next((end for end in _CONSTRUCTORS if name.endswith(end)), ""):
        owners, method = name.removesuffix(constructor), ""
    elif "<" in name:
        written_in = _WRITTEN_IN.search(name)
        owners, method = name[: name.index("<")], written_in[1] if written_in else ""
    elif "$" in method:  # `lambda$run$0`, `run$default`, `access$000`
        first, second = method.split("$")[:2]
        method = {"lambda": second, "access": ""}.get(first, first)
    parts = [part for part in _BETWEEN_NAMES.split(owners) if part and not part.isdigit() and part != "Companion"]
    if method.startswith(".") or method == "new":
        method = ""
    says = " " in parameters and not parameters.startswith(("Unknown Source", "Native Method"))
    return CallFrame(tuple(parts), method, parameters if says else "") if parts else None


def _native_call(line: str) -> CallFrame | None:
    """Return the native call in a line of a trace that has no place."""
    if (line.endswith(")") or line.startswith("created by ")) and (go := _CALL_IN_GO.match(line)):
        return CallFrame((go[1], go[2]) if go[2] else (go[1],), go[3], "")
    match = _CALL_OF_NATIVE.match(line) if "0x" in line or _MAY_BE_NATIVE.match(line) else None
    if not match:
        return None
    name = next(filter(None, match.groups()))
    if method := _OF_OBJECTIVE_C.match(name):
        return CallFrame((method[1],), method[2], "")
    if mangled := _MANGLED.match(name):
        return _mangled_call(name, mangled)
    name = _OF_COMPILER.sub("", _IMPLEMENTED.sub(r"\1", name)).rpartition(" in ")[2]
    while name != (name := _IN_ANGLES.sub("", name)):
        pass
    parts = re.split(r"::|\.", name.partition("(")[0].rpartition(" ")[2])
    *owners, last = [part for part in parts if part] or [""]
    if not last.isidentifier() or not (owners or _SPELT.search(last)):
        return None
    return CallFrame(tuple(owners), last, "")


def _mangled_call(name: str, beginning: re.Match[str]) -> CallFrame | None:
    """Return the call of a mangled name, without Swift's module and whatever follows the function."""
    is_swift = not name.startswith("_Z")
    parts, place, kinds = list[str](), beginning.end(), list[str]()
    while part := _MANGLED_PART.match(name, place):
        place = part.end() + int(part[1])
        parts.append(name[part.end() : place])
        kinds.append(name[place : place + 1])
        place += is_swift and kinds[-1] in _KINDS_OF_SWIFT
    if is_swift:
        last = next((at for at, kind in enumerate(kinds) if at and kind not in _KINDS_OF_SWIFT), 0)
        parts = parts[1 : 3 if name.startswith("_T") else last + 1]
    elif parts and _HASH.fullmatch(parts[-1]):  # Rust
        parts.pop()
    return CallFrame(tuple(parts[:-1]), parts[-1], "") if len(parts) > 1 else None


def _is_place_of_call(line: str) -> bool:
    """Tell whether a line is just the place of the call on the line before."""
    return line.startswith(_INDENTED) and bool(_places_in(line))


def _frames_of(text: str) -> Iterator[TracebackFrame]:
    return (TracebackFrame(*_path_and_line(place)) for line in text.split("\n") for place in _places_in(line))


def is_place(text: str) -> bool:
    """Tell whether a text is a place, `PATH:LINE`, and nothing else."""
    return bool(_FRAME.fullmatch(text.strip()))


def _shorten(text: str) -> str:
    return text if len(text) <= MAX_CHARS else f"{text[: MAX_CHARS // 2]}\n{text[-MAX_CHARS // 2 :]}"


def _path_and_line(match: re.Match[str]) -> tuple[str, int]:
    *parts, line = [group for group in match.groups() if group is not None]
    if parts[0].isdigit():
        parts, line = [line], parts[0]
    if len(parts) == 2:  # the package says in which folder the file is
        package = [part for part in parts[0].split(".")[:-1] if part]
        return "/".join([*package, parts[1]]), int(line)
    return parts[0].replace("\\", "/"), int(line)


def file_of_frame(path: str, exists: Callable[[str], bool]) -> str | None:
    """Return the project file that a frame means, None if there is none.

    A frame may come from another machine or an installed package, so this looks for the longest end of its path that
    exists in the project, or below a usual source folder.
    """
    for end in _ends_of(path):
        roots = _SOURCE_ROOTS if "/" in end else _SOURCE_ROOTS[:1]
        if (found := next((root + end for root in roots if exists(root + end)), None)) is not None:
            return found
    return None


def file_among(path: str, files: Collection[str]) -> str | None:
    """Return the project file, in any folder, that a frame means; None if that is unclear.

    A bare name such as `utils.py` only matches files in folders if the frame has no more than that.
    """
    ends = _ends_of(path)
    for end in ends:
        if end in files:
            return end
        if "/" in end or len(ends) == 1:
            longer = [file for file in files if file.endswith(f"/{end}")]
            if longer:
                return longer[0] if len(longer) == 1 else None
    return None


def _ends_of(path: str) -> list[str]:
    """Return the ends of a path in whole parts, longest first."""
    parts = [part for part in path.split("/") if part not in ("", ".", "..")]
    return ["/".join(parts[start:]) for start in range(len(parts))]
