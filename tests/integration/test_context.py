"""Contexts for a task and for results: the right code, each once, within the budget, and what is missing counted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cairn.errors import RequestError
from cairn.operations.context import context
from cairn.protocol.documents import ContextDocument
from cairn.protocol.requests import ContextRequest
from cairn.structure.context import CODE_SHARE
from cairn.workspace import Workspace

STEPS = "".join(f"    steps.append(wash_plate({number}))\n" for number in range(300))
FILES = {
    "money.py": 'def fee(amount):\n    """Return the fee of a payment."""\n    return amount\n',
    "cart.py": "from money import fee\n\n\ndef total():\n    return fee(1)\n",
    "kitchen.py": f"def wash_all_plates():\n    steps = []\n{STEPS}    return steps\n",
    "colour.py": "PALETTE = ['red', 'green']\n\n\ndef blend(left, right):\n    return left + right\n",
    "notes.txt": "".join(f"line {number} tells of anchors and harbours\n" for number in range(300)),
}


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    root = tmp_path / "project"
    root.mkdir()
    for path, text in FILES.items():
        (root / path).write_text(text)
    with Workspace.open(root) as opened:
        opened.index()
        yield opened


def ids_in(workspace: Workspace, path: str) -> tuple[str, ...]:
    """Return the ids of all chunks of a file."""
    hits = workspace.search(r"\w", mode="regex", globs=[path], limit=0).code
    return tuple(dict.fromkeys(hit.id for hit in hits))


def sizes(found: ContextDocument) -> int:
    return sum(item["tokens"] for item in found["items"])


def test_a_task_gets_the_definition_with_its_callers_and_not_what_is_unlikely(workspace: Workspace) -> None:
    found = context(workspace, ContextRequest(task="change the fee of a payment"))
    first = found["items"][0]
    assert (first["kind"], first["name"], first["filepath"], first["start_line"]) == ("function", "fee", "money.py", 1)
    assert "called by:\ncart.py:5 function total" in first["text"]
    assert "kitchen.py" not in {item["filepath"] for item in found["items"]}
    assert any(note.startswith("Left out as unlikely: ") for note in found["notes"])


def test_a_task_gets_no_list_of_former_changes_unless_it_is_about_these(workspace: Workspace) -> None:
    (workspace.root / "CHANGES.md").write_text(
        "# 2.0\n\n## Fixed\n\n- The fee of a payment is charged once, and the total of a cart has it.\n"
    )
    workspace.index()
    found = context(workspace, ContextRequest(task="change the fee of a payment"))
    assert {item["filepath"] for item in found["items"]}.isdisjoint({"CHANGES.md"})
    assert "Left out as lists of former changes: 1; a search shows them." in found["notes"]
    about = context(workspace, ContextRequest(task="say in the changelog that the fee of a payment changed"))
    assert "CHANGES.md" in {item["filepath"] for item in about["items"]}


def test_results_in_one_definition_share_an_item_that_has_its_name_and_lines(workspace: Workspace) -> None:
    ids = ids_in(workspace, "kitchen.py")
    assert len(ids) > 2
    found = context(workspace, ContextRequest(ids=ids, limit=50))
    (item,) = found["items"]
    assert (item["id"], item["name"], item["start_line"], item["end_line"]) == (ids[0], "wash_all_plates", 1, 303)
    assert found["omitted"] == 0


def test_a_result_far_into_a_long_definition_is_seen_however_small_the_budget(workspace: Workspace) -> None:
    last = ids_in(workspace, "kitchen.py")[-1]
    (hit,) = workspace.fetch([last])
    (item,) = context(workspace, ContextRequest(ids=(last,), max_tokens=400))["items"]
    assert "def wash_all_plates():" in item["text"]
    assert hit.text.splitlines()[0] in item["text"]


def test_text_outside_of_definitions_is_itself_the_context_and_loses_its_end(workspace: Workspace) -> None:
    (first, *_) = ids_in(workspace, "notes.txt")
    (hit,) = workspace.fetch([first])
    (whole,) = context(workspace, ContextRequest(ids=(first,)))["items"]
    assert (whole["text"], whole["start_line"], whole["end_line"]) == (hit.text, hit.start_line, hit.end_line)
    found = context(workspace, ContextRequest(ids=(first,), max_tokens=200))
    (item,) = found["items"]
    assert item["text"].endswith(f" lines: cairn fetch {first})")
    assert hit.text.startswith(item["text"].rpartition("\n")[0])
    assert found["tokens"] <= 200


@pytest.mark.parametrize("max_tokens", [0, 60, 250, 700, 3_000])
def test_an_answer_keeps_to_its_budget_and_counts_what_has_no_room(workspace: Workspace, max_tokens: int) -> None:
    ids = (*ids_in(workspace, "money.py"), *ids_in(workspace, "cart.py"), *ids_in(workspace, "colour.py"))
    found = context(workspace, ContextRequest(ids=ids, limit=50, max_tokens=max_tokens))
    assert sizes(found) <= found["tokens"] <= max_tokens
    places = {(item["filepath"], item["start_line"]) for item in found["items"]}
    everything = context(workspace, ContextRequest(ids=ids, limit=50))["items"]
    assert len(places) + found["omitted"] == len(everything)


def test_what_comes_first_may_take_most_of_the_budget(workspace: Workspace) -> None:
    ids = (ids_in(workspace, "kitchen.py")[0], *ids_in(workspace, "money.py"), *ids_in(workspace, "colour.py"))
    sizes = [item["tokens"] for item in context(workspace, ContextRequest(ids=ids, max_tokens=2_000))["items"]]
    assert len(sizes) > 2
    assert sizes[0] > CODE_SHARE * 2_000 / len(sizes)


def test_changed_files_are_looked_for_when_that_is_asked_for(workspace: Workspace) -> None:
    (workspace.root / "moon.py").write_text("def phase_of_the_moon(day):\n    return day % 29\n")
    names = [
        [item["name"] for item in context(workspace, ContextRequest(task="phase of the moon", update=update))["items"]]
        for update in (False, True)
    ]
    assert "phase_of_the_moon" not in names[0]
    assert names[1][0] == "phase_of_the_moon"


def test_nothing_relevant_is_an_empty_answer_that_says_so(workspace: Workspace) -> None:
    found = context(workspace, ContextRequest(task="zzqx"))
    assert (found["items"], found["omitted"], found["tokens"]) == ([], 0, 0)
    assert found["notes"] == ["Nothing relevant for 'zzqx' in 5 files."]


def test_a_request_without_any_or_with_both_is_refused_with_the_next_command(workspace: Workspace) -> None:
    for request in (ContextRequest(), ContextRequest(task="x", ids=("c_1",))):
        with pytest.raises(RequestError, match="give ids of results, or a task") as caught:
            context(workspace, request)
        assert caught.value.hint == "cairn context TASK"
