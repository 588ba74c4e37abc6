"""Finds the lines that the hunks of a patch change, whether it is applied or not, and though the file has changed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cairn.search.exact import LineMatch
from cairn.search.file_finder import FileFinder
from cairn.search.filters import Filtered, filter_files
from cairn.search.library import Library, line_at, read_files
from cairn.search.patch_text import Hunk
from cairn.source.roles import FOREIGN, Role

_ASIDE = Role.TEST | Role.EXAMPLE | Role.DOCS | FOREIGN
_LEAST_WORDS, _MAX_TWINS = 2, 50  # of a line that tells where it is
# Of a hunk's lines so many stand at its place, for that to be sure, and at least where the path is but guessed.
_MOST, _SOME = 0.5, 0.2
_UNSURE = 0.6
_WORD = re.compile(r"\w+")
_TESTS = re.compile(r"\bmod tests?\b")  # beside the code, in Rust
_IMPORTS = re.compile(r"\s*(?:import|from|use|require|using|#\s*include)\b")


class ChangedLine(NamedTuple):
    """The first line that a hunk changes, and how sure it is that it is that one."""

    line: LineMatch
    share: float


def changed_lines(
    library: Library, hunks: Sequence[Hunk], filters: Filtered, finder: FileFinder
) -> Iterator[ChangedLine]:
    """Yield the first line that each hunk changes in a file of the project: code first, and what changes most."""
    chosen = filter_files(library.snapshot.files, filters)
    inside = None if chosen is None else set(chosen.tolist())
    files = {path: finder.by_path(path) for path in dict.fromkeys(hunk.path for hunk in hunks)}
    meant = [(files[hunk.path][0], hunk) for hunk in hunks if len(files[hunk.path]) == 1]
    shown = [one for one in meant if inside is None or one[0] in inside]
    roles = library.snapshot.files.roles
    shown.sort(key=lambda one: ((int(roles[one[0]]) & int(_ASIDE)) > 0, _is_of_tests(one[1]), -_size_of(one[1])))
    files_now = {file: _Numbered.of(text.data) for file, text in read_files(library, {one[0] for one in shown}).items()}
    for file, hunk in shown:
        number, share = _place_of(hunk, files_now[file])
        if hunk.is_guessed and share < _SOME:
            continue
        if (line := line_at(library, file, number)) is not None:
            yield ChangedLine(line, 1.0 if share >= _MOST else _UNSURE)


class _Numbered(NamedTuple):
    """A file: how many lines it has, and the numbers of the lines that have a text, spaces around it aside."""

    n_lines: int
    numbers: dict[str, list[int]]

    @classmethod
    def of(cls, data: bytes) -> _Numbered:
        """Number the lines of a file."""
        lines = data.decode("utf-8", "replace").split("\n")
        numbers: dict[str, list[int]] = {}
        for number, line in enumerate(lines, start=1):
            numbers.setdefault(line.strip(), []).append(number)
        return cls(len(lines), numbers)


def _is_of_tests(hunk: Hunk) -> bool:
    return _TESTS.search(hunk.heading) is not None


def _size_of(hunk: Hunk) -> int:
    """Return how many words a hunk changes; imports only follow from what else is changed."""
    return sum(len(_WORD.findall(line)) for line in hunk.changed if not _IMPORTS.match(line))


def _place_of(hunk: Hunk, file: _Numbered) -> tuple[int, float]:
    """Return the number of the first line that a hunk changes, as the file is now, and how much of the hunk is there.

    The lines of the hunk vote for how far the file has moved since, those before the change and those after it apart.
    """
    sides = [_moved_by(hunk.side(mark), first, file.numbers) for mark, first in (("+", hunk.new), ("-", hunk.old))]
    is_before = sides[1][1] > sides[0][1]
    moved, share = sides[is_before]
    place = next((at for at, line in enumerate(hunk.lines) if line[0] != " "), 0)
    number = (hunk.old if is_before else hunk.new) + place + moved
    return min(max(1, number), file.n_lines), share


def _moved_by(side: Sequence[str], first: int, numbers: dict[str, list[int]]) -> tuple[int, float]:
    """Return by how many lines one side of a hunk has moved, and the share of its lines that say so."""
    telling = [(number, line.strip()) for number, line in enumerate(side, start=first)]
    telling = [
        (number, line)
        for number, line in telling
        if len(_WORD.findall(line)) >= _LEAST_WORDS and len(numbers.get(line, ())) <= _MAX_TWINS
    ]
    votes = Counter(now - number for number, line in telling for now in numbers.get(line, ()))
    if not votes:
        return 0, 0.0
    moved = min(votes, key=lambda by: (-votes[by], abs(by)))
    return moved, votes[moved] / len(telling)
