"""Of a file that others use without importing it, the importers say so, and never that nothing imports it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cairn.workspace import Workspace
from small_projects import write_files

FILES = {
    "cs/Price.cs": "namespace Shop.Core\n{\n    public class Price { public int Cents; }\n}\n",
    "cs/Cart.cs": "namespace Shop.Core\n{\n    class Cart\n    {\n        // Price comes later\n"
    "        Price total;\n    }\n}\n",
    "kt/Fee.kt": "package shop\n\nclass Fee(val cents: Int)\n",
    "kt/Till.kt": "package shop\n\nclass Till {\n    val fee: Fee? = null\n}\n",
    "java/shop/Bill.java": "package shop;\n\nclass Bill {\n    static int SUM = 1;\n}\n",
    "java/shop/Desk.java": "package shop;\n\nclass Desk {\n    int sum = Bill.SUM;\n}\n",
    "java/shop/Alone.java": "package shop;\n\n/** Like Bill. */\nclass Alone {\n}\n",
    "ex/ledger.ex": "defmodule Shop.Ledger do\n  def add(x), do: x\nend\n",
    "ex/book.ex": "defmodule Shop.Book do\n  def run(x), do: Shop.Ledger.add(x)\nend\n",
    "swift/Session.swift": "public class Session {\n    func start() {}\n}\n",
    "swift/Request.swift": "/// Comes from a `Session`.\nclass Request {\n    let session: Session\n}\n",
    "go/go.mod": "module example.org/shop\n",
    "go/shop/money.go": "package shop\n\nfunc Fee() int { return 1 }\n",
    "go/shop/cart.go": "package shop\n\nfunc Total() int { return Fee() }\n",
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("users")
    write_files(root, FILES)
    with Workspace.open(root) as opened:
        opened.index()
        yield opened


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("cs/Price.cs", "cs/Cart.cs:6"),
        ("kt/Fee.kt", "kt/Till.kt:4"),
        ("java/shop/Bill.java", "java/shop/Desk.java:4"),
        ("ex/ledger.ex", "ex/book.ex:2"),
        ("swift/Session.swift", "swift/Request.swift:3"),
        ("go/shop/money.go", "go/shop/cart.go:3"),
    ],
)
def test_files_that_use_one_without_importing_it_are_named(workspace: Workspace, path: str, place: str) -> None:
    answer = workspace.graph.importers(path)
    assert answer.importers == ()
    assert answer.unresolved is not None
    assert answer.unresolved.lines == 0
    assert answer.notes[0] == (
        f"No import of {path} is known, but 1 file uses what it defines without importing it: {place}; "
        f"see all that depend on it: cairn impact {path}"
    )


def test_nothing_imports_what_only_a_comment_names(workspace: Workspace) -> None:
    answer = workspace.graph.importers("java/shop/Alone.java")
    assert (answer.importers, answer.unresolved) == ((), None)
