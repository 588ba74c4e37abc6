"""Answers what solved something like a query, which may be words, a path, a name, lines of a file, or a commit."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from cairn.answers import CodeHit
from cairn.facets.former_lines import FormerLines
from cairn.facets.known_past import KnownPast
from cairn.facets.named_code import NamedCode, NamedDefinitions
from cairn.facets.project_index import ProjectIndex
from cairn.facets.project_paths import path_there
from cairn.facets.shaped_lines import MOST_COMMITS, WHY_SECONDS, FileLines, FoundLines, LineHistory, on_limit
from cairn.hints import Hint
from cairn.history.answers import brief
from cairn.history.meant import PATH_ALONE, Meant
from cairn.history.notes import no_such_file, on_choices
from cairn.history.past import Past
from cairn.history.score import Weighted
from cairn.history.values import PastCommit, PastFile, Solved, Subject
from cairn.source.named_commits import merged_by, named_commits, numbered_commits

_MOST_NAMESAKES = 20  # definitions of one name that are counted


class PastSolver:
    """Answers queries to the history of a project."""

    def __init__(self, index: ProjectIndex, known: KnownPast, lines: LineHistory) -> None:
        self._index = index
        self._known = known
        self._lines = lines
        self._former = FormerLines(index, known)
        self._named_code = NamedCode(index)

    def solve(self, query: str, limit: int, *, update: bool) -> Solved:
        """Return the answer to a query; see `HistoryFacet.solve`."""
        terms = self._named_code.terms_of(query)
        text = query.strip()
        path = path_there(self._index.root_on_disk, text)
        lines = None if path else self._lines.lines_at(text)
        late = self._index.refresh() if update and not path and self._named_code.may_name(text) else ""
        past, notes = self._known.find(update=update)
        if lines is not None and not lines.path and (error := self._former.error_on(past, text)):
            raise error
        if lines is not None and lines.path:
            solved = self._shaping(past, "lines", self._lines.find(lines), limit)
        else:
            solved = self._solve(text, terms, path, past, limit)
        return replace(solved, query=query, notes=(*notes, *solved.notes, *filter(None, (late,))))

    def _solve(self, text: str, terms: list[Weighted], path: str, past: Past | None, limit: int) -> Solved:
        """Return the answer to a text that names no lines, without what is to be said of the history as a whole."""
        on_definition: tuple[str, ...] = ()
        if not path:
            found = self._named_code.definitions_of(text, _MOST_NAMESAKES)
            solved = self._of_definition(found, terms, past, limit) if found.definitions else None
            if solved is not None and solved.commits:
                return solved
            on_definition = () if solved is None else solved.notes
            if (named := self._named(text, past, limit)) is not None:
                return named
        if past is None:
            return Solved(text, "query", (), (), 0, 0, 0, on_definition)
        meant, notes = self._known.files_meant(past, path or text)
        choices = () if meant is None else meant.choices
        if (meant is not None and not choices) or (path and not os.path.isdir(self._index.root_on_disk / path)):
            return self._of_files(past, meant or Meant([]), path, notes, limit)
        solved = self._of_words(text, terms, past, limit)
        on_text = (on_choices(text, choices),) if choices else self._on_words(text, path, bool(solved.commits))
        return replace(solved, notes=(*on_definition, *on_text))

    def _of_files(self, past: Past, meant: Meant, path: str, notes: tuple[str, ...], limit: int) -> Solved:
        """Return which commits changed files."""
        commits, files, omitted = self._known.answers(past).of(meant, limit)
        if not commits:
            notes = (*notes, *self._known.notes_on_nothing(path))
        return Solved(path, "file", tuple(commits), tuple(files), omitted, *_extent(past), notes)

    def _of_words(self, text: str, terms: list[Weighted], past: Past, limit: int) -> Solved:
        """Return which commits say something, those that a number in it identifies first."""
        commits, files, omitted = self._known.answers(past).solve(terms, limit, self._identified(text))
        return Solved(text, "query", tuple(commits), tuple(files), omitted, *_extent(past))

    def _on_words(self, text: str, path: str, has_commits: bool) -> list[str]:
        """Return what is to be said where a text, which may be the path of a folder, was taken for words."""
        notes: list[str] = []
        if not path and PATH_ALONE.fullmatch(text):
            notes.append(no_such_file(text, has_words=has_commits))
        if self._named_code.needs_index(text, may_be_word=not has_commits):
            notes.append(Hint("The definitions of a project are known once it is indexed", "index"))
        return notes if has_commits else [*notes, *self._known.notes_on_nothing(path)]

    def _of_definition(self, found: NamedDefinitions, terms: list[Weighted], past: Past | None, limit: int) -> Solved:
        """Return what shaped a definition; without commits if words are meant, or if it is not committed yet.

        A word that is written as no name is meant as a word if more commits say it than shaped the definition.
        """
        first = found.definitions[0]
        n_saying = self._known.answers(past).count_saying(terms) if found.is_word and past is not None else 0
        is_said = n_saying > MOST_COMMITS
        shaped = self._lines.find(FileLines(first.path, first.start_line, first.end_line)) if not is_said else None
        if shaped is None or n_saying > len(shaped.hashes) > 0:
            place = f"{first.path}:{first.start_line}-{first.end_line}"
            words = f"{_word(first)} is also defined at {_place(first)}. For the commits that shaped it"
            note = Hint(words, "why", place=place)
            return Solved("", "symbol", (), (), 0, *_extent(past), (note,))
        if not shaped.hashes:
            notes = (f"{_word(first)} is defined at {_place(first)}.", *shaped.notes)
            return Solved("", "symbol", (), (), 0, *_extent(past), notes)
        notes = (*shaped.notes, *_on_choice(found))
        return self._shaping(past, "symbol", shaped._replace(notes=notes), limit)

    def _shaping(self, past: Past | None, subject: Subject, found: FoundLines, limit: int) -> Solved:
        """Return what shaped lines as an answer."""
        whole = self._known.describe(past, found.hashes, found.committed)
        return _of_commits(whole, subject, past, found.notes, limit, is_cut=found.is_cut)

    def _named(self, text: str, past: Past | None, limit: int) -> Solved | None:
        """Return the commits that a query names by a hash or a number; None if it names none."""
        repository, head = self._index.repository, self._known.head()
        if repository is None or not head or not self._index.settings.history:
            return None
        found = named_commits(repository.work_tree, head, text, MOST_COMMITS + 1, WHY_SECONDS)
        if not found.hashes and not found.is_cut:
            return None
        merge = found.hashes[0] if len(found.hashes) == 1 else ""
        merged = merged_by(repository.work_tree, merge, MOST_COMMITS, WHY_SECONDS) if merge else []
        hashes = [*found.hashes, *merged]
        has_more = len(hashes) > MOST_COMMITS
        notes = {
            on_limit("give this number" if len(found.hashes) > 1 else "it merged"): has_more,
            f"The merge {merge[:12]} changed no file itself; the other commits are those that it merged.": bool(merged),
            "The time was up before all commits were looked at.": found.is_cut,
            "This commit is not behind what is checked out.": found.is_aside,
        }
        whole = self._known.describe(past, hashes[:MOST_COMMITS])
        said = tuple(note for note, holds in notes.items() if holds)
        return _of_commits(whole, "query", past, said, limit, is_cut=has_more or found.is_cut)

    def _identified(self, text: str) -> list[str]:
        """Return the commits that the number in a subject identifies."""
        repository, head = self._index.repository, self._known.head()
        if repository is None:
            return []
        return numbered_commits(repository.work_tree, head, text, MOST_COMMITS, WHY_SECONDS)


def _extent(past: Past | None) -> tuple[int, int]:
    """Return how many commits are known, of how many."""
    return (past.extent.read, past.extent.listed) if past is not None else (0, 0)


def _place(hit: CodeHit) -> str:
    return f"{hit.path}:{hit.start_line}"


def _word(hit: CodeHit) -> str:
    return hit.name.rpartition(".")[2]


def _on_choice(found: NamedDefinitions) -> list[str]:
    """Return for which definition the commits are, and how to ask for what else may be meant."""
    first, *others = found.definitions
    word = _word(first)
    notes = [Hint(f"For the commits that say {word}", "history", query=f"about {word}")] if found.is_word else []
    if not others:
        return [*notes, f"These commits shaped {_place(first)}."]
    count = f"{len(others) + 1}{' or more' if found.is_cut else ''}"
    words = f"{count} definitions have this name; these commits shaped {_place(first)}. For another"
    return [*notes, Hint(words, "why", place=_place(others[0]))]


def _of_commits(
    whole: Sequence[PastCommit],
    subject: Subject,
    past: Past | None,
    notes: tuple[str, ...],
    limit: int,
    *,
    is_cut: bool,
) -> Solved:
    """Return commits with all of their files as an answer."""
    counts = Counter(file for commit in whole for file in commit.files)
    files = tuple(PastFile(file, count, 1.0) for file, count in counts.most_common(limit or None))
    shown = tuple(map(brief, whole[: limit or None]))
    return Solved("", subject, shown, files, len(whole) - len(shown), *_extent(past), notes, is_cut)
