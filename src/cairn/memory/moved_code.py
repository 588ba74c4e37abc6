"""Follows definitions that were moved to another file or renamed, so that a memory stays with the code it speaks of.

The change that took a definition out of its file is looked for in git, then among what is not committed. Of what this
change added, the definition of the same name with nearly the same text is the one, or one of another name, in the same
file or where its lines are now. It may have been moved again since.
"""

from __future__ import annotations

import math
import os
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from cairn.answers import OutlineSymbol
from cairn.errors import CairnError
from cairn.memory.links import LinkStates
from cairn.source.content import normalize
from cairn.source.git import is_below
from cairn.source.languages import detect_language
from cairn.source.plumbing import run_git
from cairn.source.walk import read_file
from cairn.storage.memory.rows import CodeLink
from cairn.structure.locate import FileContent, outline_of

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_TOKEN = re.compile(rb"\w+|[^\w\s]")
_NAMED = b"NAME"  # stands for the own name of a definition in its text
# How much of the texts must be the same, in pairs of tokens: a name says more than none.
_ALIKE, _ALIKE_UNDER_ANOTHER_NAME = 0.6, 0.75
_LEAD = 0.1  # over the next one, where the name says nothing
_LEAST_TOKENS = 12  # of a definition that is followed under another name
_MOST_MOVES = 5
_MOST_COMMITS = 20  # of its file, of which one took it away
_MOST_FILES = 200  # of a change
_MOST_OUTLINED = 20
_MOST_HOLDING, _MOST_LINES, _LEAST_LINE_BYTES = 5, 20, 8  # in search of a definition by its lines
_MAX_BYTES, _MAX_ANSWER_BYTES = 1_000_000, 32_000_000
_GIT_S = 0.3  # for each question to git: an agent may wait for the answer, and in a very large history it takes longer
_MOST_AT_ONCE_S = 0.2  # for all that one question asks for; the next one goes on
_KNOWN_S = 20.0  # that nothing was found where no commit took it away: what is not committed changes at any time
_UNTOLD_S = 600.0  # that git, or a file, tells nothing
_MAX_KEPT = 10_000


class _Definition(NamedTuple):
    """A definition with the tokens of its text, in which its own name is replaced."""

    symbol: OutlineSymbol
    tokens: list[bytes]
    lines: list[bytes]  # that say something, without its name


class _Change(NamedTuple):
    """What took a definition away: its text before, the commit, and the one before it; no `after` if not committed."""

    text: _Definition
    before: str
    after: str


class _MovedPlace(NamedTuple):
    path: str
    symbol: str
    since: str  # the commit from which on it may have been moved again


class _Key(NamedTuple):
    link: CodeLink
    since: str
    head: str


class _Finding(NamedTuple):
    """Where a definition is now, None if nowhere, and until when that need not be asked again."""

    link: CodeLink | None
    until: float


class MovedDefinitions:
    """Tells where definitions went that are no longer in their files.

    Args:
        root: the project's folder, in a checkout of git.
        states: tells what is in the files now.
    """

    def __init__(self, root: Path, states: LinkStates) -> None:
        self._root, self._states = root, states
        self._known: dict[_Key, _Finding] = {}
        self._lock = Lock()

    def follow(self, links: Iterable[tuple[CodeLink, str]], head: str) -> dict[CodeLink, CodeLink]:
        """Return where definitions are now that are gone from their places; those that are not found are left out.

        Args:
            links: to definitions, each with the commit at which it was made.
            head: the commit that is checked out.
        """
        found: dict[CodeLink, CodeLink] = {}
        until = time.monotonic() + _MOST_AT_ONCE_S
        for link, since in links:
            if link.symbol and self._states.state(link) == "gone":
                place = self._place(_Key(link, since, head), until)
                if place is not None:
                    found[link] = place
        return found

    def _place(self, key: _Key, until: float) -> CodeLink | None:
        now = time.monotonic()
        with self._lock:
            known = self._known.get(key)
        if known is not None and self._still_holds(known, now):
            return known.link
        if now > until or not (_COMMIT.fullmatch(key.since) and _COMMIT.fullmatch(key.head)):
            return None
        finding = _Finding(None, now + _UNTOLD_S)
        with suppress(CairnError, OSError):  # nothing can be told, by git in time or of such a file
            finding = self._find(key, now)
        with self._lock:
            if len(self._known) >= _MAX_KEPT:
                self._known.clear()
            self._known[key] = finding
        return finding.link

    def _still_holds(self, finding: _Finding, now: float) -> bool:
        return now < finding.until if finding.link is None else self._states.state(finding.link) != "gone"

    def _find(self, key: _Key, now: float) -> _Finding:
        place = _MovedPlace(key.link.path, key.link.symbol, key.since)
        until = now + _KNOWN_S
        for _ in range(_MOST_MOVES):
            if time.monotonic() > now + _MOST_AT_ONCE_S:
                break
            change = self._change(place, key.head)
            following = None if change is None else self._place_after(place, change)
            if following is None:
                return _Finding(None, math.inf if change is not None and change.after else until)
            link = key.link._replace(path=following.path, symbol=following.symbol)
            if self._states.state(link) != "gone":
                return _Finding(link, until)
            place = following
        return _Finding(None, until)

    def _change(self, place: _MovedPlace, head: str, names: int = _MOST_MOVES) -> _Change | None:
        """Return what took a definition out of its file, the last time.

        Args:
            place: where it was; the file may have been called otherwise then.
            head: the commit from which on backwards it is looked for.
            names: how many names of the file are followed.
        """
        arguments = ["rev-list", f"--max-count={_MOST_COMMITS}", head, f"^{place.since}", "--"]
        listed = run_git(self._root, [*arguments, f":(literal){place.path}"], _GIT_S)
        commits = _COMMIT.findall(os.fsdecode(listed.stdout))
        points = [(head, ""), *((f"{commit}^", commit) for commit in commits)]
        contents = self._contents([(before, place.path) for before, _ in points])
        for before, after in points:
            data = contents.get((before, place.path), b"")
            text = _find_own(_definitions(place.path, data, place.symbol), place.symbol)
            if text is not None:
                return _Change(text, before, after)
        came = next((point for point in points if point[1] and (point[0], place.path) not in contents), None)
        old = self._name_before(place.path, *came) if came is not None and names else ""
        return self._change_under(place._replace(path=old), *came, names - 1) if came is not None and old else None

    def _change_under(self, place: _MovedPlace, before: str, after: str, names: int) -> _Change | None:
        """Return what took a definition out of a file that a commit renamed: that commit, or one before."""
        data = self._contents([(before, place.path)]).get((before, place.path), b"")
        text = _find_own(_definitions(place.path, data, place.symbol), place.symbol)
        return _Change(text, before, after) if text is not None else self._change(place, before, names)

    def _name_before(self, path: str, before: str, after: str) -> str:
        """Return what a file that a commit renamed was called before, empty if it did not exist."""
        arguments = ["diff-tree", "-r", "-z", "-M", "-l100", "--no-commit-id", "--name-status", "--diff-filter=R"]
        listed = run_git(self._root, [*arguments, "--relative", "--no-ext-diff", before, after], _GIT_S)
        fields = os.fsdecode(listed.stdout).split("\0")
        return next((old for old, new in zip(fields[1::3], fields[2::3], strict=False) if new == path), "")

    def _place_after(self, place: _MovedPlace, change: _Change) -> _MovedPlace | None:
        """Return where a definition was put by the change that took it away."""
        name = change.text.symbol.name
        paths = [place.path, *(path for path in self._changed(place, change) if path != place.path)]
        now = self._after(paths, change)
        named = [path for path in now if name.encode() in now[path]][:_MOST_OUTLINED]
        before = self._contents([(change.before, path) for path in {place.path, *named}])
        best: tuple[float, _MovedPlace] = 0.0, place
        for path in named:
            for added in _added(path, before.get((change.before, path), b""), now[path], name):
                if added.symbol.name == name and (alike := _likeness(change.text, added)) > max(best[0], _ALIKE):
                    best = alike, _MovedPlace(path, added.symbol.qualified_name, change.after or place.since)
        if best[0]:
            return best[1]
        return self._renamed(place, change, now)

    def _renamed(self, place: _MovedPlace, change: _Change, now: Mapping[str, bytes]) -> _MovedPlace | None:
        """Return where a definition was put under another name, if it is clear which one it is."""
        if len(change.text.tokens) < _LEAST_TOKENS:
            return None
        for paths in ([place.path], _holding(change.text, now, place.path)):
            before = self._contents([(change.before, path) for path in paths])
            added = [
                (path, found)
                for path in paths
                for found in _added(path, before.get((change.before, path), b""), now.get(path, b""))
            ]
            if renamed := _most_alike(place, change, added):
                return renamed
        return None

    def _changed(self, place: _MovedPlace, change: _Change) -> list[str]:
        """Return the files of the same ending that a change added to or altered, where definitions may have gone."""
        if change.after:
            arguments = ["diff-tree", "-r", "-z", "--no-commit-id", "--name-only", "--diff-filter=AM", "--relative"]
            arguments += ["--no-ext-diff", change.before, change.after]
        else:
            arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = run_git(self._root, arguments, _GIT_S, max_bytes=_MAX_ANSWER_BYTES)
        ending = os.path.splitext(place.path)[1]
        paths = [path for path in os.fsdecode(listed.stdout).split("\0") if path.endswith(ending) and is_below(path)]
        if not change.after:
            paths.sort(key=self._changed_at, reverse=True)
        return paths[:_MOST_FILES]

    def _changed_at(self, path: str) -> int:
        try:
            return os.stat(self._root / path).st_mtime_ns
        except OSError:
            return 0

    def _after(self, paths: Sequence[str], change: _Change) -> dict[str, bytes]:
        if change.after:
            committed = self._contents([(change.after, path) for path in paths])
            return {path: data for (_, path), data in committed.items()}
        contents: dict[str, bytes] = {}
        for path in paths:
            with suppress(OSError):  # it is not there, or not to be read
                contents[path] = normalize(read_file(self._root, path, _MAX_BYTES))
        return contents

    def _contents(self, wanted: Sequence[tuple[str, str]]) -> dict[tuple[str, str], bytes]:
        """Return the contents of files in commits, without those that are not there or too large."""
        asked = [(commit, path) for commit, path in wanted if "\n" not in path]
        given = b"".join(b"%s:./%s\n" % (commit.encode(), os.fsencode(path)) for commit, path in asked)
        answer = run_git(self._root, ["cat-file", "--batch"], _GIT_S, given=given, max_bytes=_MAX_ANSWER_BYTES).stdout
        contents: dict[tuple[str, str], bytes] = {}
        start = 0
        for key in asked:
            head, _, _ = answer[start:].partition(b"\n")
            start += len(head) + 1
            if head.endswith(b" missing") or not (fields := head.split()[-2:])[-1].isdigit():
                continue
            size = int(fields[1])
            if fields[0] == b"blob" and size <= _MAX_BYTES:
                contents[key] = normalize(answer[start : start + size])
            start += size + 1
        return contents


def _definitions(path: str, data: bytes, name: str = "") -> Iterator[_Definition]:
    """Yield the definitions of a content; none if it does not even hold a name."""
    if not data or name.rpartition(".")[2].encode() not in data:
        return
    lines = data.split(b"\n")
    for symbol in outline_of(FileContent(path, data, detect_language(path, data))).symbols:
        text = b"\n".join(lines[symbol.start_line - 1 : symbol.end_line])
        own = symbol.name.encode()
        said = [line.strip() for line in text.split(b"\n") if own not in line]
        told = [line for line in said if len(line) >= _LEAST_LINE_BYTES][:_MOST_LINES]
        yield _Definition(symbol, [_NAMED if token == own else token for token in _TOKEN.findall(text)], told)


def _find_own(definitions: Iterable[_Definition], symbol: str) -> _Definition | None:
    return next((found for found in definitions if found.symbol.qualified_name == symbol), None)


def _added(path: str, before: bytes, after: bytes, name: str = "") -> Iterator[_Definition]:
    """Yield the definitions of a file that it did not have before a change."""
    known = {found.symbol.qualified_name for found in _definitions(path, before, name)}
    for found in _definitions(path, after, name):
        if found.symbol.qualified_name not in known:
            yield found


def _holding(text: _Definition, now: Mapping[str, bytes], but: str) -> list[str]:
    """Return the files that hold most of the lines of a definition, those with the most of them first."""
    counts = {path: sum(line in data for line in text.lines) for path, data in now.items() if path != but}
    holding = [path for path, count in counts.items() if count * 2 > len(text.lines)]
    return sorted(holding, key=lambda path: (-counts[path], path))[:_MOST_HOLDING]


def _most_alike(place: _MovedPlace, change: _Change, added: Sequence[tuple[str, _Definition]]) -> _MovedPlace | None:
    """Return the one of some definitions that is the old one under another name, if it is clear which."""
    likeness: Mapping[tuple[str, str], float] = {
        (path, found.symbol.qualified_name): _likeness(change.text, found)
        for path, found in added
        if found.symbol.kind == change.text.symbol.kind
    }
    best = sorted(likeness, key=likeness.__getitem__, reverse=True)[:2]
    if not best or likeness[best[0]] < _ALIKE_UNDER_ANOTHER_NAME:
        return None
    if len(best) > 1 and likeness[best[0]] - likeness[best[1]] < _LEAD:
        return None
    return _MovedPlace(*best[0], change.after or place.since)


def _likeness(one: _Definition, other: _Definition) -> float:
    """Return the share of the pairs of neighbouring tokens in two definitions that are the same in both."""
    pairs = Counter(zip(one.tokens, one.tokens[1:], strict=False))
    others = Counter(zip(other.tokens, other.tokens[1:], strict=False))
    return 2 * sum((pairs & others).values()) / max(1, sum(pairs.values()) + sum(others.values()))
