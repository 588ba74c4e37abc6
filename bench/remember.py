"""What does one more memory cost, as memories of its type grow in number?

    python bench/remember.py [--sizes 100 1000 3000 10000]

Memories of random words are kept in a new project until there are so many; then 21 more are kept one by one, as `cairn
remember` does: compared with those that are there, and looked up among them word for word. Prints processor time.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import sys
import tempfile
import time
from pathlib import Path

from cairn import Workspace
from cairn.facets.memory import by_whom
from cairn.memory.ids import new_id
from cairn.memory.store import MemoryChange

_N_WORDS = 25
_SAMPLE = 21
_ADA = by_whom("person:ada")
_FIELDS = {
    "type": "gotcha", "importance": 5, "tags": [], "origin": "person", "session": "", "branch": "", "revision": "",
    "is_shared": False,
}  # fmt: skip


class Words:
    """Makes texts of random words of this page's neighbour, the README."""

    def __init__(self, seed: int) -> None:
        text = (Path(__file__).parent / "README.md").read_text(encoding="utf-8")
        self._words = sorted(set(re.findall(r"[a-z]{4,}", text)))
        self._randomly = random.Random(seed)

    def text(self) -> str:
        """Return another text."""
        return " ".join(self._randomly.choices(self._words, k=_N_WORDS))


def fill(workspace: Workspace, number: int, words: Words) -> None:
    """Keep so many memories without comparing them."""
    changes = [MemoryChange(new_id(time.time()), "created", _FIELDS | {"text": words.text()}) for _ in range(number)]
    workspace.memory.store.record(changes, _ADA)


def remember(workspace: Workspace, words: Words) -> float:
    """Keep one memory, and return the processor time in milliseconds."""
    begun = time.process_time()
    workspace.memory.remember(words.text(), type="gotcha", actor=_ADA.actor)
    return 1000 * (time.process_time() - begun)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1000, 3000, 10000])
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    words = Words(arguments.seed)
    with tempfile.TemporaryDirectory() as folder, Workspace.open(folder) as workspace:
        number = 0
        for size in sorted(arguments.sizes):
            fill(workspace, size - number, words)
            spent = [remember(workspace, words) for _ in range(_SAMPLE)]
            number = size + _SAMPLE
            print(
                f"{size:>7,} memories of the type  median {statistics.median(spent):5.1f} ms  least {min(spent):5.1f}"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
