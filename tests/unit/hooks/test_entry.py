"""The hook program: what it imports, and that it agrees with the modules whose work it does by hand."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cairn import __version__
from cairn.errors import CairnError, RequestError
from cairn.folders import state_folder
from cairn.hooks import entry, plain_files, raw_spool
from cairn.hooks.agents import NAMES, adapter_of
from cairn.hooks.entry import Hook, find_daemon, is_whole, name_to_log, pack, parse_arguments, parse_runtime, state_path
from cairn.hooks.envelope import MAGIC, open_envelope
from cairn.hooks.plain_files import check_room, keep, open_state, write_log
from cairn.hooks.raw_spool import RawSpool
from cairn.hooks.report import SILENCE, Report
from cairn.runtime import Runtime, StateFolder
from cairn.storage.lock import file_lock

# All that the hook program adds to what Python loads at its start. Each module more is felt at every event.
OURS = {"cairn", "cairn.__main__", "cairn.hooks", "cairn.hooks.entry", "cairn.hooks.plain_files"}
IN_C = {"_signal", "_socket", "fcntl", "gc", "time", "msvcrt"}
TEXT = st.text(st.characters(blacklist_characters="\0", codec="utf-8"))


@pytest.fixture
def state(tmp_path: Path) -> Iterator[StateFolder]:
    folder = StateFolder(tmp_path / "state" / "cairn")
    folder.create()
    with file_lock(folder.lock, 1.0):
        yield folder


def runtime(**changes: Any) -> Runtime:  # noqa: ANN401 - of any field
    return Runtime(os.getpid(), "12345", "127.0.0.1", 37_800, __version__, 1, "00ff00ff")._replace(**changes)


def imports_of(code: str, state: Path) -> set[str]:
    """Return what a process imports that reads an event from stdin."""
    result = subprocess.run(
        [sys.executable, "-S", "-X", "importtime", "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{code}"],
        input=b"{}",
        capture_output=True,
        env={**os.environ, "XDG_STATE_HOME": str(state)},
        check=True,
    )
    lines = result.stderr.decode().splitlines()
    assert all(line.startswith("import time:") for line in lines)
    return {line.rpartition("|")[2].strip() for line in lines}


def test_the_hook_program_imports_only_what_is_listed(tmp_path: Path) -> None:
    (tmp_path / "cairn").mkdir(mode=0o700)
    (tmp_path / "cairn" / "hooks.start").touch()  # no daemon is started
    run = "sys.argv = ['cairn', 'hook', 'prompt', '--agent', 'x']; import os; from cairn.__main__ import run; run()"
    added = imports_of(run, tmp_path) - imports_of("import os", tmp_path)
    assert RawSpool(tmp_path / "cairn").is_waiting()
    assert added >= OURS
    assert added - OURS <= IN_C


@pytest.mark.parametrize(
    ("arguments", "parsed"),
    [
        (["prompt", "--agent", "codex"], ("prompt", "codex", None)),
        (["--agent=codex", "prompt"], ("prompt", "codex", None)),
        (["turn-end", "--agent", "codex", '{"type":"x"}'], ("turn-end", "codex", '{"type":"x"}')),
        (["prompt", "--agent"], ("prompt", "", None)),
        ([], ("", "", None)),
    ],
)
def test_the_payload_may_be_the_last_argument(arguments: list[str], parsed: tuple[str, str, str | None]) -> None:
    assert parse_arguments(arguments) == parsed


@given(st.text(st.characters(blacklist_characters="\0"), max_size=50), TEXT, st.binary(max_size=200), TEXT)
def test_what_is_packed_is_what_the_daemon_opens(agent: str, event: str, payload: bytes, value: str) -> None:
    environment = {"CURSOR_VERSION": value, "GEMINI_API_KEY": "secret"}
    content = pack("id-1", agent.encode("utf-8", "replace").decode(), event, 12.5, environment, payload, len(payload))
    report, opened = open_envelope(content)
    assert opened == payload
    assert (report.id, report.event, report.seconds, report.folder) == ("id-1", event, 12.5, os.getcwd())
    assert report.environment == {"CURSOR_VERSION": value}
    for end in range(0, len(content) - 1, 7):
        if payload and end < len(content) - len(payload):
            with pytest.raises(RequestError):
                open_envelope(content[:end])


def test_an_event_whose_payload_was_too_large_is_whole_and_one_that_was_cut_is_not() -> None:
    assert open_envelope(pack("id", "a", "prompt", 1.0, {}, b"", 40_000_000)).payload == b""
    with pytest.raises(RequestError, match="cut off"):
        open_envelope(pack("id", "a", "prompt", 1.0, {}, b"{", 2))


@pytest.mark.parametrize("environment", [{"XDG_STATE_HOME": "/tmp/x"}, {"XDG_STATE_HOME": "relative"}, {}])
def test_the_state_folder_is_where_everybody_else_has_it(environment: dict[str, str]) -> None:
    assert state_path(environment) == str(state_folder(environment))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"host": "::1"},
        {"pid": 1},
        {"started": "Sat Nov 21 10:00:00 2026"},
        {"answers_commands": False},
        {"environment": ""},
    ],
)
def test_the_daemon_is_found_where_everybody_else_finds_it(state: StateFolder, changes: dict[str, Any]) -> None:
    state.write(runtime(**changes), "token")
    found = state.find()
    assert find_daemon(open_state(str(state.path))) == (None if found is None else (found.host, found.port))


def test_a_daemon_of_another_version_is_none(state: StateFolder) -> None:
    state.write(runtime(version="0.0.1"), "token")
    assert state.find() is not None
    assert find_daemon(open_state(str(state.path))) is None


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[]", b"{", b"\xff", b'{"pid": 1}', b'{"host": 1, "port": 2, "pid": 3, "version": "4"}']
)
def test_a_runtime_file_that_is_none_finds_nothing(state: StateFolder, content: bytes) -> None:
    state.runtime.write_bytes(content)
    assert state.find() is None
    assert find_daemon(open_state(str(state.path))) is None
    with pytest.raises(ValueError, match=r".*"):
        parse_runtime(content)


def test_a_daemon_that_does_not_hold_the_lock_is_not_sent_the_token(tmp_path: Path) -> None:
    folder = StateFolder(tmp_path / "cairn")
    folder.create()
    with socket.socket() as stranger:
        stranger.bind(("127.0.0.1", 0))
        stranger.listen()
        folder.write(runtime(port=stranger.getsockname()[1]), "token")
        with file_lock(folder.lock, 1.0):
            assert find_daemon(open_state(str(folder.path))) is not None
        assert folder.find() is None
        assert find_daemon(open_state(str(folder.path))) is None


@pytest.mark.parametrize("kind", ["link", "writable", "fifo", "twice"])
def test_files_that_are_not_ours_alone_are_not_used(state: StateFolder, kind: str, tmp_path: Path) -> None:
    state.write(runtime(), "token")
    if kind == "link":
        state.runtime.rename(tmp_path / "elsewhere")
        state.runtime.symlink_to(tmp_path / "elsewhere")
    elif kind == "writable":
        state.runtime.chmod(0o666)
    elif kind == "fifo":
        state.runtime.unlink()
        os.mkfifo(state.runtime)
    else:
        os.link(state.lock, tmp_path / "second")
    try:
        found = state.find()
    except CairnError:
        found = None
    assert found is None
    assert find_daemon(open_state(str(state.path))) is None


def test_a_folder_that_others_can_write_is_not_used(tmp_path: Path) -> None:
    folder = tmp_path / "cairn"
    folder.mkdir()
    folder.chmod(0o770)
    with pytest.raises(OSError, match="not a folder of this user alone"):
        open_state(str(folder))


def test_an_event_that_waits_can_be_read_by_its_owner_alone_and_by_the_daemon(tmp_path: Path) -> None:
    folder = open_state(str(tmp_path / "new" / "cairn"))
    keep(folder, "00000000000000000001-a", b"first")
    keep(folder, "00000000000000000002-b", b"second")
    spool = RawSpool(Path(folder.path))
    assert [spool.read(name) for name in spool.names()] == [b"first", b"second"]
    assert {stat.S_IMODE((spool.folder / name).stat().st_mode) for name in spool.names()} == {0o600}
    assert stat.S_IMODE(spool.folder.stat().st_mode) == 0o700
    assert [raw_spool.size_of(name) for name in spool.names()] == [5, 6]


def test_what_waits_is_bounded_and_the_oldest_stay() -> None:
    check_room([f"{number}-x-10.event" for number in range(plain_files.MAX_FILES - 1)], 10)
    with pytest.raises(OSError, match="wait already"):
        check_room([f"{number}-x-10.event" for number in range(plain_files.MAX_FILES)], 10)
    with pytest.raises(OSError, match="wait already"):
        check_room([f"1-x-{plain_files.MAX_WAITING_BYTES}.event"], 1)


@pytest.mark.parametrize("name", ["claude-code", "gemini-cli", "PostToolUse", "session-start", "before_tool"])
def test_the_names_of_agents_and_events_are_logged(name: str) -> None:
    assert name_to_log(name) == name


@pytest.mark.parametrize("name", ["", "gh" + "p_" + "Q2W3e4R5t6Z7u8I9" * 2, "a\x1b[31m", "s" * 31, "hunter2"])
def test_what_may_be_a_secret_in_place_of_a_name_is_not_logged(name: str) -> None:
    assert name_to_log(name) == "?"


def test_the_log_is_bounded(tmp_path: Path) -> None:
    folder = open_state(str(tmp_path / "cairn"))
    for _ in range(700):
        write_log(folder, b"x" * 999 + b"\n")
    sizes = {path.name: path.stat().st_size for path in (tmp_path / "cairn").iterdir()}
    assert sizes.keys() == {"hooks.log", "hooks.log.1"}
    assert max(sizes.values()) <= plain_files.MAX_LOG_BYTES + 1_000


@pytest.mark.parametrize(
    ("received", "whole"),
    [
        (b"", False),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{", False),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", True),
        (b"HTTP/1.1 200 OK\r\na: b\r\ncontent-length: 0\r\n\r\n", True),
    ],
)
def test_an_answer_is_read_to_its_end(received: bytes, *, whole: bool) -> None:
    assert is_whole(received) is whole


@pytest.mark.parametrize(
    "received", [b"SSH-2.0\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n{}", b"HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n"]
)
def test_what_is_no_answer_is_not_waited_for(received: bytes) -> None:
    with pytest.raises(ValueError, match=r".*"):
        is_whole(received)


def test_the_magic_and_the_limit_are_those_of_the_daemon() -> None:
    assert entry.MAGIC == MAGIC
    assert entry.MAX_PAYLOAD_BYTES + 500_000 <= raw_spool.MAX_ENVELOPE_BYTES


@pytest.mark.parametrize("agent", NAMES)
def test_silence_is_what_the_adapter_says_it_is(agent: str) -> None:
    adapter = adapter_of(agent)
    if adapter.events:
        report = Report("id", agent, next(iter(adapter.events)), 1.0, "/", {}, {})
        assert entry.SILENCE.get(agent, b"") == adapter.answer(report, SILENCE).encode()


def test_one_that_has_no_home_and_no_state_says_nothing(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "cairn").write_text("a file in the place of the folder")
    Hook(["prompt", "--agent", "gemini-cli", "{}"], {"XDG_STATE_HOME": str(tmp_path)}).report()
    out, err = capfd.readouterr()
    assert (out, err) == ("{}", "")


def test_json_of_the_runtime_is_as_the_hook_program_reads_it() -> None:
    text = json.dumps(runtime()._asdict()).encode()
    assert parse_runtime(text) == ("127.0.0.1", 37_800, os.getpid(), __version__)
