#!/usr/bin/env python3
"""Ask for the files of commits by their subjects, at the state before them: without the history, and with it.

Another feature of the ranking can be left out in place of the history.

Each repository is a git checkout with its full history; its files need not be checked out. Of the newest commits that
change one to ten known files, some at equal distances are asked. The index and the history of the parent of each are
built in a folder that is kept, so that a second run with other weights takes seconds.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean, median

from cairn.facets.project_index import ProjectIndex
from cairn.history.messages import weigh
from cairn.protocol.requests import SearchRequest
from cairn.search.library import Library
from cairn.search.past import file_history
from cairn.search.query import understand
from cairn.search.rank import rank
from cairn.search.rank_files import WEIGHTS, query_vector
from cairn.source.commits import Commit, list_commits, read_commits
from cairn.source.roles import Role
from cairn.workspace import Workspace
from metrics import ndcg

LIMIT = 10
_NEWEST = 1_500  # commits from which the questions are taken
_MOST_FILES = 10
_ROWS = 60  # of the ranking; the first of each file counts
_ISSUE = re.compile(r"\s*\(?#\d+\)?")
_MINOR = Role.TEST | Role.DOCS | Role.CONFIG | Role.EXAMPLE
_HISTORY_SECONDS = 600.0
_SAMPLES = 2_000  # of the bootstrap


@dataclass(frozen=True, slots=True)
class Question:
    """The subject of a commit, asked at its parent, and the files that it changed."""

    subject: str
    commit: str
    parent: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scored:
    """NDCG@10 of a question by weight of the feature: of all its files, and of those that are code.

    `ms` is what the history took.
    """

    subject: str
    ms: float
    all: dict[float, float]
    code: dict[float, float]


def find_questions(folder: Path, count: int) -> list[Question]:
    """Return questions from the newest commits of a checkout, at equal distances."""
    tip = _git(folder, "rev-parse", "HEAD").strip()
    hashes = list_commits(folder, tip, _NEWEST).hashes
    found = [question for one in read_commits(folder, hashes) if (question := _question_of(one))]
    step = max(1.0, len(found) / (2 * count))
    chosen = [found[int(place * step)] for place in range(min(len(found), 2 * count))]
    return list(_with_known_files(folder, chosen))[:count]


def _question_of(commit: Commit) -> Question | None:
    subject = _ISSUE.sub("", commit.message.partition("\n")[0].strip())
    files = tuple(change.before or change.path for change in commit.changes)
    says_something = weigh(subject, len(files), by_program=commit.by_program) == 1 and len(subject.split()) >= 3
    return Question(subject, commit.hash, "", files) if says_something and len(files) <= _MOST_FILES else None


def _with_known_files(folder: Path, questions: Sequence[Question]) -> Iterator[Question]:
    for question in questions:
        parents = _git(folder, "rev-parse", f"{question.commit}^@").split()
        if len(parents) != 1:
            continue
        known = set(_git(folder, "ls-tree", "-r", "-z", "--name-only", parents[0]).split("\0"))
        if files := tuple(path for path in question.files if path in known):
            yield replace(question, parent=parents[0], files=files)


def _git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True).stdout


def load_questions(folder: Path, state: Path, count: int) -> list[Question]:
    """Return the questions about a checkout; at first they are chosen, and what they are asked of is built."""
    file = state.parent / f"{state.name}-{count}.json"
    is_built = file.exists()
    if is_built:
        questions = [Question(**{**one, "files": tuple(one["files"])}) for one in json.loads(file.read_text())]
    else:
        questions = find_questions(folder, count)
    with Workspace.open(folder, state_dir=state) as workspace:
        for question in reversed(questions):
            if not is_built:
                workspace.index(branch=question.parent, history=False)
            workspace.history.update(_HISTORY_SECONDS, branch=question.parent)
    file.write_text(json.dumps([asdict(one) for one in questions], indent=1))
    return questions


def ask(
    folder: Path, state: Path, questions: Sequence[Question], feature: str, weights: Sequence[float]
) -> list[Scored]:
    """Return the scores of questions."""
    with Workspace.open(folder, state_dir=state) as workspace:
        index: ProjectIndex = workspace._index
        scored = []
        for question in questions:
            with index.reading(index.views.find(question.parent)) as library:
                scored.append(_score(library, question, feature, weights))
    return scored


def _score(library: Library, question: Question, feature: str, weights: Sequence[float]) -> Scored:
    files = library.snapshot.files
    query = understand(question.subject, "hybrid")
    vector = query_vector(library.model, query)
    started = time.perf_counter()
    evidence = file_history(library.snapshot, library.past, query)
    scored = Scored(question.subject, 1e3 * (time.perf_counter() - started), {}, {})
    numbers = {path: number for number, path in enumerate(files.paths)}
    changed = [path for path in question.files if path in numbers]
    code = [path for path in changed if not int(files.roles[numbers[path]]) & int(_MINOR)]
    for weight in weights:
        ranking = rank(
            library.snapshot,
            library.connection,
            query,
            vector,
            SearchRequest(query=""),
            _ROWS,
            WEIGHTS._replace(**{feature: weight}),
            history=evidence,
        )
        found = list(dict.fromkeys(files.paths[one.file] for one in ranking.rows))[:LIMIT]
        for scores, targets in ((scored.all, changed), (scored.code, code)):
            if targets:
                ranks = [found.index(path) + 1 if path in found else None for path in targets]
                scores[weight] = ndcg(ranks, LIMIT)
    return scored


def mean(rows: Sequence[Scored], what: str, weight: float) -> float:
    """Return the mean score of the questions that have files of a kind."""
    return fmean(getattr(row, what)[weight] for row in rows if getattr(row, what))


def interval(rows: Sequence[Scored], what: str, weight: float, base: float) -> tuple[float, float]:
    """Return the 95 % interval of the difference between two weights, by bootstrap over the questions."""
    dice = random.Random(1)
    gains = [getattr(row, what)[weight] - getattr(row, what)[base] for row in rows if getattr(row, what)]
    means = sorted(fmean(dice.choices(gains, k=len(gains))) for _ in range(_SAMPLES))
    return means[_SAMPLES // 40], means[-_SAMPLES // 40]


def report(scored: Mapping[str, Sequence[Scored]], weights: Sequence[float]) -> None:
    """Print the scores of each repository by weight, and the means over repositories."""
    base, best = weights[0], weights[-1]
    for what in ("all", "code"):
        print(f"{what + ' files':<24}{'n':>4}" + "".join(f"{weight:>9}" for weight in weights) + "   95 % of the gain")
        for name, rows in scored.items():
            low, high = interval(rows, what, best, base)
            values = "".join(f"{mean(rows, what, weight):>9.3f}" for weight in weights)
            print(f"{name:<24}{len(rows):>4}{values}   {low:+.3f} to {high:+.3f}")
        means = [fmean(mean(rows, what, weight) for rows in scored.values()) for weight in weights]
        gains = "  ".join(
            f"{weight}: {100 * (value / means[0] - 1):+.1f} %" for weight, value in zip(weights, means, strict=True)
        )
        print(f"{'mean':<28}" + "".join(f"{value:>9.4f}" for value in means) + f"\n  {gains}\n")
    print(f"the history takes {median(row.ms for rows in scored.values() for row in rows):.2f} ms (p50)")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, help="checkouts with their full histories")
    parser.add_argument("--state", type=Path, required=True, help="where the indexes are kept")
    parser.add_argument("--questions", type=int, default=30, help="of each repository")
    parser.add_argument(
        "--feature", choices=WEIGHTS._fields, default="history", metavar="NAME", help="by default history"
    )
    parser.add_argument("--weights", type=float, nargs="+", help="of the feature; the first is the base, by default 0")
    options = parser.parse_args()
    options.state.mkdir(parents=True, exist_ok=True)
    weights = options.weights or [0.0, getattr(WEIGHTS, options.feature)]
    scored = {}
    for folder in map(Path.absolute, options.folders):
        state = options.state.absolute() / folder.name
        questions = load_questions(folder, state, options.questions)
        scored[folder.name] = ask(folder, state, questions, options.feature, weights)
        print(f"{folder.name}: {len(questions)} questions", file=sys.stderr, flush=True)
    report(scored, weights)
    return 0


if __name__ == "__main__":
    sys.exit(main())
