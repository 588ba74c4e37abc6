from __future__ import annotations

from pathlib import Path

import pytest

from cairn.cli.links import link_to, opens_links
from cairn.cli.places import Standpoint
from cairn.errors import PathError


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The top of a checkout, with two files in a folder and one at the top."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "src/a[b]").mkdir(parents=True)
    for name in ("README.md", "src/cart.py", "src/a[b]/c.py"):
        (tmp_path / name).write_text("")
    return tmp_path


@pytest.mark.parametrize(
    ("folder", "glob", "wanted"),
    [
        ("", ".", "**"),
        ("", "./src", "src/**"),
        ("", "src", "src"),
        ("", "*.py", "*.py"),
        ("src", ".", "src/**"),
        ("src", "!.", "!src/**"),
        ("src", "..", "**"),
        ("src", "../README.md", "README.md"),
        ("src", "cart.py", "src/cart.py"),
        ("src", "./*.py", "src/*.py"),
        ("src", "../*.md", "*.md"),
        ("src", "*.py", "*.py"),
        ("src", "nowhere", "nowhere"),
        ("src/a[b]", ".", "src/a[[]b]/**"),
        ("src/a[b]", "./*.py", "src/a[[]b]/*.py"),
    ],
)
def test_a_glob_that_begins_with_a_path_counts_from_where_one_stands(
    root: Path, folder: str, glob: str, wanted: str
) -> None:
    assert Standpoint(str(root / folder)).globs([glob]) == [wanted]


def test_an_absolute_path_in_a_glob_is_one_of_the_project(root: Path) -> None:
    assert Standpoint(str(root)).globs([str(root / "src"), f"!{root}/src/*.py"]) == ["src/**", "!src/*.py"]


@pytest.mark.parametrize("glob", ["..", "../x", "/", "../*.py"])
def test_a_glob_outside_the_project_is_an_error_and_not_an_empty_answer(root: Path, glob: str) -> None:
    with pytest.raises(PathError, match="is outside the project") as error:
        Standpoint(str(root)).globs([glob])
    assert error.value.hint.action == "search"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("cart.py", "src/cart.py"),
        ("cart.py#total", "src/cart.py#total"),
        ("cart.py:12", "src/cart.py:12"),
        ("../README.md#1", "README.md#1"),
        ("src/cart.py:12", "src/cart.py:12"),
        ("Cart.total", "Cart.total"),
        ("c_0123456789a", "c_0123456789a"),
        (":x", ":x"),
    ],
)
def test_a_place_that_begins_with_a_file_counts_from_where_one_stands(root: Path, text: str, wanted: str) -> None:
    assert Standpoint(str(root / "src")).place(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (".", "src"),
        ("./gone.py", "src/gone.py"),
        ("../src/", "src"),
        ("cart.py:12", "src/cart.py:12"),
        ("gone.py", "gone.py"),
        ("../../elsewhere", "../../elsewhere"),
        ("/api/carts answers 404", "/api/carts answers 404"),
    ],
)
def test_a_path_of_the_past_counts_from_where_one_stands_if_it_stays_inside(root: Path, text: str, wanted: str) -> None:
    assert Standpoint(str(root / "src")).past_place(text) == wanted


def test_paths_are_shown_as_they_are_from_where_one_stands(root: Path) -> None:
    assert Standpoint(str(root / "src")).show("README.md") == "../README.md"
    assert Standpoint(str(root)).show("src/cart.py") == "src/cart.py"


@pytest.mark.parametrize(
    ("environment", "opens"),
    [
        ({}, False),
        ({"TERM": "xterm-256color"}, False),
        ({"TERM": "xterm-kitty"}, True),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, True),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"}, False),
        ({"TERM": "xterm-256color", "VTE_VERSION": "6800"}, True),
        ({"TERM": "xterm-256color", "VTE_VERSION": "4200"}, False),
        ({"TERM": "screen-256color", "VTE_VERSION": "6800"}, False),
        ({"TERM": "xterm-kitty", "TMUX": "/tmp/tmux"}, False),
    ],
)
def test_only_terminals_that_are_known_to_open_links_get_them(environment: dict[str, str], opens: bool) -> None:
    assert opens_links(environment) is opens


def test_a_place_opens_its_file_but_not_that_of_another_branch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-kitty")
    monkeypatch.delenv("TMUX", raising=False)
    monkeypatch.delenv("STY", raising=False)
    shown = link_to("a b.py:3", "/home/me/shop", "a b.py")
    assert shown.startswith("\x1b]8;;file://")
    assert shown.endswith("/home/me/shop/a%20b.py\x1b\\a b.py:3\x1b]8;;\x1b\\")
    assert link_to("a.py:3", "refs/heads/feature", "a.py") == "a.py:3"
