from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cairn.source.ignore import IgnoreRules
from cairn.source.walk import walk

Git = Callable[..., str]


@pytest.mark.parametrize(
    ("rules", "path", "expected"),
    [
        ("*.log", "a/b.log", True),
        ("*.log", "a/b.py", None),
        ("/a", "b/a", None),
        ("a/b", "c/a/b", None),
        ("a", "x/a", True),
        ("*\n!*.py", "a.py", False),
        ("!a\na", "a", True),
        ("# comment", "# comment", None),
        (r"\#file", "#file", True),
        (r"\!file", "!file", True),
        ("trailing   ", "trailing", True),
        ("kept\\ ", "kept ", True),
        ("windows\r", "windows", True),
        ("\ufeffmark", "mark", True),
        ("a/**/b", "a/b", True),
        ("a/**/b", "a/x/y/b", True),
        ("**/b", "x/b", True),
        ("a/**", "a/x/y", True),
        ("?", "ab", None),
        ("a?c", "a/c", None),
        ("[ab]c", "bc", True),
        ("[!ab]c", "bc", None),
        ("[^ab]c", "dc", True),
        ("[]x]", "]", True),
        ("[[:digit:]]", "7", True),
        ("[z-a]", "z", None),
        ("[open", "[open", None),
        ("a.c", "abc", None),
        ("a+(b)", "a+(b)", True),
        ("", "", None),
        ("/", "a", None),
    ],
)
def test_rule_decides_as_git_documents(rules: str, path: str, expected: bool | None) -> None:
    assert IgnoreRules(rules.encode()).match(path.encode(), is_folder=False) is expected


def test_rule_with_a_final_slash_names_folders_only() -> None:
    rules = IgnoreRules(b"build/\n")
    assert rules.match(b"x/build", is_folder=True) is True
    assert rules.match(b"x/build", is_folder=False) is None


def test_names_that_are_no_utf8_or_hold_line_breaks_match() -> None:
    assert IgnoreRules(b"\xff*\n").match(b"a/\xff\n", is_folder=False) is True
    assert IgnoreRules("é".encode()).match("é".encode(), is_folder=False) is True


def test_hostile_rule_answers_at_once() -> None:
    assert IgnoreRules(b"*a" * 200 + b"b\n").match(b"a" * 255, is_folder=False) is None


def test_the_last_rule_decides_whatever_kinds_of_rules_there_are() -> None:
    rules = IgnoreRules(b"*.log\n!keep.log\n/logs/keep.log\n!k*.log\nkeep.log/\n")
    assert rules.match(b"a.log", is_folder=False) is True
    assert rules.match(b"keep.log", is_folder=False) is False
    assert rules.match(b"keep.log", is_folder=True) is True
    assert IgnoreRules(b"!k*.log\n/logs/keep.log\n").match(b"logs/keep.log", is_folder=False) is True


@pytest.mark.parametrize("count", [5_000, 60_000])
def test_thousands_of_ordinary_rules_are_obeyed(count: int) -> None:
    lines = [
        f"generated/module_{number}/table.sql\nbuild-{number}\n!kept{number}.txt\n" for number in range(count // 3)
    ]
    rules = IgnoreRules("".join(lines).encode())
    assert rules.unused == 0
    last = count // 3 - 1
    assert rules.match(f"generated/module_{last}/table.sql".encode(), is_folder=False) is True
    assert rules.match(f"x/build-{last}".encode(), is_folder=True) is True
    assert rules.match(f"x/kept{last}.txt".encode(), is_folder=False) is False
    assert rules.match(b"generated/module/table.sql", is_folder=False) is None


def test_thousands_of_rules_with_a_wildcard_are_obeyed() -> None:
    rules = IgnoreRules("".join(f"src/part{number}/gen-*\n" for number in range(5_000)).encode())
    assert rules.unused == 0
    assert rules.match(b"src/part4999/gen-x", is_folder=False) is True
    assert rules.match(b"src/part5000/gen-x", is_folder=False) is None


HARD = {
    "a million spaces": b" " * 1_000_000 + b"x\n",
    "open brackets": b"[" * 1_000_000 + b"\n",
    "open classes": b"[" + b"[:a" * 300_000 + b"\n",
    "one name often": b"a\n" * 100_000,
    "stars in every rule": b"*a*b*\n" * 20_000,
    "folders at any depth": b"**/" * 1_300 + b"x\n",
    "long rules": (b"?" * 4_000 + b"\n") * 200,
    "long classes": (b"[^" + b"a-z" * 1_200 + b"]\n") * 200,
    "classes": b"".join(b"[a-z][!0-9][[:alpha:]]%d\n" % number for number in range(12_000)),
}


@pytest.mark.parametrize("name", HARD)
def test_rules_made_to_be_hard_are_answered_in_bounded_time(name: str) -> None:
    begun = time.process_time()
    rules = IgnoreRules(HARD[name] + b"last.py\n")
    for number in range(100):
        rules.match(b"a/b/c/%d" % number + b"ab" * 100, is_folder=False)
    assert rules.match(b"a/last.py", is_folder=False) is True
    assert time.process_time() - begun < 20


def test_rules_that_are_left_out_are_counted() -> None:
    assert IgnoreRules(b"*a*b*\n" * 500).unused == 500 - 1_000 // 3
    assert IgnoreRules(b"a" * 5_000 + b"\nb\n").unused == 1


def test_rules_that_are_left_out_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.py").touch()
    (tmp_path / ".cairnignore").write_bytes(b"*a*b*\n" * 500)
    found = walk(tmp_path, repository=None)
    reasons = [(skip.path, skip.reason) for skip in found.skipped]
    assert reasons == [(".cairnignore", "167 of its rules are not obeyed: too long or too many")]


def test_rules_that_are_the_same_in_many_folders_are_read_once_and_others_up_to_a_limit(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "gone.py").touch()
        (tmp_path / str(number) / ".cairnignore").write_bytes(b"gone.py\n" + b"# %d\n" % (number % 2) * 150_000)
    assert not [file for file in walk(tmp_path, repository=None).files if file.path.endswith("gone.py")]
    for number in range(30):
        (tmp_path / str(number) / ".cairnignore").write_bytes(b"gone.py\n" + b"# %5d\n" % number * 100_000)
    found = walk(tmp_path, repository=None)
    assert 0 < len([skip for skip in found.skipped if skip.reason.startswith("not obeyed: more than")]) < 30


NAMES = ["a", "b", "ab", "a.b", ".a", "a b"]
PARTS = [
    "a",
    "b",
    "ab",
    "*",
    "**",
    "a*",
    "*b",
    "?",
    "[ab]",
    "a.b",
    "*.b",
    "[!a]",
    ".a",
    "a b",
    "\\a",
    "[a-c]*",
    "[^.]*",
]
RULES = st.builds(
    lambda negation, start, parts, end: negation + start + "/".join(parts) + end,
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "", "/"]),
    st.lists(st.sampled_from(PARTS), min_size=1, max_size=3),
    st.sampled_from(["", "", "/", " "]),
)
FILES = st.lists(st.lists(RULES, min_size=1, max_size=4).map("\n".join), min_size=1, max_size=3)


@pytest.fixture
def tree(checkout: Path) -> Path:
    for first in NAMES:
        for second in NAMES[:4]:
            (checkout / first / second).mkdir(parents=True)
            for last in NAMES[1:]:
                (checkout / first / second / last).touch()
    return checkout


@given(rule_files=FILES)
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_walk_outside_git_finds_what_git_finds(git: Git, tree: Path, rule_files: list[str]) -> None:
    folders = [tree, tree / "a", tree / "a" / "b"]
    for folder in folders:
        (folder / ".gitignore").unlink(missing_ok=True)
    for folder, text in zip(folders, rule_files, strict=False):
        (folder / ".gitignore").write_text(text + "\n")
    listed = git(tree, "ls-files", "-z", "--others", "--exclude-standard").split("\0")
    found = walk(tree, repository=None)
    assert [file.path for file in found.files] == sorted(path for path in listed if path)
