"""Hides the gitignore pattern language: one file of rules becomes one automaton that answers in linear time."""

from __future__ import annotations

import re

# What a pattern is made of; https://git-scm.com/docs/gitignore and wildmatch.c of git.
_TOKEN = re.compile(
    rb"(?P<folders>(?:(?<=/)|^)\*{2,}/)|(?P<everything>(?:(?<=/)|^)\*{2,}$)|(?P<star>\*+)|(?P<one>\?)"
    rb"|\[(?P<negation>[!^]?)(?P<choice>\]?(?:\[:\w+:\]|\\.|[^\]\\])*)\]|\\(?P<quoted>.)|(?P<plain>.)",
    re.DOTALL,
)
_CHOICE_TOKEN = re.compile(rb"\[:\w+:\]|\\(.)|[\[\]^&~]", re.DOTALL)
_FOLDER = b"D"
_FILE = b"F"
_TRAILING_SPACES = re.compile(rb"(?<!\\) +$")


class IgnoreRules:
    """The rules of one `.gitignore` or `.cairnignore` file.

    Folders must be asked from the top down, and nothing below an ignored folder asked at all: a rule decides on the
    path it names and not on what lies below. So git treats negations; a single look at a whole path cannot.

    Args:
        text: content of the file; rules that can never match, such as an open bracket, are dropped as git does.
    """

    __slots__ = ("_automaton", "_ignores")

    def __init__(self, text: bytes) -> None:
        import re2  # noqa: PLC0415 - start-up time: most projects have no such file

        options = re2.Options()
        options.encoding = re2.Options.Encoding.LATIN1  # file names are bytes
        options.dot_nl = True
        options.log_errors = False
        self._automaton = re2.Set.FullMatchSet(options)
        self._ignores: list[bool] = []
        for line in text.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
            ignores, pattern = _parse_line(line)
            if not pattern:
                continue
            try:
                self._automaton.Add(pattern)
            except re2.error:  # such as the range [z-a]
                continue
            self._ignores.append(ignores)
        if self._ignores:
            self._automaton.Compile()

    def match(self, path: bytes, *, is_folder: bool) -> bool | None:
        """Tell whether the last rule that names the path ignores it (True) or takes it back (False); None for no rule.

        Args:
            path: relative to the folder of the rules.
            is_folder: whether rules that end with `/` apply.
        """
        if not self._ignores:
            return None
        matches: list[int] = self._automaton.Match((_FOLDER if is_folder else _FILE) + path)
        return self._ignores[max(matches)] if matches else None


def _parse_line(line: bytes) -> tuple[bool, bytes]:
    """Return whether the rule ignores, and the regular expression of what it names, empty if it names nothing.

    The expression wants `_FOLDER` or `_FILE` in front of the path.
    """
    line = line.removesuffix(b"\r")
    if line.startswith(b"#"):
        return True, b""
    line = _TRAILING_SPACES.sub(b"", line)
    ignores = not line.startswith(b"!")
    pattern = line if ignores else line[1:]
    start = b"[DF]"
    if pattern.endswith(b"/"):
        pattern, start = pattern[:-1], _FOLDER
    if b"/" not in pattern:
        start += b"(?:.*/)?"
    body = _translate(pattern.removeprefix(b"/"))
    return ignores, start + body if body else b""


def _translate(pattern: bytes) -> bytes:
    """Return the regular expression of a pattern, empty for one that can never match."""
    parts: list[bytes] = []
    for token in _TOKEN.finditer(pattern):
        match token.lastgroup:
            case "folders":
                parts.append(b"(?:.*/)?")
            case "everything":
                parts.append(b".+")
            case "star":
                parts.append(b"[^/]*")
            case "one":
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
