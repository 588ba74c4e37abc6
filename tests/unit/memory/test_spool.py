from __future__ import annotations

from pathlib import Path

import pytest

from cairn.errors import StoreError
from cairn.memory.moments import Moment, ToolCall
from cairn.memory.spool import Spool

SECRET = "ghp_" + "a8B2c9D4e7F1g6H3i5J0k2L8m4N9o1P7q3R5"
CALL = ToolCall("shell", "Bash", "make", "failed", 2, 30, 4, 5, "cannot find -lfoo")


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(tmp_path / "project", tmp_path / "spool")


def moment(number: int, **fields: object) -> Moment:
    made = Moment(f"e{number}", "after-tool", "s1", "codex", 100.0 + number, call=CALL, details={"source": "ü"})
    return made._replace(**fields)  # type: ignore[arg-type] # any mix


def test_moments_wait_in_the_order_in_which_they_came_and_are_what_they_were(spool: Spool) -> None:
    moments = [moment(number, text="naïve " * number) for number in range(5)]
    for waiting in moments:
        spool.add(waiting)
    assert [waiting.moment for waiting in spool.waiting(10)] == moments
    assert [waiting.moment for waiting in spool.waiting(2)] == moments[:2]
    spool.remove(spool.waiting(3))
    assert [waiting.moment for waiting in spool.waiting(10)] == moments[3:]
    assert spool.count() == 2


def test_a_moment_without_an_id_gets_one_when_it_begins_to_wait(spool: Spool) -> None:
    spool.add(moment(1, id=""))
    assert spool.waiting(1)[0].moment.id == spool.waiting(1)[0].moment.id != ""


def test_no_secret_waits_on_disk_and_nobody_else_can_read_what_does(spool: Spool) -> None:
    spool.add(moment(1, text=f"use {SECRET}", call=CALL._replace(output=SECRET, target=f"login {SECRET}")))
    (file,) = spool.folder.iterdir()
    assert SECRET not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    assert spool.folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("content", ["", "[]", "{", '{"event": "lunch", "session": "s", "agent": "", "payload": {}}'])
def test_what_is_no_moment_is_kept_out_of_the_way(spool: Spool, content: str) -> None:
    spool.add(moment(1))
    (file,) = spool.folder.iterdir()
    file.write_text(content)
    assert spool.waiting(10) == []
    (bad,) = spool.bad_files()
    assert bad.read_text() == content
    assert spool.count() == 0


def test_a_link_in_the_spool_is_not_followed(spool: Spool, tmp_path: Path) -> None:
    spool.add(moment(1))
    (file,) = spool.folder.iterdir()
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    assert spool.waiting(10) == []
    assert spool.bad_files()[0].is_symlink()


def test_where_the_spool_cannot_be_written_the_moment_is_refused(tmp_path: Path) -> None:
    (tmp_path / "spool").write_text("a file in its place")
    with pytest.raises(StoreError, match="cannot write"):
        Spool(tmp_path / "project", tmp_path / "spool").add(moment(1))


def test_two_projects_have_two_spools(spool: Spool, tmp_path: Path) -> None:
    spool.add(moment(1))
    assert Spool(tmp_path / "other", tmp_path / "spool").count() == 0


def test_asking_for_what_waits_creates_nothing(spool: Spool, tmp_path: Path) -> None:
    assert spool.waiting(10) == []
    assert spool.bad_files() == []
    assert not (tmp_path / "spool").exists()
