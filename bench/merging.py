"""Does a memory that several machines share become the same on all, whatever they learn in which order?

    python bench/merging.py --histories 1000 --seed 1

Each history has four machines whose clocks are ten minutes apart. They create, edit, link, resolve, supersede and
redact at random, tell each other some of it in any order and some of it twice, and at the end all of it. Then all must
hold the same memories and events, a fold of everything must agree with the tables, no status that a person gave
may have been taken by less, and no word of what was redacted may be in any file. `TMPDIR=/dev/shm` spares the disk.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
import time
from pathlib import Path

from cairn.memory.events import AUTHORITIES, Event
from cairn.storage.memory.rows import Observation
from memory_histories import Replica, exchange_all, gossip

N_REPLICAS = 4
_SECRET = re.compile(rb"swordfish-[0-9]+!")
CLOCK_STEP_SECONDS = 600.0


def secret_of(number: int) -> str:
    """Return a text that can be found in files."""
    return f"the codeword is swordfish-{number}!"


def play(folder: Path, seed: int, n_changes: int) -> list[Replica]:
    """Return the machines of a history after all know all."""
    randomly = random.Random(seed)
    replicas = [Replica(folder / str(number), CLOCK_STEP_SECONDS * number) for number in range(N_REPLICAS)]
    for number in range(n_changes):
        randomly.choice(replicas).change(randomly, secret_of(number))
        if randomly.random() < 0.2:
            gossip(randomly, *randomly.sample(replicas, 2))
    exchange_all(replicas)
    return replicas


def faults_of(replicas: list[Replica]) -> list[str]:
    """Return what is wrong with machines that know the same."""
    faults: list[str] = []
    state, events = replicas[0].state(), replicas[0].events()
    for number, replica in enumerate(replicas):
        if replica.state() != state:
            faults.append(f"machine {number} holds other memories")
        if replica.events().keys() != events.keys():
            faults.append(f"machine {number} knows other events")
        if replica.store.refold():
            faults.append(f"the tables of machine {number} are not what its events say")
        faults += words_left(replica)
    faults += overruled(state, list(events.values()))
    return faults


def overruled(state: dict[str, Observation], events: list[Event]) -> list[str]:
    """Return where the status of a memory is not what its strongest authority said last."""
    faults: list[str] = []
    for id, observation in state.items():
        decisions = [event for event in events if event.observation == id and event.kind == "status"]
        strongest = max((AUTHORITIES.index(event.authority) for event in decisions), default=0)
        last = max(
            (event for event in decisions if event.rank == strongest),
            key=lambda event: (event.time, event.id),
            default=None,
        )
        if observation.is_redacted or last is None or last.value["status"] == observation.status:
            continue
        if last.value["status"] != "superseded":  # an edge of a circle may not count
            faults.append(f"{id} is {observation.status}, though {last.actor} said {last.value['status']}")
    return faults


def words_left(replica: Replica) -> list[str]:
    """Return the files in which a text is that was redacted on a machine, and nowhere is a memory."""
    kept = "\n".join(observation.text for observation in replica.state().values())
    kept += "\n".join(str(event.value.get("text")) for event in replica.events().values())
    faults: list[str] = []
    for file in replica.folder.rglob("*"):
        content = file.read_bytes() if file.is_file() else b""
        words = {word.decode() for word in _SECRET.findall(content)}
        faults.extend(f"{word} is still in {file.name}" for word in words if word not in kept)
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--histories", type=int, default=1000)
    parser.add_argument("--changes", type=int, default=60, help="of each history")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    begun, n_wrong, n_redacted, n_memories = time.monotonic(), 0, 0, 0
    for seed in range(arguments.seed, arguments.seed + arguments.histories):
        with tempfile.TemporaryDirectory() as folder:
            replicas = play(Path(folder), seed, arguments.changes)
            state = replicas[0].state()
            n_memories += len(state)
            n_redacted += sum(observation.is_redacted for observation in state.values())
            faults = faults_of(replicas)
            for replica in replicas:
                replica.store.close()
        n_wrong += bool(faults)
        for fault in faults:
            print(f"history {seed}: {fault}")
    seconds = time.monotonic() - begun
    counts = f"{arguments.histories} histories, {n_memories} memories, {n_redacted} redacted"
    print(f"{counts}: {n_wrong} wrong, {seconds:.0f} s")
    return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
