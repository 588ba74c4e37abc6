"""A primary is killed and its standby promoted: all that was acknowledged is there, and everybody goes on."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import pytest

pytest.importorskip("psycopg", reason="needs the extra `team`")

from cairn.team.catalog import Catalog
from cairn.team.operator import Operator
from postgres import Postgres, address_of_both, postgres_with_standby
from team_cluster import PROGRAMS, needs_postgres
from team_failover import Acknowledged, Lost, Writers, count_lost

pytestmark = needs_postgres


@contextmanager
def team_of(servers: tuple[Postgres, Postgres]) -> Iterator[tuple[str, Writers]]:
    """Yield the address of a team, which names the standby first, and who writes there."""
    primary, standby = servers
    primary.say("CREATE DATABASE team")
    address = address_of_both(standby, primary, "team")
    with closing(Catalog(address)) as owner:
        owner.migrate()
        operator = Operator(owner)
        for name in ("shop", "tools"):
            operator.add_project(f"acme/{name}", f"file:///{name}", "main")
        token = operator.new_token("ada", 1, ("read", "write"))
        operator.grant("ada", "acme/shop", may_write=True)
    yield address, Writers(address, "acme/shop", token)


def more_than(least: tuple[int, ...], by: int) -> Callable[[Acknowledged], bool]:
    """Return what tells whether of each kind so much more is acknowledged."""

    def is_more(noted: Acknowledged) -> bool:
        return all(now >= before + by for now, before in zip(noted.counts(), least, strict=True))

    return is_more


@pytest.mark.parametrize("is_synchronous", [True, False])
def test_what_was_acknowledged_is_there_after_a_failover_if_the_primary_waits_for_its_standby(
    *, is_synchronous: bool
) -> None:
    assert PROGRAMS is not None
    with (
        postgres_with_standby(PROGRAMS, is_synchronous=is_synchronous) as (primary, standby),
        team_of((primary, standby)) as (address, writers),
    ):
        with writers.writing() as noted:
            writers.wait_until(more_than((0,) * 4, 10))
            standby.stop()  # so that it lacks what comes now
            if is_synchronous:
                primary.wait_until_commits_wait()
            else:
                writers.wait_until(more_than(noted.counts(), 3))
            primary.stop(signal.SIGKILL)
            standby.start()
            standby.promote()
            writers.wait_until(more_than(noted.counts(), 5))

        assert noted.refused  # so it was away for a while
        lost = count_lost(address, noted)
        assert lost == Lost(0, 0, 0, 0) if is_synchronous else min(lost) > 0
