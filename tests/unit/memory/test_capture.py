from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import capture as measured
from cairn.index.state_dir import StateDir
from cairn.memory.capture import Capture
from cairn.memory.lifecycle import Lifecycle
from cairn.memory.moments import Moment, ToolCall
from cairn.memory.sessions import Sessions
from cairn.memory.store import By, MemoryStore
from cairn.memory.usage import erase_words
from cairn.storage.memory import candidate_db
from cairn.storage.memory.observation_db import Conditions
from cairn.storage.memory.rows import CapturedCandidate, Observation
from cairn.storage.memory.schema import MEMORY

NOW = 1_760_000_000.0
FAILED = "FAILED tests/test_cart.py::test_total - assert 3 == 2"
PERSON = By("person:ada", "person")


class Project:
    """A project whose sessions are listened to; `restart` is what a daemon does."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "repo"
        (self.root / "src").mkdir(parents=True)
        (self.root / "src" / "cart.py").write_text("def total(): ...\n")
        (self.root / "src" / "user.py").write_text("def name(): ...\n")
        self.state = StateDir(folder / "state")
        self.number = 0
        self.restart()

    def restart(self) -> None:
        self.store = MemoryStore(self.state, forget=erase_words, now=lambda: NOW)
        self.lifecycle = Lifecycle(self.store, lambda: NOW)
        self.capture = Capture(self.store, self.lifecycle, self.root)
        self.sessions = Sessions(self.store, self.root, [self.capture.hear], now=lambda: NOW)

    def happen(self, event: str, session: str = "s1", text: str = "", call: ToolCall | None = None) -> None:
        self.number += 1
        moment = Moment(str(self.number), event, session, "claude-code", NOW, text, call, "topic", "c0ffee")
        self.sessions.record(moment)

    def run(self, command: str, output: str = "", exit_code: int = 0, session: str = "s1") -> None:
        self.happen("after-tool", session, call=ToolCall("shell", "Bash", command, exit_code=exit_code, output=output))

    def edit(self, path: str = "src/cart.py", session: str = "s1") -> None:
        self.happen("after-tool", session, call=ToolCall("edit", "Edit", str(self.root / path), "ok"))

    def fix(self, session: str = "s1", path: str = "src/cart.py") -> None:
        self.run("pytest", FAILED, 1, session)
        self.edit(path, session)
        self.run("pytest", session=session)

    def memories(self) -> list[Observation]:
        return self.store.select(Conditions())

    def candidates(self, session: str = "s1") -> list[CapturedCandidate]:
        with self.store.reading() as connection:
            return candidate_db.of_session(connection, session)

    def trail(self, session: str = "s1") -> str:
        with self.store.reading() as connection:
            return candidate_db.read_trail(connection, session)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    project = Project(tmp_path)
    yield project
    project.store.close()


def test_a_fix_is_remembered_with_its_file_as_it_is_now(project: Project) -> None:
    project.fix()
    (fix,) = project.memories()
    assert (fix.type, fix.origin, fix.actor) == ("bug_fix", "captured", "rule:capture")
    assert (fix.session, fix.branch, fix.revision) == ("s1", "topic", "c0ffee")
    assert [(link.path, bool(link.hash)) for link in fix.links] == [("src/cart.py", True)]
    assert {event.authority for event in project.store.history(fix.id)} == {"rule"}
    assert project.candidates() == []


def test_what_was_tried_is_known_after_a_restart(project: Project) -> None:
    project.run("pytest", FAILED, 1)
    project.store.close()
    project.restart()
    project.edit()
    project.store.close()
    project.restart()
    project.run("pytest")
    assert [fix.type for fix in project.memories()] == ["bug_fix"]


def test_a_moment_that_is_heard_twice_counts_once(project: Project) -> None:
    project.fix()
    project.number -= 1
    project.run("pytest")
    assert len(project.memories()) == 1


def test_the_same_fix_in_another_session_is_one_memory_with_the_files_of_both(project: Project) -> None:
    project.fix("s1")
    project.fix("s2", "src/user.py")
    (fix,) = project.memories()
    assert [link.path for link in fix.links] == ["src/cart.py", "src/user.py"]


def test_what_was_resolved_is_remembered_anew_when_it_happens_again(project: Project) -> None:
    project.fix("s1")
    project.lifecycle.resolve(project.memories()[0].id, PERSON)
    project.fix("s2")
    assert sorted(fix.status for fix in project.memories()) == ["active", "resolved"]


def test_what_is_not_sure_is_a_candidate_and_no_memory(project: Project) -> None:
    project.run("make docs", "mkdocs: error: no theme", 1)
    assert project.memories() == []
    (left,) = project.candidates()
    assert (left.outcome, left.type, left.text) == ("open", "gotcha", "`make docs` failed: no theme.")


def test_a_failure_that_two_sessions_leave_open_is_a_gotcha(project: Project) -> None:
    for session in ("s1", "s2"):
        project.run("make docs", "mkdocs: error: no theme", 1, session)
        project.happen("session-end", session)
    (gotcha,) = project.memories()
    assert (gotcha.type, gotcha.session) == ("gotcha", "s2")
    assert "no theme" in gotcha.text


def test_the_end_of_a_session_keeps_only_candidates_that_are_still_open(project: Project) -> None:
    project.edit()
    project.run("pytest", FAILED, 1)
    project.run("git checkout -- src/cart.py")
    project.run("pytest")
    project.run("make docs", "mkdocs: error: no theme", 1)
    project.happen("session-end")
    assert [left.text for left in project.candidates()] == ["`make docs` failed: no theme."]
    assert project.trail() == ""


def test_why_it_failed_is_added_to_the_fix_when_the_agent_says_so(project: Project) -> None:
    project.fix()
    project.happen("turn-end", text="Done. The root cause was that `total` counted the voucher twice.")
    (fix,) = project.memories()
    assert fix.text.endswith("Cause: The root cause was that `total` counted the voucher twice.")


@pytest.mark.parametrize("session", ["s1", "s2"])
@pytest.mark.parametrize(
    "said",
    [
        [f"we always run the upload client with {n} workers in production" for n in (4, 8)],
        [f"we always use {name} for installing packages in the frontend folder" for name in ("npm", "pnpm")],
        [f"we {word} mock the database of orders in the integration tests" for word in ("always", "never")],
    ],
)
def test_what_is_said_otherwise_in_one_word_is_another_statement(
    project: Project, session: str, said: list[str]
) -> None:
    project.happen("prompt", text=said[0])
    project.happen("prompt", session, text=said[1])
    project.happen("prompt", session, text=f"remember: {said[1]}")
    assert {memory.text for memory in project.memories()} >= set(said)


def test_a_cause_that_is_called_so_is_not_called_so_twice(project: Project) -> None:
    project.fix()
    project.happen("turn-end", text="Fixed.\n\nRoot cause: `total` counted the voucher of every cart twice.")
    (fix,) = project.memories()
    assert fix.text.endswith(" since. Cause: `total` counted the voucher of every cart twice.")


@pytest.mark.parametrize("lead", ["no, ", "btw ", "also: ", "Hey, by the way, ", "nope, that's wrong: ", ""])
def test_what_a_user_says_is_kept_without_what_leads_to_it(project: Project, lead: str) -> None:
    project.happen("prompt", text=f"{lead}we never put helpers in the `util` package")
    (rule,) = project.memories()
    assert rule.text == "we never put helpers in the `util` package"


def test_statements_of_users_and_agents_are_remembered_once(project: Project) -> None:
    rule = "Always run the migrations through `make migrate`, never call alembic directly."
    project.happen("prompt", text=f"Add a column. {rule}")
    project.happen("turn-end", text="We went with WAL mode in `src/cart.py` over a server because the CLI runs alone.")
    project.happen(
        "turn-end", text="As said: we went with WAL mode in `src/cart.py` over a server because the CLI runs alone."
    )
    decisions = {memory.text: memory for memory in project.memories()}
    assert len(decisions) == 2
    assert decisions[rule].importance == 8
    assert [link.path for memory in decisions.values() for link in memory.links] == ["src/cart.py"]


def test_what_a_user_states_is_told_apart_from_what_an_agent_does(project: Project) -> None:
    project.happen("prompt", text="we never mock the database in the integration tests")
    project.happen("turn-end", text="We decided to keep the cart in memory because sessions are short.")
    actors = {memory.text[:8]: memory.actor for memory in project.memories()}
    assert actors == {"we never": "rule:said-by-user", "We decid": "rule:capture"}


def test_what_a_notice_says_is_not_what_the_user_says(project: Project) -> None:
    project.happen("prompt", text="<task-notification>Always use pnpm in the frontend packages.</task-notification>")
    assert project.memories() == []


def test_secrets_are_neither_in_memories_nor_in_candidates_nor_in_what_was_tried(project: Project) -> None:
    secret = "gh" + "p_" + "a1B2c3D4e5" * 4
    project.run(f"deploy --key {secret}", f"deploy: error: {secret} is not valid", 1)
    assert "[redacted" in project.candidates()[0].text
    project.edit()
    project.run(f"deploy --key {secret}")
    assert project.memories()
    project.store.close()
    data = b"".join(path.read_bytes() for path in project.state.file_of(MEMORY).parent.glob("memory.db*"))
    assert secret.encode() not in data


def test_erasing_a_memory_leaves_none_of_its_words(project: Project) -> None:
    project.run("make docs", "mkdocs: error: no theme called zanzibar", 1)
    project.run("pytest", "FAILED tests/test_cart.py::test_total - assert 'zanzibar' == 2", 1)
    project.edit()
    project.run("pytest")
    project.happen("session-end")
    project.run("pytest", "FAILED tests/test_cart.py::test_total - assert 'zanzibar' == 2", 1, "s2")
    (fix,) = project.memories()
    project.lifecycle.erase(fix.id, PERSON)
    project.store.close()
    data = b"".join(path.read_bytes() for path in project.state.file_of(MEMORY).parent.glob("memory.db*"))
    assert b"zanzibar" not in data


def test_a_session_that_is_muted_leaves_neither_candidates_nor_what_was_tried(project: Project) -> None:
    project.run("make docs", "mkdocs: error: no theme", 1)
    project.sessions.mute("s1")
    project.fix()
    assert (project.memories(), project.candidates(), project.trail()) == ([], [], "")


def test_a_candidate_is_made_a_memory_or_dropped_by_whoever_decides(project: Project) -> None:
    by = By("machine:ollama:x", "rule")
    project.run("make docs", "mkdocs: error: no theme", 1)
    project.run("npm run e2e", "error: no browser", 1)
    first, second = project.capture.of_session("s1")
    project.capture.settle("s1", first.id, "discovery", by)
    project.capture.settle("s1", second.id, None, by)
    project.capture.settle("s1", 99, "gotcha", by)
    project.capture.settle("s2", first.id, "gotcha", by)
    (memory,) = project.memories()
    assert (memory.type, memory.text, memory.actor) == ("discovery", first.text, "machine:ollama:x")
    assert (memory.origin, memory.session, memory.branch) == ("captured", "s1", "topic")
    assert project.capture.of_session("s1") == []


def test_what_an_investigation_learns_matters_less(project: Project) -> None:
    for _ in range(7):
        project.happen("after-tool", call=ToolCall("read", "Read", "src/cart.py", "ok"))
    project.happen("turn-end", text="Watch out for `Cart.total`: it returns None both for an empty cart and an error.")
    assert [memory.importance for memory in project.memories()] == [5]


def test_replayed_sessions_leave_the_memories_that_a_person_expects(tmp_path: Path) -> None:
    replays = list(measured.replay_all(tmp_path, only=2))
    assert len(replays) >= 24
    assert {replay.agent for replay in replays} == set(measured.AGENTS)
    assert measured.precision(replays) >= 0.9
    assert measured.recall(replays) >= 0.7


def test_there_are_sixty_sessions_and_more() -> None:
    logs = [line for agent in measured.AGENTS for line in (measured.DATA / f"{agent}.jsonl").read_text().splitlines()]
    assert len(logs) >= 60


def links_of(memory: Observation) -> list[tuple[str, str]]:
    return [(link.path, link.symbol) for link in memory.links]


def test_a_statement_is_tied_to_the_definition_that_it_names_in_a_file_of_its_session(project: Project) -> None:
    (project.root / "src/user.py").write_text("class User:\n    def name(self):\n        return self.first\n")
    project.edit("src/cart.py")
    project.happen("after-tool", call=ToolCall("read", "Read", str(project.root / "src/user.py"), "ok"))
    project.happen("turn-end", text="Gotcha: `total` must be called before `User.name`, otherwise prices are stale.")
    (memory,) = project.memories()
    assert links_of(memory) == [("src/cart.py", "total"), ("src/user.py", "User.name")]


@pytest.mark.parametrize("name", ["Cart#total!", "Cart::total!", "Cart.total!"])
def test_a_statement_names_a_definition_as_its_language_does(project: Project, name: str) -> None:
    (project.root / "src/cart.rb").write_text("class Cart\n  def total!\n    1\n  end\nend\n")
    project.edit("src/cart.rb")
    project.happen("turn-end", text=f"Gotcha: `{name}` must be called twice, otherwise prices are stale.")
    (memory,) = project.memories()
    assert links_of(memory) == [("src/cart.rb", "Cart.total!")]


def test_a_statement_is_tied_to_nothing_that_its_session_did_not_look_at(project: Project) -> None:
    project.edit("src/cart.py")
    project.edit("src/gone.py")
    project.happen("turn-end", text="Gotcha: `name` must be called before `cart`, otherwise prices are stale.")
    (memory,) = project.memories()
    assert links_of(memory) == []


def test_a_statement_that_names_a_file_is_tied_to_that(project: Project) -> None:
    project.edit("src/cart.py")
    project.happen("turn-end", text="Gotcha: `total` of src/user.py must be called first, otherwise prices are stale.")
    (memory,) = project.memories()
    assert links_of(memory) == [("src/user.py", "")]


def test_what_a_linter_told_and_its_line_mended_is_of_little_importance(project: Project) -> None:
    project.run("cargo clippy", "error: unused variable: `x`\n --> src/cart.py:14:9", 101)
    project.edit()
    project.run("cargo clippy")
    assert [(memory.type, memory.importance) for memory in project.memories()] == [("bug_fix", 3)]
    project.fix()
    assert [memory.importance for memory in project.memories() if "pytest" in memory.text] == [6]


def test_a_statement_that_names_a_definition_and_its_file_is_tied_to_the_definition(project: Project) -> None:
    project.happen("turn-end", text="Watch out: `total` in src/cart.py returns 0 on overflow, silently.")
    project.happen("turn-end", text="Watch out: `missing` in src/user.py returns 0 on overflow, silently.")
    assert sorted(link for memory in project.memories() for link in links_of(memory)) == [
        ("src/cart.py", "total"),
        ("src/user.py", ""),
    ]


def test_what_a_user_wants_of_all_work_holds_on_every_branch(project: Project) -> None:
    project.happen("prompt", text="we never panic in library code, return errors instead.")
    project.happen("prompt", text="never call total in src/cart.py directly, use the cart instead.")
    project.happen("turn-end", text="I decided to truncate fractions because old configs rely on it.")
    assert {memory.text.split()[0]: memory.branch for memory in project.memories()} == {
        "we": "",
        "never": "topic",
        "I": "topic",
    }


def test_what_installs_is_a_remedy_and_no_other_way_to_run_the_tests(project: Project) -> None:
    project.run("pnpm test", "Error: Cannot find module '@vue/compiler-sfc'\n ELIFECYCLE  Test failed.", 1)
    project.run("pnpm install", "done")
    assert project.memories() == []
    project.run("pnpm test", "Tests 101 passed")
    (memory,) = project.memories()
    assert memory.text.endswith("It succeeds after `pnpm install`.")
