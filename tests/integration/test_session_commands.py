"""What users do with sessions and see of the memory in a terminal, command by command, in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cairn import Workspace
from cairn.cli.main import main
from cairn.memory.moments import Moment, ToolCall
from cairn.storage.memory import chat_db

Cairn = Callable[..., tuple[int, str, str]]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "cart.py").write_text("def total():\n    return 1\n")
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def cairn(project: Path, capsys: pytest.CaptureFixture[str]) -> Cairn:
    def run(*arguments: str) -> tuple[int, str, str]:
        code = main([*arguments, "--no-daemon"] if arguments[0] != "status" else list(arguments))
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run


@pytest.fixture
def session(project: Path) -> str:
    with Workspace.open(project) as workspace:
        for number, call in enumerate((None, ToolCall("read", "Read", "cart.py", "ok"))):
            event = "prompt" if call is None else "after-tool"
            assert workspace.memory.take(Moment(str(number), event, "s-1", "codex", 0.0, "why", call)).is_captured
    return "s-1"


def test_a_session_is_muted_and_kept_again_by_its_id(cairn: Cairn, session: str) -> None:
    code, _, err = cairn("sessions", "mute", session)
    assert (code, err.splitlines()[1]) == (2, "  try: confirm it: cairn sessions mute s-1 --yes")
    assert cairn("sessions", "mute", session, "--yes") == (0, "s-1 is muted: nothing of it is kept.\n", "")
    assert cairn("sessions")[0] == 1
    code, out, _ = cairn("sessions", "mute", session, "--undo", "--json")
    assert (code, json.loads(out)) == (0, {"ids": ["s-1"], "muted": False})
    assert cairn("sessions")[1] == "s-1  \n    0 prompts, 0 reads, 0 edits, 0 failures, 0 memories\n"


def test_sessions_are_forgotten_all_or_none(cairn: Cairn, session: str) -> None:
    code, _, err = cairn("sessions", "forget", session, "s-2", "--yes")
    assert (code, "no session has the id 's-2'" in err) == (1, True)
    assert session in cairn("sessions")[1]
    assert cairn("sessions", "forget", session, "--yes")[:2] == (0, "s-1 is forgotten.\n")
    assert cairn("sessions", "forget", session, "--yes")[0] == 1


def test_what_waits_and_what_summaries_cost_is_shown(cairn: Cairn, project: Path, session: str) -> None:
    assert cairn("remember", "totals are rounded half to even")[0] == 0
    assert cairn("index")[0] == 0
    code, out, _ = cairn("status")
    assert (code, "memories    1 active\n" in out, "summaries" in out) == (0, True, False)
    with Workspace.open(project) as workspace, workspace.memory.store.writing() as connection:
        chat_db.add_due(connection, session, 1.0)
        call = chat_db.next_due(connection)
        assert call is not None
        done = call._replace(state="done", asked=4e9, input_tokens=900, output_tokens=100, cost=0.021)
        chat_db.save(connection, done)
    words = "1 question to the chat model in 30 days: 1,000 tokens, $0.02"
    assert f"summaries   {words}\n" in cairn("status")[1]
    assert f"{words}.\n" in cairn("sessions")[2]
    assert json.loads(cairn("status", "--json")[1])["memory"]["chat"]["calls"] == 1
    assert json.loads(cairn("sessions", "--json")[1])["chat"]["output_tokens"] == 100


def test_an_export_inside_the_project_is_not_indexed(cairn: Cairn, project: Path) -> None:
    assert cairn("remember", "totals are rounded half to even")[0] == 0
    assert main(["export", "memories.jsonl"]) == 0
    assert cairn("index")[0] == 0
    skipped = json.loads(cairn("status", "--json")[1])["skipped"]
    assert skipped["memories.jsonl"] == "export of memories"


def test_an_error_in_a_field_names_the_help_of_its_command(cairn: Cairn) -> None:
    code, _, err = cairn("remember", "")
    assert (code, err.splitlines()[1]) == (2, "  try: see what it takes: cairn remember --help")


def test_who_may_not_change_a_status_is_told_where_to_see_why(
    cairn: Cairn, monkeypatch: pytest.MonkeyPatch, project: Path
) -> None:
    monkeypatch.setenv("CAIRN_ACTOR", "person:ada")
    id = json.loads(cairn("remember", "totals are rounded half to even", "--json")[1])["id"]
    assert cairn("memories", "archive", id)[0] == 0
    monkeypatch.setenv("CAIRN_ACTOR", "agent:codex")
    code, _, err = cairn("memories", "reopen", id)
    assert (code, err.splitlines()[1]) == (2, f"  try: see why, and who may: cairn memories show {id}")
    assert "person:ada  archived" in cairn("memories", "show", id)[1]


def test_a_budget_without_room_for_any_memory_says_so(cairn: Cairn) -> None:
    assert cairn("remember", "totals are rounded half to even, as the tax office wants it")[0] == 0
    assert cairn("recall", "how totals are rounded", "--max-tokens", "50") == (
        0, "", "None of 1 has room; raise --max-tokens to see them.\n"
    )  # fmt: skip


def test_a_file_with_colons_in_its_name_is_linked(cairn: Cairn, project: Path) -> None:
    (project / "odd::name.py").write_text("def total():\n    return 1\n")
    files = ["--file", "odd::name.py", "--file", "odd::name.py::total"]
    row = json.loads(cairn("remember", "odd, but so it is called", *files, "--json")[1])["memory"]
    assert row["files"] == ["odd::name.py", "odd::name.py::total"]


def test_sessions_are_found_by_the_words_of_a_prompt(cairn: Cairn, session: str) -> None:
    assert json.loads(cairn("sessions", "--text", "WHY", "--json")[1])["total"] == 1
    assert cairn("sessions", "--text", "why not")[0] == 1


def test_the_code_of_a_memory_is_printed_then_and_now(cairn: Cairn, project: Path) -> None:
    id = json.loads(cairn("remember", "It is always 1", "--file", "cart.py::total", "--json")[1])["id"]
    assert cairn("memories", "code", id)[1] == "cart.py::total  current\n  def total():\n      return 1\n"
    (project / "cart.py").write_text("def total():\n    return 2\n")
    code, out, err = cairn("memories", "code", id)
    assert (code, out.splitlines()[0]) == (0, "cart.py::total  changed")
    assert "What cart.py::total said then is not known: no commit has it." in err
    alone = json.loads(cairn("remember", "About nothing here", "--json")[1])["id"]
    assert cairn("memories", "code", alone)[0] == 1


def test_embedding_says_what_it_takes_and_what_it_did(cairn: Cairn, project: Path) -> None:
    assert cairn("memories", "embed", "--dry-run")[0] == 1
    cairn("remember", "Run the tests with -p no:randomly")
    code, out, _ = cairn("memories", "embed", "--dry-run")
    assert (code, out.startswith("bundled: 1 memory, 0 without a vector; about 8 tokens, ")) == (0, True)
    assert cairn("memories", "embed")[1] == "bundled: 1 of 1 memory embedded\n"
    (model,) = json.loads(cairn("memories", "embed", "--json")[1])["models"]
    assert (model["model"], model["embedded"], model["error"]) == ("bundled", 1, "")


def test_an_edit_is_undone(cairn: Cairn, project: Path) -> None:
    id = json.loads(cairn("remember", "It is always 1", "--json")[1])["id"]
    cairn("memories", "edit", id, "--text", "It is always 2")
    (row,) = json.loads(cairn("memories", "undo", id, "--json")[1])["memories"]
    assert row["summary"] == "It is always 1"


def test_the_status_names_each_event_of_an_agent(cairn: Cairn, project: Path, session: str) -> None:
    with Workspace.open(project) as workspace:
        workspace.index()
    (agent,) = json.loads(cairn("status", "--json")[1])["memory"]["agents"]
    assert (agent["agent"], {event["event"]: event["count"] for event in agent["events"]}) == (
        "codex",
        {"prompt": 1, "after-tool": 1},
    )


def test_what_failed_is_listed_once_with_how_often_and_where_last(cairn: Cairn, project: Path) -> None:
    assert cairn("sessions", "failures")[:2] == (1, "")
    calls = (("s-1", 9_000.0, "pytest", "failed"), ("s-1", 9_010.0, "pytest", "failed"), ("s-2", 9_020.0, "mypy", "ok"))
    late = (("s-2", 9_030.0, "pytest", "failed"), ("s-3", 9_040.0, "make", "failed"))
    with Workspace.open(project) as workspace:
        for number, (id, seconds, target, outcome) in enumerate((*calls, *late)):
            call = ToolCall("shell", "Bash", target, outcome, 1 if outcome == "failed" else 0)
            agent = "goose" if id == "s-3" else "codex"
            workspace.memory.take(Moment(f"f{number}", "after-tool", id, agent, seconds, call=call))
        workspace.memory.sessions.mute("s-3")
        workspace.memory.sessions.mute("s-3", is_muted=False)  # what it did is gone
    code, out, err = cairn("sessions", "failures")
    assert (code, out) == (0, "pytest  shell, 3 times in 2 sessions, last 1970-01-01 02:30 in s-2\n")
    assert err == "3 failures of 1 call.\n"
    document = json.loads(cairn("sessions", "failures", "--json")[1])
    assert (document["total"], document["different"]) == (3, 1)
    assert document["calls"] == [
        {
            "tool": "shell", "name": "Bash", "target": "pytest", "times": 3, "sessions": 2,
            "last": "1970-01-01T02:30:30Z", "session": "s-2", "agent": "codex",
        }
    ]  # fmt: skip
    assert cairn("sessions", "failures", "--agent", "goose")[0] == 1
    assert cairn("sessions", "failures", "--since", "7d")[0] == 1


def test_the_list_of_sessions_names_the_agents_of_all_of_them(cairn: Cairn, project: Path, session: str) -> None:
    with Workspace.open(project) as workspace:
        workspace.memory.take(Moment("2", "prompt", "s-2", "cursor", 0.0, "why"))
    document = json.loads(cairn("sessions", "--json", "-n", "1")[1])
    assert (len(document["sessions"]), document["agents"]) == (1, ["codex", "cursor"])
    assert json.loads(cairn("sessions", "--json", "--agent", "cursor")[1])["agents"] == ["cursor"]
