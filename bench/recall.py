"""Does a question find the memory that answers it, among a thousand, and how long does it take?

    python bench/recall.py                                    # 200 questions over 1,000 memories
    python bench/recall.py --conversations FOLDER             # LoCoMo: is the evidence among what is recalled?

The 200 memories in bench/data/recall_*.txt were written by hand about ten real repositories, each with a question that
names its topic and one that only describes a symptom, in other words. The other memories say something of real symbols
of the same repositories (recall_symbols.tsv) by the sentences in recall_templates.txt. Weights are developed on the
questions about five repositories; those about the others judge.

Conversations are the files of https://github.com/snap-research/locomo, which are not part of this repository: each turn
becomes a memory, and each question names the turns that hold its evidence.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from cairn.index.state_dir import StateDir
from cairn.memory.derived import derive
from cairn.memory.ids import new_id
from cairn.memory.recall import Recall, Recollection
from cairn.memory.store import By, MemoryChange, MemoryStore

_DATA = Path(__file__).parent / "data"
DEVELOPMENT = ("click", "requests", "redis", "libuv", "cobra")
JUDGING = ("flask", "fastapi", "gson", "axum", "zod")
KINDS = ("by_topic", "by_symptom")
NOW = 1_790_000_000.0
_DAY_SECONDS = 86_400.0
_AGENT = By("agent:bench", "agent")
_TURN_CHARS = 2_000
CATEGORIES = {1: "several turns", 2: "time", 3: "world knowledge", 4: "one turn", 5: "unanswerable"}
UNANSWERABLE = 5


class WrittenMemory(NamedTuple):
    """A memory of the benchmark, and the questions that it answers.

    Attributes:
        by_topic: names what the memory is about, as an agent asks that works on it; empty for none.
        by_symptom: says what somebody sees, in other words than the memory's.
    """

    project: str
    type: str
    text: str
    importance: int = 5
    target: str = ""
    by_topic: str = ""
    by_symptom: str = ""


def read_written() -> Iterator[WrittenMemory]:
    """Yield the memories that were written by hand."""
    for file in sorted(_DATA.glob("recall_*.txt")):
        if file.stem == "recall_templates":
            continue
        project = ""
        for block in file.read_text(encoding="utf-8").split("\n\n"):
            lines = block.strip().split("\n")
            if lines[0].startswith("# "):
                project = lines.pop(0)[2:]
            type, importance, target = lines[0].split(" ", 2)
            questions = lines[2].removeprefix("? "), lines[3].removeprefix("~ ")
            yield WrittenMemory(project, type, lines[1], int(importance), target, *questions)


def make_others(number: int, seed: int) -> Iterator[WrittenMemory]:
    """Yield memories that answer none of the questions, as many of each project."""
    randomly = random.Random(seed)
    templates = [line.split("\t") for line in (_DATA / "recall_templates.txt").read_text().splitlines()]
    symbols: dict[str, list[list[str]]] = {}
    for line in (_DATA / "recall_symbols.tsv").read_text().splitlines():
        project, *symbol = line.split("\t")
        symbols.setdefault(project, []).append(symbol)
    for place in range(number):
        project = list(symbols)[place % len(symbols)]
        (path, a), (_, b) = randomly.sample(symbols[project], 2)
        type, text = templates[place // len(symbols) % len(templates)]
        yield WrittenMemory(project, type, text.format(a=a, b=b), randomly.randint(2, 8), f"{path}::{a}")


class Store(NamedTuple):
    """An open memory, and the ids of what was put in."""

    store: MemoryStore
    recall: Recall
    ids: list[str]


def build(folder: Path, memories: list[WrittenMemory], seed: int = 1) -> Store:
    """Put memories into a new store, at random days of the year before."""
    randomly = random.Random(seed)
    seconds = NOW - 300 * _DAY_SECONDS
    store = MemoryStore(StateDir(folder / ".cairn"), derive, lambda: seconds)
    ids: dict[int, str] = {}
    order = list(range(len(memories)))
    randomly.shuffle(order)
    with store.writing():
        for place in order:
            seconds += 290 * _DAY_SECONDS / len(memories)
            ids[place] = new_id(seconds)
            store.record(list(_changes(ids[place], memories[place])), _AGENT)
    return Store(store, Recall(store, folder, None, now=lambda: NOW), [ids[place] for place in range(len(memories))])


def _changes(id: str, memory: WrittenMemory) -> Iterator[MemoryChange]:
    fields: dict[str, Any] = {
        "type": memory.type, "text": memory.text, "importance": memory.importance, "tags": [], "origin": "agent",
        "session": "", "branch": "", "revision": "", "is_shared": False,
    }  # fmt: skip
    yield MemoryChange(id, "created", fields)
    if memory.target:
        path, _, symbol = memory.target.partition("::")
        yield MemoryChange(id, "link", {"path": path, "symbol": symbol, "hash": ""})


class Asked(NamedTuple):
    """A question, the memory that answers it, and what was found."""

    project: str
    kind: str
    question: str
    expected: str
    found: list[Recollection]
    seconds: float

    @property
    def rank(self) -> int:
        """The place of the right memory, from 1; 0 if it was not found."""
        ids = [recollection.observation.id for recollection in self.found]
        return ids.index(self.expected) + 1 if self.expected in ids else 0


def ask(opened: Store, memories: list[WrittenMemory], limit: int = 10) -> list[Asked]:
    """Ask all questions once."""
    asked: list[Asked] = []
    for memory, id in zip(memories, opened.ids, strict=True):
        for kind in KINDS if memory.by_topic else ():
            begun = time.perf_counter()
            question = getattr(memory, kind)
            found = opened.recall.search(question, limit)
            asked.append(Asked(memory.project, kind, question, id, found, time.perf_counter() - begun))
    return asked


def report(name: str, asked: list[Asked]) -> None:
    """Print how well some questions were answered."""
    ranks = [question.rank for question in asked]
    n = max(1, len(ranks))
    shares = {limit: sum(1 <= rank <= limit for rank in ranks) / n for limit in (1, 5, 10)}
    mean = sum(1 / rank for rank in ranks if rank) / n
    shown = "  ".join(f"hit@{limit} {share:.3f}" for limit, share in shares.items())
    print(f"{name:<23} {len(ranks):>4} questions  {shown}  MRR {mean:.3f}")


# -- conversations -----------------------------------------------------------------------------------------------------


class Conversation(NamedTuple):
    """The turns of a long conversation by their ids, and questions with the turns that hold their evidence."""

    turns: dict[str, str]
    questions: list[tuple[int, str, set[str]]]


def read_conversation(file: Path) -> Conversation:
    """Read one file of LoCoMo; each question has a category, of which 5 cannot be answered."""
    document = json.loads(file.read_text(encoding="utf-8"))
    turns: dict[str, str] = {}
    for name, session in document.items():
        if isinstance(session, list) and re.fullmatch(r"session_\d+", name):
            for turn in session:
                said = f"{turn['speaker']}: {turn.get('text', '')} {turn.get('blip_caption', '')}"
                turns[turn["dia_id"]] = said.strip()[:_TURN_CHARS]
    questions = [
        (question["category"], question["question"], evidence)
        for question in document["qa"]
        if (evidence := turns.keys() & set(re.findall(r"D\d+:\d+", " ".join(question.get("evidence", [])))))
    ]
    return Conversation(turns, questions)


def recall_evidence(folder: Path) -> None:
    """Print which share of the evidence is among the first that are recalled, by category."""
    shares: dict[str, list[tuple[float, float]]] = {}
    for file in sorted(folder.glob("*.json")):
        conversation = read_conversation(file)
        memories = [WrittenMemory("", "discovery", text) for text in conversation.turns.values()]
        with tempfile.TemporaryDirectory() as place:
            opened = build(Path(place), memories)
            turn_of = dict(zip(opened.ids, conversation.turns, strict=True))
            for category, question, evidence in conversation.questions:
                found = [turn_of[hit.observation.id] for hit in opened.recall.search(question, 10)]
                share = tuple(len(evidence.intersection(found[:limit])) / len(evidence) for limit in (5, 10))
                for name in (CATEGORIES[category], "all that can be answered" if category != UNANSWERABLE else ""):
                    shares.setdefault(name, []).append((share[0], share[1]))
            opened.store.close()
    for name, of_questions in sorted(shares.items()):
        if name:
            at_5, at_10 = (statistics.mean(share) for share in zip(*of_questions, strict=True))
            print(f"{name:<26} {len(of_questions):>5} questions  recall@5 {at_5:.3f}  recall@10 {at_10:.3f}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--misses", action="store_true", help="show the questions whose memory is not in the top 5")
    parser.add_argument("--conversations", type=Path, help="a folder of LoCoMo's files")
    arguments = parser.parse_args()
    if arguments.conversations:
        recall_evidence(arguments.conversations)
        return 0
    written = list(read_written())
    memories = written + list(make_others(arguments.memories - len(written), arguments.seed))
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        opened = build(Path(folder), memories, arguments.seed)
        built = time.perf_counter() - begun
        begun = time.perf_counter()
        opened.recall.search("warm up")
        first = time.perf_counter() - begun
        asked = ask(opened, memories)
        opened.store.close()
    for kind in KINDS:
        own = [question for question in asked if question.kind == kind]
        for name, projects in (("development", DEVELOPMENT), ("judging", JUDGING), ("all", DEVELOPMENT + JUDGING)):
            report(f"{kind}, {name}", [question for question in own if question.project in projects])
    times = sorted(question.seconds for question in asked)
    print(f"{len(memories)} memories, built in {built:.1f} s; the first question took {first * 1000:.0f} ms")
    print(f"p50 {statistics.median(times) * 1000:.1f} ms, p95 {times[int(len(times) * 0.95)] * 1000:.1f} ms")
    if arguments.misses:
        texts = {id: memory.text for memory, id in zip(memories, opened.ids, strict=True)}
        for question in asked:
            if question.project in DEVELOPMENT and not 1 <= question.rank <= 5:
                print(f"\n{question.rank}  {question.question}\n   wanted: {texts[question.expected]}")
                for found in question.found[:3]:
                    print(f"   {found.relevance:.2f} {found.observation.text}  ({found.why})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
