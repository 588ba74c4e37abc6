"""Finds memories by what they say: words and meaning together, weighed by how much each is worth now."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cairn.embedding.fingerprint import bundled_fingerprint
from cairn.memory import derived
from cairn.memory.corpus import Corpus, cosines, load_corpus
from cairn.memory.links import LinkStates, Staleness, name_of
from cairn.memory.models import MemoryModels
from cairn.memory.moves import Moves, places_before
from cairn.memory.pertinence import LEAST_CHANCE, PromptMatches, chances, shared_words
from cairn.memory.ranking import (
    FAINT,
    HOPELESS,
    RecallWeights,
    Scored,
    bundled_cosines,
    parse_question,
    reasons,
    relevance,
    score,
    worth,
)
from cairn.memory.store import MemoryStore
from cairn.memory.visibility import Birthplace, Visibility
from cairn.model_settings import ModelSettings
from cairn.search.confidence import confidence_word
from cairn.search.query import Query
from cairn.source.git import Repository
from cairn.storage.connection import reading
from cairn.storage.memory import observation_db, vector_db
from cairn.storage.memory.observation_db import Conditions
from cairn.storage.memory.rows import CodeLink, Observation
from cairn.types import Confidence

ACTIVE = Conditions(statuses=("active",))
_MAX_KEPT = 50  # answers to which memories meet some conditions
_MORE = 10  # memories beyond the limit whose code is looked at
_MOST_DIGESTS = 50  # memories beyond these that are looked at for digests that say the same
_REPEATED_CHARS = 100  # of what was learned, by which it is known in a digest
_DIGEST = "session_summary"


class Recollection(NamedTuple):
    """A memory that was found.

    Attributes:
        observation: the memory.
        relevance: the chance, 0 to 1, that it answers the query.
        confidence: the same as a word.
        why: what led to it, such as `says "timeout", "pool"; about src/db.py`.
        staleness: what became of the code that it speaks of.
    """

    observation: Observation
    relevance: float
    confidence: Confidence
    why: str
    staleness: Staleness


class Recall:
    """Searches the memories of a project. Threads may share it.

    Attributes:
        models: other embedding models.

    Args:
        store: that holds them; it must `derive` what is searched.
        root: the project's folder.
        repository: the checkout it belongs to, None outside git.
        chain: the configured embedding model and its fallbacks.
        weights: of the ranking.
        now: the machine's clock, in seconds since the epoch.
    """

    def __init__(
        self,
        store: MemoryStore,
        root: Path,
        repository: Repository | None,
        chain: Sequence[ModelSettings] = (),
        weights: RecallWeights | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._store, self._weights, self._now = store, weights or RecallWeights(), now
        self.models = MemoryModels(store, chain)
        self._visibility = Visibility(root, repository)
        self._link_states = LinkStates(root)
        self._moves = Moves(root, repository, self._link_states)
        self._corpus: Corpus | None = None
        self._corpus_from = 0
        self._lock = Lock()
        self._newest: tuple[tuple[object, ...], dict[str, tuple[tuple[CodeLink, ...], str]]] = (
            (),
            {},
        )  # until any changes

    def search(
        self, query: str, limit: int = 10, wanted: Conditions = ACTIVE, *, all_branches: bool = False, at_least: int = 0
    ) -> list[Recollection]:
        """Return the memories that a query is about, the best first; none if nothing has to do with it.

        Args:
            query: prose, such as a prompt; of a long one the beginning counts.
            limit: how many at most.
            wanted: only these.
            all_branches: those, too, that were made on branches that are not merged here.
            at_least: so many are shown where they are only faintly like it.
        """
        parsed = parse_question(query)
        if parsed is None or not self._store.exists:
            return []
        corpus = self._current()
        scope = self._scope(corpus, wanted, all_branches)
        if not scope.any():
            return []
        cosines = self.models.sharpen(corpus, query, bundled_cosines(corpus, parsed))
        scored = score(corpus, parsed, cosines, scope, self._now(), self._weights)
        return self._choose(corpus, parsed, scored, limit, at_least)

    def _choose(self, corpus: Corpus, query: Query, scored: Scored, limit: int, at_least: int) -> list[Recollection]:
        """Return the best rows, once it is known what became of the code that they speak of."""
        best = np.argsort(-scored.total, kind="stable")[: limit + _MORE + _MOST_DIGESTS].tolist()
        candidates = [row for row in best if np.isfinite(scored.total[row])]
        found = self._load(corpus, candidates[: limit + _MORE])
        if len(_without_echoes(found)) < len(found):
            found = dict(list(_without_echoes(self._load(corpus, candidates)).items())[: limit + _MORE])
        states = {row: self._link_states.staleness(observation) for row, observation in found.items()}
        totals = {row: float(scored.total[row]) + worth(states[row], self._weights) for row in found}
        order = sorted(found, key=lambda row: (-totals[row], row))
        recollections: list[Recollection] = []
        for place, row in enumerate(order):
            chance = relevance(scored, row)
            why = reasons(found[row], query, scored, row)
            recollection = Recollection(found[row], chance, _word_for(chance, states[row]), why, states[row])
            least = FAINT if len(recollections) < at_least else HOPELESS
            if chance >= least and (place < limit or not _is_mere_digest(recollection)):
                recollections.append(recollection)
        return _behind_what_they_repeat(sorted(recollections, key=_is_mere_digest))[:limit]

    def for_prompt(
        self, prompt: str, wanted: Conditions = ACTIVE, least_chance: float = LEAST_CHANCE
    ) -> list[Recollection]:
        """Return the memories that a prompt calls for, the one that most probably is first; mostly none.

        Args:
            prompt: of a long one the beginning counts.
            wanted: only these.
            least_chance: 0 to 1; what is less probable is left out.
        """
        parsed = parse_question(prompt)
        if parsed is None or not self._store.exists:
            return []
        corpus = self._current()
        scope = self._scope(corpus, wanted, all_branches=False)
        if not scope.any():
            return []
        cosines = bundled_cosines(corpus, parsed)  # no agent waits for another model
        scored = score(corpus, parsed, cosines, scope, self._now(), self._weights)
        matches = PromptMatches(cosines, scored.holds > 0, scope)
        found = chances(parsed, matches)
        rows = [row for row in np.argsort(-found, kind="stable").tolist() if found[row] >= least_chance]
        recollections: list[Recollection] = []
        for row, observation in self._load(corpus, rows[:_MORE]).items():
            chance, why = float(found[row]), shared_words(prompt, parsed, matches.holds[row])
            staleness = self._link_states.staleness(observation)
            recollections.append(Recollection(observation, chance, confidence_word(chance), why, staleness))
        return recollections

    def nearest(self, observation: Observation, k: int, wanted: Conditions = ACTIVE) -> list[tuple[Observation, float]]:
        """Return the memories that mean most nearly the same as one, and their similarities: cosines.

        Args:
            observation: it is not among them.
            k: how many at most.
            wanted: only these.
        """
        with self._current_connection() as connection, reading(connection):
            number = observation_db.numbers(connection, [observation.id]).get(observation.id, -1)
            own = vector_db.read_some(connection, bundled_fingerprint(), [number])
            if not own:
                return []
            # Words and dates are not needed; reading these alone takes a fifth of the time, right after a change.
            others = vector_db.read_matching(connection, bundled_fingerprint(), wanted)
            others.pop(number, None)
            numbers, similarities = list(others), cosines(own[number], others.values())
            best = np.argsort(-similarities, kind="stable")[:k].tolist()
            found = observation_db.load_numbers(connection, [numbers[place] for place in best])
        return [(found[numbers[place]], float(similarities[place])) for place in best]

    def for_files(self, paths: Collection[str], wanted: Conditions = ACTIVE) -> list[Recollection]:
        """Return the memories that speak of some files and whose code is still there, the most important first.

        Args:
            paths: relative to the root, with slashes.
            wanted: only these.
        """
        if not self._store.exists:
            return []
        corpus = self._current()
        with self._store.reading() as connection:
            numbers = self._moves.find_linked(connection, paths)
        scope = self._scope(corpus, wanted, all_branches=False) & np.isin(corpus.numbers, list(numbers))
        recollections: list[Recollection] = []
        for observation in self._load(corpus, np.flatnonzero(scope).tolist()).values():
            staleness = self._link_states.staleness(observation)
            about = [name_of(link) for link in observation.links if link.path in paths]
            if about and staleness.state != "gone":  # what was moved elsewhere is no longer of these files
                recollections.append(Recollection(observation, 1.0, "high", f"about {', '.join(about)}", staleness))
        return sorted(recollections, key=lambda found: (-found.observation.importance, found.observation.id))

    def newest(self, wanted: Conditions = ACTIVE, limit: int = 10) -> list[Recollection]:
        """Return the newest memories that count where the checkout stands and whose code is still there."""
        observations = self.followed(self._store.select(wanted, limit + _MORE))
        visible = self._visibility.visible({Birthplace(row.branch, row.revision) for row in observations})
        recollections: list[Recollection] = []
        for observation in observations:
            staleness = self._link_states.staleness(observation)
            if visible[Birthplace(observation.branch, observation.revision)] and staleness.state != "gone":
                recollections.append(Recollection(observation, 1.0, "high", "new", staleness))
        return recollections[:limit]

    def staleness(self, observation: Observation) -> Staleness:
        """Return what became of the code that a memory speaks of."""
        return self._link_states.staleness(*self.followed([observation]))

    def find_stale(self, wanted: Conditions, limit: int) -> tuple[dict[str, Staleness], list[str]]:
        """Look at the newest memories that meet some conditions.

        Returns:
            what became of the code of those whose code is not as it was, by their ids, and the ids of all that were
            looked at, both the newest first.
        """
        if not self._store.exists:
            return {}, []
        with self._store.reading() as connection:
            key = derived.state_of(connection), self._store.n_replaced, wanted, limit
            if self._newest[0] != key:
                self._newest = key, observation_db.select_links(connection, wanted, limit)
            links = self._newest[1]
            tied = {id: own for id, own in links.items() if own[0]}
            now = self._moves.follow(connection, tied) if tied else {}
        return self._link_states.find_stale(now), list(links)

    def linked_paths(self) -> list[str]:
        """Return the files that active memories speak of, where they are now, sorted."""
        with self._store.reading() as connection:
            moves = self._moves.files(connection)
            return sorted({moves.get(path, path) for path in observation_db.linked_paths(connection)})

    def places_of(self, path: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """Return what memories call a file or folder, and the row numbers of those whose code was moved there.

        Args:
            path: relative to the root; a folder ends in a slash.
        """
        if not self._store.exists:
            return (path,), ()
        with self._store.reading() as connection:
            places = places_before([path], self._moves.files(connection))
            return tuple(sorted(places)), tuple(sorted(self._moves.find_moved(connection, [path])))

    def followed(self, observations: Sequence[Observation]) -> list[Observation]:
        """Return memories with their links leading to where their code is now."""
        if not self._store.exists or not any(observation.links for observation in observations):
            return list(observations)
        with self._store.reading() as connection:
            return self._moves.follow_all(connection, observations)

    def rebuild(self) -> int:
        """Rebuild what is searched from the memories, and return from how many; 0 where nothing was remembered."""
        if not self._store.exists:
            return 0
        with self._store.writing() as connection:
            return derived.rebuild(connection)

    # -- what is searched ---------------------------------------------------------------------------------------------

    def _current(self) -> Corpus:
        with self._current_connection() as connection, self._lock, reading(connection):
            state = derived.state_of(connection)
            n_replaced = self._store.n_replaced
            if self._corpus is None or (self._corpus.state, self._corpus_from) != (state, n_replaced):
                self._corpus = load_corpus(connection, state, bundled_fingerprint(), self.models.fingerprints)
                self._corpus_from = n_replaced
            return self._corpus

    @contextmanager
    def _current_connection(self) -> Iterator[sqlite3.Connection]:
        """Hand out the store's connection, once what is searched was derived by this version."""
        with self._store.reading() as connection:
            if not derived.is_current(connection):
                with self._store.writing() as writable:
                    derived.rebuild(writable)
            yield connection

    def _scope(self, corpus: Corpus, wanted: Conditions, all_branches: bool) -> npt.NDArray[np.bool_]:
        scope = self._matching(corpus, wanted).copy()
        if not all_branches:
            places = [Birthplace(*place) for place in corpus.places]
            visible = self._visibility.visible(places)
            scope &= np.array([visible[place] for place in places], dtype=bool)[corpus.place_of]
        return scope

    def _matching(self, corpus: Corpus, wanted: Conditions) -> npt.NDArray[np.bool_]:
        """Return which rows meet some conditions; remembered until something changes."""
        key = repr(wanted)
        if (known := corpus.matching.get(key)) is not None:
            return known
        with self._store.reading() as connection, reading(connection):
            found: npt.NDArray[np.bool_] = np.isin(corpus.numbers, observation_db.matching(connection, wanted))
            if derived.state_of(connection) == corpus.state and len(corpus.matching) < _MAX_KEPT:
                corpus.matching[key] = found
        return found

    def _load(self, corpus: Corpus, rows: Sequence[int]) -> dict[int, Observation]:
        with self._store.reading() as connection:
            numbers = {row: int(corpus.numbers[row]) for row in rows}
            found = observation_db.load_numbers(connection, list(numbers.values()))
            rows_found = [row for row, number in numbers.items() if number in found]
            followed = self._moves.follow_all(connection, [found[numbers[row]] for row in rows_found])
        return dict(zip(rows_found, followed, strict=True))


def _without_echoes(found: Mapping[int, Observation]) -> dict[int, Observation]:
    """Return memories by their rows; of digests of sessions that were asked the same, only the newest.

    Who asks again what was asked before would else find the question, as often as it was asked.
    """
    newest: dict[str, str] = {}
    for memory in found.values():
        if memory.type == _DIGEST:
            newest[_asked(memory)] = max(newest.get(_asked(memory), ""), memory.id)
    return {
        row: memory for row, memory in found.items() if memory.type != _DIGEST or memory.id == newest[_asked(memory)]
    }


def _word_for(chance: float, staleness: Staleness) -> Confidence:
    """Return how sure it is that a memory answers a question; of code that is gone, nothing is sure."""
    word = confidence_word(chance)
    return "medium" if word == "high" and staleness.state == "gone" else word


def _behind_what_they_repeat(found: Sequence[Recollection]) -> list[Recollection]:
    """Return memories with digests behind those of their session whose words they repeat."""
    ordered: list[Recollection] = []
    for one in found:
        memory = one.observation
        begin = " ".join(memory.text.split())[:_REPEATED_CHARS]
        repeating = (
            place
            for place, other in enumerate(ordered)
            if memory.type != _DIGEST
            and other.observation.type == _DIGEST
            and other.observation.session == memory.session
            and begin in other.observation.text
        )
        ordered.insert(next(repeating, len(ordered)), one)
    return ordered


def _asked(digest: Observation) -> str:
    """Return the first prompt of a session, as the title of its digest has it, or a title that a chat model gave it."""
    title = digest.text.partition("\n")[0]
    return title.rpartition(" (")[0] or title


def _is_mere_digest(found: Recollection) -> bool:
    """Tell whether a memory says what was asked and done, or hardly fits; what was learned and may fit comes first."""
    return found.observation.type == _DIGEST or found.confidence == "low"
