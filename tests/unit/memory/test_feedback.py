from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from cairn.errors import NotFoundError
from cairn.index.state_dir import StateDir
from cairn.memory.feedback import MOST_SHOWN, REACH, REACH_SECONDS, Feedback, FetchedPlace
from cairn.memory.lifecycle import Lifecycle, NewMemory
from cairn.memory.moments import Moment, ToolCall
from cairn.memory.sessions import Sessions
from cairn.memory.store import By, MemoryStore
from cairn.memory.usage import erase_words
from cairn.memory_settings import MemorySettings
from cairn.storage.memory import feedback_db
from cairn.storage.memory.rows import AskedQuestion, HitUse, ShownHit
from memory_histories import START, Clock, begin_memory

SECRET = "ghp_" + "a8B2c9D4e7F1g6H3i5J0k2L8m4N9o1P7q3R5"
SESSION = "claude-code:s1"
DAY = 86_400.0
PERSON = By("person:ada", "person")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> MemoryStore:
    return begin_memory(tmp_path / "state", clock)


@pytest.fixture
def feedback(store: MemoryStore, clock: Clock) -> Feedback:
    return Feedback(store, MemorySettings(), clock)


@pytest.fixture
def sessions(store: MemoryStore, feedback: Feedback, clock: Clock) -> Sessions:
    return Sessions(store, Path("/p"), [feedback.hear], unheard=feedback.drop_muted, now=clock)


def _asked(text: str = "where is it", session: str = SESSION) -> AskedQuestion:
    return AskedQuestion(session, 0.0, "code", text, 2, 0.5, "http")


def _hits(*paths: str) -> list[ShownHit]:
    return [
        ShownHit(0, rank, f"c_0000000{rank:04}", path, 10, 20, f"name{rank}", 0.9) for rank, path in enumerate(paths, 1)
    ]


class Agent:
    """Reports what a session does, one second after the other."""

    def __init__(self, sessions: Sessions, clock: Clock, session: str = SESSION) -> None:
        self._sessions, self._clock, self._session, self._n_done = sessions, clock, session, 0

    def does(self, tool: str, target: str, **facts: object) -> None:
        self._tell("after-tool", call=ToolCall(tool, tool, target, "ok")._replace(**facts))  # type: ignore[arg-type] # a word for a literal

    def says(self, text: str) -> None:
        self._tell("turn-end", text=text)

    def _tell(self, event: str, text: str = "", call: ToolCall | None = None) -> None:
        self._clock.seconds += 1
        self._n_done += 1
        id = f"{self._session}{self._n_done}"
        self._sessions.record(Moment(id, event, self._session, "claude-code", self._clock.seconds, text, call))


@pytest.fixture
def agent(sessions: Sessions, clock: Clock) -> Agent:
    return Agent(sessions, clock)


def _uses(feedback: Feedback) -> list[tuple[str, str, str]]:
    return [(answered.question.text, use.path, use.use) for answered in feedback.answered() for use in answered.uses]


# -- what is kept ------------------------------------------------------------------------------------------------------


def test_what_an_answer_showed_is_kept_in_its_order(feedback: Feedback) -> None:
    feedback.note_answer(_asked(), _hits("a.py", "b.py"))
    (answered,) = feedback.answered()
    assert (answered.question.text, answered.question.surface, answered.question.seconds) == (
        "where is it",
        "http",
        START,
    )
    assert [(hit.rank, hit.path, hit.symbol) for hit in answered.shown] == [(1, "a.py", "name1"), (2, "b.py", "name2")]
    assert answered.uses == ()


def test_of_a_long_answer_the_first_hits_are_kept(feedback: Feedback) -> None:
    feedback.note_answer(_asked(), _hits(*(f"{number}.py" for number in range(500))))
    (answered,) = feedback.answered()
    assert len(answered.shown) == MOST_SHOWN


def test_no_secret_is_kept_of_a_question_its_paths_and_its_names(feedback: Feedback, tmp_path: Path) -> None:
    hits = [*_hits("a.py", f"keys/{SECRET}.py"), _hits("b.py")[0]._replace(rank=3, symbol=SECRET)]
    feedback.note_answer(_asked(f"who uses {SECRET}"), hits)
    feedback.note_fetched(SESSION, [FetchedPlace("", f"keys/{SECRET}.py"), FetchedPlace("", "b.py", SECRET)])
    (answered,) = feedback.answered()
    assert answered.question.text == "who uses [redacted: github-token]"
    assert [(hit.rank, hit.path) for hit in answered.shown] == [(1, "a.py"), (3, "b.py")]
    assert SECRET not in repr(answered)
    assert all(SECRET.encode() not in file.read_bytes() for file in (tmp_path / "state").iterdir() if file.is_file())


def test_half_characters_in_questions_and_paths_are_no_problem(feedback: Feedback) -> None:
    feedback.note_answer(_asked("half \udc80", session="\udc80"), _hits("a\udc80.py"))
    (answered,) = feedback.answered()
    assert answered.shown[0].path == "a?.py"


@pytest.mark.parametrize("settings", [MemorySettings(feedback=False), MemorySettings(capture=False)])
def test_nothing_is_kept_where_the_user_wants_none(
    settings: MemorySettings, store: MemoryStore, clock: Clock, sessions: Sessions
) -> None:
    feedback = Feedback(store, settings, clock)
    feedback.note_answer(_asked(), _hits("a.py"))
    feedback.note_fetched(SESSION, [FetchedPlace("", "a.py")])
    assert feedback.answered() == []


def test_nothing_is_created_where_there_is_no_memory(tmp_path: Path, clock: Clock) -> None:
    feedback = Feedback(MemoryStore(StateDir(tmp_path / "none"), now=clock), MemorySettings(), clock)
    feedback.note_answer(_asked(), _hits("a.py"))
    feedback.note_fetched("", [FetchedPlace("c_00000000001", "a.py")])
    assert (feedback.answered(), feedback.counts().n_asked) == ([], 0)
    with pytest.raises(NotFoundError):
        feedback.mark("a.py", "good")
    assert not (tmp_path / "none").exists()


def test_what_is_older_than_the_setting_says_is_dropped(store: MemoryStore, clock: Clock) -> None:
    feedback = Feedback(store, MemorySettings(feedback_days=10), clock)
    feedback.note_answer(_asked("old"), _hits("a.py"))
    clock.seconds += 11 * DAY
    feedback.note_answer(_asked("new"), _hits("b.py"))
    assert [answered.question.text for answered in feedback.answered()] == ["new"]
    with store.reading() as connection:
        assert connection.execute("SELECT count(*) FROM shown").fetchone() == (1,)


def test_a_question_that_memories_answered_loses_its_words_alone_while_these_count(
    store: MemoryStore, clock: Clock
) -> None:
    feedback = Feedback(store, MemorySettings(feedback_days=10), clock)
    feedback.note_answer(_asked("old"), _hits("a.py"), ["memory"])
    clock.seconds += 11 * DAY
    feedback.note_answer(_asked("new"), _hits("b.py"))
    with store.reading() as connection:
        assert connection.execute("SELECT text FROM question ORDER BY number").fetchall() == [("",), ("new",)]
        assert connection.execute("SELECT count(*) FROM answer").fetchone() == (1,)
    clock.seconds += 100 * DAY
    feedback.note_answer(_asked("newest"), [])
    with store.reading() as connection:
        assert connection.execute("SELECT text FROM question").fetchall() == [("newest",)]
        assert connection.execute("SELECT count(*) FROM answer").fetchone() == (0,)


def test_of_too_many_questions_the_newest_are_kept(feedback: Feedback, store: MemoryStore) -> None:
    for number in range(6):
        feedback.note_answer(_asked(f"question {number}"), _hits("a.py"))
    with store.writing() as connection:
        assert feedback_db.drop_old(connection, 0.0, 4, 0.0, 1_000) == 2
    assert [answered.question.text[-1] for answered in feedback.answered()] == ["5", "4", "3", "2"]


def test_the_tuning_that_answered_is_kept_with_the_question(store: MemoryStore, clock: Clock) -> None:
    feedback = Feedback(store, MemorySettings(), clock, tuning=lambda text: 7)
    feedback.note_answer(_asked(), _hits("a.py"))
    assert [answered.question.tuning for answered in feedback.answered()] == [7]


# -- what is done afterwards -------------------------------------------------------------------------------------------


def test_reading_editing_and_citing_what_was_shown_is_noted_once_each(feedback: Feedback, agent: Agent) -> None:
    feedback.note_answer(_asked(), _hits("src/a.py", "src/b.py", "src/c.py"))
    for _ in range(3):
        agent.does("read", "src/b.py")
    agent.does("edit", "./src/b.py")
    agent.does("write", "/p/src/c.py")
    agent.says("It was in `src/b.py:12`, not in other/src/a.pyc.")
    assert sorted(_uses(feedback)) == [
        ("where is it", "src/b.py", "cited"),
        ("where is it", "src/b.py", "edited"),
        ("where is it", "src/b.py", "read"),
        ("where is it", "src/c.py", "edited"),
    ]


def test_a_path_within_a_long_word_is_not_cited(feedback: Feedback, agent: Agent) -> None:
    feedback.note_answer(_asked(), _hits("a", "b"))
    agent.says("a/" * 9_000 + "b")
    assert _uses(feedback) == [("where is it", "b", "cited")]


def test_what_is_done_belongs_to_the_last_question_that_showed_the_file(feedback: Feedback, agent: Agent) -> None:
    feedback.note_answer(_asked("first"), _hits("a.py", "b.py"))
    feedback.note_answer(_asked("second"), _hits("b.py", "c.py"))
    for path in ("a.py", "b.py"):
        agent.does("read", path)
    assert sorted(_uses(feedback)) == [("first", "a.py", "read"), ("second", "b.py", "read")]


def test_a_file_that_was_not_shown_counts_for_the_last_question_if_it_is_read_soon_or_edited(
    feedback: Feedback, agent: Agent
) -> None:
    feedback.note_answer(_asked(), _hits("a.py"))
    agent.does("read", "hidden.py")
    for _ in range(REACH):
        agent.does("shell", "make")
    agent.does("read", "late.py")
    agent.does("edit", "late.py")
    assert _uses(feedback) == [("where is it", "hidden.py", "read"), ("where is it", "late.py", "edited")]


def test_what_is_done_hours_later_says_nothing_of_a_question(feedback: Feedback, agent: Agent, clock: Clock) -> None:
    feedback.note_answer(_asked(), _hits("a.py"))
    clock.seconds += REACH_SECONDS
    agent.does("edit", "a.py")
    assert _uses(feedback) == []


def test_what_failed_or_is_elsewhere_or_holds_a_secret_is_not_noted(feedback: Feedback, agent: Agent) -> None:
    feedback.note_answer(_asked(), _hits("a.py"))
    agent.does("edit", "a.py", outcome="denied")
    agent.does("read", "a.py", outcome="failed")
    for path in ("", "/etc/passwd", "../other/a.py", "~/a.py", f"keys/{SECRET}"):
        agent.does("read", path)
    assert _uses(feedback) == []


def test_what_another_session_does_is_not_noted(feedback: Feedback, sessions: Sessions, clock: Clock) -> None:
    feedback.note_answer(_asked(), _hits("a.py"))
    Agent(sessions, clock, "claude-code:s2").does("edit", "a.py")
    assert _uses(feedback) == []


@pytest.mark.parametrize(
    ("command", "use"),
    [
        ("cat src/a.py", ["read"]),
        ("sed -n 1,20p ./src/a.py | head", ["read"]),
        ("sed -i s/x/y/ src/a.py", ["edited"]),
        ("cat other-src/a.py.orig src/a.pyc", []),
        ("python src/a.py && git add src/a.py", []),
    ],
)
def test_a_command_that_names_a_file_that_was_shown_uses_it(
    feedback: Feedback, agent: Agent, command: str, use: Sequence[str]
) -> None:
    feedback.note_answer(_asked(), _hits("src/a.py"))
    agent.does("shell", command)
    assert _uses(feedback) == [("where is it", "src/a.py", name) for name in use]


def test_ten_thousand_outcomes_leave_a_bounded_trace(feedback: Feedback, store: MemoryStore, agent: Agent) -> None:
    feedback.note_answer(_asked(), _hits("a.py"))
    with store.writing() as connection:
        rows = [HitUse(1, f"{number}.py", "", "edited", START) for number in range(10_000)]
        feedback_db.add_uses(connection, rows)
    agent.does("edit", "one/more.py")
    assert len(_uses(feedback)) == feedback_db.MOST_USES
    feedback.mark("a.py", "good")
    assert ("where is it", "a.py", "good") in _uses(feedback)


# -- whose question it is ----------------------------------------------------------------------------------------------


def test_a_question_without_a_session_belongs_to_the_one_that_reports_the_call(
    feedback: Feedback, agent: Agent
) -> None:
    feedback.note_answer(_asked("how are routes added", session=""), _hits("a.py", "b.py"))
    feedback.note_answer(_asked("something else", session=""), _hits("a.py", "b.py"))
    agent.does("mcp", "how are routes added", name="mcp__cairn__search")
    agent.does("edit", "b.py")
    assert _uses(feedback) == [("how are routes added", "b.py", "edited")]
    assert [answered.question.session for answered in feedback.answered()] == ["", SESSION]


def test_a_question_asked_by_a_command_belongs_to_the_session_that_ran_it(feedback: Feedback, agent: Agent) -> None:
    feedback.note_answer(_asked("how are routes added", session=""), _hits("a.py", "b.py"))
    agent.does("shell", "grep -rn 'how are routes added'")
    agent.does("shell", "cairn search 'how are routes added' -n 5", exit_code=1)
    agent.does("read", "a.py")
    assert _uses(feedback) == [("how are routes added", "a.py", "read")]


def test_an_agents_own_id_of_its_session_is_known_without_the_agents_name(feedback: Feedback, agent: Agent) -> None:
    agent.does("shell", "make")
    feedback.note_answer(_asked(session="s1"), _hits("a.py"))
    assert [answered.question.session for answered in feedback.answered(session="s1")] == [SESSION]


def test_a_muted_session_leaves_nothing(feedback: Feedback, sessions: Sessions, agent: Agent) -> None:
    feedback.note_answer(_asked("before"), _hits("a.py"))
    agent.does("edit", "a.py")
    sessions.mute(SESSION)
    feedback.note_answer(_asked("after"), _hits("a.py"))
    feedback.note_answer(_asked("whose is this", session=""), _hits("a.py"))
    agent.does("mcp", "whose is this", name="mcp__cairn__search")
    agent.does("edit", "a.py")
    assert feedback.answered() == []
    assert feedback.counts().by_use == {}


def test_a_session_that_is_forgotten_takes_its_feedback_with_it(
    feedback: Feedback, sessions: Sessions, agent: Agent, store: MemoryStore
) -> None:
    feedback.note_answer(_asked(), _hits("a.py"))
    agent.does("edit", "a.py")
    sessions.forget(SESSION)
    with store.reading() as connection:
        for table in ("question", "shown", "outcome"):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)


def test_a_memory_that_is_erased_takes_the_questions_of_its_session_along(clock: Clock, tmp_path: Path) -> None:
    store = MemoryStore(StateDir(tmp_path / "erasing"), now=clock, forget=erase_words)
    feedback = Feedback(store, MemorySettings(), clock)
    lifecycle = Lifecycle(store)
    memory = lifecycle.remember(NewMemory("it is swordfish", session=SESSION), PERSON).observation
    feedback.note_answer(_asked("is it swordfish"), _hits("swordfish.py"))
    feedback.note_answer(_asked("of another", session="s2"), _hits("b.py"))
    feedback.mark("swordfish.py", "good")
    lifecycle.erase(memory.id, PERSON)
    assert [answered.question.text for answered in feedback.answered()] == ["of another"]
    store.close()
    assert all(b"swordfish" not in file.read_bytes() for file in (tmp_path / "erasing").iterdir() if file.is_file())


# -- what is fetched ---------------------------------------------------------------------------------------------------


def test_what_is_fetched_counts_for_the_last_question_that_showed_its_id(feedback: Feedback) -> None:
    first, second = _hits("a.py", "b.py")
    feedback.note_answer(_asked("first", session=""), [first, second])
    feedback.note_answer(_asked("second", session=""), [first])
    feedback.note_fetched("", [FetchedPlace(second.id, "b.py", "name2"), FetchedPlace("c_unknown", "c.py")])
    assert _uses(feedback) == [("first", "b.py", "fetched")]


def test_within_a_session_what_is_fetched_by_its_place_counts_too(feedback: Feedback) -> None:
    feedback.note_answer(_asked("of another", session="s9"), _hits("a.py"))
    feedback.note_answer(_asked("of this"), _hits("b.py"))
    feedback.note_fetched(SESSION, [FetchedPlace("", "b.py"), FetchedPlace("", "hidden.py")])
    assert _uses(feedback) == [("of this", "b.py", "fetched"), ("of this", "hidden.py", "fetched")]


def test_a_tool_that_is_handed_hits_alone_fetches_them(feedback: Feedback, agent: Agent) -> None:
    feedback.note_answer(_asked(), _hits("a.py", "b.py"))
    agent.does("mcp", "b.py:12 c_00000000001", name="mcp__cairn__fetch")
    agent.does("mcp", "what does b.py do", name="mcp__cairn__search")
    assert sorted(_uses(feedback)) == [("where is it", "a.py", "fetched"), ("where is it", "b.py", "fetched")]


# -- what is said ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["c_00000000002", "b.py", "b.py:10", "b.py:20-25"])
def test_a_hit_is_marked_by_its_id_or_its_place_in_the_last_answer_that_showed_it(
    feedback: Feedback, name: str
) -> None:
    feedback.note_answer(_asked("first"), _hits("a.py", "b.py"))
    feedback.note_answer(_asked("second", session="s2"), _hits("a.py", "b.py"))
    assert feedback.mark(name, "bad").question == "second"
    assert feedback.mark(name, "good").symbol == "name2"
    assert feedback.mark(name, "good", session=SESSION).question == "first"
    assert _uses(feedback) == [("second", "b.py", "good"), ("first", "b.py", "good")]


@pytest.mark.parametrize("name", ["c_99999999999", "b.py", "a.py:9", "a.py:21", "", "a.py:" + "9" * 50, "\0", SECRET])
def test_what_no_answer_showed_cannot_be_marked(feedback: Feedback, name: str) -> None:
    feedback.note_answer(_asked(), _hits("a.py"))
    with pytest.raises(NotFoundError):
        feedback.mark(name, "good")


def test_searches_that_found_nothing_are_listed_apart(feedback: Feedback, agent: Agent) -> None:
    feedback.note_answer(_asked("nothing")._replace(n_found=0), [])
    feedback.note_answer(_asked("something"), _hits("a.py"))
    agent.does("read", "a.py")
    assert [answered.question.text for answered in feedback.answered(empty_only=True)] == ["nothing"]
    counts = feedback.counts()
    assert (counts.n_asked, counts.n_empty, counts.n_used, counts.by_use) == (2, 1, 1, {"read": 1})


# -- several processes -------------------------------------------------------------------------------------------------

_NOTES = """
import sys
from pathlib import Path
from cairn.index.state_dir import StateDir
from cairn.memory.feedback import Feedback
from cairn.memory.store import By, MemoryStore
from cairn.memory.usage import erase_words
from cairn.memory_settings import MemorySettings
from cairn.storage.memory.rows import AskedQuestion, ShownHit
from cairn.errors import StoreLockedError

store = MemoryStore(StateDir(Path(sys.argv[1])))
feedback = Feedback(store, MemorySettings())
for number in range(30):
    asked = AskedQuestion(sys.argv[2], 0.0, "code", f"{sys.argv[2]} {number}", 1)
    while True:
        try:
            feedback.note_answer(asked, [ShownHit(0, 1, "", sys.argv[2], 1, 2, "", 0.5)])
            break
        except StoreLockedError:
            continue  # what cannot be noted at once is not noted; here it is tried again
store.close()
"""


def test_two_processes_note_at_once_and_each_question_keeps_its_own_hits(
    feedback: Feedback, store: MemoryStore, tmp_path: Path
) -> None:
    store.close()
    command = [sys.executable, "-c", _NOTES, str(tmp_path / "state")]
    both = [subprocess.Popen([*command, name]) for name in ("one", "two")]
    assert [process.wait(60) for process in both] == [0, 0]
    answered = feedback.answered()
    assert len(answered) == 60
    assert [[hit.path for hit in found.shown] for found in answered] == [[found.question.session] for found in answered]
    store.close()
