"""Finds where a program declares an option of its command line, such as `--max-results`, whatever library reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cairn import waiting
from cairn.search.exact import LineMatch
from cairn.search.filters import Filtered, filter_files
from cairn.search.library import Library, read_files
from cairn.search.word_files import MINOR, files_with_words, is_code, line_in_text

_OPTION = re.compile(r"(?<![\w.@/-])--([a-zA-Z][\w-]{1,60}(?:\.[\w-]{1,60}){0,8})(?![\w/.-]*/)")
_MAX_OPTIONS, _MAX_FILES, _MAX_BYTES, _MAX_LINE, _MAX_MARK_LINE = 2, 64, 500_000, 1_000, 200
_MAX_LINES = 5
_LEAST, _ALIKE = 0.5, 0.1  # how surely a line declares an option at least, and how much less than the best others may

# What declares options, in the line or the two before it, and what asks for the value of one, or names others with it.
_DECLARES = re.compile(
    r"\b(?i:add_?(?:argument|option|flag|switch|param))\w*\(|\boption\s*[:(]|[A-Z]\w*(?:Option|Flag|Argument|Parameter)\w*\("
    r"|\b(?:Option|Flag|Argument|Parameter)\w*\(|\.arg\(|\bArg\b|\blong\b|[fF]lags?\w*(?:\(\))?\.\w+\(|\bf[ls]?\.\w+\("
    r"|\b(?:no|required|optional)_argument\b|\b(?:o|op|opts?|parser)\.on\b|\bnames?\b\s*[:=]|DEFINE_|\bswitch\(|[pP]arser\.\w+\("
)
_READS = re.compile(
    r"(?i)\boption\(''(?:, ?\w+)?\)"
    r"|conflicts|overrides|\.requires|exclusive|MarkFlag|\b(?:get|has|is|lookup|value|contains)_?\w*\(|\bchanged\("
    r"|\b(?:if|elif|unless|when|case|return|raise|throw|error|assert|warn\w*)\b|\+=|[=!]=|\bin\b.*:$"
)
# Where a program looks at its arguments itself.
_BRANCHES = re.compile(r"^\s*(?:case|when)\s+[\"']|\b(?:arg|argv|args|opt|param)s?\w*(?:\[\w+\])?\s*={2,3}\s*[\"']")
_IN_QUOTES = re.compile(r"\"[^\"]*\"|'[^']*'|`[^`]*`")
_COMMENT = re.compile(r"\s*(?:#(?!\[)|//|/?\*|--|;|<!--|\"\"\")")
# An attribute or annotation for a field that is an option, right before it.
_MARKED = re.compile(
    r"(?:#\[(?:arg|clap|structopt|argh|bpaf|option)\b[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*\]"
    r"|@(?:Option|Flag|Parameter|Argument|CliOption)\b(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?|\[Option\([^\]]*\)\])"
    r"(?:\s|//[^\n]*\n|#\[[^\[\]]*\]|\bpub\([^()\n]*\)"
    r"|(?:pub|public|private|protected|internal|var|let|val|lateinit|final|static|@\w+)\b)*$"
)
_LINES_BEFORE, _LINES_OF_MARK = 2, 30
_AFTER = r"(?=[\"'=,]|\s*[<\[{|]|\s+[A-Z][A-Z_]*\b)"  # the name of its value, or the end
_QUOTED, _MEMBER, _BRANCH, _FLAG_ALONE, _NAME_ALONE = 1.0, 1.0, 0.8, 0.6, 0.5
# Factors: another line declares; the line rather asks for the value; it spells the name in another way.
_NEARBY, _READ, _RESPELLED = 0.95, 0.6, 0.9
_CALLED_SO = re.compile(
    r"(?i)(?:^|[/_.-])(?:cli|args?|argv|arguments|argparser|options?|flags?|opts|definition|commands?)"
)
_NOT_SO = 0.9  # a file that is not called like what reads command lines
_COMPLETES = re.compile(r"(?i)complet|\.(?:fish|ps1)$|(?:^|/)_\w+$")


class DeclaredOption(NamedTuple):
    """A line that declares an option, and how surely it does, 0 to 1."""

    line: LineMatch
    name: str
    share: float


def find_options(library: Library, text: str, filters: Filtered) -> list[DeclaredOption]:
    """Return the lines that declare the long options a text names, the surest first; none for one nothing declares."""
    found: list[DeclaredOption] = []
    for name in _options_in(text)[:_MAX_OPTIONS]:
        lines = _lines_of(library, name, filters)
        if not lines and name.startswith("no-"):
            lines = _lines_of(library, name.removeprefix("no-"), filters)
        found += [one for one in lines if one.share >= lines[0].share - _ALIKE][:_MAX_LINES]
    return sorted(found, key=lambda one: -one.share)


def _options_in(text: str) -> list[str]:
    """Return the long options that a text names, without their dashes, each once."""
    return list(dict.fromkeys(name.rstrip("-_") for name in _OPTION.findall(text)))


def _lines_of(library: Library, name: str, filters: Filtered) -> list[DeclaredOption]:
    """Return the lines that declare an option, the surest first."""
    snapshot = library.snapshot
    chosen = filter_files(snapshot.files, filters)
    paths = snapshot.files.paths
    own = is_code(snapshot) & ((snapshot.files.roles & MINOR) == 0)
    files = [
        file
        for file in files_with_words(snapshot, name).tolist()
        if own[file] and not _COMPLETES.search(paths[file]) and (chosen is None or file in chosen)
    ]
    files = sorted(files, key=lambda file: _CALLED_SO.search(paths[file]) is None)[:_MAX_FILES]
    spellings = _Spellings.of(name)
    found: list[tuple[float, int, int, Sequence[str]]] = []  # with its file and line
    for file, text in read_files(library, files).items():
        waiting.check()
        data = text.data[:_MAX_BYTES]
        if not (numbers := spellings.lines_with_some(data)):
            continue
        lines = data.decode("utf-8", "replace").split("\n")
        factor = 1.0 if _CALLED_SO.search(paths[file]) else _NOT_SO
        for number in numbers:
            line = lines[number - 1]
            if len(line) <= _MAX_LINE and spellings.any.search(line) and not _COMMENT.match(line):
                share = factor * _share_of(lines, number, spellings)
                if share >= _LEAST:
                    found.append((share, file, number, lines))
    best = sorted(found, key=lambda one: -one[0])[:_MAX_LINES]
    return [
        DeclaredOption(line_in_text(file, lines, number, number), name, share) for share, file, number, lines in best
    ]


class _Spellings(NamedTuple):
    """What finds an option in code: in any way; with dashes; as a text, also in the same spelling; as a member.

    `words`: whatever `any` finds has one of them.
    """

    words: tuple[bytes, ...]
    any: re.Pattern[str]
    flag: re.Pattern[str]
    quoted: re.Pattern[str]
    same: re.Pattern[str]
    member: re.Pattern[str]

    @classmethod
    def of(cls, name: str) -> _Spellings:
        words = [word for word in re.split(r"[-_]", name) if word]
        kebab, snake = "-".join(words), "_".join(words)
        camel = words[0] + "".join(word[:1].upper() + word[1:] for word in words[1:])
        spelt = dict.fromkeys((snake, camel, camel[:1].upper() + camel[1:]))
        styles = "|".join(map(re.escape, spelt))
        named, kebab = re.escape(name), re.escape(kebab)
        return cls(
            tuple(one.encode() for one in dict.fromkeys((name, "-".join(words), *spelt))),
            re.compile(rf"(?<![\w-])(?:{named}|{kebab}|{styles})(?![\w-])|--(?:\[no-\])?{named}(?![\w-])"),
            re.compile(rf"[\"'](?:-\w[, |/]+)?--(?:\[no-\])?{named}{_AFTER}"),
            re.compile(rf"[\"'](?:{named}|{styles})[\"']"),
            re.compile(rf"[\"']{named}[\"']"),
            re.compile(rf"^[\w\s<>\[\]?,.()@:]*?\b(?:{styles})\s*(?::|=|;|,|\{{|$)"),
        )

    def lines_with_some(self, data: bytes) -> list[int]:
        """Return the numbers of the lines of a file that have one of the words, which is told a file at a time."""
        starts = {data.rfind(b"\n", 0, place) + 1 for word in self.words for place in _places_of(word, data)}
        numbers: list[int] = []
        number, before = 1, 0
        for start in sorted(starts):
            number, before = number + data.count(b"\n", before, start), start
            numbers.append(number)
        return numbers


def _places_of(word: bytes, data: bytes) -> Iterator[int]:
    """Yield one place of a word in each line that has it."""
    place = data.find(word)
    while place >= 0:
        yield place
        end = data.find(b"\n", place)
        place = data.find(word, end) if end >= 0 else -1


def _share_of(lines: Sequence[str], number: int, spellings: _Spellings) -> float:
    """Return how surely a line with an option declares it."""
    own = lines[number - 1]
    factor = 1.0
    if spellings.flag.search(own):
        if _BRANCHES.search(own):
            return _BRANCH
        alone = _FLAG_ALONE
    elif spellings.quoted.search(own):
        alone = _NAME_ALONE
        factor = 1.0 if spellings.same.search(own) else _RESPELLED
    else:
        above = lines[max(0, number - 1 - _LINES_OF_MARK) : number - 1]
        before = "\n".join([*(line[:_MAX_MARK_LINE] for line in above), ""])
        is_member = spellings.member.match(own) is not None
        return _MEMBER if is_member and _is_marked(before, own) else 0.0
    if _DECLARES.search(spellings.any.sub("", own)):
        share = _QUOTED
    elif any(_DECLARES.search(line) for line in lines[max(0, number - 1 - _LINES_BEFORE) : number - 1]):
        share = _QUOTED * _NEARBY
    else:
        share = alone
    return factor * share * (_READ if _READS.search(_IN_QUOTES.sub("''", own)) else 1.0)


def _is_marked(before: str, own: str) -> bool:
    name = re.match(r"[^:=;,{]*?(?=\b\w+\s*(?:[:=;,{]|$))", own)
    return _MARKED.search(before + (name[0] if name else "")) is not None
