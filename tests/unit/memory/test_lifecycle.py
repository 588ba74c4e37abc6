from __future__ import annotations

from pathlib import Path

import pytest

from cairn.errors import AuthorityError, NotFoundError, RequestError
from cairn.memory.handles import handle_of
from cairn.memory.lifecycle import Lifecycle, NewMemory
from cairn.memory.store import By
from cairn.storage.memory.rows import CodeLink
from memory_histories import Replica

PERSON, AGENT, RULE = By("person:ada", "person"), By("agent:claude-code", "agent"), By("rule:supersede", "rule")


@pytest.fixture
def replica(tmp_path: Path) -> Replica:
    return Replica(tmp_path / "state")


@pytest.fixture
def lifecycle(replica: Replica) -> Lifecycle:
    return Lifecycle(replica.store, replica.clock)


def keep(lifecycle: Lifecycle, text: str, by: By = AGENT) -> str:
    return lifecycle.remember(NewMemory(text, "gotcha"), by).observation.id


def test_a_memory_holds_what_was_said_of_it(lifecycle: Lifecycle) -> None:
    links = (CodeLink("src/a.py", "Cache.get", "12ab"), CodeLink("src/b.py"))
    draft = NewMemory(
        "Cache.get is not thread-safe", "gotcha", 7, ("cache", "threads"), links, "agent", "s1", "dev", "c0ffee"
    )
    kept = lifecycle.remember(draft, AGENT)
    assert kept.is_new
    observation = kept.observation
    assert (observation.text, observation.importance, observation.tags) == (draft.text, 7, ("cache", "threads"))
    assert (observation.links, observation.session, observation.branch) == (links, "s1", "dev")
    assert (observation.status, observation.actor, observation.is_shared) == ("active", "agent:claude-code", False)


def test_the_same_words_are_kept_once_with_the_links_of_both(lifecycle: Lifecycle) -> None:
    first = lifecycle.remember(NewMemory("Use WAL  mode", "decision", links=(CodeLink("a.py"),)), AGENT)
    again = lifecycle.remember(NewMemory("use wal mode\n", "decision", links=(CodeLink("b.py"),)), PERSON)
    assert not again.is_new
    assert again.observation.id == first.observation.id
    assert again.observation.links == (CodeLink("a.py"), CodeLink("b.py"))


def test_what_was_resolved_can_be_remembered_anew(lifecycle: Lifecycle) -> None:
    first = keep(lifecycle, "the build fails on Fridays")
    lifecycle.resolve(first, AGENT)
    assert lifecycle.remember(NewMemory("the build fails on Fridays", "gotcha"), AGENT).is_new


def test_each_status_is_reached_and_undone(lifecycle: Lifecycle) -> None:
    old, new = keep(lifecycle, "use port 80"), keep(lifecycle, "use port 8080")
    assert lifecycle.resolve(handle_of(old), AGENT, "fixed in 1.2").status == "resolved"
    assert lifecycle.archive(old, AGENT).status == "archived"
    assert lifecycle.undo(old, AGENT).status == "resolved"
    assert lifecycle.reopen(old, AGENT).status == "active"
    superseded = lifecycle.supersede(old, handle_of(new), AGENT)
    assert (superseded.status, superseded.superseded_by) == ("superseded", new)
    assert lifecycle.undo(old, AGENT).status == "active"


def test_a_status_that_was_said_twice_is_undone_at_once(lifecycle: Lifecycle) -> None:
    id = keep(lifecycle, "use port 80")
    lifecycle.resolve(id, AGENT)
    lifecycle.resolve(id, AGENT, "fixed in 1.2")
    assert lifecycle.undo(id, AGENT).status == "active"
    lifecycle.archive(id, AGENT)
    lifecycle.archive(id, PERSON)
    assert lifecycle.undo(id, PERSON).status == "active"


def test_who_changed_what_and_why_is_kept(lifecycle: Lifecycle, replica: Replica) -> None:
    id = keep(lifecycle, "use port 80")
    lifecycle.resolve(id, PERSON, "fixed in 1.2")
    created, resolved = replica.store.history(id)
    assert (created.kind, created.actor) == ("created", "agent:claude-code")
    assert (resolved.actor, resolved.value) == ("person:ada", {"status": "resolved", "reason": "fixed in 1.2"})


def test_fields_and_links_are_edited(lifecycle: Lifecycle) -> None:
    id = keep(lifecycle, "use port 80")
    assert lifecycle.edit(id, PERSON, text="use port 443", importance=9).text == "use port 443"
    assert lifecycle.link(id, CodeLink("a.py", "serve"), PERSON).links == (CodeLink("a.py", "serve"),)
    assert lifecycle.unlink(id, "a.py", "serve", PERSON).links == ()


def test_what_a_person_decided_an_agent_cannot_undo_and_no_event_is_left(
    lifecycle: Lifecycle, replica: Replica
) -> None:
    id = keep(lifecycle, "use port 80")
    lifecycle.archive(id, PERSON)
    with pytest.raises(AuthorityError, match="because a person said so; an agent"):
        lifecycle.reopen(id, AGENT)
    assert len(replica.store.history(id)) == 2
    assert lifecycle.reopen(id, PERSON).status == "active"


def test_an_erased_memory_can_only_be_erased(lifecycle: Lifecycle) -> None:
    id = keep(lifecycle, "the codeword is swordfish")
    assert lifecycle.erase(id, PERSON).is_redacted
    assert lifecycle.erase(id, PERSON).is_redacted
    with pytest.raises(NotFoundError, match="erased"):
        lifecycle.edit(id, PERSON, text="again")


def test_a_memory_cannot_take_its_own_place(lifecycle: Lifecycle) -> None:
    id = keep(lifecycle, "use port 80")
    with pytest.raises(RequestError):
        lifecycle.supersede(id, handle_of(id), PERSON)


@pytest.mark.parametrize("text", ["", " \n", "\x00\x1b"])
def test_nothing_is_not_remembered(lifecycle: Lifecycle, text: str) -> None:
    with pytest.raises(RequestError):
        keep(lifecycle, text)


def test_control_characters_and_half_characters_are_taken_out(lifecycle: Lifecycle) -> None:
    observation = lifecycle.remember(
        NewMemory("a\x1b[2Jb\u202ec \ud800 d\r\ne\tf", "gotcha", tags=("\x00",)), AGENT
    ).observation
    assert observation.text == "a[2Jbc ? d\ne\tf"
    assert observation.tags == ()


def test_a_text_that_is_too_long_is_cut(lifecycle: Lifecycle) -> None:
    assert len(lifecycle.remember(NewMemory("x" * 50_000, "gotcha"), AGENT).observation.text) == 10_000


def test_secrets_never_reach_the_disk(lifecycle: Lifecycle, replica: Replica) -> None:
    secret = "Tr0ub4dor&3x"
    id = keep(lifecycle, f"log in with password={secret} <private>and ask Ada</private>")
    lifecycle.edit(id, PERSON, text=f"export DB_PASSWORD='{secret}'")
    lifecycle.resolve(id, PERSON, f"the password: '{secret}' was changed")
    lifecycle.edit(id, PERSON, tags=[f"password={secret}"])
    assert replica.store.observation(id).text == "export DB_PASSWORD='[redacted: password]'"
    for file in replica.folder.rglob("*"):
        assert not (file.is_file() and (secret.encode() in file.read_bytes() or b"ask Ada" in file.read_bytes()))


def test_tags_and_reasons_are_kept_on_one_line_of_characters_that_show(lifecycle: Lifecycle, replica: Replica) -> None:
    kept = lifecycle.remember(NewMemory("x", tags=("a\nb", "\u2028", "c" * 600)), AGENT).observation
    assert kept.tags == ("a b", "c" * 500)
    lifecycle.resolve(kept.id, AGENT, "fixed\u200b\nby me")
    assert replica.store.history(kept.id)[-1].value["reason"] == "fixed by me"


def test_what_a_person_made_only_a_person_erases(lifecycle: Lifecycle) -> None:
    mine, theirs = keep(lifecycle, "made by Ada", PERSON), keep(lifecycle, "made by an agent")
    for by in (AGENT, RULE):
        with pytest.raises(AuthorityError, match="was made by a person"):
            lifecycle.erase(mine, by)
    assert lifecycle.erase(theirs, AGENT).is_redacted
    assert lifecycle.erase(mine, PERSON).is_redacted


def test_only_a_person_changes_what_a_person_said(lifecycle: Lifecycle, replica: Replica) -> None:
    id = keep(lifecycle, "use port 80", PERSON)
    with pytest.raises(AuthorityError, match="an agent cannot change what it says"):
        lifecycle.edit(id, AGENT, text="use port 443")
    assert lifecycle.edit(id, AGENT, importance=8).text == "use port 80"
    assert lifecycle.edit(id, PERSON, text="use port 443").text == "use port 443"


def test_what_a_memory_said_is_undone_and_done_again(lifecycle: Lifecycle) -> None:
    id = keep(lifecycle, "use port 80")
    lifecycle.edit(id, AGENT, text="use port 8080", tags=["net"])
    undone = lifecycle.undo(id, AGENT)
    assert (undone.text, undone.tags) == ("use port 80", ())
    assert lifecycle.undo(id, AGENT).text == "use port 8080"


def test_links_are_undone_but_those_that_came_with_a_memory_stay(lifecycle: Lifecycle) -> None:
    made = lifecycle.remember(NewMemory("Use WAL mode", "decision", links=(CodeLink("a.py"),)), AGENT).observation
    assert lifecycle.undo(made.id, PERSON).links == (CodeLink("a.py"),)
    lifecycle.unlink(made.id, "a.py", "", PERSON)
    assert lifecycle.undo(made.id, PERSON).links == (CodeLink("a.py"),)
    lifecycle.link(made.id, CodeLink("a.py", "", "0" * 32), PERSON)
    assert lifecycle.undo(made.id, PERSON).links == (CodeLink("a.py"),)


def test_only_a_person_undoes_what_a_person_said(lifecycle: Lifecycle) -> None:
    id = keep(lifecycle, "use port 80", PERSON)
    lifecycle.edit(id, PERSON, text="use port 8080")
    with pytest.raises(AuthorityError):
        lifecycle.undo(id, AGENT)
