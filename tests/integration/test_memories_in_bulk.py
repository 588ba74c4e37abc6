"""Many memories at once, on the command line and over HTTP: changed alike, counted before, written down."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cairn.cli.main import main
from cairn.errors import AuthorityError, NotFoundError, RequestError
from cairn.operations import perform
from cairn.protocol.memory_table import MEMORY_OPERATIONS
from cairn.schema import decode
from cairn.workspace import Workspace

Cairn = Callable[..., tuple[int, str, str]]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "shop"
    (root / ".git").mkdir(parents=True)
    monkeypatch.chdir(root)
    monkeypatch.setenv("CAIRN_ACTOR", "person:me")
    with Workspace.open(root) as workspace:
        for number in range(3):
            workspace.memory.remember(f"Fact {number}", tags=("old",), actor="person:me")
        workspace.memory.remember("Another fact", actor="person:me")
    return root


@pytest.fixture
def cairn(project: Path, capsys: pytest.CaptureFixture[str]) -> Cairn:
    def run(*arguments: str) -> tuple[int, str, str]:
        code = main([*arguments, "--no-daemon"])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def ask(project: Path, operation: str, **fields: object) -> Any:  # noqa: ANN401 - JSON
    with Workspace.open(project) as workspace:
        return perform(workspace, operation, decode(MEMORY_OPERATIONS[operation].request, fields))


def count(project: Path, status: str) -> int:
    return int(ask(project, "memories", statuses=[status])["total"])


def test_a_dry_run_says_what_would_be_changed_and_changes_nothing(cairn: Cairn, project: Path) -> None:
    code, out, err = cairn("memories", "change", "archive", "--tag", "old", "--dry-run")
    assert (code, len(out.split()), err) == (0, 3, "3 memories would be archived.\n")
    assert count(project, "active") == 4


def test_the_filter_counts_on_either_side_of_the_action(cairn: Cairn, project: Path) -> None:
    _, before, _ = cairn("memories", "--tag", "old", "change", "archive", "--dry-run", "--json")
    _, after, _ = cairn("memories", "change", "archive", "--tag", "old", "--dry-run", "--json")
    assert json.loads(before) == json.loads(after)
    assert json.loads(after)["total"] == 3


def test_what_a_filter_finds_is_changed_and_what_is_so_already_left_out(cairn: Cairn, project: Path) -> None:
    code, out, _ = cairn("memories", "change", "resolve", "--tag", "old", "--json")
    document = json.loads(out)
    assert (code, document["action"], document["dry_run"], document["total"]) == (0, "resolve", False, 3)
    assert count(project, "resolved") == 3
    assert cairn("memories", "change", "resolve", "--tag", "old")[0] == 1
    assert cairn("memories", "undo", *document["ids"])[0] == 0
    assert count(project, "active") == 4


def test_erasing_asks_first_and_needs_a_filter(cairn: Cairn, project: Path) -> None:
    code, _, err = cairn("memories", "change", "forget", "--tag", "old")
    assert (code, "3 memories would be gone for ever" in err) == (2, True)
    for flags in ((), ("--yes",), ("--dry-run",)):  # refused before anybody is asked
        code, _, err = cairn("memories", "change", "forget", *flags)
        assert (code, "what to forget needs a filter" in err) == (2, True)
    assert count(project, "active") == 4
    assert cairn("memories", "change", "forget", "--tag", "old", "--yes")[0] == 0
    assert count(project, "active") == 1


@pytest.mark.parametrize("action", ["archive", "resolve", "reopen", "keep"])
def test_all_memories_are_not_changed_at_once(cairn: Cairn, project: Path, action: str) -> None:
    ask(project, "memories/change", action="archive", tag="old", actor="person:me")
    code, out, err = cairn("memories", "change", action)
    assert (code, out) == (2, "")
    assert err.splitlines() == [
        f"error[request]: what to {action} needs a filter",
        f"  try: by status, type, tag, file or age: cairn memories change {action} --tag TAG",
    ]
    assert (count(project, "active"), count(project, "archived")) == (1, 3)
    assert cairn("memories", "change", action, "--dry-run")[0] == 0
    assert cairn("memories", "change", action, "--status", "archived", "--dry-run")[0] == (
        1 if action == "archive" else 0
    )


def test_an_agent_does_not_undo_in_bulk_what_a_person_decided(project: Path) -> None:
    ask(project, "memories/change", action="archive", tag="old", actor="person:me")
    with pytest.raises(AuthorityError):
        ask(project, "memories/change", action="reopen", tag="old", actor="agent:codex")
    assert count(project, "archived") == 3


def test_what_is_no_action_is_refused(project: Path) -> None:
    with pytest.raises(RequestError):
        ask(project, "memories/change", action="", tag="old")


def test_memories_are_kept_in_bulk(project: Path) -> None:
    assert ask(project, "memories/change", action="keep", tag="old", actor="person:me")["total"] == 3


def test_an_export_holds_what_the_filter_finds(cairn: Cairn, project: Path, tmp_path: Path) -> None:
    some, all = tmp_path / "some.jsonl", tmp_path / "all.jsonl"
    assert cairn("export", str(some), "--tag", "old")[0] == cairn("export", str(all))[0] == 0
    lines = some.read_text().splitlines()
    assert ask(project, "memories/export", tag="old") == {"events": 3, "lines": lines}
    assert "Another fact" not in some.read_text()
    assert "Another fact" in all.read_text()


def test_an_export_takes_ids_or_a_filter(project: Path) -> None:
    (row,) = ask(project, "memories", text="another")["memories"]
    assert ask(project, "memories/export", ids=[row["id"]])["events"] == 1
    with pytest.raises(RequestError):
        ask(project, "memories/export", ids=[row["id"]], tag="old")
    with pytest.raises(NotFoundError):
        ask(project, "memories/export", tag="none")
