from __future__ import annotations

import pytest

from cairn.memory.moments import ToolCall, canonical_tool
from cairn.memory.origin import is_edit, is_plan, is_read, origin_of
from cairn.storage.memory.rows import Session


@pytest.mark.parametrize(
    ("has_plan", "n_reads", "n_edits", "origin"),
    [
        (True, 0, 0, "planning"), (True, 40, 2, "planning"), (True, 3, 3, "implementation"),
        (False, 6, 0, "investigation"), (False, 5, 0, "mixed"), (False, 11, 2, "investigation"),
        (False, 10, 2, "mixed"), (False, 0, 0, "mixed"), (False, 0, 2, "mixed"),
        (False, 15, 3, "implementation"), (False, 16, 3, "mixed"), (False, 0, 3, "implementation"),
    ],
)  # fmt: skip
def test_a_session_is_what_its_reads_and_edits_make_it(
    *, has_plan: bool, n_reads: int, n_edits: int, origin: str
) -> None:
    session = Session("s", n_activities=1, has_plan=has_plan, n_reads=n_reads, n_edits=n_edits)
    assert origin_of(session) == origin


def test_a_session_in_which_nothing_was_done_was_for_nothing() -> None:
    assert origin_of(Session("s", n_prompts=3)) == ""


def call(name: str, target: str = "", **fields: object) -> ToolCall:
    return ToolCall(canonical_tool(name), name, target, **fields)  # type: ignore[arg-type] # any mix


@pytest.mark.parametrize(
    "read",
    [
        call("Read", "a.py"), call("read_file"), call("view"), call("Grep", "x"), call("LS"),
        call("Bash", "rg -n needle src | head -20"), call("shell", "sed -n '1,200p' src/a.py"),
        call("Bash", "cd src && cat a.py"), call("Bash", "git show HEAD~1"), call("Bash", "git log > /dev/null"),
        call("Bash", "grep -rn x . 2>&1 | wc -l"), call("Bash", "grep x a.py", exit_code=1),
        call("Bash", "grep 'a > b; rm -r' a.py"),
    ],
)  # fmt: skip
def test_what_looks_at_files_is_a_read_in_a_shell_too(read: ToolCall) -> None:
    assert is_read(read)
    assert not is_edit(read)


@pytest.mark.parametrize(
    "edit",
    [
        call("Edit", "a.py"), call("str_replace", "a.py"), call("Write", "a.py"), call("apply_patch"),
        call("delete_file", "a.py"), call("Bash", "sed -i 's/a/b/' a.py"), call("Bash", "sed -E -i.bak s/a/b/ a.py"),
        call("Bash", "cat > a.py <<'EOF'\nimport os\nrun_it()\nEOF"), call("Bash", "echo 'x = 1' >> a.py"),
        call("Bash", "git apply fix.patch"), call("shell", "apply_patch <<'EOF'\n*** Begin Patch"),
        call("Bash", "perl -pi -e s/a/b/ a.py"), call("Bash", "printf x | tee a.py"),
    ],
)  # fmt: skip
def test_what_changes_files_is_an_edit_in_a_shell_too(edit: ToolCall) -> None:
    assert is_edit(edit)
    assert not is_read(edit)


@pytest.mark.parametrize(
    "neither",
    [
        call("Bash", "pytest -q > out.txt"), call("Bash", "make"), call("Bash", "cd src"), call("Bash", ""),
        call("Edit", "a.py", outcome="failed"), call("Edit", "a.py", outcome="denied"), call("Bash", "git commit -m x"),
        call("Bash", "sed -i s/a/b/ a.py", exit_code=2), call("Read", "a.py", outcome="failed"), call("WebFetch"),
        call("TodoWrite"), call("Write", "/home/u/.claude/plans/mend.md"),
    ],
)  # fmt: skip
def test_what_neither_reads_nor_edits_counts_as_neither(neither: ToolCall) -> None:
    assert not is_read(neither)
    assert not is_edit(neither)


@pytest.mark.parametrize(
    ("made", "is_one"),
    [
        (call("ExitPlanMode"), True), (call("Write", "/home/u/.claude/plans/mend.md"), True),
        (call("create_plan"), True), (call("TodoWrite"), False), (call("update_plan"), False),
        (call("Read", ".claude/plans/mend.md"), False),
    ],
)  # fmt: skip
def test_a_list_of_tasks_is_no_plan(made: ToolCall, *, is_one: bool) -> None:
    assert is_plan(made) is is_one
