"""Fills a project with very many memories and events, in batches, through the functions that the stores themselves use.

Capture, which decides what becomes of each event, is left out: it takes most of the time, and pages do not need it.
"""

from __future__ import annotations

import random
import re
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from cairn.index.state_dir import StateDir
from cairn.memory.derived import derive
from cairn.memory.ids import new_id
from cairn.memory.links import link_to
from cairn.memory.store import By, MemoryChange, MemoryStore
from cairn.storage.memory import feedback_db, served_db, session_db, usage_db
from cairn.storage.memory.rows import (
    Activity,
    AskedQuestion,
    HitUse,
    InjectedMemory,
    PromptBatch,
    ServedAnswer,
    Session,
    ShownHit,
)
from cairn.workspace import Workspace

AGENTS = ("claude-code", "claude-code", "codex", "cursor")
DAYS = 30
PER_SESSION, PER_PROMPT = 200, 20  # events
_BATCH = 500
_N_FILES = 300
_TYPES = ("gotcha", "decision", "bug_fix", "discovery", "trade_off")
_MONEY = "def total(prices):\n    return sum(tax(p) for p in prices)\n\n\ndef tax(price):\n    return price * 1.2\n"
_WORDS = re.findall(
    r"\S+",
    "price tax cart order total round cent index store page query lock thread cache token sort merge parse split limit "
    "retry batch schema column release branch worker queue signal socket header cookie budget",
)


class _Clock:
    def __init__(self, seconds: float) -> None:
        self.seconds = seconds


def make_project(root: Path, n_memories: int, n_events: int, *, is_indexed: bool = True) -> None:
    """Make a project in whose memory is so much; the code of a fifth of the memories is changed or gone.

    Args:
        root: a folder that does not exist yet.
        n_memories, n_events: how many.
        is_indexed: whether to index its files, too.
    """
    dice = random.Random(1)
    (root / ".git").mkdir(parents=True)
    paths = [_write_module(root, number, dice) for number in range(_N_FILES)]
    if is_indexed:
        with Workspace.open(root) as workspace:
            workspace.index()
    begun = time.time() - DAYS * 86_400
    clock = _Clock(begun)
    store = MemoryStore(StateDir(root / ".cairn"), derive, now=lambda: clock.seconds)
    ids = list(_remember(store, clock, root, paths, n_memories, dice))
    for number in range(n_events // PER_SESSION):
        with store.writing() as connection:
            _keep_session(connection, number, begun + dice.random() * (DAYS * 86_400 - 3_600), paths, dice)
            _keep_uses(connection, number, begun + dice.random() * (DAYS * 86_400 - 3_600), paths, ids, dice)
    store.close()
    for path in paths[:45]:
        (root / path).write_text(f"{(root / path).read_text()}\n\ndef more():\n    return 1\n")
    for path in paths[45:60]:
        (root / path).unlink()


def _write_module(root: Path, number: int, dice: random.Random) -> str:
    if number == _N_FILES - 1:
        (root / "money.py").write_text(_MONEY)
        return "money.py"
    path = f"src/part_{number % 20:02}/module_{number:03}.py"
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    parts = [
        f"def {first}_{second}_{number}(items):\n    return sorted(items)[:{place}]\n"
        for place in range(6)
        for first, second in [dice.sample(_WORDS, 2)]
    ]
    (root / path).write_text("\n\n".join(parts))
    return path


def _remember(
    store: MemoryStore, clock: _Clock, root: Path, paths: Sequence[str], n_memories: int, dice: random.Random
) -> Iterator[str]:
    """Keep so many memories, and yield their ids."""
    links = {path: link_to(root, path) for path in paths}
    for first in range(0, n_memories, _BATCH):
        clock.seconds += DAYS * 86_400 * _BATCH / (n_memories + _BATCH)
        changes: list[MemoryChange] = []
        for number in range(first, min(first + _BATCH, n_memories)):
            id = new_id(clock.seconds)
            changes.append(MemoryChange(id, "created", _memory(number, dice)))
            tied = dict.fromkeys(dice.choices(list(links.values()), k=dice.choice((0, 1, 1, 2))))
            changes += [MemoryChange(id, "link", link._asdict()) for link in tied]
            if number % 7 == 0:
                changes.append(MemoryChange(id, "status", {"status": dice.choice(("archived", "resolved"))}))
            yield id
        store.record(changes, By("agent:claude-code", "agent"))


def _memory(number: int, dice: random.Random) -> dict[str, object]:
    words = " ".join(dice.choices(_WORDS, k=dice.randint(8, 40)))
    return {
        "text": f"Fact number {number}: {words}",
        "type": dice.choice(_TYPES),
        "importance": dice.randint(1, 10),
        "tags": [f"t{number % 50}"],
        "origin": "agent",
        "session": f"claude-code:s-{number % 500}",
        "branch": dice.choice(("main", "main", "next")),
        "revision": "",
        "is_shared": False,
    }


def _keep_session(
    connection: sqlite3.Connection, number: int, begun: float, paths: Sequence[str], dice: random.Random
) -> None:
    agent, n_failures = dice.choice(AGENTS), 0
    session = session_db.save(
        connection, Session(f"{agent}:s-{number}", agent, branch="main", started=begun, heard=begun + 3_000)
    )
    for place in range(1, PER_SESSION // PER_PROMPT + 1):
        at = begun + 300 * place
        prompt = f"look at {' '.join(dice.choices(_WORDS, k=8))}"
        batch = session_db.save_batch(connection, PromptBatch(session.number, place, "prompt", prompt, at, at + 200))
        for step in range(PER_PROMPT - 1):
            is_failure = dice.random() < 0.05
            n_failures += is_failure
            tool, name = dice.choice((("read", "Read"), ("edit", "Edit"), ("shell", "Bash")))
            target = "pytest -q" if tool == "shell" else dice.choice(paths)
            outcome = "failed" if is_failure else "ok"
            session_db.add_activity(
                connection,
                Activity(batch.number, at + step, tool, name, target, outcome, None, 40, 100, 900, is_failure),
            )
    n_prompts = PER_SESSION // PER_PROMPT
    session_db.save(
        connection,
        session._replace(
            origin="implementation",
            ended=begun + 3_000,
            n_prompts=n_prompts,
            n_activities=PER_SESSION - n_prompts,
            n_failures=n_failures,
        ),
    )


def _keep_uses(
    connection: sqlite3.Connection,
    number: int,
    begun: float,
    paths: Sequence[str],
    ids: Sequence[str],
    dice: random.Random,
) -> None:
    """Keep what a session was shown and asked, and what that took the place of."""
    session = f"claude-code:s-{number}"
    if ids:
        shown = [
            InjectedMemory(
                session, begun, "prompt", dice.choice(ids), "fits this prompt", 40, dice.choice(("", "cited"))
            )
            for _ in range(20)
        ]
        usage_db.add_injections(connection, shown)
    for step in range(10):
        text = " ".join(dice.choices(_WORDS, k=3))
        asked = AskedQuestion(session, begun + step, "code", text, dice.choice((0, 10, 10, 10)), 0.8, "mcp")
        hits = [
            ShownHit(0, rank, f"c_{dice.randrange(10**9)}", dice.choice(paths), 1, 20, "", 0.8) for rank in range(1, 11)
        ]
        question = usage_db.add_question(connection, asked)
        feedback_db.add_shown(connection, question, hits if asked.n_found else ())
        if step % 3 == 0:
            use = HitUse(question, hits[step // 3].path, "", dice.choice(("read", "edited")), begun + step)
            feedback_db.add_uses(connection, [use])
        served_db.add(
            connection,
            ServedAnswer(session, begun + step, "claude-code", "outline", True, dice.choice(paths), "h", 200, 2_000),
        )
