"""Answering uses of tools: in time, once, with what there is room for, and never with an error."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from cairn.hooks.adapter import Ability
from cairn.hooks.intercept import Interceptor
from cairn.hooks.occasion import Occasion, Offer
from cairn.hooks.report import SILENCE, Happening, Reply, ToolUse
from cairn.hooks.session_state import LastSearch, SessionState, SessionStates
from cairn.hooks_settings import HooksSettings
from cairn.memory.moments import Moment, ToolCall
from cairn.storage.memory.rows import ServedAnswer
from cairn.workspace import Workspace

BOTH: tuple[Ability, ...] = ("context", "denial")
DENIAL: tuple[Ability, ...] = ("denial",)
PATIENT = 20.0


class Says:
    """A part that says what it is told to."""

    def __init__(self, *replies: Reply, row: ServedAnswer | None = None) -> None:
        self.replies, self.row = list(replies), row
        self.occasions: list[Occasion] = []
        self.settled = 0

    def answer(self, occasion: Occasion, state: SessionState) -> Offer | None:
        self.occasions.append(occasion)
        return Offer(self.replies.pop(0), self.row, self._settle) if self.replies else None

    def _settle(self) -> None:
        self.settled += 1


class Waits:
    """A part that says nothing until it may."""

    def __init__(self) -> None:
        self.may = threading.Event()

    def answer(self, occasion: Occasion, state: SessionState) -> Offer | None:
        self.may.wait(PATIENT)
        return Offer(Reply("too late"))


class Fails:
    def answer(self, occasion: Occasion, state: SessionState) -> Offer | None:
        raise ZeroDivisionError


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    root = tmp_path / "project"
    root.mkdir()
    with Workspace.open(root, state_dir=tmp_path / "state") as workspace:
        yield workspace


def happening(id: str = "u1", event: str = "before-tool") -> Happening:
    session = "claude-code:s1"
    call = ToolCall("read", "Read", "a.py")
    moments = (Moment(f"{id}/{event}", event, session, "claude-code", 1_000.0, call=call),)
    return Happening(event, session, "", moments, ToolUse("read", "Read", "a.py", id=id))


def test_what_a_part_says_is_the_answer(workspace: Workspace) -> None:
    part = Says(Reply("hello"))
    answers = Interceptor(workspace, parts=[part], seconds=PATIENT)
    assert answers.before(happening(), BOTH) == Reply("hello")
    assert part.settled == 1
    (occasion,) = part.occasions
    assert (occasion.agent, occasion.path, occasion.can_see, occasion.is_over) == ("claude-code", "a.py", True, False)


def test_a_use_that_is_asked_about_twice_is_answered_the_same(workspace: Workspace) -> None:
    answers = Interceptor(workspace, parts=[Says(Reply("first"), Reply("second"))], seconds=PATIENT)
    assert [answers.before(happening(), BOTH).context for _ in range(3)] == ["first"] * 3
    assert answers.before(happening("u2"), BOTH) == Reply("second")


def test_a_use_whose_id_comes_again_later_is_another_use(workspace: Workspace) -> None:
    clock = [1_000.0]
    part = Says(Reply(denial="read it again"))
    answers = Interceptor(workspace, now=lambda: clock[0], parts=[part], seconds=PATIENT)
    assert answers.before(happening(), BOTH).denial
    clock[0] += 1.5
    assert answers.before(happening(), BOTH).denial
    clock[0] += 1.5
    assert answers.before(happening(), BOTH) == SILENCE


def test_many_threads_that_ask_about_one_use_get_one_answer(workspace: Workspace) -> None:
    answers = Interceptor(workspace, parts=[Says(*(Reply(str(number)) for number in range(50)))], seconds=PATIENT)
    got: list[str] = []
    threads = [threading.Thread(target=lambda: got.append(answers.before(happening(), BOTH).context)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == ["0"] * 6


def test_what_is_not_ready_in_time_is_left_out(workspace: Workspace) -> None:
    part = Waits()
    answers = Interceptor(workspace, parts=[part], seconds=0.01)
    assert answers.before(happening(), BOTH) == SILENCE
    part.may.set()
    answers.close()
    assert answers.before(happening(), BOTH) == SILENCE


@pytest.mark.parametrize(("is_lasting", "seconds", "expected"), [(True, 30, "late"), (True, 90, ""), (False, 30, "")])
def test_what_is_as_good_later_is_said_at_the_next_use(
    workspace: Workspace, *, is_lasting: bool, seconds: float, expected: str
) -> None:
    row = ServedAnswer("claude-code:s1", 1_000.0, "claude-code", "callers", False, "a.py", "", 0)
    may, is_done = threading.Event(), threading.Event()

    class Slow:
        def answer(self, occasion: Occasion, state: SessionState) -> Offer | None:
            if occasion.use.id != "u1":
                return None
            may.wait(PATIENT)
            return Offer(Reply("late"), row, is_done.set, is_lasting)

    hurried = Interceptor(workspace, parts=[Slow()], seconds=0.01)
    assert hurried.before(happening(), BOTH) == SILENCE
    may.set()
    patient = happening("u2")
    moment = patient.moments[0]._replace(seconds=1_000.0 + seconds)
    assert hurried.before(patient._replace(moments=(moment,)), DENIAL) == SILENCE
    replies: list[str] = []
    while len(replies) < (2_000 if expected else 50) and "late" not in replies:
        replies.append(hurried.before(happening(f"v{len(replies)}")._replace(moments=(moment,)), BOTH).context)
    assert {*replies, ""} == {expected, ""}
    assert is_done.wait(PATIENT if expected else 0.0) == bool(expected)


def test_a_part_that_fails_silences_the_answer_and_says_so_in_one_line(
    workspace: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    answers = Interceptor(workspace, parts=[Fails()], seconds=PATIENT)
    assert answers.before(happening(), BOTH) == SILENCE
    assert ["ZeroDivisionError" in record.getMessage() for record in caplog.records] == [True]


@pytest.mark.parametrize("use", [None, ToolUse("web", "WebFetch"), ToolUse("plan", "TodoWrite")])
def test_uses_that_are_about_no_code_are_answered_at_once(workspace: Workspace, use: ToolUse | None) -> None:
    answers = Interceptor(workspace, parts=[Says(Reply("never"))], seconds=PATIENT)
    assert answers.before(happening()._replace(use=use), BOTH) == SILENCE


def test_a_closed_interceptor_is_silent(workspace: Workspace) -> None:
    answers = Interceptor(workspace, parts=[Says(Reply("never"))], seconds=PATIENT)
    answers.close()
    assert answers.before(happening(), BOTH) == SILENCE


def test_what_several_parts_say_is_said_together(workspace: Workspace) -> None:
    answers = Interceptor(workspace, parts=[Says(Reply("one")), Says(), Says(Reply("two"))], seconds=PATIENT)
    assert answers.before(happening(), BOTH) == Reply("one\n\ntwo")
    parts = [Says(Reply("note")), Says(Reply(denial="no"))]
    assert Interceptor(workspace, parts=parts, seconds=PATIENT).before(happening(), BOTH) == Reply(denial="no\n\nnote")


def test_a_session_is_shown_no_more_than_it_has_room_for(workspace: Workspace) -> None:
    words = " word" * 60
    part = Says(Reply(words), Reply(words), Reply(denial=words))
    answers = Interceptor(workspace, HooksSettings(session_tokens=100), parts=[part], seconds=PATIENT)
    shown = [answers.before(happening(f"u{number}"), BOTH) for number in range(3)]
    assert shown == [Reply(words), SILENCE, Reply(denial=words)]
    assert part.settled == 2


def test_after_a_tool_a_part_knows_whether_the_use_was_asked_about_before(workspace: Workspace) -> None:
    part = Says()
    answers = Interceptor(workspace, parts=[part], seconds=PATIENT)
    answers.before(happening("u1"), BOTH)
    answers.after(happening("u1", "after-tool"), BOTH)
    answers.before(happening("u2"), DENIAL)
    answers.after(happening("u2", "after-tool"), BOTH)
    answers.before(happening(""), BOTH)
    answers.after(happening("", "after-tool"), BOTH)
    assert [occasion.was_asked for occasion in part.occasions] == [False, True, False, False, False, True]


def test_what_an_agent_was_shown_is_forgotten_when_it_no_longer_has_it() -> None:
    states = SessionStates()
    state, helper = states.of("s", "s"), states.of("s", "s/helper")
    for known in (state, helper):
        known.shown.put("a.py", "1")
        known.replaced.put("a.py", "1")
    state.edited.put("b.py", value=True)
    states.forget("s")
    assert states.of("s", "s") is state
    assert (state.shown.get("a.py"), state.replaced.get("a.py"), helper.shown.get("a.py")) == (None, "1", "1")
    assert helper.edited.get("b.py") is True
    states.drop("s", "s/helper")
    assert states.of("s", "s/helper").shown.get("a.py") is None
    states.drop("s", "s")
    assert states.of("s", "s").edited.get("b.py") is None


@pytest.mark.parametrize(
    ("event", "details", "is_known"),
    [
        ("session-start", {"source": "resume"}, True),
        ("session-start", {"source": "compact"}, False),
        ("before-compaction", {}, False),
        ("prompt", {}, True),
        ("session-end", {}, False),
    ],
)
def test_events_say_whether_an_agent_still_has_what_it_was_shown(
    workspace: Workspace, event: str, details: dict[str, str], is_known: bool
) -> None:
    seen: list[bool] = []

    class Looks:
        def answer(self, occasion: Occasion, state: SessionState) -> Offer | None:
            seen.append("a.py" in state.shown)
            state.shown.put("a.py", "1")
            return None

    answers = Interceptor(workspace, parts=[Looks()], seconds=PATIENT)
    answers.before(happening("u1"), BOTH)
    answers.hear(
        Happening(event, "claude-code:s1", "", (Moment("m", event, "claude-code:s1", "", 1.0, details=details),))
    )
    answers.before(happening("u2"), BOTH)
    assert seen == [False, is_known]


def test_a_thousand_sessions_take_bounded_memory() -> None:
    states = SessionStates(most=50)
    for number in range(1_000):
        state = states.of(f"s{number}", f"s{number}")
        for place in range(500):
            state.shown.put(f"{place}.py", "1")
    assert len(states) == 50
    assert len(state.shown) == 400


def test_a_search_is_remembered_for_half_a_minute() -> None:
    state = SessionState(search=LastSearch("x", (), 100.0))
    assert state.last_search(130.0) is state.search
    assert state.last_search(131.0) is None
