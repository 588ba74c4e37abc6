"""Questions about memories, asked when events still wait on disk: after a crash, or while a daemon starts."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import pytest

from cairn.cli.main import main
from cairn.hooks.dispatch import take_in_waiting
from cairn.hooks.entry import pack
from cairn.hooks.raw_spool import RawSpool
from cairn.memory.moments import Moment
from cairn.memory.spool import Spool
from cairn.registry import Registry
from cairn.runtime import StateFolder
from cairn.workspace import Workspace
from serving import AsgiTransport, make_app

RULE = "Always run the linter before every commit in this repository."


def envelope(root: Path, number: int, prompt: str) -> bytes:
    payload = {"session_id": "s1", "cwd": str(root), "hook_event_name": "UserPromptSubmit", "prompt": prompt}
    content = json.dumps(payload).encode()
    return pack(f"event-{number}", "claude-code", "prompt", time.time() - 100 + 10 * number, {}, content, len(content))


@pytest.fixture
def spool(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> RawSpool:
    monkeypatch.chdir(checkout)
    folder = StateFolder.of_user()
    folder.create()
    Registry(folder).add(checkout, "project")
    spool = RawSpool(folder.path)
    spool.add(envelope(checkout, 1, RULE))
    return spool


@pytest.mark.parametrize("command", [("memories",), ("recall", "what is run before a commit")])
def test_a_command_knows_what_was_reported_while_no_daemon_ran(
    spool: RawSpool, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    assert main([*command, "--no-daemon"]) == 0
    assert RULE in capsys.readouterr().out
    assert not spool.is_waiting()
    assert main(["memories", "--no-daemon", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["total"] == 1


def test_a_command_leaves_the_events_of_other_projects_to_the_daemon(
    spool: RawSpool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    Registry(StateFolder.of_user()).add(other, "other")
    spool.add(envelope(other, 2, "Never push to main in this repository without a review."))
    spool.add(b"no event")
    main(["memories", "--no-daemon"])
    shown = capsys.readouterr()
    assert (RULE in shown.out, "review" in shown.out, shown.err) == (True, False, "")
    assert len(spool.names()) == 2


def test_who_has_no_time_for_all_events_is_told_how_many_wait(spool: RawSpool, checkout: Path) -> None:
    spool.add(envelope(checkout, 2, "and now the docs"))
    with Workspace.open(checkout) as workspace:
        assert take_in_waiting(workspace, spool, {str(checkout)}, -1.0) == 2
        assert take_in_waiting(workspace, spool, {str(checkout)}, 60.0) == 0
    assert not spool.is_waiting()


def test_the_daemon_answers_after_it_took_in_what_waited(spool: RawSpool, checkout: Path) -> None:
    async def ask() -> bytes:
        app = make_app(StateFolder.of_user().path, checkout)
        body = json.dumps({"project": str(checkout)}).encode()
        reply = await AsgiTransport(app).send("POST", "/api/memories", body)
        app.daemon.projects.close()
        return reply.body

    assert RULE.encode() in asyncio.run(ask())


def test_a_list_has_what_waited_since_the_memory_could_not_be_written(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(checkout)
    Spool(checkout).add(Moment("1", "prompt", "s1", "codex", 1e9, RULE))
    assert main(["memories", "--no-daemon"]) == 0
    assert RULE in capsys.readouterr().out


def test_what_a_hook_did_not_wait_for_is_shown_at_the_next_prompt(spool: RawSpool, checkout: Path) -> None:
    for name in spool.names():
        spool.remove(name)
    with Workspace.open(checkout) as workspace:
        workspace.memory.remember("Never squash.", type="decision", importance=8)

    async def work() -> list[str]:
        daemon = make_app(StateFolder.of_user().path, checkout).daemon
        said = []
        for session in ("lost", "late"):
            start = {"session_id": session, "cwd": str(checkout), "hook_event_name": "SessionStart"}
            content = json.dumps({**start, "source": "startup"}).encode()
            packed = pack(f"start-{session}", "claude-code", "session-start", time.time(), {}, content, len(content))
            if session == "lost":  # the daemon answers, when the hook has given up and kept the event
                said.append(await daemon.hooks.answer(packed))
            spool.add(packed)
            await daemon.hooks.catch_up()
            prompt = {**start, "hook_event_name": "UserPromptSubmit", "prompt": "and now the docs"}
            content = json.dumps(prompt).encode()
            packed = pack(f"prompt-{session}", "claude-code", "prompt", time.time(), {}, content, len(content))
            said += [await daemon.hooks.answer(packed), await daemon.hooks.answer(packed)]
        daemon.projects.close()
        return said

    lost, after_lost, again, after_late, _ = asyncio.run(work())
    assert "Never squash." in lost
    assert "Never squash." in after_lost
    assert again == ""
    assert "Never squash." in after_late
