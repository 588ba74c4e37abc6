"""Answers with memories: alone, beside code, about files, and whole by their ids."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cairn.answers import MEMORIES_BESIDE, Answer, Coverage, Fetched, MemoryHit
from cairn.budget import fit_answer
from cairn.errors import NotFoundError, QueryError, StoreError
from cairn.hints import Hint
from cairn.memory.handles import handle_of
from cairn.memory.recall import Recall
from cairn.memory.shown import memory_hits, tokens_of
from cairn.memory.store import MemoryStore
from cairn.storage.memory.observation_db import Conditions
from cairn.types import MemoryType

if TYPE_CHECKING:
    from cairn.protocol.requests import SearchRequest

_MOST_MEMORIES = 100
_EXACT_MODES = ("literal", "regex", "structural")
MEMORY_KIND = "memory"  # of a text that is not code


class MemoryAnswers:
    """Answers questions with the memories of a project; get it as `ws.memory.answers`."""

    def __init__(self, store: MemoryStore, recall: Recall) -> None:
        self._store, self._recall = store, recall

    def find(
        self,
        query: str,
        limit: int = 5,
        *,
        types: Sequence[MemoryType] = (),
        include_resolved: bool = False,
        all_branches: bool = False,
        at_least: int = 0,
    ) -> tuple[MemoryHit, ...]:
        """Return the memories that a query is about, best first; none if nothing has to do with it.

        Args:
            query: prose.
            limit: how many at most.
            types: only of these.
            include_resolved: also what is resolved or superseded; what was archived is never found.
            all_branches: also what was learned on branches that are not merged here.
            at_least: so many are shown where they are only faintly like it.

        Raises:
            StoreError: if the memory cannot be read.
        """
        statuses = ("active", "resolved", "superseded") if include_resolved else ("active",)
        wanted = Conditions(statuses=statuses, types=types)
        found = self._recall.search(query, limit, wanted, all_branches=all_branches, at_least=at_least)
        return memory_hits(self._store, found)

    def answer(self, request: SearchRequest, branch: str) -> Answer:
        """Return the memories that a query is about, as the answer to a search.

        Args:
            request: asks for memories alone.
            branch: what is checked out.

        Raises:
            QueryError: if the query is empty.
            StoreError: as `find`.
        """
        if not request.query.strip():
            raise QueryError("the query is empty", Hint.of("recall", query=None))
        started = time.perf_counter()
        hits = self.find(request.query, request.limit or _MOST_MEMORIES)
        answer = Answer(
            query=request.query,
            mode="memory",
            branch=branch,
            generation=0,
            code=(),
            coverage=Coverage(0, 0, 0),
            took_ms=round(1000 * (time.perf_counter() - started), 2),
            total_tokens_available=sum(hit.tokens for hit in hits),
            memory=hits,
        )
        return fit_answer(answer, request.max_tokens)

    def complete(self, answer: Answer, request: SearchRequest) -> Answer:
        """Return the answer to a search of code with the few memories that are likely to matter, within its budget.

        A search for exact text, with filters or of another branch is about code alone.
        """
        is_of_code = request.branch is not None or request.kinds or request.languages or request.globs
        if is_of_code or answer.mode in _EXACT_MODES:
            return fit_answer(answer, request.max_tokens)
        try:
            likely = [hit for hit in self.find(request.query, MEMORIES_BESIDE) if hit.confidence != "low"]
        except StoreError as error:  # what is wrong with the memory keeps no code from its reader
            note = error.hint.after(f"memories are left out: {error}")
            return fit_answer(replace(answer, notes=(*answer.notes, note)), request.max_tokens)
        tokens = answer.total_tokens_available + sum(hit.tokens for hit in likely)
        answer = replace(answer, memory=tuple(likely), total_tokens_available=tokens)
        return fit_answer(answer, request.max_tokens)

    def about(self, paths: Collection[str]) -> tuple[MemoryHit, ...]:
        """Return the memories that speak of some files, the most important first.

        Raises:
            StoreError: as `find`.
        """
        return memory_hits(self._store, self._recall.for_files(paths))

    def fetch(self, id: str) -> Fetched:
        """Return the full text of a memory, by its id; `stale` says that the code it speaks of changed or is gone.

        Raises:
            NotFoundError: if there is none, or it was erased.
        """
        observation = self._store.observation(id)
        if observation.is_redacted:
            raise NotFoundError(f"the memory {handle_of(observation.id)} was erased", Hint("find them", "memories"))
        return Fetched(
            id=handle_of(observation.id),
            kind=MEMORY_KIND,
            name=observation.type,
            path="",
            start_line=1,
            end_line=observation.text.count("\n") + 1,
            language="",
            text=observation.text,
            tokens=tokens_of(observation.text),
            stale=self._recall.staleness(observation).state != "current",
        )
