#!/usr/bin/env python3
"""Score a system on the retrieval benchmark; see README.md beside this file."""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import systems
from dataset import Question, Repository, load_published, load_repositories
from metrics import Hit, first_per_file, ndcg, target_ranks

FETCHED = 50  # hits asked for under the file rule, so that ten files are left
SHOWN = 3  # hits listed for a question gone wrong


@dataclass(frozen=True, slots=True)
class Scored:
    """One question with its scores. Ranks are 1-based under the chunk rule, None when not found within the limit."""

    repository: str
    language: str
    category: str
    query: str
    chunk_ndcg: float
    file_ndcg: float
    targets: tuple[str, ...]
    ranks: tuple[int | None, ...]
    top: tuple[str, ...]

    @property
    def key(self) -> tuple[str, str]:
        """What identifies the question between two runs."""
        return self.repository, self.query


@dataclass(frozen=True, slots=True)
class Summary:
    """Means over some questions. The recalls are shares of questions, by rank under the chunk rule."""

    questions: int
    chunk_ndcg: float
    file_ndcg: float
    primary_at_1: float
    primary_at_10: float
    any_at_1: float


def score(system: systems.System, repository: Repository, question: Question, limit: int) -> Scored:
    """Ask one question and score the answer under both rules."""
    hits = system.search(question.query, limit)[:limit]
    ranks = target_ranks(hits, question.targets)
    files = first_per_file(system.search(question.query, max(FETCHED, limit)))[:limit]
    return Scored(
        repository.name,
        repository.language,
        question.category,
        question.query,
        ndcg(ranks, limit),
        ndcg(target_ranks(files, question.targets), limit),
        tuple(map(str, question.targets)),
        tuple(ranks),
        tuple(_place(hit) for hit in hits),
    )


def summarise(questions: Sequence[Scored]) -> Summary:
    """Return the means over `questions`, of which there is at least one."""
    return Summary(
        len(questions),
        fmean(question.chunk_ndcg for question in questions),
        fmean(question.file_ndcg for question in questions),
        fmean(question.ranks[0] == 1 for question in questions),
        fmean(question.ranks[0] is not None for question in questions),
        fmean(1 in question.ranks for question in questions),
    )


def summarise_by(questions: Iterable[Scored], key: Callable[[Scored], str]) -> dict[str, Summary]:
    """Return a summary for each value of `key`, in order of first appearance."""
    groups: dict[str, list[Scored]] = {}
    for question in questions:
        groups.setdefault(key(question), []).append(question)
    return {name: summarise(group) for name, group in groups.items()}


def run(system: systems.System, repositories: Sequence[Repository], limit: int) -> list[Scored]:
    """Index and question every repository, with a line of progress on stderr."""
    scored: list[Scored] = []
    for repository in repositories:
        indexed = system.index(repository.folder)
        mine = [score(system, repository, question, limit) for question in repository.questions]
        scored += mine
        print(
            f"{repository.name:<20} {indexed.files:>6} files {indexed.chunks:>7} chunks {indexed.seconds:>7.2f} s  "
            f"NDCG {summarise(mine).chunk_ndcg:.3f}",
            file=sys.stderr,
        )
    return scored


def print_report(scored: Sequence[Scored], published: dict[str, dict[str, float]], worst: int) -> None:
    """Print the tables and the questions that went worst."""
    header = f"{'':<22}{'n':>5}{'chunk':>9}{'file':>9}{'first@1':>9}{'first@10':>9}{'any@1':>9}"
    print(f"\nNDCG@10 under both rules, and recall\n{header}")
    _print_row("all", summarise(scored))
    for title, key in (
        ("category", lambda question: question.category),
        ("language", lambda question: question.language),
    ):
        print(f"by {title}")
        for name, summary in sorted(summarise_by(scored, key).items()):
            _print_row(f"  {name}", summary)
    print(f"\n{'repository':<22}{'n':>5}{'chunk':>9}{'file':>9}{'semble*':>9}{'chunk-semble':>14}")
    repositories = summarise_by(scored, lambda question: question.repository)
    for name, summary in repositories.items():
        other = published.get(name, {}).get("semble", math.nan)
        print(
            f"{name:<22}{summary.questions:>5}{summary.chunk_ndcg:>9.3f}{summary.file_ndcg:>9.3f}{other:>9.3f}"
            f"{summary.chunk_ndcg - other:>+14.3f}"
        )
    others = [published.get(question.repository, {}).get("semble", math.nan) for question in scored]
    print(f"* published, chunk rule; its mean over these questions: {fmean(others):.4f}")
    if worst:
        print(f"\nThe {worst} worst (expected: rank; then what came first)")
    for question in sorted(scored, key=lambda question: (question.chunk_ndcg, question.file_ndcg))[:worst]:
        _print_question(question)


def print_comparison(scored: Sequence[Scored], before: Sequence[Scored], shown: int) -> None:
    """Print how the scores moved against an earlier run, over the questions both have."""
    earlier = {question.key: question for question in before}
    pairs = [(earlier[question.key], question) for question in scored if question.key in earlier]
    print(f"\nAgainst the earlier run, {len(pairs)} questions in both")
    if not pairs:
        return
    _print_change("all", pairs)
    for category in sorted({new.category for _, new in pairs}):
        _print_change(f"  {category}", [pair for pair in pairs if pair[1].category == category])
    moved = sorted(pairs, key=lambda pair: pair[1].chunk_ndcg - pair[0].chunk_ndcg)
    for title, some in (("Lost most", moved[:shown]), ("Won most", moved[::-1][:shown])):
        print(title)
        for old, new in some:
            if old.chunk_ndcg != new.chunk_ndcg:
                print(f"  {old.chunk_ndcg:.3f} -> {new.chunk_ndcg:.3f}  {new.repository}: {new.query}")


def to_json(system: systems.Worker, limit: int, scored: Sequence[Scored]) -> dict[str, Any]:
    """Return the run as one JSON document, which `from_json` and `--compare` read."""
    return {
        "system": system.name,
        "version": system.version,
        "limit": limit,
        "all": asdict(summarise(scored)),
        "categories": {
            name: asdict(summary) for name, summary in summarise_by(scored, lambda question: question.category).items()
        },
        "languages": {
            name: asdict(summary) for name, summary in summarise_by(scored, lambda question: question.language).items()
        },
        "repositories": {
            name: asdict(summary)
            for name, summary in summarise_by(scored, lambda question: question.repository).items()
        },
        "questions": [asdict(question) for question in scored],
    }


def from_json(document: dict[str, Any]) -> list[Scored]:
    """Return the questions of an earlier run."""
    return [
        Scored(**{**row, "targets": tuple(row["targets"]), "ranks": tuple(row["ranks"]), "top": tuple(row["top"])})
        for row in document["questions"]
    ]


def main() -> int:
    """Parse the command line, run, print, and write the JSON document."""
    parser = argparse.ArgumentParser(description=__doc__)
    systems.add_arguments(parser)
    parser.add_argument("--system", choices=systems.NAMES, default="cairn")
    parser.add_argument("--whole", action="store_true", help="index whole checkouts, not only the part asked about")
    parser.add_argument("--limit", type=int, default=10, metavar="N", help="score the first N results (default: 10)")
    parser.add_argument("--worst", type=int, default=20, metavar="N", help="list the N worst questions (default: 20)")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write all scores to this file")
    parser.add_argument("--compare", type=Path, metavar="PREVIOUS", help="a file that --json wrote earlier")
    parser.add_argument("--state", type=Path, metavar="FOLDER", help="keep indexes here between runs (default: fresh)")
    arguments = parser.parse_args()
    repositories = load_repositories(arguments.bench, arguments.repos, arguments.only, whole=arguments.whole)
    before = from_json(json.loads(arguments.compare.read_text(encoding="utf-8"))) if arguments.compare else None
    with ExitStack() as stack:
        state = arguments.state or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cairn-bench-")))
        system = stack.enter_context(systems.start(arguments.system, arguments, state.resolve()))
        scored = run(system, repositories, arguments.limit)
    print(f"\n{system.name} {system.version}: {len(scored)} questions, {len(repositories)} repositories")
    print_report(scored, load_published(arguments.bench), arguments.worst)
    if before is not None:
        print_comparison(scored, before, shown=arguments.worst)
    if arguments.json:
        arguments.json.write_text(json.dumps(to_json(system, arguments.limit, scored), indent=1), encoding="utf-8")
    return 0


def _place(hit: Hit) -> str:
    return f"{hit.path}:{hit.start_line}-{hit.end_line}"


def _print_row(name: str, summary: Summary) -> None:
    print(
        f"{name:<22}{summary.questions:>5}{summary.chunk_ndcg:>9.4f}{summary.file_ndcg:>9.4f}"
        f"{summary.primary_at_1:>9.3f}{summary.primary_at_10:>9.3f}{summary.any_at_1:>9.3f}"
    )


def _print_question(question: Scored) -> None:
    print(f"{question.chunk_ndcg:.3f} {question.repository} [{question.category}] {question.query}")
    expected = (f"{target}: {rank or '-'}" for target, rank in zip(question.targets, question.ranks, strict=True))
    print(f"      expected  {', '.join(expected)}")
    print(f"      came      {', '.join(question.top[:SHOWN]) or 'nothing'}")


def _print_change(name: str, pairs: Sequence[tuple[Scored, Scored]]) -> None:
    """Print the mean change with its 95 % interval from the paired differences."""
    chunk = [new.chunk_ndcg - old.chunk_ndcg for old, new in pairs]
    file = [new.file_ndcg - old.file_ndcg for old, new in pairs]
    error = 1.96 * stdev(chunk) / math.sqrt(len(chunk)) if len(chunk) > 1 else math.nan
    print(
        f"{name:<22}{len(pairs):>5} chunk {fmean(chunk):+.4f} (95 %: ±{error:.4f})  file {fmean(file):+.4f}"
        f"  better {sum(change > 0 for change in chunk)}, worse {sum(change < 0 for change in chunk)}"
    )


if __name__ == "__main__":
    raise SystemExit(main())
