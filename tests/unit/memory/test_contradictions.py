"""Rules that decide the same thing differently, and many that only look so."""

from __future__ import annotations

import time

import pytest

import supersede as measured
from cairn.memory.contradictions import MAX_CHARS, contradicts, read_ruling


def test_of_the_measured_rules_none_that_hold_side_by_side_contradict_each_other(
    capsys: pytest.CaptureFixture[str],
) -> None:
    measured.judge_rules(measured.RULES)
    develop, report = capsys.readouterr().out.splitlines()
    assert ", 0 of 3,362 other pairs taken" in develop
    assert ", 0 of 3,884 other pairs taken" in report
    assert int(develop.split()[1]) + int(report.split()[1]) >= 64


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("timeouts are 60 seconds", "a request may take two minutes at most"),
        ("timeouts are 90s", "requests time out after 1 minute because the proxy gives up after 2 minutes"),
        ("Use tabs for indentation, not spaces.", "indent with spaces from now on"),
        ("the port is 8080", "the server listens on port 9090"),
        ("always use `yarn`", "use npm, never yarn"),
    ],
)
def test_other_words_for_another_decision_are_a_contradiction(old: str, new: str) -> None:
    assert contradicts(old, new)
    assert contradicts(new, old)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("timeouts are 60 seconds", "a request may take a minute at most"),
        ("timeouts are 60 seconds", "timeouts are at least two minutes in the proxy"),
        ("use tabs", "should we indent with spaces?"),
        ("use tabs", "if the file has spaces, indent with spaces"),
        ("use tabs", "use tabs, or spaces where tabs break the table"),
        ("use tabs", "YAML is indented with spaces"),
        ("use tabs", "the old code was indented with spaces"),
        ("timeouts are 60 seconds", "the request timed out after 30 seconds"),
        ("timeouts are 60 seconds", "timeouts are 60 seconds, and 5 seconds for the database"),
        ("use npm", "use npm to install yarn"),
        ("retry twice", "retry webhooks five times"),
        ("the minimum Python version is 3.9", "CI runs on Python 3.12"),
        ("we support Python 3.9 and newer", "the minimum Python is 3.9.0"),
        ("coverage must be at least 80 %", "coverage is at most 95 % because of generated code"),
        ("format with black", "lint with ruff"),
        ("store times in UTC", "show times in local time"),
        ("use default exports", "we had no default exports"),
        ("", "use tabs"),
    ],
)
def test_the_same_decision_another_subject_a_doubt_or_a_condition_is_none(old: str, new: str) -> None:
    assert not contradicts(old, new)
    assert not contradicts(new, old)


@pytest.mark.parametrize("unit", ["use tabs ", "a request may take 2 minutes at most ", "no not ", "half an ", "1_0 "])
def test_rules_are_read_in_no_time_whatever_the_text(unit: str) -> None:
    started = time.perf_counter()
    read_ruling((unit * MAX_CHARS)[:MAX_CHARS])
    read_ruling(unit * (1_000_000 // len(unit)))
    assert time.perf_counter() - started < 1
