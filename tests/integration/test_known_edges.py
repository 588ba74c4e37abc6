"""Relations are answered from stored edges, and are the same as if every file were resolved for the question."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from cairn.errors import CairnError
from cairn.graph.graph import Graph
from cairn.protocol.documents import graph_to_dict
from cairn.workspace import Workspace

FILES = {
    "shop/cart.py": (
        "from shop.base import Base\n\n\nclass Cart(Base):\n    def total(self):\n        return price()\n\n\n"
        "def price():\n    return 1\n"
    ),
    "shop/base.py": "class Base:\n    def total(self):\n        return 0\n\n    def prices(self):\n        return []\n",
    "shop/till.py": (
        "from shop.cart import Cart\nfrom shop.cart import price as cost\n\n\n"
        "def pay():\n    cost()\n    return Cart().total()\n"
    ),
    "web/money.js": "export default function format(sum) {\n  return sum;\n}\n",
    "web/page.js": 'import show from "./money.js";\n\nexport function page() {\n  return show(1);\n}\n',
    "web/list.js": 'import { page } from "./page.js";\n\nexport const list = () => page();\n',
}
RELATIONS = ("callers", "callees", "subclasses", "references", "importers", "impact", "choose_tests")
SYMBOLS = ("price", "shop/base.py:total", "Cart", "Base", "pay", "format", "page", "shop/base.py:prices")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


@pytest.fixture
def prepared(project: Path) -> Iterator[Workspace]:
    """A project with its edges stored, and none of them in memory."""
    with Workspace.open(project) as first:
        first.index()
        graph = first.graph.current()
        graph.network.save(first.state.graph(graph.code.view_id))
    with Workspace.open(project) as workspace:
        yield workspace


def answers(workspace: Workspace) -> dict[tuple[str, str], object]:
    """Return every relation of every symbol, as documents."""
    found: dict[tuple[str, str], object] = {}
    for relation in RELATIONS:
        for symbol in SYMBOLS:
            try:
                found[relation, symbol] = graph_to_dict(getattr(workspace.graph, relation)(symbol))
            except CairnError as error:
                found[relation, symbol] = str(error)
    return found


def answers_without_stored(project: Path, folder: Path) -> dict[tuple[str, str], object]:
    """Return the same of a copy whose edges nobody resolved before."""
    shutil.copytree(project, folder, ignore=shutil.ignore_patterns(".cairn"))
    with Workspace.open(folder) as workspace:
        workspace.index()
        return answers(workspace)


def stale(graph: Graph) -> set[str] | None:
    """Return the files that have to be resolved, None for all."""
    known = graph.connections.known
    return None if known is None else {graph.code.paths[number] for number in known.stale}


def test_relations_are_the_same_with_stored_edges(prepared: Workspace, project: Path, tmp_path: Path) -> None:
    assert stale(prepared.graph.current()) == set()
    found = answers(prepared)
    assert found == answers_without_stored(project, tmp_path / "copy")
    assert [link["line"] for link in found["callers", "price"]["links"]] == [6, 6]  # type: ignore[index] # a document


@pytest.mark.parametrize("update", [False, True])
def test_after_an_edit_the_edges_of_all_other_files_are_still_known(
    prepared: Workspace, project: Path, tmp_path: Path, *, update: bool
) -> None:
    text = FILES["shop/till.py"].replace("cost()\n", "cost()\n    price()\n").replace("    return", "\n    return")
    (project / "shop/till.py").write_text(text.replace("as cost", "as cost, price"))
    if update:
        prepared.index()
    assert stale(prepared.graph.current()) == {"shop/till.py"}
    expected = answers_without_stored(project, tmp_path / "copy")
    found = answers(prepared)
    if update:
        assert found == expected
    else:  # these also say that the file changed
        callers = [found["callers", "price"], expected["callers", "price"]]
        assert [[link["line"] for link in answer["links"]] for answer in callers] == [[6, 6, 7]] * 2  # type: ignore[index] # documents


def test_edges_that_another_process_stores_are_taken_over(project: Path) -> None:
    with Workspace.open(project) as workspace:
        workspace.index()
        assert workspace.graph.callers("price").links
        assert stale(workspace.graph.current()) is None
        with Workspace.open(project) as other:
            graph = other.graph.current()
            graph.network.save(other.state.graph(graph.code.view_id))
        assert stale(workspace.graph.current()) == set()
