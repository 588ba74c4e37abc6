"""Makes a tuning from examples: fits it on the older ones, and judges it on the newer ones."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from cairn import waiting
from cairn.digest import blake2b
from cairn.optimize.asking import ask, code_files, gains_of, known_examples, score_of
from cairn.optimize.examples import Example
from cairn.optimize.features import Candidates, candidates_of
from cairn.optimize.from_history import learn_wordings
from cairn.optimize.gate import GateVerdict, JudgedExample, judge
from cairn.optimize.metrics import discount, ndcg
from cairn.optimize.numeric import between, fit_weights, typical_of_changes
from cairn.optimize.vocabulary import learn_expansions
from cairn.search.library import Library
from cairn.search.score import Weights
from cairn.search.tuning import SHIPPED, Expansions, Tuning, describe_tuning, parse_tuning

FEWEST_EXAMPLES = 100
HELD_SHARE = 0.3
SECONDS = 150.0
# Enough examples: the newest of the older ones, and an even sample of the newer ones.
MOST_FITTED, MOST_HELD = 700, 450
# With fewer examples of a kind of question, its weights stay as they are.
_FEWEST_OF_KIND = 60
_INNER_SHARE = 0.25
_TURNS = 4  # tunings fitted to exchanged right files, which a tuning must beat
_PULLS, _CODE_SHARES, _STEPS = (0.02, 0.1), (3.0, 20.0), (1.0, 0.5)
# How much lower code may score, on the newest examples that are not held out, than with the best weights for code.
_CODE_FALL = 0.005
_OF_ASIDE, _ASIDE_STEPS = ("test", "example", "docs", "config"), (1.0, 0.5, 0.0)
CHANGES, QUESTIONS = "changes", "questions"

Progress = Callable[[str, int, int], object]


class RunPlan(NamedTuple):
    """The settings of a run.

    Attributes:
        seed: for all random numbers.
        seconds: how long to look at examples; the rest is skipped, so results may differ.
        progress: called with the kind of step, how many are done, and how many there are.
        checkpoint: called with what an interrupted run needs to continue.
        resumed: what an earlier run passed to `checkpoint`.
    """

    seed: int = 1
    seconds: float = SECONDS
    progress: Progress = lambda what, done, total: None
    checkpoint: Callable[[dict[str, Any]], object] = lambda body: None
    resumed: dict[str, Any] | None = None


class TuningProposal(NamedTuple):
    """A tuning, its verdict (None if there was nothing to judge), the numbers of examples, and why there is none."""

    tuning: Tuning
    verdict: GateVerdict | None
    counts: dict[str, int]
    reasons: tuple[str, ...]
    is_cut: bool = False


class Split(NamedTuple):
    """Examples to fit on, and held-out ones; no group is in both."""

    fitted: list[Example]
    held: list[Example]


class PastState(NamedTuple):
    """An earlier state of the project, from before some examples: how to open it, and the groups of these."""

    open: Callable[[], AbstractContextManager[Library]]
    groups: frozenset[str]


class FittedTunings(NamedTuple):
    """A tuning, and some that were fitted to the same examples with right files exchanged at random."""

    own: Tuning
    by_chance: tuple[Tuning, ...]


def propose(
    library: Library, examples: Sequence[Example], plan: RunPlan, past: Sequence[PastState] = ()
) -> TuningProposal:
    """Return a tuning fitted on the older examples, with the verdict of the held-out ones.

    Args:
        library: of the project; the new tuning is compared with the library's own.
        examples: of any source.
        plan: the settings of the run.
        past: earlier states, newest first, for some of the examples; `library` answers the others.
    """
    states = States(library, past)
    known = [example for asked, group in states.of(examples) for example in known_examples(asked, group)]
    counts = dict(Counter(example.source for example in known)) | {"examples": len(known)}
    if len(known) < FEWEST_EXAMPLES:
        reason = f"there are {len(known)} questions whose right files are known; {FEWEST_EXAMPLES} are needed"
        return TuningProposal(SHIPPED, None, counts, (reason,))
    split = split_examples(known)
    counts |= {"fitted": len(split.fitted), "held": len(split.held)}
    clock = _Clock(plan.seconds)
    if (fitted := _resumed(plan)) is None:
        fitted = _fit(states, split.fitted, plan, clock)
        kept = [describe_tuning(tuning._replace(number=1)) for tuning in (fitted.own, *fitted.by_chance)]
        plan.checkpoint({"tunings": kept})
    if fitted.own._replace(number=0) == SHIPPED:
        reason = "nothing fitted was better than the shipped values"
        return TuningProposal(SHIPPED, None, counts, (reason,), clock.is_up)
    judged = list(_ask_held(states, library.tuning, fitted.own, split.held, plan))
    verdict = judge(judged, plan.seed)
    if not verdict.reasons:
        by_chance = _ask_by_chance(states, library.tuning, fitted.by_chance, split.held, plan)
        verdict = judge(judged, plan.seed, by_chance)
    return TuningProposal(fitted.own, verdict, counts, verdict.reasons, clock.is_up)


class States:
    """The states of the project for the examples, newest first; besides the present one, only one is open at a time."""

    def __init__(self, library: Library, past: Sequence[PastState]) -> None:
        self._library, self._past = library, past

    def of(self, examples: Iterable[Example]) -> Iterator[tuple[Library, list[Example]]]:
        """Yield each state with the examples that it answers."""
        own: list[list[Example]] = [[] for _ in self._past]
        newest: list[Example] = []
        places = {group: place for place, state in enumerate(self._past) for group in state.groups}
        for example in examples:
            place = places.get(example.group)
            (newest if place is None else own[place]).append(example)
        if newest:
            yield self._library, newest
        for state, group in zip(self._past, own, strict=True):
            if group:
                with state.open() as library:
                    yield library._replace(tuning=self._library.tuning), group


def key_of(examples: Sequence[Example], seed: int, state: str) -> str:
    """Return the key of a run, equal for equal examples and states of the index."""
    content = repr((seed, state, [tuple(example) for example in examples])).encode("utf-8", "surrogatepass")
    return blake2b(content, digest_size=16).hexdigest()


def split_examples(examples: Sequence[Example]) -> Split:
    """Hold out the newest groups of each source, `HELD_SHARE` of the examples."""
    fitted: list[Example] = []
    held: list[Example] = []
    for source in sorted({example.source for example in examples}):
        own = [example for example in examples if example.source == source]
        newest: dict[str, float] = {}
        for number, example in enumerate(own):
            group = example.group or str(number)
            newest[group] = max(example.seconds, newest.get(group, 0.0))
        order = sorted(newest, key=lambda group: (newest[group], group))
        sizes = Counter(example.group or str(number) for number, example in enumerate(own))
        chosen: set[str] = set()
        while order and sum(sizes[group] for group in chosen) < HELD_SHARE * len(own):
            chosen.add(order.pop())
        for number, example in enumerate(own):
            (held if (example.group or str(number)) in chosen else fitted).append(example)
    fitted.sort(key=lambda example: example.seconds)
    held.sort(key=lambda example: example.seconds)
    step = max(1.0, len(held) / MOST_HELD)
    return Split(fitted[-MOST_FITTED:], [held[int(place * step)] for place in range(min(len(held), MOST_HELD))])


class _Clock:
    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self.is_up = False

    def check(self) -> bool:
        waiting.check()
        self.is_up = self.is_up or time.monotonic() > self._until
        return self.is_up


def _resumed(plan: RunPlan) -> FittedTunings | None:
    """Return what an interrupted run fitted; None if there is none, or it was for other shipped values."""
    if plan.resumed is None:
        return None
    try:
        own, *others = map(parse_tuning, plan.resumed["tunings"])
    except ValueError:
        return None
    return FittedTunings(own, tuple(others))


# -- fitting -----------------------------------------------------------------------------------------------------------


class _SeenExample(NamedTuple):
    """The candidates of an example."""

    example: Example
    candidates: Candidates


def _fit(states: States, examples: Sequence[Example], plan: RunPlan, clock: _Clock) -> FittedTunings:
    wordings = learn_wordings(example.text for example in examples if example.source == "history")
    tuning = Tuning(openings=wordings.openings, scopes=wordings.scopes)
    asked = [example for example in examples if example.source != "history"]
    tuning = tuning._replace(expansions=_useful_expansions(states, asked))
    found = _look(states, tuning, examples, plan, clock)
    own = _fitted(tuning, found, examples)
    if own.changes == Weights() and own.questions == Weights() and not own.expansions:
        return FittedTunings(SHIPPED, ())
    by_chance = []
    for turn in range(_TURNS):
        others = exchange_labels(examples, plan.seed * _TURNS + turn)
        expansions = learn_expansions([example for example in others if example.source != "history"])
        by_chance.append(_fitted(tuning._replace(expansions=expansions), found, others))
        clock.check()
    return FittedTunings(own, tuple(by_chance))


def _look(
    states: States, tuning: Tuning, examples: Sequence[Example], plan: RunPlan, clock: _Clock
) -> dict[str, list[_SeenExample]]:
    """Return the candidates of examples by kind, oldest first."""
    # A commit is not a question, so weights for questions are fitted only on real ones.
    counted = [example for example in examples if kind_of(tuning, example) == CHANGES or example.source != "history"]
    kinds = Counter(kind_of(tuning, example) for example in counted)
    counted = [example for example in counted if kinds[kind_of(tuning, example)] >= _FEWEST_OF_KIND]
    found: dict[str, list[_SeenExample]] = {CHANGES: [], QUESTIONS: []}
    done = 0
    for library, group in states.of(counted):
        for example in reversed(group):  # newest first, in case time runs out
            if clock.check():
                break
            plan.progress("look at questions", done, len(counted))
            done += 1
            if (candidates := candidates_of(library, tuning, example)) is not None:
                found[kind_of(tuning, example)].append(_SeenExample(example, candidates))
    return {kind: sorted(seen, key=lambda one: one.example.seconds) for kind, seen in found.items()}


def _fitted(tuning: Tuning, found: Mapping[str, Sequence[_SeenExample]], labels: Sequence[Example]) -> Tuning:
    """Return a tuning with weights fitted to examples with these right files, given for each text and group."""
    wanted = {(example.text, example.group): example for example in labels}
    for kind, seen in found.items():
        if len(seen) < _FEWEST_OF_KIND // 2:
            continue
        own = [one.candidates.wanting(wanted[one.example.text, one.example.group]) for one in seen]
        if kind == CHANGES:
            tuning = tuning._replace(changes=fit_kind(own, (Weights(), typical_of_changes())))
        else:
            tuning = tuning._replace(questions=fit_kind(own))
    return tuning


def exchange_labels(examples: Sequence[Example], seed: int) -> list[Example]:
    """Return examples with their right files exchanged at random within each source."""
    dice = random.Random(seed)
    found = list(examples)
    for source in sorted({example.source for example in examples}):
        places = [place for place, example in enumerate(examples) if example.source == source]
        others = dice.sample(places, len(places))
        for place, other in zip(places, others, strict=True):
            found[place] = examples[place]._replace(wanted=examples[other].wanted)
    return found


def kind_of(tuning: Tuning, example: Example) -> str:
    """Return the kind of an example."""
    return CHANGES if tuning.asks_for_change(example.text) else QUESTIONS


def fit_kind(found: Sequence[Candidates], starts: Sequence[Weights] = (Weights(),)) -> Weights:
    """Return weights fitted to candidates, given oldest first, as freely as the newest ones confirm.

    Args:
        starts: possible starting points; the first one is returned if nothing is better.
    """
    middle = len(found) - max(1, round(_INNER_SHARE * len(found)))
    older, newer = found[:middle], found[middle:]
    tried = [(choice, _worth(newer, weights)) for choice, weights in _trials(older, starts)]
    first = tried[0][1]
    # Changes touch tests too, but readers of an answer want the code first.
    least_code = max(worth.code for _, worth in tried) - _CODE_FALL
    choice, best = max((one for one in tried if one[1].code >= least_code), key=lambda one: one[1].both)
    if best.both <= first.both or not (choice.step or choice.aside):
        return starts[0]
    weights = choice.start
    if choice.step:
        fitted = fit_weights(found, choice.start, choice.pull, choice.code_share)
        weights = between(choice.start, fitted, choice.step)
    return _with_aside(weights, choice.aside)


class _Choice(NamedTuple):
    """A way to fit weights.

    Attributes:
        start: the starting point.
        pull, code_share: as for `fit_weights`.
        step: how far to move from the start; 0 for not at all.
        aside: how far weights for roles beside the code may move from the shipped ones.
    """

    start: Weights
    pull: float = 0.0
    code_share: float = 0.0
    step: float = 0.0
    aside: float = 1.0


def _trials(examples: Sequence[Candidates], starts: Sequence[Weights]) -> Iterator[tuple[_Choice, Weights]]:
    """Yield weights fitted in all ways; the first ones are not fitted at all."""
    for start in starts:
        fits = [(_Choice(start), start)]
        for pull, code_share in product(_PULLS, _CODE_SHARES):
            fitted = fit_weights(examples, start, pull, code_share)
            fits += [(_Choice(start, pull, code_share, step), between(start, fitted, step)) for step in _STEPS]
        for choice, weights in fits:
            for aside in _ASIDE_STEPS:
                yield choice._replace(aside=aside), _with_aside(weights, aside)


def _with_aside(weights: Weights, share: float) -> Weights:
    """Return weights in which those for roles beside the code are moved only part of the way from the shipped ones."""
    nearer = between(Weights(), weights, share)
    return weights._replace(**{name: getattr(nearer, name) for name in _OF_ASIDE})


class _Worth(NamedTuple):
    """The mean NDCG@10 of candidates over all files, and over code."""

    all: float
    code: float

    @property
    def both(self) -> float:
        return (self.all + self.code) / 2


def _worth(found: Sequence[Candidates], weights: Weights) -> _Worth:
    vector = np.array(weights, dtype=np.float32)
    marks = np.array([discount(place) for place in range(10)])
    scores: tuple[list[float], list[float]] = ([], [])
    for one in found:
        order = np.argsort(-(one.values @ vector), kind="stable")[:10]
        for own, gains in zip(scores, (one.gains, np.where(one.is_code, one.gains, np.float32(0))), strict=True):
            if gains.any():
                ideal, top = np.sort(gains)[::-1][:10], gains[order]
                own.append(float((top * marks[: len(top)]).sum() / (ideal * marks[: len(ideal)]).sum()))
    return _Worth(*(float(np.mean(own)) if own else 0.0 for own in scores))


def _useful_expansions(states: States, asked: Sequence[Example]) -> Expansions:
    """Return expansions, unless those from older questions make newer ones worse."""
    middle = len(asked) - max(1, round(_INNER_SHARE * len(asked)))
    if not (older := learn_expansions(asked[:middle])):
        return learn_expansions(asked) if asked else {}
    sums = [0.0, 0.0]
    for library, group in states.of(asked[middle:]):
        is_code = code_files(library).__contains__
        for example in group:
            for place, tuning in enumerate((SHIPPED, Tuning(number=1, expansions=older))):
                sums[place] += score_of(ask(library, tuning, example), example, is_code).ndcg
    return learn_expansions(asked) if sums[1] >= sums[0] else {}


# -- judging -----------------------------------------------------------------------------------------------------------


def _ask_held(
    states: States, current: Tuning, tuning: Tuning, held: Sequence[Example], plan: RunPlan
) -> Iterator[JudgedExample]:
    tuning = tuning._replace(number=current.number + 1)
    done = 0
    for library, group in states.of(held):
        is_code = code_files(library).__contains__
        for example in group:
            waiting.check()
            plan.progress("ask questions that were held out", done, len(held))
            done += 1
            before, after = ask(library, current, example), ask(library, tuning, example)
            scores = (score_of(asked, example, is_code) for asked in (before, after))
            yield JudgedExample(example, f"{example.source} {kind_of(tuning, example)}", before, after, *scores)


def _ask_by_chance(
    states: States, current: Tuning, tunings: Sequence[Tuning], held: Sequence[Example], plan: RunPlan
) -> list[list[float]]:
    """Return the scores of each tuning's answers, in the order of `_ask_held`."""
    found: list[list[float]] = [[] for _ in tunings]
    for library, group in states.of(held):
        for example in group:
            waiting.check()
            plan.progress("compare with chance", len(found[0]), len(held))
            for worth, tuning in zip(found, tunings, strict=True):
                asked = ask(library, tuning._replace(number=current.number + 1), example)
                worth.append(ndcg(asked.paths, gains_of(example)))
    return found
