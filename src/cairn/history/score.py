"""Scores the commits of a history, and through them the files that they changed, for the terms of a query."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from cairn.history.past import BODY_FIELD, Floats, Ints, Past
from cairn.kernels.grouping import group

BODY_SHARE = 0.5
SHARPNESS = 2.0
TOP = 60
SATURATION = 0.25
_COMMON = 4_096  # a term in more commits is read by itself, which is faster then and takes less memory


class Weighted(NamedTuple):
    """A term that is looked for: its hash, and how much it counts."""

    hashed: int
    weight: float


class CommitScores(NamedTuple):
    """Commits by their numbers, best first, with the share of the terms' rarity that each covers. Shapes: (n,)."""

    commits: Ints
    shares: Floats


class FileScores(NamedTuple):
    """Files by the numbers of their paths, with a score from 0 to 1 for each. Shapes: (n,)."""

    paths: Ints
    scores: Floats


_NONE = np.zeros(0, np.int64)


def score_commits(past: Past, terms: Iterable[Weighted], limit: int = TOP) -> CommitScores:
    """Return the commits that say most of what is looked for.

    Args:
        past: the history.
        terms: what is looked for.
        limit: how many at most.
    """
    shares = _shares(past, list(terms))
    best = _largest(shares, limit)
    return CommitScores(best, shares[best])


def score_files(past: Past, terms: Iterable[Weighted]) -> FileScores:
    """Return the files that commits changed which say what is looked for.

    Each of the best commits is evidence for its files: more if it covers more of the terms, is recent and small.

    Args:
        past: the history.
        terms: what is looked for, each with its weight; words of a subject more than those of details.
    """
    shares = _shares(past, list(terms))
    evidence = shares**SHARPNESS * past.standing
    best = _largest(evidence, TOP)
    if not len(best):
        return FileScores(_NONE, np.zeros(0, np.float32))
    counts = past.counts[best]
    places = _runs(past.change_start[best], counts)
    paths, _, inverse = group(past.changes[places])
    sums = np.bincount(inverse, weights=np.repeat(evidence[best], counts))
    return FileScores(paths.astype(np.int64), (sums / (sums + SATURATION)).astype(np.float32))


def _runs(starts: Ints, counts: Ints) -> Ints:
    """Return the numbers from each start on, as many as it has, end to end."""
    numbers: Ints = np.arange(counts.sum()) + np.repeat(starts - np.cumsum(counts) + counts, counts)
    return numbers


def _shares(past: Past, terms: Sequence[Weighted]) -> Floats:
    """Return the share of the terms' rarity that each commit covers. Shape (n_commits,)."""
    postings, n = past.postings, len(past)
    if not n or not terms or not len(postings.hashes):
        return np.zeros(n, np.float32)
    hashes = np.array([hashed for hashed, _ in terms], dtype=np.uint64)
    places = np.minimum(postings.hashes.searchsorted(hashes), len(postings.hashes) - 1)
    starts = postings.start[places].astype(np.int64)
    counts = np.where(postings.hashes[places] == hashes, postings.start[places + 1] - starts, 0)
    values = np.array([weight for _, weight in terms]) * np.log1p((n - counts + 0.5) / (counts + 0.5))
    common = counts > _COMMON
    inside = _runs(starts[~common], counts[~common])
    gains = np.repeat(values[~common], counts[~common])
    gains[postings.fields[inside] == BODY_FIELD] *= BODY_SHARE
    # Of no rows, its result has no fractions.
    shares, total = np.bincount(postings.rows[inside], gains, n).astype(np.float64), values.sum()
    for start, count, value in zip(starts[common], counts[common], values[common], strict=True):
        part = slice(start, start + count)
        shares[postings.rows[part]] += np.where(postings.fields[part] == BODY_FIELD, value * BODY_SHARE, value)
    return (shares / total).astype(np.float32) if total else np.zeros(n, np.float32)


def _largest(values: Floats, limit: int) -> Ints:
    """Return where the largest values above 0 are, largest first."""
    places = np.flatnonzero(values > 0)
    if len(places) > limit:
        places = places[values[places] >= np.partition(values[places], -limit)[-limit]]
    return places[np.lexsort((places, -values[places]))][:limit]
