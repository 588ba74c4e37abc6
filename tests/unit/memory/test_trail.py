from __future__ import annotations

from cairn.memory.moments import ToolCall
from cairn.memory.trail import FIXED, FLAKY, INSTEAD, OPEN, UNTIL, Proposal, Trail

FAILED = "FAILED tests/test_cart.py::test_total - assert 3 == 2"


def run(command: str, output: str = "", exit_code: int | None = 0) -> ToolCall:
    return ToolCall("shell", "Bash", command, exit_code=exit_code, output=output)


def edit(path: str) -> ToolCall:
    return ToolCall("edit", "Edit", path, "ok")


def learn(
    *calls: ToolCall, prompt: str = "go on with the work as planned", trail: Trail | None = None
) -> list[Proposal]:
    trail = trail or Trail()
    trail.ask(prompt)
    proposals = [proposal for call in calls for proposal in trail.take(call, "/repo")]
    return [proposal for proposal in proposals if proposal.outcome != OPEN]


def test_an_edit_after_which_the_same_command_succeeds_is_a_fix() -> None:
    (fix,) = learn(run("pytest -q", FAILED, 1), edit("src/cart.py"), run("cd /repo && pytest", "1 passed"))
    assert (fix.outcome, fix.type, fix.paths) == (FIXED, "bug_fix", ("src/cart.py", "tests/test_cart.py"))
    assert fix.confidence >= 0.8
    assert fix.text == (
        "`pytest -q` failed: assert 3 == 2 (tests/test_cart.py, test_total). "
        "Fixed in src/cart.py; the command has succeeded since."
    )


def test_a_success_without_a_change_is_no_fix_but_a_sign_of_chance() -> None:
    (flaky,) = learn(run("pytest", FAILED, 1), run("pytest", "1 passed"))
    assert flaky.outcome == FLAKY
    assert flaky.confidence < 0.7


def test_a_command_that_mends_the_surroundings_is_told() -> None:
    (until,) = learn(
        run("pytest", "E   ImportError: x\nERROR tests/a.py - ImportError: x", 2), run("uv sync"), run("pytest")
    )
    assert (until.outcome, until.type) == (UNTIL, "gotcha")
    assert "It succeeds after `uv sync`." in until.text


def test_another_way_that_works_is_told() -> None:
    (instead,) = learn(run("ruff check", "bash: ruff: command not found", 127), run("uv run ruff check"))
    assert (instead.outcome, instead.type) == (INSTEAD, "gotcha")
    assert instead.text == "`ruff check` failed: ruff: command not found. This works instead: `uv run ruff check`."


def test_a_test_that_was_written_to_fail_is_not_fixed_unless_that_was_asked_for() -> None:
    calls = (edit("tests/test_cart.py"), run("pytest", FAILED, 1), edit("src/cart.py"), run("pytest"))
    assert learn(*calls, prompt="add a discount to the cart, tests first") == []
    assert [fix.outcome for fix in learn(*calls, prompt="fix the wrong total of the cart")] == [FIXED]


def test_taking_an_edit_back_is_no_fix() -> None:
    assert learn(edit("src/a.py"), run("pytest", FAILED, 1), run("git checkout -- src/a.py"), run("pytest")) == []


def test_a_slip_in_what_was_just_written_is_not_sure_to_matter() -> None:
    error = "src/a.py:3: error: Name 'x' is not defined  [name-defined]"
    (fix,) = learn(edit("src/a.py"), run("mypy src", error, 1), edit("src/a.py"), run("mypy src"))
    assert fix.confidence < 0.7
    (fix,) = learn(run("mypy src", error, 1), edit("src/a.py"), run("mypy src"))
    assert fix.confidence >= 0.7


def test_an_edit_that_has_nothing_to_do_with_the_failure_is_not_sure_to_be_the_fix() -> None:
    (fix,) = learn(run("./sync", "curl: Could not resolve host: x", 6), edit("README.md"), run("./sync"))
    assert fix.confidence < 0.7


def test_a_narrower_success_after_an_edit_counts_if_it_runs_the_test() -> None:
    first = run("pytest", FAILED, 1)
    assert learn(first, edit("src/cart.py"), run("pytest tests/test_cart.py::test_total"))
    assert not learn(first, edit("src/cart.py"), run("pytest tests/test_user.py"))
    assert not learn(first, run("pytest tests/test_cart.py"))


def test_failures_that_were_mended_on_the_way_are_told() -> None:
    (fix,) = learn(
        run("make", "a.c:1:1: error: first", 2), edit("a.c"),
        run("make", "b.c:2:2: error: second", 2), edit("b.c"), run("make"),
    )  # fmt: skip
    assert "second (b.c:2)" in fix.text
    assert "Before that: first" in fix.text
    assert fix.paths == ("b.c", "a.c")


def test_what_was_stopped_or_shows_only_some_lines_decides_nothing() -> None:
    calls = run("pytest", FAILED, 1), edit("src/cart.py")
    assert learn(*calls, run("pytest", "", 130)) == []
    assert learn(*calls, run("pytest | grep FAILED", "")) == []
    assert learn(*calls, run("pytest | tail -3", FAILED)) == []


def test_a_script_typed_into_the_shell_is_a_probe() -> None:
    error = 'Traceback (most recent call last):\n  File "<string>", line 1, in <module>\nKeyError: 1'
    (fix,) = learn(run("python -c 'import a'", error, 1), edit("a.py"), run("python -c 'import a'"))
    assert fix.confidence < 0.7


def test_an_edit_in_the_shell_is_one() -> None:
    (fix,) = learn(run("pytest", FAILED, 1), run("sed -i 's/3/2/' src/cart.py"), run("pytest"))
    assert fix.paths[0] == "src/cart.py"


def test_without_exit_codes_outputs_decide() -> None:
    (fix,) = learn(run("pytest", FAILED, None), edit("src/cart.py"), run("pytest", "2 passed", None))
    assert fix.outcome == FIXED
    assert (
        learn(run("rg 'error: x' src", "src/a.c:1:1: error: x", None), edit("a.c"), run("rg 'error: x' src", "", None))
        == []
    )


def test_a_failure_is_a_candidate_at_once() -> None:
    (left,) = Trail().take(run("make docs", "mkdocs: error: no theme", 1), "/repo")
    assert (left.outcome, left.type) == (OPEN, "gotcha")
    assert left.text == "`make docs` failed: no theme."
    assert left.confidence < 0.7


def test_the_same_failure_has_the_same_key_wherever_its_lines_are() -> None:
    one, other = Trail(), Trail()
    one.take(run("mypy", "src/a.py:3: error: Bad type 12  [x]", 1), "/repo")
    other.take(run("uv run mypy", "src/a.py:99: error: Bad type 14  [x]", 1), "/repo")
    assert one.failures[0].key == other.failures[0].key


def test_a_trail_is_kept_as_text() -> None:
    trail = Trail()
    for call in (edit("src/a.py"), run("pytest", FAILED, 1), edit("src/cart.py"), run("uv sync")):
        trail.take(call, "/repo")
    again = Trail.from_json(trail.to_json())
    assert again == trail
    assert learn(run("pytest"), trail=again)


def test_a_trail_stays_small() -> None:
    trail = Trail()
    for number in range(500):
        trail.take(run(f"tool{number} x", "error: y", 1), "/repo")
        trail.take(edit(f"src/{number}.py"), "/repo")
    assert len(trail.to_json()) < 20_000


def test_what_was_installed_in_the_same_command_is_not_told_as_fixed_by_a_later_edit() -> None:
    missing = "E   ModuleNotFoundError: No module named 'pytest_mock'\nERROR tests/test_cart.py"
    (fix,) = learn(
        run("pytest -q", missing, 1),
        run("pip install pytest-mock && pytest -q", FAILED, 1),
        edit("src/cart.py"),
        run("pytest -q", "1 passed"),
    )
    assert fix.text.startswith("`pytest -q` failed: assert 3 == 2 (tests/test_cart.py, test_total). Before that: ")
    assert "ModuleNotFoundError" in fix.text
    assert fix.text.endswith("Fixed in src/cart.py; the command has succeeded since.")


def test_what_was_installed_in_the_same_command_that_then_succeeded_is_told() -> None:
    missing = "E   ModuleNotFoundError: No module named 'pytest_mock'\nERROR tests/test_cart.py"
    (until,) = learn(run("pytest -q", missing, 1), run("pip install pytest-mock && pytest -q", "1 passed"))
    assert "`pip install pytest-mock" in until.text
