"""Gathers what texts can be improved by: digests and prompts of sessions, and questions; and has that done."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cairn.memory.chat import ChatClient
from cairn.memory.digest import TYPE, compose
from cairn.memory.store import MemoryStore
from cairn.memory.summaries import MAX_CANDIDATES, SYSTEM, day_of, note_question, read_meter
from cairn.memory_settings import MemorySettings
from cairn.optimize.chatting import MeteredChat, TextBudget
from cairn.optimize.examples import Example, WantedFile
from cairn.optimize.text_kinds import TOOL, Rewrites, SummaryPrompt, ToolDescriptions
from cairn.optimize.text_run import TextProposal, TextWork, propose_texts, tools_of, why_not
from cairn.search.library import Library
from cairn.search.tuning import Tuning
from cairn.storage.memory import session_db
from cairn.storage.memory.observation_db import Conditions
from cairn.storage.memory.rows import Activity, Session
from cairn.storage.memory.session_db import SessionConditions

if TYPE_CHECKING:
    from cairn.optimize.text_kinds import Progress, Texts

_MOST_SESSIONS = 300  # the newest
_LEAST_PROMPT, _MOST_PROMPT = 12, 600  # characters
_MANY_SEARCHES = 3  # of an agent's own, after which `search` would have been of use
_SEARCH = "search"
_KEEP_EVERY = 10  # questions
_DAY_SHARE = 0.5  # of the tokens that are left of the day


def improve_texts(
    library: Library,
    tuning: Tuning,
    store: MemoryStore,
    settings: MemorySettings | None,
    *,
    examples: Sequence[Example],
    tools: Texts,
    calls: int,
    seed: int,
    replies: dict[str, str],
    keep: Callable[[], object],
    progress: Progress,
    now: Callable[[], float] = time.time,
) -> TextProposal:
    """Return a tuning with better texts as far as they pass, or a report of why nothing was tried.

    Args:
        library: of the project.
        tuning: what they are added to.
        store: the memory.
        settings: with a chat model, or not.
        examples: questions whose right files are known.
        tools: the descriptions of the tools, as agents read them.
        calls: how often the chat model may be asked.
        seed: of all that is drawn.
        replies: what it said in an interrupted run; what it says is added.
        keep: called now and then, to keep these.
        progress: see `propose_texts`.
        now: the machine's clock, in seconds since the epoch.
    """
    settings = settings or MemorySettings()
    if reason := "it was not asked for" if not calls else why_not(settings.chat_provider):
        return TextProposal(tuning, {"skipped": reason})
    today = read_meter(store, day_of(now()))
    left = settings.chat_daily_tokens - today.input_tokens - today.output_tokens
    client = ChatClient(settings)

    def note(input_tokens: int, output_tokens: int, failed: bool) -> None:
        note_question(store, settings, now(), input_tokens, output_tokens, failed=failed)
        if chat.calls % _KEEP_EVERY == 0:
            keep()

    chat = MeteredChat(client.ask, TextBudget(calls, max(0, int(_DAY_SHARE * left))), replies, note)
    asked = [example for example in examples if example.source != "history"]
    return propose_texts(
        library, tuning, _works(library, tuning, store, asked, tools), chat, seed=seed, progress=progress
    )


def _works(
    library: Library, tuning: Tuning, store: MemoryStore, asked: Sequence[Example], tools: Texts
) -> list[TextWork]:
    works = [TextWork(Rewrites(library, tuning), asked)]
    if store.exists:
        prompt = SummaryPrompt(tuning.texts.get("summary", SYSTEM))
        works.append(TextWork(prompt, digest_examples(store)))
    if store.exists and tools:
        shown = {name: tuning.texts.get(f"{TOOL}{name}", text) for name, text in tools.items()}
        calls = [example for example in call_examples(store) if example.wanted[0].path in tools]
        works.append(TextWork(ToolDescriptions(shown, tools_of(calls, tools)), calls))
    return works


def digest_examples(store: MemoryStore) -> list[Example]:
    """Return the digests of sessions that changed files, with what capture made of them, the oldest first.

    A memory that was archived since should not have been kept.
    """
    with store.reading() as connection:
        found = []
        for session in session_db.select(connection, SessionConditions(is_open=False), _MOST_SESSIONS):
            activities = session_db.activities(connection, session)
            changed = session_db.edited_in(connection, session)
            if changed:
                digest = compose(session, session_db.batches(connection, session), activities, [])
                found.append((session, digest, changed))
    return [_digest_example(store, *one) for one in reversed(found)]


def _digest_example(store: MemoryStore, session: Session, digest: str, changed: Sequence[str]) -> Example:
    memories = store.select(Conditions(session=session.id, origins=("captured",)), MAX_CANDIDATES)
    kept = [memory for memory in memories if memory.type != TYPE and memory.text]
    candidates = [{"id": id, "type": memory.type, "text": memory.text[:600]} for id, memory in enumerate(kept, 1)]
    unwanted = tuple(str(id) for id, memory in enumerate(kept, 1) if memory.status == "archived")
    text = json.dumps({"digest": digest, "candidates": candidates}, ensure_ascii=False)
    return Example(text, tuple(map(WantedFile, changed[:12])), unwanted, session.id, session.heard)


def call_examples(store: MemoryStore) -> list[Example]:
    """Return prompts with the tool of Cairn that was of use after them, the oldest first.

    That is the first one that was called and did not fail; `search` where an agent searched by itself again and again.
    """
    found = []
    with store.reading() as connection:
        for session in reversed(session_db.select(connection, SessionConditions(), _MOST_SESSIONS)):
            by_batch: dict[int, list[Activity]] = {}
            for activity in session_db.activities(connection, session):
                by_batch.setdefault(activity.batch, []).append(activity)
            for batch in session_db.batches(connection, session):
                tool = _tool_of_use(by_batch.get(batch.number, []))
                prompt = batch.prompt[:_MOST_PROMPT]
                if batch.kind == "prompt" and tool and len(prompt) >= _LEAST_PROMPT:
                    found.append(Example(prompt, (WantedFile(tool),), (), session.id, batch.started))
    return found


def _tool_of_use(activities: Sequence[Activity]) -> str:
    for activity in activities:
        if activity.tool == "mcp" and "cairn" in activity.name.lower() and not activity.is_failure:
            return activity.name.replace(":", "_").rpartition("__")[2] or ""
    own = sum(activity.tool == "search" for activity in activities)
    return _SEARCH if own >= _MANY_SEARCHES else ""
