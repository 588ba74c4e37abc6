#!/usr/bin/env python3
"""Score the bundled embedding model alone: files by their nearest chunk, with no other ranking."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cairn.embedding.protocol import Embedder
from cairn.embedding.providers import open_model
from cairn.index.texts import chunk_text
from cairn.model_settings import ModelSettings
from cairn.search.features import PATH_SHARE
from cairn.search.library import Library
from cairn.search.query import understand
from cairn.search.rank_files import query_vector
from cairn.storage.index.chunk_db import read_chunks
from cairn.workspace import Workspace
from dataset import Repository, load_repositories
from metrics import Hit, ndcg, target_ranks

Floats = npt.NDArray[np.float32]


def scores_of(repository: Repository, share: float, embedder: Embedder | None) -> list[float]:
    """Return NDCG@10 of each question, by files, whatever lines a target names."""
    with tempfile.TemporaryDirectory() as state, Workspace.open(repository.folder, state_dir=state) as workspace:
        workspace.index()
        library = workspace._index.answer(lambda library: library)
        snapshot = library.snapshot
        rows = np.flatnonzero(snapshot.file_of_row >= 0)
        files = snapshot.file_of_row[rows]
        if embedder is not None:
            vectors = embedder.embed_documents(_texts(library, rows.tolist(), embedder.max_input_chars))
        else:
            vectors = snapshot.vectors.take(rows) + share * snapshot.path_vectors.take(files)
            vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        scores = []
        for question in repository.questions:
            vector = _embed_query(library, question.query, embedder)
            near = np.full(len(snapshot.files.paths), -1.0, dtype=np.float32)
            if vector is not None:
                np.maximum.at(near, files, vectors @ vector)
            best = np.argsort(-near, kind="stable")[:10].tolist()
            hits = [Hit(snapshot.files.paths[file], 1, 1 << 30) for file in best]
            scores.append(ndcg(target_ranks(hits, question.targets)))
        return scores


def _embed_query(library: Library, text: str, embedder: Embedder | None) -> Floats | None:
    if embedder is not None:
        return embedder.embed_query(text)
    return query_vector(library.model, understand(text, "hybrid"))


def _texts(library: Library, rows: list[int], max_chars: int) -> list[str]:
    """Return what stands for each chunk when another model embeds it."""
    snapshot = library.snapshot
    ids = snapshot.chunk_ids(rows)
    chunks = read_chunks(library.connection, ids)
    texts = []
    for row, chunk_id in zip(rows, ids, strict=True):
        path = snapshot.files.paths[int(snapshot.file_of_row[row])]
        lines = library.reader.read(path, None).data.split(b"\n")
        texts.append(chunk_text(path, chunks[chunk_id], lines, max_chars))
    return texts


def _open_embedder(model: str) -> Embedder:
    return open_model(ModelSettings(provider="sentence-transformers", model=model))


def main() -> int:
    """Score chunks alone, then chunks with their path."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bench", type=Path, required=True, help="folder of the benchmark")
    parser.add_argument("--repos", type=Path, required=True, help="its repositories, laid out")
    parser.add_argument("--only", nargs="+", default=(), metavar="NAME", help="only these repositories")
    parser.add_argument("--transformer", metavar="MODEL", help="a SentenceTransformers model to compare with")
    arguments = parser.parse_args()
    repositories = load_repositories(arguments.bench, arguments.repos, arguments.only)
    runs: list[tuple[str, float, Embedder | None]] = [("chunk alone", 0.0, None), ("chunk and path", PATH_SHARE, None)]
    if arguments.transformer:
        runs.append(("transformer", 0.0, _open_embedder(arguments.transformer)))
    for label, share, embedder in runs:
        scores = [score for repository in repositories for score in scores_of(repository, share, embedder)]
        print(f"{label:<16} NDCG@10 {np.mean(scores):.4f} over {len(scores)} questions", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
