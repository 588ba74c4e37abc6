"""Commits of a store of truth that may reach the disk a little later."""

from __future__ import annotations

from pathlib import Path

from cairn.index.state_dir import StateDir
from cairn.storage.connection import transaction, unhurried_disk
from cairn.storage.memory.schema import MEMORY


def test_only_the_block_is_unhurried_and_others_see_what_it_wrote(tmp_path: Path) -> None:
    state = StateDir(tmp_path / ".cairn")
    connection, other = state.open_truth(MEMORY), state.open_truth(MEMORY)

    def care() -> list[int]:
        names = ("synchronous", "wal_autocheckpoint")
        return [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names]

    before = care()
    with unhurried_disk(connection), transaction(connection):
        assert care() != before
        connection.execute("INSERT INTO seen (id, seconds) VALUES (x'01', 1.0)")
    assert care() == before
    assert other.execute("SELECT count(*) FROM seen").fetchone() == (1,)
    with transaction(connection), unhurried_disk(connection):
        assert care() == before
    connection.close()
    other.close()
