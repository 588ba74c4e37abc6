"""What holds for every agent that is in the list."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import given as for_all
from hypothesis import strategies as st

from cairn.errors import RequestError
from cairn.hooks.adapter import Block, FileEntry, Item, Place, Whole
from cairn.hooks.agents import NAMES, adapter_of
from cairn.hooks.commands import is_ours
from cairn.hooks.report import SILENCE
from cairn.memory.moments import EVENTS
from hook_reports import report_of

WITH_HOOKS = [name for name in NAMES if adapter_of(name).events]
ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from([
    "session_id", "sessionId", "conversation_id", "trajectory_id", "tool_name", "toolName", "tool_input", "toolArgs",
    "tool_info", "tool_response", "tool_result", "tool_output", "tool_use_id", "cwd", "workspace_roots", "prompt",
    "timestamp", "hook_event_name", "agent_action_name", "duration", "error", "error_message", "agent_id", "source",
])  # fmt: skip
NAMES_OF_TOOLS = st.sampled_from(["Read", "Shell", "apply_patch", "run_in_terminal", "post_run_command", "bash"])


def test_there_is_no_agent_of_another_name() -> None:
    with pytest.raises(RequestError):
        adapter_of("../cursor")


@pytest.mark.parametrize("name", NAMES)
def test_an_agent_is_described_by_the_words_that_all_share(name: str) -> None:
    adapter = adapter_of(name)
    assert adapter.name == name
    assert adapter.title
    assert set(adapter.events) <= set(EVENTS)
    assert set(adapter.abilities) <= set(adapter.events)
    assert 1_000 <= adapter.max_context_chars <= 10_000
    assert any(adapter.detection)
    assert set(adapter.levels) <= {"project", "user"}


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_for_an_agent_lies_below_the_root_or_the_home_and_is_known_as_ours(
    name: str, tmp_path: Path
) -> None:
    adapter = adapter_of(name)
    for level in adapter.levels:
        place = Place(level, tmp_path / "repo", tmp_path / "home", {}, ("/opt/cairn/bin/cairn",))
        base = place.root if level == "project" else place.home
        changes = adapter.changes(place)
        assert changes
        assert changes == adapter.changes(place)
        for change in changes:
            assert change.file.is_relative_to(base)
            if isinstance(change, Item) or (isinstance(change, FileEntry) and not change.is_default):
                json.dumps(change.value)
                assert is_ours(change.value), change
            if isinstance(change, Whole | Block):
                assert change.text.endswith("\n")


@pytest.mark.parametrize("name", WITH_HOOKS)
def test_the_first_payload_of_an_agent_is_one_that_it_understands(name: str) -> None:
    adapter = adapter_of(name)
    text = json.dumps(adapter.first_payload).replace("FOLDER", "/repo").replace("SESSION", "s1")
    event = "session-start" if "session-start" in adapter.events else next(iter(adapter.events))
    happening = adapter.read(report_of(name, event, json.loads(text)))
    assert happening is not None
    assert happening.session.endswith(":s1")
    assert happening.folder == "/repo"


@pytest.mark.parametrize("name", WITH_HOOKS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@for_all(event=st.sampled_from(EVENTS), payload=st.dictionaries(KEYS, ANY | NAMES_OF_TOOLS, max_size=8))
def test_no_payload_makes_an_adapter_fail(name: str, event: str, payload: dict[str, Any]) -> None:
    adapter = adapter_of(name)
    if event not in adapter.events:
        return
    report = report_of(name, event, payload)
    try:
        happening = adapter.read(report)
    except RequestError:
        happening = None
    if happening is not None:
        assert happening.moments
        assert happening.session.partition(":")[2]
        for moment in happening.moments:
            assert moment.id
            json.dumps(moment).encode()
    assert adapter.answer(report, SILENCE) in ("", "{}")
