"""Which agents init and uninstall are about."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cairn.cli.install_text import plan_row
from cairn.errors import ConfigError, NotFoundError, RequestError
from cairn.hooks.adapter import Level
from cairn.hooks.agents import NAMES
from cairn.install.apply import apply
from cairn.install.plan import FileChange
from cairn.install.setup import SetupPlan, plan_init, plan_uninstall


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def environment(*folders: Path) -> dict[str, str]:
    return {"PATH": os.pathsep.join(map(str, folders))}


def names(plan: SetupPlan) -> list[str]:
    return [found.adapter.name for found in plan.agents]


def add_program(folder: Path, name: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("#!/bin/sh\n")
    (folder / name).chmod(0o755)


def test_an_agent_is_found_by_the_project_the_home_folder_or_the_path(home: Path, root: Path, tmp_path: Path) -> None:
    (root / ".cursor").mkdir()
    (home / ".gemini").mkdir()
    add_program(tmp_path / "bin", "claude")

    plan = plan_init(root, "project", (), environment(tmp_path / "bin"))

    assert {found.adapter.name: found.signs for found in plan.agents} == {
        "claude-code": ("claude on the PATH",),
        "cursor": (".cursor",),
        "gemini-cli": ("~/.gemini",),
    }


def test_without_any_agent_their_names_are_told(home: Path, root: Path) -> None:
    with pytest.raises(NotFoundError, match="no coding agent was found") as caught:
        plan_init(root, "project", (), environment(home))
    assert "claude-code" in caught.value.hint


def test_an_agent_that_nobody_knows_is_an_error(home: Path, root: Path) -> None:
    with pytest.raises(RequestError, match="there is no agent 'emacs'"):
        plan_init(root, "project", ("emacs",), environment(home))
    with pytest.raises(RequestError, match="there is no agent 'emacs'"):
        plan_uninstall(root, "project", ("emacs",), environment(home))


@pytest.mark.parametrize(
    ("name", "meant"),
    [("claude", "claude-code"), ("VS-Code", "vscode"), ("github-copilot", "copilot-cli"), ("curser", "cursor")],
)
def test_a_name_that_is_like_that_of_an_agent_is_told(home: Path, root: Path, name: str, meant: str) -> None:
    with pytest.raises(RequestError) as caught:
        plan_init(root, "project", (name,), environment(home))
    assert caught.value.hint.startswith(f"did you mean {meant}? name one of claude-code, ")


def test_files_that_several_agents_share_are_no_sign_of_another_agent(home: Path, root: Path) -> None:
    first = plan_init(root, "project", NAMES[:1], environment(home))
    everything = plan_init(
        root, "project", [name for name in NAMES if name not in ("devin", "copilot-cli")], environment(home)
    )
    everything.carry_out()

    again = plan_init(root, "project", (), environment(home))

    assert names(first) == [NAMES[0]]
    assert names(again) == names(everything)
    assert again.to_write == []


def test_an_agent_that_was_set_up_before_stays_though_its_program_is_gone(home: Path, root: Path) -> None:
    plan_init(root, "project", ("cursor",), environment(home)).carry_out()

    plan = plan_init(root, "project", (), environment(home))

    assert [(found.adapter.name, found.signs) for found in plan.agents] == [("cursor", ("set up before",))]


def test_an_agent_that_is_set_up_for_every_project_is_not_set_up_twice(home: Path, root: Path) -> None:
    plan_init(root, "user", ("claude-code",), environment(home)).carry_out()
    (root / ".claude").mkdir()
    (root / ".cursor").mkdir()

    plan = plan_init(root, "project", (), environment(home))

    assert names(plan) == ["cursor"]
    assert [(adapter.name, str(hint)) for adapter, hint in plan.others] == [
        ("claude-code", "is set up for every project; for this one, too: cairn init --agent claude-code")
    ]


@pytest.mark.parametrize("level", ["project", "user"])
def test_only_the_files_that_are_meant_are_touched(home: Path, root: Path, level: Level) -> None:
    plan = plan_init(root, level, ("claude-code", "cursor"), environment(home))

    plan.carry_out()

    touched, other = (root, home) if level == "project" else (home, root)
    assert list(touched.iterdir())
    assert list(other.iterdir()) == []


class _Killed(BaseException):
    """Stands for the end of the process."""


def _die_while_writing(change: FileChange) -> None:
    change.file.parent.mkdir(parents=True, exist_ok=True)
    change.file.with_name(f"{change.file.name}.31310079956352172.tmp").write_bytes(b"half")
    raise _Killed


def test_what_a_kill_left_beside_a_file_that_never_came_to_be_is_taken_away(home: Path, root: Path) -> None:
    plan = plan_init(root, "project", ("claude-code",), environment(home))
    with pytest.raises(_Killed):
        apply(plan.changes, plan.records, plan.known, _die_while_writing)
    assert list(root.rglob("*.tmp"))

    plan_uninstall(root, "project", (), environment(home)).carry_out()

    assert list(root.iterdir()) == []
    assert plan.records.read() == {}


def test_the_users_own_files_name_the_program_by_its_path(home: Path, root: Path, tmp_path: Path) -> None:
    add_program(tmp_path / "bin", "cairn")

    plan_init(root, "user", ("claude-code",), environment(tmp_path / "bin")).carry_out()
    plan_init(root, "project", ("claude-code",), environment(tmp_path / "bin")).carry_out()

    assert f"{tmp_path}/bin/cairn hook stop" not in (home / ".claude/settings.json").read_text()
    assert f"{tmp_path}/bin/cairn hook turn-end" in (home / ".claude/settings.json").read_text()
    assert '"cairn hook turn-end' in (root / ".claude/settings.json").read_text()


def test_without_a_home_folder_only_the_users_own_files_are_out_of_reach(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "")  # as relative as nowhere

    assert names(plan_init(root, "project", ("claude-code",), {})) == ["claude-code"]
    with pytest.raises(ConfigError, match="home folder is unknown"):
        plan_init(root, "user", ("claude-code",), {})


@pytest.mark.parametrize(
    ("agent", "name", "text"),
    [
        ("cursor", ".cursor/hooks.json", '{"hooks": null}'),
        ("opencode", "opencode.json", '{"mcp": null}'),
        ("claude-code", ".claude/settings.json", '{"hooks": null}'),
    ],
)
def test_a_file_that_takes_nothing_of_ours_is_a_problem_and_nothing_is_left_to_do_yet(
    agent: str, name: str, text: str, home: Path, root: Path
) -> None:
    file = root / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    plan = plan_init(root, "project", [agent], environment())
    row = plan_row(plan, plan.carry_out())
    assert [change["file"] for change in row["files"] if change["error"]] == [name]
    assert file.read_text() == text
    assert [found["by_hand"] for found in row["agents"]] == [[]]

    file.write_text("{}")
    plan = plan_init(root, "project", [agent], environment())
    assert plan_row(plan, plan.carry_out())["agents"][0]["by_hand"]
