#!/usr/bin/env python3
"""Do bars that were tuned to what people did serve them better afterwards, or at least not worse?

    python bench/bars.py memories --times 10
    python bench/bars.py answers FOLDER --repository REPOS/laravel-framework --bench BENCH --times 3

`memories`: the ten projects of bench/recall.py have one memory, and the prompts of data/injection_prompts.txt, which
say which memories fit, are put to it. Of the prompts, six of ten by chance are the past: each is put four times, in
slightly other words, five prompts to a session, and what is done then follows a rule, see `HABITS`. Then bars are tuned
as `cairn optimize run` does, and the other prompts are put, none of which anybody had put before.

`answers`: people with words of their own ask as in simulated_sessions.py. After one question of five they also ask one
of the benchmark about quite another project, which nothing answers; then they open the first hit half of the time, or
give up. The project is tuned, and new questions of both kinds are asked with the shipped values, with the version but
for its bar of answers, and with that.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from cairn.facets.bars import prompt_cases
from cairn.memory.choosing import ACTIVE_NOTES
from cairn.memory.moments import Moment
from cairn.memory.pertinence import LEAST_CHANCE
from cairn.memory.recall import Recollection
from cairn.optimize.bars import IN_VAIN, MOST_SHOWN, OF_USE, BarVerdict, tune_memories
from cairn.optimize.run import RunPlan
from cairn.search.tuning import SHIPPED, Tuning, parse_tuning
from cairn.workspace import Workspace
from injection import LabelledPrompt, read_prompts
from recall import build, make_others, read_written
from simulated_sessions import AGENT, OF_A_SESSION, Asked, Person, load_words, prepare, questions_of

_PAST = 0.6
_LEADS = ("", "Next task: ", "Can you do this for me: ", "From the backlog: ")
_OF_A_SESSION = 5  # prompts
_OTHERS = 20  # memories of each project that fit no prompt


class Habit(NamedTuple):
    """What is done with memories that a prompt brings, and without one that would have fitted: chances.

    Attributes:
        uses_fitting, uses_other: that one is used which fits, or does not.
        says_unhelpful: that somebody says so of one that was not used.
        asks: that a memory is asked for which fits and was not shown.
        fits: whether any memory helps at all.
    """

    uses_fitting: float
    uses_other: float
    says_unhelpful: float
    asks: float
    fits: bool = True


HABITS = {
    "as labelled": Habit(0.8, 0.05, 0.2, 0.5),
    "ask for what is not shown": Habit(1.0, 0.05, 0.2, 1.0),
    "no memory helps": Habit(0.0, 0.0, 0.3, 0.0, fits=False),
    "used by chance": Habit(0.3, 0.3, 0.1, 0.0),
    "all is used": Habit(1.0, 1.0, 0.0, 0.0),
}


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("memories", "answers"))
    parser.add_argument("folder", nargs="?", type=Path, help="where the repository is copied to, for `answers`")
    parser.add_argument("--repository", type=Path)
    parser.add_argument("--bench", type=Path, help="the benchmark")
    parser.add_argument("--sessions", type=int, default=50)
    parser.add_argument("--times", type=int, default=10)
    options = parser.parse_args()
    return {"memories": _measure_memories, "answers": _measure_answers}[options.what](options)


# -- memories ----------------------------------------------------------------------------------------------------------


class Outcome(NamedTuple):
    """What prompts get with a bar: the mean worth, the share of what is shown that is right, and of those helped."""

    worth: float
    precision: float
    helped: float


def _measure_memories(options: argparse.Namespace) -> int:
    prompts = list(read_prompts())
    print(f"{'habit':<28}{'ships':>7}{'bars':>14}   worth of a new prompt   right of what is shown   helped")
    for name, habit in HABITS.items():
        rows, bars, reasons = [], [], Counter[str]()
        for seed in range(options.times):
            verdict, before, after = _tune_and_put(prompts, habit, random.Random(seed))
            rows.append((before, after))
            bars += [verdict.bar] if verdict.is_new else []
            reasons.update(reason.split(":")[0] for reason in verdict.report["reasons"])
        means = [[fmean(row[side][place] for row in rows) for side in (0, 1)] for place in range(len(Outcome._fields))]
        columns = "   ".join(f"{before:>9.3f} to {after:<9.3f}" for before, after in means)
        worst = min(after.worth - before.worth for before, after in rows)
        span = f"{min(bars):g} to {max(bars):g}" if bars else ""
        print(f"{name:<28}{len(bars):>4}/{options.times:<2}{span:>14}   {columns}   worst {worst:+.3f}", flush=True)
        for reason, count in reasons.most_common():
            print(f"    {count} refused: {reason}")
    return 0


def _tune_and_put(
    prompts: Sequence[LabelledPrompt], habit: Habit, dice: random.Random
) -> tuple[BarVerdict, Outcome, Outcome]:
    """Return the bar that is used after some past, and what new prompts get with the shipped one and with it."""
    prompts = dice.sample(prompts, len(prompts))
    middle = int(_PAST * len(prompts))
    memories = [memory._replace(target="") for memory in read_written()]
    memories += list(make_others(_OTHERS * len({memory.project for memory in memories}), 1))
    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder), memories).store.close()
        with Workspace.open(folder) as workspace:
            past = [(lead, prompt) for lead in _LEADS for prompt in dice.sample(prompts[:middle], middle)]
            for number, (lead, prompt) in enumerate(past):
                _put(workspace, f"{AGENT}:{number // _OF_A_SESSION}", lead, prompt, habit, dice)
            memory = workspace.memory
            verdict = tune_memories(prompt_cases(memory.store, memory.recall), 1.0, 1)
            before, after = (_outcome(workspace, prompts[middle:], bar, habit) for bar in (1.0, verdict.bar))
            return verdict, before, after


def _put(
    workspace: Workspace, session: str, lead: str, prompt: LabelledPrompt, habit: Habit, dice: random.Random
) -> None:
    """Put a prompt in a session, and do what follows."""
    memory = workspace.memory
    known = memory.usage.ids_shown(session)
    text = f"{lead}{prompt.text}"
    memory.take(Moment(f"{session} {text}", "prompt", session, AGENT, time.time(), text))
    shown = sorted(memory.usage.ids_shown(session) - known)
    fitting = {found.observation.id for found in _recalled(workspace, prompt, 0.0) if _fits(found, prompt, habit)}
    for id in shown:
        if dice.random() < (habit.uses_fitting if id in fitting else habit.uses_other):
            memory.usage.note_use(session, [id], "edited")
        elif id not in fitting and dice.random() < habit.says_unhelpful:
            memory.usage.note_use(session, [id], "unhelpful")
    if (missed := sorted(fitting - known - set(shown))) and dice.random() < habit.asks:
        memory.usage.note_question("memory", prompt.text, 1, session=session, ids=missed)


def _recalled(workspace: Workspace, prompt: LabelledPrompt, least: float) -> list[Recollection]:
    return workspace.memory.recall.for_prompt(prompt.text, ACTIVE_NOTES, least)


def _fits(found: Recollection, prompt: LabelledPrompt, habit: Habit) -> bool:
    return habit.fits and found.observation.text.startswith(prompt.fitting or ("\0",))


def _outcome(workspace: Workspace, prompts: Sequence[LabelledPrompt], bar: float, habit: Habit) -> Outcome:
    shown = [
        [_fits(found, prompt, habit) for found in _recalled(workspace, prompt, bar * LEAST_CHANCE)[:MOST_SHOWN]]
        for prompt in prompts
    ]
    n_shown, n_right = sum(map(len, shown)), sum(map(sum, shown))
    called_for = [any(fits) for prompt, fits in zip(prompts, shown, strict=True) if habit.fits and prompt.fitting]
    worth = (OF_USE * n_right + IN_VAIN * (n_shown - n_right)) / len(prompts)
    return Outcome(worth, n_right / max(1, n_shown), sum(called_for) / max(1, len(called_for)))


# -- answers -----------------------------------------------------------------------------------------------------------

_ELSEWHERE = ("aeson", "alamofire", "bats-core", "lazy.nvim", "libuv", "xmonad", "zig-clap")
_SHARE, _OPENS_ANYTHING = 0.2, 0.5


def _measure_answers(options: argparse.Namespace) -> int:
    words = load_words()
    for seed in range(1, options.times + 1):
        root = prepare(options.folder.absolute(), options.repository)
        (root / ".cairn/tuning.json").unlink(missing_ok=True)
        asked = questions_of(root, words, seed)
        foreign = _foreign_questions(options.bench, seed)
        n_past, n_foreign = options.sessions * OF_A_SESSION, len(foreign) // 2
        with Workspace.open(root) as workspace:
            workspace.index()
            n_known = _live(workspace, asked[:n_past], foreign[:n_foreign], seed)
            made = workspace.tuning.run(RunPlan(seed=seed), apply=False)
            tuning = parse_tuning(made.tuning) if made.status == "proposed" else SHIPPED
            print(f"seed {seed}, {n_past} and {n_known} questions: {_words(made.report['bars']['answers'])}")
            plain = tuning._replace(bars=tuning.bars._replace(answers=1.0))
            for name, version in {"shipped values": SHIPPED, "without the bar": plain, "with it": tuning}.items():
                _print_answers(workspace, name, version, asked[n_past : 2 * n_past], foreign[n_foreign:])
    return 0


def _foreign_questions(bench: Path, seed: int) -> list[str]:
    """Return questions about projects that have nothing to do with the one that is asked."""
    files = [bench / "annotations" / f"{name}.json" for name in _ELSEWHERE]
    found = [question["query"] for file in files for question in json.loads(file.read_text("utf-8"))]
    return random.Random(seed).sample(found, len(found))


def _live(workspace: Workspace, asked: Sequence[Asked], foreign: Sequence[str], seed: int) -> int:
    """Let people ask, and return how many of their questions were about another project."""
    dice = random.Random(seed)
    others = sorted({question.path for question in asked})
    left = list(foreign)
    for number in range(0, len(asked), OF_A_SESSION):
        person = Person(workspace, f"{AGENT}:bars-{seed}-{number}", dice)
        for question in asked[number : number + OF_A_SESSION]:
            person.ask(question, others)
            if left and dice.random() < _SHARE:
                person.ask_in_vain(left.pop(), _OPENS_ANYTHING)
        person.end()
    return len(foreign) - len(left)


def _print_answers(
    workspace: Workspace, name: str, version: Tuning, asked: Sequence[Asked], foreign: Sequence[str]
) -> None:
    """Ask new questions with a version, and print what they get."""
    versions = workspace.tuning.versions
    versions.apply(versions.add(version, "proposed", {}).number)
    shown = [(question.path, [hit.path for hit in workspace.search(question.text).code]) for question in asked]
    right, empty = fmean(path in paths for path, paths in shown), fmean(not paths for _, paths in shown)
    vain = fmean(not workspace.search(text).code for text in foreign)
    worth = OF_USE * right + IN_VAIN * (1 - right - empty)
    print(
        f"  {name:<16} right file shown {right:.3f}, nothing shown {empty:.3f}, worth {worth:+.3f}, of {len(shown)};"
        f" about another project: nothing shown {vain:.3f} of {len(foreign)}",
        flush=True,
    )


def _words(report: Mapping[str, Any]) -> str:
    if not report["passed"]:
        return "; ".join(report["reasons"])
    return f"bar {report['bar']:g}, held out {report['before']:+.3f} to {report['after']:+.3f}"


if __name__ == "__main__":
    sys.exit(main())
