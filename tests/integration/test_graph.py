"""Questions to the symbol graph of small projects, before and after they change."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cairn.errors import AmbiguousError, DiffError, IndexMissingError, UnknownSymbolError
from cairn.graph import questions
from cairn.graph.changes import change_since
from cairn.graph.cycles import find_cycles
from cairn.graph.dead import find_dead
from cairn.graph.graph import Graph
from cairn.graph.impact import choose_tests, impact
from cairn.graph.interface import same_interface
from cairn.graph.network import Network
from cairn.graph.nodes import file_of, place_of
from cairn.graph.ranking import repository_map
from cairn.graph.source_file import SourceFile
from cairn.graph.symbols import find_symbol
from cairn.graph.values import Links
from cairn.source.git import find_repository
from cairn.workspace import Workspace

Git = Callable[..., str]

FILES = {
    "shop/__init__.py": "from .cart import Cart\n",
    "shop/base.py": (
        "class Base:\n    def save(self):\n        return self.check()\n\n    def check(self):\n        return True\n"
    ),
    "shop/money.py": "def fee(sum):\n    return rounded(sum)\n\n\ndef rounded(sum):\n    return sum\n",
    "shop/cart.py": (
        "from shop.base import Base\nfrom shop.money import fee\n\n\nclass Cart(Base):\n"
        "    def __init__(self):\n        self.sum = 0\n\n    def check(self):\n        return fee(self.sum)\n"
    ),
    "shop/report.py": (
        "def report(cart):\n    return cart\n\n\ndef _forgotten():\n    return _also_forgotten()\n\n\n"
        "def _also_forgotten():\n    return 1\n"
    ),
    "app.py": (
        "from shop import Cart\nfrom shop.report import report\n\n\ndef run():\n    cart = Cart()\n    cart.save()\n"
        "    return report(cart)\n\n\nif __name__ == '__main__':\n    run()\n"
    ),
    "tests/test_cart.py": "from shop.cart import Cart\n\n\ndef test_check():\n    assert Cart().check() == 0\n",
    "tests/test_report.py": "from shop.report import report\n\n\ndef test_report():\n    assert report(1) == 1\n",
    "tests/test_other.py": "def test_nothing():\n    assert True\n",
}


def write(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    write(root, FILES)
    return root


@pytest.fixture
def workspace(project: Path) -> Iterator[Workspace]:
    with Workspace.open(project) as opened:
        opened.index()
        yield opened


def shown(links: Links) -> list[tuple[str, str, int]]:
    return [(link.symbol.name, link.how, link.line) for link in links.links]


def all_edges(graph: Graph) -> set[tuple[str, str, int, int, int]]:
    def name(node: int) -> str:
        path = graph.code.paths[file_of(node)]
        return f"{path}:{graph.code.definition(node).qualified_name}" if place_of(node) >= 0 else path

    return {
        (name(edge.source), name(edge.target), edge.kind, int(edge.how), edge.line)
        for number in range(len(graph.code.paths))
        for edge in graph.resolver.edges(number)
    }


def rebuilt(root: Path, elsewhere: Path) -> set[tuple[str, str, int, int, int]]:
    """Return the edges of a project as an index made from nothing gives them."""
    shutil.rmtree(elsewhere, ignore_errors=True)
    with Workspace.open(root, state_dir=elsewhere) as workspace:
        workspace.index()
        graph = workspace.graph.current()
        graph.code.load_all()
        return all_edges(graph)


# -- callers and callees ----------------------------------------------------------------------------------------------


def test_callers_are_given_with_the_line_of_the_call_and_how_it_was_resolved(workspace: Workspace) -> None:
    assert shown(questions.callers(workspace.graph.current(), "fee")) == [("Cart.check", "import", 10)]
    assert shown(questions.callers(workspace.graph.current(), "rounded")) == [("fee", "exact", 2)]
    assert shown(questions.callers(workspace.graph.current(), "Base.save")) == [("run", "receiver", 7)]


def test_functions_of_two_languages_with_one_name_are_told_apart(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "a.lua": "function greet_all(name)\n  return name\nend\n",
            "b.lua": "thing.greet_all('x')\n",
            "a.sol": "function greet_all(uint name) pure returns (uint) {\n    return name;\n}\n",
            "b.sol": "function run() pure {\n    thing.greet_all(1);\n}\n",
        },
    )
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        edges = {(source, target) for source, target, *_ in all_edges(workspace.graph.current())}
    assert edges == {("b.lua", "a.lua:greet_all"), ("b.sol:run", "a.sol:greet_all")}


def test_a_function_inside_another_is_called_by_nobody_outside(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "a.py": "def outer():\n    def tidy_up():\n        return 1\n    return tidy_up\n",
            "b.py": (
                "def run(thing):\n    thing.tidy_up()\n    thing.settle()\n\n\n"
                "class Till:\n    def settle(self):\n        return 1\n"
            ),
        },
    )
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        edges = [(source, target) for source, target, *_ in all_edges(workspace.graph.current())]
    assert "b.py:Till.settle" in {target for _, target in edges}
    assert ("b.py:run", "a.py:outer.tidy_up") not in edges


@pytest.mark.parametrize(
    ("files", "edge"),
    [
        (
            {
                "a.py": "class Runner:\n    def __call__(self):\n        return 1\n\n\n"
                "def main():\n    run = Runner()\n    run()\n"
            },
            ("a.py:main", "a.py:Runner.__call__"),
        ),
        (
            {
                "go.mod": "module shop\n",
                "a.go": "package shop\n\ntype Purse struct{}\n\nfunc (p Purse) PayAll() {}\n",
                "b.go": "package shop\n\nfunc run() {\n\tpurse := Purse{}\n\tpurse.PayAll()\n}\n\n"
                "func (c Card) PayAll() {}\n\ntype Card struct{}\n",
            },
            ("b.go:run", "a.go:Purse.PayAll"),
        ),
    ],
    ids=["an instance that is called", "a literal"],
)
def test_the_type_of_a_value_says_what_is_called(files: dict[str, str], edge: tuple[str, str], tmp_path: Path) -> None:
    write(tmp_path, files)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert edge in {(source, target) for source, target, *_ in all_edges(workspace.graph.current())}


def test_callers_of_a_default_export_are_found_under_the_names_they_give_it(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "lib/pad.js": "export default function widen(text) {\n  return text;\n}\n",
            "main.js": 'import fill from "./lib/pad";\n\nexport function run() {\n  return fill("x");\n}\n',
        },
    )
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
    with Workspace.open(tmp_path) as workspace:
        assert shown(questions.callers(workspace.graph.current(), "widen")) == [("run", "import", 4)]


def test_whoever_constructs_a_type_calls_its_constructor(workspace: Workspace) -> None:
    callers = questions.callers(workspace.graph.current(), "Cart.__init__")
    assert {(link.symbol.name, link.kind) for link in callers.links} == {
        ("run", "construct"),
        ("test_check", "construct"),
    }


def test_callees_of_a_type_are_those_of_its_methods(workspace: Workspace) -> None:
    assert shown(questions.callees(workspace.graph.current(), "Cart")) == [("fee", "import", 10)]
    assert [name for name, _, _ in shown(questions.callees(workspace.graph.current(), "run"))] == [
        "Cart",
        "Base.save",
        "report",
    ]


@pytest.mark.parametrize(("others", "callers"), [(0, ["use"]), (20_000, [])])
def test_of_a_deep_hierarchy_only_the_nearest_types_count_in_a_file_of_thousands(
    others: int, callers: list[str], tmp_path: Path
) -> None:
    chain = "class A0:\n    def settle(self): pass\n" + "".join(f"class A{n + 1}(A{n}): pass\n" for n in range(30))
    use = "class Other:\n    def settle(self): pass\ndef use():\n    A30().settle()\n"
    write(tmp_path, {"deep.py": chain + use + "".join(f"def other_{n}(): pass\n" for n in range(others))})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert [one.symbol.name for one in workspace.graph.callers("A0.settle").links] == callers


def test_a_limit_counts_what_it_leaves_out(workspace: Workspace) -> None:
    links = questions.callees(workspace.graph.current(), "run", 1)
    assert (len(links.links), links.omitted) == (1, 2)


def test_a_file_calls_what_its_top_level_calls(workspace: Workspace) -> None:
    assert shown(questions.callees(workspace.graph.current(), "app.py")) == [("run", "exact", 12)]


def test_a_function_that_calls_itself_is_its_own_caller(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "def walk(n):\n    return walk(n - 1)\n"})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert shown(questions.callers(workspace.graph.current(), "walk")) == [("walk", "exact", 2)]
        assert questions.call_path(workspace.graph.current(), "walk", "walk").steps


def test_a_parameter_shadows_a_function_of_the_same_name(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "def emit_all():\n    pass\n\n\ndef run(emit_all):\n    emit_all()\n"})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert questions.callers(workspace.graph.current(), "emit_all").links == ()


# -- naming a symbol --------------------------------------------------------------------------------------------------


def test_a_symbol_may_be_named_in_several_ways(workspace: Workspace) -> None:
    graph = workspace.graph.current()
    by_name = find_symbol(graph.code, graph.connection, "Cart.check")
    for text in (
        "shop/cart.py:check",
        "shop/cart.py:Cart.check",
        "cart.py:10",
        "shop/cart.py:9",
        "Cart::check",
        'File "/srv/shop/cart.py", line 9, in check',
    ):
        assert find_symbol(graph.code, graph.connection, text) == by_name
    (whole,) = find_symbol(graph.code, graph.connection, "shop/cart.py")
    assert place_of(whole) == -1


def test_the_id_of_a_hit_names_a_symbol(workspace: Workspace) -> None:
    (hit, *_) = workspace.search("Cart.check", mode="symbol").code
    assert workspace.graph.callees(hit.id) == workspace.graph.callees("Cart.check")


def test_an_ambiguous_name_lists_what_it_may_be(workspace: Workspace) -> None:
    graph = workspace.graph.current()
    with pytest.raises(AmbiguousError, match=r"shop/base.py:5 \(method Base.check\), shop/cart.py:9"):
        find_symbol(graph.code, graph.connection, "check")


def test_an_unknown_name_offers_the_nearest(workspace: Workspace) -> None:
    with pytest.raises(UnknownSymbolError) as caught:
        questions.callers(workspace.graph.current(), "ronded")
    assert "did you mean rounded" in caught.value.hint
    assert caught.value.exit_code == 1


def test_a_name_like_no_other_offers_a_search(workspace: Workspace) -> None:
    with pytest.raises(UnknownSymbolError) as caught:
        questions.callers(workspace.graph.current(), "Xylophone.qqq")
    assert caught.value.hint == "look for it: cairn search qqq"


def test_an_unknown_name_says_where_half_typed_code_has_it(workspace: Workspace) -> None:
    write(workspace.root, {"k.go": "package k\n\nfunc kTwo( {\n\treturn 1\n\nfunc kThree() int { return 2 }\n"})
    workspace.index()
    for text in ("kThree", "k.go:kThree"):
        with pytest.raises(UnknownSymbolError) as caught:
            questions.callers(workspace.graph.current(), text)
        where = "k.go:6 says it, in a file whose syntax is not understood from line 3 on"
        assert str(caught.value) == f"nothing is called {text!r} here; {where}"


def test_an_unknown_name_in_a_file_that_is_understood_is_only_unknown(workspace: Workspace) -> None:
    write(workspace.root, {"k.go": "package k\n\nfunc kTwo() int {\n\treturn kThree()\n}\n"})
    workspace.index()
    with pytest.raises(UnknownSymbolError) as caught:
        questions.callers(workspace.graph.current(), "kThree")
    assert str(caught.value) == "nothing is called 'kThree' here"


def test_a_project_that_was_never_indexed_says_so(tmp_path: Path) -> None:
    with Workspace.open(tmp_path) as workspace, pytest.raises(IndexMissingError):
        workspace.graph.current()


# -- ways and imports -------------------------------------------------------------------------------------------------


def test_the_shortest_way_of_calls_is_found(workspace: Workspace) -> None:
    found = questions.call_path(workspace.graph.current(), "Cart.check", "rounded")
    assert [(step.symbol.name, step.kind) for step in found.steps] == [
        ("Cart.check", "start"),
        ("fee", "call"),
        ("rounded", "call"),
    ]


def test_where_no_way_leads_there_are_no_steps(workspace: Workspace) -> None:
    assert questions.call_path(workspace.graph.current(), "rounded", "run").steps == ()


def test_a_way_does_not_lead_through_what_a_function_merely_contains(tmp_path: Path) -> None:
    nested = "def {}():\n    def inner():\n        target()\n    return 1\n\n\n"
    code = nested.format("first") + nested.format("second") + "def target():\n    pass\n\n\nclass Box:\n"
    write(tmp_path, {"ways.py": code + "    def open(self):\n        target()\n"})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        graph = workspace.graph.current()
        assert questions.call_path(graph, "first", "target").steps == ()
        assert questions.call_path(graph, "second", "target").steps == ()
        assert [step.symbol.name for step in questions.call_path(graph, "Box", "target").steps] == [
            "Box.open",
            "target",
        ]
        assert len(questions.call_path(graph, "ways.py", "target").steps) == 1  # the file contains it


@pytest.mark.parametrize(("line", "name"), [(1, ""), (2, "run"), (3, "run"), (5, "")])
def test_a_line_of_a_file_means_the_definition_on_it_or_the_file(tmp_path: Path, line: int, name: str) -> None:
    write(tmp_path, {"app.py": "import os\ndef run():\n    pass\n\nrun()\n"})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        (changed,) = workspace.graph.impact(f"app.py:{line}").changed[:1]
        assert (changed.path, changed.name) == ("app.py", name)
        with pytest.raises(UnknownSymbolError):
            workspace.graph.impact("app.py:0")


def test_importers_are_found_by_path_module_and_symbol(workspace: Workspace) -> None:
    for text in ("shop/cart.py", "shop.cart", "Cart"):
        found = questions.importers(workspace.graph.current(), text)
        assert [(one.path, one.line) for one in found.importers] == [("shop/__init__.py", 1), ("tests/test_cart.py", 1)]


def test_importers_of_files_are_found_whatever_characters_are_in_their_names(tmp_path: Path) -> None:
    names = ["tag-select", "user.service", "+page.server", "[id]", "two words", "@tab", "größe-x", ".hidden", "a_b-cD"]
    imports = {f"uses/u{n}.ts": f'import {{ one }} from "../lib/{name}";\n' for n, name in enumerate(names)}
    write(tmp_path, imports | {f"lib/{name}.ts": "export const one = 1;\n" for name in names})
    write(tmp_path, {"lib/all.ts": "".join(f'export * from "./{name}";\n' for name in names)})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        graph = workspace.graph.current()
        for n, name in enumerate(names):
            found = questions.importers(graph, f"lib/{name}.ts").importers
            assert [(one.path, one.line) for one in found] == [("lib/all.ts", n + 1), (f"uses/u{n}.ts", 1)]


def test_imports_for_types_and_inside_functions_are_told_apart(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "a.py": "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from target import X\n",
            "b.py": "def late():\n    from target import X\n    return X\n",
            "target.py": "class X:\n    pass\n",
        },
    )
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        found = questions.importers(workspace.graph.current(), "target.py").importers
    assert [(one.path, one.typing_only, one.deferred) for one in found] == [
        ("a.py", True, False),
        ("b.py", False, True),
    ]


# -- after an edit ----------------------------------------------------------------------------------------------------


def test_a_callee_that_moves_keeps_its_callers(project: Path, workspace: Workspace, tmp_path: Path) -> None:
    write(project, {"shop/coins.py": FILES["shop/money.py"], "shop/money.py": "from shop.coins import fee\n"})
    workspace.index()
    callers = questions.callers(workspace.graph.current(), "fee")
    assert callers.symbol.path == "shop/coins.py"
    assert shown(callers) == [("Cart.check", "import", 10)]
    assert all_edges(workspace.graph.current()) == rebuilt(project, tmp_path / "fresh")


def test_a_renamed_callee_loses_its_callers_and_the_new_name_gains_them(project: Path, workspace: Workspace) -> None:
    write(project, {"shop/money.py": FILES["shop/money.py"].replace("fee", "cost")})
    workspace.index()
    assert questions.callers(workspace.graph.current(), "cost").links == ()
    write(project, {"shop/cart.py": FILES["shop/cart.py"].replace("fee", "cost")})
    workspace.index()
    assert shown(questions.callers(workspace.graph.current(), "cost")) == [("Cart.check", "import", 10)]


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("shop/money.py", "def fee(sum):", "def added():\n    pass\n\n\ndef fee(sum):"),
        ("shop/base.py", "def save", "def store"),
        ("shop/cart.py", "class Cart(Base)", "class Cart"),
        ("shop/__init__.py", "from .cart import Cart", "from .cart import Cart as Basket"),
        ("shop/report.py", "return cart", "return _forgotten()"),
        ("app.py", "cart.save()", "cart.check()"),
    ],
)
def test_after_an_edit_the_graph_is_what_a_rebuild_gives(
    project: Path, workspace: Workspace, tmp_path: Path, path: str, before: str, after: str
) -> None:
    graph = workspace.graph.current()
    graph.code.load_all()
    old = all_edges(graph)
    assert before in FILES[path]
    write(project, {path: FILES[path].replace(before, after)})
    expected = rebuilt(project, tmp_path / "fresh")
    assert all_edges(workspace.graph.current()) == expected  # read from disk, the index not being updated
    workspace.index()
    assert all_edges(workspace.graph.current()) == expected
    assert expected != old


def test_a_file_edited_a_moment_ago_is_read_as_it_is_and_marked(project: Path, workspace: Workspace) -> None:
    write(project, {"shop/money.py": "\n\n" + FILES["shop/money.py"]})
    callers = questions.callers(workspace.graph.current(), "rounded")
    assert shown(callers) == [("fee", "exact", 4)]
    assert callers.symbol.stale
    assert callers.symbol.line == 7


def test_a_deleted_file_calls_nothing(project: Path, workspace: Workspace) -> None:
    assert questions.callers(workspace.graph.current(), "fee").links
    (project / "shop/cart.py").unlink()
    assert questions.callers(workspace.graph.current(), "fee").links == ()


def test_facts_are_stored_with_their_blob_and_found_again(project: Path, workspace: Workspace) -> None:
    first = all_edges(workspace.graph.current())
    with Workspace.open(project) as again:
        graph = again.graph.current()
        graph.code.load_all()
        stored = graph.connection.execute("SELECT count(*) FROM facts").fetchone()[0]
        assert stored == len(FILES)
        assert all_edges(graph) == first


def test_facts_of_another_version_are_found_anew(project: Path, workspace: Workspace) -> None:
    first = all_edges(workspace.graph.current())
    with Workspace.open(project) as again:
        connection = again.graph.current().connection
        connection.execute("UPDATE facts SET data = x'00'")
        assert all_edges(again.graph.current()) == first


def test_facts_go_with_their_blob(project: Path, workspace: Workspace) -> None:
    graph = workspace.graph.current()
    graph.code.load_all()
    workspace.index(full=True)
    assert workspace.graph.current().connection.execute("SELECT count(*) FROM facts").fetchone()[0] == 0


# -- what a change may break ------------------------------------------------------------------------------------------


def test_impact_follows_callers_over_any_number_of_steps(workspace: Workspace) -> None:
    graph = workspace.graph.current()
    found = impact(graph, find_symbol(graph.code, graph.connection, "rounded"))
    steps = [(one.symbol.name, one.depth, one.via) for one in found.affected]
    assert steps[:2] == [("fee", 1, "call"), ("Cart.check", 2, "call")]
    assert ("Base.check", 3, "override") in steps
    assert ("Base.save", 4, "call") in steps
    confidences = [one.confidence for one in found.affected]
    assert confidences == sorted(confidences, reverse=True)
    assert found.importers == ("shop/cart.py",)
    assert found.tests[0].path == "tests/test_cart.py"


def test_a_test_that_only_says_the_name_of_a_symbol_is_chosen(tmp_path: Path) -> None:
    said = 'def test_menu():\n    assert "discounted" in open("menu.txt").read()\n'
    other = 'def test_other():\n    assert "second" == "se" + "cond"\n'
    code = "def discounted():\n    pass\n\n\ndef unsaid():\n    pass\n"
    write(tmp_path, {"shop/prices.py": code, "tests/test_menu.py": said, "tests/test_other.py": other})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        graph = workspace.graph.current()
        chosen = choose_tests(graph, find_symbol(graph.code, graph.connection, "discounted"))
        assert [one.path for one in chosen.tests] == ["tests/test_menu.py"]
        assert not choose_tests(graph, find_symbol(graph.code, graph.connection, "unsaid")).tests


def test_tests_that_call_a_symbol_come_first_and_unrelated_ones_not_at_all(workspace: Workspace) -> None:
    graph = workspace.graph.current()
    chosen = choose_tests(graph, find_symbol(graph.code, graph.connection, "report"))
    assert [one.path for one in chosen.tests] == ["tests/test_report.py"]
    assert chosen.tests[0].tests == ("test_report",)
    assert chosen.total == 3


def test_a_test_that_calls_a_symbol_is_chosen_for_the_call_and_one_that_does_not_for_its_name(
    workspace: Workspace,
) -> None:
    reasons = {}
    for symbol in ("report", "_forgotten"):
        (chosen,) = workspace.graph.choose_tests(symbol).tests
        reasons[symbol] = (chosen.path, chosen.reason)
    assert reasons == {
        "report": ("tests/test_report.py", "calls it"),
        "_forgotten": ("tests/test_report.py", "is named after it"),
    }


def test_a_large_change_on_disk_is_answered_from_disk(project: Path, workspace: Workspace) -> None:
    generated = "".join(f"def part_{number}():\n    return part_{number // 2}()\n\n" for number in range(17_000))
    write(project, {"shop/generated.py": generated})
    workspace.index()
    callers = questions.callers(workspace.graph.current(), "part_5")
    assert {link.symbol.name for link in callers.links} == {"part_10", "part_11"}


def test_a_file_with_syntax_errors_keeps_what_can_be_read(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "def good():\n    helper()\n\n\ndef helper():\n    pass\n\n\ndef broken(:\n    x = = 1\n"})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert ("good", "exact", 2) in shown(questions.callers(workspace.graph.current(), "helper"))


def test_the_current_change_names_the_definitions_on_its_lines(checkout: Path, git: Git) -> None:
    write(checkout, FILES)
    git(checkout, "add", ".")
    git(checkout, "commit", "-qm", "all")
    write(checkout, {"shop/money.py": FILES["shop/money.py"].replace("return sum", "return sum + 1")})
    write(checkout, {"shop/new.py": "def fresh():\n    pass\n"})
    with Workspace.open(checkout) as workspace:
        workspace.index()
        graph = workspace.graph.current()
        nodes = change_since(graph, checkout, find_repository(checkout), "HEAD").nodes
        names = [graph.code.definition(node).name for node in nodes if place_of(node) >= 0]
        assert sorted(names) == ["fresh", "rounded"]
        found = impact(graph, nodes)
        assert "Cart.check" in {one.symbol.name for one in found.affected}
        with pytest.raises(DiffError, match="nowhere"):
            change_since(graph, checkout, find_repository(checkout), "nowhere")
        with pytest.raises(DiffError):
            change_since(graph, checkout, find_repository(checkout), "--output=x")


def test_outside_git_there_is_no_current_change(workspace: Workspace) -> None:
    graph = workspace.graph.current()
    with pytest.raises(DiffError, match="not in a git repository"):
        change_since(graph, workspace.root, None, "HEAD")


def test_a_stored_network_is_used_and_one_of_another_version_is_not(workspace: Workspace) -> None:
    graph = workspace.graph.current()
    network = graph.network
    path = workspace.state.graph(graph.code.view_id)
    network.save(path)
    identity = graph.code.identity
    assert identity
    loaded = type(network).load(path, identity)
    assert loaded is not None
    assert loaded.targets.tolist() == network.targets.tolist()
    assert type(network).load(path, "another database") is None
    path.write_bytes(b"damaged")
    assert type(network).load(path, identity) is None
    assert type(network).load(path.with_name("missing.arr"), identity) is None


def links_of(network: Network) -> set[tuple[int, ...]]:
    columns = (network.sources, network.targets, network.kinds, network.hows, network.lines)
    return set(zip(*(column.tolist() for column in columns), strict=True))


@pytest.mark.parametrize(
    ("path", "before", "after", "local"),
    [
        ("shop/report.py", "return cart", "_forgotten()\n    return cart", True),
        ("shop/report.py", "return cart", "return _forgotten()", False),
        ("app.py", "    return report(cart)", "    again = Cart()\n    again.check()\n    return report(cart)", True),
        ("shop/money.py", "def rounded(sum):", "\n\ndef rounded(sum):", True),
        ("shop/money.py", "def rounded(sum):", "def rounded(sum, by):", False),
        ("shop/base.py", "def save", "def store", False),
        ("shop/cart.py", "class Cart(Base)", "class Cart", False),
        ("shop/cart.py", "self.sum = 0", "self.sum = fee(0)", False),
        ("shop/__init__.py", "import Cart", "import Cart as Basket", False),
    ],
)
def test_edits_in_bodies_leave_the_edges_of_other_files_alone(
    project: Path, workspace: Workspace, tmp_path: Path, path: str, before: str, after: str, local: bool
) -> None:
    graph = workspace.graph.current()
    known = graph.network
    assert before in FILES[path]
    write(project, {path: FILES[path].replace(before, after)})
    with Workspace.open(project, state_dir=tmp_path / "fresh") as fresh:
        fresh.index()
        expected = links_of(fresh.graph.current().network)
    for update in (False, True):
        if update:
            workspace.index()
        graph = workspace.graph.current()
        assert same_interface(graph.code, *contents(graph, path, known)) is local
        assert links_of(graph.network) == expected


def contents(graph: Graph, path: str, known: Network) -> tuple[SourceFile, SourceFile]:
    """Return a file as it was for a network, and as it is."""
    number = graph.code.numbers[path]
    old = graph.code.file_with_blob(number, int(known.blobs[number]))
    assert old is not None
    return old, graph.code.file(number)


def test_a_stored_network_serves_the_next_process_after_an_edit(project: Path, workspace: Workspace) -> None:
    graph = workspace.graph.current()
    graph.network.save(workspace.state.graph(graph.code.view_id))
    write(project, {"shop/report.py": FILES["shop/report.py"].replace("return cart", "_forgotten()\n    return cart")})
    workspace.index()
    with Workspace.open(project) as again:
        assert find_dead(again.graph.current()).dead == ()
        assert again.graph.current().network.resolved == 1


# -- the whole project ------------------------------------------------------------------------------------------------


def test_dead_code_is_what_no_entry_point_reaches(workspace: Workspace) -> None:
    found = find_dead(workspace.graph.current())
    assert [one.symbol.name for one in found.dead] == ["_forgotten", "_also_forgotten"]
    assert "nothing calls it" in found.dead[0].reason
    assert found.dead[0].confidence > 0.8
    assert found.entry_points["test"] == 3


def test_what_is_public_decorated_or_a_console_script_is_not_dead(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "pyproject.toml": '[project]\nname = "kit"\n[project.scripts]\nkit = "kit.cli:entry"\n',
            "src/kit/__init__.py": "",
            "src/kit/cli.py": "def entry():\n    _helper()\n\n\ndef _helper():\n    pass\n",
            "src/kit/api.py": (
                "@app.route('/')\ndef _handler():\n    pass\n\n\ndef offered():\n    pass\n\n\n"
                "def _hidden():\n    pass\n"
            ),
        },
    )
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        found = find_dead(workspace.graph.current())
    assert [one.symbol.name for one in found.dead] == ["_hidden"]


def test_members_of_what_a_library_offers_are_not_dead_where_the_language_lets_others_use_them(tmp_path: Path) -> None:
    text = "class {0} {{\n  show() {{\n    return 1;\n  }}\n}}\n\n"
    write(
        tmp_path,
        {
            "package.json": '{"name": "kit", "main": "api.ts"}\n',
            "api.ts": "export " + text.format("First") + "export " + text.format("Second") + "function hidden() {}\n",
        },
    )
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        found = find_dead(workspace.graph.current())
    assert [one.symbol.name for one in found.dead] == ["hidden"]


def test_circles_of_imports_are_found_and_sorted_by_when_they_matter(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "a.py": "import b\n",
            "b.py": "import c\n",
            "c.py": "import a\n",
            "d.py": "import e\n",
            "e.py": "def late():\n    import d\n",
            "f.py": "import a\n",
        },
    )
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        found = find_cycles(workspace.graph.current()).cycles
    assert [(one.kind, one.size, [step.path for step in one.steps]) for one in found] == [
        ("runtime", 3, ["a.py", "b.py", "c.py"]),
        ("deferred", 2, ["d.py", "e.py"]),
    ]


def test_a_project_without_circles_has_none(workspace: Workspace) -> None:
    assert find_cycles(workspace.graph.current()).cycles == ()


def test_the_map_keeps_to_its_budget_and_counts_the_rest(workspace: Workspace) -> None:
    graph = workspace.graph.current()
    wide = repository_map(graph, 1_000)
    assert "shop/cart.py" in {entry.path for entry in wide.entries}
    assert not any(entry.path.startswith("tests/") for entry in wide.entries)
    small = repository_map(graph, 30)
    assert small.tokens <= 30
    assert small.omitted_files > 0
    assert repository_map(graph, 0).entries == ()


def test_a_focus_moves_the_map(workspace: Workspace) -> None:
    graph = workspace.graph.current()
    focused = repository_map(graph, 1_000, [graph.code.numbers["shop/report.py"]])
    assert focused.entries[0].path == "shop/report.py"


def test_an_empty_project_has_an_empty_map(tmp_path: Path) -> None:
    write(tmp_path, {"notes.txt": "nothing\n"})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        graph = workspace.graph.current()
        assert all(not entry.symbols for entry in repository_map(graph, 100).entries)
        assert find_dead(graph).dead == ()


def test_a_grammar_of_many_files_is_read_in_other_processes(tmp_path: Path) -> None:
    files = {
        f"m{number}.py": f"import m{number + 1}\n\n\ndef f{number}():\n    m{number + 1}.f{number + 1}()\n"
        for number in range(60)
    }
    write(tmp_path, files)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        told: list[tuple[int, int]] = []
        graph = workspace.graph.current(progress=lambda done, total: told.append((done, total)))
        graph.code.load_all(graph.progress)
        assert shown(questions.callers(graph, "f7")) == [("f6", "import", 5)]
        assert told[-1] == (60, 60)


def test_nothing_is_taken_over_from_an_index_that_was_set_aside_meanwhile(tmp_path: Path) -> None:
    """Where the ids of contents mean others now."""
    code = "def {0}():\n    pass\n\n\ndef use_{0}():\n    {0}()\n"
    write(tmp_path, {f"{name}.py": code.format(name) for name in ("beta", "gamma", "delta")})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        graph = workspace.graph.current()
        graph.code.load_all()
        assert shown(questions.callers(graph, "beta")) == [("use_beta", "exact", 6)]
        write(tmp_path, {"alpha.py": code.format("alpha"), "beta.py": "# moved\n" + code.format("beta")})
        workspace.state.set_aside()
        workspace.index()
        for name, line in (("alpha", 6), ("beta", 7), ("gamma", 6), ("delta", 6)):
            told = shown(questions.callers(workspace.graph.current(), name))
            assert [(caller, at) for caller, _, at in told] == [(f"use_{name}", line)]


@pytest.fixture
def deleting(checkout: Path, git: Git) -> Iterator[Workspace]:
    """A project of which a file was deleted that others use, and one that nobody does."""
    write(
        checkout,
        {
            "lib/__init__.py": "",
            "lib/util.py": "def helper():\n    pass\n\n\nclass Box:\n    def lid(self):\n        pass\n",
            "lib/lonely.py": "def alone():\n    pass\n",
            "app.py": "from lib.util import helper\n\n\ndef run():\n    return helper()\n\n\ndef main():\n    run()\n",
            "module.py": "from lib import util\n\n\ndef go():\n    return util.Box()\n",
            "own.py": "def helper():\n    pass\n\n\ndef other():\n    helper()\n",
            "uses.py": "import own\n\n\ndef use():\n    own.helper()\n",
            "notes.txt": "nothing\n",
            "tests/test_app.py": "from lib.util import helper\n\n\ndef test_helper():\n    helper()\n",
        },
    )
    git(checkout, "add", ".")
    git(checkout, "commit", "-qm", "all")
    for name in ("lib/util.py", "lib/lonely.py", "notes.txt"):
        (checkout / name).unlink()
    with Workspace.open(checkout) as workspace:
        workspace.index()
        yield workspace


def test_a_deleted_file_is_told_with_what_it_defined_and_the_lines_that_still_name_it(deleting: Workspace) -> None:
    found = deleting.graph.impact(diff="HEAD")
    assert found.changed == ()
    lonely, util, notes = found.deleted
    assert (lonely.path, lonely.definitions, lonely.mentions) == ("lib/lonely.py", ("alone",), ())
    assert (notes.path, notes.definitions, notes.mentions) == ("notes.txt", (), ())
    assert (util.path, util.definitions) == ("lib/util.py", ("helper", "Box"))
    assert [(one.path, one.line, one.name) for one in util.mentions] == [
        ("app.py", 1, "helper"),
        ("app.py", 5, "helper"),
        ("module.py", 1, "util"),
        ("module.py", 5, "Box"),
        ("tests/test_app.py", 1, "helper"),
        ("tests/test_app.py", 5, "helper"),
    ]
    assert "main" in {one.symbol.name for one in found.affected}


def test_the_tests_that_name_what_was_deleted_are_chosen(deleting: Workspace) -> None:
    (chosen,) = deleting.graph.choose_tests(diff="HEAD").tests
    assert (chosen.path, chosen.reason) == ("tests/test_app.py", "names what was deleted")


def test_an_index_that_holds_a_deleted_file_still_tells_the_same(deleting: Workspace, git: Git) -> None:
    git(deleting.root, "checkout", "-q", ".")
    deleting.index()
    (deleting.root / "lib/util.py").unlink()
    (gone,) = deleting.graph.impact(diff="HEAD").deleted
    assert gone.path == "lib/util.py"
    assert ("app.py", 5, "helper") in {(one.path, one.line, one.name) for one in gone.mentions}


def test_what_moved_to_another_file_is_not_said_to_be_missing(deleting: Workspace, git: Git) -> None:
    git(deleting.root, "checkout", "-q", ".")
    (deleting.root / "lib/util.py").rename(deleting.root / "lib/tools.py")
    for name in ("app.py", "tests/test_app.py"):
        file = deleting.root / name
        file.write_text(file.read_text().replace("lib.util", "lib.tools"))
    deleting.index()
    (gone,) = deleting.graph.impact(diff="HEAD").deleted
    assert {one.path for one in gone.mentions} == {"module.py"}


def test_only_files_that_hold_tests_are_chosen_by_their_name_or_by_what_they_define(tmp_path: Path) -> None:
    use = "from shop import price\n\n\n"
    write(
        tmp_path,
        {
            "shop.py": "def price():\n    return 1\n",
            "tests/test_price.py": use + "assert price() == 1\n",
            "tests/checks.py": use + "def test_price():\n    assert price() == 1\n",
            "tests/factories.py": use + "def make():\n    return price()\n",
        },
    )
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        chosen = workspace.graph.choose_tests("price").tests
    assert {one.path for one in chosen} == {"tests/test_price.py", "tests/checks.py"}


def test_a_name_means_a_function_of_its_own_language_where_that_has_no_rules_of_names(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "setup.sh": "setup() {\n  echo 1\n}\n",
            "use.sh": "go() {\n  setup\n}\n",
            "Setup.hs": "setup x = x\n",
            "Use.hs": "go y = setup y\n",
        },
    )
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        graph = workspace.graph.current()
        for path, place in (("setup.sh", ("use.sh", "go", 2)), ("Setup.hs", ("Use.hs", "go", 1))):
            links = questions.callers(graph, f"{path}:setup").links
            assert [(one.symbol.path, one.symbol.name, one.line) for one in links] == [place]


MANY_DELETED = "Many files were deleted: only some of the references to them were looked for."


@pytest.mark.parametrize(("count", "late", "notes"), [(298, True, ()), (300, False, (MANY_DELETED,))])
def test_references_to_a_few_hundred_deleted_names_are_looked_for(
    checkout: Path, git: Git, count: int, late: bool, notes: tuple[str, ...]
) -> None:
    gone = "".join(f"def gone{number}():\n    pass\n" for number in range(count))
    use = f"def use():\n    gone{count - 1}()\n    late()\n"
    write(checkout, {"first.py": gone, "second.py": "def late():\n    pass\n", "use.py": use})
    git(checkout, "add", ".")
    git(checkout, "commit", "-qm", "all")
    for name in ("first.py", "second.py"):
        (checkout / name).unlink()
    with Workspace.open(checkout) as workspace:
        workspace.index()
        found = workspace.graph.impact(diff="HEAD")
    first, second = found.deleted
    assert (len(first.definitions), second.definitions) == (count, ("late",))
    assert [(one.path, one.line, one.name) for one in first.mentions] == [("use.py", 2, f"gone{count - 1}")]
    assert [(one.path, one.line, one.name) for one in second.mentions] == ([("use.py", 3, "late")] if late else [])
    assert tuple(note for note in found.notes if "deleted" in note) == notes


@pytest.mark.parametrize("count", [100, 101])
def test_of_very_many_deleted_files_only_the_first_are_read(checkout: Path, git: Git, count: int) -> None:
    write(checkout, {f"gone{number:03}.py": f"def gone{number:03}():\n    pass\n" for number in range(count)})
    write(checkout, {"use.py": "def use():\n    gone099()\n    gone100()\n"})
    git(checkout, "add", ".")
    git(checkout, "commit", "-qm", "all")
    for number in range(count):
        (checkout / f"gone{number:03}.py").unlink()
    with Workspace.open(checkout) as workspace:
        workspace.index()
        found = workspace.graph.impact(diff="HEAD")
    assert [len(one.definitions) for one in found.deleted] == [1] * 100 + [0] * (count - 100)
    assert [one.name for gone in found.deleted for one in gone.mentions] == ["gone099"]
    assert (MANY_DELETED in found.notes) == (count > 100)


def test_submodules_are_noted_as_not_looked_at(checkout: Path, git: Git, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    write(other, {"x.py": "x = 1\n"})
    git(other, "add", ".")
    git(other, "commit", "-qm", "first")
    git(checkout, "submodule", "add", "-q", str(other), "their")
    git(checkout, "commit", "-qm", "all")
    with Workspace.open(checkout) as workspace:
        workspace.index()
        for notes in (workspace.graph.impact(diff="HEAD").notes, workspace.graph.choose_tests(diff="HEAD").notes):
            assert notes[0] == "Changes inside submodules are not seen: their"


def test_before_the_first_commit_the_error_names_a_command_that_works(checkout: Path, git: Git) -> None:
    write(checkout, {"app.py": "def run():\n    pass\n\n\nrun()\n"})
    with Workspace.open(checkout) as workspace:
        workspace.index()
        with pytest.raises(DiffError, match="nothing is committed yet") as caught:
            workspace.graph.impact(diff="HEAD")
        assert caught.value.hint == "name a symbol: cairn impact SYMBOL"
        assert workspace.graph.impact("run").changed
        git(checkout, "add", ".")
        git(checkout, "commit", "-qm", "all")
        git(checkout, "checkout", "-q", "--orphan", "fresh")
        with pytest.raises(DiffError, match="has no commits yet") as caught:
            workspace.graph.impact(diff="HEAD")
        assert caught.value.hint == "compare with another: cairn impact --diff main"
        assert workspace.graph.impact(diff="main").changed == ()
