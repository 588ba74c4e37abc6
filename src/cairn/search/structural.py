"""Structural search: finds the code that a pattern describes in the syntax trees of the files as they are now.

Patterns and matching are those of ast-grep, an optional dependency. A pattern is code with holes: `$NAME` stands for
one node, `$$$` or `$$$NAME` for any number of nodes.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from cairn import waiting
from cairn.errors import QueryError, UnparsableError
from cairn.hints import Hint
from cairn.index.beside import Job, Task, parse_beside
from cairn.index.isolation import run_isolated
from cairn.search.exact import BUDGET_SECONDS, LineMatch
from cairn.source.content import normalize
from cairn.source.languages import BY_NAME, LANGUAGES
from cairn.source.languages.support import BARE

if TYPE_CHECKING:
    from ast_grep_py import SgNode

MAX_CAPTURE_CHARS = 200
MAX_PATTERN_CHARS = 2_000
_IN_FLIGHT_BYTES = 2_000_000  # of files that were begun and not searched yet
_BYTES_PER_SECOND = 5_000_000  # that a helper parses: what is in flight takes no longer than the time there was
_FEW_BYTES = 1_000_000

_METAVARIABLE = re.compile(r"\$\$\$(?:[A-Z_][A-Z0-9_]*)?|\$\$?[A-Z_][A-Z0-9_]*")
_NAMED = re.compile(r"(\$\$\$|\$)([A-Z][A-Z0-9_]*)")
_WORD = re.compile(r"\w+")
_STRING = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`[^`]*`")
_LETTERS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")
_WORD_BYTES = frozenset(bytes([byte]) for byte in (*_LETTERS, *b"0123456789"))
_PAIRS = {")": "(", "]": "[", "}": "{"}
_EXAMPLE = Hint.of("search", mode="structural", query="print($X)")
_INSTALL = "uv tool install 'codecairn[structural]'"


class Frame(NamedTuple):
    """Code that makes a pattern parse: what comes before it, what completes it, and what comes after that."""

    before: str
    body: str
    after: str


Captures = dict[str, str]


class TreeEffort(NamedTuple):
    """How much a structural search may do: no file is begun after `seconds`; `helpers` processes search at once."""

    seconds: float = BUDGET_SECONDS
    helpers: int = 1


DEFAULT_EFFORT = TreeEffort()


@dataclass(frozen=True, slots=True)
class StructuralMatches:
    """What a structural search found.

    `searched` counts the files that were searched before time ran out, `eligible` all that should be, and `failed`
    those among the former that ast-grep could not parse.
    """

    matches: list[LineMatch]
    searched: int
    eligible: int
    unreadable: int
    failed: int = 0


def search_structure(
    read: Callable[[str], bytes],
    files: Sequence[tuple[int, str, str]],
    pattern: str,
    effort: TreeEffort = DEFAULT_EFFORT,
) -> StructuralMatches:
    """Search files for a pattern, in their order. ast-grep runs in other processes, since it may crash.

    The files searched are those in a language in which the pattern parses; when there is none, those in a language for
    which ast-grep accepts it.

    Args:
        read: returns what a path holds, or raises OSError.
        files: (number, path, language).
        pattern: code with metavariables.
        effort: how long, and in how many processes.

    Raises:
        QueryError: if ast-grep is not installed, or the pattern is unbalanced, too long, matches everything, or is not
            code in any of the languages.
        BusyError: if nobody is waiting for it any more.
    """
    pattern = _clean_pattern(pattern)
    _check_installed()
    spoken = sorted({language for _, _, language in files if _frames(language)})
    if not spoken:
        return StructuralMatches([], 0, 0, 0)
    rules, pieces = _rules(pattern, spoken)
    if not rules:
        raise _not_code_error(pattern, spoken)
    searched = pieces or set(rules)
    eligible = [file for file in files if file[2] in searched]
    result = _run(read, eligible, rules, pattern, effort)
    if not pieces and not result.matches:
        raise _not_code_error(pattern, spoken)
    return result


def _rules(pattern: str, languages: Sequence[str]) -> tuple[dict[str, dict[str, Any]], set[str]]:
    """Return ast-grep's rule for each language that accepts a pattern, and the languages in which it parses."""
    rules: dict[str, dict[str, Any]] = {}
    pieces: set[str] = set()
    for language in languages:
        waiting.check()
        try:
            rule, is_piece = run_isolated(f"{__name__}:prepare", b"", language, pattern, scope=_scope(pattern))
        except UnparsableError as error:
            raise QueryError("ast-grep cannot handle the pattern", f"shorten it: {_EXAMPLE}") from error
        if rule is not None:
            rules[language] = rule
            if is_piece:
                pieces.add(language)
    return rules, pieces


def prepare(_data: bytes, language: str, pattern: str) -> tuple[dict[str, Any] | None, bool]:
    """Return ast-grep's rule for a language, None if it rejects the pattern, and whether the pattern parses in it."""
    rule = _rule(pattern, language)
    return rule, rule is not None and _is_piece(pattern, language)


def files_to_search(
    files: Sequence[tuple[int, str, str]], languages: Collection[str] = ()
) -> list[tuple[int, str, str]]:
    """Return the files to search for a pattern: those in the given languages, or all that are code.

    Raises:
        QueryError: if structural search does not support one of the languages.
    """
    if unknown := sorted(name for name in set(languages) if not _frames(name)):
        known = sorted(language.name for language in LANGUAGES if _frames(language.name))
        raise QueryError(f"structural search does not support {', '.join(unknown)}", f"supported: {', '.join(known)}")
    return [file for file in files if _frames(file[2]) and (languages or BY_NAME[file[2]].group == "code")]


@cache
def _frames(language: str) -> tuple[Frame, ...]:
    """Return the frames in which code of a language may stand, none when ast-grep does not support the language.

    Alone, a call is a declaration to the grammar of C, and an error to those of Go, Rust, Java and others.
    """
    row = BY_NAME.get(language)
    return tuple(Frame(*parts) for parts in row.support.frames) if row else ()


def _run(
    read: Callable[[str], bytes],
    files: Sequence[tuple[int, str, str]],
    rules: Mapping[str, dict[str, Any]],
    pattern: str,
    effort: TreeEffort,
) -> StructuralMatches:
    scan = _Scan(read, files, pattern, effort.seconds)
    tasks = iter(scan.iter_tasks(rules))
    in_flight_bytes = min(_IN_FLIGHT_BYTES, int(effort.seconds * _BYTES_PER_SECOND))
    ahead, is_all = _take(tasks, min(_FEW_BYTES, in_flight_bytes))
    # For a few files starting another process takes longer than it saves.
    are_few = is_all or in_flight_bytes < _FEW_BYTES
    found = parse_beside(
        chain(ahead, tasks),
        Job(f"{__name__}:matches_in", _as_is, _none, _scope(pattern)),
        n_helpers=1 if are_few else effort.helpers,
        in_flight_bytes=in_flight_bytes,
    )
    matches: list[LineMatch] = []
    failed = 0
    for _, matches_there in found:
        waiting.check()
        if matches_there is None:
            failed += 1
        else:
            matches += matches_there
    return StructuralMatches(matches, scan.searched, len(files), scan.unreadable, failed)


class _Scan:
    """Reads files one after another, until the time is up, and picks those that can hold a match.

    Attributes:
        searched: how many were read, or are gone.
        unreadable: how many are gone.
    """

    def __init__(
        self, read: Callable[[str], bytes], files: Sequence[tuple[int, str, str]], pattern: str, seconds: float
    ) -> None:
        self._read = read
        self._files = files
        self._pattern = pattern
        self._words = _literal_words(pattern)
        self._until = time.monotonic() + seconds
        self.searched = 0
        self.unreadable = 0

    def iter_tasks(self, rules: Mapping[str, dict[str, Any]]) -> Iterator[Task[int]]:
        """Yield the files to parse, which is what takes the time."""
        for number, path, language in self._files:
            waiting.check()
            if time.monotonic() > self._until:
                return
            self.searched += 1
            try:
                data = normalize(self._read(path))
            except OSError:
                self.unreadable += 1
                continue
            if all(_holds_word(data, word) for word in self._words):
                yield Task(data, language, number, (self._pattern, number, rules[language]))


def _take(tasks: Iterator[Task[int]], size: int) -> tuple[list[Task[int]], bool]:
    """Take tasks until they have so many bytes; also tell whether these are all."""
    taken: list[Task[int]] = []
    while size > 0:
        if (task := next(tasks, None)) is None:
            return taken, True
        taken.append(task)
        size -= len(task.data)
    return taken, False


def _holds_word(data: bytes, word: bytes) -> bool:
    """Tell whether a file may hold a word as a token: a name is not a part of a longer one.

    A digit may come right before a word: Python reads `1if x else 2`.
    """
    place = data.find(word)
    if place < 0 or word[:1].isdigit():
        return place >= 0
    while place >= 0:
        end = place + len(word)
        if not (place and data[place - 1] in _LETTERS) and data[end : end + 1] not in _WORD_BYTES:
            return True
        place = data.find(word, end)
    return False


def _as_is(matches: list[LineMatch]) -> list[LineMatch] | None:
    return matches


def _none(data: bytes, language: str, reason: str) -> None:
    return None


def _scope(pattern: str) -> str:
    """Return the scope of a job: a failure is remembered for this pattern only."""
    return f"structure {pattern}"


def matches_in(data: bytes, language: str, pattern: str, number: int, rule: dict[str, Any]) -> list[LineMatch]:
    """Return the matches of a rule in one file in reading order; matches on the same lines are merged."""
    return list(_iter_matches(number, data, language, rule, tuple(dict.fromkeys(_NAMED.findall(pattern)))))


def _iter_matches(
    number: int, data: bytes, language: str, rule: dict[str, Any], names: Sequence[tuple[str, str]]
) -> Iterator[LineMatch]:
    at: dict[tuple[int, int], dict[tuple[str, ...], Captures]] = {}
    for node in _root(data.decode("utf-8", "replace"), language).find_all(**rule):
        span = node.range()
        # A node that ends after a line feed, as a block may, ends on the line before.
        last = span.end.line if span.end.column or span.end.line == span.start.line else span.end.line - 1
        captures = _captures(node, names)
        at.setdefault((span.start.line, last), {}).setdefault(tuple(captures.values()), captures)
    starts = [0]
    if at:
        starts += [match.end() for match in re.finditer(rb"\n", data)]
    for (first, last), captures_there in sorted(at.items()):
        end = starts[last + 1] - 1 if last + 1 < len(starts) else len(data)
        text = data[starts[first] : end]
        yield LineMatch(number, first + 1, last + 1, starts[first], text, tuple(captures_there.values()))


def _captures(node: SgNode, names: Sequence[tuple[str, str]]) -> Captures:
    captures = {}
    for marks, name in names:
        if marks == "$$$":
            nodes = node.get_multiple_matches(name)
            text = "".join(_with_gaps(nodes))
        else:
            match = node.get_match(name)
            text = match.text() if match is not None else ""
        captures[name] = text[:MAX_CAPTURE_CHARS]
    return captures


def _with_gaps(nodes: Sequence[SgNode]) -> Iterator[str]:
    """Yield the texts of adjacent nodes, with a space where something is between them."""
    end: int | None = None
    for node in nodes:
        span = node.range()
        if end is not None and span.start.index > end:
            yield " "
        yield node.text()
        end = span.end.index


# -- the pattern -------------------------------------------------------------------------------------------------------


def _clean_pattern(pattern: str) -> str:
    """Return the pattern without an end that breaks off, such as the colon before a block.

    Raises:
        QueryError: if it cannot be a pattern in any language.
    """
    pattern = pattern.strip()
    if len(pattern) > MAX_PATTERN_CHARS:
        raise QueryError(
            f"a structural pattern must have at most {MAX_PATTERN_CHARS:,} characters", f"shorten it: {_EXAMPLE}"
        )
    if any("\ud800" <= letter <= "\udfff" for letter in pattern):
        raise QueryError("the pattern must be valid UTF-8", _EXAMPLE)
    rest = _METAVARIABLE.sub("", pattern)
    if not rest.strip(" \t\r\n,;.(){}[]") and ".(" not in rest:
        raise QueryError(
            "the pattern matches everything",
            Hint("name something in it", "search", mode="structural", query="print($X)"),
        )
    if mark := _first_unbalanced(_STRING.sub("", pattern)) and _first_unbalanced(pattern):
        raise QueryError(
            f"the pattern has an unbalanced {mark}",
            Hint("close what it opens", "search", mode="structural", query="print($X)"),
        )
    return pattern.removesuffix(":").rstrip()


def _first_unbalanced(text: str) -> str:
    """Return the first bracket without a partner, empty when all have one."""
    open_marks: list[str] = []
    for mark in text:
        if mark in _PAIRS.values():
            open_marks.append(mark)
        elif mark in _PAIRS and (not open_marks or open_marks.pop() != _PAIRS[mark]):
            return mark
    return open_marks[-1] if open_marks else ""


def _not_code_error(pattern: str, languages: Sequence[str]) -> QueryError:
    return QueryError(
        f"{pattern!r} is not code in {', '.join(languages)}",
        Hint(
            "write one statement, expression or definition, with $NAME for one part and $$$ for any number of them",
            "search",
            mode="structural",
            query="print($X)",
            languages=("python",),
        ),
    )


def _literal_words(pattern: str) -> list[bytes]:
    """Return the words that every match contains, longest first."""
    words = set(_WORD.findall(_METAVARIABLE.sub(" ", pattern)))
    return sorted((word.encode() for word in words), key=len, reverse=True)


def _rule(pattern: str, language: str) -> dict[str, Any] | None:
    """Return ast-grep's rule for the pattern alone or in any frame; None when it accepts none of them."""
    rules: list[dict[str, Any]] = []
    bare = {"pattern": pattern}
    if _accepts(bare, language):
        rules.append(bare)
    # A call is not a definition: a pattern that is complete by itself gets no body.
    whole = _is_whole(pattern, language)
    for frame in _frames(language):
        if frame.body and whole:
            continue
        if (selector := _selector(pattern, frame, language)) is not None:
            context = f"{frame.before}{pattern}{frame.body}{frame.after}"
            rule = {"pattern": {"context": context, "selector": selector}}
            if _accepts(rule, language):
                rules.append(rule)
    return {"any": rules} if rules else None


def _accepts(rule: dict[str, Any], language: str) -> bool:
    try:
        _root("", language).find(**rule)
    except RuntimeError:  # what ast-grep raises for a pattern of several nodes or none
        return False
    return True


def _selector(pattern: str, frame: Frame, language: str) -> str | None:
    """Return the kind of node that the pattern is in a frame, None when it is not a node there, or not the first."""
    if frame == BARE:
        return None
    whole = _fill_holes(f"{pattern}{frame.body}")
    start, end = len(frame.before), len(frame.before) + len(whole)
    root = _root(f"{frame.before}{whole}{frame.after}", language)
    kind = ""
    pending = list(root.children())
    while pending:
        node = pending.pop()
        first, last = node.range().start.index, node.range().end.index
        if (first, last) == (start, end) and node.is_named():
            kind = node.kind()  # the innermost: a list of one statement is that statement
        if first <= start and end <= last:
            pending += node.children()
    first_of_kind = root.find(kind=kind) if kind not in ("", "ERROR") else None
    return kind if first_of_kind is not None and first_of_kind.range().start.index == start else None


def _is_piece(pattern: str, language: str) -> bool:
    """Tell whether the grammar parses the pattern, with its holes filled, without an error in some frame."""
    return any(_parses(pattern, frame, language) for frame in _frames(language))


def _is_whole(pattern: str, language: str) -> bool:
    """Tell whether the pattern is complete code, to which nothing needs to be added."""
    frames = (frame for frame in _frames(language) if not frame.body)
    return any(_parses(pattern, frame, language, add_nothing=True) for frame in frames)


def _parses(pattern: str, frame: Frame, language: str, *, add_nothing: bool = False) -> bool:
    for name, several in (("zz", "zz"), ("zz", ""), ("Zz", "")):
        text = _fill_holes(f"{frame.before}{pattern}{frame.body}{frame.after}", name, several)
        root = _root(text, language)
        # What the parser inserts to continue, such as a semicolon, is a node without text.
        if root.find(kind="ERROR") is None and not (add_nothing and root.find(regex="^$")):
            return True
    return False


def _fill_holes(pattern: str, name: str = "zz", several: str = "zz") -> str:
    """Return a pattern with names in place of its metavariables: one that begins with `name`, or `several`."""
    return _METAVARIABLE.sub(
        lambda hole: several if hole[0].startswith("$$$") else f"{name}{hole[0].strip('$')}", pattern
    )


def _root(text: str, language: str) -> SgNode:
    root: SgNode = _parser()(text, language).root()
    return root


def _check_installed() -> None:
    try:
        spec = find_spec("ast_grep_py")
    except ValueError:  # another object is in its place
        spec = None
    if spec is None:
        raise QueryError("structural search needs ast-grep, which is not installed", _INSTALL)


@cache
def _parser() -> Any:  # noqa: ANN401 - a class of an optional dependency
    from ast_grep_py import SgRoot  # noqa: PLC0415 - an extra, and needed in another process alone

    return SgRoot
