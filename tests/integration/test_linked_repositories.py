"""What the name of the repository says: links into others do not mean its files, and it is what it is installed as."""

from __future__ import annotations

from pathlib import Path

import pytest

from cairn.workspace import Workspace
from conftest import Git

TEXT = "The items of an empty cart are counted wrong, as in {}"
OTHER = "https://github.com/other/tool/blob/main/src/config.py#L5"


@pytest.fixture
def project(checkout: Path, git: Git) -> Path:
    (checkout / "src").mkdir()
    (checkout / "src" / "config.py").write_text("import os\n\n\ndef parse(path):\n    return open(path).read()\n")
    (checkout / "src" / "cart.py").write_text('def count_items(cart):\n    """Count items."""\n    return len(cart)\n')
    git(checkout, "add", "--all")
    git(checkout, "commit", "-q", "-m", "Count items of carts")
    with Workspace.open(checkout) as workspace:
        workspace.index()
    return checkout


def first(project: Path, link: str) -> str:
    with Workspace.open(project) as workspace:
        hit = workspace.search(TEXT.format(link)).code[0]
    return f"{hit.path}:{hit.start_line}"


def test_a_link_into_another_repository_does_not_come_first(project: Path, git: Git) -> None:
    git(project, "remote", "add", "origin", "git@github.com:acme/shop.git")
    assert first(project, OTHER) == "src/cart.py:1"
    with Workspace.open(project) as workspace:
        assert workspace.search(OTHER).code == ()


@pytest.mark.parametrize(
    "link",
    [
        "https://github.com/acme/shop/blob/main/src/config.py#L5",
        "https://github.com/fork-of/Shop/blob/main/src/config.py#L5",
        "https://mirror.example.com/a/b/shop/-/blob/main/src/config.py#L5",
    ],
)
def test_a_link_into_this_repository_or_a_fork_of_it_comes_first(project: Path, git: Git, link: str) -> None:
    git(project, "remote", "add", "origin", "https://github.com/acme/shop")
    assert first(project, link) == "src/config.py:5"


def test_without_a_remote_any_link_to_a_file_of_that_path_comes_first(project: Path, git: Git) -> None:
    assert first(project, OTHER) == "src/config.py:5"
    git(project, "remote", "add", "origin", str(project.parent / "shop"))
    assert first(project, OTHER) == "src/config.py:5"


@pytest.mark.parametrize(
    ("path", "places"),
    [
        ("/app/node_modules/shop/src/prices.ts:2:9", ["prices.ts:2"]),
        ("webpack-internal:///./node_modules/@acme/shop/src/prices.ts:2:9", ["prices.ts:2"]),
        ("/app/node_modules/shop/dist/index.js:900:9", ["prices.ts:1"]),
        ("/app/node_modules/till/src/prices.ts:2:9", []),
        ("/app/node_modules/till/dist/index.js:900:9", []),
    ],
)
def test_a_package_that_is_called_like_the_repository_is_the_project(
    project: Path, git: Git, path: str, places: list[str]
) -> None:
    (project / "src" / "prices.ts").write_text("export function sumPrices(all: number[]) {\n  throw all[0]\n}\n")
    git(project, "remote", "add", "origin", "https://github.com/acme/Shop.git")
    with Workspace.open(project) as workspace:
        workspace.index()
        hits = workspace.search(f"Error: no\n    at sumPrices ({path})\n    at main (/app/run.js:3:1)\n").code
    assert [f"{Path(hit.path).name}:{hit.start_line}" for hit in hits if hit.part.startswith("frame")] == places
