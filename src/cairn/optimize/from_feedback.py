"""Makes examples of what was done after questions; what says nothing, or only what an agent does anyway, is left out.

Who looks at an answer looks at its top first, so that a file was opened says less the higher it stood, and that it was
not opened says nothing unless one below it was. The rules are told in docs/feedback.md.
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
UNSHOWN_READ = 0.5  # what is left of the gain of a file that was read and not shown: reading around needs no reason
FIRST_ONLY = 0.5  # what is left where the first hit was opened and nothing else
HABIT = 0.9  # of the questions: an agent that opens the first hit so often opens it whatever it is
COMMON = 0.1  # of the questions: a file that is used in more is wanted for itself
_LEAST_FOR_HABIT = 5  # questions that a habit is known by
_LEAST_FOR_COMMON = 10
_LEAST_GAIN = 0.2
REWORDED = 0.5  # what is left for a question without a use that was asked again in other words, which had one
_REWORDED_SECONDS, _SHARED_WORDS = 120.0, 0.5
_GLANCES = ("read", "fetched")
_WORD = re.compile(r"\w+")
_PATTERN = re.compile(r"[\\^$*+?()\[\]{}|]")
_HOLE = re.compile(r"\[redacted: [a-z0-9-]+\]|\[private\]")


class FeedbackExamples(NamedTuple):
    """What was made of feedback.

    Attributes:
        examples: the oldest first.
        n_asked: questions that there were.
        left_out: how many made no example, by the reason: `unused`, `habit`, `common`, `pattern`, `secret`, `unwanted`
            (nothing but `bad` was said), and `limit` for those beyond the most of a session.
    """

    examples: list[Example]
    n_asked: int
    left_out: dict[str, int]


class _Case(NamedTuple):
    """A question that was asked once or several times in a session, with all that was shown and done."""

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
        """The best file; empty if nothing was shown."""
        return min(self.ranks, key=self.ranks.__getitem__, default="")

    @property
    def agent(self) -> str:
        """The agent that asked."""
        return self.session.partition(":")[0]


def from_feedback(answered: Sequence[AnsweredQuestion], most_of_a_session: int = MOST_OF_A_SESSION) -> FeedbackExamples:
    """Return the examples that feedback gives; equal feedback gives equal examples.

    Args:
        answered: questions with what was shown and done, in any order.
        most_of_a_session: how many examples one session may give, the newest.
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
    """Return the questions, those that a session asked again taken together, in the order they were asked first."""
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
    """Return cases, of which those without a use that were soon asked again in other words have what was used then."""
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
    """Tell whether a question can be asked again and was followed by anything; count those that are left out."""
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
    """Return which sessions and agents open the first hit whatever it is, and which open nothing else.

    Returns:
        for a session and for an agent, `glance` if the first hit is opened in nearly all questions that showed
        anything, and `only` if it is all that is used in nearly all of them.
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
    """Return for each file in which share of the questions it was used; nothing where there are few questions."""
    if len(cases) < _LEAST_FOR_COMMON:
        return {}
    counted = Counter(path for case in cases if not case.is_reworded for path in case.uses)
    return {path: number / len(cases) for path, number in counted.items()}


def _said(case: _Case) -> bool:
    """Tell whether somebody said what they think of an answer."""
    return any(uses & {"good", "bad"} for uses in case.uses.values())


# -- what a question teaches -------------------------------------------------------------------------------------------


def _example(case: _Case, habits: Mapping[str, set[str]], shares: Mapping[str, float]) -> tuple[str, Example | None]:
    """Return the example that a question makes, or the reason why it makes none."""
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
    """Return how much a file was wanted by what was done with it."""
    uses = case.uses[path]
    gain = max(GAINS.get(use, 0.0) for use in uses) * (REWORDED if case.is_reworded else 1.0)
    return gain * UNSHOWN_READ if path not in case.ranks and uses <= {*_GLANCES} else gain


def _without_habit(case: _Case, gains: Mapping[str, float], habits: set[str]) -> dict[str, float]:
    """Return the gains without what the agent does whatever it is shown, and less for a first hit used alone."""
    first = case.first
    if first not in gains or "good" in case.uses[first]:
        return dict(gains)
    is_alone, is_glance = len(case.uses) == 1, case.uses[first] <= {*_GLANCES}
    if (is_alone and "only" in habits) or (is_glance and "glance" in habits):
        return {path: gain for path, gain in gains.items() if path != first}
    return {path: gain * FIRST_ONLY if is_alone else gain for path, gain in gains.items()}


def _rarity(share: float) -> float:
    """Return what is left of the gain of a file that is used in some share of all questions."""
    return min(1.0, COMMON / share) if share else 1.0


def _symbol(case: _Case, path: str) -> str:
    symbols = case.symbols.get(path, set())
    return next(iter(symbols)) if len(symbols) == 1 else ""
