"""How often the hooks of each agent failed of late."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from cairn.hooks.errors import with_errors
from cairn.hooks.plain_files import open_state, write_log

NOW = 1_790_000_000.0
PROMPT = {"event": "prompt", "heard": NOW, "count": 3, "last_ms": 1.0, "p95_ms": 2.0, "slowest_ms": 2.0}


def log(state: Path, seconds: float, line: str) -> None:
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
    write_log(open_state(str(state)), f"{moment} {line}\n".encode())


def status() -> dict[str, Any]:
    return {"memory": {"active": 1, "agents": [{"agent": "codex", "heard": NOW, "events": [PROMPT]}]}}


def test_errors_are_counted_with_the_hook_that_made_them(tmp_path: Path) -> None:
    log(tmp_path / "state", NOW - 90_000, "codex prompt: the event waits: it was long ago")
    log(tmp_path / "state", NOW - 20, "codex prompt: the event waits: no daemon is running")
    log(tmp_path / "state", NOW - 10, "codex prompt: the event is lost: OSError: no space")
    log(tmp_path / "state", NOW - 10, "codex turn-end: the event waits: no daemon is running")
    log(tmp_path / "state", NOW - 10, "cursor session-start: the event is lost: it does not end")
    log(tmp_path / "state", NOW - 10, "no line of ours")
    told = with_errors(status(), tmp_path / "state", NOW)["memory"]
    assert told["active"] == 1
    codex, cursor = told["agents"]
    assert codex["events"][0] == {**PROMPT, "errors": 2, "error": "the event is lost: OSError: no space"}
    assert [(event["event"], event["count"], event["errors"]) for event in codex["events"][1:]] == [("turn-end", 0, 1)]
    assert (cursor["agent"], cursor["heard"]) == ("cursor", 0.0)
    assert cursor["events"][0]["error"] == "the event is lost: it does not end"


def test_where_nothing_went_wrong_no_hook_has_an_error(tmp_path: Path) -> None:
    (agent,) = with_errors(status(), tmp_path / "state", NOW)["memory"]["agents"]
    assert agent["events"] == [{**PROMPT, "errors": 0, "error": ""}]


def test_names_that_anybody_made_up_do_not_fill_the_list(tmp_path: Path) -> None:
    for number in range(50):
        log(tmp_path / "state", NOW - 10, f"agent-{number} prompt: the event is lost: why")
    assert len(with_errors(status(), tmp_path / "state", NOW)["memory"]["agents"]) == 20
