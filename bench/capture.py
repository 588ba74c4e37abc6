"""Measures what `cairn.memory.capture` learns from logs of what agents sent to hooks, with what a person expects.

    python bench/capture.py            precision and recall of both halves
    python bench/capture.py --errors   what was missed or too much in the half that rules are developed on
    python bench/capture.py --all      the same for both halves
    python bench/capture.py --texts    all memories that are made

Each line of `data/capture/AGENT.jsonl` is a session: the payloads in the documented format of the agent, the half it
belongs to, and the memories that are expected of it: their type, what they must say, and files they must be tied to.
Outputs of commands are written after those of the real programs; the sessions are made up.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cairn.index.state_dir import StateDir
from cairn.memory.capture import Capture
from cairn.memory.lifecycle import Lifecycle
from cairn.memory.sessions import Sessions
from cairn.memory.store import MemoryStore
from cairn.storage.memory.observation_db import Conditions
from cairn.storage.memory.rows import Observation
from payloads import moments_of

DATA = Path(__file__).parent / "data" / "capture"
AGENTS = ("claude-code", "codex", "cursor", "gemini-cli")
START = 1_760_000_000.0
HALVES = {"develop": "developed on", "report": "held out"}


class Expected(NamedTuple):
    """A memory that a session should leave."""

    type: str
    says: list[str]
    paths: list[str]

    def is_met_by(self, observation: Observation) -> bool:
        """Tell whether a memory says that, and is tied to these files."""
        tied = {link.path for link in observation.links}
        text = observation.text.lower()
        return (
            observation.type == self.type
            and all(words.lower() in text for words in self.says)
            and tied >= set(self.paths)
        )


class Replay(NamedTuple):
    """A session, and what became of it."""

    name: str
    agent: str
    half: str
    right: list[Observation]
    extra: list[Observation]
    missed: list[Expected]


def replay_all(folder: Path, only: int = 1) -> Iterator[Replay]:
    """Replay the sessions, each in a project and a memory of its own.

    Args:
        folder: an empty one for them.
        only: replay one pair of sessions out of so many; most pairs are one of each half.
    """
    for agent in AGENTS:
        lines = (DATA / f"{agent}.jsonl").read_text(encoding="utf-8").splitlines()
        for place, line in enumerate(lines):
            if place // 2 % only == 0:
                log = json.loads(line)
                yield _replay(folder / agent / log["session"], agent, log)


def _replay(folder: Path, agent: str, log: dict[str, Any]) -> Replay:
    root = folder / "repo"
    root.mkdir(parents=True)
    payloads = json.loads(json.dumps(log["payloads"]).replace("/repo", str(root)))
    expected = [Expected(**entry) for entry in log["expected"]]
    store = MemoryStore(StateDir(folder / "state"), now=lambda: START + 1_000)
    capture = Capture(store, Lifecycle(store), root)
    sessions = Sessions(store, root, [capture.hear], now=lambda: START + 1_000)
    for path in (path for entry in expected for path in entry.paths):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("content\n")
    for moment in moments_of(agent, payloads, START):
        sessions.record(moment)
    observations = store.select(Conditions())
    store.close()
    right, extra, missed = [], list(observations), []
    for entry in expected:
        met = next((observation for observation in extra if entry.is_met_by(observation)), None)
        if met is None:
            missed.append(entry)
        else:
            extra.remove(met)
            right.append(met)
    return Replay(log["session"], agent, log["half"], right, extra, missed)


def precision(replays: Sequence[Replay]) -> float:
    """Return the share of the memories made that are expected."""
    right = sum(len(replay.right) for replay in replays)
    return right / max(1, right + sum(len(replay.extra) for replay in replays))


def recall(replays: Sequence[Replay]) -> float:
    """Return the share of the expected memories that are made."""
    right = sum(len(replay.right) for replay in replays)
    return right / max(1, right + sum(len(replay.missed) for replay in replays))


def main(arguments: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        replays = list(replay_all(Path(folder)))
    for half, name in HALVES.items():
        own = [replay for replay in replays if replay.half == half]
        counts = f"{sum(len(replay.right) for replay in own)} right, {sum(len(replay.extra) for replay in own)} extra"
        missed = sum(len(replay.missed) for replay in own)
        print(f"{name:13} {len(own)} sessions  precision {precision(own):.3f}  recall {recall(own):.3f}  "
              f"({counts}, {missed} missed)")  # fmt: skip
    for replay in replays:
        if "--all" in arguments or ("--errors" in arguments and replay.half == "develop"):
            for entry in replay.missed:
                print(f"{replay.agent} {replay.name} MISSED {entry.type} {entry.says} {entry.paths}")
            for observation in replay.extra:
                print(f"{replay.agent} {replay.name} EXTRA {observation.type}: {observation.text}")
        if "--texts" in arguments:
            for observation in replay.right:
                print(f"{replay.name} {observation.type}: {observation.text}")


if __name__ == "__main__":
    main(sys.argv[1:])
