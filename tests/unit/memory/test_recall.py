from __future__ import annotations

from pathlib import Path

import pytest

from cairn.embedding.fingerprint import bundled_fingerprint
from cairn.index.state_dir import StateDir
from cairn.memory import derived
from cairn.memory.lifecycle import Lifecycle, NewMemory
from cairn.memory.links import link_to
from cairn.memory.recall import Recall
from cairn.memory.store import By, MemoryStore
from cairn.source.terms import term_hash
from cairn.storage.memory import posting_db, vector_db
from cairn.storage.memory.observation_db import Conditions
from memory_histories import START, Clock

PERSON = By("person:ada", "person")
TEXTS = {
    "pool": "The connection pool hands out closed sockets after a timeout; check `is_alive` before use.",
    "yaml": "Settings are read from YAML once at start, so a test has to clear the cache.",
    "utc": "All times in the database are UTC; the view converts them to the user's zone.",
    "pickle": "Pickle was rejected for the job queue, because workers run different versions.",
}
ALL = Conditions()


class Memory:
    """A memory with a recall over it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.clock = Clock(START)
        self.store = MemoryStore(StateDir(root / ".cairn"), derived.derive, self.clock)
        self.lifecycle = Lifecycle(self.store, self.clock)
        self.recall = Recall(self.store, root, None, now=self.clock)

    def remember(self, text: str, **fields: object) -> str:
        return self.lifecycle.remember(NewMemory(text, **fields), PERSON).observation.id  # type: ignore[arg-type] # any mix

    def found(self, query: str, *args: object, **fields: object) -> list[str]:
        return [found.observation.id for found in self.recall.search(query, *args, **fields)]  # type: ignore[arg-type] # any mix


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory(tmp_path)


@pytest.fixture
def ids(memory: Memory) -> dict[str, str]:
    return {name: memory.remember(text) for name, text in TEXTS.items()}


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("sockets that are closed by a timeout of the pool", "pool"),
        ("is_alive", "pool"),
        ("where do tests get their settings from", "yaml"),
        ("which time zone are dates stored in", "utc"),
        ("why don't we serialize jobs with pickle?", "pickle"),
    ],
)
def test_a_memory_is_found_by_its_words_and_by_its_meaning(
    memory: Memory, ids: dict[str, str], query: str, name: str
) -> None:
    assert memory.found(query)[0] == ids[name]


@pytest.mark.parametrize("query", ["why don't we use redux", "why don\u2019t we use redux", "so we dont use redux?"])
def test_the_halves_of_a_negation_are_no_words_that_are_looked_for(memory: Memory, query: str) -> None:
    memory.remember(
        "Use `anyhow` in binaries and `thiserror` in the library crate; don't mix them, it doesn't compile."
    )
    id = memory.remember("We rejected Redux Toolkit in favour of zustand because bundle size matters on the kiosk.")
    (found, *others) = memory.recall.search(query)
    assert found.observation.id == id
    assert found.why.startswith("says redux")
    assert not others


def test_what_is_faintly_like_the_question_is_shown_only_to_who_wants_a_few(
    memory: Memory, ids: dict[str, str]
) -> None:
    assert memory.found("the view of a test") == [ids["yaml"]]
    assert memory.found("the view of a test", at_least=1) == [ids["yaml"]]
    assert memory.found("the view of a test", at_least=3) == [ids["yaml"], ids["utc"]]
    assert memory.found("bananas", at_least=3) == []


def test_nothing_is_found_where_nothing_was_remembered(memory: Memory) -> None:
    assert memory.recall.search("anything") == []
    assert not (memory.root / ".cairn").exists()


def test_only_active_memories_are_recalled_unless_others_are_asked_for(memory: Memory, ids: dict[str, str]) -> None:
    memory.lifecycle.resolve(ids["pool"], PERSON)
    assert ids["pool"] not in memory.found("pool timeout sockets")
    assert memory.found("pool timeout sockets", 5, ALL)[0] == ids["pool"]


def test_an_edited_memory_is_found_by_its_new_words_only(memory: Memory, ids: dict[str, str]) -> None:
    assert memory.found("pickle")
    memory.lifecycle.edit(ids["pickle"], PERSON, text="Jobs travel as JSON.")
    assert memory.found("pickle", 1) != [ids["pickle"]]
    assert memory.found("how do jobs travel")[0] == ids["pickle"]


def test_what_is_erased_leaves_no_terms_and_no_vectors(memory: Memory, ids: dict[str, str]) -> None:
    memory.lifecycle.erase(ids["pool"], PERSON)
    assert memory.found("pool timeout sockets", 5, ALL) == []
    with memory.store.reading() as connection:
        assert len(posting_db.read_all(connection)) == len(TEXTS) - 1
        (counted,) = connection.execute("SELECT count(*) FROM vector").fetchone()
    assert counted == len(TEXTS) - 1


def test_what_is_erased_is_in_no_file_as_a_term_or_vector(memory: Memory) -> None:
    id = memory.remember("The pond behind the pool holds swordfish, really.", tags=("mackerel",))
    with memory.store.reading() as connection:
        (row,) = posting_db.read_all(connection)
        ((_, vector),) = vector_db.read(connection, bundled_fingerprint())
    traces = [term_hash(word).to_bytes(8, "little") for word in ("swordfish", "mackerel")]
    assert all(trace in row.hashes for trace in traces)
    memory.lifecycle.erase(id, PERSON)
    memory.store.close()
    files = [file.read_bytes() for file in (memory.root / ".cairn").rglob("*") if file.is_file()]
    assert files
    assert not [trace for trace in [*traces, row.impacts, vector] for content in files if trace in content]


def test_what_may_be_recalled_is_asked_anew_after_a_change(memory: Memory, ids: dict[str, str]) -> None:
    another = Memory(memory.root)
    assert memory.found("pool timeout sockets")[0] == ids["pool"]
    another.lifecycle.resolve(ids["pool"], PERSON)
    assert ids["pool"] not in memory.found("pool timeout sockets")
    another.lifecycle.reopen(ids["pool"], PERSON)
    assert memory.found("pool timeout sockets")[0] == ids["pool"]


def test_a_memory_is_found_by_its_tags_and_by_the_code_that_it_speaks_of(memory: Memory) -> None:
    (memory.root / "store.py").write_text("def save_row():\n    pass\n")
    memory.remember("It must not be called twice.", links=(link_to(memory.root, "store.py::save_row"),))
    memory.remember("Nobody knows why.", tags=("billing",))
    by_code = memory.recall.search("save_row")[0]
    assert "about store.py::save_row" in by_code.why
    assert memory.recall.search("billing")[0].observation.tags == ("billing",)


def test_of_two_equal_memories_the_important_and_the_new_one_come_first(memory: Memory) -> None:
    text = "The cache of routes is cleared at night."
    old = memory.remember(text, type="gotcha")
    memory.clock.seconds += 200 * 86_400
    new = memory.remember(text, type="discovery")
    important = memory.remember(text, type="decision", importance=9)
    assert memory.found("when is the cache of routes cleared") == [important, new, old]


def test_what_was_learned_comes_before_the_digests_of_those_who_asked(memory: Memory, ids: dict[str, str]) -> None:
    query = "why does the connection pool hand out closed sockets after a timeout?"
    digests = []
    for n in range(1, 9):
        memory.clock.seconds += 60
        text = f"{query} ({n} min, 1 edit)\nAsked: {query}"
        digests.append(memory.remember(text, type="session_summary", session=f"s{n}"))
    other = memory.remember("Make the connection pool log closed sockets (1 edit)", type="session_summary")

    assert memory.found(query)[:2] == [ids["pool"], digests[-1]]
    assert set(memory.found(query)) & {*digests, other} == {digests[-1], other}
    assert memory.found(query, limit=1) == [ids["pool"]]


def test_a_memory_comes_before_the_digest_that_repeats_it(memory: Memory) -> None:
    learned = "`rake release` must be run from master, otherwise the tag is wrong."
    asked = "what's missing for the release?"
    text = f"{asked} (0 edits)\nAsked: {asked}\nLearned: {learned}"
    id = memory.remember(learned, session="s1")
    digest = memory.remember(text, type="session_summary", session="s1")
    assert memory.found("which branch do I release from") == [id, digest]


def test_a_digest_is_found_where_nothing_was_learned(memory: Memory, ids: dict[str, str]) -> None:
    digest = memory.remember("Move the cronjob to systemd timers (2 edits)", type="session_summary")

    assert memory.found("cronjob systemd timers")[0] == digest


def test_summaries_with_titles_of_their_own_are_told_apart(memory: Memory, ids: dict[str, str]) -> None:
    titles = ("Cronjobs became systemd timers", "Systemd timers of cronjobs were fixed")
    summaries = {memory.remember(f"{title}\nIt works.", type="session_summary") for title in titles}

    assert set(memory.found("cronjobs systemd timers")) >= summaries


def test_the_nearest_memories_of_one_mean_the_same(memory: Memory, ids: dict[str, str]) -> None:
    same = memory.remember("The pool of connections returns sockets that a timeout closed.")
    (nearest, similarity), (_, less) = memory.recall.nearest(memory.store.observation(same), 2)
    assert nearest.id == ids["pool"]
    assert 1.0 > similarity > less


def test_what_was_derived_by_another_version_is_derived_again(memory: Memory, ids: dict[str, str]) -> None:
    with memory.store.writing() as connection:
        connection.execute("UPDATE meta SET value = 'another' WHERE key = 'recall_made_by'")
        posting_db.delete_all(connection)
        vector_db.delete_others(connection, ["none"])
    assert memory.found("which time zone are dates stored in")[0] == ids["utc"]


def test_memories_of_a_file_are_found_until_their_code_is_gone(memory: Memory, ids: dict[str, str]) -> None:
    (memory.root / "pool.py").write_text("class Pool:\n    pass\n")
    memory.lifecycle.link(ids["pool"], link_to(memory.root, "pool.py"), PERSON)
    assert [found.observation.id for found in memory.recall.for_files(["pool.py", "other.py"])] == [ids["pool"]]
    assert memory.recall.for_files(["other.py"]) == []
    assert memory.recall.search("pool timeout sockets")[0].confidence == "high"
    (memory.root / "pool.py").unlink()
    assert memory.recall.for_files(["pool.py"]) == []
    found = memory.recall.search("pool timeout sockets")[0]
    assert (found.staleness.state, found.confidence) == ("gone", "medium")


def test_what_is_recalled_is_in_the_file_that_is_there_now(memory: Memory) -> None:
    memory.remember("The lions are fed at noon")
    assert len(memory.found("when are the lions fed")) == 1
    for file in (memory.root / ".cairn").glob("memory.db*"):
        file.unlink()
    assert memory.found("when are the lions fed") == []
    kept = memory.remember("The tigers are fed at dawn")
    assert memory.found("when are the tigers fed") == [kept]
