"""How sure Cairn must be to show something is learned from what was of use."""

from __future__ import annotations

import random

from cairn.optimize.bars import IN_VAIN, OF_USE, BarCase, Showable, fit_bar, judge_bar, tune_memories
from cairn.optimize.examples import Example


def case(number: int, *showables: Showable) -> BarCase:
    return BarCase(Example(f"prompt {number}", (), (), f"s{number // 3}", float(number), "feedback"), showables)


def cases(least: float, count: int = 240, noise: float = 0.1, seed: int = 1) -> list[BarCase]:
    """Return cases where what is surer than `least` is of use, but for some noise."""
    dice = random.Random(seed)
    found = []
    for number in range(count):
        sureness = dice.uniform(0.5, 2.0)
        is_of_use = (sureness > least) != (dice.random() < noise)
        found.append(case(number, Showable(sureness, OF_USE if is_of_use else IN_VAIN, 40)))
    return found


def test_a_bar_is_raised_to_where_what_is_shown_is_of_use() -> None:
    verdict = tune_memories(cases(1.4, noise=0.0), 1.0, 1)
    assert verdict.is_new
    assert 1.2 <= verdict.bar <= 1.6
    assert verdict.report["after"] > verdict.report["before"]
    before, after = verdict.report["metrics"]["precision"]
    assert after > before + 0.2


def test_a_bar_is_lowered_where_what_was_kept_back_is_of_use() -> None:
    verdict = tune_memories(cases(0.0, noise=0.05), 1.0, 1)
    assert verdict.is_new
    assert verdict.bar < 0.7
    assert verdict.report["metrics"]["helped"][1] > verdict.report["metrics"]["helped"][0]


def test_use_that_has_nothing_to_do_with_sureness_changes_nothing() -> None:
    shipped = 0
    for seed in range(50):
        dice = random.Random(seed)
        worth = [OF_USE if dice.random() < 0.25 else IN_VAIN for _ in range(200)]
        # What is shown is worth as much as what is not: (1 - 3 / 4) / 4 = 0.06 each, so it is noise that decides.
        found = [case(n, Showable(dice.uniform(0.5, 2.0), one - 0.0625, 40)) for n, one in enumerate(worth)]
        shipped += tune_memories(found, 1.0, seed).is_new
    assert shipped <= 2


def test_fewer_than_a_hundred_prompts_are_not_enough() -> None:
    verdict = tune_memories(cases(1.4, count=99), 1.0, 1)
    assert (verdict.bar, verdict.is_new) == (1.0, False)
    assert verdict.report["reasons"] == ["it is known of 99 prompts what they called for; 100 are needed"]


def test_a_bar_that_hides_what_helps_does_not_pass() -> None:
    held = [case(n, Showable(1.1, IN_VAIN * 4 if n % 4 else OF_USE, 40)) for n in range(100)]
    verdict = judge_bar(held, 1.2, 1.0, 1)
    assert not verdict.is_new
    assert verdict.report["reasons"] == ["the share that gets what would help falls from 1.000 to 0.000"]


def test_a_bar_that_shows_more_for_the_same_help_does_not_pass() -> None:
    held = [case(n, Showable(1.1, OF_USE, 40), Showable(0.8, OF_USE if n % 2 else IN_VAIN, 300)) for n in range(100)]
    verdict = judge_bar(held, 0.8, 1.0, 1)
    assert not verdict.is_new
    assert any("tokens are read for what helps" in reason for reason in verdict.report["reasons"])


def test_a_bar_must_gain_more_than_those_of_exchanged_labels() -> None:
    held = cases(1.4, noise=0.0)
    assert judge_bar(held, 1.4, 1.0, 1, [0.6]).is_new
    assert not judge_bar(held, 1.4, 1.0, 1, [0.6, 1.4]).is_new


def test_without_a_better_bar_the_one_that_is_used_stays() -> None:
    sure = [case(n, Showable(3.0, OF_USE, 40)) for n in range(120)]
    assert fit_bar(sure, 1.0) == 1.0
    assert fit_bar(sure, 1.4) == 1.0
    assert tune_memories(sure, 1.0, 1).report["reasons"] == ["no other bar is worth more"]
