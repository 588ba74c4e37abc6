"""What does an outline in the place of a large file cost, how many files have a good one, and how long does it take?

    python bench/reads.py FOLDER               # of source trees, such as the cache of bench/retrieval.py
    python bench/reads.py FOLDER --most 20     # at most so many large files of each

Each large code file of each tree is read in full, as an agent would: with the time that an agent is given, once more,
and then in part. Nothing is written to the trees.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from cairn.hooks.adapter import Ability
from cairn.hooks.intercept import Interceptor
from cairn.hooks.reads import Reads, is_good
from cairn.hooks.report import Happening, Reply, ToolUse
from cairn.hooks_settings import HooksSettings
from cairn.memory.moments import Moment, ToolCall
from cairn.memory.served import ServedAnswers
from cairn.source.text import estimate_tokens
from cairn.source.walk import walk
from cairn.structure.locate import outline_of, read_source
from cairn.workspace import Workspace

_ABILITIES: tuple[Ability, ...] = ("context", "denial")
_SETTINGS = HooksSettings(reads="replace")


class Taken(NamedTuple):
    """How long an answer took: of the machine's time and of its processor's."""

    wall_ms: float
    cpu_ms: float


class Tally:
    """What was measured, over all trees."""

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()
        self.file_tokens = self.shown_tokens = 0
        self.times: dict[str, list[Taken]] = {"outline": [], "passes": [], "some lines": []}

    def report(self) -> None:
        """Print it."""
        n_files = self.outcomes.total()
        print(f"{n_files:,} large code files: " + ", ".join(f"{n:,} {what}" for what, n in self.outcomes.most_common()))
        share = self.shown_tokens / max(1, self.file_tokens)
        print(f"answers take {self.shown_tokens:,} tokens for {self.file_tokens:,}: {share:.3f}")
        for what, times in self.times.items():
            wall, cpu = _percentiles([took.wall_ms for took in times]), _percentiles([took.cpu_ms for took in times])
            print(f"{what:>10}  wall {wall}  CPU {cpu}")


def _percentiles(values: Sequence[float]) -> str:
    if len(values) < 2:
        return "-"
    cuts = statistics.quantiles(values, n=100)
    return f"p50 {cuts[49]:.1f} p95 {cuts[94]:.1f} ms"


class Reader:
    """An agent that reads the files of a tree."""

    def __init__(self, workspace: Workspace, tally: Tally) -> None:
        self._workspace, self._tally = workspace, tally
        self._interceptor = Interceptor(workspace, _SETTINGS)
        self._n_uses = 0
        workspace.memory.sessions.record(Moment("start", "session-start", "bench:s", "bench", time.time()))
        self._interceptor.hear(Happening("prompt", "bench:s", "", ()))

    def read(self, path: str, kind: str, limit: int = 0) -> Reply:
        """Read a file, and note how long the answer took."""
        self._n_uses += 1
        use = ToolUse("read", "Read", path, limit=limit, id=str(self._n_uses))
        moment = Moment(use.id, "before-tool", "bench:s", "bench", time.time(), call=ToolCall("read", "Read", path))
        happening = Happening("before-tool", "bench:s", str(self._workspace.root), (moment,), use)
        wall, cpu = time.perf_counter(), time.process_time()
        reply = self._interceptor.before(happening, _ABILITIES)
        took = Taken(1000 * (time.perf_counter() - wall), 1000 * (time.process_time() - cpu))
        self._tally.times[kind].append(took)
        return reply

    def close(self) -> None:
        """End it, and count the tokens of what it was shown."""
        self._interceptor.close()
        served = ServedAnswers(self._workspace.memory.store, self._workspace.memory.sessions)
        for row in served.known("bench:s", "bench:s").answers:
            self._tally.shown_tokens += row.tokens
            self._tally.file_tokens += row.replaced_tokens


def large_files(workspace: Workspace, most: int) -> Iterator[str]:
    """Yield the large code files of a tree, as the rules for reads see them."""
    reads = Reads(workspace, _SETTINGS)
    n_files = 0
    for file in walk(workspace.root, repository=None).files:
        if estimate_tokens(file.size) >= _SETTINGS.read_tokens and reads.is_large_code(file.path):
            n_files += 1
            if n_files > most:
                return
            yield file.path


def _outcome(workspace: Workspace, path: str) -> str:
    """Return why a file was not answered."""
    outline = outline_of(read_source(workspace.root, path))
    if outline.notes:
        return "with a syntax that is not understood"
    return "whose outline is too long or late" if is_good(outline) else "whose outline says little"


def measure(root: Path, most: int, tally: Tally) -> None:
    """Read the files of a tree."""
    with tempfile.TemporaryDirectory() as state, Workspace.open(root, state_dir=state) as workspace:
        reader = Reader(workspace, tally)
        for path in large_files(workspace, most):
            is_answered = bool(reader.read(path, "outline").denial)
            tally.outcomes["answered" if is_answered else _outcome(workspace, path)] += 1
            reader.read(path, "passes")
            reader.read(path, "some lines", limit=40)
        reader.close()


def main() -> None:
    """Measure all trees."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--most", type=int, default=60, help="large files of each tree")
    options = parser.parse_args()
    tally = Tally()
    for root in sorted(path for path in options.folder.iterdir() if path.is_dir()):
        measure(root.resolve(), options.most, tally)
    tally.report()


if __name__ == "__main__":
    main()
