from __future__ import annotations

import io
import random
from pathlib import Path

import pytest

from cairn.errors import EventError, NotFoundError
from cairn.memory.exchange import HEADER, Exchange
from cairn.memory.handles import handle_of
from cairn.memory.ids import new_id
from cairn.memory.store import By, MemoryChange
from memory_histories import CREATED, START, Replica

PERSON = By("person:ada", "person")


def make(replica: Replica, **fields: object) -> str:
    id = new_id(START)
    replica.store.record([MemoryChange(id, "created", CREATED | fields)], PERSON)
    return id


def exchange_of(replica: Replica) -> Exchange:
    return Exchange(replica.store, replica.clock)


def export(replica: Replica) -> bytes:
    return "".join(f"{line}\n" for line in exchange_of(replica).export()).encode()


@pytest.fixture
def full(tmp_path: Path) -> Replica:
    replica, randomly = Replica(tmp_path / "full"), random.Random(1)
    for _ in range(60):
        replica.change(randomly, "correct-horse")
    return replica


@pytest.fixture
def empty(tmp_path: Path) -> Replica:
    return Replica(tmp_path / "empty")


def test_an_export_restores_exactly_what_it_was_made_of(full: Replica, empty: Replica) -> None:
    data = export(full)
    done = exchange_of(empty).take(io.BytesIO(data))
    assert empty.state() == full.state()
    assert empty.events() == full.events()
    assert export(empty) == data
    assert (done.n_new, done.n_known) == (len(full.events()), 0)


def test_an_import_over_a_memory_adds_what_is_new(full: Replica, empty: Replica) -> None:
    early = export(full)
    make(full)
    exchange_of(empty).take(io.BytesIO(early))
    done = exchange_of(empty).take(io.BytesIO(export(full)))
    assert (done.n_new, done.n_known, done.n_memories) == (1, len(full.events()) - 1, 1)
    assert empty.state() == full.state()


def test_a_memory_erased_here_is_not_brought_back_by_an_older_export(empty: Replica) -> None:
    id = make(empty, text="the codeword is swordfish")
    data = export(empty)
    empty.store.record([MemoryChange(id, "redact", {})], PERSON)
    exchange_of(empty).take(io.BytesIO(data))
    assert empty.store.observation(id).is_redacted
    assert not [file for file in empty.folder.rglob("*") if file.is_file() and b"swordfish" in file.read_bytes()]


def test_a_dry_run_says_what_is_new_and_writes_nothing(full: Replica, empty: Replica) -> None:
    done = exchange_of(empty).take(io.BytesIO(export(full)), dry_run=True)
    assert done.n_new == len(full.events())
    assert not empty.store.exists
    assert exchange_of(full).take(io.BytesIO(export(full)), dry_run=True).n_known == len(full.events())


def test_one_bad_line_keeps_all_out_and_is_named(full: Replica, empty: Replica) -> None:
    make(empty)
    before = empty.state()
    lines = export(full).splitlines(keepends=True)
    lines[7] = lines[7].replace(b'"kind":', b'"kinds":')
    lines[12] = b"\xff\n"
    with pytest.raises(EventError, match=r"line 8: .*line 13: it is not UTF-8"):
        exchange_of(empty).take(io.BytesIO(b"".join(lines)))
    assert empty.state() == before
    assert len(empty.events()) == 1


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "not an export"),
        (b"[" * 100_000, "not an export"),
        (b'{"format":"cairn-memory","version":2}\n', "newer version"),
        (f"{HEADER}\n".encode() + b"x" * 10_000_000, "line 2: it is longer"),
        (f"{HEADER}\n".encode() + b"[" * 90_000 + b"\n", "line 2: "),
        (f"{HEADER}\n{{}}\n".encode(), "line 2: "),
    ],
)
def test_what_is_no_export_is_refused(empty: Replica, data: bytes, words: str) -> None:
    with pytest.raises(EventError, match=words):
        exchange_of(empty).take(io.BytesIO(data))
    assert empty.events() == {}


def test_an_import_of_an_event_from_the_future_is_refused_with_its_line(tmp_path: Path, empty: Replica) -> None:
    wrong = Replica(tmp_path / "wrong", 3 * 365 * 86_400)
    make(wrong)
    with pytest.raises(EventError, match=r"line 2: .*days ahead"):
        exchange_of(empty).take(io.BytesIO(export(wrong)))


def test_chosen_memories_are_exported_alone(empty: Replica) -> None:
    private, shared = make(empty, is_shared=False), make(empty)
    exchange = exchange_of(empty)
    assert len(list(exchange.export([handle_of(private)]))) == 2
    assert [line for line in exchange.export(only_shared=True) if private in line] == []
    assert [line for line in exchange.export(only_shared=True) if shared in line]
    with pytest.raises(NotFoundError):
        list(exchange.export(["m_00000000ff"]))


def test_an_export_of_nothing_is_a_header(empty: Replica) -> None:
    assert list(exchange_of(empty).export()) == [HEADER]
    assert not empty.store.exists


def test_secrets_in_a_file_made_by_hand_are_left_out_and_what_has_none_keeps_its_id(
    tmp_path: Path, empty: Replica
) -> None:
    token = "ghp_Zk3vQ9mXb7LrT2wYc8NfJ4sHd6PgA1eUoRtK"
    secret = make(
        empty, text=f"push with {token} until Friday", tags=[f"token={token}"], session=f"s {token}", branch=token
    )
    harmless = make(empty, text="push after the tests")
    resolved = MemoryChange(secret, "status", {"status": "resolved", "reason": token})
    empty.store.record([resolved], By(f"person:{token}", "person"))
    data = export(empty)
    other = Replica(tmp_path / "other")
    done = exchange_of(other).take(io.BytesIO(data))
    assert (done.n_new, done.n_redacted) == (3, 2)
    observation = other.store.observation(secret)
    assert observation.text == "push with [redacted: github-token] until Friday"
    assert observation.status == "resolved"
    assert other.store.history(harmless) == empty.store.history(harmless)
    assert not [file for file in other.folder.rglob("*") if file.is_file() and token.encode() in file.read_bytes()]
    again = exchange_of(other).take(io.BytesIO(data))
    assert (again.n_new, again.n_known, again.n_memories) == (0, 3, 0)
    own = exchange_of(empty).take(io.BytesIO(data))  # what is here already is not made again
    assert (own.n_known, own.n_redacted) == (3, 0)
