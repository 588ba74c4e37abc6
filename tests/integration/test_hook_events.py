"""Events on their way from an agent's hook into the memory of its project, and the answers on their way back."""

from __future__ import annotations

import json
import logging
import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cairn import __version__
from cairn.hooks.entry import pack
from cairn.hooks.raw_spool import RawSpool
from cairn.memory.handles import handle_of
from cairn.protocol import PROTOCOL_VERSION
from cairn.runtime import Runtime, StateFolder
from cairn.storage.lock import file_lock
from cairn.storage.memory.rows import Session
from cairn.storage.memory.session_db import SessionConditions
from cairn.transport import ask
from cairn.workspace import Workspace
from installed import COMMAND
from serving import TOKEN, Served, make_app, serving

SESSION = "40c3b001-c0cd-4a73-81a4-9b235edbe581"
Send = Callable[..., str]
RunHook = Callable[..., bytes]


@pytest.fixture
def root(checkout: Path) -> Path:
    (checkout / "tax.py").write_text("def tax(price):\n    return price\n")
    return checkout


@pytest.fixture
def state(tmp_path: Path) -> StateFolder:
    folder = StateFolder(tmp_path / "user" / "cairn")
    folder.create()
    return folder


@pytest.fixture
def served(root: Path, state: StateFolder) -> Iterator[Served]:
    with serving(make_app(state.path, root)) as daemon:
        yield daemon


@pytest.fixture
def send(served: Served) -> Send:
    def send(event: str, payload: object, seconds: float = 1e9, **variables: str) -> str:
        content = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        return post(served, envelope(event, content, seconds=seconds, **variables))

    return send


@pytest.fixture
def run_hook(state: StateFolder) -> RunHook:
    (state.path / "hooks.start").touch()  # no other daemon is started

    def run(event: str, payload: object, *more: str, agent: str = "claude-code", **variables: str) -> bytes:
        content = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        result = subprocess.run(
            [COMMAND, "hook", event, "--agent", agent, *more],
            input=content,
            capture_output=True,
            env={"PATH": os.environ["PATH"], "XDG_STATE_HOME": str(state.path.parent), **variables},
            check=False,
        )
        assert (result.returncode, result.stderr) == (0, b"")
        return result.stdout

    return run


def envelope(
    event: str, content: bytes, id: str = "", agent: str = "claude-code", seconds: float = 1e9, **variables: str
) -> bytes:
    id = id or os.urandom(6).hex()
    variables = {name: value for name, value in variables.items() if value}
    return pack(id, agent, event, seconds, variables, content, len(content))


def post(served: Served, content: bytes) -> str:
    size = f"Content-Type: application/octet-stream\r\nContent-Length: {len(content)}\r\nConnection: close\r\n\r\n"
    head = f"POST /api/hook HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nAuthorization: Bearer {TOKEN}\r\n{size}"
    answer = served.say(head.encode() + content).decode()
    assert answer.startswith("HTTP/1.1 200 "), answer
    return answer.partition("\r\n\r\n")[2]


def wait_until(happens: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not happens() and time.monotonic() < deadline:
        time.sleep(0.01)


def claude(root: Path, name: str, **fields: object) -> dict[str, object]:
    return {"session_id": SESSION, "cwd": str(root), "hook_event_name": name, "prompt_id": "p1", **fields}


def read_of(root: Path, id: str = "toolu_1", name: str = "PreToolUse") -> dict[str, object]:
    return claude(root, name, tool_name="Read", tool_input={"file_path": str(root / "tax.py")}, tool_use_id=id)


def sessions(root: Path) -> list[Session]:
    with Workspace.open(root) as workspace:
        return workspace.memory.sessions.select(SessionConditions())


def targets(root: Path) -> list[str]:
    with Workspace.open(root) as workspace:
        memory = workspace.memory
        return [
            activity.target
            for session in memory.sessions.select(SessionConditions())
            for activity in memory.sessions.activities(session)
        ]


def remember(root: Path) -> str:
    with Workspace.open(root) as workspace:
        kept = workspace.memory.remember("Prices are net here; the shop adds the tax.", files=["tax.py"])
    return handle_of(kept.observation.id)


def test_a_session_is_told_by_the_hooks_of_its_agent(send: Send, root: Path) -> None:
    send("session-start", claude(root, "SessionStart", source="startup"))
    send("prompt", claude(root, "UserPromptSubmit", prompt="mend the tax"))
    send("before-tool", read_of(root))
    send("after-tool", read_of(root, name="PostToolUse"))
    failure = {
        "tool_name": "Bash",
        "tool_input": {"command": "pytest -q"},
        "tool_use_id": "t2",
        "error": "Exit code 1\n1 failed",
    }
    send("after-tool", claude(root, "PostToolUseFailure", **failure))
    send("turn-end", claude(root, "Stop", last_assistant_message="done"))
    send("session-end", claude(root, "SessionEnd", reason="other"))
    (session,) = sessions(root)
    assert (session.id, session.agent, session.source) == (f"claude-code:{SESSION}", "claude-code", "startup")
    assert (session.n_prompts, session.n_activities, session.n_failures) == (1, 2, 1)
    assert session.end_reason == "other"
    assert sorted(targets(root)) == ["pytest -q", "tax.py"]


def test_what_earlier_sessions_learned_reaches_the_agent_in_its_own_words(send: Send, root: Path) -> None:
    handle = remember(root)
    answer = json.loads(send("before-tool", read_of(root)))
    output = answer["hookSpecificOutput"]
    assert output["hookEventName"] == "PreToolUse"
    assert handle in output["additionalContext"]
    assert send("after-tool", read_of(root, name="PostToolUse")) == ""


def test_an_event_that_two_hooks_report_counts_once_and_is_answered_once(send: Send, root: Path) -> None:
    remember(root)
    assert send("before-tool", read_of(root)) != ""
    assert send("before-tool", read_of(root)) == ""
    for _ in range(2):
        send("after-tool", read_of(root, name="PostToolUse"))
    start = claude(root, "SessionStart", source="startup")
    assert send("session-start", start, seconds=1e9) != ""
    assert send("session-start", start, seconds=1e9 + 1.9) == ""
    assert targets(root) == ["tax.py"]


def test_the_same_without_an_id_a_while_later_is_another_event(send: Send, root: Path) -> None:
    del_id = {"tool_use_id": None}
    for seconds in (1e9, 1e9 + 1, 1e9 + 5):
        send("after-tool", read_of(root, name="PostToolUse") | del_id, seconds=seconds)
    assert targets(root) == ["tax.py", "tax.py"]


DEEP = b'{"a":' * 100_000 + b"1" + b"}" * 100_000


@pytest.mark.parametrize(
    ("event", "payload"),
    [
        ("prompt", b"{not json"),
        ("prompt", b""),
        ("prompt", b"[]"),
        ("prompt", b"null"),
        ("prompt", b'{"session_id": "s", "prompt": "' + b"x" * 100),
        ("prompt", b'{"session_id": "\xff\xfe"}'),
        ("prompt", b'{"session_id": "s"}\0\0\0'),
        ("prompt", DEEP),
        ("prompt", b'{"n": ' + b"9" * 10_000 + b"}"),
        ("no-such-event", b'{"session_id": "s"}'),
        ("before-tool", b'{"session_id": "s", "hook_event_name": "Stop"}'),
        ("prompt", b'{"session_id": 5}'),
    ],
    ids=lambda value: repr(value[:20]),
)
def test_what_cannot_be_read_is_a_line_in_the_log_and_silence(
    send: Send, caplog: pytest.LogCaptureFixture, event: str, payload: bytes
) -> None:
    with caplog.at_level(logging.INFO, "cairn.hooks"):
        assert send(event, payload) == ""
    assert [record.levelname for record in caplog.records if record.name == "cairn.hooks"] == ["WARNING"]


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"cairn-hook 1\0", b"cairn-hook 2\0a\0b\0c\0" + b"1\0/\0" + b"0\0\0", b"\0" * 50]
)
def test_what_is_no_event_is_answered_with_nothing(served: Served, content: bytes) -> None:
    assert post(served, content) == ""


WRONG: tuple[Any, ...] = (None, True, 5, 1e308, "", "\0", "\ud800", [], [[]], {}, {"a": [None]}, "x" * 100_000)


@pytest.mark.parametrize("name", ["PreToolUse", "PostToolUse", "PostToolUseFailure"])
def test_values_of_the_wrong_type_change_nothing_but_what_they_say(send: Send, root: Path, name: str) -> None:
    event = "before-tool" if name == "PreToolUse" else "after-tool"
    for number, wrong in enumerate(WRONG):
        for field in (
            "tool_name",
            "tool_input",
            "tool_response",
            "error",
            "cwd",
            "prompt_id",
            "agent_id",
            "duration_ms",
        ):
            answer = send(event, read_of(root, f"{number}-{field}", name) | {field: wrong})
            assert answer == "" or json.loads(answer)
    assert len(sessions(root)) == 1


def test_a_payload_of_ten_megabytes_is_taken_in(send: Send, root: Path) -> None:
    response = {"stdout": "x" * 10_000_000, "stderr": ""}
    send(
        "after-tool",
        read_of(root, name="PostToolUse")
        | {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": response},
    )
    assert targets(root) == ["ls"]


@pytest.mark.parametrize(
    ("variables", "fields", "silence"),
    [
        ({"CURSOR_VERSION": "3.18"}, {}, "{}"),
        ({}, {"cursor_version": "3.18"}, "{}"),
        ({"COPILOT_CLI": "1", "CLAUDECODE": "1"}, {"timestamp": "2026-11-20T20:54:34.434Z"}, ""),
        ({"DEVIN_PROJECT_DIR": "/repo"}, {}, ""),
        ({"FACTORY_PROJECT_DIR": "/repo"}, {}, ""),
        ({"QWEN_PROJECT_DIR": "/repo"}, {}, ""),
        ({"GEMINI_SESSION_ID": SESSION}, {}, "{}"),
        ({}, {"timestamp": "2026-11-20T10:00:00.000Z", "tool_name": "read_file"}, ""),
    ],
)
def test_a_hook_of_claude_code_that_another_program_runs_does_nothing(
    send: Send, root: Path, variables: dict[str, str], fields: dict[str, str], silence: str
) -> None:
    remember(root)
    assert send("before-tool", read_of(root) | fields, **variables) == silence
    assert not sessions(root)


@pytest.mark.parametrize(
    "variables",
    [{"CLAUDECODE": "1"}, {"CLAUDE_CODE_SESSION_ID": SESSION, "COPILOT_CLI": "1", "CURSOR_VERSION": "3"}, {}],
)
def test_claude_code_is_known_even_in_the_shell_of_another_agent(
    send: Send, root: Path, variables: dict[str, str]
) -> None:
    send("before-tool", read_of(root), **variables)
    assert len(sessions(root)) == 1


def test_a_folder_of_no_project_is_answered_with_nothing(send: Send, root: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    assert send("session-start", claude(other, "SessionStart", source="startup")) == ""
    assert not sessions(root)
    assert not (other / ".cairn").exists()


def test_an_agent_that_has_left_the_project_is_still_heard(send: Send, root: Path, tmp_path: Path) -> None:
    send("prompt", claude(tmp_path, "UserPromptSubmit", prompt="go"), CLAUDE_PROJECT_DIR=str(root))
    assert len(sessions(root)) == 1


def test_a_linked_worktree_belongs_to_its_main_checkout(send: Send, root: Path, tmp_path: Path) -> None:
    git = ["git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-qm", "first"], check=True)
    worktree = tmp_path / "side"
    subprocess.run([*git, "worktree", "add", "-q", "-b", "side", str(worktree)], check=True)
    send("after-tool", read_of(worktree, name="PostToolUse"))
    (session,) = sessions(root)
    assert (session.branch, targets(root)) == ("side", ["tax.py"])


def test_a_checkout_that_only_claims_to_be_a_worktree_is_no_project(send: Send, root: Path, tmp_path: Path) -> None:
    stranger = tmp_path / "stranger"
    stranger.mkdir()
    (root / ".git" / "worktrees" / "stranger").mkdir(parents=True)
    (stranger / ".git").write_text(f"gitdir: {root}/.git/worktrees/stranger\n")
    assert send("after-tool", read_of(stranger, name="PostToolUse")) == ""
    assert not sessions(root)


def test_what_waits_on_disk_is_taken_in_before_the_next_event_and_once(
    send: Send, state: StateFolder, root: Path
) -> None:
    spool = RawSpool(state.path)
    contents = [
        envelope(
            "prompt",
            json.dumps(claude(root, "UserPromptSubmit", prompt=f"{number}", prompt_id=f"p{number}")).encode(),
            id=f"e{number}",
        )
        for number in range(5)
    ]
    for content in (*contents, contents[0]):
        spool.add(content)
    spool.add(b"nothing that anybody sent")
    send("prompt", claude(root, "UserPromptSubmit", prompt="5", prompt_id="p5"))
    wait_until(lambda: not spool.is_waiting())
    with Workspace.open(root) as workspace:
        (session,) = workspace.memory.sessions.select(SessionConditions())
        prompts = [batch.prompt for batch in workspace.memory.sessions.batches(session)]
    assert prompts == ["0", "1", "2", "3", "4", "5"]
    assert not spool.is_waiting()
    assert len(spool.bad_files()) == 1


def test_what_waited_on_disk_keeps_what_can_be_shown_for_an_event_that_is_waited_for(
    send: Send, state: StateFolder, root: Path
) -> None:
    remember(root)
    RawSpool(state.path).add(envelope("before-tool", json.dumps(read_of(root)).encode()))
    assert send("before-tool", read_of(root, "toolu_2")) != ""


def test_the_hook_program_prints_what_the_daemon_answers(
    served: Served, state: StateFolder, root: Path, run_hook: RunHook
) -> None:
    handle = remember(root)
    with file_lock(state.lock, 5.0):
        runtime = Runtime(os.getpid(), "", "127.0.0.1", served.port, __version__, PROTOCOL_VERSION, "")
        state.write(runtime, TOKEN)
        # A busy machine may take longer than a hook waits, above all at first.
        reads = (read_of(root, f"t{number}") | {"session_id": f"s{number}"} for number in range(20))
        answer = next(filter(None, (run_hook("before-tool", read) for read in reads)))
        assert run_hook("prompt", b"{", agent="nobody") == b""
    assert handle in json.loads(answer)["hookSpecificOutput"]["additionalContext"]


def test_an_event_waits_on_disk_while_no_daemon_runs(
    state: StateFolder, root: Path, run_hook: RunHook, tmp_path: Path
) -> None:
    for number in range(3):
        assert run_hook("prompt", claude(root, "UserPromptSubmit", prompt=f"{number}", prompt_id=f"p{number}")) == b""
    assert run_hook("prompt", {}, agent="gemini-cli") == b"{}"
    assert (state.path / "hooks.log").read_text().count("the event waits: no daemon is running") == 4
    with serving(make_app(state.path, root)) as served:
        post(served, envelope("prompt", json.dumps(claude(root, "UserPromptSubmit", prompt="3")).encode()))
        wait_until(lambda: not RawSpool(state.path).is_waiting())
    (session,) = sessions(root)
    assert session.n_prompts == 4
    assert not RawSpool(state.path).is_waiting()


def test_a_program_at_the_port_of_a_dead_daemon_gets_nothing(state: StateFolder, root: Path, run_hook: RunHook) -> None:
    with socket.socket() as stranger:
        stranger.bind(("127.0.0.1", 0))
        stranger.listen()
        stranger.setblocking(False)
        port = stranger.getsockname()[1]
        state.write(Runtime(os.getpid(), "", "127.0.0.1", port, __version__, PROTOCOL_VERSION, ""), "secret")
        assert run_hook("prompt", claude(root, "UserPromptSubmit", prompt="go")) == b""
        with pytest.raises(BlockingIOError):
            stranger.accept()


def test_a_daemon_that_never_answers_delays_nobody_for_long_and_the_event_waits(
    state: StateFolder, root: Path, run_hook: RunHook
) -> None:
    with socket.socket() as silent, file_lock(state.lock, 5.0):
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        port = silent.getsockname()[1]
        state.write(Runtime(os.getpid(), "", "127.0.0.1", port, __version__, PROTOCOL_VERSION, ""), "secret")
        assert run_hook("prompt", claude(root, "UserPromptSubmit", prompt="go")) == b""
    assert RawSpool(state.path).is_waiting()
    assert "timed out" in (state.path / "hooks.log").read_text()


@pytest.mark.parametrize("closed", ["<&-", ">&-", "<&- >&- 2>&-"])
def test_streams_that_are_closed_stop_nothing(state: StateFolder, root: Path, closed: str) -> None:
    (state.path / "hooks.start").touch()
    payload = json.dumps(claude(root, "UserPromptSubmit", prompt="go"))
    result = subprocess.run(
        ["sh", "-c", f'exec "$0" hook prompt --agent claude-code {closed}', COMMAND],
        input=payload.encode(),
        env={"PATH": os.environ["PATH"], "XDG_STATE_HOME": str(state.path.parent)},
        check=False,
    )
    assert result.returncode == 0
    (name,) = RawSpool(state.path).names()
    assert RawSpool(state.path).read(name).endswith(b"" if "<" in closed else payload.encode())


def test_an_event_that_is_too_large_is_read_to_its_end_and_goes_without_its_payload(
    state: StateFolder, run_hook: RunHook
) -> None:
    assert run_hook("prompt", b" " * 33_000_000) == b""
    (name,) = RawSpool(state.path).names()
    assert RawSpool(state.path).read(name).endswith(b"\x0033000000\x00\x00")
    assert "without its 33,000,000 bytes" in (state.path / "hooks.log").read_text()


def test_an_event_that_cannot_be_kept_is_read_to_its_end(state: StateFolder, run_hook: RunHook) -> None:
    state.path.chmod(0o777)
    assert run_hook("prompt", b" " * 1_000_000, agent="gemini-cli") == b"{}"


@pytest.mark.parametrize("arguments", [[], ["prompt"], ["prompt", "--agent"], ["--what", "ever"], ["x" * 5_000]])
def test_any_arguments_end_in_silence(state: StateFolder, arguments: list[str]) -> None:
    (state.path / "hooks.start").touch()
    environment = {"PATH": os.environ["PATH"], "XDG_STATE_HOME": str(state.path.parent)}
    result = subprocess.run(
        [COMMAND, "hook", *arguments], input=b"{}", capture_output=True, env=environment, check=False
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, b"", b"")


def test_the_route_needs_the_token_and_its_own_media_type(served: Served) -> None:
    assert ask(served.runtime, "wrong", "POST", "/api/hook", b"{}").status == 401
    assert ask(served.runtime, TOKEN, "POST", "/api/hook", b"{}").status == 422


def test_a_full_read_of_a_large_file_is_answered_with_its_outline(send: Send, root: Path) -> None:
    body = "".join(f"    price = price * {number}\n" for number in range(20))
    code = "".join(f"def rate_{number}(price):\n{body}    return price\n\n\n" for number in range(40))
    (root / "rates.py").write_text(code)
    with Workspace.open(root) as workspace:
        workspace.index()
    send("session-start", claude(root, "SessionStart", source="startup"))
    read = claude(root, "PreToolUse", tool_name="Read", tool_input={"file_path": str(root / "rates.py")})
    # What is not ready in time is not said, which a busy machine makes likely at first.
    answers = (
        send("before-tool", read | {"tool_use_id": f"t{number}", "session_id": f"s{number}"}) for number in range(50)
    )
    assert any("rate_17" in answer for answer in answers)
