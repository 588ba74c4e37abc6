#!/usr/bin/env python3
"""Fill a throw-away project with three weeks of sessions, through the daemon's API, and open the dashboard on it.

    python bench/three_weeks.py                  # until Ctrl-C; then everything is removed
    python bench/three_weeks.py --print          # only print the link

The project is a copy of Cairn's own sources. The daemon is one of its own, with a state folder of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from cairn.runtime import StateFolder

SOURCES = Path(__file__).resolve().parents[1] / "src" / "cairn"
DAYS = 21
AGENTS = ("claude-code", "claude-code", "claude-code", "codex", "cursor")
_DAY = 86_400.0
Ask = Callable[[str, Mapping[str, Any]], Any]
Hook = Callable[[Mapping[str, Any], float], None]


class Task(NamedTuple):
    """Something that was asked of an agent: the prompt, the files it reads and edits, and what went wrong."""

    prompt: str
    reads: tuple[str, ...]
    edits: tuple[str, ...]
    command: str = "pytest -q"
    error: str = ""
    lesson: str = ""
    kind: str = "gotcha"


TASKS = (
    Task(
        "The search is slow on large repositories. Find out why.",
        ("cairn/search/rank.py", "cairn/search/score.py"),
        ("cairn/search/rank.py",),
        "python bench/speed.py --only query",
        "E   TypeError: unsupported operand type(s) for +: 'NoneType' and 'int'",
        "rank() gets no vector for an exact query: check for None before adding",
    ),
    Task(
        "Redact tokens of GitLab, too.",
        ("cairn/memory/redaction.py", "cairn/memory/redaction_rules.py"),
        ("cairn/memory/redaction_rules.py",),
        "pytest -q tests/unit/memory/test_redaction.py",
        "FAILED test_redaction.py::test_every_rule_has_an_example - KeyError: 'gitlab'",
        "Every redaction rule needs an example beside it, or the tests fail",
    ),
    Task(
        "Why do we write files with a temporary name first?",
        ("cairn/storage/atomic.py", "cairn/storage/own_files.py"),
        (),
        lesson="Files are written beside their place and renamed, so that a reader never sees half of one",
        kind="discovery",
    ),
    Task(
        "Add a flag to `cairn gc` that shows what would be removed.",
        ("cairn/cli/index.py", "cairn/index/gc.py"),
        ("cairn/cli/index.py",),
        "mypy src",
        'error: Argument 1 has incompatible type "str"; expected "Path"',
    ),
    Task(
        "We always answer within the token budget. Write that down.",
        ("cairn/budget.py",),
        (),
        lesson="An answer never exceeds max_tokens; what was left out is counted",
        kind="decision",
    ),
    Task(
        "Watch files with inotify instead of polling.",
        ("cairn/index/inotify.py", "cairn/index/watch.py"),
        ("cairn/index/watch.py",),
        "pytest -q tests/unit/index/test_watch.py",
        "OSError: [Errno 28] inotify watch limit reached",
        "The inotify limit of the system is reached by large repositories: fall back to polling",
        "bug_fix",
    ),
    Task(
        "What calls open_own, and may I change its default mode?",
        ("cairn/storage/own_files.py",),
        ("cairn/storage/own_files.py",),
        lesson="open_own truncates nothing on purpose: callers use ftruncate once the file is known to be ours",
        kind="trade_off",
    ),
)


QUESTIONS = (
    "where are files written atomically",
    "how is a secret recognised",
    "what watches files for changes",
    "which queue retries payments",
    "how does the ledger of invoices rotate",
)


def fill(ask: Ask, project: Path, now: float, dice: random.Random, hook: Hook | None = None) -> int:
    """Report three weeks of sessions about a project, and return how many there were.

    Args:
        ask: sends a request below `/api/` and returns the answer.
        project: a folder that the daemon may serve, with a copy of Cairn's sources.
        now: when the last session ends, in seconds since the epoch.
        dice: decides what is done when.
        hook: hands over an event of Claude Code that happened at some time; without it, nothing was saved.
    """
    for place, task in enumerate(TASKS):
        if task.lesson:
            ask("remember", _memory(str(project), task, _name_of(AGENTS[0], place + 1)))
    n_sessions = 0
    for days_ago in range(DAYS, 0, -1):
        for _ in range(dice.choice((0, 1, 1, 2, 3))):
            n_sessions += 1
            begun = now - days_ago * _DAY + dice.uniform(8, 18) * 3_600
            agent = dice.choice(AGENTS)
            _session(ask, str(project), agent, _name_of(agent, n_sessions), begun, dice)
            reads = dice.choice(TASKS).reads
            if hook is not None and agent == "claude-code":
                for place, path in enumerate(reads):
                    hook(_read_of(project, path, _own_id(n_sessions)), begun + 60 * place)
    _today(ask, str(project))
    (project / "cairn" / "index" / "inotify.py").unlink(missing_ok=True)  # what a memory says of it is doubtful now
    return n_sessions + 1


def _own_id(number: int) -> str:
    """Return what an agent calls its session."""
    return f"session-{number:03}"


def _name_of(agent: str, number: int) -> str:
    """Return what Cairn calls it: hooks that hand over what the agent says have the agent's name before the id."""
    return f"{agent}:{_own_id(number)}"


def _today(ask: Ask, project: str) -> None:
    """Report a session that goes on, in which the agent searches and then reads the best of what it is shown."""
    session = f"{AGENTS[0]}:session-today"
    for number, query in enumerate(QUESTIONS):
        found = ask("search", {"project": project, "query": query, "session": session, "limit": 5})
        events: list[tuple[str, dict[str, Any]]] = [("prompt", {"text": query.capitalize() + "?"})]
        if found["code"] and number != 1:
            read = {"name": "Read", "tool": "read", "target": found["code"][0]["filepath"], "outcome": "ok"}
            events.append(("after-tool", {"call": read}))
        for event, payload in events:
            document = {"project": project, "session": session, "agent": AGENTS[0]}
            ask(f"hook/{event}", {**document, "payload": json.dumps(payload)})


def _session(ask: Ask, project: str, agent: str, name: str, begun: float, dice: random.Random) -> None:
    seconds = begun
    for event, payload in _events(dice.sample(TASKS, dice.choice((1, 1, 2))), dice):
        seconds += dice.uniform(5, 120)
        document = {
            "project": project,
            "session": name,
            "agent": agent,
            "payload": json.dumps({"seconds": seconds, **payload}),
        }
        ask(f"hook/{event}", document)


def _events(tasks: Sequence[Task], dice: random.Random) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "session-start", {"details": {"source": "startup"}}
    for task in tasks:
        yield "prompt", {"text": task.prompt}
        for path in task.reads:
            yield "after-tool", {"call": _call("Read", "read", path, dice)}
        for path in task.edits:
            yield "after-tool", {"call": _call("Edit", "edit", path, dice)}
        if task.error:
            failed = {"outcome": "failed", "exit_code": 1, "output": task.error}
            yield "after-tool", {"call": {**_call("Bash", "shell", task.command, dice), **failed}}
            for path in task.edits:
                yield "after-tool", {"call": _call("Edit", "edit", path, dice)}
        if task.edits:
            yield "after-tool", {"call": {**_call("Bash", "shell", task.command, dice), "exit_code": 0}}
        yield "turn-end", {"text": f"Done. {task.lesson}"}
    yield "session-end", {"details": {"reason": "exit"}}


def _call(name: str, tool: str, target: str, dice: random.Random) -> dict[str, Any]:
    return {"name": name, "tool": tool, "target": target, "outcome": "ok", "duration_ms": dice.randrange(5, 4_000)}


def _memory(project: str, task: Task, session: str) -> dict[str, Any]:
    return {
        "project": project,
        "text": task.lesson,
        "type": task.kind,
        "files": task.reads[:1],
        "session": session,
        "actor": "agent:claude-code",
        "tags": [task.reads[0].split("/")[1].removesuffix(".py")],
    }


def _read_of(project: Path, path: str, session: str) -> dict[str, Any]:
    """Return what Claude Code reports before it reads a file."""
    return {
        "session_id": session,
        "transcript_path": "",
        "cwd": str(project),
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": "Read",
        "tool_input": {"file_path": str(project / path)},
    }


def make_project(folder: Path) -> Path:
    """Copy the sources of Cairn into a new repository."""
    project = folder / "cairn"
    shutil.copytree(SOURCES, project / "cairn", ignore=shutil.ignore_patterns("__pycache__", "*.npy"))
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "Begin"]):
        identity = ["-c", "user.name=Demo", "-c", "user.email=demo@example.invalid"]
        subprocess.run(["git", *identity, *arguments], cwd=project, check=True)
    return project


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--print", action="store_true", help="only print the link")
    options = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit())  # so that everything is removed
    with tempfile.TemporaryDirectory(prefix="cairn-demo-") as name:
        folder = Path(name)
        project = make_project(folder)
        places = {f"XDG_{kind}_HOME": str(folder / kind.lower()) for kind in ("STATE", "CONFIG", "CACHE")}
        environment = {**os.environ, **places}

        def cairn(*arguments: str, text: str | None = None) -> str:
            command = [str(Path(sys.executable).with_name("cairn")), *arguments]
            done = subprocess.run(
                command, cwd=project, env=environment, input=text, capture_output=True, text=True, check=False
            )
            return done.stdout

        cairn("index")
        cairn("daemon", "ensure")
        try:
            daemon = _Daemon(folder / "state" / "cairn")
            n_sessions = fill(daemon.ask, project, time.time(), random.Random(7), daemon.hook)
            print(f"{n_sessions} sessions are in {project}. Ctrl-C removes everything.", file=sys.stderr)
            print(cairn("ui", *(["--print"] if options.print else [])).strip(), flush=True)
            signal.pause()
        finally:
            cairn("daemon", "stop")


class _Daemon:
    """The daemon of the demo, asked as programs ask it.

    Args:
        state: its state folder.
    """

    def __init__(self, state: Path) -> None:
        folder = StateFolder(state)
        self._runtime, self._token = folder.find(), folder.read_token()

    def ask(self, path: str, document: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
        return json.loads(self._send(path, json.dumps(document).encode(), "application/json"))

    def hook(self, payload: Mapping[str, Any], seconds: float) -> None:
        """Hand over an event of Claude Code as the hook program does."""
        body = json.dumps(payload)
        id = f"{payload['session_id']}-{seconds:.0f}"
        fields = ("cairn-hook 1", id, "claude-code", "before-tool", f"{seconds:.6f}", payload["cwd"], len(body), "", "")
        self._send("hook", "\0".join(map(str, fields)).encode() + body.encode(), "application/octet-stream")

    def _send(self, path: str, body: bytes, media_type: str) -> bytes:
        if self._runtime is None:
            raise SystemExit("the daemon did not start")
        headers = {"authorization": f"Bearer {self._token}", "content-type": media_type}
        reply = httpx.post(
            f"http://127.0.0.1:{self._runtime.port}/api/{path}", content=body, headers=headers, timeout=60
        )
        if reply.status_code >= 400:
            raise SystemExit(f"{path}: {reply.text}")
        return reply.content


if __name__ == "__main__":
    main()
