"""What answers to tool calls saved: summed by day, agent and kind, losses as losses, on every surface alike."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cairn.cli.main import main
from cairn.memory.moments import Moment
from cairn.memory.served import ServedAnswers
from cairn.operations import perform
from cairn.protocol.memory_requests import SavingsRequest
from cairn.storage.memory import chat_db
from cairn.storage.memory.rows import ServedAnswer
from cairn.workspace import Workspace

NOW = time.time()
DAY = 86_400.0
OUTLINE = ServedAnswer("s1", NOW, "codex", "outline", True, "a.py", "h1", 300, 4_000)


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with Workspace.open(tmp_path) as workspace:
        yield workspace


@pytest.fixture
def served(workspace: Workspace) -> ServedAnswers:
    workspace.memory.sessions.record(Moment("1", "session-start", "s1", "codex", NOW))
    return ServedAnswers(workspace.memory.store, workspace.memory.sessions)


def keep(served: ServedAnswers, *answers: ServedAnswer) -> None:
    for answer in answers:
        assert served.add(answer, lambda: True)


def test_savings_are_summed_by_day_agent_and_kind(workspace: Workspace, served: ServedAnswers) -> None:
    keep(
        served,
        OUTLINE,
        OUTLINE._replace(path="b.py", tokens=200, replaced_tokens=1_000),
        OUTLINE._replace(is_replacing=False, replaced_tokens=0),
        OUTLINE._replace(agent="goose", kind="search", is_replacing=False, replaced_tokens=0, tokens=90),
        OUTLINE._replace(seconds=NOW - 3 * DAY),
        OUTLINE._replace(seconds=NOW - 40 * DAY),
    )
    assert served.charge("s1", "b.py", "h1", 1_500)
    assert served.charge("s1", "b.py", "h1", 100)
    document = perform(workspace, "savings", SavingsRequest())
    rows = [(row["agent"], row["kind"], row["replacing"], row["answers"], row["saved"]) for row in document["rows"]]
    assert rows == [
        ("codex", "outline", True, 2, 5_000 - 500 - 1_600),
        ("codex", "outline", False, 1, -300),
        ("goose", "search", False, 1, -90),
        ("codex", "outline", True, 1, 3_700),
    ]
    days = [row["day"] for row in document["rows"]]
    assert days[0] == days[2] > days[3] > document["since"]
    assert document["total"] == {
        "answers": 5, "tokens": 1_190, "replaced_tokens": 9_000, "followups": 2, "followup_tokens": 1_600,
        "saved": 6_210,
    }  # fmt: skip
    two_days = SavingsRequest(days=2)  # midnight may have passed since NOW
    assert perform(workspace, "savings", two_days)["total"]["answers"] == 4
    assert perform(workspace, "savings", SavingsRequest(days=60))["total"]["answers"] == 6


def test_a_read_is_charged_once_to_the_last_answer_for_that_version(served: ServedAnswers) -> None:
    keep(served, OUTLINE, OUTLINE, OUTLINE._replace(hash="h2"))
    assert served.charge("s1", "a.py", "h1", 50)
    assert [row.followup_tokens for row in served.known("s1", "s1").answers] == [0, 50, 0]
    for session, path, hash in (("s2", "a.py", "h1"), ("s1", "b.py", "h1"), ("s1", "a.py", "h3")):
        assert not served.charge(session, path, hash, 50)


def test_an_answer_that_came_too_late_is_not_kept(served: ServedAnswers) -> None:
    assert not served.add(OUTLINE, lambda: False)
    assert served.known("s1", "s1").answers == []


def test_nothing_is_created_for_savings(workspace: Workspace) -> None:
    served = ServedAnswers(workspace.memory.store, workspace.memory.sessions)
    assert not served.keeps("s1")
    assert served.known("s1", "s1") == ([], [])
    assert perform(workspace, "savings", SavingsRequest())["rows"] == []
    assert not workspace.memory.store.exists


def test_a_session_of_which_nothing_is_kept_has_no_ledger(workspace: Workspace, served: ServedAnswers) -> None:
    assert served.keeps("s1")
    keep(served, OUTLINE)
    workspace.memory.sessions.mute("s1")
    assert not served.keeps("s1")
    assert served.known("s1", "s1").answers == []


def test_the_command_prints_savings_and_losses(
    tmp_path: Path, served: ServedAnswers, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["savings", "-C", str(tmp_path)]) == 1
    keep(served, OUTLINE, OUTLINE._replace(kind="search", is_replacing=False, replaced_tokens=0, tokens=4_000))
    capsys.readouterr()
    assert main(["savings", "-C", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:] == [
        "  codex  outline: saved 3,700 (1 answer of 300 for 4,000, 0 later reads of 0)",
        "  codex  search (beside): lost 4,000 (1 answer of 4,000 for 0, 0 later reads of 0)",
        "all  lost 300 (2 answers of 4,300 for 4,000, 0 later reads of 0)",
        "tokens: cl100k, estimated",
    ]
    assert main(["savings", "-C", str(tmp_path), "--json", "--days", "2"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["total"]["saved"] == -300
    assert document["tokenizer"] == "cl100k, estimated"


def test_sums_of_each_agent_and_kind_are_those_of_the_rows(
    tmp_path: Path, workspace: Workspace, served: ServedAnswers, capsys: pytest.CaptureFixture[str]
) -> None:
    keep(
        served,
        OUTLINE,
        OUTLINE._replace(seconds=NOW - 3 * DAY),
        OUTLINE._replace(agent="goose", kind="search", is_replacing=False, replaced_tokens=0, tokens=90),
    )
    with workspace.memory.store.writing() as connection:
        chat_db.add_due(connection, "s1", 1.0)
        call = chat_db.next_due(connection)
        assert call is not None
        chat_db.save(connection, call._replace(state="done", asked=NOW, model="m", cost=0.25))
    for by, names in (("agent", ["codex", "goose"]), ("kind", ["outline", "summary", "search"])):
        document = perform(workspace, "savings", SavingsRequest(by=by))  # type: ignore[arg-type] # it is one of them
        assert (document["by"], [group["name"] for group in document["groups"]]) == (by, names)
        for field in ("answers", "tokens", "replaced_tokens", "followups", "followup_tokens", "saved"):
            assert sum(group[field] for group in document["groups"]) == document["total"][field]
        assert sum(group["cost"] for group in document["groups"]) == document["cost"] == 0.25
    days = perform(workspace, "savings", SavingsRequest())["groups"]
    assert [group["saved"] for group in days] == [3_700, 3_610]
    assert days[0]["name"] < days[1]["name"]
    assert main(["savings", "-C", str(tmp_path), "--by", "agent"]) == 0
    assert capsys.readouterr().out.splitlines()[:3] == [
        "codex  saved 7,400 (2 answers of 600 for 8,000, 0 later reads of 0), $0.2500",
        "goose  lost 90 (1 answer of 90 for 0, 0 later reads of 0)",
        "all  saved 7,310 (3 answers of 690 for 8,000, 0 later reads of 0)",
    ]
