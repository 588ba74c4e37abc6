"""Fits weights that rank wanted files first while staying near their starting point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cairn.optimize.features import FITTED, Candidates
from cairn.search.score import Weights
from cairn.search.tuning import MAX_STEP

Floats = npt.NDArray[np.floating[Any]]
SHARPNESS = 5.0  # temperature of the softmax over scores
_STEPS, _RATE, _DECAY, _MOMENTUM, _SCALE = 100, 0.07, 0.97, 0.9, 0.99
_NEVER = np.float32(-1e9)
# How weights fitted to commit subjects of six repositories (Python, Go, JavaScript) differ from the shipped ones; a
# starting point for weights for changes. See bench/README.md.
_TYPICAL_OF_CHANGES = {
    "lexical": -0.1,
    "dense": -0.16,
    "symbol": -0.23,
    "file_lexical": -0.34,
    "path": -0.02,
    "stem": -0.11,
    "path_dense": -0.13,
    "mentions": -0.12,
    "size": -0.31,
    "depth": 0.05,
    "test": 0.21,
    "docs": 0.12,
    "config": 0.07,
    "reexport": 0.12,
    "wanted": -0.08,
    "history": -0.17,
    "learned": -0.09,
    "recent": 0.04,
    "churn": 0.05,
    "last": 0.17,
    "last_folder": 0.05,
    "telling": 0.12,
}


class _Loss(NamedTuple):
    """For all candidates: each one's share of its example's gain, which ones count, and the weight of the loss."""

    shares: Floats
    counts: npt.NDArray[np.bool_]
    weight: float


def typical_of_changes() -> Weights:
    """Return weights that suit changes in most projects."""
    shipped = Weights()
    return shipped._replace(
        **{name: round(getattr(shipped, name) + value, 4) for name, value in _TYPICAL_OF_CHANGES.items()}
    )


def fit_weights(examples: Sequence[Candidates], start: Weights, pull: float, code_share: float = 8.0) -> Weights:
    """Return weights for which a softmax over candidates' scores gives most to the wanted ones.

    Uses gradient descent with momentum (Adam; Kingma and Ba, 2015) from the given weights, and is deterministic.

    Args:
        examples: at least one.
        start: the initial weights, towards which the result is pulled.
        pull: the strength of that pull (L2).
        code_share: the weight of the loss over code files alone.
    """
    values = np.concatenate([one.values for one in examples])
    lengths = [len(one.gains) for one in examples]
    group = np.repeat(np.arange(len(examples)), lengths)
    starts = (np.cumsum(lengths) - lengths).astype(np.int64)
    gains = np.concatenate([one.gains for one in examples])
    is_code = np.concatenate([one.is_code for one in examples])
    losses = (
        _loss_of(gains, group, np.ones(len(gains), dtype=np.bool_), 1.0),
        _loss_of(np.where(is_code, gains, np.float32(0)), group, is_code, code_share),
    )
    places = [Weights._fields.index(name) for name in FITTED]
    base, free = values @ np.array(start, dtype=np.float32), np.ascontiguousarray(values[:, places])
    step: Floats
    momentum: Floats
    scale: Floats
    step, momentum, scale = np.zeros((3, len(places)), dtype=np.float32)
    for turn in range(_STEPS):
        scores = SHARPNESS * (base + free @ step)
        slope = np.zeros(len(scores), dtype=np.float32)
        for one in losses:
            slope += np.float32(one.weight) * _slope(scores, one, group, starts)
        gradient = SHARPNESS * (free.T @ slope) / (len(examples) * (1 + code_share)) + 2 * pull * step
        momentum = _MOMENTUM * momentum + (1 - _MOMENTUM) * gradient
        scale = _SCALE * scale + (1 - _SCALE) * gradient**2
        ahead = momentum / (1 - _MOMENTUM ** (turn + 1))
        size = np.sqrt(scale / (1 - _SCALE ** (turn + 1))) + 1e-8
        step -= _RATE * _DECAY ** (turn / 2) * ahead / size
    step = np.clip(np.nan_to_num(step), -MAX_STEP, MAX_STEP)
    fitted = np.array(start)
    fitted[places] += step
    return Weights(*np.round(fitted, 4).tolist())


def _loss_of(gains: Floats, group: npt.NDArray[np.int64], counts: npt.NDArray[np.bool_], weight: float) -> _Loss:
    sums = np.bincount(group, weights=gains).astype(np.float32)
    return _Loss(gains / np.where(sums > 0, sums, np.float32(1))[group], counts & (sums > 0)[group], weight)


def _slope(scores: Floats, loss: _Loss, group: npt.NDArray[np.int64], starts: npt.NDArray[np.int64]) -> Floats:
    """Return the gradient of the loss by score."""
    own = np.where(loss.counts, scores, _NEVER)
    powers = np.where(loss.counts, np.exp(own - np.maximum.reduceat(own, starts)[group]), np.float32(0))
    sums = np.add.reduceat(powers, starts)
    slope: Floats = powers / np.where(sums > 0, sums, np.float32(1))[group] - loss.shares
    return slope


def between(start: Weights, end: Weights, share: float) -> Weights:
    """Interpolate between two sets of weights."""
    return Weights(*(round(one + share * (other - one), 4) for one, other in zip(start, end, strict=True)))
