"""Decides whether a tuning may ship: only if it is better on unseen questions, and not by chance."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cairn.optimize.asking import AskedExample, Score
from cairn.optimize.examples import Example
from cairn.optimize.metrics import Interval, interval_of

FEWEST = 30  # examples to judge by
# How much the mean of a kind of question, and of a secondary metric, may fall.
MAX_FALL, MAX_CODE_FALL = 0.02, 0.03
_FEWEST_OF_KIND = 15
_IN_WORDS = {
    "code_ndcg": "NDCG@10 of code files alone",
    "file_match": "the share of questions with a right file among five",
    "function_match": "the share of wanted names among ten hits",
}
# The allowed slow-down: as a share, and in seconds of processor time.
_SLOWER, _SLOWER_SECONDS = 1.5, 0.002
MAX_LONGER = 1.1
_MOST_SHOWN = 10  # examples of better and of worse answers to report


class JudgedExample(NamedTuple):
    """A held-out example, its kind, its answers before and with the tuning, and their scores."""

    example: Example
    kind: str
    before: AskedExample
    after: AskedExample
    score_before: Score
    score_after: Score


class ChangedAnswer(NamedTuple):
    """The scores of an answer before and with the tuning.

    Attributes:
        text: the question, if it is from a commit. People's questions stay in the memory, where they can be forgotten.
        group: the session or the commit.
        before, after: NDCG@10.
    """

    text: str
    group: str
    before: float
    after: float


class GateVerdict(NamedTuple):
    """Whether a tuning may ship.

    Attributes:
        gain: in NDCG@10.
        own_gain: how much more that is than for the best tuning fitted to the same examples with right files exchanged
            at random. A gain that remains then, as from a file that is always opened, says nothing.
        before, after: the metrics by name.
        reasons: why it is refused; empty if it ships.
        n_better, n_worse: how many answers got better or worse.
        changed: those that changed most, best first.
    """

    gain: Interval
    own_gain: Interval
    before: dict[str, float]
    after: dict[str, float]
    reasons: tuple[str, ...]
    n_better: int = 0
    n_worse: int = 0
    changed: tuple[ChangedAnswer, ...] = ()


def judge(judged: Sequence[JudgedExample], seed: int, by_chance: Sequence[Sequence[float]] = ()) -> GateVerdict:
    """Return the verdict on a tuning.

    Args:
        judged: the held-out examples.
        seed: of the bootstrap.
        by_chance: NDCG@10 of the same examples for tunings fitted to right files exchanged at random.
    """
    gains = np.array([one.score_after.ndcg - one.score_before.ndcg for one in judged])
    gain = interval_of(gains, seed)
    own = min((_over(judged, worth, seed) for worth in by_chance), key=lambda one: one.low, default=gain)
    before, after = _metrics([one.score_before for one in judged]), _metrics([one.score_after for one in judged])
    reasons = []
    if len(judged) < FEWEST:
        reasons.append(f"only {len(judged)} questions were held out; {FEWEST} are needed")
    if gain.low <= 0:
        reasons.append(f"the gain is not certain: {gain.mean:+.4f}, 95 % from {gain.low:+.4f} to {gain.high:+.4f}")
    elif own.low <= 0:
        reasons.append("it gains no more than what is learned from right files exchanged at random")
    reasons += _falls(judged, before, after)
    slow, quick = (float(np.median([one.seconds for one in each] or [0.0])) for each in _pairs(judged))
    if slow > _SLOWER * quick + _SLOWER_SECONDS:
        reasons.append(f"answers take {1e3 * slow:.1f} ms in place of {1e3 * quick:.1f} ms")
    long, short = (_mean([float(one.tokens) for one in each]) for each in _pairs(judged))
    if long > MAX_LONGER * short:
        reasons.append(f"answers have {long:.0f} tokens in place of {short:.0f}")
    before["tokens"], after["tokens"] = short, long
    changed = _changed(judged)
    n_better = sum(one.after > one.before for one in changed)
    most = (*changed[: min(_MOST_SHOWN, n_better)], *changed[max(n_better, len(changed) - _MOST_SHOWN) :])
    return GateVerdict(gain, own, before, after, tuple(reasons), n_better, len(changed) - n_better, most)


def _changed(judged: Sequence[JudgedExample]) -> list[ChangedAnswer]:
    """Return the answers that got better or worse, best first."""
    found = [
        ChangedAnswer(
            one.example.text if one.example.source == "history" else "",
            one.example.group,
            round(one.score_before.ndcg, 3),
            round(one.score_after.ndcg, 3),
        )
        for one in judged
    ]
    return sorted((one for one in found if one.before != one.after), key=lambda one: one.before - one.after)


def _over(judged: Sequence[JudgedExample], worth: Sequence[float], seed: int) -> Interval:
    return interval_of([one.score_after.ndcg - other for one, other in zip(judged, worth, strict=True)], seed)


def _pairs(judged: Sequence[JudgedExample]) -> tuple[list[AskedExample], list[AskedExample]]:
    return [one.after for one in judged], [one.before for one in judged]


def _falls(judged: Sequence[JudgedExample], before: dict[str, float], after: dict[str, float]) -> list[str]:
    reasons = []
    for name, most in (("code_ndcg", MAX_CODE_FALL), ("file_match", MAX_FALL), ("function_match", MAX_FALL)):
        if after[name] < before[name] - most:
            reasons.append(f"{_IN_WORDS[name]} falls from {before[name]:.3f} to {after[name]:.3f}")
    kinds: dict[str, list[float]] = defaultdict(list)
    for one in judged:
        kinds[one.kind].append(one.score_after.ndcg - one.score_before.ndcg)
    for kind, gains in sorted(kinds.items()):
        if len(gains) >= _FEWEST_OF_KIND and np.mean(gains) < -MAX_FALL:
            reasons.append(f"{kind} fall by {-np.mean(gains):.3f}")
    return reasons


def _metrics(scores: Sequence[Score]) -> dict[str, float]:
    code = [one.code for one in scores if one.code is not None]
    return {
        "ndcg": _mean([one.ndcg for one in scores]),
        "code_ndcg": _mean(code),
        "file_match": _mean([one.match for one in scores]),
        "function_match": _mean([one.function for one in scores if one.function is not None]),
    }


def _mean(values: Sequence[float]) -> float:
    return round(float(np.mean(values)), 5) if values else 0.0
