"""How sure Cairn must be to show something is tuned to a project, and can be taken back."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cairn.cli.main import main
from cairn.facets.bars import prompt_cases
from cairn.memory.moments import Moment
from cairn.optimize.bars import OF_USE
from cairn.optimize.examples import Example, WantedFile
from cairn.optimize.run import RunPlan
from cairn.search.tuning import Bars, Tuning, tuning_file
from cairn.workspace import Workspace

POOL = "The connection pool hands out closed sockets after a timeout; check is_alive before use."
# It calls for that memory with a chance of 0.76, where 0.45 is enough.
PROMPT = "the connection to the printer is slow after a timeout, please find out why that is"

NOUNS = [
    *("wallet", "harbour", "lantern", "orchard", "granary", "chimney"),
    *("turbine", "glacier", "meadow", "viaduct", "quarry", "sextant"),
]


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Workspace]:
    for name in ("wallet", "harbour", "lantern"):
        (tmp_path / f"{name}.py").write_text(f"class {name.title()}:\n    def open(self):\n        return 1\n")
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        yield workspace


def prompt(workspace: Workspace, number: int) -> str:
    """Put the prompt in a session of its own, and return what it brings."""
    moment = Moment(f"ask {number}", "prompt", f"claude-code:{number}", "claude-code", time.time(), PROMPT)
    return workspace.memory.take(moment).context


def test_memories_that_are_of_no_help_are_not_shown_any_more_until_that_is_taken_back(
    project: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    id = project.memory.remember(POOL).observation.id
    for number in range(110):
        assert "closed sockets" in prompt(project, number)
        project.memory.usage.note_use(f"claude-code:{number}", [id], "unhelpful")
    place = ["-C", str(project.root)]
    assert main([*place, "optimize", "run"]) == 0
    assert "bar of memories: better, -1.000 -> 0.000" in capsys.readouterr().out
    assert main([*place, "optimize", "apply", "1"]) == 0  # or a share of the prompts would get what they got before
    assert prompt(project, 200) == ""
    capsys.readouterr()
    assert main([*place, "optimize", "diff", "0", "1"]) == 0
    assert "bars.memories: shipped -> " in capsys.readouterr().out
    assert main([*place, "optimize", "rollback"]) == 0
    assert not tuning_file(project.state).exists()
    assert "closed sockets" in prompt(project, 201)


def test_answers_that_are_right_though_unsure_are_given_once_that_is_learned(tmp_path: Path) -> None:
    names = [f"{noun}{ending}" for noun in NOUNS for ending in ("", "box", "man", "yard")]
    for name in names:
        (tmp_path / f"{name}.py").write_text(f"class {name.title()}:\n    def open(self):\n        return 1\n")
    texts = [f"zorbe klimp trosk brint hutch {name} vanto quibb" for name in names]
    examples = [
        Example(f"{text} {turn}", (WantedFile(f"{name}.py"),), (), f"s{turn} {name[:4]}", float(turn), "feedback")
        for turn in range(3)
        for text, name in zip(texts, names, strict=True)
    ]
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        before = [bool(workspace.search(text).code) for text in texts]
        version = workspace.tuning.run(RunPlan(), given=examples)
        workspace.tuning.versions.apply(version.number)
        report = version.report["bars"]["answers"]
        assert (report["passed"], report["bar"]) == (True, 0.5)
        after = [bool(workspace.search(text).code) for text in texts]
        assert sum(after) > sum(before) + 5
        workspace.tuning.versions.roll_back()
        assert [bool(workspace.search(text).code) for text in texts] == before


def test_a_higher_bar_leaves_doubtful_answers_empty_and_definitions_alone(project: Workspace) -> None:
    doubtful = "where zorbe klimp opens and shuts trosk of lantern"
    assert project.search(doubtful).code
    versions = project.tuning.versions
    versions.apply(versions.add(Tuning(bars=Bars(answers=2.0)), "proposed", {}).number)
    assert not project.search(doubtful).code
    assert project.search("Lantern").code


def test_a_question_to_the_memory_says_what_a_prompt_called_for(project: Workspace) -> None:
    memory = project.memory
    id = memory.remember(POOL).observation.id
    unsure = "the pool of sockets should be configurable by an option of the command line"
    for number, asks in enumerate((True, False)):
        session = f"claude-code:{number}"
        assert memory.take(Moment(f"{number}", "prompt", session, "claude-code", time.time(), unsure)).context == ""
        if asks:
            memory.usage.note_question("memory", "closed sockets", 1, session=session, ids=[id])
    (case,) = prompt_cases(memory.store, memory.recall)
    assert (case.example.text, [file.path for file in case.example.wanted]) == (unsure, [id])
    assert [(one.worth, one.sureness < 1) for one in case.showables] == [(OF_USE, True)]
