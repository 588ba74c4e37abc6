"""A method is called by what it overrides, and by what overrides it: nothing says that nobody does."""

from __future__ import annotations

from pathlib import Path

import pytest

from cairn.graph.values import Links
from cairn.workspace import Workspace
from in_process import cairn
from small_projects import write_files

FILES = {
    "shop/Shape.java": "package shop;\n\ninterface Shape {\n  int area();\n  int edge();\n  int dark();\n}\n",
    "shop/Square.java": (
        "package shop;\n\nclass Square implements Shape {\n  public int area() { return 1; }\n"
        "  public int edge() { return 2; }\n  public int dark() { return 3; }\n}\n"
    ),
    "shop/Use.java": (
        "package shop;\n\nclass Use {\n  int all(Shape shape, Square square) {\n"
        "    return shape.area() + square.edge();\n"
        "  }\n}\n"
    ),
    "shop/Task.java": (
        "package shop;\n\nabstract class Task {\n  abstract void perform();\n  void start() { perform(); }\n}\n\n"
        "class Runs {\n  void go() {\n    Task task = new Task() {\n      void perform() {}\n    };\n"
        "    task.start();\n"
        "  }\n}\n"
    ),
    "job.ts": (
        "abstract class Job {\n  abstract working(): void;\n  start() { this.working(); }\n}\n"
        "const job = new (class extends Job {\n  working() {}\n})();\njob.start();\n"
    ),
    "go.mod": "module shop\n\ngo 1.22\n",
    "till/till.go": (
        "package till\n\ntype store interface {\n\tload(key string) string\n\tsave(key string)\n}\n\n"
        "type memory struct{}\n\nfunc (m *memory) load(key string) string { return key }\n\n"
        "func (m *memory) save(key string) {}\n\n"
        'func use(s store, m *memory) {\n\ts.load("a")\n\tm.save("b")\n}\n\nfunc init() { use(nil, nil) }\n'
    ),
    "loader.py": (
        "from abc import ABC, abstractmethod\n\n\nclass Loader(ABC):\n    @abstractmethod\n"
        "    def fetch_it(self): ...\n\n"
        "    @abstractmethod\n    def drop_it(self): ...\n\n\n"
        "class Memory(Loader):\n    def fetch_it(self):\n        return 1\n\n"
        "    def drop_it(self):\n        return 2\n\n\n"
        "def use(loader: Loader, memory: Memory):\n    loader.fetch_it()\n    memory.drop_it()\n\n\n"
        "use(Memory(), Memory())\n"
    ),
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    root = tmp_path_factory.mktemp("project")
    write_files(root, FILES)
    workspace = Workspace.open(root)
    workspace.index()
    return workspace


def callers(project: Workspace, symbol: str) -> Links:
    links = project.graph.callers(symbol)
    assert links.links == ()
    return links


def above(links: Links) -> list[tuple[str, list[str]]]:
    """Return what a symbol overrides that is called, with the places of the calls."""
    return [(base.symbol.name, [f"{link.path}:{link.line}" for link in base.links]) for base in links.above or ()]


@pytest.mark.parametrize(
    ("symbol", "base", "place"),
    [
        ("Square.area", "Shape.area", "shop/Use.java:5"),
        ("memory.load", "store.load", "till/till.go:15"),
        ("Memory.fetch_it", "Loader.fetch_it", "loader.py:21"),
    ],
)
def test_the_calls_of_what_a_method_overrides_are_among_its_callers(
    project: Workspace, symbol: str, base: str, place: str
) -> None:
    links = callers(project, symbol)
    assert above(links) == [(base, [place])]
    assert (links.unresolved, links.notes) == (None, ())


TILLS = {
    "Till.java": "interface Till {\n  void open(int pin);\n}\n",
    "Door.java": "interface Door {\n  void open(int pin);\n}\n",
    "Lid.java": "interface Lid {\n  void open(int pin);\n}\n",
    "Steel.java": (
        "class Steel implements Till {\n  public void open(int pin) { }\n  void again() { open(1); }\n}\n\n"
        "class Box extends Steel implements Lid { }\n"
    ),
    "Use.java": (
        "class Use {\n  void use(Till till, Door door, Lid lid) {\n"
        "    till.open(1);\n    door.open(2);\n    lid.open(3);\n  }\n}\n"
    ),
}


def test_calls_by_an_interface_come_after_the_own_ones_and_no_other_interface_counts(tmp_path: Path) -> None:
    write_files(tmp_path, TILLS)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        links = workspace.graph.callers("Steel.open")
    assert [(link.path, link.line) for link in links.links] == [("Steel.java", 3)]
    assert above(links) == [("Till.open", ["Use.java:3"])]
    # Box implements Lid by what it inherits; nothing that is a Steel is a Door.
    assert links.unresolved is not None
    assert [f"{mention.path}:{mention.line}" for mention in links.unresolved.first] == ["Use.java:5"]


def test_calls_by_a_base_that_an_answer_has_no_room_for_are_counted(tmp_path: Path) -> None:
    calls = "    shape.area();\n" * 61
    code = f"package shop;\n\nclass Many {{\n  void all(Shape shape) {{\n{calls}  }}\n}}\n"
    write_files(tmp_path, FILES | {"shop/Many.java": code})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        links = workspace.graph.callers("Square.area")
        few = workspace.graph.callers("Memory.fetch_it", limit=1)
    assert links.above is None
    note = str(links.notes[0])
    assert note.startswith("It overrides Shape.area, which is called: shop/Many.java:5 and on 61 more lines; see these")
    assert above(few) == [("Loader.fetch_it", ["loader.py:21"])]


def test_the_command_prints_the_calls_of_what_a_method_overrides(project: Workspace) -> None:
    done = cairn("callers", "Square.area", cwd=project.root)
    assert done.returncode == 0
    assert done.stdout == (
        "shop/Shape.java:4  method Shape.area, which it overrides:\n"
        "  shop/Use.java:5  method Use.all  (call, receiver)\n"
    )


def test_who_makes_a_type_above_calls_no_constructor_below(tmp_path: Path) -> None:
    code = "class Base:\n    def __init__(self):\n        self.n = 1\n\n\nclass Small(Base):\n"
    write_files(tmp_path, {"base.py": code + "    def __init__(self):\n        self.m = 1\n\n\nBase()\n"})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert workspace.graph.callers("Small.__init__").above is None


def test_what_surrounds_a_method_and_a_search_for_its_callers_hold_these_calls_as_well(project: Workspace) -> None:
    around = cairn("outline", "shop/Square.java", "--mode", "context", "--symbol", "area", cwd=project.root).stdout
    assert "shop/Use.java:5 method Use.all (by Shape.area)" in around
    (hit,) = project.search("callers of Square.area").code
    assert (hit.path, hit.start_line) == ("shop/Use.java", 5)


# -- paths ------------------------------------------------------------------------------------------------------------


def test_a_path_leads_through_an_interface_to_what_implements_it(project: Workspace) -> None:
    found = project.graph.call_path("Use.all", "Square.area")
    assert [(step.symbol.name, step.kind, step.path, step.line) for step in found.steps] == [
        ("Use.all", "start", "shop/Use.java", 4),
        ("Shape.area", "call", "shop/Use.java", 5),
        ("Square.area", "implement", "shop/Shape.java", 4),
    ]


def test_a_path_of_calls_alone_comes_before_one_through_an_interface(tmp_path: Path) -> None:
    code = "class Through {\n  void go(Square square) { far(square); }\n  void far(Square square) { square.area(); }\n"
    code += "  void near(Shape shape) { shape.area(); }\n  void start(Square square) { near(square); go(square); }\n}\n"
    write_files(tmp_path, FILES | {"shop/Through.java": "package shop;\n\n" + code})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        found = workspace.graph.call_path("Through.start", "Square.area")
    assert [step.symbol.name for step in found.steps][1:] == ["Through.go", "Through.far", "Square.area"]


@pytest.mark.parametrize(
    ("symbol", "below", "place"),
    [
        ("Shape.edge", "Square.edge", "shop/Use.java:5"),
        ("store.save", "memory.save", "till/till.go:16"),
        ("Loader.drop_it", "Memory.drop_it", "loader.py:22"),
    ],
)
def test_a_note_says_where_what_overrides_a_method_is_called(
    project: Workspace, symbol: str, below: str, place: str
) -> None:
    note = str(callers(project, symbol).notes[0])
    assert note.startswith(f"{below}, which overrides it, is called: {place}; see these calls")


def test_no_note_says_that_of_a_method_that_nothing_calls_at_all(project: Workspace) -> None:
    for symbol in ("Shape.dark", "Square.dark"):
        links = callers(project, symbol)
        assert links.unresolved is None
        assert "overrides" not in str(links.notes)


@pytest.mark.parametrize(("symbol", "line"), [("shop/Task.java:11", 5), ("job.ts:6", 3)])
def test_a_method_of_a_type_without_a_name_may_be_called_by_its_base(
    project: Workspace, symbol: str, line: int
) -> None:
    links = callers(project, symbol)
    assert links.unresolved is not None
    assert [mention.line for mention in links.unresolved.first] == [line]


def test_neither_a_method_nor_what_it_overrides_is_dead_if_the_other_is_called(project: Workspace) -> None:
    dead = {one.symbol.name for one in project.graph.dead_code().dead}
    assert not dead & {"Shape.edge", "Square.area", "store.save", "memory.load", "Loader.drop_it", "Memory.fetch_it"}


BASKET = {
    "src/IBasket.cs": "namespace Shop;\npublic interface IBasket { int SetQuantities(int id); }\n",
    "src/Basket.cs": (
        "namespace Shop;\npublic class Basket : IBasket\n{\n    public int SetQuantities(int id) { return id; }\n}\n"
    ),
    "src/Page.cs": (
        "namespace Shop;\npublic class Page\n{\n    private readonly IBasket _basket;\n"
        "    public int OnPost() { return _basket.SetQuantities(1); }\n}\n"
    ),
}


@pytest.mark.parametrize("least_files", [0, 300])
def test_a_call_by_a_base_that_an_impact_shows_does_not_count_as_not_resolved(tmp_path: Path, least_files: int) -> None:
    for path, text in BASKET.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        workspace.graph.current().patience.least_files = least_files
        impact = workspace.graph.impact("Basket.SetQuantities")
    assert [one.symbol.name for one in impact.affected] == ["IBasket.SetQuantities", "Page.OnPost"]
    assert impact.unresolved is None
    assert impact.notes == ()


def test_lines_that_are_not_resolved_are_more_where_a_test_is_known_to_call(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text("class Shop:\n    def close_early(self):\n        pass\n")
    (tmp_path / "page.py").write_text("def post(shop):\n    shop.close_early()\n")
    (tmp_path / "other.py").write_text("class Other:\n    def close_early(self):\n        pass\n")
    (tmp_path / "test_shop.py").write_text("from shop import Shop\n\n\ndef test_it():\n    Shop().close_early()\n")
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        impact = workspace.graph.impact("Shop.close_early")
    assert impact.affected == ()
    (note,) = impact.notes
    assert note.startswith("1 more line says `close_early(` and could not be resolved: page.py:2")


def affected(project: Workspace, symbol: str) -> set[tuple[str, int, str]]:
    return {(one.symbol.name, one.depth, one.via) for one in project.graph.impact(symbol).affected}


@pytest.mark.parametrize(
    ("symbol", "expected"),
    [
        ("Shape.area", {("Square.area", 1, "override"), ("Use.all", 1, "call")}),
        ("Shape.edge", {("Square.edge", 1, "override")}),
        ("store.load", {("memory.load", 1, "override"), ("use", 1, "call"), ("init", 2, "call")}),
        ("store.save", {("memory.save", 1, "override")}),
        ("Loader.drop_it", {("Memory.drop_it", 1, "override")}),
    ],
)
def test_a_change_of_a_method_concerns_what_overrides_it_but_not_who_calls_that(
    project: Workspace, symbol: str, expected: set[tuple[str, int, str]]
) -> None:
    assert affected(project, symbol) == expected


def test_who_makes_a_type_below_does_not_feel_a_change_of_the_constructor_above(tmp_path: Path) -> None:
    code = (
        "class Base:\n    def __init__(self):\n        self.n = 1\n\n\n"
        "class Small(Base):\n    def __init__(self):\n        self.m = 1\n"
    )
    write_files(tmp_path, {"base.py": code})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert "Small.__init__" not in {name for name, _, _ in affected(workspace, "Base.__init__")}
