"""Watches a version on trial: is it worse than the previous one on questions asked since?

A share of the questions, chosen by their words, is still answered by the previous version. Every question whose right
files are known by now is replayed with both versions. Shown files are opened more often, so a question favours the
version that answered it; both shares get equal weight, so that this cancels out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from cairn import waiting
from cairn.memory.feedback import AnsweredQuestion
from cairn.optimize.asking import ask, code_files, known_examples, score_of
from cairn.optimize.examples import Example
from cairn.optimize.from_feedback import from_feedback
from cairn.optimize.metrics import SAMPLES, Interval
from cairn.search.library import Library
from cairn.search.tuning import Tuning

# The version is judged after each of these numbers of questions with known files. At the last one, it stays unless
# worse.
LOOKS = (60, 120, 240)
# A 99 % interval, because there are several looks.
_TAIL = 0.005
FEWEST_OF_BEFORE, FEWEST_GROUPS = 8, 6
MOST_DAYS = 60.0  # days after which it stays, for lack of evidence


class TrialCase(NamedTuple):
    """A question of a trial: its session, whether the previous version answered it, and the gain of the new one."""

    group: str
    is_of_before: bool
    gain: float


class TrialVerdict(NamedTuple):
    """The verdict of a trial so far.

    Attributes:
        state: `running`, `lost` or `kept`.
        gain: in NDCG@10, with its 99 % interval.
        looks: how often it was judged.
    """

    state: str
    gain: Interval
    looks: int


def replay(library: Library, tuning: Tuning, answered: Sequence[AnsweredQuestion]) -> list[TrialCase]:
    """Replay a trial's questions that had a use with both versions.

    Args:
        library: of the project.
        tuning: the version on trial, with the one before.
        answered: the questions asked since.
    """
    is_code = code_files(library).__contains__

    def score(version: Tuning, example: Example) -> float:
        waiting.check()
        return score_of(ask(library, version, example), example, is_code).ndcg

    return compare(tuning, answered, lambda examples: known_examples(library, examples), score)


def compare(
    tuning: Tuning,
    answered: Sequence[AnsweredQuestion],
    know: Callable[[Sequence[Example]], Iterable[Example]],
    score: Callable[[Tuning, Example], float],
) -> list[TrialCase]:
    """Return what the questions of a trial say.

    Args:
        tuning: the version on trial, with the one before.
        answered: the questions asked since.
        know: returns the examples whose files the project has.
        score: returns what a version's answer to an example is worth.
    """
    before = tuning.before or Tuning()
    own = [one for one in answered if one.question.tuning in (tuning.number, before.number)]
    numbers = {one.question.text: one.question.tuning for one in own}
    return [
        TrialCase(
            example.group, numbers[example.text] == before.number, score(tuning, example) - score(before, example)
        )
        for example in know(from_feedback(own).examples)
    ]


def weigh(cases: Sequence[TrialCase], looks: int, seed: int = 1) -> TrialVerdict:
    """Return what the questions of a trial say.

    Args:
        cases: all so far.
        looks: how often it was judged before.
        seed: of the bootstrap.
    """
    sums = _sums_by_group(cases)
    gain = _interval(sums, len(cases), seed)
    due = sum(len(cases) >= most for most in LOOKS)
    is_enough = len(sums) >= FEWEST_GROUPS and min(sums[:, 1].sum(), sums[:, 3].sum()) >= FEWEST_OF_BEFORE
    if due <= looks or not is_enough:
        return TrialVerdict("running", gain, looks)
    if gain.high < 0:
        return TrialVerdict("lost", gain, due)
    return TrialVerdict("kept" if gain.low > 0 or due == len(LOOKS) else "running", gain, due)


def _sums_by_group(cases: Sequence[TrialCase]) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return for each session the gains and the number of questions of the version before, and of the new one."""
    places: dict[str, int] = {}
    for case in cases:
        places.setdefault(case.group, len(places))
    sums = np.zeros((len(places), 4))
    for case in cases:
        column = 0 if case.is_of_before else 2
        sums[places[case.group], column : column + 2] += case.gain, 1
    return sums


def _interval(sums: np.ndarray[tuple[int, int], np.dtype[np.float64]], n_cases: int, seed: int) -> Interval:
    """Return the mean of both shares' mean gains, with its interval by bootstrap over sessions."""
    if not n_cases:
        return Interval(0.0, 0.0, 0.0, 0)
    dice = np.random.default_rng(seed)
    drawn = sums[dice.integers(0, len(sums), (SAMPLES, len(sums)))].sum(axis=1)
    means = np.sort(_mean_of_shares(drawn))
    cut = round(_TAIL * SAMPLES)
    return Interval(
        float(_mean_of_shares(sums.sum(axis=0)[None])[0]), float(means[cut]), float(means[-cut - 1]), n_cases
    )


def _mean_of_shares(
    sums: np.ndarray[tuple[int, int], np.dtype[np.float64]],
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    means: np.ndarray[tuple[int], np.dtype[np.float64]] = (
        sums[:, 0] / np.maximum(1, sums[:, 1]) + sums[:, 2] / np.maximum(1, sums[:, 3])
    ) / 2
    return means
