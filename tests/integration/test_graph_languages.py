"""What each language's references are resolved to, on small projects as people write them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from cairn.graph.graph import Graph
from cairn.graph.nodes import file_of, place_of
from cairn.source.references import KINDS
from cairn.workspace import Workspace

FOLDERS = Path(__file__).parent / "projects"


class Project(NamedTuple):
    """The edges that the folder of this name must have at least, (from, to, kind, how), and pairs it must not."""

    edges: set[tuple[str, str, str, str]]
    absent: tuple[tuple[str, str], ...] = ()


def name_of(graph: Graph, node: int) -> str:
    path = graph.code.paths[file_of(node)]
    return f"{path}:{graph.code.definition(node).qualified_name}" if place_of(node) >= 0 else path


def edges_of(graph: Graph) -> set[tuple[str, str, str, str]]:
    """Return all edges of a project as (from, to, kind, how)."""
    return {
        (name_of(graph, edge.source), name_of(graph, edge.target), KINDS[edge.kind], edge.how.name.lower())
        for number in range(len(graph.code.paths))
        for edge in graph.resolver.edges(number)
    }


PROJECTS = {
    "python": Project(
        {
            ("app.py:run", "src/shop/base.py:Base.save", "call", "receiver"),
            ("app.py:run", "src/shop/cart.py:Cart", "construct", "import"),
            ("app.py:run", "src/shop/money.py:Purse.pay", "call", "receiver"),
            ("app.py:run", "src/shop/money.py:make", "call", "import"),
            ("src/shop/base.py:Base.save", "src/shop/base.py:Base.check", "call", "receiver"),
            ("src/shop/cart.py:Cart", "src/shop/base.py:Base", "inherit", "import"),
            ("src/shop/cart.py:Cart.check", "src/shop/base.py:Base.check", "call", "receiver"),
            ("src/shop/cart.py:Cart.check", "src/shop/money.py:Purse.pay", "call", "receiver"),
            ("src/shop/cart.py:Cart.check", "src/shop/money.py:fee", "call", "import"),
            ("src/shop/money.py:Purse.pay", "src/shop/money.py:fee", "call", "exact"),
        },
        # One definition of so common a name proves nothing.
        absent=(("app.py:run", "app.py:Other.get"),),
    ),
    "typescript": Project(
        {
            ("app/main.ts:App", "lib/base.ts:Base", "inherit", "import"),
            ("app/main.ts:App", "lib/base.ts:Closing", "implement", "import"),
            ("app/main.ts:App.close", "lib/base.ts:Base.start", "call", "receiver"),
            ("app/main.ts:App.close", "lib/log.ts:log", "call", "import"),
            ("app/main.ts:App.close", "packages/core/src/purse.ts:Purse.pay", "call", "receiver"),
            ("app/main.ts:App.run", "lib/log.ts:warn", "use", "import"),
            ("app/main.ts:App.run", "packages/core/src/open.ts:open", "call", "import"),
            ("app/main.ts:App.run", "packages/core/src/purse.ts:Purse.pay", "call", "receiver"),
            ("lib/log.ts:warn", "lib/log.ts:log", "call", "exact"),
            ("packages/core/src/open.ts:open", "packages/core/src/purse.ts:Purse", "construct", "import"),
        },
    ),
    "javascript": Project(
        {
            ("index.js:main", "lib/store.js:Store", "construct", "import"),
            ("index.js:main", "lib/store.js:Store.load", "call", "receiver"),
            ("index.js:main", "lib/util.js:pad", "call", "import"),
            ("index.js:main", "lib/util.js:trim", "call", "import"),
            ("lib/util.js:pad", "lib/util.js:trim", "call", "exact"),
            ("view.jsx:View", "card.jsx:Card", "call", "import"),
        },
    ),
    "go": Project(
        {
            ("cmd/main.go:app.run", "money/purse.go:Purse.Pay", "call", "receiver"),
            ("cmd/main.go:main", "cmd/main.go:app.run", "call", "receiver"),
            ("cmd/main.go:main", "money/check.go:Open", "call", "import"),
            ("money/check.go:Open", "money/purse.go:Purse", "construct", "import"),
            ("money/check.go:Purse.check", "money/check.go:fee", "call", "exact"),
            ("money/purse.go:Purse.Pay", "money/check.go:Purse.check", "call", "receiver"),
        },
    ),
    "java": Project(
        {
            ("src/org/shop/App.java:App", "src/org/shop/Base.java:Base", "inherit", "import"),
            ("src/org/shop/App.java:App.run", "src/org/shop/Base.java:Base.start", "call", "receiver"),
            ("src/org/shop/App.java:App.run", "src/org/shop/money/Purse.java:Purse.open", "call", "import"),
            ("src/org/shop/App.java:App.run", "src/org/shop/money/Purse.java:Purse.pay", "call", "receiver"),
            ("src/org/shop/App.java:App.stop", "src/org/shop/Base.java:Base.stop", "call", "receiver"),
            ("src/org/shop/Base.java:Base.start", "src/org/shop/Base.java:Base.stop", "call", "exact"),
        },
    ),
    "kotlin": Project(
        {
            ("src/app/App.kt:App", "src/app/App.kt:Base", "inherit", "exact"),
            ("src/app/App.kt:App.run", "src/money/Purse.kt:Purse", "construct", "import"),
            ("src/app/App.kt:App.run", "src/money/Purse.kt:Purse.pay", "call", "receiver"),
            ("src/app/App.kt:App.run", "src/money/Purse.kt:fee", "call", "import"),
            ("src/money/Purse.kt:Purse.pay", "src/money/Purse.kt:fee", "call", "exact"),
        },
    ),
    "csharp": Project(
        {
            ("App.cs:Shop.App", "App.cs:Shop.Base", "inherit", "exact"),
            ("App.cs:Shop.App.Go", "App.cs:Shop.Base.Begin", "call", "receiver"),
            ("App.cs:Shop.App.Go", "Money/Purse.cs:Purse.Pay", "call", "receiver"),
            ("Money/Purse.cs:Purse.Pay", "Money/Purse.cs:Purse.Fee", "call", "exact"),
        },
    ),
    "php": Project(
        {
            ("src/App.php:App", "src/Base.php:Base", "inherit", "import"),
            ("src/App.php:App", "src/Base.php:Closing", "implement", "import"),
            ("src/App.php:App.run", "src/Base.php:Base.begin", "call", "receiver"),
            ("src/App.php:App.run", "src/Money/Purse.php:Purse.open", "call", "import"),
            ("src/App.php:App.run", "src/Money/Purse.php:Purse.pay", "call", "receiver"),
            ("src/Money/Purse.php:Purse.pay", "src/Money/Purse.php:fee", "call", "exact"),
        },
    ),
    "ruby": Project(
        {
            ("lib/shop/app.rb:Shop.App", "lib/shop/app.rb:Shop.Loud", "implement", "exact"),
            ("lib/shop/app.rb:Shop.App.run_all", "lib/shop/app.rb:Shop.Loud.shout_it", "call", "exact"),
            ("lib/shop/app.rb:Shop.App.run_all", "lib/shop/purse.rb:Shop.Purse.pay", "call", "receiver"),
            ("lib/shop/purse.rb:Shop.Purse.pay", "lib/shop/purse.rb:Shop.Purse.check_funds", "call", "exact"),
        },
    ),
    "rust": Project(
        {
            ("src/app.rs:App", "src/app.rs:Closing", "implement", "exact"),
            ("src/app.rs:App.close", "src/money.rs:Purse.pay", "call", "receiver"),
            ("src/app.rs:run", "src/app.rs:App.close", "call", "receiver"),
            ("src/app.rs:run", "src/money.rs:Purse.open", "call", "import"),
            ("src/app.rs:run", "src/money.rs:Purse.pay", "call", "receiver"),
            ("src/app.rs:run", "src/money.rs:fee", "call", "import"),
            ("src/money.rs:Purse.fee_of", "src/money.rs:fee", "call", "exact"),
            ("src/money.rs:Purse.pay", "src/money.rs:Purse.fee_of", "call", "receiver"),
        },
    ),
    "cpp": Project(
        {
            ("src/app.cc:App", "include/purse.h:Purse", "inherit", "import"),
            ("src/app.cc:App.run", "src/purse.cc:Purse.pay", "call", "receiver"),
            ("src/app.cc:use_all", "src/purse.cc:Purse.pay", "call", "receiver"),
            ("src/purse.cc:Purse.pay", "src/purse.cc:Purse.fee_of", "call", "receiver"),
        },
    ),
    "c": Project(
        {
            ("list.c:list_push", "list.c:grow", "call", "exact"),
            ("main.c:main", "list.c:list_push", "call", "import"),
            ("main.c:main", "main.c:on_done", "use", "exact"),
        },
    ),
    "lua": Project(
        {
            ("a.lua:greet_all", "a.lua:say_hello", "call", "exact"),
            ("b.lua", "a.lua:greet_all", "call", "name"),
        },
    ),
    "dart": Project(
        {
            ("lib/src/cart.dart:Cart", "lib/src/cart.dart:Base", "inherit", "exact"),
            ("lib/src/cart.dart:Cart", "lib/src/cart.dart:Counted", "inherit", "exact"),
            ("lib/src/cart.dart:Cart", "lib/src/cart.dart:Priced", "implement", "exact"),
            ("lib/src/cart.dart:Cart", "lib/src/money.dart:Purse.of", "call", "import"),
            ("lib/src/cart.dart:Cart.Cart", "lib/src/cart.dart:Base", "construct", "receiver"),
            ("lib/src/cart.dart:Cart.checkOut", "lib/src/cart.dart:Base.start", "call", "exact"),
            ("lib/src/cart.dart:Cart.checkOut", "lib/src/cart.dart:Cart.total", "call", "exact"),
            ("lib/src/cart.dart:Cart.checkOut", "lib/src/cart.dart:Counted.countOne", "call", "exact"),
            ("lib/src/cart.dart:Cart.checkOut", "lib/src/cart.dart:show", "use", "exact"),
            ("lib/src/cart.dart:Cart.checkOut", "lib/src/cart_lines.dart:Line.price", "call", "receiver"),
            ("lib/src/cart.dart:Cart.checkOut", "lib/src/money.dart:Purse", "construct", "import"),
            ("lib/src/cart.dart:Cart.checkOut", "lib/src/money.dart:Purse.fill", "call", "receiver"),
            ("lib/src/cart.dart:Cart.checkOut", "lib/src/money.dart:Purse.pay", "call", "receiver"),
            ("lib/src/cart.dart:Cart.checkOut", "tool/lib/log.dart:log", "call", "import"),
            ("lib/src/cart.dart:Cart.total", "lib/src/cart.dart:load", "call", "exact"),
            ("lib/src/cart.dart:Counted.countOne", "lib/src/cart.dart:Counted._changed", "call", "exact"),
            ("lib/src/cart_lines.dart:Line.price", "lib/src/money.dart:fee", "call", "import"),
            ("lib/src/cart_lines.dart:addAll", "lib/src/cart.dart:Cart.checkOut", "call", "receiver"),
            ("lib/src/cart_lines.dart:addAll", "lib/src/cart.dart:show", "call", "import"),
            ("lib/src/cart_lines.dart:addAll", "lib/src/cart_lines.dart:Line", "construct", "exact"),
            ("lib/src/money.dart:Purse.of", "lib/src/money.dart:Purse", "construct", "exact"),
            ("lib/src/money.dart:Purse.pay", "lib/src/money.dart:fee", "call", "exact"),
            ("test/cart_test.dart:main", "lib/src/cart.dart:Cart", "construct", "import"),
            ("test/cart_test.dart:main", "lib/src/cart.dart:Cart.checkOut", "call", "receiver"),
        },
        # Other constructors of the type have names of their own.
        absent=(
            ("test/cart_test.dart:main", "lib/src/money.dart:Purse"),
            ("lib/src/cart.dart:Cart.checkOut", "lib/src/money.dart:Purse.empty"),
        ),
    ),
    "julia": Project(
        {
            ("src/cart.jl:checkout", "src/money.jl:fee", "call", "name"),
            ("src/cart.jl:checkout", "src/money.jl:pay", "call", "name"),
            ("src/money.jl:Purse", "src/money.jl:Account", "inherit", "exact"),
            ("src/money.jl:Purse.Purse", "src/money.jl:checked", "call", "exact"),
            ("src/money.jl:pay", "src/money.jl:Purse", "construct", "exact"),
            ("src/money.jl:pay", "src/money.jl:fee", "call", "exact"),
            ("test/runtests.jl:a cart is checked out", "src/cart.jl:checkout", "call", "import"),
            ("test/runtests.jl:a cart is checked out", "src/money.jl:fee", "call", "import"),
        },
        # The head of a definition reads like a call of it.
        absent=(
            ("src/money.jl:pay", "src/money.jl:pay"),
            ("src/money.jl:fee", "src/money.jl:fee"),
            ("src/money.jl:checked", "src/money.jl:checked"),
        ),
    ),
}


@pytest.mark.parametrize("language", PROJECTS)
def test_edges_into_a_definition_are_found_without_reading_every_file(language: str, tmp_path: Path) -> None:
    with Workspace.open(FOLDERS / language, state_dir=tmp_path) as workspace:
        workspace.index()
        expected: dict[int, set[tuple[int, int, int]]] = {}
        everything = workspace.graph.current()
        for number in range(len(everything.code.paths)):
            for edge in everything.resolver.edges(number):
                expected.setdefault(edge.target, set()).add((edge.source, edge.kind, edge.line))
    for target, edges in expected.items():
        with Workspace.open(FOLDERS / language, state_dir=tmp_path) as workspace:
            found = workspace.graph.current().incoming([target], range(len(KINDS)))
        assert {(edge.source, edge.kind, edge.line) for edge in found} == edges


@pytest.mark.parametrize("language", PROJECTS)
def test_references_lead_to_what_they_mean(language: str, tmp_path: Path) -> None:
    project = PROJECTS[language]
    with Workspace.open(FOLDERS / language, state_dir=tmp_path) as workspace:
        workspace.index()
        found = edges_of(workspace.graph.current())
    missing = project.edges - found
    assert not missing, sorted(found)
    assert not {(source, target) for source, target, _, _ in found} & set(project.absent)


def test_a_part_of_dart_and_its_library_are_no_cycle(tmp_path: Path) -> None:
    with Workspace.open(FOLDERS / "dart", state_dir=tmp_path) as workspace:
        workspace.index()
        importers = workspace.graph.importers("lib/src/cart.dart").importers
        assert workspace.graph.import_cycles().cycles == ()
    assert [importer.path for importer in importers] == ["lib/shop.dart", "lib/src/cart_lines.dart"]
