"""Tunes the answers of a project to its own history and feedback, and says what became of it."""

from __future__ import annotations

import logging
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from cairn.errors import NotFoundError
from cairn.facets.bars import improve_bars
from cairn.facets.history import HistoryFacet
from cairn.facets.memory import MemoryFacet
from cairn.facets.past_states import PastStates
from cairn.facets.project_index import ProjectIndex
from cairn.hints import Hint
from cairn.loading import load
from cairn.optimize.asking import ask, code_files, known_examples, score_of
from cairn.optimize.evaluate import QuestionScore
from cairn.optimize.examples import Example
from cairn.optimize.from_feedback import from_feedback
from cairn.optimize.from_history import examples_from_history
from cairn.optimize.guard import MOST_DAYS, replay, weigh
from cairn.optimize.run import FEWEST_EXAMPLES, RunPlan, States, TuningProposal, key_of, propose
from cairn.optimize.versions import Version, Versions
from cairn.search.library import Library
from cairn.search.tuning import SHIPPED, Tuning, describe_tuning

if TYPE_CHECKING:
    from cairn.optimize.text_run import TextProposal

_DAY_SECONDS = 86_400.0
_log = logging.getLogger("cairn.search")
_STATES_SHARE = 0.4  # of the time of a run, for indexing earlier states of the project
_EVAL_SECONDS = 120.0  # the same where commits are scored


class TuningFacet:
    """The tuning of a project; get it as `Workspace.tuning`.

    Attributes:
        tools: what agents read of each tool, where that may be improved.
    """

    tools: Mapping[str, str] = MappingProxyType({})

    def __init__(self, index: ProjectIndex, memory: MemoryFacet, now: Callable[[], float] = time.time) -> None:
        self._index, self._memory, self._now = index, memory, now
        self._counted: tuple[object, Mapping[str, int]] | None = None

    @cached_property
    def versions(self) -> Versions:
        """The versions that were made."""
        return Versions(self._index.state, self._memory.store, self._now)

    def run(self, plan: RunPlan, *, apply: bool = True, given: Sequence[Example] = (), text_calls: int = 0) -> Version:
        """Make a version of the project's evidence, and let answers use it if the gate lets it through.

        Args:
            plan: how.
            apply: let answers use it; if not, it is only proposed.
            given: further examples.
            text_calls: how often the chat model may be asked, to improve texts.

        Raises:
            IndexMissingError: if the project was not indexed yet.
            StoreError: if nothing can be written.
        """
        self.check()
        HistoryFacet(self._index).follow()
        checkout = self._index.views.checkout
        with PastStates(self._index, _STATES_SHARE * plan.seconds) as states, ExitStack() as stack:
            examples = [*states.examples(checkout), *self._from_feedback(), *given]
            library = stack.enter_context(self._index.reading(checkout))
            key = key_of(examples, plan.seed, f"{library.snapshot.generation} {library.tuning.number}")
            kept, keep = self._resume(key)
            weights = {name: value for name, value in kept.items() if name != "replies"}
            plan = plan._replace(resumed=weights or None, checkpoint=keep)
            proposal = propose(library, examples, plan, states.found)
            before = library.tuning._replace(before=None)
            is_better = proposal.verdict is not None and not proposal.reasons
            tuning = proposal.tuning._replace(texts=before.texts, bars=before.bars) if is_better else before
            bars = improve_bars(
                library,
                tuning,
                self._memory.store,
                self._memory.recall,
                examples=examples,
                seed=plan.seed,
                progress=plan.progress,
            )
            texts = self._improve_texts(library, bars.tuning, examples, plan, text_calls, kept, keep)
        report = _report_of(proposal, plan.seed, before.number) | {"bars": bars.report, "text": texts.report}
        status = "proposed" if is_better or bars.is_new or texts.is_new else "refused"
        version = self.versions.add(texts.tuning if status == "proposed" else proposal.tuning, status, report)
        self.versions.drop_checkpoints()
        return self._use(version) if apply and status == "proposed" else version

    def _resume(self, key: str) -> tuple[dict[str, Any], Callable[[Mapping[str, Any]], None]]:
        """Return what an unfinished run of the same evidence found, and what keeps more of it."""
        kept = self.versions.checkpoint(key) or {}

        def keep(body: Mapping[str, Any]) -> None:
            kept.update(body)
            self.versions.keep_checkpoint(key, kept)

        return kept, keep

    def _use(self, version: Version) -> Version:
        """Let answers use a version: on trial where feedback tells which of two answers better."""
        return (
            self.versions.ship(version.number) if self._memory.feedback.keeps else self.versions.apply(version.number)
        )

    def check(self) -> dict[str, Any]:
        """Judge the version that is on trial by what was asked since, and return what is known.

        One that loses is rolled back, and one that does not is kept.

        Raises:
            IndexMissingError: if the project was not indexed yet.
            StoreError: if nothing can be written.
        """
        if (trial := self.versions.trial()) is None:
            return {"state": "none"}
        tuning, guard = trial
        answered = self._memory.feedback.answered(since=guard["since"])
        with self._index.reading(self._index.views.checkout) as library:
            cases = replay(library, tuning, answered)
        if self.versions.active()[0] != tuning:  # somebody chose a version meanwhile
            return {"state": "none"}
        verdict = weigh(cases, guard["looks"])
        is_old = self._now() - guard["since"] > MOST_DAYS * _DAY_SECONDS
        state = "kept" if is_old and verdict.state == "running" else verdict.state
        gain = verdict.gain
        asked = self.count_used(guard["since"])
        guard |= {"state": state, "looks": verdict.looks, "gain": gain._asdict(), "asked": asked}
        if state == "running":
            self.versions.go_on(guard)
            return {"version": tuning.number, **guard}
        what = (
            f"{gain.questions} questions asked since, 99 % of the difference from {gain.low:+.3f} to {gain.high:+.3f}"
        )
        guard["note"] = f"rolled back by itself: {what}" if state == "lost" else f"stays: {what}"
        used = self.versions.end_trial(guard)
        level = logging.WARNING if state == "lost" else logging.INFO
        _log.log(level, "version %d of the tuning %s; version %d is used", tuning.number, guard["note"], used)
        return {"version": tuning.number, **guard}

    def _improve_texts(
        self,
        library: Library,
        tuning: Tuning,
        examples: Sequence[Example],
        plan: RunPlan,
        calls: int,
        kept: dict[str, Any],
        keep: Callable[[Mapping[str, Any]], None],
    ) -> TextProposal:
        """Improve texts, going on with what a chat model said in an interrupted run."""
        replies = _replies_in(kept)
        proposal: TextProposal = load("cairn.facets.texts:improve_texts")(
            library,
            tuning,
            self._memory.store,
            self._index.settings.memory,
            examples=examples,
            tools=self.tools,
            calls=calls,
            seed=plan.seed,
            replies=replies,
            keep=lambda: keep({"replies": replies}),
            progress=plan.progress,
        )
        return proposal

    def start_due(self) -> subprocess.Popen[bytes] | None:
        """Start what is due while nobody asks, in a process at low priority; None if nothing is."""
        process: subprocess.Popen[bytes] | None = load("cairn.facets.learning:start_what_is_due")(self._index, self)
        return process

    def count_used(self, since: float) -> int:
        """Return how many questions were asked since some time, in seconds since the epoch, and led to something."""
        return self._memory.feedback.counts(since).n_used

    def count_commits(self, since: float) -> int:
        """Return how many commits say what they do and came after some time, in seconds since the epoch."""
        with self._index.reading(self._index.views.checkout) as library:
            past = None if library.past is None else library.past.past
            return 0 if past is None else int(((past.seconds > since) & (past.weights >= 1)).sum())

    def examples(self, library: Library) -> list[Example]:
        """Return what the history and the feedback of the project tell, each the oldest first."""
        found: list[Example] = []
        if library.past is not None:
            found += examples_from_history(library.past.past, library.past.folder)
        return found + self._from_feedback()

    def _from_feedback(self) -> list[Example]:
        if not self._memory.store.exists:
            return []
        return from_feedback(self._memory.feedback.answered()).examples

    def status(self) -> dict[str, Any]:
        """Return which version answers use, what a run has to learn from, and why a tuning is not used."""
        tuning, problem = self.versions.active()
        with self._index.reading(self._index.views.checkout) as library:
            counts = self._count_examples(library)
        versions = self.versions.list()
        trial = self.versions.trial()
        return {
            "trial": {"version": trial[0].number, **trial[1]} if trial else {"state": "none"},
            "notes": [
                f"version {v.number} {note}" for v in versions if (note := v.report.get("guard", {}).get("note"))
            ],
            "active": tuning.number,
            "versions": len(versions),
            "examples": dict(counts),
            "needed": FEWEST_EXAMPLES,
            "problem": problem,
            "tuning": {} if tuning == SHIPPED else describe_tuning(tuning),
        }

    def _count_examples(self, library: Library) -> Mapping[str, int]:
        """Return how many examples there are of each source; they are read again once anything has changed."""
        known = None if library.past is None else (library.past.past.extent, library.past.folder)
        key = known, self._memory.feedback.version
        if self._counted is None or self._counted[0] != key:
            examples = self.examples(library)
            counts = {source: sum(one.source == source for one in examples) for source in ("history", "feedback")}
            self._counted = key, counts
        return self._counted[1]

    def evaluate_history(self, limit: int, progress: Callable[[int, int], object] | None) -> list[QuestionScore]:
        """Return what answers to the subjects of the newest commits are worth.

        Each is asked of an earlier state of the code, see `PastStates`, and with what was known before it.
        """
        HistoryFacet(self._index).follow()
        checkout = self._index.views.checkout
        scores: list[QuestionScore] = []
        with PastStates(self._index, _EVAL_SECONDS) as states:
            examples = states.examples(checkout, limit)[-limit:]
            with self._index.reading(checkout) as newest:
                if newest.past is None:
                    raise NotFoundError("the project has no history", Hint("see what it knows", "status"))
                for library, group in States(newest, states.found).of(examples):
                    is_code = code_files(library).__contains__
                    for example in known_examples(library, group):
                        if progress is not None:
                            progress(len(scores), len(examples))
                        score = score_of(ask(library, library.tuning, example), example, is_code)
                        scores.append(QuestionScore(example.text, score.ndcg, score.match, None))
        return scores

    def diff(self, one: int, other: int) -> list[dict[str, Any]]:
        """Return what differs between two versions, 0 for the shipped values: field, value there, value here."""
        left, right = self._flat(one), self._flat(other)
        return [
            {"field": name, "before": left.get(name), "after": right.get(name)}
            for name in sorted(left.keys() | right.keys())
            if left.get(name) != right.get(name)
        ]

    def _flat(self, number: int) -> dict[str, Any]:
        document = self.versions.find(number).tuning if number else describe_tuning(SHIPPED)
        flat: dict[str, Any] = {name: document[name] for name in ("history_share", "openings", "scopes")}
        for kind in ("questions", "changes"):
            flat |= {f"{kind}.{name}": value for name, value in document[kind].items()}
        flat |= {f"bars.{name}": value for name, value in document.get("bars", {}).items()}
        flat |= {f"texts.{name}": text for name, text in document.get("texts", {}).items()}
        return flat | {f"expansions.{term}": words for term, words in document["expansions"].items()}


def _report_of(proposal: TuningProposal, seed: int, before: int) -> dict[str, Any]:
    verdict = proposal.verdict
    report: dict[str, Any] = {
        "compared_with": before,
        "seed": seed,
        "examples": proposal.counts,
        "is_cut": proposal.is_cut,
        "reasons": list(proposal.reasons),
    }
    if verdict is not None:
        report["gain"] = verdict.gain._asdict()
        report["own_gain"] = verdict.own_gain._asdict()
        report["before"], report["after"] = verdict.before, verdict.after
        report["answers"] = {
            "better": verdict.n_better,
            "worse": verdict.n_worse,
            "changed": [one._asdict() for one in verdict.changed],
        }
    return report


def _replies_in(checkpoint: Mapping[str, Any]) -> dict[str, str]:
    """Return what a chat model said in an interrupted run."""
    replies = checkpoint.get("replies", {})
    return {key: text for key, text in replies.items() if isinstance(text, str)} if isinstance(replies, dict) else {}
