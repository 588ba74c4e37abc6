"""Settings as they are shown and changed on the command line, in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cairn.cli.main import main

Cairn = Callable[..., tuple[int, str, str]]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The top of a checkout, in which one stands; there are no settings yet."""
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def user_file(project: Path) -> Path:
    return project.parent / "home/cairn/config.yaml"


@pytest.fixture
def cairn(project: Path, capsys: pytest.CaptureFixture[str]) -> Cairn:
    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(["config", *arguments])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run


def test_a_setting_is_shown_with_where_its_value_comes_from(
    cairn: Cairn, project: Path, user_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user_file.parent.mkdir(parents=True)
    user_file.write_text("# mine\ngarbage_days: 30\nmemory:\n  retention_days: 7\n")
    (project / ".cairn").mkdir()
    (project / ".cairn/config.yaml").write_text("garbage_days: 20\nmemory_mb: 2000\n")
    monkeypatch.setenv("CAIRN_HOOKS_EDITS", "false")
    rows = {row["name"]: row for row in json.loads(cairn("show", "--json")[1])["settings"]}
    assert (rows["garbage_days"]["value"], rows["garbage_days"]["source"]) == (20.0, f"{project}/.cairn/config.yaml:1")
    assert rows["memory.retention_days"]["source"] == f"{user_file}:4"
    assert rows["memory_mb"]["source"] == "default"  # a project's file may only lower it
    assert (rows["hooks.edits"]["value"], rows["hooks.edits"]["source"]) == (False, "CAIRN_HOOKS_EDITS")
    assert rows["watch_polling"] == {"name": "watch_polling", "value": False, "source": "default"}
    assert cairn("get", "memory.retention_days") == (0, "7.0\n", "")
    assert f"garbage_days: 20.0  # {project}/.cairn/config.yaml:1\n" in cairn("show")[1]


def test_a_setting_is_changed_and_not_a_byte_besides(cairn: Cairn, user_file: Path) -> None:
    code, out, err = cairn("set", "garbage_days", "30")
    assert (code, out, err) == (0, f"garbage_days: 30.0  # {user_file}\n", "")
    before = b"# mine\r\ngarbage_days:   30 # a month\r\n\r\nmemory: {capture: true}  # all\r\n"
    user_file.write_bytes(before)
    assert cairn("set", "memory.capture", "no")[0] == 0
    assert user_file.read_bytes() == before.replace(b"true", b"false")
    assert cairn("get", "memory.capture")[1] == "false\n"


def test_a_setting_is_taken_out_of_a_file_and_nothing_besides(cairn: Cairn, user_file: Path) -> None:
    user_file.parent.mkdir(parents=True)
    user_file.write_bytes(
        b"# mine\r\ngarbage_days: 30  # a month\r\nmemory_mb: 500\r\nmemory: {capture: false}\r\n# end\r\n"
    )
    assert cairn("unset", "garbage_days") == (0, "garbage_days: 14.0  # default\n", "")
    assert user_file.read_bytes() == b"# mine\r\nmemory_mb: 500\r\nmemory: {capture: false}\r\n# end\r\n"
    assert cairn("unset", "memory.capture")[0] == 0
    assert user_file.read_bytes() == b"# mine\r\nmemory_mb: 500\r\n# end\r\n"
    code, out, err = cairn("unset", "garbage_days")
    assert (code, out, err) == (1, "", f"{user_file} does not set garbage_days.\n")


def test_comments_of_a_section_stay_when_its_last_setting_goes(cairn: Cairn, user_file: Path) -> None:
    user_file.parent.mkdir(parents=True)
    user_file.write_text("memory:\n  # what agents report\n  capture: false\n")
    assert cairn("unset", "memory.capture")[0] == 0
    assert "# what agents report" in user_file.read_text()
    assert cairn("get", "memory.capture")[1] == "true\n"


def test_the_projects_file_loses_a_setting_too(cairn: Cairn, project: Path) -> None:
    cairn("set", "--shared", "memory.capture", "false")
    assert cairn("unset", "--shared", "memory.capture")[0] == 0
    assert "capture" not in (project / ".cairn/config.yaml").read_text()


def test_what_is_left_may_be_unusable_and_that_is_said(cairn: Cairn, user_file: Path) -> None:
    cairn("set", "embedding.model", "m")
    cairn("set", "embedding.provider", "ollama")
    code, out, err = cairn("unset", "embedding.model")
    assert (code, out) == (0, "")
    assert "embedding.model must name the model of ollama" in err


def test_a_list_is_set_added_to_and_shortened(cairn: Cairn, user_file: Path) -> None:
    cairn("set", "embedding.model", "m")
    cairn("set", "embedding.provider", "ollama")
    assert cairn("set", "embedding.fallbacks", "ollama:a", "ollama:b")[0] == 0
    user_file.write_text(user_file.read_text().replace("model: a", "model: a  # the first"))
    assert cairn("set", "--append", "embedding.fallbacks", "{provider: openai, model: c, batch_size: 8}")[0] == 0
    assert cairn("get", "embedding.fallbacks")[1] == (
        "ollama:a\nollama:b\n{provider: openai, model: c, batch_size: 8}\n"
    )
    assert "model: a  # the first" in user_file.read_text()
    code, out, err = cairn("unset", "embedding.fallbacks", "ollama:b")
    assert (code, err) == (0, "")
    assert out.startswith("embedding.fallbacks: [ollama:a, {provider: openai")
    assert cairn("unset", "embedding.fallbacks", "ollama:b")[0] == 1
    assert "model: a  # the first" in user_file.read_text()
    assert cairn("unset", "embedding.fallbacks")[0] == 0
    assert cairn("get", "embedding.fallbacks")[1] == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("set", "garbage_days", "1", "2"), "garbage_days is not a list: it must be a number\n"),
        (("set", "--append", "daemon", "true"), "daemon is not a list: it must be true or false\n"),
        (("unset", "daemon", "true"), "daemon is not a list\n"),
        (("set", "embedding.fallbacks", "nobody:m"), "embedding.fallbacks: provider must be one of bundled, github"),
        (("set", "embedding.fallbacks", "ollama"), "embedding.fallbacks must be a list of models"),
        (("set", "embedding.fallbacks", *["ollama:m"] * 9), "embedding.fallbacks must have at most 8 models"),
    ],
)
def test_a_value_of_the_wrong_shape_is_refused_with_the_type(
    arguments: tuple[str, ...], said: str, cairn: Cairn, user_file: Path
) -> None:
    code, _, err = cairn(*arguments)
    assert code == 2
    assert said in err
    assert not user_file.exists()


def test_a_setting_that_is_set_already_leaves_the_file_alone(cairn: Cairn, user_file: Path) -> None:
    cairn("set", "garbage_days", "30")
    written = user_file.read_bytes()
    assert json.loads(cairn("set", "garbage_days", "30", "--json")[1]) == {
        "name": "garbage_days", "value": 30.0, "file": str(user_file), "changed": False,
    }  # fmt: skip
    assert user_file.read_bytes() == written


def test_a_link_to_the_users_file_stays(cairn: Cairn, user_file: Path, tmp_path: Path) -> None:
    user_file.parent.mkdir(parents=True)
    (tmp_path / "dotfile").write_text("")
    user_file.symlink_to(tmp_path / "dotfile")
    assert cairn("set", "garbage_days", "30")[0] == 0
    assert user_file.is_symlink()
    assert (tmp_path / "dotfile").read_text() == "garbage_days: 30.0\n"


def test_the_projects_file_takes_what_it_may_set(cairn: Cairn, project: Path, user_file: Path) -> None:
    assert cairn("set", "--shared", "memory.capture", "false")[0] == 0
    assert (project / ".cairn/config.yaml").read_text() == "memory:\n  capture: false\n"
    assert not user_file.exists()
    code, out, err = cairn("set", "--shared", "daemon_port", "40000")
    assert (code, out) == (2, "")
    assert err == (
        "error[config]: a project's file may not set daemon_port\n"
        "  try: set it for yourself: cairn config set daemon_port 40000\n"
    )


def test_a_link_in_a_project_is_not_followed(cairn: Cairn, project: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("")
    (project / ".cairn").mkdir()
    (project / ".cairn/config.yaml").symlink_to(tmp_path / "elsewhere")
    code, _, err = cairn("set", "--shared", "garbage_days", "3")
    assert (code, "is a symbolic link" in err) == (2, True)
    assert (tmp_path / "elsewhere").read_text() == ""


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("garbage_day", "3"), "unknown setting 'garbage_day'\n  try: did you mean garbage_days? list them all: cairn"),
        (("garbage_days", "soon"), "garbage_days must be a number, not 'soon'\n"),
        (("daemon_port", "1"), "daemon_port must be at least 1,024, a whole number\n"),
        (("sk-0123456789abcdef", "x"), "unknown setting whose name is not repeated here\n"),
    ],
)
def test_what_is_no_setting_or_no_value_of_it_is_refused(
    cairn: Cairn, user_file: Path, arguments: tuple[str, str], told: str
) -> None:
    code, out, err = cairn("set", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"error[config]: {told}")
    assert not user_file.exists()


def test_a_note_says_if_another_value_counts_all_the_same(
    cairn: Cairn, monkeypatch: pytest.MonkeyPatch, user_file: Path
) -> None:
    monkeypatch.setenv("CAIRN_GARBAGE_DAYS", "5")
    code, _, err = cairn("set", "garbage_days", "30")
    assert (code, err) == (
        0, "Here it is 5.0 all the same, by CAIRN_GARBAGE_DAYS; docs/configuration.md says what counts.\n",
    )  # fmt: skip
    assert user_file.read_text() == "garbage_days: 30.0\n"


def test_a_note_says_if_another_setting_is_needed_first(cairn: Cairn) -> None:
    code, _, err = cairn("set", "embedding.provider", "openai")
    assert (code, err.startswith("Written, but the settings cannot be used like this: ")) == (0, True)
    assert cairn("set", "embedding.model", "text-embedding-3-small")[2] == ""
