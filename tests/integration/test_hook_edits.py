"""What an agent is told after an edit: who calls the code that changed, from the graph of a real index, once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cairn.hooks.adapter import Ability
from cairn.hooks.intercept import Interceptor
from cairn.hooks.report import SILENCE, Happening, Reply, ToolUse
from cairn.hooks_settings import HooksSettings
from cairn.memory.moments import Moment, ToolCall
from cairn.memory.served import ServedAnswers
from cairn.workspace import Workspace
from small_projects import write_files

CONTEXT: tuple[Ability, ...] = ("context",)
PATIENT = 60.0
PRICES = """RATE = 2


def price(cents, rate=RATE):
    total = cents * rate
    return total


def label(cents):
    return f"{price(cents)} cents"


def unused(cents):
    return cents + 1


class Cart:
    def total(self):
        return price(3)
"""
SHOP = """from prices import Cart, label, price


def buy():
    return price(1), label(2)


def sell():
    return price(2)


def show():
    return Cart().total()
"""


class Editor:
    """An agent that edits files of an indexed project."""

    def __init__(self, workspace: Workspace, settings: HooksSettings | None = None) -> None:
        self.workspace = workspace
        self.answers = Interceptor(workspace, settings or HooksSettings(), seconds=PATIENT)
        self._n_uses = 0

    def edit(
        self,
        old: str,
        new: str,
        path: str = "prices.py",
        *,
        outcome: str = "ok",
        abilities: tuple[Ability, ...] = CONTEXT,
    ) -> Reply:
        file = self.workspace.root / path
        file.write_text(file.read_text().replace(old, new) if old else new)
        self._n_uses += 1
        tool = "edit" if old else "write"
        use = ToolUse(tool, tool.title(), path, edits=((old, new),), id=f"u{self._n_uses}")
        call = ToolCall(tool, use.name, path, outcome)
        moment = Moment(f"m{self._n_uses}", "after-tool", "codex:s1", "codex", 1_000.0, call=call)
        self.workspace.memory.sessions.record(moment)
        happening = Happening("after-tool", "codex:s1", str(self.workspace.root), (moment,), use)
        return self.answers.after(happening, abilities)


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    root = tmp_path / "shop"
    root.mkdir()
    (root / "prices.py").write_text(PRICES)
    (root / "shop.py").write_text(SHOP)
    with Workspace.open(root, state_dir=tmp_path / "state") as workspace:
        workspace.index()
        yield workspace


@pytest.fixture
def editor(workspace: Workspace) -> Iterator[Editor]:
    editor = Editor(workspace)
    yield editor
    editor.answers.close()


def test_callers_of_an_edited_function_are_named_with_their_lines(editor: Editor) -> None:
    text = editor.edit("total = cents * rate", "total = cents * rate + 1").context
    head, line = text.split("\n")
    assert head.endswith("What calls the code that was edited:")
    assert line.startswith("price has 4 callers: ")
    assert sorted(line.removeprefix("price has 4 callers: ").split("; ")) == [
        "prices.py:10 label", "prices.py:19 Cart.total", "shop.py:5 buy", "shop.py:9 sell"
    ]  # fmt: skip
    assert line.index("shop.py:5") < line.index("prices.py:10")  # the edited file itself comes last


def test_callers_are_named_where_they_are_now(editor: Editor) -> None:
    shop = editor.workspace.root / "shop.py"
    shop.write_text(f"import os\n\n\n{shop.read_text()}")
    assert "shop.py:8 buy; shop.py:12 sell" in editor.edit("total = cents", "total = 2 * cents").context


def test_callers_are_named_once_for_each_definition(editor: Editor) -> None:
    assert "price has" in editor.edit("total = cents", "total = 2 * cents").context
    assert editor.edit("2 * cents", "3 * cents") == SILENCE
    assert "label has 1 caller: shop.py:5 buy" in editor.edit("} cents", "} cent").context


def test_an_edit_of_several_definitions_names_the_callers_of_each(editor: Editor) -> None:
    old = 'return total\n\n\ndef label(cents):\n    return f"{price(cents)} cents"'
    text = editor.edit(old, old.replace("return total", "return -total").replace("} cents", "} ct")).context
    assert "price has 4 callers" in text
    assert "label has 1 caller" in text
    assert "unused" not in text


def test_lines_that_may_call_it_are_counted(editor: Editor) -> None:
    other = "from elsewhere import *\n\ndef run():\n    label(1)\n    label(2)\n"
    (editor.workspace.root / "other.py").write_text(other)
    editor.workspace.index()
    text = editor.edit("} cents", "} cent").context
    assert "label has 1 known caller: shop.py:5 buy; 2 more lines may call it" in text


def test_many_callers_are_counted(editor: Editor) -> None:
    callers = "".join(f"\n\ndef use_{number}():\n    return label({number})\n" for number in range(9))
    (editor.workspace.root / "shop.py").write_text(SHOP + callers)
    text = editor.edit("} cents", "} cent").context
    assert "label has 10 callers: " in text
    assert text.count("shop.py:") == 5
    assert "and 5 others: `graph` with relation=callers, symbol='prices.py:label'" in text


def test_callers_in_tests_come_after_the_others(editor: Editor) -> None:
    tests = "from prices import label\n" + "".join(f"\n\ndef test_{n}():\n    assert label({n})\n" for n in range(6))
    write_files(editor.workspace.root, {"a/test_labels.py": tests})
    editor.workspace.index()
    text = editor.edit("} cents", "} cent").context
    assert "label has 7 callers: shop.py:5 buy; a/test_labels.py:5 test_0; " in text


def test_calls_of_what_an_edited_method_implements_are_callers(editor: Editor) -> None:
    files = {
        "Till.java": "interface Till {\n  void open(int pin);\n}\n",
        "Steel.java": "class Steel implements Till {\n  public void open(int pin) { log(pin); }\n}\n",
        "Use.java": "class Use {\n  void use(Till till) { till.open(1); }\n}\n",
    }
    write_files(editor.workspace.root, files)
    editor.workspace.index()
    text = editor.edit("log(pin)", "log(-pin)", "Steel.java").context
    assert "Steel.open has 1 caller: Use.java:2 Use.use" in text


QUIET = [
    ("cents + 1", "cents + 2", "prices.py", "ok", CONTEXT),  # nothing calls it
    ("RATE = 2", "RATE = 3", "prices.py", "ok", CONTEXT),  # in no definition that is called
    ("total = cents", "total = 2 * cents", "prices.py", "failed", CONTEXT),
    ("total = cents", "total = 2 * cents", "prices.py", "denied", CONTEXT),
    ("total = cents", "total = 2 * cents", "prices.py", "ok", ()),
    ("    total = cents * rate\n", "", "prices.py", "ok", CONTEXT),  # nobody knows where that was
    ("", PRICES.replace("cents", "c"), "prices.py", "ok", CONTEXT),  # all of the file was written
    ("", "def f():\n    return 1\n", "new.py", "ok", CONTEXT),
]


@pytest.mark.parametrize(("old", "new", "path", "outcome", "abilities"), QUIET)
def test_nothing_is_said_of_edits_that_concern_nobody(
    editor: Editor, old: str, new: str, path: str, outcome: str, abilities: tuple[Ability, ...]
) -> None:
    assert editor.edit(old, new, path, outcome=outcome, abilities=abilities) == SILENCE


def test_callers_can_be_switched_off(workspace: Workspace) -> None:
    editor = Editor(workspace, HooksSettings(edits=False))
    assert editor.edit("total = cents", "total = 2 * cents") == SILENCE
    assert Editor(workspace, HooksSettings(session_tokens=5)).edit("2 * cents", "3 * cents") == SILENCE


def test_callers_are_a_cost_in_the_ledger(editor: Editor) -> None:
    editor.edit("total = cents", "total = 2 * cents")
    served = ServedAnswers(editor.workspace.memory.store, editor.workspace.memory.sessions)
    (row,) = served.known("codex:s1", "codex:s1").answers
    assert (row.kind, row.path, row.is_replacing, row.replaced_tokens) == ("callers", "prices.py", False, 0)
    assert row.tokens > 10


def test_without_an_index_nothing_is_said_and_none_is_made(tmp_path: Path) -> None:
    (tmp_path / "prices.py").write_text(PRICES)
    with Workspace.open(tmp_path) as workspace:
        editor = Editor(workspace)
        assert editor.edit("total = cents", "total = 2 * cents") == SILENCE
        assert not workspace.is_indexed
        editor.answers.close()
