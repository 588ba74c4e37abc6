"""Answers a long text: what is known of it before its words are looked for, and where the hits show what it reports."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cairn.answers import CodeHit
from cairn.embedding.static import StaticModel
from cairn.search.confidence import GUESSED, MEDIUM, confidence_word
from cairn.search.evidence import TextEvidence, gather
from cairn.search.exact import LineMatch
from cairn.search.file_finder import finder_of
from cairn.search.filters import Filtered
from cairn.search.library import Library
from cairn.search.mentions import read_mentions
from cairn.search.query import Query
from cairn.search.rank import Ranked
from cairn.search.referred import find_referred
from cairn.search.reported import (
    CHANGED_PART,
    RAISED_PART,
    ROUTED_PART,
    SURE_SHARE,
    Reported,
    find_reported,
    is_output,
    is_report,
    worth_of,
)
from cairn.search.role_words import asked_roles
from cairn.search.score import Floats
from cairn.search.work_item import HEAD_CHARS, TAIL_CHARS, WorkItem
from cairn.source.roles import Role

BODY_WEIGHT = 0.5  # of the body's vector beside that of the subject
NAMED_PART = "named in the text"
_FEW_WORDS = 60  # of a text that is about the one place that it names
_SHOWN_DIGITS = 9  # of a commit's hash
_ASIDE = Role.TEST | Role.EXAMPLE | Role.DOCS  # they tell or try what the code does, which is what is changed
_PLACES_BEHIND = 3


def vector_of_item(model: StaticModel, query: Query) -> Floats | None:
    """Return the unit vector of a text in parts: the subject's, and a share of the body's."""
    parts = (_unit(model.pool(query.subject)), BODY_WEIGHT * _unit(model.pool(query.body)))
    vector = _unit(sum(parts, np.zeros(model.dimensions, dtype=np.float32)))
    return vector if vector.any() else None


def _unit(vector: Floats) -> Floats:
    norm = float(np.linalg.norm(vector))
    unit: Floats = vector / np.float32(norm or 1.0)
    return unit


class LongText:
    """What a long text says of a project.

    Args:
        library: that of the project.
        query: that the text is.
        item: its parts.
        filters: what is in scope.
    """

    def __init__(self, library: Library, query: Query, item: WorkItem, filters: Filtered) -> None:
        self._library = library
        self._item = item
        self._filters = filters
        self._finder = finder_of(library.snapshot)
        self._reported = find_reported(library, item, query.wants, filters, self._finder)
        self._evidence = TextEvidence({}, {})
        self._commits: dict[int, str] = {}  # of files: one that changed it, to which the text refers

    @property
    def note(self) -> str:
        """What was not read, empty if all was."""
        if not self._item.is_cut:
            return ""
        return f"Only the first {HEAD_CHARS:,} and the last {TAIL_CHARS:,} characters of the text were read."

    @property
    def lines(self) -> list[LineMatch]:
        """The lines of the project that the text reports; of several in a file the first one is shown."""
        return [one.line for one in self._shown]

    @property
    def _shown(self) -> Sequence[Reported]:
        """What may be shown: the first line of each file, or any where only some kinds are wanted.

        Where it is made what a text says is surer than a frame of which only the function is known.
        """
        if self._filters.kinds:
            return self._reported
        first: dict[int, Reported] = {}
        for one in self._reported:
            shown = first.setdefault(one.line.file, one)
            if shown.frame and shown.share < SURE_SHARE <= one.share:
                first[one.line.file] = one
        return list(first.values())

    @property
    def files_at_lines(self) -> frozenset[int]:
        """The files of which an answer shows the lines that the text reports, and nothing else; see `arrange`."""
        is_shown = is_output(self._item) and not is_report(self._item) and not self._filters.kinds
        return frozenset(one.line.file for one in self._reported) if is_shown else frozenset()

    @property
    def _deepest(self) -> str:
        """The part that the deepest frame of the project is, empty if there is none."""
        return next((one.part for one in self._reported if one.frame), "")

    @property
    def _deepest_frame(self) -> str:
        """The part that the deepest frame is where patches are shown as well, empty if there is none."""
        return next((one.part for one in self._reported if one.frame and not one.label), "")

    @property
    def _meant_at(self) -> str:
        """The file that surely is meant, empty if that is unclear.

        It is that of the one place that a short text names, the route of a request, or the one that makes a printed
        message, if no frame says more.
        """
        first = self._reported[0] if self._reported else None
        if first is not None and first.label == ROUTED_PART and first.share >= SURE_SHARE:
            return self._library.snapshot.files.paths[first.line.file]
        if first is None or not (self._is_one_place(first) if first.frame else first.is_printed and first.is_sure):
            return ""
        return self._library.snapshot.files.paths[first.line.file]

    def _is_one_place(self, first: Reported) -> bool:
        """Tell whether a frame is the one place of a short text, such as a link, and not just the test of a trace."""
        is_test = int(self._library.snapshot.files.roles[first.line.file]) & int(Role.TEST)
        if (is_test and self._item.trace) or sum(one.frame > 0 for one in self._reported) > 1:
            return False
        return sum(len(part.split()) for part in (self._item.subject, self._item.prose, self._item.code)) <= _FEW_WORDS

    def _sureness(self, one: Reported) -> float:
        """Return how sure it is that a line is what the text is about.

        The trace in a report often only tells where something shows that went wrong elsewhere.
        """
        return min(one.share, GUESSED) if one.frame and one.is_printed and is_report(self._item) else one.share

    def gather(self, file_of_row: npt.NDArray[np.int64]) -> TextEvidence:
        """Return what the text says of the files; see `evidence.gather`."""
        snapshot, connection, past = self._library.snapshot, self._library.connection, self._library.past
        referred, self._commits = find_referred(snapshot, past, self._item)
        mentions, worth = read_mentions(self._item), {**worth_of(self._reported), "referred": referred}
        self._evidence = gather(snapshot, connection, mentions, self._finder, worth, file_of_row)
        return self._evidence

    def part_of(self, row: int, file: int) -> str:
        """Return which part of the text a row answers."""
        if self._evidence.names(row, file):
            return NAMED_PART
        return f"changed by {self._commits[file][:_SHOWN_DIGITS]}" if file in self._commits else ""

    def code_first(self, rows: Sequence[tuple[Ranked, float]]) -> list[tuple[Ranked, float]]:
        """Return ranked rows and how sure each is, in a report what only tells of code or tries it behind some code.

        It is no surer than what it stands behind. A test or a document stays where it is if the subject asks for such,
        if the text points to it, or reports a line of it.
        """
        roles = _ASIDE & ~asked_roles(self._item.subject)
        if not (is_report(self._item) and roles):
            return [*rows]
        is_aside = (self._library.snapshot.files.roles & int(roles)) > 0
        is_aside[[one.line.file for one in self._reported]] = False
        is_aside &= self._evidence.of_files["pointed"] == 0
        moves = [bool(is_aside[row.file]) for row, _ in rows]
        order = sorted(range(len(rows)), key=lambda place: place + moves[place] * (_PLACES_BEHIND + 0.5))
        ordered = list[tuple[Ranked, float]]()
        for place in order:
            row, chance = rows[place]
            least = ordered[-1][1] if ordered and moves[place] else 1.0
            ordered.append((row, min(chance, least)))
        return ordered

    def arrange(self, hits: Sequence[CodeHit], lines: Sequence[CodeHit]) -> list[CodeHit]:
        """Show the files in which the text reports a line at that line; these come first if it says nothing else.

        What a patch changes comes first in any text: it is about that, or that is what it proposes.
        A line that makes a message does so if no other hit is surer. So do, in any text, the one place that a short
        text names, and the line that surely makes a printed message, which is second where what else the text says
        leads somewhere.
        The deepest frame of the project is among the hits: before the last one, if it is not found otherwise.

        Args:
            hits: ranked.
            lines: the hits of `lines`.
        """
        shown: dict[str, CodeHit] = {}
        for line, one in zip(lines, self._shown, strict=True):
            if not self._filters.kinds or line.kind in self._filters.kinds:
                shown.setdefault(line.path, _sure(line, one.part, self._sureness(one)))
        if changed := {path: shown.pop(path) for path, one in [*shown.items()] if one.part == CHANGED_PART}:
            others = [hit for hit in hits if hit.path not in changed]
            frame = next((one for path, one in shown.items() if one.part == self._deepest_frame), None)
            return [*changed.values(), *_at_lines([frame, *others] if frame else others, shown)]
        leads = bool(hits) and hits[0].relevance >= MEDIUM and is_report(self._item)
        if is_output(self._item) and not (leads and self._deepest):
            frames = [one for one in shown.values() if one.part != RAISED_PART]
            made = [one for one in shown.values() if one.part == RAISED_PART]
            others = [*made, *(hit for hit in hits if hit.path not in shown)]
            return [*frames, *sorted(others, key=lambda hit: -hit.relevance)]  # little of a message says little
        path = self._meant_at
        if meant := shown.pop(path, None):
            others = _at_lines([hit for hit in hits if hit.path != path], shown)
            if meant.part != RAISED_PART or not others or hits[0].path == path or others[0].relevance < MEDIUM:
                return [meant, *others]
            first = others[0]
            return [first, _sure(meant, meant.part, min(meant.relevance, first.relevance)), *others[1:]]
        deepest = next((hit for hit in shown.values() if hit.part == self._deepest), None)
        if deepest is not None and len(hits) > 1 and all(hit.path != deepest.path for hit in hits):
            hits = [*hits[:-1], deepest._replace(relevance=hits[-1].relevance), hits[-1]]
        return _at_lines(hits, shown)


def _at_lines(hits: Sequence[CodeHit], lines: dict[str, CodeHit]) -> list[CodeHit]:
    """Return hits, those of a file in which the text reports a line at that line.

    That is no surer than the line of a frame, which may have moved.

    Args:
        hits: ranked.
        lines: by path.
    """
    arranged: dict[str, CodeHit] = {}  # by id: a line may be in what another hit shows
    for hit in hits:
        if (line_hit := lines.pop(hit.path, None)) is not None:
            most = 1.0 if line_hit.part == RAISED_PART else line_hit.relevance
            hit = _sure(line_hit, line_hit.part, min(hit.relevance, most))
        arranged.setdefault(hit.id, hit)
    return list(arranged.values())


def _sure(hit: CodeHit, part: str, chance: float) -> CodeHit:
    return hit._replace(part=part, relevance=round(chance, 3), confidence=confidence_word(chance))
