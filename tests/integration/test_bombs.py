"""A repository of files made to crash, stall or bloat a parser: each costs itself, and everything else is found."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cairn.errors import CairnError, UnknownSymbolError
from cairn.types import Skipped
from cairn.workspace import Workspace

BOMBS: dict[str, bytes] = {
    "dashes.yaml": b"- " * 300,
    "unclosed.py": b"(\n" * 200_000,
    "classes.py": b"".join(b" " * depth + b"class A%d:\n" % depth for depth in range(600)) + b" " * 600 + b"x = 1\n",
    "sum.py": b"def total():\n    return (\n" + b"        a +\n" * 20_000 + b"        a)\n",
    "elses.js": b"function f() {\n  if (a) { b(); }\n" + b"  else if (a) { b(); }\n" * 2_000 + b"}\n",
    "blocks.c": b"void f() {\n" + b"{\n" * 20_000 + b"}\n" * 20_000 + b"}\n",
    "types.ts": b"type A = " + b"Optional<\n" * 20_000,
    "quotes.md": b"> " * 5_000 + b"\n",
    "uses.rs": b"use a::{\n" * 5_000 + b"b" + b"}" * 5_000 + b";\n",
    "bases.py": b"".join(b"class A%d(A%d):\n    def m(self):\n        self.m()\n" % (n + 1, n) for n in range(1_500)),
    "chain.py": b"".join(b"def f%d():\n    f%d()\n" % (n, n + 1) for n in range(1_500)),
    "tsconfig.json": b"[\n" * 40_000,
}
ORDINARY = "def settle_the_account(amount):\n    return amount + 1\n"


def next_step(question: Callable[[], object]) -> str:
    """Return what the user is told to do next where a question fails, else that it was answered."""
    try:
        question()
    except CairnError as error:
        return error.hint
    return "answered"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bombs")
    for name, data in BOMBS.items():
        (folder / name).write_bytes(data)
    (folder / "ordinary.py").write_text(ORDINARY)
    return folder


def test_a_file_with_more_definitions_than_are_known_is_listed_with_what_was_left_out(tmp_path: Path) -> None:
    (tmp_path / "made.py").write_text("".join(f"V{number} = {number}\n" for number in range(20_001)))
    with Workspace.open(tmp_path) as workspace:
        told = Skipped("made.py", "only its first 20,000 definitions are known")
        assert told in workspace.index().skipped
        assert workspace.upkeep.status()["skipped"] == {told.path: told.reason}
        with pytest.raises(UnknownSymbolError, match="of 1 file only the first 20,000 definitions are known"):
            workspace.graph.callers("V20000")


def test_every_file_is_indexed_and_what_the_parser_gave_up_is_said_once_and_not_tried_again(root: Path) -> None:
    with Workspace.open(root) as workspace:
        report = workspace.index()
        told = Skipped("dashes.yaml", "searched as plain text: the grammar crashed on this file")
        assert report.files == len(BOMBS) + 1
        assert told in report.skipped
        assert [hit.path for hit in workspace.search("settle the account").code][:1] == ["ordinary.py"]
        started = time.process_time()
        assert workspace.index(full=True).files == report.files
        assert told in workspace.index().skipped
        assert time.process_time() - started < 30
    with Workspace.open(root) as workspace:
        outline = workspace.code.outline("dashes.yaml")
        assert any("the grammar crashed on this file" in note for note in outline.notes)


@pytest.mark.parametrize("name", BOMBS)
def test_every_question_about_such_a_file_has_an_answer_or_a_message(root: Path, name: str) -> None:
    with Workspace.open(root) as workspace:
        outline = workspace.code.outline(name, max_tokens=500)
        assert outline.text.startswith(name)
        for question in (
            lambda: workspace.code.outline(name, mode="extract", max_tokens=500),
            lambda: workspace.code.flow(name, "<module>"),
            lambda: workspace.code.slice(name, 1),
            lambda: workspace.fetch([f"{name}#1"]),
            lambda: workspace.similar(name, 1),
        ):
            assert next_step(question)


def test_graph_questions_are_answered_beside_such_files(root: Path) -> None:
    with Workspace.open(root) as workspace:
        workspace.index()
        assert len(workspace.graph.callers("f1000").links) == 1
        assert len(workspace.graph.impact("f1499").affected) >= 1_000
        workspace.graph.map()
        workspace.graph.dead_code()
        workspace.graph.import_cycles()


def test_else_if_chains_and_nested_statements_have_a_flow(root: Path) -> None:
    with Workspace.open(root) as workspace:
        flow = workspace.code.flow("elses.js", "f")
        assert sum(step.kind == "branch" for step in flow.control.steps) == 2_001
        assert workspace.code.flow("sum.py", "total").control.steps[1].access.reads == {"a"}
