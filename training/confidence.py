#!/usr/bin/env python3
"""Predict every repository with trees that never saw it: honest NDCG, and confidence fitted to the same predictions."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cairn.protocol.requests import SearchRequest
from cairn.search import confidence, learned
from cairn.search.answer import LOOK_BEHIND, WEIGHTS, query_vector
from cairn.search.rank import Ranking, rank
from cairn.storage.index import chunk_db
from cairn.workspace import Workspace
from dataset import Question, Repository, load_repositories
from metrics import Hit, first_per_file, ndcg, path_matches, target_ranks
from ranker import fit, load_cases, to_data, understood

LIMIT = 10
STRANGERS = 10  # questions about other repositories, put to each


class Outcome(NamedTuple):
    """One question's ranking, and what became of it; a stranger's question has no right answer."""

    repository: str
    features: tuple[float, float, float]  # score, dense, margin of the first hit
    right: bool
    stranger: bool
    empty: bool
    chunk_ndcg: float = 0.0
    file_ndcg: float = 0.0


def outcomes_of(repository: Repository, strangers: list[str], state: Path) -> list[Outcome]:
    """Return how the ranker answers a repository's own questions and strangers'."""
    with Workspace.open(repository.folder, state_dir=state / repository.name) as workspace:
        own = [_own(workspace, repository.name, question) for question in repository.questions]
        return own + [_stranger(workspace, repository.name, query) for query in strangers]


def _rank(workspace: Workspace, text: str) -> Ranking:
    library, query = workspace._index.answer(lambda library: library), understood(text)
    vector = query_vector(library.model, query)
    return rank(
        library.snapshot, library.connection, query, vector, SearchRequest(query=""), LIMIT + LOOK_BEHIND, WEIGHTS
    )


def _own(workspace: Workspace, name: str, question: Question) -> Outcome:
    ranking = _rank(workspace, question.query)
    hits = _hits(workspace, ranking)
    right = any(path_matches(hits[0].path, target.path) for target in question.targets)
    return Outcome(
        name,
        confidence.signals(ranking, 0),
        right,
        False,
        confidence.is_hopeless(ranking),
        *(ndcg(target_ranks(found, question.targets)) for found in (hits, first_per_file(hits))),
    )


def _hits(workspace: Workspace, ranking: Ranking) -> list[Hit]:
    library = workspace._index.answer(lambda library: library)
    ids = [library.snapshot.chunk_id(ranked.row) for ranked in ranking.rows]
    rows = chunk_db.read_chunks(library.connection, ids)
    paths = library.snapshot.files.paths
    return [
        Hit(paths[ranked.file], rows[chunk].chunk.span.start_line, rows[chunk].chunk.span.end_line)
        for ranked, chunk in zip(ranking.rows, ids, strict=True)
    ]


def _stranger(workspace: Workspace, name: str, query: str) -> Outcome:
    ranking = _rank(workspace, query)
    return Outcome(name, confidence.signals(ranking, 0), False, True, confidence.is_hopeless(ranking))


def logistic(features: npt.NDArray[np.float64], right: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return bias and weights of a logistic model, fitted by Newton's method with a ridge of 1 on scaled features."""
    mean, spread = features.mean(axis=0), features.std(axis=0) + 1e-9
    rows = np.column_stack([np.ones(len(features)), (features - mean) / spread])
    weights = np.zeros(rows.shape[1])
    for _ in range(30):
        chance = 1 / (1 + np.exp(-rows @ weights))
        curve = (rows * (chance * (1 - chance))[:, None]).T @ rows + np.eye(len(weights))
        slope = rows.T @ (chance - right) + np.r_[0, weights[1:]]
        weights -= np.linalg.solve(curve, slope)
    scaled = weights[1:] / spread
    return np.r_[weights[0] - (scaled * mean).sum(), scaled]


def chances(features: npt.NDArray[np.float64], weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the chance of being right of each row."""
    chance: npt.NDArray[np.float64] = 1 / (1 + np.exp(-(weights[0] + features @ weights[1:])))
    return chance


def report(outcomes: list[Outcome]) -> None:
    """Print NDCG, the fitted weights, and how often each level of confidence is right."""
    own = [outcome for outcome in outcomes if not outcome.stranger]
    chunk, file, first = (
        np.mean([getattr(outcome, name) for outcome in own]) for name in ("chunk_ndcg", "file_ndcg", "right")
    )
    print(f"left out: NDCG@10 chunk rule {chunk:.4f}, file rule {file:.4f}, first hit right {first:.3f}")
    features = np.array([outcome.features for outcome in outcomes])
    right = np.array([outcome.right for outcome in outcomes], dtype=np.float64)
    stranger = np.array([outcome.stranger for outcome in outcomes])
    names = np.array([outcome.repository for outcome in outcomes])
    predicted = np.zeros(len(outcomes))
    for name in np.unique(names):
        out = names == name
        predicted[out] = chances(features[out], logistic(features[~out], right[~out]))
    print("bias, score, dense, margin:", np.round(logistic(features, right), 2))
    shipped = np.r_[confidence.BIAS, confidence.SCORE, confidence.DENSE, confidence.MARGIN]
    for label, chance in (("refitted, left out", predicted), ("as shipped", chances(features, shipped))):
        high = chance >= confidence.HIGH
        print(
            f"{label}: high {high[~stranger].mean():.2f} of own questions, right {right[high & ~stranger].mean():.3f}; "
            f"{high[stranger].mean():.3f} of strangers'"
        )
        for low in np.arange(0, 1, 0.1):
            inside = (chance >= low) & (chance < low + 0.1)
            if inside.any():
                means = f"predicted {chance[inside].mean():.2f}, right {right[inside].mean():.2f}"
                print(f"  {low:.1f} to {low + 0.1:.1f}: {inside.sum():>4} hits, {means}")
    empty = np.array([outcome.empty for outcome in outcomes])
    print(f"empty answers: {empty[stranger].mean():.2f} of strangers', {empty[~stranger].mean():.3f} of own")


def main() -> int:
    """Predict, fit and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bench", type=Path, help="folder of the benchmark")
    parser.add_argument("checkouts", type=Path, help="its repositories, laid out")
    parser.add_argument("packages", type=Path, help="what collect.py unpacked")
    parser.add_argument("--state", type=Path, required=True, help="where the indexes go")
    arguments = parser.parse_args()
    repositories = load_repositories(arguments.bench, arguments.checkouts)
    cases = load_cases(arguments.bench, arguments.checkouts, arguments.packages, arguments.state)
    pick = np.random.default_rng(0)
    outcomes = []
    for repository in repositories:
        trees = fit([case for case in (*cases.bench, *cases.own) if case.repository != repository.name])
        forest = learned.make_forest(to_data(trees))
        learned.load_forest = lambda forest=forest: forest  # type: ignore[assignment,misc] # the forest of this fold
        others = [question.query for other in repositories if other is not repository for question in other.questions]
        strangers = [others[number] for number in pick.choice(len(others), STRANGERS, replace=False)]
        outcomes += outcomes_of(repository, strangers, arguments.state)
    report(outcomes)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
