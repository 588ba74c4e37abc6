"""A short form of `bench/hostile.py`: a plant of each family, every command and every MCP tool, without a trace."""

from __future__ import annotations

from pathlib import Path

import pytest

from hostile import Limits, attempt, make_index
from hostile_repositories import all_plants
from plants import Plant

SHORT = (
    "link: .cairn to a folder",
    "link: .cairn/index.lock to a file",
    "link: derived to a folder, pulled",
    "state: of another user, pulled",
    "database: a view that never ends for meta, uncommitted",
    "database: an earlier model with url",
    "settings: fallbacks as a string",
    "settings: brackets",
    "git: hooks in .git",
    "attributes: filter.x.clean",
    "tree: programs named as ours",
    "tree: code that crashes a grammar",
)
PLANTS = {plant.name: plant for plant in all_plants()}


@pytest.fixture(scope="module")
def index_of_another_user(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_index(tmp_path_factory.mktemp("another-user"))


@pytest.mark.parametrize("plant", [PLANTS[name] for name in SHORT], ids=SHORT)
def test_nothing_in_a_repository_reaches_beyond_it(plant: Plant, tmp_path: Path, index_of_another_user: Path) -> None:
    assert attempt(plant, tmp_path / "ground", index_of_another_user, Limits(60, 500), traced=False) == []
