"""Which definition a line means, where it is asked about as `PATH:LINE`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cairn.graph.symbols import find_symbol, symbol_of
from cairn.workspace import Workspace

FILES = {
    "d.py": (
        "import functools\n\n\nclass Box:\n    @property\n    def lid(self):\n        return 1\n\n"
        "    # Says what\n    # it does.\n    def open(self):\n        first = 1\n\n        @functools.lru_cache(\n"
        "            maxsize=3\n        )\n        def inner():\n            return first\n\n"
        "        return inner()\n\n\n@functools.lru_cache(\n    maxsize=3\n)\ndef top():\n    return 3\n"
    ),
    "H.hs": "module H where\naddIt :: Int -> Int\naddIt x = x + 1\n",
    "r.rs": "/// Says what it does.\n#[inline]\npub fn one() -> i32 {\n    1\n}\n",
    "e.ex": 'defmodule E do\n  @doc "a"\n  @spec one(integer) :: integer\n  def one(x), do: x\nend\n',
    "t.ts": "/**\n * Says what it does.\n */\nexport class K {\n  /** A method. */\n  m() {\n    return 1;\n  }\n}\n",
    "J.java": 'class J {\n  @Override\n  public String shown() {\n    return "1";\n  }\n}\n',
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("lines") / "project"
    root.mkdir()
    for path, text in FILES.items():
        (root / path).write_text(text)
    with Workspace.open(root) as opened:
        opened.index()
        yield opened


def meant(workspace: Workspace, text: str) -> str:
    graph = workspace.graph.current()
    (node,) = find_symbol(graph.code, graph.connection, text)
    return symbol_of(graph.code, node).name


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("d.py:5", "Box.lid"),
        ("d.py:9", "Box.open"),
        ("d.py:10", "Box.open"),
        ("d.py:14", "Box.open.inner"),
        ("d.py:15", "Box.open.inner"),
        ("d.py:23", "top"),
        ("d.py:24", "top"),
        ("H.hs:2", "addIt"),
        ("r.rs:1", "one"),
        ("r.rs:2", "one"),
        ("e.ex:2", "E.one"),
        ("e.ex:3", "E.one"),
        ("t.ts:2", "K"),
        ("t.ts:5", "K.m"),
        ("J.java:2", "J.shown"),
    ],
)
def test_a_line_of_a_comment_or_decorator_means_the_definition_below(
    workspace: Workspace, line: str, name: str
) -> None:
    assert meant(workspace, line) == name


@pytest.mark.parametrize(
    ("line", "name"), [("d.py:8", "Box"), ("d.py:12", "Box.open"), ("d.py:13", "Box.open"), ("d.py:1", "")]
)
def test_any_other_line_means_the_innermost_definition_around_it(workspace: Workspace, line: str, name: str) -> None:
    assert meant(workspace, line) == name


def test_a_line_of_a_changed_file_means_what_is_there_now(workspace: Workspace) -> None:
    file = workspace.root / "r.rs"
    file.write_text("pub fn zero() {}\n\n" + FILES["r.rs"])
    assert [meant(workspace, f"r.rs:{line}") for line in (1, 3, 4, 5)] == ["zero", "one", "one", "one"]
    file.write_text(FILES["r.rs"])
