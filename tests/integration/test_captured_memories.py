from __future__ import annotations

from pathlib import Path

from cairn.memory.moments import Moment, ToolCall
from cairn.storage.memory.observation_db import Conditions
from cairn.workspace import Workspace

FAILED = "FAILED tests/test_cart.py::test_total - assert 3 == 2"


def test_what_agents_report_is_learned_from_and_recalled(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "cart.py").write_text("def total(): ...\n")
    calls = [
        ToolCall("shell", "Bash", "pytest", exit_code=1, output=FAILED),
        ToolCall("edit", "Edit", str(tmp_path / "src" / "cart.py"), "ok"),
        ToolCall("shell", "Bash", "pytest", exit_code=0, output="1 passed"),
    ]
    with Workspace.open(tmp_path) as workspace:
        memory = workspace.memory
        memory.take(Moment("0", "prompt", "s1", "codex", 0, text="The total of the cart is wrong."))
        for place, call in enumerate(calls, 1):
            memory.take(Moment(str(place), "after-tool", "s1", "codex", 0, call=call))
        memory.take(
            Moment("8", "turn-end", "s1", "codex", 0, text="The bug was that the voucher counted twice in `total`.")
        )
        memory.take(Moment("9", "session-end", "s1", "codex", 0))
        (fix,) = memory.store.select(Conditions(types=("bug_fix",)))
        (found, *_) = memory.recall.search("why did the total of the cart fail")
        (digest,) = memory.store.select(Conditions(types=("session_summary",)))
    assert [link.path for link in fix.links] == ["src/cart.py"]
    assert "the voucher counted twice" in fix.text
    assert found.observation.type in ("bug_fix", "session_summary")
    assert "pytest" in digest.text


def test_a_decision_that_was_changed_is_told_by_no_digest(tmp_path: Path) -> None:
    said = ["We decided to keep the default of 5 threads.", "We decided to lower the default to 3 threads."]
    with Workspace.open(tmp_path) as workspace:
        memory = workspace.memory
        for session, text in zip(("s1", "s2"), said, strict=True):
            memory.take(Moment("p", "prompt", session, "codex", 0, text="How many threads should the pool have?"))
            memory.take(Moment("t", "turn-end", session, "codex", 0, text=text))
            memory.take(Moment("e", "session-end", session, "codex", 0))
        (decision,) = memory.store.select(Conditions(types=("decision",), statuses=("active",)))
        found = memory.recall.search("default number of threads of the pool")
    assert decision.text == said[1]
    assert not [one for one in found if said[0] in one.observation.text]
