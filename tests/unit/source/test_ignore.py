from __future__ import annotations

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
