#!/usr/bin/env python3
"""Fit how sure hits may be, for questions and for work items, to repositories whose trees never saw them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cairn.search import confidence
from cases import Case, load_cases
from ranker import QUESTIONS, WORK_ITEMS, corrected, cross_validate, kind_of, order_of

Doubles = npt.NDArray[np.float64]


class Outcome(NamedTuple):
    """The first hit of a case: what the chance depends on, and whether it is right; a stranger's never is."""

    case: Case
    signals: tuple[float, float, float]  # score, dense, margin
    is_right: bool


def outcome_of(case: Case, said: Doubles) -> Outcome:
    """Return what became of a case."""
    scores = corrected(case, said, kind_of(case).share)
    best, *others = order_of(scores, case)
    behind = scores[others[0]] if others else 0.0
    signals = float(scores[best]), float(case.parts["dense"][best]), float(scores[best] - behind)
    return Outcome(case, signals, any(best in found for found in case.found))


def logistic(features: Doubles, right: Doubles) -> Doubles:
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


def chances(features: Doubles, weights: Doubles) -> Doubles:
    """Return the chance of being right of each row."""
    chance: Doubles = 1 / (1 + np.exp(-(weights[0] + features @ weights[1:])))
    return chance


def report(title: str, outcomes: Sequence[Outcome], shipped: confidence.Model) -> None:
    """Print the fitted weights, and how often each confidence is right: repositories left out, and as shipped."""
    features = np.array([outcome.signals for outcome in outcomes])
    right = np.array([outcome.is_right for outcome in outcomes], dtype=np.float64)
    stranger = np.array([outcome.case.kind == "stranger" for outcome in outcomes])
    names = np.array([outcome.case.project for outcome in outcomes])
    predicted = np.zeros(len(outcomes))
    for name in np.unique(names):
        out = names == name
        predicted[out] = chances(features[out], logistic(features[~out], right[~out]))
    print(f"{title}: bias, score, dense, margin {np.round(logistic(features, right), 2)}")
    for label, chance in (("left out", predicted), ("as shipped", chances(features, np.array(shipped)))):
        high = chance >= confidence.HIGH
        print(f"  {label}: high {high[~stranger].mean():.2f} of own, right {right[high & ~stranger].mean():.3f}; "
              f"high {high[stranger].mean():.3f} of strangers'")  # fmt: skip
        for low in np.arange(0, 1, 0.1):
            inside = (chance >= low) & (chance < low + 0.1)
            if inside.any():
                means = f"predicted {chance[inside].mean():.2f}, right {right[inside].mean():.2f}"
                print(f"    {low:.1f} to {low + 0.1:.1f}: {inside.sum():>4} hits, {means}")
        for kind in sorted({outcome.case.kind for outcome in outcomes} - {"stranger"}):
            own = high & np.array([outcome.case.kind == kind for outcome in outcomes])
            if own.any():
                print(f"    high of {kind}: {own.sum():>4}, right {right[own].mean():.3f}")


def main() -> int:
    """Predict, fit and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", type=Path, help="what cases.py made")
    arguments = parser.parse_args()
    cases = load_cases(arguments.cases)
    outcomes = [outcome_of(case, said) for case, said in zip(cases, cross_validate(cases), strict=True)]
    for kind, title, shipped in (
        (QUESTIONS, "questions", confidence.QUESTIONS),
        (WORK_ITEMS, "work items", confidence.WORK_ITEMS),
    ):
        report(title, [one for one in outcomes if kind_of(one.case) == kind and not one.case.first], shipped)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
