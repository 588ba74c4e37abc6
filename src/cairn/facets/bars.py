"""Gathers what says how sure Cairn must be to show something, and has the bars of a tuning tuned by it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from cairn.memory.choosing import ACTIVE_NOTES, is_slight
from cairn.memory.clock import seconds_of
from cairn.memory.pertinence import LEAST_CHANCE
from cairn.memory.recall import Recall, Recollection
from cairn.memory.store import MemoryStore
from cairn.optimize.bars import IN_VAIN, OF_USE, UNHELPFUL, BarCase, Showable, tune_answers, tune_memories
from cairn.optimize.examples import Example, WantedFile
from cairn.search.library import Library
from cairn.search.tuning import LEAST_BAR, Bars, Tuning
from cairn.source.text import estimate_tokens
from cairn.storage.memory import session_db, usage_db
from cairn.storage.memory.rows import InjectedMemory, PromptBatch
from cairn.storage.memory.session_db import SessionConditions

_MOST_SESSIONS = 300  # the newest
_LEAST_PROMPT = 12  # characters
_PROMPT = "prompt"


class BarsProposal(NamedTuple):
    """A tuning with other bars as far as they pass, the evidence, and whether any is new."""

    tuning: Tuning
    report: dict[str, Any]
    is_new: bool


def improve_bars(
    library: Library,
    tuning: Tuning,
    store: MemoryStore,
    recall: Recall,
    *,
    examples: Sequence[Example],
    seed: int,
    progress: Callable[[str, int, int], object],
) -> BarsProposal:
    """Return a tuning with better bars.

    Args:
        library: of the project.
        tuning: whose bars are compared with others.
        store: the memory.
        recall: that searches it.
        examples: questions whose right files are known.
        seed: of all that is drawn.
        progress: see `tune_answers`.
    """
    asked = [example for example in examples if example.source != "history"]
    answers = tune_answers(library, tuning, asked, seed, progress)
    memories = tune_memories(prompt_cases(store, recall), tuning.bars.memories, seed)
    report = {"answers": answers.report, "memories": memories.report}
    return BarsProposal(
        tuning._replace(bars=Bars(answers.bar, memories.bar)), report, answers.is_new or memories.is_new
    )


def prompt_cases(store: MemoryStore, recall: Recall) -> list[BarCase]:
    """Return the prompts of which it is known what memories they called for, the oldest first.

    That is known of a prompt that brought memories, and of one after which the agent used or asked for one. A memory
    that was neither shown nor used counts as shown in vain: nothing says that it would have helped.
    """
    if not store.exists:
        return []
    with store.reading() as connection:
        sessions = [
            _PastSession(
                session.id,
                session_db.batches(connection, session),
                usage_db.injections(connection, session.id),
                usage_db.recalled(connection, session.id),
            )
            for session in reversed(session_db.select(connection, SessionConditions(), _MOST_SESSIONS))
        ]
    return [case for session in sessions for case in _cases_of(recall, session)]


class _PastSession(NamedTuple):
    """A session, its prompts in their order, and the memories that it was shown unasked and that it asked for."""

    id: str
    batches: Sequence[PromptBatch]
    shown: Sequence[InjectedMemory]
    recalled: Sequence[tuple[float, str]]


def _cases_of(recall: Recall, session: _PastSession) -> Iterator[BarCase]:
    ends = [batch.started for batch in session.batches[1:]] + [float("inf")]
    for batch, end in zip(session.batches, ends, strict=False):
        shown = [row for row in session.shown if batch.started <= row.seconds < end]
        unasked = {row.observation for row in shown if (row.event, row.why) == (_PROMPT, _PROMPT)}
        worth = {id: OF_USE for seconds, id in session.recalled if batch.started <= seconds < end}
        worth |= {row.observation: UNHELPFUL if row.use == "unhelpful" else OF_USE for row in shown if row.use}
        if batch.kind != _PROMPT or len(batch.prompt) < _LEAST_PROMPT or not (unasked or worth):
            continue
        candidates = _candidates(recall, session, batch)
        wanted = tuple(WantedFile(id) for id, value in worth.items() if value > 0)
        example = Example(batch.prompt, wanted, (), session.id, batch.started, "feedback")
        if candidates:
            yield BarCase(example, tuple(_showable(found, worth) for found in candidates))


def _candidates(recall: Recall, session: _PastSession, batch: PromptBatch) -> list[Recollection]:
    """Return the memories that a prompt may have brought with any bar."""
    known = {row.observation for row in session.shown if row.seconds < batch.started}
    return [
        found
        for found in recall.for_prompt(batch.prompt, ACTIVE_NOTES, LEAST_BAR * LEAST_CHANCE)
        if not is_slight(found.observation)
        and found.observation.id not in known
        and found.observation.session != session.id
        and seconds_of(found.observation.created) <= batch.started
    ]


def _showable(found: Recollection, worth: Mapping[str, float]) -> Showable:
    tokens = estimate_tokens(len(found.observation.text.encode()))
    return Showable(found.relevance / LEAST_CHANCE, worth.get(found.observation.id, IN_VAIN), tokens)
