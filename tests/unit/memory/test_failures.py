from __future__ import annotations

import pytest
import re2
from hypothesis import given, settings
from hypothesis import strategies as st

from cairn.memory.commands import parse_command
from cairn.memory.failure_rules import KINDS, SHAPES
from cairn.memory.failures import Failure, failure_of, plain, recognise
from cairn.memory.moments import ToolCall
from failure_samples import SAMPLES, Sample


def shell(command: str, output: str = "", exit_code: int | None = 1, outcome: str = "") -> ToolCall:
    return ToolCall("shell", "Bash", command, outcome, exit_code, output=output)


def failure_in(command: str, output: str) -> Failure:
    found = recognise(plain(output), parse_command(command).work)
    assert found is not None
    return found


@pytest.mark.parametrize("sample", SAMPLES, ids=[sample.shape for sample in SAMPLES])
def test_the_output_of_a_tool_says_what_failed_and_where(sample: Sample) -> None:
    found = failure_in(sample.command, sample.output)
    assert (found.shape, found.file, found.line) == (sample.shape, sample.file, sample.line)
    assert sample.message in found.message
    assert sample.code in ("", found.code)
    assert sample.test in found.test


def test_every_shape_has_a_name_of_its_own_a_known_kind_and_a_pattern_of_linear_time() -> None:
    assert len({shape.name for shape in SHAPES}) == len(SHAPES)
    for shape in SHAPES:
        assert shape.kind in KINDS
        assert "message" in re2.compile(shape.pattern).groupindex
        assert all(shape.needs.split("|"))


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("grep -rn TODO src", ""),
        ("rg pattern --hidden | head", ""),
        ("test -f .env", ""),
        ("[ -d build ]", ""),
        ("diff a.txt b.txt", "1c1\n< a\n---\n> b"),
        ("git diff --exit-code", "diff --git a/x b/x"),
        ("cmp a b", "a b differ: byte 1, line 1"),
        ("ls dist", "ls: cannot access 'dist': No such file or directory"),
        ("cat missing.txt", "cat: missing.txt: No such file or directory"),
        ("which node", ""),
        ("curl -sf localhost:3000/health", "curl: (22) The requested URL returned error: 404"),
        ("kubectl get pod x", 'Error from server (NotFound): pods "x" not found'),
        ("git rev-parse --verify topic", "fatal: Needed a single revision"),
        ("pytest --version", "error: usage"),
    ],
)
def test_a_question_that_is_answered_by_an_exit_code_is_no_failure(command: str, output: str) -> None:
    assert failure_of(shell(command, output)) is None


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("cat build.log", "src/a.ts(1,1): error TS2304: Cannot find name 'x'."),
        ("rg -n 'error:' src", "src/a.py:3: error: Incompatible types  [assignment]"),
        ("git log -3", "a1 fix error: crash"),
        ("gh run view 1 --log-failed", "FAILED tests/test_a.py::test_b - AssertionError"),
        ("docker logs web", 'Traceback (most recent call last):\n  File "a.py", line 1, in x\nValueError: y'),
    ],
)
@pytest.mark.parametrize("exit_code", [0, None])
def test_errors_in_what_is_read_are_not_those_of_the_reader(command: str, output: str, exit_code: int | None) -> None:
    assert failure_of(shell(command, output, exit_code)) is None


def test_an_error_on_the_way_to_success_is_none() -> None:
    assert failure_of(shell("make", "a.c:1:1: error: x", 0)) is None
    assert failure_of(shell("python app.py", "ERROR: retrying\nValueError: handled", None)) is None


def test_where_nobody_says_how_a_command_ended_its_output_does() -> None:
    output = "FAILED tests/test_a.py::test_b - assert 1 == 2\n1 failed in 0.1s"
    assert failure_of(shell("pytest -q", output, None)) is not None
    assert failure_of(shell("pytest -q | tail -5", output, 0)) is not None
    assert failure_of(shell("pytest -q || true", output, 0)) is not None
    assert failure_of(shell("pytest -q", "3 passed in 0.1s", None)) is None


@pytest.mark.parametrize("exit_code", [124, 130, 137, 143])
def test_what_was_stopped_did_not_fail(exit_code: int) -> None:
    assert failure_of(shell("make bench", "", exit_code)) is None
    assert failure_of(shell("make bench", "", 1, "denied")) is None


def test_a_missing_program_is_a_failure_even_of_a_command_that_only_reads() -> None:
    found = failure_of(shell("rg pattern", "bash: rg: command not found", 127))
    assert found is not None
    assert found.kind == "command"


def test_an_output_that_no_shape_knows_is_told_by_its_last_words() -> None:
    found = failure_of(shell("./deploy", "starting\nthe moon is in the wrong phase\n-----\nexit code: 3\n", 3))
    assert found is not None
    assert (found.shape, found.message) == ("", "the moon is in the wrong phase")


def test_a_failed_tool_of_a_server_is_told_by_what_it_says_and_a_failed_edit_is_the_agents_own() -> None:
    call = ToolCall("mcp", "mcp__jira__get", "", "failed", output="401 token expired")
    assert failure_of(call) == Failure("", "other", "401 token expired")
    assert failure_of(ToolCall("edit", "Edit", "a.py", "failed", output="String to replace not found")) is None


def test_colours_do_not_hide_an_error() -> None:
    output = "\x1b[0m\x1b[1m\x1b[38;5;9merror[E0308]\x1b[0m: mismatched types\n \x1b[34m-->\x1b[0m src/a.rs:3:5\n"
    assert failure_in("cargo build", output).shape == "rustc"


def test_a_message_is_one_line_and_short() -> None:
    found = failure_in(
        "python a.py", 'Traceback (most recent call last):\n  File "a.py", line 1, in x\nValueError: ' + "y" * 900
    )
    assert len(found.message) <= 240


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.sampled_from([sample.output for sample in SAMPLES]) | st.text(max_size=30), max_size=4).map("\n".join)
)
def test_any_output_is_told_or_not_but_never_an_error(output: str) -> None:
    failure_of(shell("pytest && make && npm test", output))
    failure_of(shell("x", output, None))


@pytest.mark.parametrize(
    ("command", "output", "message"),
    [
        (
            "bundle exec rake test",
            "é\n  1) Failure:\nTestA#test_b [test/a.rb:3]:\nExpected: 200\n  Actual: 408\n\n1 runs, 1 failures",
            "Expected: 200; Actual: 408",
        ),
        (
            "cargo test",
            "ß\nthread 'a::b' panicked at src/a.rs:7:9:\nassertion `left == right` failed\n  left: 1\n right: 2\n",
            "assertion `left == right` failed; left: 1; right: 2",
        ),
        (
            "npx jest",
            "FAIL a.test.ts\n \u25cf a \u203a b\n\n  expect(received).toBe(expected)\n\n  Expected: 3\n  Received: 2\n",
            "expect(received).toBe(expected); Expected: 3; Received: 2",
        ),
    ],
)
def test_what_was_expected_and_what_was_there_is_told(command: str, output: str, message: str) -> None:
    failure = failure_of(ToolCall("shell", "Bash", command, exit_code=1, output=output))
    assert failure is not None
    assert failure.message == message
