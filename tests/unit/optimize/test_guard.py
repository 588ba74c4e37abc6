"""When a trial is decided, and how."""

from __future__ import annotations

import numpy as np

from cairn.optimize.guard import TrialCase, weigh


def cases(count: int, gain: float, spread: float = 0.2, per_session: int = 4, seed: int = 1) -> list[TrialCase]:
    dice = np.random.default_rng(seed)
    return [
        TrialCase(f"s{number // per_session}", number % 4 == 0, float(gain + spread * dice.standard_normal()))
        for number in range(count)
    ]


def test_nothing_is_decided_before_enough_questions_came() -> None:
    verdict = weigh(cases(59, -0.5), 0)
    assert (verdict.state, verdict.looks) == ("running", 0)
    assert weigh(cases(60, -0.5), 0).state == "lost"


def test_a_version_is_judged_once_for_each_number_of_questions() -> None:
    assert weigh(cases(70, 0.0), 0).looks == 1
    assert weigh(cases(119, -0.5), 1).state == "running"
    assert weigh(cases(120, -0.5), 1) == weigh(cases(120, -0.5), 1)
    assert weigh(cases(120, -0.5), 1).state == "lost"


def test_a_version_that_is_better_stays_at_once_and_any_other_after_the_last_look() -> None:
    assert weigh(cases(60, 0.3), 0).state == "kept"
    assert weigh(cases(60, 0.0), 0).state == "running"
    assert weigh(cases(240, 0.0), 2).state == "kept"


def test_questions_of_few_sessions_or_of_one_version_decide_nothing() -> None:
    assert weigh(cases(60, -0.5, per_session=20), 0).state == "running"
    of_one = [case._replace(is_of_before=False) for case in cases(240, -0.5)]
    assert weigh(of_one, 0).state == "running"


def test_that_what_was_shown_is_opened_cancels_out() -> None:
    biased = [case._replace(gain=-0.3 if case.is_of_before else 0.3) for case in cases(240, 0.0)]
    verdict = weigh(biased, 0)
    assert abs(verdict.gain.mean) < 1e-9
    assert verdict.gain.low < 0 < verdict.gain.high or verdict.gain.low == verdict.gain.high
