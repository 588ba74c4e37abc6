"""The gitignore pattern language: compiles a file of rules into automata that answer in linear time."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any, NamedTuple

# The parts of a pattern; https://git-scm.com/docs/gitignore and wildmatch.c of git.
_TOKEN = re.compile(
    rb"(?P<folders>(?:(?<=/)|^)\*{2,}/)|(?P<everything>(?:(?<=/)|^)\*{2,}$)|(?P<star>\*+)|(?P<letter>\?)"
    rb"|\[(?P<negation>[!^]?)(?P<choice>\]?(?:\[:\w+:\]|\\.|[^\]\\])*)\]|\\(?P<quoted>.)|(?P<plain>.)",
    re.DOTALL,
)
_CHOICE_TOKEN = re.compile(rb"\[:\w+:\]|\\(.)|[\[\]^&~]", re.DOTALL)
_FOLDER = b"D"
_FILE = b"F"
_PROBE = b"P"  # matches no path
_SPECIAL = re.compile(rb"[*?\[\\]")
_ENDING = re.compile(rb"\*(\.[^.*?\[\\/]+)")
_MAX_RULE_BYTES = 4096  # no path is longer
# Rules beyond a name, a path or an extension go into automata. One with several wildcards can put an automaton into
# many states at once, so fewer of those are allowed.
_MAX_RULES, _MAX_WILDCARDS = 10_000, 1_000
_MAX_EXPRESSION_BYTES = 600_000
_RULES_PER_AUTOMATON = 2_000
_BYTES_PER_BYTE = 16  # minimal memory of an automaton per byte of its expressions
_AUTOMATON_BYTES = (1 << 18, 1 << 21, 1 << 24, 1 << 26)
_NONE = -1

# The last rule for a name, and the last one only for folders of that name.
_Last = tuple[int, int]


class IgnoreRules:
    """The rules of one `.gitignore` or `.cairnignore` file.

    Ask about folders from the top down, and about nothing below an ignored folder: a rule only decides on the path that
    it names, not on what is below. This is how git treats negations, which matching a whole path once cannot do.

    `unused` counts rules that were dropped to bound time and memory: rules above 4 kB, and rules with wildcards after
    the first 10,000, after 600 kB of expressions, or after 1,000 wildcards in rules that have several.

    Args:
        text: content of the file; rules that can never match, such as an open bracket, are dropped as in git.
    """

    __slots__ = ("_automata", "_endings", "_ignores", "_names", "_paths", "unused")

    def __init__(self, text: bytes) -> None:
        self._ignores: list[bool] = []
        self._names: dict[bytes, _Last] = {}
        self._paths: dict[bytes, _Last] = {}
        self._endings: dict[bytes, _Last] = {}
        self.unused = 0
        patterns = _Patterns()
        for line in text.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
            if (rule := _parse_line(line)) is not None:
                self._add_rule(rule, len(line), patterns)
        self._automata = [
            automaton
            for first in range(0, len(patterns.expressions), _RULES_PER_AUTOMATON)
            for automaton in self._compile(patterns.expressions[first : first + _RULES_PER_AUTOMATON])
        ]

    def match(self, path: bytes, *, is_folder: bool) -> bool | None:
        """Tell whether the last rule for a path ignores it (True) or re-includes it (False); None if there is no rule.

        Args:
            path: relative to the folder of the rules.
            is_folder: whether rules that end with `/` apply.
        """
        if not self._ignores:
            return None
        name = path[path.rfind(b"/") + 1 :]
        last = _NONE
        for table, key in (
            (self._names, name),
            (self._paths, path),
            (self._endings, name[name.rfind(b".") :] if b"." in name else b""),
        ):
            if table and (numbers := table.get(key)) is not None:
                last = max(last, numbers[0], numbers[1] if is_folder else _NONE)
        if self._automata:
            text = (_FOLDER if is_folder else _FILE) + path
            for automaton, rules in self._automata:
                if matches := automaton.Match(text):
                    last = max(last, rules[max(matches)])
        return self._ignores[last] if last >= 0 else None

    def _add_rule(self, rule: _Rule, n_bytes: int, patterns: _Patterns) -> None:
        """Store a rule of a given size for lookup; it has a number even if it never applies."""
        number = len(self._ignores)
        self._ignores.append(rule.ignores)
        if n_bytes > _MAX_RULE_BYTES:
            self.unused += 1
        elif not _SPECIAL.search(rule.pattern):
            _add(self._paths if rule.is_anchored else self._names, rule.pattern, number, rule)
        elif not rule.is_anchored and (ending := _ENDING.fullmatch(rule.pattern)):
            _add(self._endings, ending[1], number, rule)
        elif (body := _translate(rule.pattern)) and not patterns.add(number, rule, body):
            self.unused += 1

    def _compile(self, patterns: list[tuple[int, bytes]]) -> list[tuple[Any, list[int]]]:
        """Return automata with the numbers of their rules; rules that exceed the memory limit are left out."""
        import re2  # noqa: PLC0415 - start-up time: most projects have no such file

        options = re2.Options()
        options.encoding = re2.Options.Encoding.LATIN1  # file names are bytes
        options.dot_nl = True
        options.log_errors = False
        least = _BYTES_PER_BYTE * sum(len(pattern) for _, pattern in patterns)
        for max_bytes in _AUTOMATON_BYTES:
            if max_bytes < least:
                continue
            options.max_mem = max_bytes
            automaton = re2.Set.FullMatchSet(options)
            numbers = []
            for number, pattern in patterns:
                try:
                    automaton.Add(pattern)
                except re2.error:  # such as the range [z-a]
                    continue
                numbers.append(number)
            probe = automaton.Add(_PROBE)
            with suppress(re2.error):
                automaton.Compile()
                if automaton.Match(_PROBE) == [probe]:  # otherwise it is too large to run and fails silently
                    return [(automaton, numbers)] if numbers else []
        if len(patterns) == 1:
            self.unused += 1
            return []
        half = len(patterns) // 2
        return self._compile(patterns[:half]) + self._compile(patterns[half:])


class _Rule(NamedTuple):
    """A rule: an anchored one applies to a path, any other to a name in any folder."""

    ignores: bool
    pattern: bytes
    is_anchored: bool
    folders_only: bool


class _Patterns:
    """The rules that need an automaton, as numbers and expressions, within limits of time and memory."""

    def __init__(self) -> None:
        self.expressions: list[tuple[int, bytes]] = []
        self._n_wildcards = self._n_bytes = 0

    def add(self, number: int, rule: _Rule, body: bytes) -> bool:
        """Add a rule; return whether there was room for it."""
        n_stars = rule.pattern.count(b"*")
        n_wildcards = self._n_wildcards + (n_stars if n_stars > 1 else 0)
        n_bytes = self._n_bytes + len(body)
        if len(self.expressions) == _MAX_RULES or n_wildcards > _MAX_WILDCARDS or n_bytes > _MAX_EXPRESSION_BYTES:
            return False
        self._n_wildcards, self._n_bytes = n_wildcards, n_bytes
        self.expressions.append((number, _expression(rule, body)))
        return True


def _add(table: dict[bytes, _Last], key: bytes, number: int, rule: _Rule) -> None:
    anything, folders = table.get(key, (_NONE, _NONE))
    table[key] = (anything, number) if rule.folders_only else (number, folders)


def _parse_line(line: bytes) -> _Rule | None:
    """Return the rule on a line, None if there is none."""
    line = line.removesuffix(b"\r")
    if line.startswith(b"#"):
        return None
    stripped = line.rstrip(b" ")
    if stripped.endswith(b"\\") and stripped != line:  # the first space is quoted
        stripped += b" "
    ignores = not stripped.startswith(b"!")
    pattern = stripped if ignores else stripped[1:]
    folders_only = pattern.endswith(b"/")
    if folders_only:
        pattern = pattern[:-1]
    is_anchored = b"/" in pattern
    pattern = pattern.removeprefix(b"/")
    return _Rule(ignores, pattern, is_anchored, folders_only) if pattern else None


def _expression(rule: _Rule, body: bytes) -> bytes:
    """Return the regular expression of a rule, for paths prefixed with `_FOLDER` or `_FILE`."""
    start = _FOLDER if rule.folders_only else b"[DF]"
    return start + body if rule.is_anchored else start + b"(?:.*/)?" + body


def _translate(pattern: bytes) -> bytes:
    """Return the regular expression of a pattern, empty if it can never match."""
    parts: list[bytes] = []
    for token in _TOKEN.finditer(pattern):
        match token.lastgroup:
            case "folders":
                parts.append(b"(?:.*/)?")
            case "everything":
                parts.append(b".+")
            case "star":
                parts.append(b"[^/]*")
            case "letter":
                parts.append(b"[^/]")
            case "choice":
                body = _CHOICE_TOKEN.sub(_quote_in_choice, token["choice"])
                parts.append((b"[^/" if token["negation"] else b"[") + body + b"]")
            case "quoted":
                parts.append(re.escape(token["quoted"]))
            case _:
                if token["plain"] == b"[":
                    return b""
                parts.append(re.escape(token["plain"]))
    return b"".join(parts)


def _quote_in_choice(token: re.Match[bytes]) -> bytes:
    if token[0].startswith(b"[:"):
        return token[0]
    return re.escape(token[1] or token[0])
