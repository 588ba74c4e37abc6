#!/usr/bin/env python3
"""How often a trial of a tuning is decided rightly: versions that are worse, better and as good, and users by chance.

    python bench/trials.py FOLDER --repository REPOS/laravel-framework

Questions are the first sentences of documentation comments, each of one file alone. Every version ranks all of them
once, by the real search. Then users ask them in sessions of five and look at what is shown with a chance of one divided
by the rank: the right file is opened nine times in ten if it is seen, a wrong one once in ten, and one session of ten
opens the first hit whatever it is. A version that is as good is made of two versions, exchanged by chance for each
question: only what is shown first speaks for it.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from cairn.memory.feedback import AnsweredQuestion
from cairn.optimize.asking import ask, gains_of
from cairn.optimize.examples import Example, WantedFile
from cairn.optimize.guard import LOOKS, compare, weigh
from cairn.optimize.metrics import ndcg
from cairn.search.score import Weights
from cairn.search.tuning import SHIPPED, Tuning
from cairn.storage.memory.rows import AskedQuestion, HitUse, ShownHit
from cairn.workspace import Workspace
from simulated_sessions import prepare, sentences_of

_OF_A_SESSION = 5
_SEEN_RIGHT, _SEEN_WRONG, _FIRST_HIT = 0.9, 0.1, 0.1
_SHOWN = 10
_Paths = tuple[str, ...]


class _Pool(NamedTuple):
    """Questions with their right file, and what each of two versions shows."""

    right: dict[str, str]
    before: dict[str, _Paths]
    after: dict[str, _Paths]

    @property
    def gain(self) -> float:
        """What the new version is truly better by."""
        rows = [
            ndcg(self.after[text], {path: 1.0}) - ndcg(self.before[text], {path: 1.0})
            for text, path in self.right.items()
        ]
        return fmean(rows)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repository", type=Path, required=True)
    parser.add_argument("--questions", type=int, default=600)
    parser.add_argument("--times", type=int, default=400)
    options = parser.parse_args()
    root = prepare(options.folder.absolute(), options.repository)
    with Workspace.open(root) as workspace:
        workspace.index(history=False)
        pools = _pools(workspace, sentences_of(root)[: options.questions])
    print(f"{'version':<18}{'true gain':>10}{'lost':>8}{'kept':>8}{'questions until then':>22}")
    for name, make in pools.items():
        outcomes: Counter[str] = Counter()
        asked, gains = [], []
        for seed in range(options.times):
            pool = make(random.Random(seed))
            state, count = _try(pool, random.Random(seed + 1))
            outcomes[state] += 1
            asked.append(count)
            gains.append(pool.gain)
        lost, kept = (100 * outcomes[state] / options.times for state in ("lost", "kept"))
        print(f"{name:<18}{fmean(gains):>+10.3f}{lost:>6.1f} %{kept:>6.1f} %{fmean(asked):>22.0f}", flush=True)
    return 0


def _pools(workspace: Workspace, questions: Sequence[tuple[str, str]]) -> dict[str, Callable[[random.Random], _Pool]]:
    right = dict(questions)
    shipped = Weights()
    versions = {
        "shipped": SHIPPED,
        "slightly worse": Tuning(
            1, shipped._replace(lexical=0.6 * shipped.lexical, file_lexical=0.4 * shipped.file_lexical)
        ),
        "worse": Tuning(1, shipped._replace(lexical=0.3 * shipped.lexical, file_lexical=0.0, dense=0.3)),
    }
    ranked: dict[str, dict[str, _Paths]] = {}
    index = workspace._index
    with index.reading(index.views.checkout) as library:
        for name, tuning in versions.items():
            ranked[name] = {text: ask(library, tuning, _example(text, path)).paths for text, path in questions}

    def exchanged(dice: random.Random) -> _Pool:
        pairs = {text: [ranked["shipped"][text], ranked["worse"][text]] for text in right}
        for pair in pairs.values():
            dice.shuffle(pair)
        return _Pool(right, {text: pair[0] for text, pair in pairs.items()}, {t: pair[1] for t, pair in pairs.items()})

    def against(before: str, after: str) -> Callable[[random.Random], _Pool]:
        return lambda dice: _Pool(right, ranked[before], ranked[after])

    return {
        "worse": against("shipped", "worse"),
        "slightly worse": against("shipped", "slightly worse"),
        "as good": exchanged,
        "slightly better": against("slightly worse", "shipped"),
        "better": against("worse", "shipped"),
    }


def _example(text: str, path: str) -> Example:
    return Example(text, (WantedFile(path),))


# -- one trial ---------------------------------------------------------------------------------------------------------


def _try(pool: _Pool, dice: random.Random) -> tuple[str, int]:
    """Return how a trial ends, and after how many questions whose files are known."""
    tuning = Tuning(1, before=SHIPPED)
    texts = list(pool.right)
    dice.shuffle(texts)
    answered: list[AnsweredQuestion] = []
    looks, state, known = 0, "running", 0
    for number, text in enumerate(texts):
        answered.append(_ask(pool, tuning, text, number, dice))
        used = sum(bool(one.uses) for one in answered)
        if looks < len(LOOKS) and used >= LOOKS[looks] and (number + 1) % _OF_A_SESSION == 0:
            cases = compare(tuning, answered, lambda examples: examples, lambda *given: _score(pool, *given))
            verdict = weigh(cases, looks)
            looks, state, known = verdict.looks, verdict.state, len(cases)
            if state != "running":
                break
    return state, known


def _score(pool: _Pool, version: Tuning, example: Example) -> float:
    paths: Mapping[str, _Paths] = pool.after if version.number else pool.before
    return ndcg(paths[example.text], gains_of(example))


def _ask(pool: _Pool, tuning: Tuning, text: str, number: int, dice: random.Random) -> AnsweredQuestion:
    version = tuning.for_question(text).number
    paths = (pool.after if version else pool.before)[text][:_SHOWN]
    session = number // _OF_A_SESSION
    question = AskedQuestion(f"sim:{session}", float(number), "code", text, len(paths), 0.9, "mcp", version, 0, number)
    shown = [ShownHit(number, rank, "", path, 1, 9, "", 0.9) for rank, path in enumerate(paths, 1)]
    if random.Random(session).random() < _FIRST_HIT:
        opened = list(paths[:1])
    else:
        seen = [path for rank, path in enumerate(paths, 1) if dice.random() < 1 / rank]
        opened = [p for p in seen if dice.random() < (_SEEN_RIGHT if p == pool.right[text] else _SEEN_WRONG)]
    uses = tuple(HitUse(number, path, "", "read", float(number)) for path in opened)
    return AnsweredQuestion(question, tuple(shown), uses)


if __name__ == "__main__":
    sys.exit(main())
