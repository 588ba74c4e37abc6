"""Measures when a new memory may take the place of an older one, on pairs that were labelled by hand.

    python bench/supersede.py            both halves, with the bundled model
    python bench/supersede.py --model    with the model that is configured in the user's settings
    python bench/supersede.py --misses   also the pairs that were judged wrongly at the thresholds
    python bench/supersede.py --whole    with the real rule, in a memory that holds the older ones of all pairs
    python bench/supersede.py --rules    instead, whether rules contradict each other

`bench/data/supersede.jsonl` has pairs of memories about files of ten public repositories, as an agent would keep them:

- `supersedes`: the newer says the same, perhaps in other words or with more detail, or says that it changed;
- `related`: the same file, often the same words, and another statement: about another symbol, number, version or
  system, or the contrary without a word that something changed. The older has to stay;
- `unrelated`: about something else, mostly in the same file.

The rules of `cairn.memory.objections` were written with one half of the repositories in view; the other half was
looked at once. Each pair is judged twice: as it is, and as if no file were shared.

`bench/data/contradictions.txt` has rules of four projects that hold side by side, of which every two are compared in
either order, and pairs of rules that contradict each other in other words.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cairn.config import load_settings
from cairn.embedding.fingerprint import bundled_fingerprint
from cairn.embedding.protocol import Floats
from cairn.embedding.providers import open_model
from cairn.index.state_dir import StateDir
from cairn.memory.contradictions import contradicts
from cairn.memory.derived import derive, embed
from cairn.memory.lifecycle import Lifecycle, NewMemory
from cairn.memory.objections import objections
from cairn.memory.recall import Recall
from cairn.memory.store import By, MemoryStore
from cairn.memory.supersede import Supersession, thresholds_of
from cairn.storage.memory.observation_db import Conditions
from cairn.storage.memory.rows import CodeLink

DATA = Path(__file__).parent / "data" / "supersede.jsonl"
RULES = DATA.with_name("contradictions.txt")
STEPS = (0.75, 0.8, 0.825, 0.85, 0.875, 0.9, 0.92, 0.94, 0.96)


class Pair(NamedTuple):
    """Two memories of one type, how similar they are, and what speaks against the one taking the other's place."""

    half: str
    label: str
    old: str
    new: str
    shares_file: bool
    similarity: float
    objections: tuple[str, ...]


class Judgement(NamedTuple):
    """How many pairs were taken as superseding, how many of them rightly, and how many there are."""

    taken: int
    right: int
    wanted: int

    @property
    def words(self) -> str:
        """Precision and recall."""
        precision = f"{self.right / self.taken:.3f}" if self.taken else "  -  "
        return f"{precision} {self.right / max(1, self.wanted):.3f}"


def read_pairs(path: Path, vectors: Callable[[Sequence[str]], npt.NDArray[Any]]) -> list[Pair]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    old, new = (unit(vectors([row[side]["text"] for row in rows])) for side in ("old", "new"))
    similarities = (old * new).sum(axis=1).tolist()
    return [
        Pair(
            row["half"],
            row["label"],
            row["old"]["text"],
            row["new"]["text"],
            bool(set(row["old"]["files"]) & set(row["new"]["files"])),
            similarity,
            objections(row["old"]["text"], row["new"]["text"]),
        )
        for row, similarity in zip(rows, similarities, strict=True)
    ]


def unit(vectors: npt.NDArray[Any]) -> Floats:
    vectors = vectors.astype(np.float32)
    rows: Floats = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-9))
    return rows


def judge(pairs: Sequence[Pair], taken: Iterable[Pair]) -> Judgement:
    taken = list(taken)
    return Judgement(
        len(taken),
        sum(pair.label == "supersedes" for pair in taken),
        sum(pair.label == "supersedes" for pair in pairs),
    )


def show_steps(pairs: Sequence[Pair]) -> None:
    print("similarity   alone: precision recall   with the rules: precision recall")
    for step in STEPS:
        near = [pair for pair in pairs if pair.similarity >= step]
        kept = [pair for pair in near if not pair.objections]
        print(f"{step:10.3f}   {judge(pairs, near).words:>23}   {judge(pairs, kept).words:>32}")


def show_rules(pairs: Sequence[Pair], least: float) -> None:
    """Print what is taken without each of the rules."""
    near = [pair for pair in pairs if pair.similarity >= least]
    for rule in ("names", "numbers", "negation", "cases"):
        kept = [pair for pair in near if not set(pair.objections) - {rule}]
        print(f"  without {rule:10}{judge(pairs, kept).words}")


class _UndoneError(Exception):
    """Takes back what was done in a transaction."""


def judge_in_memory(path: Path, half: str) -> tuple[Judgement, int]:
    """Remember the older ones of all pairs, then each newer one by itself.

    Returns:
        how the labelled pairs were judged, and how many memories of other pairs were superseded besides.
    """
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    with TemporaryDirectory() as folder:
        store = MemoryStore(StateDir(Path(folder) / "state"), derive)
        supersession = Supersession(store, Recall(store, Path(folder), None).nearest)
        plain, lifecycle = Lifecycle(store), Lifecycle(store, after_created=supersession.apply)
        older = {}
        for row in rows:
            draft = _draft(row["type"], row["old"], "older")
            older[row["old"]["text"]] = plain.remember(draft, By("agent:bench", "agent")).observation.id
        taken = right = elsewhere = 0
        own = [row for row in rows if row["half"] == half]
        for row in own:
            superseded = _superseded_by(store, lifecycle, _draft(row["type"], row["new"], "newer"))
            is_taken = older[row["old"]["text"]] in superseded
            taken += is_taken
            right += is_taken and row["label"] == "supersedes"
            elsewhere += len(superseded) - is_taken
    return Judgement(taken, right, sum(row["label"] == "supersedes" for row in own)), elsewhere


def _draft(type: str, memory: Mapping[str, Any], session: str) -> NewMemory:
    return NewMemory(memory["text"], type, links=tuple(map(CodeLink, memory["files"])), session=session)


def _superseded_by(store: MemoryStore, lifecycle: Lifecycle, draft: NewMemory) -> set[str]:
    """Return the ids of what a new memory supersedes; afterwards all is as before."""
    superseded: set[str] = set()
    with suppress(_UndoneError), store.writing():
        lifecycle.remember(draft, By("agent:bench", "agent"))
        superseded = {observation.id for observation in store.select(Conditions(statuses=("superseded",)))}
        raise _UndoneError
    return superseded


def judge_rules(path: Path) -> None:
    """Print how many of the rules that hold side by side are taken for contradictions, and how many of these found."""
    together: dict[str, list[list[str]]] = {"develop": [], "report": []}
    pairs: dict[str, list[tuple[str, str]]] = {"develop": [], "report": []}
    half, is_pair = "", False
    for line in filter(None, path.read_text(encoding="utf-8").splitlines()):
        if line[0] in "=!":
            half, is_pair = line.split()[-1], line[0] == "!"
            together[half] += [] if is_pair else [[]]
        elif is_pair:
            old, _, new = line.partition(" => ")
            pairs[half].append((old, new))
        elif line[0] != "#":
            together[half][-1].append(line)
    for half in together:
        both = [pair for rules in together[half] for pair in permutations(rules, 2)]
        false = sum(contradicts(*pair) for pair in both)
        found = sum(contradicts(*pair) for pair in pairs[half])
        print(f"{half}: {found} of {len(pairs[half])} contradictions found, {false} of {len(both):,} other pairs taken")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--model", action="store_true")
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--rules", action="store_true")
    arguments = parser.parse_args()
    if arguments.rules:
        judge_rules(RULES)
        return
    fingerprint = bundled_fingerprint()
    vectors: Callable[[Sequence[str]], npt.NDArray[Any]] = embed
    if arguments.model:
        (settings, *_) = load_settings(None).chain
        model = open_model(settings)
        fingerprint, vectors = model.fingerprint, model.embed_documents
    same_file, elsewhere = thresholds_of(fingerprint, None)
    pairs = read_pairs(arguments.data, vectors)
    print(f"model {fingerprint}: at least {same_file} with a shared file, {elsewhere} without")
    for half in ("develop", "report"):
        own = [pair for pair in pairs if pair.half == half]
        counts = {label: sum(pair.label == label for pair in own) for label in ("supersedes", "related", "unrelated")}
        print(f"\n{half}: {counts}")
        show_steps(own)
        show_rules(own, same_file)
        as_is = [
            pair
            for pair in own
            if pair.similarity >= (same_file if pair.shares_file else elsewhere) and not pair.objections
        ]
        without = [pair for pair in own if pair.similarity >= elsewhere and not pair.objections]
        print(f"at the thresholds, files as they are     {judge(own, as_is).words}")
        print(f"at the thresholds, as if none was shared {judge(own, without).words}")
        if arguments.whole:
            judgement, elsewhere = judge_in_memory(arguments.data, half)
            print(f"in a memory with all older ones          {judgement.words}, {elsewhere} of other pairs taken, too")
        for pair in own if arguments.misses else ():
            if (pair in as_is) != (pair.label == "supersedes"):
                print(f"  {pair.label} {pair.similarity:.3f} {pair.objections}\n    {pair.old}\n    {pair.new}")


if __name__ == "__main__":
    main()
