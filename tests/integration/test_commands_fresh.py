from __future__ import annotations

import json
from pathlib import Path

import cairn
import in_process
from cairn.memory.moments import Moment, ToolCall

_AGENT = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "agents-own"}


def run(*arguments: str, cwd: Path, **environment: str) -> str:
    result = in_process.cairn(*arguments, cwd=cwd, environment=environment)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


def read_file(root: Path, session: str) -> str:
    """Return what is shown to an agent that reads the file."""
    with cairn.Workspace.open(root) as workspace:
        workspace.memory.take(Moment("", "session-start", session, "codex", 0.0, details={"source": "startup"}))
        call = ToolCall("read", "Read", "tax.py")
        return workspace.memory.take(Moment("", "before-tool", session, "codex", 0.0, call=call)).context


def test_fresh_makes_the_next_session_one_that_is_shown_nothing(tmp_path: Path) -> None:
    (tmp_path / "tax.py").write_text("TAX = 19\n")
    run("remember", "Prices are net.", "--file", "tax.py", cwd=tmp_path)
    assert "Prices are net." in read_file(tmp_path, "s1")
    assert run("fresh", cwd=tmp_path).startswith("The next session in this project is a fresh one")
    assert read_file(tmp_path, "s2") == ""
    assert "Prices are net." in read_file(tmp_path, "s3")
    run("fresh", cwd=tmp_path)
    assert json.loads(run("fresh", "--undo", "--json", cwd=tmp_path)) == {"session": "", "fresh": False}
    assert "Prices are net." in read_file(tmp_path, "s4")


def test_an_agent_that_asks_for_a_fresh_session_means_its_own(tmp_path: Path) -> None:
    (tmp_path / "tax.py").write_text("TAX = 19\n")
    run("remember", "Prices are net.", "--file", "tax.py", cwd=tmp_path)
    assert run("fresh", cwd=tmp_path, **_AGENT).startswith("This session is a fresh one")
    assert read_file(tmp_path, "claude-code:agents-own") == ""
    assert "Prices are net." in read_file(tmp_path, "another")
    told = run("fresh", "--session", "claude-code:agents-own", cwd=tmp_path)
    assert told.endswith("To undo: cairn fresh --undo --session claude-code:agents-own\n")
    run("fresh", "--undo", "--session", "claude-code:agents-own", cwd=tmp_path)
    assert "Prices are net." in read_file(tmp_path, "claude-code:agents-own")
