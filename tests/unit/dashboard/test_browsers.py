"""Links that work once, and the browsers that have opened one."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from cairn.dashboard.browsers import CODE_SECONDS, IDLE_SECONDS, LIFE_SECONDS, MOST_BROWSERS, Browsers, Codes
from cairn.errors import StoreError


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def test_a_code_works_once() -> None:
    codes = Codes()
    code = codes.issue()
    assert codes.redeem(code)
    assert not codes.redeem(code)


def test_a_code_works_for_a_minute() -> None:
    clock = Clock()
    codes = Codes(clock)
    code = codes.issue()
    clock.now += CODE_SECONDS + 1
    assert not codes.redeem(code)


@pytest.mark.parametrize("code", ["", "x", "\udcff", "é" * 1_000])
def test_a_code_that_was_never_issued_does_not_work(code: str) -> None:
    codes = Codes()
    codes.issue()
    assert not codes.redeem(code)


def test_very_many_codes_are_not_kept() -> None:
    codes = Codes()
    first = codes.issue()
    for _ in range(30):
        last = codes.issue()
    assert not codes.redeem(first)
    assert codes.redeem(last)


def test_a_browser_stays_known_to_a_later_daemon(tmp_path: Path) -> None:
    secret = Browsers(tmp_path / "browsers.json").admit()
    later = Browsers(tmp_path / "browsers.json")
    assert later.knows(secret)
    assert not later.knows(f"{secret}x")
    assert not later.knows("")


def test_the_file_holds_no_secret_and_is_its_owners_alone(tmp_path: Path) -> None:
    file = tmp_path / "browsers.json"
    secret = Browsers(file).admit()
    assert secret not in file.read_text()
    assert os.stat(file).st_mode & 0o777 == 0o600


@pytest.mark.parametrize("step", [IDLE_SECONDS + 1, LIFE_SECONDS + 1])
def test_a_browser_that_was_away_for_long_signs_in_again(tmp_path: Path, step: float) -> None:
    clock = Clock()
    browsers = Browsers(tmp_path / "browsers.json", clock)
    secret = browsers.admit()
    clock.now += step
    assert not browsers.knows(secret)


def test_a_browser_that_is_used_every_day_signs_in_once_a_month(tmp_path: Path) -> None:
    clock = Clock()
    browsers = Browsers(tmp_path / "browsers.json", clock)
    secret = browsers.admit()
    days = 0
    while browsers.knows(secret):
        days += 1
        clock.now += 86_400.0
    assert days == 31


def test_of_too_many_browsers_the_one_not_seen_for_longest_goes(tmp_path: Path) -> None:
    clock = Clock()
    browsers = Browsers(tmp_path / "browsers.json", clock)
    secrets = []
    for _ in range(MOST_BROWSERS + 1):
        clock.now += 1
        secrets.append(browsers.admit())
    assert not browsers.knows(secrets[0])
    assert all(map(browsers.knows, secrets[1:]))


def test_signed_out_browsers_are_not_known(tmp_path: Path) -> None:
    browsers = Browsers(tmp_path / "browsers.json")
    one, other = browsers.admit(), browsers.admit()
    assert browsers.dismiss(one) == 1
    assert not browsers.knows(one)
    assert browsers.knows(other)
    assert browsers.dismiss() == 1
    assert not Browsers(tmp_path / "browsers.json").knows(other)


def _make_unwritable(file: Path) -> Path:
    """Put a folder where the file is, and return what was moved away for it."""
    kept = file.rename(file.with_suffix(".kept"))
    (file / "x").mkdir(parents=True)
    return kept


def _make_writable(file: Path, kept: Path) -> None:
    (file / "x").rmdir()
    file.rmdir()
    kept.rename(file)


def test_a_browser_that_cannot_be_kept_is_not_let_in_and_puts_nobody_out(tmp_path: Path) -> None:
    file = tmp_path / "browsers.json"
    browsers = Browsers(file)
    known = [browsers.admit() for _ in range(MOST_BROWSERS)]
    _make_unwritable(file)
    with pytest.raises(StoreError, match=r"cannot write .*browsers\.json"):
        browsers.admit()
    assert all(map(browsers.knows, known))


def test_a_browser_is_known_though_it_cannot_be_noted_that_it_was_seen(tmp_path: Path) -> None:
    clock, file = Clock(), tmp_path / "browsers.json"
    browsers = Browsers(file, clock)
    secret = browsers.admit()
    _make_unwritable(file)
    for _ in range(3):
        clock.now += IDLE_SECONDS - 1
        assert browsers.knows(secret)


def test_signing_out_that_cannot_be_kept_is_an_error_and_can_be_tried_again(tmp_path: Path) -> None:
    file = tmp_path / "browsers.json"
    browsers = Browsers(file)
    secret = browsers.admit()
    kept = _make_unwritable(file)
    with pytest.raises(StoreError, match="cannot write"):
        browsers.dismiss(secret)
    assert browsers.knows(secret)
    _make_writable(file, kept)
    assert browsers.dismiss(secret) == 1
    assert not Browsers(file).knows(secret)


@pytest.mark.parametrize("content", ["", "[]", "{", '{"a": 1}', '{"a": [1]}', '{"a": ["x", "y"]}', "\x00"])
def test_a_file_that_is_none_of_ours_lets_nobody_in(tmp_path: Path, content: str) -> None:
    file = tmp_path / "browsers.json"
    file.write_text(content)
    browsers = Browsers(file)
    assert not browsers.knows("a")
    assert browsers.knows(browsers.admit())
    assert len(json.loads(file.read_text())) == 1
