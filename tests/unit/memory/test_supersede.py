from __future__ import annotations

import time
from pathlib import Path

import pytest

import supersede as measured
from cairn.embedding.fingerprint import bundled_fingerprint
from cairn.errors import StoreError
from cairn.index.state_dir import StateDir
from cairn.memory.actors import SAID_BY_USER
from cairn.memory.derived import derive, embed
from cairn.memory.lifecycle import Lifecycle, NewMemory
from cairn.memory.recall import ACTIVE, Recall
from cairn.memory.store import By, MemoryStore
from cairn.memory.supersede import CALIBRATED, Supersession, Thresholds, thresholds_of
from cairn.memory_settings import MemorySettings
from cairn.storage.memory.rows import CodeLink, Observation
from memory_histories import Clock

AGENT, PERSON, RULE = By("agent:claude-code", "agent"), By("person:ada", "person"), By("rule:capture", "rule")
OLD = "Session.send follows redirects by default and drops the body of a POST."
SAME = "By default, Session.send follows redirects and drops the body of a POST."


class Memory:
    def __init__(self, folder: Path, settings: MemorySettings | None = None) -> None:
        self.clock = Clock()
        self.store = MemoryStore(StateDir(folder / "state"), derive, now=self.clock)
        recall = Recall(self.store, folder, None, now=self.clock)
        supersession = Supersession(self.store, recall.nearest, settings)
        self.lifecycle = Lifecycle(self.store, self.clock, supersession.apply)

    def keep(
        self, text: str, session: str, by: By = AGENT, type: str = "gotcha", branch: str = "", path: str = "src/a.py"
    ) -> str:
        self.clock.seconds += 60
        links = (CodeLink(path),) if path else ()
        draft = NewMemory(text, type, links=links, session=session, branch=branch)
        return self.lifecycle.remember(draft, by).observation.id

    def now(self, id: str) -> Observation:
        return self.store.observation(id)


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory(tmp_path)


def test_a_memory_that_says_the_same_in_a_later_session_takes_the_place_of_the_older(memory: Memory) -> None:
    old, new = memory.keep(OLD, "s1"), memory.keep(SAME, "s2")
    assert (memory.now(old).status, memory.now(old).superseded_by) == ("superseded", new)
    assert memory.now(new).status == "active"
    event = memory.store.history(old)[-1]
    assert (event.actor, event.authority) == ("rule:supersede", "rule")
    assert event.value["reason"].endswith("both are about src/a.py")


def test_memories_without_a_session_count_as_of_different_ones(memory: Memory) -> None:
    old, new = memory.keep(OLD, ""), memory.keep(SAME, "")
    assert memory.now(old).superseded_by == new


@pytest.mark.parametrize(
    "second",
    [
        {"session": "s1"},
        {"type": "decision"},
        {"text": "Session.send drops the headers of a GET, and logs a warning."},
        {"text": SAME.replace("send", "request")},
        {"by": RULE},
        {"branch": "feature"},
    ],
    ids=lambda fields: next(iter(fields)),
)
def test_a_memory_of_the_same_session_another_kind_subject_or_reach_leaves_the_older(
    memory: Memory, second: dict[str, str]
) -> None:
    old = memory.keep(OLD, "s1", branch="main")
    memory.keep(**{"text": SAME, "session": "s2", "branch": "main", **second})  # type: ignore[arg-type] # any mix of fields
    assert memory.now(old).status == "active"


def test_what_a_person_remembered_only_yields_to_a_person(memory: Memory) -> None:
    old = memory.keep(OLD, "s1", PERSON)
    memory.keep(SAME, "s2")
    assert memory.now(old).status == "active"
    new = memory.keep(f"Note: {SAME}", "s3", PERSON)
    assert memory.now(old).superseded_by == new


CORRECTIONS = [
    ("the request timeout is 120 s", "timeout for requests is 60 s now"),
    ("admin api listens on port 2019", "admin port is now 2020"),
    ("the pool size is 5", "correction: the pool size is 10, not 5"),
    ("the pool size is 5", "pool_size default was raised to 10"),
    ("always use npm here", "use pnpm from now on"),
    ("we use tabs for indentation", "we use spaces for indentation now"),
    ("deploys happen every friday", "we no longer deploy on fridays, its tuesday"),
    ("dont use testify in this repo", "testify is fine in this repo now"),
    ("we never use enums in this repo, plain objects with as const", "btw enums are fine in this repo now"),
    ("feature flags live in flags.yaml", "feature flags no longer live in flags.yaml, they are in the database"),
    (
        "We decided to keep the default of 5 threads, because MRI gains nothing from more.",
        "We decided to lower the default to 3 threads, because 5 was too many for small machines.",
    ),
    ("Uploads are limited to 10 MB.", "We agreed to raise the limit of uploads to 25 MB."),
    ("the batch size is 500 rows", "we reduced the batch size to 100 rows"),
    ("We decided to use Redis for the job queue.", "We decided to move the job queue from Redis to Postgres."),
    ("We decided to use Redis for the job queue.", "We decided to replace Redis with Postgres for the job queue."),
    ("the pool size is 5", "the pool size is 10"),
    ("The timeout is 30s, which nginx expects.", "the timeout is 1.5m, which nginx expects"),
    ("retries are 3 for uploads", "retries are 5 for uploads"),
    ("We use Mocha for the unit tests.", "We migrated the unit tests from Mocha to Vitest."),
]


@pytest.mark.parametrize(("before", "after"), CORRECTIONS)
@pytest.mark.parametrize("session", ["s1", "s2"])
def test_what_is_said_to_have_changed_takes_the_place_of_what_was_so_in_whatever_words(
    memory: Memory, before: str, after: str, session: str
) -> None:
    old = memory.keep(before, "s1", path="")
    new = memory.keep(after, session, type="decision")
    assert memory.now(old).superseded_by == new
    assert memory.store.history(old)[-1].value["reason"] == "the newer one says what changed"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("the read timeout is 120 s", "the write timeout is 60 s now"),
        ("the pool size is 5", "the pool size is 10 in tests now"),
        ("retries are 3 for uploads", "retries are 5 for downloads now"),
        ("the cache holds 100 entries for 30 s", "the cache holds 200 entries now"),
        ("npm scripts live in package.json", "use pnpm from now on"),
        ("use npm for publishing releases", "use pnpm from now on"),
        ("we use redis for sessions", "we switched from redis to memcached for the cache"),
        ("never deploy on fridays because on-call is off", "we no longer deploy from laptops"),
        ("handlers must not block", "handlers now must be async"),
        ("the batch size is 500 rows", "we decided to reduce the retry count to 3"),
        ("the pool of workers keeps 5 threads", "we need to reduce the pool of readers to 3 threads"),
        ("we use redis for the cache", "we decided to move the job queue from redis to postgres"),
        ("the test suite takes 12 seconds on Python 3.12", "the test suite takes 19 seconds on Python 3.8"),
        ("retries of issue 12 are 3", "retries of issue 13 are 5"),
        ("the port is 8080 in tests", "the port is 9090"),
        ("we always use npm in the frontend folder", "we always use pip in the frontend folder"),
        ("we always use npm in the frontend folder", "we always use pnpm in the backend folder"),
        ("retries are 3 for uploads", "retries are 5 for downloads"),
    ],
)
def test_what_changed_elsewhere_or_is_not_said_to_have_changed_leaves_the_older(
    memory: Memory, before: str, after: str
) -> None:
    old = memory.keep(before, "s1", path="")
    memory.keep(after, "s2", type="decision", path="")
    assert memory.now(old).status == "active"


def test_what_a_user_says_in_a_prompt_corrects_what_an_agent_remembered_and_not_what_a_person_did(
    memory: Memory,
) -> None:
    by_agent = memory.keep("the port is 8080", "s1", AGENT, path="")
    by_person = memory.keep("the port for metrics is 8081", "s1", PERSON, path="")
    new = memory.keep("the port is 9090", "s2", By(SAID_BY_USER, "rule"), path="")
    memory.keep("the port for metrics is 9091", "s2", By(SAID_BY_USER, "rule"), path="")
    assert memory.now(by_agent).superseded_by == new
    assert memory.now(by_person).status == "active"


def test_the_same_with_another_of_things_of_which_a_project_uses_one_takes_its_place(memory: Memory) -> None:
    old = memory.keep("we always use npm in the frontend folder", "s1", path="")
    new = memory.keep("We always use pnpm in the frontend folder.", "s1", path="")
    assert memory.now(old).superseded_by == new


def test_a_correction_of_another_file_or_of_less_authority_leaves_the_older(memory: Memory) -> None:
    before, after = CORRECTIONS[0]
    old = memory.keep(before, "s1", path="src/a.py")
    memory.keep(after, "s2", path="src/b.py")
    memory.keep(after, "s3", RULE)
    assert memory.now(old).status == "active"


def test_a_summary_of_a_session_replaces_none(memory: Memory) -> None:
    old = memory.keep(OLD, "s1", type="session_summary")
    memory.keep(SAME, "s2", type="session_summary")
    assert memory.now(old).status == "active"


def test_work_on_the_main_branch_takes_the_place_of_what_was_learned_on_another(memory: Memory) -> None:
    old, new = memory.keep(OLD, "s1", branch="feature"), memory.keep(SAME, "s2", branch="main")
    assert memory.now(old).superseded_by == new


@pytest.mark.parametrize(("path", "status"), [("src/a.py", "superseded"), ("src/b.py", "active"), ("", "active")])
def test_without_a_shared_file_more_similarity_is_needed(memory: Memory, path: str, status: str) -> None:
    old = memory.keep("On Windows fs_unlink deletes read-only files too, since it clears the attribute first.", "s1")
    memory.keep("fs_unlink removes read-only files on Windows: the attribute is cleared first.", "s2", path=path)
    assert memory.now(old).status == status


def test_what_the_rule_did_can_be_undone_and_stays_so(memory: Memory) -> None:
    old = memory.keep(OLD, "s1")
    memory.keep(SAME, "s2")
    assert memory.lifecycle.undo(old, PERSON).status == "active"
    n_events = len(memory.store.history(old))
    memory.keep(f"{SAME} Still so.", "s3")
    assert memory.now(old).status == "active"
    assert len(memory.store.history(old)) == n_events


def test_a_memory_that_an_agent_resolved_is_not_superseded(memory: Memory) -> None:
    old = memory.keep(OLD, "s1")
    memory.lifecycle.resolve(old, AGENT)
    memory.keep(SAME, "s2")
    assert memory.now(old).status == "resolved"


def test_only_the_five_nearest_are_superseded(memory: Memory) -> None:
    olds = [memory.keep(f"{OLD} {word}", "s1") for word in ("Yes.", "Indeed.", "Sure.", "Really.", "True.", "Right.")]
    memory.keep(OLD, "s2")
    statuses = [memory.now(old).status for old in olds]
    assert statuses.count("superseded") == 5


def test_if_the_older_cannot_be_marked_the_newer_is_not_kept(tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    old = memory.keep(OLD, "s1")

    def fail(_: Observation) -> list[Observation]:
        raise StoreError("the disk is full", "make room")

    failing = Lifecycle(memory.store, memory.clock, fail)
    with pytest.raises(StoreError):
        failing.remember(NewMemory("the cache is cold after a restart", "gotcha"), AGENT)
    assert [observation.id for observation in memory.store.select(ACTIVE)] == [old]
    other = memory.keep("The cache is warm after a restart of the service.", "s2")
    assert memory.now(other).status == "active"


def test_the_users_thresholds_count_and_the_bundled_model_is_calibrated(tmp_path: Path) -> None:
    assert bundled_fingerprint() in CALIBRATED
    assert thresholds_of("unknown", None) == Thresholds(0.85, 0.92)
    assert thresholds_of("unknown", MemorySettings(supersede=0.97)) == Thresholds(0.85, 0.97)
    memory = Memory(tmp_path, MemorySettings(supersede_same_file=1.0))
    old = memory.keep(OLD, "s1")
    memory.keep(f"{SAME} Still so.", "s2")
    assert memory.now(old).status == "active"


def test_at_least_95_of_100_that_the_rule_takes_are_labelled_as_superseding() -> None:
    judged = measured.read_pairs(measured.DATA, embed)
    taken = [pair for pair in judged if pair.similarity >= (0.85 if pair.shares_file else 0.92) and not pair.objections]
    right = [pair for pair in taken if pair.label == "supersedes"]
    assert len(judged) >= 300
    assert len(right) / len(taken) >= 0.95
    assert len(right) / sum(pair.label == "supersedes" for pair in judged) >= 0.6


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("timeouts are 60 seconds", "a request may take two minutes at most"),
        ("use tabs", "indent with spaces"),
        ("pull requests need two approvals", "one approval is enough for a pull request"),
    ],
)
def test_a_rule_that_decides_otherwise_takes_the_place_of_the_older_in_whatever_words(
    memory: Memory, old: str, new: str
) -> None:
    first = memory.keep(old, "s1", type="decision", path="")
    for number in range(30):
        memory.keep(f"a note on file {number}, which is read by module {number + 1}", "s1", type="decision", path="")
    second = memory.keep(new, "s1", type="gotcha", path="")
    assert memory.now(first).superseded_by == second
    assert memory.store.history(first)[-1].value["reason"].startswith("both decide the same (")


def test_what_a_user_said_yields_to_a_user_and_not_to_the_words_of_an_agent(memory: Memory) -> None:
    said = By(SAID_BY_USER, "rule")
    old = memory.keep("use tabs", "s1", said, "decision", path="")
    memory.keep("indent with spaces", "s2", RULE, "decision", path="")
    assert memory.now(old).status == "active"
    new = memory.keep("spaces only, no tabs", "s3", said, "decision", path="")
    assert memory.now(old).superseded_by == new


def test_rules_about_different_files_or_branches_leave_each_other(memory: Memory) -> None:
    old = memory.keep("use tabs", "s1", type="decision", path="a.py", branch="main")
    memory.keep("indent with spaces", "s2", type="decision", path="b.py")
    memory.keep("indent with spaces", "s2", type="decision", path="a.py", branch="feature")
    assert memory.now(old).status == "active"


def test_a_memory_from_a_clock_that_was_ahead_yields_to_what_is_said_now(memory: Memory) -> None:
    said = By(SAID_BY_USER, "rule")
    year = 365 * 86_400
    memory.clock.seconds = time.time() + year
    ahead = memory.keep("always use npm", "s1", said, "decision", path="")
    memory.clock.seconds = time.time() - 3_600
    new = memory.keep("always use yarn", "s2", said, "decision", path="")
    assert memory.now(ahead).superseded_by == new


def test_what_was_said_before_and_arrives_late_leaves_what_was_said_since(memory: Memory) -> None:
    memory.clock.seconds = time.time() - 3_600
    since = memory.keep("always use npm", "s1", type="decision", path="")
    memory.clock.seconds -= 1_800
    memory.keep("always use yarn", "s2", type="decision", path="")
    assert memory.now(since).status == "active"
