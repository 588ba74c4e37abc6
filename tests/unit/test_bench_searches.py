"""The measurement of what searches get, on a project that is small enough for a test."""

from __future__ import annotations

import random
from pathlib import Path

from cairn.workspace import Workspace
from metrics import Target
from searches import PATIENT, Case, Outcome, derive_cases, measure, report

MODULE = '''"""Things that shops do."""


def {name}_price(amount: int) -> int:
    """Return the price of so many."""
    if amount < 0:
        raise ValueError("there must be at least one {name} in the basket")
    return amount * 3


class {title}Basket:
    """Holds what somebody wants."""

    def add_{name}(self) -> int:
        """Add one more."""
        return {name}_price(1)
'''


def _case(text: str, *targets: Target) -> Outcome:
    return Outcome(Case("name", "rg x", targets), text, 1.0, 2.0)


def test_searches_derived_from_a_project_are_answered_from_it(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    root.mkdir()
    for name in ("pear", "plum", "grape"):
        (root / f"{name}.py").write_text(MODULE.format(name=name, title=name.title()))
    with Workspace.open(root, state_dir=tmp_path / "state") as workspace:
        workspace.index()
        question = "where is the price of pears computed", (Target("pear.py"),)
        cases = derive_cases(workspace, random.Random(1), [question])
        outcomes = measure(workspace, cases, PATIENT)
    wrong = [outcome for outcome in outcomes if not outcome.is_right and outcome.case.kind in ("name", "text")]
    assert wrong == []
    assert {outcome.case.kind for outcome in outcomes} == {"name", "text", "question", "nothing"}
    assert all(not outcome.text for outcome in outcomes if outcome.case.kind == "nothing")
    lines = report(outcomes).splitlines()
    assert [line.split("|")[1].strip() for line in lines[2:6]] == ["name", "text", "question", "nothing"]


def test_an_answer_is_right_if_it_shows_one_of_the_places_asked_for() -> None:
    text = "⟦cairn⟧ Definitions of `x`:\n| src/a.py:3-9 function x: def x()\n|   1 call: src/b.py:4 in y"
    assert _case(text, Target("src/a.py", 3, 9), Target("src/c.py")).is_right
    assert not _case(text, Target("src/b.py")).is_right
    assert not _case(text).is_right
    assert _case("").is_right
    assert not _case("", Target("src/a.py")).is_right
