"""What holds for the files of every agent: they are restored byte for byte, and their commands are known as ours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cairn.hooks.adapter import Block, FileEntry, Item, Level, Place, Whole
from cairn.hooks.agents import NAMES, adapter_of
from cairn.hooks.commands import is_ours, iter_commands
from cairn.install.apply import apply
from cairn.install.plan import plan_install, plan_removal
from cairn.install.record import RecordFile
from cairn.install.selftest import payload_of

CASES = [(name, level) for name in NAMES for level in adapter_of(name).levels]


def place_in(folder: Path, level: Level) -> Place:
    command = ("cairn",) if level == "project" else ("/opt/some where/bin/cairn",)
    for name in ("project", "home"):
        (folder / name).mkdir(exist_ok=True)
    return Place(level, folder / "project", folder / "home", {}, command)


def content_of(folder: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


@pytest.mark.parametrize(("name", "level"), CASES)
def test_every_command_in_the_files_of_an_agent_is_known_as_ours(name: str, level: Level, tmp_path: Path) -> None:
    place = place_in(tmp_path, level)
    changes = adapter_of(name).changes(place)
    values = [change.value for change in changes if isinstance(change, Item)]
    values += [change.value for change in changes if isinstance(change, FileEntry) and not change.is_default]
    values += [
        json.loads(change.text) for change in changes if isinstance(change, Whole) and ".json" in change.file.name
    ]

    assert values or all(isinstance(change, Block | Whole) for change in changes)
    assert all(list(iter_commands(value)) and is_ours(value) for value in values)


@pytest.mark.parametrize(("name", "level"), CASES)
def test_the_files_of_an_agent_are_written_once_and_restored(name: str, level: Level, tmp_path: Path) -> None:
    adapter, place = adapter_of(name), place_in(tmp_path, level)
    records = RecordFile(level, place.root, tmp_path / "state")
    before = content_of(tmp_path / "project") | content_of(tmp_path / "home")

    first = plan_install([adapter], place, {})
    apply(first, records, {})
    known = records.read()
    again = plan_install([adapter], place, known)
    assert [change.problem for change in first] == [None] * len(first)
    assert not any(change.is_change or change.notes for change in again)
    apply(plan_removal([adapter], place, known), records, known)

    assert content_of(tmp_path / "project") | content_of(tmp_path / "home") == before


@pytest.mark.parametrize(("name", "level"), CASES)
def test_only_files_of_its_level_are_touched(name: str, level: Level, tmp_path: Path) -> None:
    place = place_in(tmp_path, level)
    folder = place.root if level == "project" else place.home

    assert all(change.file.is_relative_to(folder) for change in adapter_of(name).changes(place))


@pytest.mark.parametrize("name", [name for name in NAMES if adapter_of(name).events])
def test_an_agent_with_hooks_has_a_payload_to_try_them_with(name: str) -> None:
    adapter = adapter_of(name)

    if "session-start" in adapter.events:
        assert "cairn-self-test" in payload_of(adapter, "/repo")


def test_all_agents_together_are_written_and_restored(tmp_path: Path) -> None:
    place = place_in(tmp_path, "project")
    records = RecordFile("project", place.root, tmp_path / "state")
    adapters = [adapter_of(name) for name in NAMES if "project" in adapter_of(name).levels]

    changes = plan_install(adapters, place, {})
    apply(changes, records, {})
    assert not any(change.problem or change.notes for change in changes)
    for adapter in adapters:
        known = records.read()
        apply(plan_removal([adapter], place, known), records, known)

    assert content_of(place.root) == {}
    assert not records.file.exists()


def test_a_name_that_waits_for_its_servers_gets_ours_and_waits_again(tmp_path: Path) -> None:
    place = place_in(tmp_path, "user")
    records = RecordFile("user", place.root, tmp_path / "state")
    settings = place.home / ".config" / "goose" / "config.yaml"
    settings.parent.mkdir(parents=True)
    settings.write_bytes(b"extensions: # none yet\nGOOSE_MODE: auto\n")

    apply(plan_install([adapter_of("goose")], place, {}), records, {})
    assert b"extensions: # none yet\n  cairn:\n    enabled: true\n" in settings.read_bytes()
    known = records.read()
    apply(plan_removal([adapter_of("goose")], place, known), records, known)

    assert settings.read_bytes() == b"extensions: # none yet\nGOOSE_MODE: auto\n"
