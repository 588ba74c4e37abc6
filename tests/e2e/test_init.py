"""`cairn init` and `cairn uninstall` as a person, a script and an accident would run them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from installed import CODE, COMMAND
from terminal import run_on_terminal

SETTINGS = '{\n  "permissions": {"deny": ["Bash(rm *)"]},\n  "hooks": {}\n}\n'
SERVERS = '\ufeff{"mcpServers": {"db": {"command": "db", "env": {"TOKEN": "${DB}"}}}}\r\n'


class Home:
    """A user with a project, who has agents' files of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.project = folder / "project"
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "CLAUDE"))},
            "HOME": str(folder),
            "XDG_STATE_HOME": str(folder / "state"),
            "XDG_CACHE_HOME": str(folder / "cache"),
            "PATH": os.pathsep.join([str(Path(COMMAND).parent), "/usr/bin", "/bin"]),
        }
        self.project.mkdir()
        subprocess.run(["git", "init", "-q"], cwd=self.project, check=True)
        (self.project / "cart.py").write_text(CODE)
        (self.project / ".claude").mkdir()
        (self.project / ".claude/settings.json").write_bytes(SETTINGS.encode())
        (self.project / ".mcp.json").write_bytes(SERVERS.encode())

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [COMMAND, *arguments], cwd=self.project, env=self.environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip

    def files(self) -> dict[str, bytes | None]:
        """Return what is in the project and in the home folder but for Cairn's own state."""
        kept = {".git", ".cairn", "state", "cache"}
        return {
            str(path.relative_to(self.folder)): path.read_bytes() if path.is_file() else None
            for path in sorted(self.folder.rglob("*"))
            if not kept & set(path.relative_to(self.folder).parts)
        }


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    folder = tmp_path / "home"
    folder.mkdir()
    home = Home(folder)
    yield home
    home.run("daemon", "stop")


def test_init_sets_up_indexes_and_tries_and_uninstall_restores_every_byte(home: Home) -> None:
    before = home.files()

    first = home.run("init", "--yes", "--json")
    assert (first.returncode, first.stderr) == (0, "")
    document = json.loads(first.stdout)
    assert [(agent["name"], agent["signs"]) for agent in document["agents"]] == [("claude-code", [".claude"])]
    assert {row["file"]: (row["action"], row["written"]) for row in document["files"]} == {
        ".claude/settings.json": ("change", True),
        ".mcp.json": ("change", True),
        ".claude/skills/cairn/SKILL.md": ("create", True),
        ".claude/agents/cairn-explorer.md": ("create", True),
    }
    assert document["index"]["files"] > 0
    assert [(row["part"], row["works"]) for row in document["tests"]] == [("hooks", True), ("mcp", True)]
    during = home.files()
    assert b"${DB}" in (during["project/.mcp.json"] or b"")
    assert json.loads(home.run("sessions", "--json").stdout)["sessions"] == []  # what was tried leaves no trace

    again = home.run("install", "--yes")
    assert (again.returncode, again.stderr) == (0, "")
    assert "Claude Code  .claude" in again.stdout
    assert "Every file is as it should be; nothing was written." in again.stdout
    assert "Indexed " in again.stdout
    assert "ok       Claude Code: the hook answers" in again.stdout
    assert "ok       Claude Code: the MCP server lists 10 tools" in again.stdout
    assert home.files() == during

    (home.project / ".mcp.json").write_bytes(SERVERS.encode())
    found = home.run("doctor").stdout
    assert "Claude Code: the hook answers" in found
    assert "Claude Code: .mcp.json is not as this version of Cairn writes it" in found
    assert "  try: cairn init --agent claude-code" in found
    home.run("init", "--yes", "--no-daemon")
    assert home.files() == during

    removed = home.run("uninstall", "--yes")  # as for init, although it never asks
    assert (removed.returncode, removed.stderr) == (0, "")
    assert home.files() == before
    assert home.run("uninstall").returncode == 1


def test_the_first_init_ends_with_what_comes_next(home: Home) -> None:
    first = home.run("init", "--yes")
    assert first.stdout.splitlines()[-1] == "Start an agent here. What it does and learns: cairn ui"
    assert "Start an agent" not in home.run("init", "--yes").stdout


def test_nothing_is_written_unless_somebody_can_be_asked(home: Home) -> None:
    before = home.files()

    for arguments, code in ((("--agent", "cursor"), 2), (("--json",), 2), (("--dry-run", "--json"), 0)):
        done = home.run("init", *arguments)
        assert home.files() == before
        assert done.returncode == code
        assert not (home.project / ".cairn").exists()
        if arguments[0] == "--agent":
            assert done.stderr == (
                "Nothing was written, because nobody can be asked.\n"
                "  try: cairn init --agent cursor --yes   (--dry-run shows every line)\n"
            )


def test_the_commands_to_go_on_with_are_about_the_folder_that_was_given(home: Home) -> None:
    folder = str(home.project)
    home.project = home.folder  # where nothing is to be done

    asked = home.run("init", "--agent", "zed", "-C", folder)
    done = home.run("init", "--agent", "zed", "-C", folder, "--yes", "--no-daemon")

    assert f"  try: cairn init --agent zed -C {folder} --yes   (" in asked.stderr
    assert f"To take it back: cairn uninstall -C {folder}\n" in done.stdout


@pytest.mark.parametrize(("typed", "is_written"), [("y\n", True), ("\n", False)])
def test_a_person_is_asked_once(home: Home, typed: str, is_written: bool) -> None:
    code, shown = run_on_terminal(
        [COMMAND, "init", "--no-daemon", "--agent", "cursor"], home.project, typed=typed, environment=home.environment
    )

    assert shown.count("[y/N]") == 1
    assert ".cursor/hooks.json" in shown
    assert (home.project / ".cursor/hooks.json").exists() == is_written
    assert code == (0 if is_written else 2), shown


def test_a_diff_shows_every_line_and_applies(home: Home) -> None:
    (home.project / ".mcp.json").unlink()
    diff = home.run("init", "--agent", "claude-code", "--dry-run").stdout

    subprocess.run(["git", "apply", "-"], cwd=home.project, input=diff, text=True, check=True)

    assert home.run("init", "--agent", "claude-code", "--dry-run").stdout == "Nothing would change.\n"


def test_a_file_that_does_not_parse_is_named_and_the_rest_goes_on(home: Home) -> None:
    (home.project / ".mcp.json").write_text('{\n "mcpServers": {,}\n}')

    done = home.run("init", "--yes", "--no-daemon", "--agent", "claude-code")

    assert done.returncode == 2
    assert "error[config]: .mcp.json:2" in done.stderr
    assert "cairn hook" in (home.project / ".claude/settings.json").read_text()
    assert "Indexed" in done.stdout


def test_files_that_cannot_be_written_are_named(home: Home) -> None:
    large = json.dumps({"mcpServers": {}, "note": "x" * 3_000_000}).encode()
    (home.project / ".mcp.json").write_bytes(large)

    script = 'ulimit -f 4000 && exec "$0" init --yes --no-daemon --agent claude-code'
    done = subprocess.run(
        ["sh", "-c", script, COMMAND],
        cwd=home.project,
        env=home.environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 2
    assert "Wrote 3 files." in done.stdout
    assert "1 file could not be written: .mcp.json" in done.stdout
    assert ".mcp.json cannot be written: a file is larger than is allowed" in done.stderr
    assert (home.project / ".mcp.json").read_bytes() == large


def test_a_program_that_agents_cannot_find_is_said_with_what_to_do(home: Home) -> None:
    home.environment["PATH"] = "/usr/bin:/bin"

    done = home.run("init", "--yes", "--agent", "claude-code")

    assert done.returncode == 2
    assert "failed   Claude Code: `cairn` is not on your PATH" in done.stdout
    assert f"try: add {Path(sys.executable).parent} to your PATH; then: cairn init" in done.stdout


def test_the_users_own_files_are_written_only_on_demand_and_links_to_them_stay_links(home: Home) -> None:
    dotfiles = home.folder / "dotfiles"
    dotfiles.mkdir()
    (dotfiles / "settings.json").write_text(SETTINGS)
    (home.folder / ".claude").mkdir()
    (home.folder / ".claude/settings.json").symlink_to("../dotfiles/settings.json")
    before = home.files()

    done = home.run("init", "--user", "--yes", "--no-daemon", "--agent", "claude-code")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{COMMAND} hook session-start" in (dotfiles / "settings.json").read_text()
    assert (home.project / ".mcp.json").read_bytes() == SERVERS.encode()
    assert home.run("uninstall").returncode == 1
    home.run("uninstall", "--user")

    assert (home.folder / ".claude/settings.json").is_symlink()
    assert home.files() == before


def test_a_home_folder_is_no_project(home: Home) -> None:
    done = subprocess.run(
        [COMMAND, "init", "--yes", "--agent", "claude-code"], cwd=home.folder, env=home.environment,
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip

    assert done.returncode == 2
    assert "is not a project" in done.stderr
    assert not (home.folder / ".claude").exists()


def test_uninstall_does_not_call_a_file_free_of_cairn_that_keeps_a_server_of_the_users(home: Home) -> None:
    servers = '{"mcpServers": {"cairn": {"command": "cairn", "args": ["mcp"], "env": {"A": "1"}}}}'
    (home.project / ".mcp.json").write_text(servers)
    home.run("init", "--agent", "claude-code", "--yes", "--no-daemon")

    removed = home.run("uninstall")

    assert (home.project / ".mcp.json").read_text() == servers
    assert "`mcpServers.cairn` is yours and stays" in removed.stdout
    assert removed.stdout.splitlines()[-2:] == [
        "Nothing of Cairn's is left in the other files.",
        "The index and the memories stay in .cairn.",
    ]


def test_a_kill_at_any_moment_is_mended_by_the_next_init_or_uninstall(home: Home) -> None:
    before = home.files()
    names = ("init", "--yes", "--no-daemon", "--agent", "claude-code", "--agent", "cursor", "--agent", "windsurf")
    seconds = 0.1
    for attempt in range(4):
        process = subprocess.Popen(
            [COMMAND, *names],
            cwd=home.project,
            env=home.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(seconds + attempt * 0.12)
        process.send_signal(signal.SIGKILL)
        process.wait()
        if attempt % 2:
            home.run(*names)
        home.run("uninstall")

        assert home.files() == before
