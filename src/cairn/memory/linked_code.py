"""The code that a memory speaks of, as it was when it was linked, from git, and as it is now."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from cairn.errors import CairnError, PathError
from cairn.memory.links import LinkStates, State, find_definition, find_linked, name_of
from cairn.source.content import normalize
from cairn.source.git import find_repository
from cairn.source.languages import detect_language
from cairn.source.plumbing import run_git
from cairn.storage.memory.rows import CodeLink, Observation
from cairn.structure.locate import FileContent, outline_of, read_source

_MAX_LINKS = 20
_MAX_COMMITS = 30  # looked at for the code as it was linked
_MAX_BYTES = 1_000_000
_MAX_CHARS = 20_000  # of a text that is shown
_MAX_LINES = 3_000  # of texts that are compared
_GIT_S = 3.0
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


class LinkedCode(NamedTuple):
    """The code of one link.

    Attributes:
        file: the link, as `path` or `path::symbol`, with the path now.
        state: what became of it.
        language: of the file, empty if that is gone.
        revision: the commit that has it as it was then, empty if none does.
        then, now: its text; None where it is not known, or gone.
        line: where it begins now, from 1 on; 0 if it is gone.
        diff: what differs, in the unified format.
    """

    file: str
    state: State
    language: str
    revision: str
    then: str | None
    now: str | None
    line: int
    diff: str


class _LinkedPiece(NamedTuple):
    """Some lines of a file, and where they begin, from 1 on."""

    lines: list[str]
    line: int


class LinkedCodes:
    """Finds the code that memories speak of.

    Args:
        root: the project's folder.
    """

    def __init__(self, root: Path) -> None:
        self._root, self._has_git, self._states = root, find_repository(root) is not None, LinkStates(root)

    def of(self, observation: Observation, now: Sequence[CodeLink]) -> list[LinkedCode]:
        """Return the code of each link of a memory.

        Args:
            observation: the memory.
            now: its links, leading to where their code is now.
        """
        pairs = zip(observation.links, now, strict=True)
        return [self._code_of(link, moved, observation.revision) for link, moved in islice(pairs, _MAX_LINKS)]

    def _code_of(self, link: CodeLink, moved: CodeLink, revision: str) -> LinkedCode:
        state = self._states.state(moved)
        file = self._file_now(moved.path)
        now = None if file is None else _as_linked(file.data, moved) or _named(file, moved)
        then, commit = (now, revision) if state == "current" and now is not None else self._then(link, revision)
        diff = "" if then is None or then.lines == (now.lines if now else []) else _diff(then, now)
        return LinkedCode(
            file=name_of(moved),
            state=state,
            language="" if file is None else file.language.name,
            revision=commit,
            then=None if then is None else _text(then),
            now=None if now is None else _text(now),
            line=0 if now is None else now.line,
            diff=diff[:_MAX_CHARS],
        )

    def _file_now(self, path: str) -> FileContent | None:
        try:
            return read_source(self._root, path)
        except CairnError:  # gone, or no text any more
            return None

    def _then(self, link: CodeLink, revision: str) -> tuple[_LinkedPiece | None, str]:
        """Return the code as it was linked, and the commit that has it so; else what is called so in `revision`."""
        if not self._has_git:
            return None, ""
        first = [revision] if _COMMIT.fullmatch(revision) else []
        for commit in dict.fromkeys(chain(first, self._commits_of(link.path))):
            data = self._content(commit, link.path)
            if data is not None and (piece := _as_linked(data, link)) is not None:
                return piece, commit
        data = self._content(revision, link.path) if first else None
        if data is None:
            return None, ""
        piece = _named(FileContent(link.path, data, detect_language(link.path, data)), link)
        return piece, revision if piece is not None else ""

    def _commits_of(self, path: str) -> Iterator[str]:
        """Yield the newest commits that changed a file."""
        arguments = ["rev-list", f"--max-count={_MAX_COMMITS}", "HEAD", "--", f":(literal){path}"]
        output = self._ask(arguments)
        yield from _COMMIT.findall(os.fsdecode(output or b""))

    def _content(self, commit: str, path: str) -> bytes | None:
        output = self._ask(["cat-file", "blob", f"{commit}:./{path}"])
        return None if output is None else normalize(output)

    def _ask(self, arguments: list[str]) -> bytes | None:
        try:
            result = run_git(self._root, arguments, _GIT_S, max_bytes=_MAX_BYTES)
        except (OSError, PathError, ValueError):
            return None
        return None if result.returncode else result.stdout


def _as_linked(data: bytes, link: CodeLink) -> _LinkedPiece | None:
    """Return what was linked, word for word; None if a content does not have it."""
    found = find_linked(data, link)
    if found is None:
        return None
    return _LinkedPiece(_lines(data)[found.start : found.start + found.n_lines], found.start + 1)


def _named(file: FileContent, link: CodeLink) -> _LinkedPiece | None:
    """Return the definition of the link's name, or the whole file; None if there is none of this name."""
    lines = _lines(file.data)
    if not link.symbol:
        return _LinkedPiece(lines, 1)
    try:
        outline = outline_of(file)
        symbol = outline.symbols[find_definition(outline, link.symbol)]
    except CairnError:
        return None
    return _LinkedPiece(lines[symbol.start_line - 1 : symbol.end_line], symbol.start_line)


def _lines(data: bytes) -> list[str]:
    return [line.rstrip("\r") for line in data.decode("utf-8", "replace").split("\n")]


def _text(piece: _LinkedPiece) -> str:
    return "\n".join(piece.lines)[:_MAX_CHARS]


def _diff(then: _LinkedPiece, now: _LinkedPiece | None) -> str:
    after = [] if now is None else now.lines[:_MAX_LINES]
    return "\n".join(unified_diff(then.lines[:_MAX_LINES], after, "then", "now", lineterm=""))
