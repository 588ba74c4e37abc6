from __future__ import annotations

from pathlib import Path

import pytest

from cairn import Workspace
from cairn.memory.identity import actor_to_keep, session_to_keep
from cairn.memory.moments import Moment

TOKEN = "ghp_Zk3vQ9mXb7LrT2wYc8NfJ4sHd6PgA1eUoRtK"


@pytest.mark.parametrize("id", ["", "s-1", "c5de1ee1-98c1-488d-8cce-99674129f811", "59d27689f1b4d7a928e1143575546e24"])
def test_an_id_without_a_secret_is_kept_as_it_is(id: str) -> None:
    assert session_to_keep(id) == id


def test_sessions_whose_ids_hold_secrets_stay_apart() -> None:
    one, other = session_to_keep(f"1 {TOKEN}"), session_to_keep(f"2 {TOKEN}")
    assert one != other
    assert TOKEN not in one + other
    assert session_to_keep(one) == one


def test_who_acts_keeps_their_kind() -> None:
    assert actor_to_keep("agent:claude-code") == "agent:claude-code"
    assert actor_to_keep(f"person:{TOKEN}") == "person:[redacted: github-token]"


def test_no_secret_in_a_name_is_on_disk_and_the_session_is_found_by_its_id(tmp_path: Path) -> None:
    session = f"session {TOKEN}"
    with Workspace.open(tmp_path) as workspace:
        memory = workspace.memory
        assert memory.take(Moment("1", "prompt", session, f"agent {TOKEN}", 0.0, text="tidy up")).is_captured
        memory.remember("tidy up before Friday", session=session, actor=f"agent:{TOKEN}")
        memory.usage.note_question("memory", "friday", 1, session=session)
        assert memory.sessions.session(session).n_prompts == 1
        memory.sessions.freshen(session)
        assert memory.sessions.session(session).is_fresh
        memory.sessions.forget(session)
        assert memory.sessions.find(session) is None
        files = [file for file in tmp_path.rglob("*") if file.is_file()]
        assert files
        assert not [file for file in files if TOKEN.encode() in file.read_bytes()]
