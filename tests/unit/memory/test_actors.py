from __future__ import annotations

import getpass

import pytest

from cairn.errors import ConfigError
from cairn.memory.actors import agent_named, find_actor


@pytest.mark.parametrize(
    ("environment", "actor", "session"),
    [
        ({"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s1"}, "agent:claude-code", "claude-code:s1"),
        ({"CODEX_THREAD_ID": "t1"}, "agent:codex", "codex:t1"),
        ({"GEMINI_CLI": "1"}, "agent:gemini-cli", ""),
        ({"CURSOR_AGENT": "1"}, "agent:cursor", ""),
        ({"OPENCODE": "1"}, "agent:opencode", ""),
        ({"CAIRN_ACTOR": "agent:mine", "CLAUDECODE": "1"}, "agent:mine", ""),
        ({"CAIRN_ACTOR": "person:ada", "CLAUDECODE": "1"}, "person:ada", ""),
    ],
)
def test_an_agent_is_told_by_the_variables_it_sets(environment: dict[str, str], actor: str, session: str) -> None:
    assert find_actor(environment) == (actor, session)


def test_an_agent_that_another_one_started_acts_itself() -> None:
    assert find_actor({"CLAUDECODE": "1", "CODEX_THREAD_ID": "t1"}).actor == "agent:codex"


def test_whoever_runs_no_agent_is_a_person() -> None:
    assert find_actor({}).actor == f"person:{getpass.getuser()}"


@pytest.mark.parametrize("named", ["ada", "rule:supersede", "machine:m", "person:", "agent:a\nb"])
def test_the_variable_for_actors_names_a_person_or_an_agent(named: str) -> None:
    with pytest.raises(ConfigError, match="CAIRN_ACTOR must be agent:NAME or person:NAME"):
        find_actor({"CAIRN_ACTOR": named})


def test_a_program_may_call_itself_anything() -> None:
    assert agent_named("claude-code") == "agent:claude-code"
    assert agent_named("person: Ada\n") == "agent:person-Ada"
    assert agent_named("x" * 500) == f"agent:{'x' * 100}"
    for name in ("", None, 5, "\n"):
        assert agent_named(name) == "agent:unknown"
