"""Makes examples from what was done after questions, leaving out mere habits and what says nothing.

Readers look at the top of an answer first. So opening a file says less the higher it was ranked, and not opening it
says nothing unless a lower one was opened. docs/feedback.md describes the rules.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cairn.memory.feedback import AnsweredQuestion
from cairn.optimize.examples import Example, WantedFile, limit_groups
from cairn.search.query import STOP_WORDS

GAINS: Mapping[str, float] = {"good": 1.0, "edited": 1.0, "cited": 0.8, "fetched": 0.6, "read": 0.6}
MOST_OF_A_SESSION = 20
UNSHOWN_READ = (
    0.5  # share of the gain for a file that was read but not shown, since agents read around without a reason
)
FIRST_ONLY = 0.5  # share of the gain if only the first hit was opened
HABIT = 0.9  # share of questions: an agent that opens the first hit this often does it out of habit
COMMON = 0.1  # share of questions: a file used in more of them is wanted for other reasons
_LEAST_FOR_HABIT = 5  # questions needed to recognise a habit
_LEAST_FOR_COMMON = 10
_LEAST_GAIN = 0.2
REWORDED = 0.5  # share of the gain for a question without a use that was reworded into one with a use
_REWORDED_SECONDS, _SHARED_WORDS = 120.0, 0.5
_GLANCES = ("read", "fetched")
_WORD = re.compile(r"\w+")
_PATTERN = re.compile(r"[\\^$*+?()\[\]{}|]")
_HOLE = re.compile(r"\[redacted: [a-z0-9-]+\]|\[private\]")


class FeedbackExamples(NamedTuple):
    """The examples made from feedback.

    Attributes:
        examples: oldest first.
        n_asked: the number of questions.
        left_out: how many made no example, by reason: `unused`, `habit`, `common`, `pattern`, `secret`, `unwanted`
            (only called `bad`), and `limit` for those beyond a session's maximum.
    """

    examples: list[Example]
    n_asked: int
    left_out: dict[str, int]


class _Case(NamedTuple):
    """A question of a session, perhaps asked several times, with everything shown and done."""

    text: str
    session: str
    seconds: float
    number: int
    ranks: dict[str, int]
    uses: dict[str, set[str]]
    symbols: dict[str, set[str]]
    is_reworded: bool = False

    @property
    def first(self) -> str:
        """The first hit's file; empty if nothing was shown."""
        return min(self.ranks, key=self.ranks.__getitem__, default="")

    @property
    def agent(self) -> str:
        """The agent that asked."""
        return self.session.partition(":")[0]


def from_feedback(answered: Sequence[AnsweredQuestion], most_of_a_session: int = MOST_OF_A_SESSION) -> FeedbackExamples:
    """Return the examples for some feedback; equal feedback gives equal examples.

    Args:
        answered: questions with what was shown and done, in any order.
        most_of_a_session: how many examples to use from one session, the newest.
    """
    left_out: Counter[str] = Counter()
    cases = [case for case in _cases(answered) if _is_fit(case, left_out)]
    habits, shares = _habits(cases), _shares(cases)
    examples = []
    for case in cases:
        reason, example = _example(case, habits, shares)
        if example is None:
            left_out[reason] += 1
        else:
            examples.append(example)
    kept = limit_groups(examples, most_of_a_session)
    left_out["limit"] += len(examples) - len(kept)
    return FeedbackExamples(kept, len(answered), {reason: number for reason, number in left_out.items() if number})


def _cases(answered: Sequence[AnsweredQuestion]) -> list[_Case]:
    """Return the questions, with repetitions in a session merged, in the order in which they were first asked."""
    cases: dict[tuple[str, str], _Case] = {}
    for question, shown, uses in sorted(answered, key=lambda found: found.question.number):
        key = (question.session or f"question:{question.number}", question.text)
        case = cases.setdefault(
            key, _Case(question.text, key[0], question.seconds, question.number, {}, defaultdict(set), defaultdict(set))
        )
        for hit in shown:
            case.ranks[hit.path] = min(hit.rank, case.ranks.get(hit.path, hit.rank))
        for use in uses:
            case.uses[use.path].add(use.use)
            case.symbols[use.path].update({use.symbol} - {""})
    return _with_rewordings(list(cases.values()))


def _with_rewordings(cases: Sequence[_Case]) -> list[_Case]:
    """Return cases, in which those without a use that were soon reworded get the uses of the rewording."""
    found, later = [], dict[str, _Case]()
    for case in reversed(cases):
        following = later.get(case.session)
        if not case.uses and following is not None and following.uses and _is_rewording(case, following):
            case = case._replace(uses=following.uses, symbols=following.symbols, is_reworded=True)
        later[case.session] = case
        found.append(case)
    return found[::-1]


def _is_rewording(case: _Case, following: _Case) -> bool:
    one, other = (set(_WORD.findall(each.text.lower())) - STOP_WORDS for each in (case, following))
    is_soon = following.seconds - case.seconds <= _REWORDED_SECONDS
    return is_soon and bool(one and other) and len(one & other) >= _SHARED_WORDS * min(len(one), len(other))


def _is_fit(case: _Case, left_out: Counter[str]) -> bool:
    """Tell whether a question can be repeated and had any use; count those that are left out."""
    reason = ""
    if not case.uses:
        reason = "unused"
    elif _HOLE.search(case.text):
        reason = "secret"
    elif _PATTERN.search(case.text) and " " not in case.text:
        reason = "pattern"
    if reason:
        left_out[reason] += 1
    return not reason


# -- what is done anyway -----------------------------------------------------------------------------------------------


def _habits(cases: Sequence[_Case]) -> dict[str, set[str]]:
    """Return which sessions and agents habitually open the first hit, and which open nothing else.

    Returns:
        by session and by agent: `glance` if the first hit is opened in nearly all questions with hits, and `only` if
        nothing else is used in nearly all of them.
    """
    judged: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for case in cases:
        if case.first and not case.is_reworded and not _said(case):
            is_opened = case.first in case.uses
            for asker in (case.session, f"agent {case.agent}"):
                judged[asker].append((is_opened, is_opened and len(case.uses) == 1))
    habits: dict[str, set[str]] = {}
    for asker, seen in judged.items():
        if len(seen) >= _LEAST_FOR_HABIT:
            shares = [sum(column) / len(seen) for column in zip(*seen, strict=True)]
            habits[asker] = {name for name, share in zip(("glance", "only"), shares, strict=True) if share >= HABIT}
    return habits


def _habits_of(case: _Case, habits: Mapping[str, set[str]]) -> set[str]:
    return habits.get(case.session, set()) | habits.get(f"agent {case.agent}", set())


def _shares(cases: Sequence[_Case]) -> dict[str, float]:
    """Return each file's share of questions in which it was used; nothing if there are few questions."""
    if len(cases) < _LEAST_FOR_COMMON:
        return {}
    counted = Counter(path for case in cases if not case.is_reworded for path in case.uses)
    return {path: number / len(cases) for path, number in counted.items()}


def _said(case: _Case) -> bool:
    """Tell whether an answer got a verdict."""
    return any(uses & {"good", "bad"} for uses in case.uses.values())


# -- what a question teaches -------------------------------------------------------------------------------------------


def _example(case: _Case, habits: Mapping[str, set[str]], shares: Mapping[str, float]) -> tuple[str, Example | None]:
    """Return the example for a question, or the reason why there is none."""
    bad = {path for path, uses in case.uses.items() if "bad" in uses and "good" not in uses}
    given = {path: _gain(case, path) for path in case.uses if path not in bad}
    if not given:
        return "unwanted", None
    by_habit = _without_habit(case, given, _habits_of(case, habits))
    gains = {path: gain * _rarity(shares.get(path, 0.0)) for path, gain in by_habit.items()}
    gains = {path: gain for path, gain in gains.items() if gain >= _LEAST_GAIN}
    if not gains:
        return ("common" if by_habit else "habit"), None
    wanted = [
        WantedFile(path, _symbol(case, path), round(gain, 3))
        for path, gain in sorted(gains.items(), key=lambda item: (-item[1], case.ranks.get(item[0], 999), item[0]))
    ]
    last = max((case.ranks[path] for path in gains if path in case.ranks), default=0)
    skipped = [path for path, rank in case.ranks.items() if rank < last and path not in case.uses]
    unwanted = sorted({*skipped, *bad}, key=lambda path: (case.ranks.get(path, 999), path))
    return "", Example(case.text, tuple(wanted), tuple(unwanted), case.session, case.seconds, "feedback")


def _gain(case: _Case, path: str) -> float:
    """Return how much a file was wanted, judged by its use."""
    uses = case.uses[path]
    gain = max(GAINS.get(use, 0.0) for use in uses) * (REWORDED if case.is_reworded else 1.0)
    return gain * UNSHOWN_READ if path not in case.ranks and uses <= {*_GLANCES} else gain


def _without_habit(case: _Case, gains: Mapping[str, float], habits: set[str]) -> dict[str, float]:
    """Return the gains without the agent's habits, and reduced for a first hit that was used alone."""
    first = case.first
    if first not in gains or "good" in case.uses[first]:
        return dict(gains)
    is_alone, is_glance = len(case.uses) == 1, case.uses[first] <= {*_GLANCES}
    if (is_alone and "only" in habits) or (is_glance and "glance" in habits):
        return {path: gain for path, gain in gains.items() if path != first}
    return {path: gain * FIRST_ONLY if is_alone else gain for path, gain in gains.items()}


def _rarity(share: float) -> float:
    """Return the factor on a file's gain, given the share of all questions in which it is used."""
    return min(1.0, COMMON / share) if share else 1.0


def _symbol(case: _Case, path: str) -> str:
    symbols = case.symbols.get(path, set())
    return next(iter(symbols)) if len(symbols) == 1 else ""
