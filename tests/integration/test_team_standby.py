"""A primary is killed and its standby promoted: all that was acknowledged is there, and everybody goes on."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import closing

import pytest

pytest.importorskip("psycopg", reason="needs the extra `team`")

from cairn.team.catalog import Catalog
from cairn.team.operator import Operator
from postgres import Postgres, address_of_both, postgres_with_standby
from team_cluster import PROGRAMS, needs_postgres
from team_failover import Acknowledged, Lost, Writers, count_lost

pytestmark = needs_postgres


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[Postgres, Postgres]]:
    assert PROGRAMS is not None
    with postgres_with_standby(PROGRAMS) as both:
        yield both


@pytest.fixture(scope="module")
def address(servers: tuple[Postgres, Postgres]) -> str:
    """Return that of a team; it names the standby first, which is passed over until it is promoted."""
    primary, standby = servers
    primary.say("CREATE DATABASE team")
    address = address_of_both(standby, primary, "team")
    with closing(Catalog(address)) as owner:
        owner.migrate()
        for name in ("shop", "tools"):
            Operator(owner).add_project(f"acme/{name}", f"file:///{name}", "main")
    return address


def test_nothing_that_was_acknowledged_is_lost_with_the_primary(
    servers: tuple[Postgres, Postgres], address: str
) -> None:
    primary, standby = servers
    with closing(Catalog(address)) as owner:
        token = Operator(owner).new_token("ada", 1, ("read", "write"))
        Operator(owner).grant("ada", "acme/shop", may_write=True)
    writers = Writers(address, "acme/shop", token)

    def all_more_than(least: tuple[int, ...], noted: Acknowledged) -> bool:
        return all(now > before for now, before in zip(noted.counts(), least, strict=True))

    with writers.writing() as noted:
        writers.wait_until(lambda now: all_more_than((10,) * 4, now))
        primary.stop(signal.SIGKILL)
        standby.promote()
        before = noted.counts()
        writers.wait_until(lambda now: all_more_than(tuple(number + 5 for number in before), now))

    assert noted.refused  # so it was away for a while
    assert count_lost(address, noted) == Lost(0, 0, 0, 0)


def test_what_is_lost_would_be_counted(address: str) -> None:
    with closing(Catalog(address)) as owner:
        kept = Operator(owner).new_token("kept", 1)
        with owner.transaction() as connection:
            (branch,) = connection.execute("SELECT min(id) FROM branch").fetchone() or (0,)
    never = Acknowledged(["a" * 64], [(branch, "b" * 64)] * 1_000_000, ["cairn_lost"], [kept, "cairn_lost"], [])

    lost = count_lost(address, never)

    assert (lost.events, lost.tokens, lost.revocations) == (1, 1, 2)
    assert lost.publications > 0
