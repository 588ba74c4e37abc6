"""Tunes how sure Cairn must be before it shows something: an answer, or a memory for a prompt.

Showing something useless costs the reader a little; withholding something useful costs what it was worth. A bar is
chosen on older questions or prompts, and only ships if newer ones do better with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from cairn import waiting
from cairn.optimize.asking import AskedExample, ask, gains_of, known_examples
from cairn.optimize.examples import Example
from cairn.optimize.gate import FEWEST, MAX_FALL, MAX_LONGER
from cairn.optimize.metrics import file_match, interval_of
from cairn.optimize.run import FEWEST_EXAMPLES, exchange_labels, split_examples
from cairn.search.library import Library
from cairn.search.tuning import LEAST_BAR, MOST_BAR, Tuning

# The worth of showing something useful, something unused, and something called useless.
OF_USE, IN_VAIN, UNHELPFUL = 1.0, -0.25, -1.0
MOST_SHOWN = 3
_BARS = (LEAST_BAR, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.4, 1.6, 1.8, MOST_BAR)
_PULL = 0.01  # pull towards the shipped value: how much better a bar of twice or half of it must be
_IN_WORDS = {
    "precision": "the share of what is shown that is of use",
    "helped": "the share that gets what would help",
}
_TURNS = 4  # bars fitted to exchanged labels, which a bar must beat


class Showable(NamedTuple):
    """Something that may be shown.

    Attributes:
        sureness: as a multiple of the shipped bar.
        worth: of showing it, such as `OF_USE`.
        tokens: what it costs to read.
    """

    sureness: float
    worth: float
    tokens: int = 0


class BarCase(NamedTuple):
    """A question or prompt, and what may be shown for it, surest first."""

    example: Example
    showables: tuple[Showable, ...]

    def shown(self, bar: float) -> tuple[Showable, ...]:
        """Return what is shown with a bar."""
        return tuple(found for found in self.showables if found.sureness >= bar)[:MOST_SHOWN]

    def worth(self, bar: float) -> float:
        """Return the total worth of what is shown with a bar."""
        return sum(found.worth for found in self.shown(bar))


class BarVerdict(NamedTuple):
    """A bar, whether it is new, and the evidence as JSON."""

    bar: float
    is_new: bool
    report: dict[str, Any]


def tune_answers(
    library: Library,
    tuning: Tuning,
    examples: Sequence[Example],
    seed: int,
    progress: Callable[[str, int, int], object] = lambda what, done, total: None,
) -> BarVerdict:
    """Return how sure an answer must be, or it is left empty.

    Args:
        library: of the project.
        tuning: for answering the questions.
        examples: questions that people asked, with the wanted files.
        seed: for all random numbers.
        progress: called with the kind of step, how many are done, and how many there are.
    """
    known = list(known_examples(library, examples))
    current = tuning.bars.answers
    if len(known) < FEWEST_EXAMPLES:
        reason = f"there are {len(known)} questions whose right files are known; {FEWEST_EXAMPLES} are needed"
        return _refused(current, reason)
    split = split_examples(known)
    asked: dict[str, AskedExample] = {}
    for place, example in enumerate((*split.fitted, *split.held)):
        waiting.check()
        progress("ask how sure answers are", place, len(split.fitted) + len(split.held))
        asked[example.text] = ask(library, tuning, example)
    fitted, held = _answers(asked, split.fitted), _answers(asked, split.held)
    exchanged = [exchange_labels(split.fitted, seed * _TURNS + turn) for turn in range(_TURNS)]
    by_chance = [fit_bar(_answers(asked, labels), current) for labels in exchanged]
    return judge_bar(held, fit_bar(fitted, current), current, seed, by_chance)


def _answers(asked: dict[str, AskedExample], labels: Sequence[Example]) -> list[BarCase]:
    found = []
    for example in labels:
        answer = asked[example.text]
        is_right = file_match(answer.paths, gains_of(example)) > 0
        found.append(BarCase(example, (Showable(answer.sureness, OF_USE if is_right else IN_VAIN),)))
    return found


def tune_memories(cases: Sequence[BarCase], current: float, seed: int) -> BarVerdict:
    """Return how likely a memory must be relevant to a prompt to be shown.

    Args:
        cases: prompts with known relevant memories.
        current: the bar that is used.
        seed: of the bootstrap.
    """
    if len(cases) < FEWEST_EXAMPLES:
        reason = f"it is known of {len(cases)} prompts what they called for; {FEWEST_EXAMPLES} are needed"
        return _refused(current, reason)
    by_example = {case.example: case for case in cases}
    split = split_examples(list(by_example))
    fitted, held = ([by_example[example] for example in part] for part in split)
    return judge_bar(held, fit_bar(fitted, current), current, seed)


def fit_bar(cases: Sequence[BarCase], current: float) -> float:
    """Return the bar with the most worth, or the current one if none has more."""

    def worth(bar: float) -> float:
        return float(np.mean([case.worth(bar) for case in cases])) - _PULL * abs(float(np.log2(bar)))

    return max((current, *_BARS), key=worth)


def judge_bar(
    held: Sequence[BarCase], bar: float, current: float, seed: int, by_chance: Sequence[float] = ()
) -> BarVerdict:
    """Return whether a bar may replace the current one.

    Args:
        held: cases on which it was not chosen.
        bar: the new one.
        current: the one that is used.
        seed: of the bootstrap.
        by_chance: bars chosen with right files exchanged at random.
    """
    if bar == current:
        return _refused(current, "no other bar is worth more")
    gain = interval_of([case.worth(bar) - case.worth(current) for case in held], seed)
    before, after = _metrics(held, current), _metrics(held, bar)
    reasons = []
    if len(held) < FEWEST:
        reasons.append(f"only {len(held)} were held out; {FEWEST} are needed")
    if gain.low <= 0:
        reasons.append(f"the gain is not certain: {gain.mean:+.4f}, 95 % from {gain.low:+.4f} to {gain.high:+.4f}")
    own = [interval_of([case.worth(bar) - case.worth(other) for case in held], seed) for other in by_chance]
    if min((interval.low for interval in own), default=1.0) <= 0:
        reasons.append("it gains no more than what is learned from right files exchanged at random")
    reasons += [
        f"{_IN_WORDS[name]} falls from {before[name]:.3f} to {after[name]:.3f}"
        for name in ("precision", "helped")
        if after[name] < before[name] - MAX_FALL
    ]
    if after["tokens"] > MAX_LONGER * before["tokens"]:
        reasons.append(f"{after['tokens']:.0f} tokens are read for what helps, in place of {before['tokens']:.0f}")
    report = {
        "passed": not reasons,
        "reasons": reasons,
        "bar": bar,
        "held": len(held),
        "gain": gain._asdict(),
        "before": before["worth"],
        "after": after["worth"],
        "metrics": {name: [before[name], after[name]] for name in ("precision", "helped", "tokens")},
    }
    return BarVerdict(current if reasons else bar, not reasons, report)


def _metrics(cases: Sequence[BarCase], bar: float) -> dict[str, float]:
    """Return the metrics of cases with a bar.

    Returns:
        `worth` of each case; `precision`, the useful share of what is shown; `helped`, the share of cases with
        something useful in which it is shown; and `tokens` per useful thing.
    """
    shown = [found for case in cases for found in case.shown(bar)]
    n_of_use = sum(found.worth > 0 for found in shown)
    helpful = [case for case in cases if any(found.worth > 0 for found in case.showables)]
    helped = sum(any(found.worth > 0 for found in case.shown(bar)) for case in helpful)
    metrics = {
        "worth": float(np.mean([case.worth(bar) for case in cases])),
        "precision": n_of_use / len(shown) if shown else 1.0,
        "helped": helped / len(helpful) if helpful else 1.0,
        "tokens": sum(found.tokens for found in shown) / max(1, n_of_use),
    }
    return {name: round(value, 5) for name, value in metrics.items()}


def _refused(current: float, reason: str) -> BarVerdict:
    return BarVerdict(current, False, {"passed": False, "reasons": [reason]})
