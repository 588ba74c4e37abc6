#!/usr/bin/env python3
"""Ask the golden questions and show where the right answers rank; `tests/golden` guards the same figures."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import sdists
from cairn import Workspace
from cairn.answers import CodeHit
from cairn.config import Settings
from cairn.source.git import find_repository
from cairn.source.walk import walk
from metrics import Hit, first_per_file, ndcg

REPOSITORY = Path(__file__).resolve().parents[1]
FOLDER = REPOSITORY / "tests" / "golden"
QUESTIONS = FOLDER / "questions.json"
FLOORS = FOLDER / "floors.json"
LIMIT = 10
NONE = "none"  # the category of questions that have no answer
SHARES = ("ndcg", "hit@1", "hit@5", "named")
MARGIN = 0.03


@dataclass(frozen=True, slots=True)
class GoldenQuestion:
    """One question. Any of the `expected` files is a right answer; none is when there are none.

    `name` is the definition that the first hit in such a file should show, if the question is so precise; or several.
    """

    project: str
    category: str
    query: str
    expected: tuple[str, ...]
    name: str = ""


@dataclass(frozen=True, slots=True)
class Project:
    """One project of the golden set: this repository when `sdist` is None."""

    name: str
    sdist: sdists.Sdist | None
    questions: tuple[GoldenQuestion, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A question's answer: the files in order, and the rank of the first right one among them (None: not found).

    `named` is whether the first hit in a right file is the definition asked for, None when the question names none.
    """

    question: GoldenQuestion
    files: tuple[str, ...]
    rank: int | None
    named: bool | None
    confidence: str

    @property
    def right(self) -> bool:
        """Whether the answer is perfect: the right file first, or no confident hit where there is no answer."""
        if self.question.category == NONE:
            return self.confidence != "high"
        return self.rank == 1 and self.named is not False


def load_projects(file: Path = QUESTIONS, only: Sequence[str] = ()) -> list[Project]:
    """Read the questions, by project.

    Raises:
        SystemExit: if a name in `only` is unknown.
    """
    found = [_project(entry) for entry in json.loads(file.read_text(encoding="utf-8"))["projects"]]
    unknown = set(only) - {project.name for project in found}
    if unknown:
        raise SystemExit(f"no such project in the golden set: {', '.join(sorted(unknown))}")
    return [project for project in found if not only or project.name in only]


def lay_out(project: Project, folder: Path, *, offline: bool = False) -> Path:
    """Put the project's files into the empty `folder` and return its root there.

    This repository comes without `tests/golden`, which holds the questions word by word.

    Raises:
        FetchError: if its source distribution cannot be had.
    """
    folder.mkdir(parents=True)
    if project.sdist is not None:
        return sdists.extract(sdists.fetch(project.sdist, sdists.default_cache(), offline=offline), folder)
    for file in walk(REPOSITORY, repository=find_repository(REPOSITORY)).files:
        source, target = REPOSITORY / file.path, folder / file.path
        if FOLDER not in source.parents:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
    return folder


def ask_all(project: Project, root: Path, state: Path) -> list[Outcome]:
    """Index the project at `root` with default settings, and ask its questions."""
    with Workspace.open(root, state_dir=state, settings=Settings()) as workspace:
        workspace.index()
        return [ask(workspace, question) for question in project.questions]


def ask(workspace: Workspace, question: GoldenQuestion) -> Outcome:
    """Ask one question."""
    hits = workspace.search(question.query, limit=LIMIT).code
    places = first_per_file(Hit(hit.path, hit.start_line, hit.end_line) for hit in hits)
    rank = next((rank for rank, place in enumerate(places, 1) if place.path in question.expected), None)
    first_right = next((hit for hit in hits if hit.path in question.expected), None)
    return Outcome(
        question,
        tuple(place.path for place in places),
        rank,
        _is_named(first_right, question.name) if question.name else None,
        hits[0].confidence if hits else "",
    )


def summarise(outcomes: Iterable[Outcome]) -> dict[str, dict[str, float]]:
    """Return the figures of each category and of `all` questions that have an answer.

    `ndcg` is the mean of 1 / log2(rank + 1), files ranked; `hit@k` the share with a right file among the first k;
    `named` the share whose first hit in it is the definition asked for; `quiet`, of questions without an answer, the
    share with no confident hit.
    """
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault(outcome.question.category, []).append(outcome)
        if outcome.question.category != NONE:
            groups.setdefault("all", []).append(outcome)
    return {category: _figures(category, group) for category, group in sorted(groups.items())}


def floors_below(outcomes: Sequence[Outcome]) -> dict[str, dict[str, float]]:
    """Return floors a little below the figures of `outcomes`: one question of a category may change for the worse."""
    counts = {category: int(figures["questions"]) for category, figures in summarise(outcomes).items()}
    return {
        category: {
            name: round(max(0.0, value - max(MARGIN, 1 / counts[category] if category != NONE else 0.0)), 3)
            for name, value in figures.items()
            if name != "questions"
        }
        for category, figures in summarise(outcomes).items()
    }


def table(figures: dict[str, dict[str, float]]) -> str:
    """Return the figures as text, a category a line."""
    rows = [f"{'':10} {'n':>4} " + " ".join(f"{name:>6}" for name in (*SHARES, "quiet"))]
    for category, values in figures.items():
        cells = (f"{values[name]:6.3f}" if name in values else " " * 6 for name in (*SHARES, "quiet"))
        rows.append(f"{category:10} {int(values['questions']):4} " + " ".join(cells))
    return "\n".join(rows)


def listing(outcomes: Iterable[Outcome]) -> str:
    """Return the outcomes as text, a question a line, worst first, with what came first where that is not right."""
    rows = []
    for outcome in sorted(outcomes, key=lambda outcome: (outcome.right, -(outcome.rank or LIMIT + 1))):
        question = outcome.question
        place = outcome.confidence or "empty" if question.category == NONE else str(outcome.rank or "-")
        first = "" if outcome.right or not outcome.files else f"  [first: {outcome.files[0]}]"
        wrong = "  [another definition]" if outcome.named is False and outcome.rank else ""
        rows.append(f"{place:>6}  {question.category:8} {question.project:21} {question.query}{first}{wrong}")
    return "\n".join(rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", default=[], metavar="PROJECT", help="only these projects")
    parser.add_argument("--misses", action="store_true", help="list only the questions that could be answered better")
    parser.add_argument("--write-floors", action="store_true", help=f"set {FLOORS.name} a little below these figures")
    arguments = parser.parse_args()
    if arguments.write_floors and arguments.only:
        parser.error("--write-floors needs all projects")
    outcomes: list[Outcome] = []
    with tempfile.TemporaryDirectory(prefix="cairn-golden-") as scratch:
        for project in load_projects(only=arguments.only):
            root = lay_out(project, Path(scratch) / project.name)
            outcomes += ask_all(project, root, Path(scratch) / "state" / project.name)
    print(listing(outcome for outcome in outcomes if not (arguments.misses and outcome.right)))
    print()
    print(table(summarise(outcomes)))
    if arguments.write_floors:
        FLOORS.write_text(json.dumps(floors_below(outcomes), indent=2) + "\n", encoding="utf-8")
    return 0


def _project(entry: dict[str, Any]) -> Project:
    name = entry["name"]
    pin = sdists.Sdist(name, entry["file"], entry["sha256"]) if "sha256" in entry else None
    questions = tuple(
        GoldenQuestion(name, row["category"], row["query"], tuple(row["expected"]), row.get("name", ""))
        for row in entry["questions"]
    )
    return Project(name, pin, questions)


def _figures(category: str, outcomes: Sequence[Outcome]) -> dict[str, float]:
    if category == NONE:
        return {"questions": len(outcomes), "quiet": fmean(outcome.right for outcome in outcomes)}
    ranks = [outcome.rank or LIMIT + 1 for outcome in outcomes]
    named = [outcome.named for outcome in outcomes if outcome.named is not None]
    return {
        "questions": len(outcomes),
        "ndcg": fmean(ndcg([outcome.rank], LIMIT) for outcome in outcomes),
        "hit@1": fmean(rank <= 1 for rank in ranks),
        "hit@5": fmean(rank <= 5 for rank in ranks),
        **({"named": fmean(named)} if named else {}),
    }


def _is_named(hit: CodeHit | None, name: str) -> bool:
    return hit is not None and hit.name.rpartition(".")[2] in name.split()


if __name__ == "__main__":
    sys.exit(main())
