from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cairn.core_files import CoreFile, CoreFiles
from cairn.errors import ConfigError, NotFoundError, PathError, StoreError

BY_HAND = """\
# what to read first

files:
    # the heart
    - path: src/a.py   # keep
      summary: >
        The heart:
        # not a comment
    - src/b.py

    # the rest
    -   path: "src/c d.py"
# behind
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("src/a.py", "src/b.py", "src/c d.py", "src/new.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x = 1\n")
    return tmp_path


def _written(project: Path, text: str) -> CoreFiles:
    (project / ".cairn").mkdir()
    (project / ".cairn" / "core.yaml").write_bytes(text.encode())
    return CoreFiles(project)


def _text(project: Path) -> str:
    return (project / ".cairn" / "core.yaml").read_bytes().decode()


def test_a_project_without_the_file_has_no_core_files(project: Path) -> None:
    assert CoreFiles(project).read() == ()


def test_what_is_added_is_read_back_in_order(project: Path) -> None:
    core = CoreFiles(project)
    assert core.add("src/b.py", "B: it's #1") == (CoreFile("src/b.py", "B: it's #1"), True)
    assert core.add(str(project / "src" / "a.py")) == (CoreFile("src/a.py", ""), True)
    assert core.read() == (CoreFile("src/b.py", "B: it's #1"), CoreFile("src/a.py", ""))


def test_adding_a_marked_file_again_changes_nothing(project: Path) -> None:
    core = CoreFiles(project)
    core.add("src/b.py", "B")
    before = _text(project)
    assert core.add("src/b.py") == (CoreFile("src/b.py", "B"), False)
    assert _text(project) == before


def test_comments_and_order_survive_an_added_file(project: Path) -> None:
    _written(project, BY_HAND).add("src/new.py", "New")
    added = "    - path: src/new.py\n      summary: New\n# behind\n"
    assert _text(project) == BY_HAND.replace("# behind\n", added)


def test_a_summary_is_replaced_where_it_stands(project: Path) -> None:
    _written(project, BY_HAND).add("src/a.py", "The core")
    assert _text(project) == BY_HAND.replace(">\n        The heart:\n        # not a comment\n", "The core\n")


@pytest.mark.parametrize("path", ["src/b.py", "src/c d.py"])
def test_a_summary_is_added_below_the_path(project: Path, path: str) -> None:
    core = _written(project, BY_HAND)
    core.add(path, "Told")
    assert CoreFile(path, "Told") in core.read()
    assert all(line in _text(project) for line in BY_HAND.splitlines() if line.lstrip().startswith("#"))


@pytest.mark.parametrize("path", ["src/a.py", "src/b.py", "src/c d.py"])
def test_removing_takes_the_lines_of_that_file_alone(project: Path, path: str) -> None:
    core = _written(project, BY_HAND)
    before = core.read()
    assert core.remove(path)[1]
    assert core.read() == tuple(one for one in before if one.path != path)
    for comment in ("# what to read first", "    # the heart", "    # the rest", "# behind"):
        assert f"{comment}\n" in _text(project)


def test_removing_what_is_no_core_file_changes_nothing(project: Path) -> None:
    core = _written(project, BY_HAND)
    assert core.remove("src/new.py") == (CoreFile("src/new.py", ""), False)
    assert _text(project) == BY_HAND


def test_line_ends_of_windows_stay(project: Path) -> None:
    core = _written(project, "files:\r\n  - src/a.py\r\n")
    core.add("src/b.py", "B")
    assert _text(project) == "files:\r\n  - src/a.py\r\n  - path: src/b.py\r\n    summary: B\r\n"


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "files:\n", "files: []\n", "files:\n# none\n", "files: null"])
def test_a_list_without_files_takes_its_first(project: Path, text: str) -> None:
    core = _written(project, text)
    core.add("src/a.py", "A")
    assert core.read() == (CoreFile("src/a.py", "A"),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("files: [a: b: c\n", "not valid YAML"),
        ("- a\n", "has no `files:`"),
        ("files: text\n", "`files` must be a list"),
        ("files: {}\n", "`files` must be a list"),
        ("file:\n  - a\n", "has no `files:`"),
        ("files:\n  - a\nfiles:\n  - b\n", "`files` appears twice"),
        ("files:\n  -\n", "has no `path`"),
        ("files:\n  - summary: a\n", "has no `path`"),
        ("files:\n  - [a]\n", "must be a path"),
        ("files:\n  - path: [a]\n", "must be a string"),
        ("files:\n  - a\n  - path: ./a\n", "is listed twice"),
        ("files: \xff\n".encode("latin-1"), "not valid UTF-8"),
        ("x" * 1_000_001, "larger than"),
    ],
)
def test_a_damaged_file_is_told_and_left_alone(project: Path, text: str | bytes, message: str) -> None:
    (project / ".cairn").mkdir()
    written = text.encode() if isinstance(text, str) else text
    (project / ".cairn" / "core.yaml").write_bytes(written)
    core = CoreFiles(project)
    for use in (core.read, lambda: core.add("src/a.py"), lambda: core.remove("src/a.py")):
        with pytest.raises(ConfigError, match=message):
            use()
    assert (project / ".cairn" / "core.yaml").read_bytes() == written


def test_keys_of_others_are_kept(project: Path) -> None:
    text = (
        "version: 2\nfiles:\n  - path: src/a.py\n    owner: {name: Ann}\n  - owner: Bo\n    path: src/b.py\nteam: [x]\n"
    )
    core = _written(project, text)
    core.add("src/new.py")
    core.remove("src/b.py")
    core.add("src/a.py", "A")
    assert _text(project) == (
        "version: 2\nfiles:\n  - path: src/a.py\n    owner: {name: Ann}\n    summary: A\n"
        "  - path: src/new.py\nteam: [x]\n"
    )


def test_a_summary_of_several_lines_is_written_on_one(project: Path) -> None:
    core = _written(project, "files:\r\n        - path: src/a.py")
    core.add("src/b.py", "First.\nSecond: \u2028x")
    assert core.read()[1].summary == "First.\nSecond: \u2028x"
    head, *rest = _text(project).split("\r\n")
    assert [head, rest[0], rest[1], len(rest)] == ["files:", "        - path: src/a.py", "        - path: src/b.py", 3]
    assert "\n" not in rest[2]


@pytest.mark.parametrize("empty", ["", " []", " ~"])
def test_a_comment_beside_an_empty_list_stays(project: Path, empty: str) -> None:
    core = _written(project, f"files:{empty}  # none yet\nowner: me\n")
    core.add("src/a.py")
    assert _text(project) == "files:  # none yet\n  - path: src/a.py\nowner: me\n"


@pytest.mark.parametrize(
    ("text", "edited"),
    [
        ("files:\n  - path: &p src/a.py\n    summary: *p\n", "files:\n  - path: &p src/a.py\n    summary: another\n"),
        ("files:\n  - {path: src/a.py}\n", "files:\n  - {path: src/a.py, summary: another}\n"),
    ],
)
def test_a_summary_is_set_in_whatever_way_the_file_is_listed(project: Path, text: str, edited: str) -> None:
    _written(project, text).add("src/a.py", "another")
    assert _text(project) == edited


def test_what_no_edit_can_keep_is_left_alone_and_not_called_damaged(project: Path) -> None:
    text = "files:\n  - path: src/a.py\n    summary: &s x\n  - path: src/c d.py\n    summary: *s\n"
    core = _written(project, text)
    with pytest.raises(ConfigError, match="written in a way that cannot be edited"):
        core.add("src/a.py", "another")
    assert _text(project) == text


def test_a_path_that_leads_out_of_the_project_is_none_of_its_files(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "secret.py"
    outside.write_text("x = 1\n")
    (project / "link.py").symlink_to(outside)
    core = CoreFiles(project)
    assert core.has("src/a.py")
    assert not any(core.has(path) for path in ("link.py", str(outside), "../x.py", "src", "a\0b", "\ud800"))
    with pytest.raises(PathError):
        core.add("link.py")


def test_a_list_in_brackets_is_edited_there(project: Path) -> None:
    core = _written(project, "files: [src/a.py, {path: src/b.py, summary: B}]\n")
    assert core.read() == (CoreFile("src/a.py", ""), CoreFile("src/b.py", "B"))
    core.add("src/new.py")
    core.remove("src/a.py")
    assert _text(project) == "files: [{path: src/b.py, summary: B}, {path: src/new.py}]\n"


def test_a_file_that_is_missing_or_outside_is_refused(project: Path) -> None:
    with pytest.raises(NotFoundError):
        CoreFiles(project).add("src/none.py")
    with pytest.raises(NotFoundError):
        CoreFiles(project).add("x" * 4_000)  # longer than a name can be
    (project / "link").symlink_to("/etc")
    for path in ("../x.py", ".", "/etc/passwd", "link/passwd"):
        with pytest.raises(PathError):
            CoreFiles(project).add(path)


SUMMARIES = st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=60).map(str.strip)


@settings(max_examples=25, deadline=None)
@given(
    edits=st.lists(
        st.tuples(st.sampled_from(["src/a.py", "src/b.py", "src/c d.py", "src/new.py"]), st.none() | SUMMARIES),
        max_size=8,
    )
)
def test_any_edits_lead_where_a_dictionary_would(
    edits: list[tuple[str, str | None]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("project")
    (root / "src").mkdir()
    for name in ("a.py", "b.py", "c d.py", "new.py"):
        (root / "src" / name).write_text("")
    core = _written(root, BY_HAND)
    expected = dict(core.read())
    for path, summary in edits:
        if summary is None:
            core.remove(path)
            expected.pop(path, None)
        else:
            core.add(path, summary)
            expected[path] = summary
        assert dict(core.read()) == expected
    assert "# the heart" in _text(root)


@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir, lambda file: file.symlink_to("/dev/zero")])
def test_what_is_no_regular_file_is_told_at_once_and_left_alone(project: Path, make: Callable[[Path], object]) -> None:
    file = project / ".cairn" / "core.yaml"
    file.parent.mkdir()
    make(file)
    before = os.lstat(file)
    core = CoreFiles(project)
    for use in (core.read, lambda: core.add("src/a.py"), lambda: core.remove("src/a.py")):
        with pytest.raises(ConfigError, match=r"core\.yaml is .* where a regular file is needed"):
            use()
    assert os.lstat(file).st_ino == before.st_ino


def test_a_link_to_a_list_elsewhere_is_neither_read_nor_written(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "core.yaml"
    outside.write_text("files:\n  - src/a.py\n")
    (project / ".cairn").mkdir()
    (project / ".cairn" / "core.yaml").symlink_to(outside)
    for use in (CoreFiles(project).read, lambda: CoreFiles(project).add("src/b.py")):
        with pytest.raises(ConfigError, match="symbolic link"):
            use()
    shutil.rmtree(project / ".cairn")
    (project / ".cairn").symlink_to(outside.parent)
    assert CoreFiles(project).read() == ()
    with pytest.raises(StoreError, match="is not a directory"):
        CoreFiles(project).add("src/b.py")
    assert [one.name for one in outside.parent.iterdir()] == ["core.yaml"]
    assert outside.read_text() == "files:\n  - src/a.py\n"


def test_a_list_of_more_files_than_anybody_reads_is_refused_soon(project: Path) -> None:
    for count in (1_001, 20_000):
        (project / ".cairn").mkdir(exist_ok=True)
        lines = "".join(f"  - src/file_{number}.py\n" for number in range(count))
        (project / ".cairn" / "core.yaml").write_text(f"files:\n{lines}")
        with pytest.raises(ConfigError, match=r"more than 1,000 files|too many names and values"):
            CoreFiles(project).read()


def test_a_list_keeps_its_mode_when_it_is_edited(project: Path) -> None:
    core = _written(project, "files:\n  - src/a.py\n")
    core.file.chmod(0o640)
    core.add("src/b.py")
    assert core.file.stat().st_mode & 0o777 == 0o640
    assert sorted(one.name for one in core.file.parent.iterdir()) == ["core.lock", "core.yaml"]


@pytest.mark.parametrize(
    "text",
    ["[" * 200_000, "files: &x [*x]\n", "files: [" + "- " * 99, "? [a]\n: b\nfiles: [a]\n", "files: !!set {a}\n"],
)
def test_a_list_written_to_harm_is_refused(project: Path, text: str) -> None:
    core = _written(project, text)
    with pytest.raises(ConfigError, match=r"core\.yaml:\d"):
        core.read()


def test_paths_that_are_none_are_missing_files(project: Path) -> None:
    core = _written(project, 'files:\n  - "a\\0b"\n  - "\\ud800"\n  - /etc/passwd\n  - ../x\n  - "\\e[2J"\n')
    core.file.write_text(core.file.read_text() + f"  - {'x' * 300}\n  - {'y/' * 3_000}\n")
    assert len(core.read()) == 7
    assert not any(core.has(one.path) for one in core.read())
