"""A version of the tuning that ships is on trial: one that answers worse is rolled back by itself."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from cairn import waiting
from cairn.cli.main import main
from cairn.config import Settings
from cairn.facets.learning import what_is_due
from cairn.memory.feedback import FetchedPlace
from cairn.memory_settings import MemorySettings
from cairn.search.tuning import Tuning, tuning_file
from cairn.storage.memory.rows import AskedQuestion, ShownHit
from cairn.workspace import Workspace
from small_projects import THINGS, write_things

SLANG = {f"zorb{name[:3]}": name for name in THINGS}
FORMS = ("how does the {} start", "limits of the {}", "where is a {} closed", "why is the {} slow", "{} that expires")
# Each of these words leads to another file.
BAD = Tuning(1, expansions={name: ((THINGS[number - 1], 1.0),) for number, name in enumerate(THINGS)})
GOOD = Tuning(1, expansions={slang: ((name, 1.0),) for slang, name in SLANG.items()})


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Workspace]:
    write_things(tmp_path)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        workspace.memory.remember("there is something to remember")
        yield workspace


def ship(workspace: Workspace, tuning: Tuning) -> int:
    number = workspace.tuning.versions.add(tuning, "proposed", {}).number
    return workspace.tuning.versions.ship(number).number


def ask(workspace: Workspace, text: str, wanted: str, session: str) -> None:
    """Ask as an agent does that opens what it wants if that is among the first five."""
    feedback = workspace.memory.feedback
    hits = workspace.search(text, limit=5).code
    shown = [
        ShownHit(0, rank, hit.id, hit.path, hit.start_line, hit.end_line, hit.name, hit.relevance)
        for rank, hit in enumerate(hits, 1)
    ]
    feedback.note_answer(AskedQuestion(session, 0.0, "code", text, len(hits), 0.9, "mcp"), shown)
    found = [hit for hit in hits if hit.path == wanted][:1]
    feedback.note_fetched(session, [FetchedPlace(hit.id, hit.path, hit.name) for hit in found])


def use(workspace: Workspace, count: int, words: dict[str, str]) -> None:
    questions = itertools.islice(itertools.product(range(count), FORMS, words.items()), count)
    for number, (turn, form, (word, name)) in enumerate(questions):
        text = f"{form.format(word)} {THINGS[turn % 12]}" if turn else form.format(word)
        ask(workspace, text, f"{name}.py", f"sim:{number // 5}")


def test_a_version_that_answers_worse_is_rolled_back_by_itself(
    project: Workspace, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    ship(project, BAD)
    use(project, 40, {name: name for name in THINGS})
    assert project.tuning.check()["state"] == "running"
    use(project, 130, {name: name for name in THINGS})
    assert what_is_due(project._index, project.tuning) == "check"
    with caplog.at_level(logging.WARNING, "cairn.search"):
        trial = project.tuning.check()
    assert trial["state"] == "lost"
    assert trial["gain"]["high"] < 0
    assert not tuning_file(project.state).exists()
    assert "version 1 of the tuning rolled back by itself" in caplog.text
    assert project.tuning.versions.find(1).status == "rolled-back"
    place = ["-C", str(project.root)]
    assert main([*place, "optimize", "status"]) == 0
    assert main([*place, "optimize", "history"]) == 0
    assert capsys.readouterr().out.count("rolled back by itself: ") == 2
    assert what_is_due(project._index, project.tuning) == ""
    assert main([*place, "optimize", "check"]) == 1


def test_a_version_that_somebody_applies_while_another_is_judged_stays(project: Workspace) -> None:
    ship(project, BAD)
    use(project, 180, {name: name for name in THINGS})
    chosen = project.tuning.versions.add(GOOD, "refused", {}).number
    seen: list[int] = []

    def apply_once() -> bool:
        if not seen:
            seen.append(project.tuning.versions.apply(chosen).number)
        return True

    with waiting.limited(apply_once):
        assert project.tuning.check() == {"state": "none"}
    assert seen == [chosen]
    assert project.tuning.versions.active()[0].number == chosen
    assert [version.status for version in project.tuning.versions.list()] == ["active", "replaced"]


def test_a_version_that_answers_better_stays(project: Workspace) -> None:
    ship(project, GOOD)
    use(project, 180, SLANG)
    trial = project.tuning.check()
    assert (trial["state"], trial["gain"]["low"] > 0) == ("kept", True)
    tuning, _ = project.tuning.versions.active()
    assert (tuning.number, tuning.before) == (1, None)


def test_the_same_question_gets_the_same_answer_all_through_a_trial(project: Workspace) -> None:
    ship(project, BAD)
    texts = [form.format(name) for form in FORMS for name in THINGS]
    with Workspace.open(project.root) as other:
        for text in texts:
            answers = [[hit.path for hit in workspace.search(text).code] for workspace in (project, other, project)]
            assert answers[0] == answers[1] == answers[2]
    tuning, _ = project.tuning.versions.active()
    share = sum(tuning.for_question(text).number == 0 for text in texts) / len(texts)
    assert 0.1 < share < 0.4
    assert tuning.for_question(" Limits of  the wallet") == tuning.for_question("limits of the wallet")


def test_what_is_kept_of_a_question_says_which_version_answered_it(project: Workspace) -> None:
    ship(project, BAD)
    use(project, 60, {name: name for name in THINGS})
    tuning, _ = project.tuning.versions.active()
    asked = [one.question for one in project.memory.feedback.answered()]
    assert {question.tuning for question in asked} == {0, 1}
    assert all(question.tuning == tuning.for_question(question.text).number for question in asked)


def test_nothing_is_on_trial_where_no_feedback_is_kept(project: Workspace) -> None:
    ship(project, BAD)
    silent = Settings(memory=MemorySettings(feedback=False))
    texts = [form.format(name) for form in FORMS for name in THINGS]
    with Workspace.open(project.root, settings=silent) as workspace:
        firsts = [workspace.search(text).code[0].path for text in texts]
    project.tuning.versions.apply(1)
    assert firsts == [project.search(text).code[0].path for text in texts]


def test_a_version_that_somebody_applies_is_not_on_trial(project: Workspace) -> None:
    number = project.tuning.versions.add(BAD, "refused", {}).number
    project.tuning.versions.apply(number)
    assert project.tuning.check() == {"state": "none"}
    assert project.tuning.versions.active()[0].before is None
