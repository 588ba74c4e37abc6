#!/usr/bin/env python3
"""In which order should the hits of several projects come? See README.md beside this file.

    python bench/several.py --bench BENCH --repos REPOS --state INDEXES --questions 8

Each question is meant for one repository, and all are asked it. Their hits are put into one list in several ways, and
the list is scored: what the other repositories bring can only push the right hits down.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from itertools import zip_longest
from pathlib import Path
from statistics import fmean

from cairn.answers import CodeHit
from cairn.config import Settings
from cairn.workspace import Workspace
from dataset import load_repositories
from metrics import Hit, ndcg, target_ranks

LIMIT = 10
Answers = dict[str, tuple[CodeHit, ...]]  # by the name of the repository
Ranked = list[tuple[str, CodeHit]]


def by(value: Callable[[CodeHit], float]) -> Callable[[Answers], Ranked]:
    """Return what puts the hits with the highest values first."""

    def order(answers: Answers) -> Ranked:
        hits = [(name, hit) for name, found in answers.items() for hit in found]
        return sorted(hits, key=lambda row: -value(row[1]))

    return order


def by_turns(answers: Answers) -> Ranked:
    """Take the first hit of each repository, then the second of each, as it comes."""
    rounds = zip_longest(*([(name, hit) for hit in found] for name, found in answers.items()))
    return [row for turn in rounds for row in turn if row is not None]


def by_turns_surest_first(answers: Answers) -> Ranked:
    """Take turns, the repository whose first hit is the most relevant first."""
    best = sorted(answers.items(), key=lambda row: -max((hit.relevance for hit in row[1]), default=0.0))
    return by_turns(dict(best))


ORDERS: dict[str, Callable[[Answers], Ranked]] = {
    "relevance": by(lambda hit: hit.relevance),
    "score": by(lambda hit: hit.score),
    "turns": by_turns,
    "turns, surest first": by_turns_surest_first,
}


def gain(hits: Ranked, right: str, targets: Sequence[object]) -> float:
    """Return the NDCG of a list, in which only hits of the right repository can be targets."""
    shown = [
        Hit(hit.path if name == right else f"{name}\0{hit.path}\0", hit.start_line, hit.end_line) for name, hit in hits
    ]
    return ndcg(target_ranks(shown[:LIMIT], targets), LIMIT)  # type: ignore[arg-type] # targets of the benchmark


def main() -> None:
    """Parse the command line, ask, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument("--repos", type=Path, required=True)
    parser.add_argument("--state", type=Path, required=True, metavar="FOLDER", help="keep the indexes here")
    parser.add_argument("--questions", type=int, default=8, metavar="N", help="of each repository (8)")
    parser.add_argument("--projects", type=int, default=20, metavar="N", help="so many repositories at most (20)")
    arguments = parser.parse_args()
    repositories = load_repositories(arguments.bench, arguments.repos)[: arguments.projects]
    random.seed(1)
    gains: dict[str, list[float]] = {"alone": [], **{name: [] for name in ORDERS}}
    firsts: dict[str, list[bool]] = {name: [] for name in ORDERS}
    with ExitStack() as stack:
        opened = {}
        for repository in repositories:
            workspace = stack.enter_context(
                Workspace.open(repository.folder, state_dir=arguments.state / repository.name, settings=Settings())
            )
            workspace.index()
            opened[repository.name] = workspace
        for repository in repositories:
            for question in random.sample(repository.questions, min(arguments.questions, len(repository.questions))):
                answers = {name: ws.search(question.query, limit=LIMIT).code for name, ws in opened.items()}
                alone = [(repository.name, hit) for hit in answers[repository.name]]
                gains["alone"].append(gain(alone, repository.name, question.targets))
                for name, order in ORDERS.items():
                    ranked = order(answers)
                    gains[name].append(gain(ranked, repository.name, question.targets))
                    firsts[name].append(bool(ranked) and ranked[0][0] == repository.name)
    print(f"{len(gains['alone'])} questions, {len(repositories)} repositories")
    print(f"{'':<22}{'NDCG@10':>9}{'right one first':>17}")
    for name, values in gains.items():
        print(f"{name:<22}{fmean(values):>9.3f}{fmean(firsts[name]) if name in firsts else 1.0:>17.1%}")


if __name__ == "__main__":
    main()
