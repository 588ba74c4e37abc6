"""Memories that somebody should look at: their code is gone or changed, or agents were shown them in vain."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cairn.errors import NotFoundError
from cairn.facets.memory import by_whom
from cairn.memory.moments import Moment
from cairn.operations import perform
from cairn.protocol.memory_requests import DoubtfulRequest, MemoryKeepRequest, MemoryRequest, SessionShowRequest
from cairn.workspace import Workspace
from shown_memories import note_injections


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    (tmp_path / "money.py").write_text("def tax(price):\n    return price * 1.2\n")
    (tmp_path / "old.py").write_text("def old():\n    return 1\n")
    with Workspace.open(tmp_path) as workspace:
        yield workspace


def _doubtful(workspace: Workspace, **fields: Any) -> Any:  # noqa: ANN401 - JSON
    return perform(workspace, "memories/doubtful", DoubtfulRequest(**fields))


def _show(workspace: Workspace, id: str, times: int, use: str = "") -> None:
    for number in range(times):
        note_injections(workspace.memory.store, f"s-{number}", "prompt", [(id, "relevant", 10)])
        if use:
            workspace.memory.usage.note_use(f"s-{number}", [id], use)


def test_without_memories_none_is_doubtful(workspace: Workspace) -> None:
    assert _doubtful(workspace) == {"memories": [], "total": 0, "looked_at": 0}


def test_memories_of_code_that_is_as_it_was_are_not_doubtful(workspace: Workspace) -> None:
    workspace.memory.remember("Tax is a fifth", files=("money.py::tax",))
    assert _doubtful(workspace) == {"memories": [], "total": 0, "looked_at": 1}


def test_what_speaks_of_code_that_is_gone_comes_before_what_changed(workspace: Workspace) -> None:
    workspace.memory.remember("Tax is a fifth", files=("money.py::tax",))
    workspace.memory.remember("Nobody calls old", files=("old.py",))
    (workspace.root / "old.py").unlink()
    (workspace.root / "money.py").write_text("def tax(price):\n    return price * 1.19\n")
    found = _doubtful(workspace)
    assert [row["summary"] for row in found["memories"]] == ["Nobody calls old", "Tax is a fifth"]
    assert found["memories"][0]["reasons"] == ["its code is gone: old.py"]
    assert found["memories"][1]["reasons"] == ["its code changed since: money.py::tax"]


def test_what_agents_were_shown_in_vain_is_doubtful_from_the_fifth_time_on(workspace: Workspace) -> None:
    made = workspace.memory.remember("Prices are in cents")
    _show(workspace, made.observation.id, 4)
    assert _doubtful(workspace)["total"] == 0
    _show(workspace, made.observation.id, 1)
    (row,) = _doubtful(workspace)["memories"]
    assert row["reasons"] == ["shown 5 times and never used"]
    assert (row["shown"], row["used"]) == (5, 0)


def test_what_was_used_once_is_not_doubtful(workspace: Workspace) -> None:
    made = workspace.memory.remember("Prices are in cents")
    _show(workspace, made.observation.id, 1, "cited")
    _show(workspace, made.observation.id, 9)
    assert _doubtful(workspace)["total"] == 0


def test_what_was_said_to_be_of_no_help_is_doubtful(workspace: Workspace) -> None:
    made = workspace.memory.remember("Prices are in cents")
    _show(workspace, made.observation.id, 1, "unhelpful")
    assert _doubtful(workspace)["memories"][0]["reasons"] == ["said to be of no help once"]


def test_archived_memories_are_settled(workspace: Workspace) -> None:
    made = workspace.memory.remember("Nobody calls old", files=("old.py",))
    (workspace.root / "old.py").unlink()
    assert _doubtful(workspace)["total"] == 1
    workspace.memory.lifecycle.archive(made.observation.id, by_whom("person:me"), "")
    assert _doubtful(workspace)["total"] == 0


def test_the_list_comes_in_pages(workspace: Workspace) -> None:
    for number in range(5):
        workspace.memory.remember(f"Fact {number} about old", files=("old.py",))
    (workspace.root / "old.py").unlink()
    pages = [_doubtful(workspace, limit=2, offset=offset)["memories"] for offset in (0, 2, 4)]
    assert [len(page) for page in pages] == [2, 2, 1]
    assert len({row["id"] for page in pages for row in page}) == 5


def test_a_memory_and_a_session_say_what_was_shown(workspace: Workspace) -> None:
    made = workspace.memory.remember("Prices are in cents")
    workspace.memory.take(Moment("", "prompt", "s-0", "claude-code", 0.0, text="what is a price"))
    _show(workspace, made.observation.id, 1, "cited")
    (memory,) = perform(workspace, "memories/show", MemoryRequest(ids=(made.observation.id,)))
    (session,) = perform(workspace, "sessions/show", SessionShowRequest(ids=("s-0",)))
    assert ("s-0", "relevant", "cited") in [(row["session"], row["why"], row["use"]) for row in memory["shown"]]
    assert sorted(map(str, memory["shown"])) == sorted(map(str, session["shown"]))


def test_what_changed_since_the_last_look_is_seen(workspace: Workspace) -> None:
    workspace.memory.remember("Nobody calls old", files=("old.py",))
    assert _doubtful(workspace) == {"memories": [], "total": 0, "looked_at": 1}
    (workspace.root / "old.py").write_text("def new():\n    return 2\n")
    assert _doubtful(workspace)["memories"][0]["reasons"] == ["its code changed since: old.py"]
    with Workspace.open(workspace.root) as another:
        another.memory.remember("Tax is a fifth", files=("money.py::tax",))
    assert _doubtful(workspace)["looked_at"] == 2
    (workspace.root / "old.py").unlink()
    assert _doubtful(workspace)["memories"][0]["reasons"] == ["its code is gone: old.py"]


def test_what_is_kept_is_tied_to_its_code_as_it_is_and_doubtful_no_more(workspace: Workspace) -> None:
    made = workspace.memory.remember("Tax is a fifth", files=("money.py::tax", "old.py")).observation
    _show(workspace, made.id, 5)
    (workspace.root / "old.py").unlink()
    (workspace.root / "money.py").write_text("def tax(price):\n    return price * 1.19\n")
    assert _doubtful(workspace)["total"] == 1
    (row,) = perform(workspace, "memories/keep", MemoryKeepRequest(ids=(made.id,), actor="person:me"))["memories"]
    assert row["files"] == ["money.py::tax"]
    assert _doubtful(workspace)["total"] == 0


def test_one_that_was_never_shown_is_kept_too_and_none_is_an_error_of_nobody(workspace: Workspace) -> None:
    made = workspace.memory.remember("Prices are in cents").observation
    (row,) = perform(workspace, "memories/keep", MemoryKeepRequest(ids=(made.id,)))["memories"]
    assert row["summary"] == "Prices are in cents"
    with pytest.raises(NotFoundError):
        perform(workspace, "memories/keep", MemoryKeepRequest(ids=("m_0000000000",)))


def test_a_rule_of_no_file_is_not_doubtful_for_being_shown_often(workspace: Workspace) -> None:
    rule = workspace.memory.remember("Never squash", type="decision", importance=8).observation.id
    tied = workspace.memory.remember("Tax is a fifth", files=("money.py::tax",), importance=8).observation.id
    _show(workspace, rule, 6)
    _show(workspace, tied, 6)
    assert [row["summary"] for row in _doubtful(workspace)["memories"]] == ["Tax is a fifth"]
    workspace.memory.usage.note_use("s-0", [rule], "unhelpful")
    assert "Never squash" in [row["summary"] for row in _doubtful(workspace)["memories"]]
