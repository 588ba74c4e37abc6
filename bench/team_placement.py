"""Simulates which node of a team opens which project when, and how long questions wait for that.

    python bench/team_placement.py [--repositories 1000 10000 100000] [--rate 20] [--nodes N] [SCENARIO...]

The model: projects differ in size (log-normal around 5,000 chunks) and in how often they are asked about (Zipf); a
consistent hash with bounded load places them on nodes; a node keeps those open that were asked about last, opens one at
a time and answers on two cores. What an open and an answer take comes from `bench/team.py` and `bench/team_load.py`.
Scenarios: `steady`; `loss` of a node half-way; `hot`, where half of all questions are about one monorepo; `outage`,
after which all nodes start with nothing.
"""

from __future__ import annotations

import argparse
import bisect
import hashlib
import heapq
import math
import random
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from metrics import percentile

OPEN_SECONDS, OPEN_SECONDS_PER_CHUNK = (
    0.011,
    7.5e-6,
)  # of a processor, to fetch from a folder and open; files are not written
ANSWER_SECONDS, ANSWER_SECONDS_PER_CHUNK = 0.004, 0.06e-6
MEMORY_MB, MEMORY_MB_PER_CHUNK = 4.0, 0.0009  # of an open project
_CORES = 2
_POINTS = 64  # of a node on the ring
_BALANCE = 1.5  # times the mean load, which no node may exceed
_MEDIAN_CHUNKS, _SPREAD, _MONOREPO_CHUNKS = 3_000, 1.0, 500_000


class Question(NamedTuple):
    """When it is asked, in seconds from the start, and about which project."""

    at: float
    project: int


class Told(NamedTuple):
    """What a simulation says.

    Attributes:
        seconds: that each question took.
        opened: how often each node opened a project.
        memory_mb: the most that open projects of one node took.
    """

    seconds: list[float]
    opened: Counter[str]
    memory_mb: float


class Ring:
    """Places projects on nodes, most of them on the same after one has come or gone."""

    def __init__(self, nodes: Sequence[str]) -> None:
        self.nodes = list(nodes)
        self._points = sorted((_hash(f"{node}/{point}"), node) for node in nodes for point in range(_POINTS))

    def preferred(self, project: int) -> Iterator[str]:
        """Yield the nodes for a project, the first choice first."""
        start = bisect.bisect(self._points, (_hash(str(project)), ""))
        seen: set[str] = set()
        for place in range(len(self._points)):
            node = self._points[(start + place) % len(self._points)][1]
            if node not in seen:
                seen.add(node)
                yield node


class SimulatedNode:
    """Opens and answers, each as soon as there is somebody to do it."""

    def __init__(self, max_open: int) -> None:
        self._max_open = max_open
        self._open: OrderedDict[int, float] = OrderedDict()  # and when each is ready
        self._opening = 0.0  # until when something is being opened
        self._cores = [0.0] * _CORES  # until when each is busy
        self._ends: list[float] = []
        self.memory_mb = 0.0
        self.n_opened = 0

    def load(self, now: float) -> int:
        """Return how many questions have no answer yet."""
        while self._ends and self._ends[0] <= now:
            heapq.heappop(self._ends)
        return len(self._ends)

    def answer(self, question: Question, chunks: int) -> float:
        """Return the seconds to an answer."""
        if question.project not in self._open:
            self.n_opened += 1
            begun = max(question.at, self._opening)
            self._opening = begun + OPEN_SECONDS + OPEN_SECONDS_PER_CHUNK * chunks
            self._open[question.project] = self._opening
            if len(self._open) > self._max_open:
                self._open.popitem(last=False)
        self._open.move_to_end(question.project)
        free = heapq.heappop(self._cores)
        begun = max(free, question.at, self._open[question.project])
        end = begun + ANSWER_SECONDS + ANSWER_SECONDS_PER_CHUNK * chunks
        heapq.heappush(self._cores, end)
        heapq.heappush(self._ends, end)
        return end - question.at

    def note_memory(self, sizes: Sequence[int]) -> None:
        """Note what the open projects take."""
        taken = sum(MEMORY_MB + MEMORY_MB_PER_CHUNK * sizes[project] for project in self._open)
        self.memory_mb = max(self.memory_mb, taken)


def simulate(
    questions: Sequence[Question],
    sizes: Sequence[int],
    nodes: Sequence[str],
    *,
    max_open: int = 64,
    lost: Mapping[str, float] | None = None,
    place: Callable[[int], str] | None = None,
) -> Told:
    """Return what becomes of some questions.

    Args:
        questions: by time.
        sizes: of the projects, in chunks.
        nodes: their names.
        max_open: projects at a node.
        lost: nodes that end, and when.
        place: returns the node of a project, instead of the ring; for a comparison with a real proxy.
    """
    ring = Ring(nodes)
    simulated = {node: SimulatedNode(max_open) for node in nodes}
    ends = lost or {}
    seconds = []
    for number, question in enumerate(questions):
        there = [node for node in nodes if question.at < ends.get(node, math.inf)]
        node = place(question.project) if place is not None else ""
        if node not in there:
            node = _choose(ring, question, {name: simulated[name].load(question.at) for name in there})
        seconds.append(simulated[node].answer(question, sizes[question.project]))
        if number % 1_000 == 0:
            simulated[node].note_memory(sizes)
    for one in simulated.values():
        one.note_memory(sizes)
    opened = Counter({name: one.n_opened for name, one in simulated.items()})
    return Told(seconds, opened, max(one.memory_mb for one in simulated.values()))


def _choose(ring: Ring, question: Question, loads: Mapping[str, int]) -> str:
    most = math.ceil(_BALANCE * (sum(loads.values()) + 1) / len(loads))
    return next(node for node in ring.preferred(question.project) if loads.get(node, most) < most)


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())


def draw_sizes(count: int, chance: random.Random) -> list[int]:
    """Return the chunks of projects; the first is a monorepo."""
    return [
        _MONOREPO_CHUNKS,
        *(int(chance.lognormvariate(math.log(_MEDIAN_CHUNKS), _SPREAD)) for _ in range(count - 1)),
    ]


def draw_questions(count: int, rate: float, seconds: float, hot: float, chance: random.Random) -> list[Question]:
    """Return questions: at random times, about projects as they are used, a share of them about the first."""
    order = list(range(count))
    chance.shuffle(order)
    weights = [0.0]
    for rank in range(1, count + 1):
        weights.append(weights[-1] + 1 / rank)
    found, now = [], 0.0
    while (now := now + chance.expovariate(rate)) < seconds:
        rank = bisect.bisect(weights, chance.random() * weights[-1]) - 1
        found.append(Question(now, 0 if chance.random() < hot else order[min(rank, count - 1)]))
    return found


def main() -> None:
    """Simulate, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repositories", type=int, nargs="*", default=[1_000, 10_000, 100_000])
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--max-open", type=int, default=64, help="projects at a node")
    parser.add_argument("--rate", type=float, default=20.0, help="questions a second")
    parser.add_argument("--seconds", type=float, default=3_600.0)
    parser.add_argument("scenarios", nargs="*", choices=[[], *_SCENARIOS], default=[])
    options = parser.parse_args()
    print("| repositories | scenario | p50 ms | p99 ms | opened for a question | MB of open projects at a node |")
    print("|---|---|---|---|---|---|")
    for count in options.repositories:
        chance = random.Random(0)
        sizes = draw_sizes(count, chance)
        nodes = [f"node{number}" for number in range(options.nodes)]
        for name in options.scenarios or _SCENARIOS:
            hot, lost, settling = _SCENARIOS[name]
            questions = draw_questions(count, options.rate, options.seconds, hot, chance)
            ends = {nodes[0]: options.seconds / 2} if lost else {}
            told = simulate(questions, sizes, nodes, max_open=options.max_open, lost=ends)
            seconds = told.seconds[int(settling * len(told.seconds)) :] if settling >= 0 else told.seconds[:2_000]
            p50, p99 = (1_000 * percentile(seconds, share) for share in (50, 99))
            share = sum(told.opened.values()) / len(questions)
            print(f"| {count:,} | {name} | {p50:.0f} | {p99:.0f} | {share:.3f} | {told.memory_mb:.0f} |")


# The share of questions about the monorepo, whether a node is lost, and from which share of the questions on times
# count; -1 for the first 2,000 questions.
_SCENARIOS: dict[str, tuple[float, bool, float]] = {
    "steady": (0.0, False, 0.5),
    "loss": (0.0, True, 0.5),
    "hot": (0.5, False, 0.5),
    "outage": (0.0, False, -1),
}


if __name__ == "__main__":
    main()
