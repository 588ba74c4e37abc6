#!/usr/bin/env python3
"""Train the token table that Cairn ships on mined pairs; see README.md beside this file."""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from scipy.sparse import csr_matrix, vstack
from torch import Tensor
from torch.nn.functional import cross_entropy, normalize

from cairn.search.features import PATH_SHARE
from corpus import Corpus, read_corpus
from recorded import record
from tables import Floats, Table, load_table, make_table, save_table

Ints = npt.NDArray[np.int64]

REPOSITORY = Path(__file__).resolve().parents[1]
DATA = REPOSITORY / "src" / "cairn" / "embedding" / "data"
RECORDED = REPOSITORY / "tests" / "unit" / "embedding" / "recorded"
DIMENSIONS = (256, 128, 64)  # every prefix of a vector is trained to serve by itself
GROUP = 64  # pairs of one package that share a batch: a query's rivals are code of the same project
MAX_NEW_WORD_CHARS = 24
MAX_HELD = 1_500  # questions of a left-out package


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a training run is made of."""

    pieces: int = 48_000
    least_count: int = 12  # of a word in the pairs, to get a row of its own
    epochs: int = 3
    batch: int = 1_024
    rate: float = 2e-3
    temperature: float = 0.05
    held_out: float = 0.04  # share of packages
    seed: int = 0


class Adam:
    """Adam (Kingma and Ba 2015) that moves only the rows a step has touched."""

    def __init__(self, table: Floats) -> None:
        self._table = table
        self._mean, self._square = np.zeros_like(table), np.zeros_like(table)
        self._steps = np.zeros((len(table), 1), np.float32)

    def step(self, rows: Ints, gradient: Floats, rate: float) -> None:
        """Move the rows against their gradient, shape (len(rows), dimensions)."""
        self._steps[rows] += 1
        self._mean[rows] = 0.9 * self._mean[rows] + 0.1 * gradient
        self._square[rows] = 0.99 * self._square[rows] + 0.01 * gradient**2
        mean = self._mean[rows] / (1 - 0.9 ** self._steps[rows])
        square = self._square[rows] / (1 - 0.99 ** self._steps[rows])
        self._table[rows] -= rate * mean / (np.sqrt(square) + 1e-8)


class Trainer:
    """Holds the corpus as pieces, and the table that learns from it."""

    def __init__(self, corpus: Corpus, table: Table, recipe: Recipe) -> None:
        self.vectors = table.vectors.copy()
        self._recipe, self._files, self._packages = recipe, corpus.files, corpus.packages
        to_pieces = word_pieces(corpus.words, table)
        self._texts = [matrix @ to_pieces for matrix in (corpus.queries, corpus.chunks, corpus.paths)]
        self._random = np.random.default_rng(recipe.seed)
        n_packages = int(corpus.packages.max()) + 1
        held = self._random.permutation(n_packages)[: max(1, int(n_packages * recipe.held_out))]
        is_held = np.isin(corpus.packages, held)
        self._held, self._train = np.flatnonzero(is_held), np.flatnonzero(~is_held)
        self._adam = Adam(self.vectors)

    def step(self, chosen: Ints, rate: float) -> float:
        """Learn from one batch and return its loss."""
        bags = vstack([texts[chosen] for texts in self._texts], format="csc")
        used = np.flatnonzero(np.diff(bags.indptr))
        bags = bags[:, used].tocsr()
        pooled = torch.from_numpy(bags @ self.vectors[used]).requires_grad_()
        loss = self._loss(*pooled.split(len(chosen)), torch.from_numpy(self._files[chosen]))
        loss.backward()
        self._adam.step(used, bags.T @ pooled.grad.numpy(), rate)
        return loss.item()

    def _loss(self, queries: Tensor, chunks: Tensor, paths: Tensor, files: Tensor) -> Tensor:
        """Return the contrastive loss over all nested dimensions: InfoNCE, mostly from query to chunk."""
        # A chunk of the same file is not a wrong answer.
        same = (files[:, None] == files[None, :]) & ~torch.eye(len(files), dtype=torch.bool)
        target = torch.arange(len(files))
        total = torch.zeros(())
        for size in DIMENSIONS:
            answers = join(chunks[:, :size], paths[:, :size])
            scores = normalize(queries[:, :size], dim=1) @ answers.T / self._recipe.temperature
            scores = scores.masked_fill(same, -1e4)
            total = total + cross_entropy(scores, target) + 0.5 * cross_entropy(scores.T, target)
        return total / len(DIMENSIONS)

    def batches(self) -> list[Ints]:
        """Return one epoch's batches, each of groups from some packages."""
        groups = []
        for package in np.unique(self._packages[self._train]):
            members = self._train[self._packages[self._train] == package]
            members = self._random.permutation(members)
            groups += [members[first : first + GROUP] for first in range(0, len(members), GROUP)]
        order = self._random.permutation(len(groups))
        step = max(1, self._recipe.batch // GROUP)
        return [np.concatenate([groups[g] for g in order[i : i + step]]) for i in range(0, len(order), step)]

    @torch.no_grad()
    def held_out_score(self) -> float:
        """Return the mean reciprocal rank of the right file among its package's, over left-out packages."""
        ranks = []
        for package in np.unique(self._packages[self._held]):
            chosen = self._held[self._packages[self._held] == package][:MAX_HELD]
            queries, chunks, paths = (torch.from_numpy(texts[chosen] @ self.vectors) for texts in self._texts)
            scores = (normalize(queries, dim=1) @ join(chunks, paths).T).numpy()
            same = self._files[chosen][:, None] == self._files[chosen][None, :]
            right = np.where(same, scores, -2).max(axis=1, keepdims=True)
            ranks.append(1 / (1 + (np.where(same, -2, scores) > right).sum(axis=1)))
        return float(np.concatenate(ranks).mean())

    def run(self) -> None:
        """Train, printing the learning curve."""
        epochs, started = self._recipe.epochs, time.perf_counter()
        print(f"epoch 0: held-out MRR {self.held_out_score():.4f}", flush=True)
        for epoch in range(epochs):
            batches = self.batches()
            rates = self._recipe.rate * (1 - (epoch + np.arange(len(batches)) / len(batches)) / epochs)
            losses = [self.step(chosen, rate) for chosen, rate in zip(batches, rates.tolist(), strict=True)]
            score, seconds = self.held_out_score(), time.perf_counter() - started
            print(
                f"epoch {epoch + 1}: loss {np.mean(losses):.3f}, held-out MRR {score:.4f}, {seconds:.0f} s", flush=True
            )


def join(chunks: Tensor, paths: Tensor) -> Tensor:
    """Return the unit vectors of chunks with their paths, as Cairn's search adds them."""
    return normalize(normalize(chunks, dim=1) + PATH_SHARE * normalize(paths, dim=1), dim=1)


def word_pieces(words: list[str], table: Table) -> csr_matrix:
    """Return how often each piece stands in each word. Shape (n_words, n_pieces)."""
    ids, counts = table.splitter().piece_ids(words)
    start = np.concatenate(([0], np.cumsum(counts)))
    return csr_matrix((np.ones(len(ids), np.float32), ids, start), shape=(len(words), len(table.pieces)))


def choose_pieces(corpus: Corpus, base: Table, recipe: Recipe) -> Table:
    """Return the base table with rows for the corpus's frequent words and without the pieces it never uses.

    A new word starts as the sum of its pieces, so that the table means at first what the base one did.
    """
    seen = sum(np.diff(texts.tocsc().indptr) for texts in (corpus.queries, corpus.chunks, corpus.paths))
    pieces = word_pieces(corpus.words, base)
    starts = pieces @ base.vectors
    used = np.diff(pieces.tocsc().indptr) > 0
    names = [piece.decode() for piece in base.pieces.tolist()]
    vectors = {
        name: vector
        for name, vector, is_used in zip(names, base.vectors, used, strict=True)
        if is_used or len(name.removeprefix("##")) == 1
    }
    n_kept = len(vectors)
    for number in np.argsort(-seen, kind="stable").tolist():
        word = corpus.words[number]
        if len(vectors) == recipe.pieces or seen[number] < recipe.least_count:
            break
        is_split = pieces.indptr[number + 1] - pieces.indptr[number] > 1
        if is_split and len(word) <= MAX_NEW_WORD_CHARS and word.isascii():
            vectors[word] = starts[number]
    print(f"{n_kept} pieces of the base table, {len(vectors) - n_kept} new words")
    return make_table(vectors)


def main() -> int:
    """Run the training and write the model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", type=Path, help="folder that mine.py wrote")
    parser.add_argument("--base", type=Path, required=True, help="folder with the table that distill.py wrote")
    parser.add_argument("--out", type=Path, default=DATA, help="where the run-time files go")
    parser.add_argument("--recorded", type=Path, default=RECORDED, help="where the tests' recorded answers go")
    for name, value in (("epochs", 3), ("batch", 1_024), ("pieces", 48_000)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--rate", type=float, default=Recipe().rate)
    arguments = parser.parse_args()
    torch.manual_seed(0)
    recipe = Recipe(epochs=arguments.epochs, batch=arguments.batch, pieces=arguments.pieces, rate=arguments.rate)
    corpus = read_corpus(arguments.pairs)
    n_packages = len(set(corpus.packages.tolist()))
    print(f"{corpus.queries.shape[0]} pairs of {n_packages} packages, {len(corpus.words)} words")
    table = choose_pieces(corpus, load_table(arguments.base), recipe)
    trainer = Trainer(corpus, table, recipe)
    trainer.run()
    trained = Table(table.pieces, trainer.vectors)
    about = {
        "source": "distilled from sentence-transformers/all-MiniLM-L6-v2, trained on mined pairs",
        "pairs": corpus.queries.shape[0],
        "packages": n_packages,
        "epochs": recipe.epochs,
    }
    print(json.dumps(save_table(trained, arguments.out, about), indent=1))
    record(trained, arguments.recorded)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
