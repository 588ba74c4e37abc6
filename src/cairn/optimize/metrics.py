"""Metrics of answers: NDCG over files, a right file near the top, and bootstrap intervals."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]
LIMIT = 10
NEAR = 5
SAMPLES = 2_000


class Interval(NamedTuple):
    """A mean with its 95 % interval and sample size."""

    mean: float
    low: float
    high: float
    questions: int


def ndcg(found: Sequence[str], wanted: Mapping[str, float], limit: int = LIMIT) -> float:
    """Return the normalised discounted cumulative gain of a list of paths, 0 to 1 (Järvelin and Kekäläinen, 2002)."""
    gains = sorted(wanted.values(), reverse=True)[:limit]
    ideal = sum(gain * discount(place) for place, gain in enumerate(gains))
    got = sum(wanted.get(path, 0.0) * discount(place) for place, path in enumerate(found[:limit]))
    return got / ideal if ideal else 0.0


def discount(place: int) -> float:
    """Return the factor on the gain at a 0-based position."""
    return float(1 / np.log2(place + 2))


def file_match(found: Sequence[str], wanted: Mapping[str, float], limit: int = NEAR) -> float:
    """Return 1.0 if a wanted file is among the first, else 0.0."""
    return float(any(path in wanted for path in found[:limit]))


def function_match(names: Sequence[str], wanted: Collection[str]) -> float:
    """Return the share of wanted names that were found; `login` also matches `Session.login`."""
    known = {name for name in names if name} | {name.rpartition(".")[2] for name in names if name}
    return sum(name in known or name.rpartition(".")[2] in known for name in wanted) / len(wanted)


def interval_of(values: Sequence[float] | Doubles, seed: int = 1) -> Interval:
    """Return the mean of values with its bootstrap interval."""
    array = np.asarray(values, dtype=np.float64)
    if not len(array):
        return Interval(0.0, 0.0, 0.0, 0)
    dice = np.random.default_rng(seed)
    means = np.sort(array[dice.integers(0, len(array), (SAMPLES, len(array)))].mean(axis=1))
    return Interval(float(array.mean()), float(means[SAMPLES // 40]), float(means[-SAMPLES // 40 - 1]), len(array))
