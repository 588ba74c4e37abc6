"""Nobody learns anything of what they may not read, whatever they ask; `bench/leaks.py` asks far more."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("psycopg", reason="needs the extra `team`")

from team_cluster import Team, needs_postgres, running_team
from team_leaks import Asked, Company, asking, make_company

pytestmark = needs_postgres


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    with running_team(tmp_path_factory.mktemp("team")) as made:
        yield made


@pytest.fixture(scope="module")
def company(team: Team, tmp_path_factory: pytest.TempPathFactory) -> Company:
    return make_company(team, tmp_path_factory.mktemp("company"), n_people=4, n_projects=4, seed=2)


def test_no_answer_and_no_error_shows_what_somebody_may_not_read(team: Team, company: Company, tmp_path: Path) -> None:
    async def ask() -> Asked:
        async with asking(team, company, tmp_path) as asked:
            await asked.ask_all()
            return asked

    asked = asyncio.run(ask())

    assert asked.leaks == []
    assert asked.n_answered > 50  # so it was asked for what can be answered


def test_a_leak_would_be_noticed(team: Team, company: Company, tmp_path: Path) -> None:
    first, second = company.projects[:2]
    token, granted = company.people["person-3"]
    assert {first.name, second.name} <= granted
    # As if they might read one project only, which has other words than it has, and a node did not know.
    other = first._replace(definition="zd0000000000")
    blind = Company([other, second], {"person-3": (token, frozenset({first.name}))})

    async def ask() -> list[str]:
        async with asking(team, blind, tmp_path) as asked:
            await asked.ask_all()
            return asked.leaks

    leaks = asyncio.run(ask())

    assert any("is shown 4 projects of 1" in leak for leak in leaks)
    assert any(f"can tell {second.name} from none" in leak for leak in leaks)
    assert any(f"shows {first.definition}" in leak for leak in leaks)
