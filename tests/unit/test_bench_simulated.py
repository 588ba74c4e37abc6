from __future__ import annotations

from pathlib import Path

import pytest

from cairn.optimize.from_feedback import from_feedback
from cairn.workspace import Workspace
from simulated_sessions import load_words, questions_of, say, simulate

CLASS = """<?php

class {name}
{{
    /**
     * {comment}.
     *
     * @return int
     */
    public function run{name}()
    {{
        return 1;
    }}
}}
"""
COMMENTS = {
    "Queue": "Push the queue job onto the database connection",
    "Cache": "Flush the cache store of the session driver",
    "Mail": "Send the mail notification of the user request",
    "Route": "Register the route middleware of the controller",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, comment in COMMENTS.items():
        (tmp_path / f"{name}.php").write_text(CLASS.format(name=name, comment=comment))
    return tmp_path


def test_questions_are_said_in_the_words_of_the_user() -> None:
    words = load_words()
    assert say("Push the queue jobs onto the database", words) == "push the conveyor errands onto the depot"
    assert say("Count how many things there are today", words) == ""


def test_every_word_of_the_user_is_one_and_stands_for_one() -> None:
    words = load_words()
    assert len(set(words.values())) == len(words) >= 60
    assert not set(words) & set(words.values())


def test_a_word_of_the_user_that_stands_in_the_project_is_an_error(root: Path) -> None:
    (root / "Other.php").write_text("<?php $conveyor = 1;\n")
    with pytest.raises(SystemExit, match="conveyor"):
        questions_of(root, load_words(), 1)


def test_people_ask_open_and_edit_and_that_makes_examples(root: Path) -> None:
    asked = questions_of(root, load_words(), 1)
    assert {question.path for question in asked} == {f"{name}.php" for name in COMMENTS}
    with Workspace.open(root) as workspace:
        workspace.index()
        simulate(workspace, asked, [question.path for question in asked], seed=1, n_sessions=2, of_a_session=2)
        answered = workspace.memory.feedback.answered()
        assert len(answered) == 4
        right = {question.text: question.path for question in asked}
        for example in from_feedback(answered).examples:
            assert right[example.text] in {file.path for file in example.wanted}
