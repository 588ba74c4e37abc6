"""Without a chat model, no step of a memory opens a connection; with one, the same steps show that it is seen."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from chat_server import ChatServer

# Every step of a memory's life, with all that Python tells of connections, names and programs noted.
_LIFE = """
import json, sys
noted = []
NAMES = ("socket.connect", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo", "socket.gethostbyname")
def note(name, arguments):
    if name in NAMES:
        noted.append([name, repr(arguments[1:])])
    if name == "subprocess.Popen" and "git" not in str(arguments[0]) and "git" not in str(arguments[1][:1]):
        noted.append([name, repr(arguments[1])])
sys.addaudithook(note)

from pathlib import Path
from cairn.memory.moments import Moment, ToolCall
from cairn.memory.store import By
from cairn.workspace import Workspace

root = Path(sys.argv[1])
person = By("person:ada", "person")
with Workspace.open(root) as workspace:
    memory = workspace.memory
    def keep(text, type, session):
        return memory.remember(text, type=type, session=session).observation
    first = keep("Session.send follows redirects and drops the body.", "gotcha", "s0")
    same = keep("Session.send drops the body and follows redirects.", "gotcha", "s1")
    other = keep("Use WAL mode for the store.", "decision", "s1")
    superseded = memory.store.observation(first.id).status
    assert memory.recall.search("redirects")
    memory.lifecycle.undo(first.id, person)
    memory.lifecycle.edit(same.id, person, text="Session.send drops the body.")
    for step in (memory.lifecycle.resolve, memory.lifecycle.reopen, memory.lifecycle.archive):
        step(other.id, person)
    calls = [ToolCall("shell", "Bash", "pytest -q", "failed", 1), ToolCall("edit", "Edit", "a.py", "ok"),
             ToolCall("shell", "Bash", "pytest -q", "ok", 0)]
    moments = [("session-start", "", None), ("prompt", "fix the tests", None)]
    moments += [("after-tool", "", call) for call in calls]
    moments += [("turn-end", "I decided to use WAL mode.", None), ("session-end", "", None)]
    for number, (event, text, call) in enumerate(moments):
        memory.take(Moment(f"e{number}", event, "s2", "claude-code", 0.0, text, call))
    if memory.summaries is not None:
        memory.summaries.wait(20)
    digest = memory.digests.find("s2")
    memory.lifecycle.erase(same.id, person)
    memory.store.refold()
    modules = sorted(name for name in sys.modules if name in ("httpx", "cairn.memory.chat", "keyring"))
    print(json.dumps({"noted": noted, "digest": digest.text, "superseded": superseded, "modules": modules}))
"""


@pytest.fixture
def server() -> Iterator[ChatServer]:
    server = ChatServer(json.dumps({"title": "Fixed the tests", "summary": "They pass."}))
    yield server
    server.close()


def live(folder: Path, **variables: str) -> dict[str, object]:
    """Run a memory's life in a process of its own, and return what was noted of it."""
    root = folder / "project"
    root.mkdir()
    (root / "a.py").write_text("x = 1\n")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CAIRN_")}
    places = {"XDG_STATE_HOME": str(folder / "state"), "XDG_CONFIG_HOME": str(folder / "settings")}
    done = subprocess.run(
        [sys.executable, "-c", _LIFE, str(root)],
        env={**kept, **places, "CAIRN_DAEMON": "false", **variables},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    document: dict[str, object] = json.loads(done.stdout)
    return document


def test_without_a_chat_model_no_connection_is_opened_and_no_program_but_git_is_run(tmp_path: Path) -> None:
    life = live(tmp_path)
    assert life["noted"] == []
    assert life["modules"] == []
    assert life["superseded"] == "superseded"
    assert str(life["digest"]).startswith("fix the tests")


def test_with_one_the_only_connection_is_to_it(tmp_path: Path, server: ChatServer) -> None:
    life = live(
        tmp_path, CAIRN_MEMORY_CHAT_PROVIDER="ollama", CAIRN_MEMORY_CHAT_MODEL="tiny", CAIRN_MEMORY_CHAT_URL=server.url
    )
    assert str(life["digest"]).startswith("Fixed the tests\nThey pass.")
    port = server.url.rpartition(":")[2]
    noted = life["noted"]
    assert isinstance(noted, list)
    assert [name for name, _ in noted].count("socket.connect") == 1
    assert all(port in arguments for _, arguments in noted)
    assert len(server.requests) == 1
