#!/usr/bin/env python3
"""Score the bundled embedding model alone: files by their nearest chunk, with no other ranking."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cairn.search.answer import query_vector
from cairn.search.features import PATH_SHARE
from cairn.search.query import understand
from cairn.workspace import Workspace
from dataset import Repository, load_repositories
from metrics import Hit, ndcg, target_ranks

Floats = npt.NDArray[np.float32]


def scores_of(repository: Repository, share: float) -> list[float]:
    """Return NDCG@10 of each question, by files, whatever lines a target names."""
    with tempfile.TemporaryDirectory() as state, Workspace.open(repository.folder, state_dir=state) as workspace:
        workspace.index()
        library = workspace._library()
        snapshot = library.snapshot
        rows = np.flatnonzero(snapshot.file_of_row >= 0)
        files = snapshot.file_of_row[rows]
        vectors = snapshot.vectors(rows) + share * snapshot.path_vectors(files)
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        scores = []
        for question in repository.questions:
            vector = query_vector(library.model, understand(question.query, "hybrid"))
            near = np.full(len(snapshot.files.paths), -1.0, dtype=np.float32)
            if vector is not None:
                np.maximum.at(near, files, vectors @ vector)
            best = np.argsort(-near, kind="stable")[:10].tolist()
            hits = [Hit(snapshot.files.paths[file], 1, 1 << 30) for file in best]
            scores.append(ndcg(target_ranks(hits, question.targets)))
        return scores


def main() -> int:
    """Score chunks alone, then chunks with their path."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bench", type=Path, required=True, help="folder of the benchmark")
    parser.add_argument("--repos", type=Path, required=True, help="its repositories, laid out")
    arguments = parser.parse_args()
    repositories = load_repositories(arguments.bench, arguments.repos)
    for label, share in (("chunk alone", 0.0), ("chunk and path", PATH_SHARE)):
        scores = [score for repository in repositories for score in scores_of(repository, share)]
        print(f"{label:<16} NDCG@10 {np.mean(scores):.4f} over {len(scores)} questions", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
