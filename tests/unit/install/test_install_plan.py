"""What init and uninstall make of agents' files: only ours is added, and exactly that is taken away."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from cairn.hooks.adapter import Adapter, Block, Change, Place, Whole
from cairn.hooks.agents import adapter_of
from cairn.install.apply import Outcome, apply
from cairn.install.plan import FileChange, plan_install, plan_removal
from cairn.install.record import RecordFile
from sample_agents import Alpha, Beta

ALPHA, BETA = Alpha(), Beta()
ALL: tuple[Adapter, ...] = (ALPHA, BETA)

FILES = {
    ".alpha/settings.json": '{\r\n\t"model": "x",\r\n\t"hooks": {"Before": [{"hooks": [{"command": "./c"}]}]}\r\n}',
    ".mcp.json": '\ufeff{"mcpServers": {"db": {"command": "db", "env": {"TOKEN": "secret"}}}}\n',
    ".beta/config.toml": '# mine\nmodel = "x"\n\n[mcp_servers.db] # keep\ncommand = "db"\n',
    ".beta/hooks.json": '{\n  "version": 1,\n  "hooks": {}\n}\n',
    "AGENTS.md": "# Rules\n\nNo tabs.",
}


class Project:
    """A project with the records of what was written to it."""

    def __init__(self, root: Path, state: Path) -> None:
        self.root = root
        self.place = Place("project", root, root / "nobody", {})
        self.records = RecordFile("project", root, state)

    def install(self, *adapters: Adapter) -> tuple[list[FileChange], Outcome]:
        known = self.records.read()
        changes = plan_install(adapters or ALL, self.place, known)
        return changes, apply(changes, self.records, known)

    def remove(self, *adapters: Adapter) -> tuple[list[FileChange], Outcome]:
        known = self.records.read()
        changes = plan_removal(adapters or ALL, self.place, known, every=not adapters)
        return changes, apply(changes, self.records, known)

    def write(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())

    def edit(self, name: str, old: str, new: str) -> None:
        content = (self.root / name).read_bytes()
        assert content.count(old.encode()) == 1
        (self.root / name).write_bytes(content.replace(old.encode(), new.encode()))

    def content(self) -> dict[str, str | None]:
        """Return every file, and every folder as None."""
        return {
            path.relative_to(self.root).as_posix(): path.read_bytes().decode() if path.is_file() else None
            for path in sorted(self.root.rglob("*"))
        }


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root = tmp_path / "project"
    root.mkdir()
    return Project(root, tmp_path / "state")


def with_text(text: str, changes: list[Change]) -> list[Change]:
    return [change._replace(text=text) if isinstance(change, Block | Whole) else change for change in changes]


def problems(changes: list[FileChange]) -> list[str]:
    return [str(change.problem) for change in changes if change.problem is not None]


def test_an_empty_project_is_empty_again_after_uninstall(project: Project) -> None:
    project.install()
    assert "cairn" in (project.root / ".mcp.json").read_text()
    assert (project.root / ".alpha/skills/cairn/SKILL.md").is_file()

    project.remove()

    assert project.content() == {}
    assert not project.records.file.exists()


def test_the_files_of_a_user_are_byte_for_byte_as_before_after_uninstall(project: Project) -> None:
    project.write(FILES)
    before = project.content()

    project.install()
    during = project.content()
    project.remove()

    assert all(during[name] != text for name, text in before.items() if text is not None)
    assert project.content() == before


def test_no_text_of_a_user_is_kept_outside_their_files(project: Project) -> None:
    project.write(FILES)

    project.install()

    kept = project.records.file.read_text()
    assert "cairn" in kept
    assert not [word for word in ("secret", "TOKEN", "No tabs", "mine", "./c") if word in kept]
    assert project.records.file.stat().st_mode & 0o077 == 0


def test_a_second_init_changes_nothing(project: Project) -> None:
    project.write(FILES)
    project.install()
    before = project.content()

    changes, outcome = project.install()

    assert outcome == Outcome((), ())
    assert not any(change.is_change or change.problem or change.notes for change in changes)
    assert project.content() == before


def test_a_file_that_several_agents_share_gets_one_change(project: Project) -> None:
    changes, _ = project.install()

    shared = [change for change in changes if change.shown == ".mcp.json"]
    assert [change.agents for change in shared] == [("alpha", "beta")]
    assert json.loads((project.root / ".mcp.json").read_text())["mcpServers"].keys() == {"cairn"}


def test_what_another_agent_still_needs_stays_until_it_goes_too(project: Project) -> None:
    project.write(FILES)
    before = project.content()
    project.install()

    project.remove(ALPHA)
    assert "cairn" in (project.root / ".mcp.json").read_text()
    assert "cairn" not in (project.root / ".alpha/settings.json").read_text()
    project.remove(BETA)

    assert project.content() == before


def test_an_agent_that_is_added_later_keeps_what_is_there(project: Project) -> None:
    project.write(FILES)
    before = project.content()
    project.install(ALPHA)
    project.install(BETA)
    assert "cairn" in (project.root / ".alpha/settings.json").read_text()

    project.remove(ALPHA)
    assert "cairn" in (project.root / ".mcp.json").read_text()
    project.remove()

    assert project.content() == before


EDITS = {
    ".alpha/settings.json": ('"model": "x"', '"model": "why",\r\n\t"theme": "dark"'),
    ".mcp.json": ('"secret"', '"other"'),
    ".beta/config.toml": ("# mine", "# mine, still"),
    ".beta/hooks.json": ('"version": 1', '"version": 2'),
    "AGENTS.md": ("No tabs.", "No tabs, please.\n\nNor spaces."),
}


@pytest.mark.parametrize("name", EDITS)
def test_what_the_user_edits_meanwhile_stays_and_only_ours_goes(project: Project, name: str) -> None:
    project.write(FILES)
    before = project.content()
    project.install()
    project.edit(name, *EDITS[name])

    project.remove()

    kept = before[name]
    assert kept is not None
    assert project.content() == {**before, name: kept.replace(*EDITS[name])}


def test_entries_that_the_user_adds_beside_ours_stay(project: Project) -> None:
    project.install()
    file = project.root / ".mcp.json"
    document = json.loads(file.read_text())
    document["mcpServers"]["db"] = {"command": "db"}
    file.write_text(json.dumps(document, indent=4))
    hooks = project.root / ".beta/hooks.json"
    document = json.loads(hooks.read_text())
    document["hooks"]["stop"].insert(0, {"command": "./mine"})
    hooks.write_text(json.dumps(document))

    project.remove()

    assert json.loads(file.read_text()) == {"mcpServers": {"db": {"command": "db"}}}
    assert json.loads(hooks.read_text()) == {"version": 1, "hooks": {"stop": [{"command": "./mine"}]}}
    assert not (project.root / ".alpha").exists()


def test_without_records_ours_is_known_by_its_commands(project: Project) -> None:
    files = {**FILES, ".beta/hooks.json": '{"version": 1, "hooks": {"stop": [{"command": "./mine"}]}}'}
    project.write(files)
    before = {name: json.loads(text.removeprefix("\ufeff")) for name, text in files.items() if "json" in name}
    project.install()
    project.records.file.unlink()

    project.remove()

    left = project.content()
    assert {name: json.loads(str(left[name]).removeprefix("\ufeff")) for name in before} == before
    assert left["AGENTS.md"] == FILES["AGENTS.md"]
    assert ".alpha/skills" not in left


def test_a_clone_with_the_same_files_is_left_as_it_is_and_cleaned_on_request(project: Project, tmp_path: Path) -> None:
    project.install()
    clone = Project(project.root, tmp_path / "another state")
    before = project.content()

    _, outcome = clone.install()
    assert (outcome, clone.content()) == (Outcome((), ()), before)
    clone.remove()

    assert clone.content() == {}


def test_an_upgrade_rewrites_only_ours_and_uninstall_still_restores_every_byte(project: Project) -> None:
    project.write(FILES)
    before = project.content()
    project.install()

    class Newer(Alpha):
        timeout = 9
        names = ("Start", "After")

        def changes(self, place: Place) -> list[Change]:
            return with_text("More.\n", super().changes(place))

    project.install(Newer(), BETA)
    settings = json.loads((project.root / ".alpha/settings.json").read_text())
    assert settings["hooks"]["Before"] == [{"hooks": [{"command": "./c"}]}]
    assert [hook["hooks"][0]["timeout"] for name in ("Start", "After") for hook in settings["hooks"][name]] == [9, 9]
    assert "More." in (project.root / ".alpha/skills/cairn/SKILL.md").read_text()
    project.remove()

    assert project.content() == before


def test_a_hook_of_ours_that_the_user_changed_stays_as_they_want_it(project: Project) -> None:
    project.install()
    project.edit(".beta/hooks.json", " 2>/dev/null || exit 0", "")
    before = project.content()

    changes, outcome = project.install()

    assert outcome.written == ()
    assert project.content() == before
    assert [note for change in changes for note in change.notes] == ["`hooks.stop` stays as you changed it"]
    project.remove()
    assert project.content() == {}


@pytest.mark.parametrize("is_recorded", [True, False])
def test_a_command_that_the_user_adds_to_a_hook_of_ours_stays_and_only_ours_goes(
    project: Project, is_recorded: bool
) -> None:
    project.write({".alpha/settings.json": '{"model": "x"}'})
    project.install(ALPHA)
    file = project.root / ".alpha/settings.json"
    document = json.loads(file.read_text())
    document["hooks"]["Start"][0]["hooks"].append({"command": "./mine"})
    file.write_text(json.dumps(document))
    if not is_recorded:
        project.records.file.unlink()

    changes, outcome = project.install(ALPHA)
    assert outcome.written == ()
    assert [note for change in changes for note in change.notes] == ["`hooks.Start` stays as you changed it"]
    project.remove()

    assert json.loads(file.read_text()) == {"model": "x", "hooks": {"Start": [{"hooks": [{"command": "./mine"}]}]}}


def test_an_upgrade_takes_ours_out_of_a_hook_that_it_no_longer_needs(project: Project) -> None:
    project.install(ALPHA)
    file = project.root / ".alpha/settings.json"
    document = json.loads(file.read_text())
    document["hooks"]["Before"][0]["hooks"].append({"command": "./mine"})
    file.write_text(json.dumps(document))

    class Newer(Alpha):
        names = ("Start",)

    project.install(Newer())

    hooks = json.loads(file.read_text())["hooks"]
    assert hooks["Before"] == [{"hooks": [{"command": "./mine"}]}]
    assert "cairn" in hooks["Start"][0]["hooks"][0]["command"]


def test_a_server_that_the_user_set_up_stays_also_after_uninstall(project: Project) -> None:
    project.write({".mcp.json": '{"mcpServers": {"cairn": {"command": "cairn", "args": ["mcp"], "env": {"A": "1"}}}}'})
    before = project.content()

    changes, _ = project.install(ALPHA)
    assert [note for change in changes for note in change.notes] == [
        "`mcpServers.cairn` starts Cairn in its own way and stays as it is"
    ]
    project.remove()

    assert project.content() == before


def test_a_server_that_the_user_set_up_stays_also_where_nothing_was_recorded(project: Project) -> None:
    server = {"type": "stdio", "command": "cairn", "args": ["mcp"], "env": {}}  # as `claude mcp add` writes it
    project.write({".mcp.json": json.dumps({"mcpServers": {"cairn": server}})})
    before = project.content()

    changes, outcome = project.remove()

    assert [note for change in changes for note in change.notes] == ["`mcpServers.cairn` is yours and stays"]
    assert (outcome.written, project.content()) == ((), before)


def test_another_program_of_the_same_name_is_not_replaced(project: Project) -> None:
    project.write({".mcp.json": '{"mcpServers": {"cairn": {"command": "stones"}}}'})
    before = project.content()

    changes, _ = project.install(ALPHA)
    assert problems(changes) == [".mcp.json: `mcpServers.cairn` is something else, and stays as it is"]
    project.remove()

    assert project.content() == before


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        (".alpha/settings.json", '{\n  "a": 1,\n  "b" 2\n}', ".alpha/settings.json:3"),
        (".beta/config.toml", "a = 1\nb = \n", ".beta/config.toml:2"),
        (".mcp.json", "[1, 2]", "object"),
        (".mcp.json", '{"mcpServers": []}', "mcpServers"),
        ("AGENTS.md", "one\n<!-- cairn:start -->\n", "AGENTS.md:2"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_and_left_alone_and_the_rest_goes_on(
    project: Project, name: str, text: str, place: str
) -> None:
    project.write({name: text})

    changes, outcome = project.install()

    assert len(problems(changes)) == 1
    assert place in problems(changes)[0]
    assert len(outcome.written) == len(changes) - 1
    assert (project.root / name).read_bytes() == text.encode()
    project.remove()
    assert project.content().get(name) == text


def test_a_file_of_its_own_that_was_changed_stays_and_this_is_said(project: Project) -> None:
    project.install()
    project.edit(".alpha/skills/cairn/SKILL.md", "Ask.", "Do not ask.")

    changes, _ = project.install()
    assert [note for change in changes for note in change.notes] == ["it was changed and stays as it is"]
    changes, _ = project.remove()

    assert [note for change in changes for note in change.notes] == [
        "it was changed after Cairn wrote it, so it stays; delete it if you do not need it"
    ]
    assert list(project.content()) == [".alpha", ".alpha/skills", ".alpha/skills/cairn", ".alpha/skills/cairn/SKILL.md"]


@pytest.mark.parametrize(
    "save",
    [
        lambda content: b"\xef\xbb\xbf" + content,
        lambda content: b"\xef\xbb\xbf" + content.replace(b"\n", b"\r\n"),
        lambda content: content.rstrip(b"\n"),
        lambda content: b"\n" + content + b"\n",
    ],
    ids=["BOM", "BOM and CRLF", "no newline at the end", "empty lines"],
)
@pytest.mark.parametrize("is_recorded", [True, False], ids=["recorded", "not recorded"])
def test_nothing_is_left_of_files_that_an_editor_only_saved_in_its_way(
    project: Project, save: Callable[[bytes], bytes], is_recorded: bool
) -> None:
    project.install()
    for path in project.root.rglob("*"):
        if path.is_file():
            path.write_bytes(save(path.read_bytes()))
    if not is_recorded:
        project.records.file.unlink()

    project.remove()

    assert project.content() == {}


def test_a_file_of_hooks_that_was_only_formatted_stays_so_until_it_goes(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    project = Project(root, tmp_path / "state")
    vscode = adapter_of("vscode")
    project.install(vscode)
    hooks = root / ".github/hooks/cairn.json"
    hooks.write_text(json.dumps(json.loads(hooks.read_text()), indent="\t"))
    formatted = hooks.read_bytes()

    project.install(vscode)
    assert hooks.read_bytes() == formatted
    project.remove(vscode)

    assert project.content() == {}


def test_a_file_of_an_unknown_version_is_known_by_its_mark(project: Project) -> None:
    class Older(Alpha):
        def changes(self, place: Place) -> list[Change]:
            return with_text("Old.\n", super().changes(place))

    project.install(Older())
    project.records.file.unlink()
    skill = project.root / ".alpha/skills/cairn/SKILL.md"
    skill.write_bytes(skill.read_bytes().replace(b"\n", b"\r\n"))  # as git may check it out

    project.install(ALPHA)
    assert "Ask." in skill.read_text()
    project.records.file.unlink()
    project.remove(Older())

    assert project.content() == {}


def test_a_link_within_the_project_is_followed_and_stays_a_link(project: Project) -> None:
    project.write({"docs/rules.md": "# Rules\n"})
    (project.root / "AGENTS.md").symlink_to("docs/rules.md")
    (project.root / ".beta").symlink_to("docs")

    project.install()
    assert "Cairn" in (project.root / "docs/rules.md").read_text()
    assert (project.root / "docs/config.toml").exists()
    project.remove()

    assert (project.root / "AGENTS.md").is_symlink()
    assert (project.root / "docs/rules.md").read_text() == "# Rules\n"
    assert os.listdir(project.root / "docs") == ["rules.md"]


def test_a_link_that_leads_out_of_the_project_is_not_followed(project: Project, tmp_path: Path) -> None:
    outside = tmp_path / "outside.json"
    outside.write_text("{}")
    (project.root / ".mcp.json").symlink_to(outside)
    (project.root / ".beta").symlink_to(tmp_path)

    changes, _ = project.install()

    assert problems(changes) == [
        f"{name} is a link that leads out of the project"
        for name in (".mcp.json", ".beta/config.toml", ".beta/hooks.json")
    ]
    assert outside.read_text() == "{}"


def test_two_names_of_one_file_get_one_change(project: Project) -> None:
    project.write({"AGENTS.md": "# Rules\n"})
    (project.root / ".beta").mkdir()
    (project.root / ".alpha").symlink_to(".beta")

    class Gamma(Beta):
        name = "gamma"

        def changes(self, place: Place) -> list[Change]:
            return [
                change._replace(file=Path(str(change.file).replace(".beta", ".alpha")))
                for change in super().changes(place)
            ]

    changes, _ = project.install(BETA, Gamma())

    assert [change.agents for change in changes] == [("beta", "gamma")] * 4


def test_a_read_only_file_is_left_alone(project: Project) -> None:
    project.write({".mcp.json": "{}"})
    (project.root / ".mcp.json").chmod(0o444)

    changes, _ = project.install()

    assert len(problems(changes)) == 1
    assert "is read-only" in problems(changes)[0]
    assert (project.root / ".mcp.json").read_text() == "{}"


def test_what_is_as_wanted_or_holds_nothing_of_ours_may_be_read_only(project: Project) -> None:
    project.install(ALPHA)
    project.write({".beta/config.toml": 'model = "x"\n'})
    for name in (".mcp.json", ".beta/config.toml"):
        (project.root / name).chmod(0o444)

    changes, _ = project.install(ALPHA)
    assert problems(changes) == []
    changes, _ = project.remove()

    assert [change.shown for change in changes if change.problem is not None] == [".mcp.json"]
    assert "cairn" in (project.root / ".mcp.json").read_text()
    (project.root / ".mcp.json").chmod(0o644)
    project.remove()
    assert list(project.content()) == [".beta", ".beta/config.toml"]


def test_a_broken_file_without_anything_of_ours_is_no_problem_of_an_uninstall(project: Project) -> None:
    project.install(ALPHA)
    project.write({".beta/config.toml": "a = \n", ".beta/hooks.json": '{"hooks": {"stop": "cairn hook'})

    changes, _ = project.remove()

    assert [change.shown for change in changes if change.problem is not None] == [".beta/hooks.json"]


def test_a_folder_or_a_pipe_in_the_place_of_a_file_is_left_alone(project: Project) -> None:
    (project.root / ".mcp.json").mkdir()
    os.mkfifo(project.root / "AGENTS.md")
    project.write({".beta": "a file"})

    changes, _ = project.install()

    assert len(problems(changes)) == 4


def test_what_somebody_changes_between_the_plan_and_its_writing_is_not_lost(project: Project) -> None:
    project.write(FILES)
    changes = plan_install(ALL, project.place, {})
    (project.root / "AGENTS.md").write_text("# New rules\n")

    outcome = apply(changes, project.records, {})

    assert [change.shown for change in outcome.failed] == ["AGENTS.md"]
    assert (project.root / "AGENTS.md").read_text() == "# New rules\n"
    project.remove()
    assert project.content() == {
        **dict.fromkeys((".alpha", ".beta")),
        **FILES,
        "AGENTS.md": "# New rules\n",
    }


class _Stop(BaseException):
    """Stands for the end of the process."""


def stopping(n_files: int) -> Callable[[FileChange], None]:
    """Return what writes some files, and then ends the process."""
    left = [n_files]

    def write(change: FileChange) -> None:
        if not left[0]:
            change.file.parent.mkdir(parents=True, exist_ok=True)  # as far as it came
            raise _Stop
        left[0] -= 1
        if change.after is None:
            change.file.unlink()
        else:
            change.file.parent.mkdir(parents=True, exist_ok=True)
            change.file.write_bytes(change.after)

    return write


@pytest.mark.parametrize("n_files", range(6))
@pytest.mark.parametrize("has_files", [False, True])
def test_whatever_stops_an_init_a_second_one_completes_it_and_uninstall_restores_all(
    project: Project, n_files: int, has_files: bool
) -> None:
    project.write(FILES if has_files else {})
    before = project.content()
    for mend in (False, True):
        with pytest.raises(_Stop):
            apply(plan_install(ALL, project.place, {}), project.records, {}, stopping(n_files))
        if mend:
            project.install()
            assert not any(change.is_change for change in project.install()[0])
        project.remove()

        assert project.content() == before


def test_a_half_written_file_of_a_killed_process_is_removed(project: Project) -> None:
    project.write({".mcp.json.12345678901.tmp": "{", ".mcp.json.bak.tmp": "{"})

    project.install()
    project.remove()

    assert list(project.content()) == [".mcp.json.bak.tmp"]


@pytest.mark.parametrize("n_files", range(4))
def test_whatever_stops_an_upgrade_or_an_uninstall_the_next_run_mends_it(project: Project, n_files: int) -> None:
    class Newer(Alpha):
        timeout = 9

    class NewerBeta(Beta):
        def changes(self, place: Place) -> list[Change]:
            return with_text("New.\n", super().changes(place))

    project.write(FILES)
    before = project.content()
    project.install()
    known = project.records.read()
    plan = plan_install((Newer(), NewerBeta()), project.place, known)
    if n_files < sum(change.is_change for change in plan):
        with pytest.raises(_Stop):
            apply(plan, project.records, known, stopping(n_files))
    known = project.records.read()
    with pytest.raises(_Stop):
        apply(plan_removal(ALL, project.place, known, every=True), project.records, known, stopping(n_files))

    project.remove()

    assert project.content() == before
