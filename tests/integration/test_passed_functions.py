"""Functions that are passed on are called there: callers and references agree on where that is."""

from __future__ import annotations

from pathlib import Path

import pytest

from cairn.workspace import Workspace
from small_projects import write_files

PYTHON = {
    "shop/clocks.py": "def clock():\n    return 1\n\n\nclass Till:\n    def ring(self):\n        return 2\n",
    "shop/use.py": (
        "from shop.clocks import Till, clock\n\n\n"
        "def work(now=clock, *, then: object = clock):  # here\n    return now(), then\n\n\n"
        "def other(\n    now=clock,  # here\n):\n    return now, clock  # here\n\n\n"
        "def each():\n    yield clock  # here\n\n\n"
        "later = lambda now=clock: now()  # here\n\n\n"
        "def choose(flag, given=None):\n    return given or clock  # here\n\n\n"
        "def hidden(clock):\n    return map(clock, [])\n"
    ),
    "shop/rings.py": (
        "from shop.clocks import Till\n\n\n"
        "def rings(till: Till, bell):\n    bell.on_press = till.ring  # there\n    bell.hear(till.ring)  # there\n"
        "    return [till.ring]  # there\n"
    ),
}
GO = {
    "go.mod": "module example.com/shop\n\ngo 1.22\n",
    "till/open.go": (
        "package till\n\nfunc ring(x int) int { return x }\n\n"
        "type Till struct{ n int }\n\nfunc (t *Till) less(i, j int) bool { return i < j }\n"
    ),
    "till/use.go": (
        "package till\n\ntype bell struct{ on func(int) int }\n\n"
        "var bells = []func(int) int{ring} // here\n\n"
        "func pick() func(int) int { return ring } // here\n\n"
        "func use(c chan func(int) int) {\n\thear(ring) // here\n\tb := bell{on: ring} // here\n\tb.on = ring // here\n"
        "\tc <- ring // here\n\tf := ring // here\n\t_ = f\n}\n\n"
        "func hear(ring func(int) int) int {\n\tsee(ring)\n\treturn 1\n}\n\n"
        "func local() {\n\tring := pick()\n\tsee(ring)\n}\n\n"
        "func order(t *Till) {\n\tsorted(t.n, t.less) // there\n}\n"
    ),
}
C = {
    "bell.h": "int ring(int x);\n",
    "bell.c": '#include "bell.h"\nint ring(int x) { return x; }\n',
    "use.c": (
        '#include "bell.h"\n\nstruct bell { int (*on)(int); };\n\n'
        "static struct bell bells[] = { { ring }, { .on = &ring } }; // here\n\n"
        "int use(struct bell *b) {\n  hear(ring); // here\n  hear(&ring); // here\n  b->on = ring; // here\n"
        "  hear((void *)ring); // here\n  return 1;\n}\n\n"
        "int hidden(int (*ring)(int)) {\n  hear(ring);\n  return 1;\n}\n"
    ),
}
JAVA = {
    "a/Bell.java": "package a;\n\nclass Bell {\n  static int ring(int x) { return x; }\n}\n",
    "a/Use.java": "package a;\n\nclass Use {\n  void use() {\n    hear(Bell::ring); // here\n  }\n}\n",
}
HASKELL = {
    "Bell.hs": (
        "module Bell where\n\nring :: Int -> Int\nring x = x + 1\n\n"
        "use = map ring [1]  -- here\n\nhidden ring = map ring [1]\n"
    ),
}
TYPESCRIPT = {
    "bell.ts": "export function ring() {}\n",
    "use.ts": (
        'import { ring } from "./bell";\n\nfunction use(on: () => void = ring) { // here\n  on();\n}\n\n'
        "class Till {\n  on = ring; // here\n  open(el: any) {\n    el.onclick = ring; // here\n"
        "    return { on: el.on ?? ring }; // here\n  }\n}\n"
    ),
    "page.tsx": 'import { ring } from "./bell";\n\nexport const Page = () => <button onClick={ring} />; // here\n',
}
RUST = {
    "Cargo.toml": '[package]\nname = "shop"\n',
    "src/lib.rs": "pub mod size;\npub mod opts;\n",
    "src/size.rs": (
        "pub struct Size(u64);\n\nimpl Size {\n    pub fn parse(s: &str) -> Size { Size(1) }\n}\n\n"
        "pub fn limit() -> u64 { 1 }\n"
    ),
    "src/opts.rs": (
        "use crate::size::{self, Size};\n\n#[derive(Parser)]\npub struct Opts {\n"
        "    #[arg(long, value_parser = Size::parse, default_value_t = size::limit())] // here\n"
        "    pub size: Size,\n}\n\n"
        'fn all(texts: Vec<&str>) { println!("{:?}", texts.map(Size::parse)); } // here\n'
    ),
}


@pytest.mark.parametrize(
    ("symbol", "mark", "files"),
    [
        ("clock", "# here", PYTHON),
        ("Till.ring", "# there", PYTHON),
        ("ring", "// here", GO),
        ("Till.less", "// there", GO),
        ("bell.c:ring", "// here", C),
        ("Bell.ring", "// here", JAVA),
        ("ring", "// here", TYPESCRIPT),
        ("ring", "-- here", HASKELL),
        ("Size.parse", "// here", RUST),
    ],
    ids=["Python", "method of Python", "Go", "method of Go", "C", "Java", "TypeScript", "Haskell", "Rust"],
)
def test_a_function_that_is_passed_on_is_called_where_it_is_read(
    symbol: str, mark: str, files: dict[str, str], tmp_path: Path
) -> None:
    write_files(tmp_path, files)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        called = {(link.path, link.line) for link in workspace.graph.callers(symbol).links}
        found = workspace.graph.references(symbol).references
    marked = {
        (path, line) for path, text in files.items() for line, words in enumerate(text.splitlines(), 1) if mark in words
    }
    assert called == marked
    assert {(one.path, one.line) for one in found if one.kind in ("call", "read", "decorate")} == marked


def test_a_type_that_is_only_named_is_no_call_of_its_constructor(tmp_path: Path) -> None:
    code = "class Till:\n    def __init__(self):\n        self.n = 0\n\n\ndef use(till: Till):\n    return Till()\n"
    write_files(tmp_path, {"till.py": code})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert [link.line for link in workspace.graph.callers("Till.__init__").links] == [7]


ATTRIBUTES = {
    "shop/tasks.py": (
        "from elsewhere import shared_task\n\n\n@shared_task\ndef work(x) -> str:\n    return x\n\n\n"
        "@work.register  # here\ndef of_text(x):\n    return x\n"
    ),
    "shop/use.py": (
        "from shop import tasks\nfrom shop.tasks import work\n\n\n"
        "def start(pool):\n    work.delay(1)  # here\n    tasks.work.apply_async(args=[2])  # here\n"
        "    pool.submit(work.delay, 3)  # here\n    return work.s(3).set(queue='a')  # here\n\n\n"
        "def hidden(work):\n    work.delay(1)\n\n\n"
        "def loops(jobs):\n    for work in jobs:\n        work.delay(1)\n\n\n"
        "def items(jobs):\n    return [work.delay(1) for work in jobs]\n"
    ),
    "tests/test_tasks.py": "from shop.tasks import work\n\n\ndef test_work():\n    assert work(1) == 1  # here\n",
}


def test_a_method_called_on_a_function_uses_the_function(tmp_path: Path) -> None:
    write_files(tmp_path, ATTRIBUTES)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        links = workspace.graph.callers("work").links
        affected = {one.symbol.name for one in workspace.graph.impact("work").affected}
    marked = {
        (path, line)
        for path, text in ATTRIBUTES.items()
        for line, words in enumerate(text.splitlines(), 1)
        if "# here" in words
    }
    assert {(link.path, link.line) for link in links} == marked
    assert {link.kind for link in links if link.path != "tests/test_tasks.py"} == {"use"}
    assert affected == {"start", "of_text"}


def test_a_setter_does_not_use_its_property(tmp_path: Path) -> None:
    code = (
        "class Till:\n    @property\n    def sum(self):\n        return 1\n\n"
        "    @sum.setter\n    def sum(self, value):\n        pass\n"
    )
    write_files(tmp_path, {"till.py": code})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert workspace.graph.callers("Till.sum").links == ()


def test_a_component_in_a_function_uses_it(tmp_path: Path) -> None:
    files = {
        "list.tsx": "export function List() {\n  return null;\n}\nList.Item = () => null;\n",
        "page.tsx": 'import { List } from "./list";\n\nexport const Page = () => <List.Other />;\n',
    }
    write_files(tmp_path, files)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert [(link.path, link.line, link.kind) for link in workspace.graph.callers("List").links] == [
            ("page.tsx", 3, "use")
        ]
