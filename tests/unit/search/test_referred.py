from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cairn.history.past import Extent, Past, load_past, save_past
from cairn.search.referred import MAX_REFERENCES, references_of
from cairn.search.work_item import read_work_item
from cairn.storage.history.commit_db import StoredCommit

SPLIT, WAIT, OTHER = "ab12cd34ef" * 4, "ab12cd35ef" * 4, "0123456789" * 4
SUBJECTS = {SPLIT: "Split the address (#31)", WAIT: "Wait for the lock, fixes #47", OTHER: "Rename it, see #52"}


@pytest.fixture
def past(tmp_path: Path) -> Past:
    return history(tmp_path, SUBJECTS)


def history(folder: Path, subjects: dict[str, str]) -> Past:
    commits = [
        StoredCommit(bytes.fromhex(name), 0, subject, 1.0, b"", b"", np.array([1, 0], np.int32).tobytes())
        for name, subject in subjects.items()
    ]
    save_past(folder / "x.past", commits, {1: "cart.py"}, Extent(OTHER, len(commits), len(commits), 100))
    past = load_past(folder / "x.past")
    assert past is not None
    return past


def referred(past: Past, body: str) -> list[str]:
    item = read_work_item(f"The total is wrong\n\n{body}\n")
    return [past.hash_of(one.commit) for one in references_of(past, item, "shop-fixes")]


@pytest.mark.parametrize(
    "body",
    [
        f"I bisected this to {SPLIT}.",
        "This worked before ab12cd34, and no more.",
        "Broken (ab12cd34ef).",
        "See https://git.example.org/acme/shop/-/commit/ab12cd34efa for why.",
        "```\nab12cd34ef12cd34ef is no commit\nab12cd34 is the first bad commit\n```",
        "A regression since #31",
        "This was introduced in the change\nof #31.",
        "It was broken by https://github.com/acme/shop/pull/31/files",
    ],
)
def test_a_commit_is_found_by_its_hash_and_by_a_number_that_is_blamed(past: Past, body: str) -> None:
    assert referred(past, body) == [SPLIT]


@pytest.mark.parametrize(
    "body",
    [
        "Nothing is named.",
        "ab12cd3 is two commits",
        "ab12cd34ff is none, nor is xab12cd34",
        "0123456 is a number",
        "shop 2.1.0-dev (ab12cd34)",
        "I use the version: ab12cd34",
        "See https://github.com/acme/shop/blob/ab12cd34ef/cart.py#L3",
        "```\nlayer ab12cd34 pulled\n```",
        "This is like #31, and acme/other#31 is, too.",
        "A regression since acme/other#31",
        "Broken since https://github.com/acme/other/pull/31",
        "A regression since #311, or #3",
        "A regression since #52",
        "f" * 64 + " " + "ab" * 40,
    ],
)
def test_what_is_like_a_hash_or_only_refers_to_something_is_no_commit(past: Past, body: str) -> None:
    assert referred(past, body) == []


def test_a_number_says_less_than_a_hash_and_is_shared_by_the_commits_that_have_it(tmp_path: Path) -> None:
    past = history(tmp_path, {SPLIT: "Split it (#31)", WAIT: "Split it again (#31)", OTHER: "Fixed #47"})
    item = read_work_item("The total is wrong\n\nIt is caused by #31, and a follow-up to #47")
    worth = {past.hash_of(one.commit): one.worth for one in references_of(past, item, "")}
    assert worth[SPLIT] == worth[WAIT] == worth[OTHER] / 2
    assert 0 < worth[OTHER] < 1
    many = history(tmp_path, {f"{number:040x}": "Split it (#31)" for number in range(4)})
    assert references_of(many, item, "") == []


def test_a_text_of_hundreds_of_hashes_refers_to_a_bounded_number_of_commits(tmp_path: Path) -> None:
    hashes = [f"{number:06d}fe" * 5 for number in range(200)]
    past = history(tmp_path, dict.fromkeys(hashes, "Change it"))
    assert referred(past, "\n".join(f"and {name[:12]}" for name in hashes)) == hashes[:MAX_REFERENCES]


def test_commits_that_are_newer_than_a_state_are_not_in_it(past: Past) -> None:
    before = past.behind(past.number_of(SPLIT))
    assert referred(before, "Regressions since #31 and since #47, ab12cd34 and ab12cd35") == [WAIT]
