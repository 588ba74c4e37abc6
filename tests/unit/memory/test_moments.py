from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cairn.errors import RequestError
from cairn.memory.moments import EVENTS, MAX_OUTPUT_CHARS, canonical_tool, parse_moment


@pytest.mark.parametrize(
    ("name", "tool"),
    [
        ("Read", "read"), ("read_file", "read"), ("view", "read"), ("Edit", "edit"), ("apply_patch", "edit"),
        ("replace", "edit"), ("str_replace", "edit"), ("Write", "write"), ("write_file", "write"), ("create", "write"),
        ("Bash", "shell"), ("run_shell_command", "shell"), ("Shell", "shell"), ("run_in_terminal", "shell"),
        ("Grep", "search"), ("glob", "search"), ("search_file_content", "search"), ("LS", "list"),
        ("WebFetch", "web"), ("mcp__github__get_issue", "mcp"), ("Task", "task"), ("ExitPlanMode", "plan"),
        ("update_plan", "plan"), ("launch_rocket", "other"),
    ],
)  # fmt: skip
def test_the_tools_of_every_agent_are_known_by_what_they_do(name: str, tool: str) -> None:
    assert canonical_tool(name) == tool


def test_a_moment_holds_what_its_payload_says() -> None:
    call = {"name": "Bash", "target": "pytest -q", "exit_code": 1, "duration_ms": 12, "output": "1 failed"}
    payload = {"id": "e1", "seconds": 12.5, "branch": "main", "call": call, "details": {"source": "startup", "n": 7}}
    moment = parse_moment("after-tool", "s1", "claude-code", json.dumps(payload))
    assert (moment.id, moment.seconds, moment.session, moment.branch) == ("e1", 12.5, "s1", "main")
    assert moment.details == {"source": "startup"}
    assert moment.call is not None
    assert (moment.call.tool, moment.call.target, moment.call.exit_code) == ("shell", "pytest -q", 1)
    assert moment.call.is_failure
    assert not moment.call.is_edit


def test_of_a_long_output_the_end_is_looked_at() -> None:
    call = {"name": "Bash", "output": "a" * MAX_OUTPUT_CHARS + "the end"}
    moment = parse_moment("after-tool", "", "", json.dumps({"call": call}))
    assert moment.call is not None
    assert moment.call.output.endswith("the end")
    assert len(moment.call.output) == MAX_OUTPUT_CHARS


@pytest.mark.parametrize(
    "payload",
    [
        "", "[]", "null", "{", "[" * 50_000, '{"id": 1}', '{"seconds": "now"}', '{"seconds": NaN}', '{"seconds": true}',
        '{"call": []}', '{"call": {"tool": "hammer"}}', '{"call": {"outcome": "maybe"}}',
        '{"call": {"exit_code": "1"}}', '{"call": {"exit_code": true}}', '{"details": []}',
    ],
)  # fmt: skip
def test_a_payload_that_makes_no_sense_is_refused(payload: str) -> None:
    with pytest.raises(RequestError):
        parse_moment("prompt", "", "", payload)


def test_an_unknown_event_is_refused() -> None:
    with pytest.raises(RequestError, match="session-start"):
        parse_moment("coffee-break", "", "", "{}")


@given(
    st.sampled_from(EVENTS),
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text() | st.integers(),
        lambda inner: (
            st.lists(inner) | st.dictionaries(st.sampled_from(["id", "call", "text", "target", "details", "x"]), inner)
        ),
    ),
)
def test_any_json_is_a_moment_or_an_error(event: str, document: object) -> None:
    try:
        moment = parse_moment(event, "s", "a", json.dumps(document))
    except RequestError:
        return
    assert moment.event == event
    json.dumps(moment, ensure_ascii=False).encode()
