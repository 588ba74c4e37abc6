"""Improves texts and judges them on held-out examples, by the same gate as weights."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from cairn import waiting
from cairn.loading import load
from cairn.optimize.asking import ask, code_files, score_of
from cairn.optimize.chatting import MeteredChat
from cairn.optimize.examples import Example
from cairn.optimize.gate import JudgedExample, judge
from cairn.optimize.metrics import interval_of
from cairn.optimize.run import kind_of, split_examples
from cairn.optimize.text_kinds import Progress, Rewrites, TextKind, Texts, exchange_words
from cairn.search.library import Library
from cairn.search.tuning import Tuning

FEWEST = 40  # least number of examples of a kind
_FEWEST_JUDGED = 12
_MOST_HELD, _MOST_KEPT, _MOST_TRIED = 40, 20, 60
_ROUNDS = 12
_LEAST_CALLS = 3 * _MOST_KEPT  # questions that a search needs besides those for the gate


class TextWork(NamedTuple):
    """Texts of a kind, and the examples for them."""

    kind: TextKind
    examples: Sequence[Example]


class TextProposal(NamedTuple):
    """A tuning with the texts that passed, and a report for each kind."""

    tuning: Tuning
    report: dict[str, Any]

    @property
    def is_new(self) -> bool:
        """Whether any text passed."""
        return any(isinstance(one, dict) and one.get("passed") for one in self.report.values())


def why_not(provider: str) -> str:
    """Return why texts cannot be improved here; empty if they can.

    Args:
        provider: of the chat model, empty without one.
    """
    if not provider:
        return "no chat model is configured"
    return "" if find_spec("gepa") else "the extra codecairn[optimize] is not installed"


def propose_texts(
    library: Library,
    tuning: Tuning,
    works: Sequence[TextWork],
    chat: MeteredChat,
    *,
    seed: int,
    progress: Progress = lambda what, done, total: None,
) -> TextProposal:
    """Return a tuning with improved texts, as far as they pass.

    Args:
        library: of the project.
        tuning: to extend and to compare with.
        works: the texts and their examples.
        chat: the chat model; all of them share the rest of its budget, in order.
        seed: for all random numbers.
        progress: called with the kind of step, how many are done, and how many there are.
    """
    report: dict[str, Any] = {}
    for number, work in enumerate(works):
        waiting.check()
        progress("improve texts", number, len(works))
        texts, report[work.kind.name] = _improve(library, work, chat, seed)
        if texts and isinstance(work.kind, Rewrites):
            tuning = tuning._replace(expansions=work.kind.tuned(texts).expansions)
        elif texts:
            tuning = tuning._replace(texts={**tuning.texts, **texts})
    report |= {"calls": chat.calls, "tokens": chat.tokens}
    return TextProposal(tuning, report)


def _improve(library: Library, work: TextWork, chat: MeteredChat, seed: int) -> tuple[Texts, dict[str, Any]]:
    """Return the texts of a kind that pass, if any, and the report."""
    kind, examples = work
    if len(examples) < FEWEST:
        return {}, _refused(f"there are {len(examples)} examples; {FEWEST} are needed")
    fitted, held = split_examples(examples)
    held, fitted = held[-_MOST_HELD:], fitted[-_MOST_TRIED - _MOST_KEPT :]
    kept, tried = fitted[::3][-_MOST_KEPT:], [one for place, one in enumerate(fitted) if place % 3]
    reserve = 2 * kind.calls * len(held)
    if kind.calls and chat.budget.calls - chat.calls < reserve + _LEAST_CALLS:
        return {}, _refused("too little is left of the budget of questions")
    with chat.reserving(reserve):
        texts: Texts = load("cairn.optimize.text_search:improve")(kind, tried, kept, chat, rounds=_ROUNDS, seed=seed)
    changed = {name: text for name, text in texts.items() if text != kind.seeds[name]}
    if not changed:
        return {}, _refused(chat.problem or "no text was better on the examples")
    report = _judge(library, kind, {**kind.seeds, **texts}, held, chat, seed)
    report["texts"] = changed
    return (changed if report["passed"] else {}), report


def _judge(
    library: Library, kind: TextKind, texts: Texts, held: Sequence[Example], chat: MeteredChat, seed: int
) -> dict[str, Any]:
    if isinstance(kind, Rewrites):
        return _judge_search(library, kind, texts, held, seed)
    pairs = []
    for example in held:
        before, after = (kind.run(example, each, chat).score for each in (kind.seeds, texts))
        if before is not None and after is not None:
            pairs.append((before, after))
    gains = [after - before for before, after in pairs]
    gain = interval_of(gains, seed)
    reasons = []
    if len(pairs) < _FEWEST_JUDGED:
        reasons.append(chat.problem or f"only {len(pairs)} examples were answered with both texts")
    elif gain.low <= 0:
        reasons.append(f"the gain is not certain: {gain.mean:+.4f}, 95 % from {gain.low:+.4f} to {gain.high:+.4f}")
    means = [round(float(np.mean(side)), 5) for side in zip(*pairs, strict=True)] or [0.0, 0.0]
    return _report(gain._asdict(), means, reasons)


def _judge_search(library: Library, kind: Rewrites, texts: Texts, held: Sequence[Example], seed: int) -> dict[str, Any]:
    """Judge rewrites like weights, by searches, and against rewrites with exchanged words."""
    is_code = code_files(library).__contains__
    own = kind.tuned(texts)
    tunings = kind.tuned(kind.seeds), own, own._replace(expansions=exchange_words(own.expansions))
    judged, by_chance = [], []
    for example in held:
        waiting.check()
        before, after, chance = (ask(library, tuning, example) for tuning in tunings)
        name = f"{example.source} {kind_of(tunings[0], example)}"
        score_before, score_after = score_of(before, example, is_code), score_of(after, example, is_code)
        judged.append(JudgedExample(example, name, before, after, score_before, score_after))
        by_chance.append(score_of(chance, example, is_code).ndcg)
    verdict = judge(judged, seed, [by_chance])
    means = [verdict.before["ndcg"], verdict.after["ndcg"]]
    return _report(verdict.gain._asdict(), means, list(verdict.reasons))


def _report(gain: dict[str, Any], means: Sequence[float], reasons: list[str]) -> dict[str, Any]:
    return {"passed": not reasons, "gain": gain, "before": means[0], "after": means[1], "reasons": reasons}


def _refused(reason: str) -> dict[str, Any]:
    return {"passed": False, "reasons": [reason]}


def tools_of(examples: Sequence[Example], tools: Texts) -> list[str]:
    """Return the names of existing tools that examples want."""
    return sorted({example.wanted[0].path for example in examples} & tools.keys())
