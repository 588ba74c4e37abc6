from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from cairn.errors import UnsafeStateError
from cairn.index.seal import (
    break_seal,
    change_record,
    find_seal,
    is_kept,
    is_sealed_index,
    keep_record,
    make_seal,
    read_record,
    record_folders,
)

DAY = 86_400.0


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's state folder, of which nothing exists yet, nor of the folders above it."""
    folder = tmp_path / "user" / "local" / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    return folder


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = tmp_path / "project" / ".cairn"
    folder.mkdir(parents=True)
    return folder


def record_file(home: Path, seal_id: str) -> Path:
    return home / "cairn" / "indexes" / f"{seal_id}.json"


def age(file: Path, days: float) -> None:
    then = time.time() - days * DAY
    os.utime(file, (then, then))


def test_a_user_without_any_state_folder_gets_one_that_nobody_else_may_open(home: Path, state: Path) -> None:
    seal = make_seal(state)
    assert is_kept(seal)
    assert find_seal(state) == seal
    assert record_folders()[0] == home / "cairn" / "indexes"
    for folder in (home / "cairn", home / "cairn" / "indexes"):
        assert folder.stat().st_mode & 0o777 == 0o700
    for file in (record_file(home, seal.id), state / "seal"):
        assert file.stat().st_mode & 0o777 == 0o600


def test_the_users_own_folder_may_be_a_link_and_that_of_the_records_may_not(
    home: Path, state: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    home.mkdir(parents=True)
    (home / "cairn").symlink_to(tmp_path / "elsewhere")
    seal = make_seal(state)
    assert find_seal(state) == seal
    records = tmp_path / "elsewhere" / "indexes"
    records.rename(tmp_path / "records")
    records.symlink_to(tmp_path / "records")
    with pytest.raises(UnsafeStateError):
        find_seal(state)


def test_a_second_seal_is_kept_beside_the_first(home: Path, state: Path, tmp_path: Path) -> None:
    first = make_seal(state)
    other = tmp_path / "other"
    other.mkdir()
    second = make_seal(other)
    assert first.id != second.id
    assert (find_seal(state), find_seal(other)) == (first, second)


def test_a_seal_with_another_secret_or_of_another_form_is_none(home: Path, state: Path) -> None:
    seal = make_seal(state)
    text = (state / "seal").read_text()
    for wrong in ("", text.rstrip("\n"), text + "\n", text.upper(), text.replace(seal.secret, "0" * 64), "x" * 10_000):
        (state / "seal").write_text(wrong)
        assert find_seal(state) is None
    (state / "seal").write_text(text)
    assert find_seal(state) == seal


def test_a_broken_seal_is_gone_and_may_be_broken_again(home: Path, state: Path) -> None:
    make_seal(state)
    break_seal(state)
    break_seal(state)
    assert find_seal(state) is None


def test_only_a_sealed_folder_with_a_database_is_an_index(home: Path, state: Path) -> None:
    assert not is_sealed_index(state)
    (state / "index.db").touch()
    assert not is_sealed_index(state)
    make_seal(state)
    assert is_sealed_index(state)
    (state / "index.db").unlink()
    assert not is_sealed_index(state)
    assert not is_sealed_index(state / "none")


def test_what_is_kept_for_an_index_can_be_changed_and_lasts(home: Path, state: Path) -> None:
    seal = make_seal(state)
    assert change_record(seal, lambda record: record.update(models=["one"]))
    assert change_record(seal, lambda record: record.update(places=2))
    assert read_record(seal) == {"secret": seal.secret, "models": ["one"], "places": 2}
    assert json.loads(record_file(home, seal.id).read_text()) == read_record(seal)
    assert read_record(seal._replace(secret="0" * 64)) is None
    assert not change_record(seal._replace(id="0" * 32), lambda record: record.clear())


@pytest.mark.parametrize("text", ["", "[]", "3", "{", "[" * 100_000, '{"secret": "other"}'])
def test_a_damaged_record_vouches_for_nothing(home: Path, state: Path, text: str) -> None:
    seal = make_seal(state)
    record_file(home, seal.id).write_text(text)
    assert read_record(seal) is None
    assert find_seal(state) is None


def test_a_record_that_is_used_is_marked_as_used_once_a_month(home: Path, state: Path) -> None:
    seal = make_seal(state)
    file = record_file(home, seal.id)
    age(file, 29)
    before = file.stat().st_mtime
    assert find_seal(state) == seal
    assert file.stat().st_mtime == before
    age(file, 31)
    assert find_seal(state) == seal
    assert file.stat().st_mtime > before


# -- many records ------------------------------------------------------------------------------------------------------


def fill(home: Path, count: int) -> None:
    """Add records of other indexes, used just now, until there are so many."""
    folder = home / "cairn" / "indexes"
    for number in range(count - len(list(folder.glob("[0-9a-f]" * 32 + ".json")))):
        (folder / f"{number:032x}.json").write_text("{}")


def old_records(home: Path) -> dict[str, Path]:
    """Add records that were used last 399 and 401 days ago, and one that is kept for ever; return them by name."""
    folder = home / "cairn" / "indexes"
    texts = {
        "recent": "{}",
        "old": "{}",
        "damaged": "nonsense",
        "kept": '{"kept": "/p"}',
        "not kept": '{"kept": 1}',
    }
    records = {}
    for number, (name, text) in enumerate(texts.items()):
        records[name] = folder / f"{number:032x}.json".replace("0", "a", 1)
        records[name].write_text(text)
        age(records[name], 399 if name == "recent" else 401)
    return records


def test_old_records_are_forgotten_once_there_are_many(home: Path, state: Path) -> None:
    seal = make_seal(state)
    keep_record(seal, state)
    age(record_file(home, seal.id), 1_000)
    records = old_records(home)
    strange = home / "cairn" / "indexes" / "notes.json"
    strange.write_text("{}")
    age(strange, 1_000)
    fill(home, 2_047 - len(list(strange.parent.glob("[!0-9a-f]*"))))  # with the next seal, a multiple of 64
    make_seal(state.parent)
    assert {name for name, file in records.items() if file.exists()} == {"recent", "kept"}
    assert strange.exists()
    assert find_seal(state) == seal


def test_no_record_is_forgotten_while_there_are_few(home: Path, state: Path) -> None:
    make_seal(state)
    records = old_records(home)
    fill(home, 1_999)
    make_seal(state.parent)
    assert all(file.exists() for file in records.values())
