"""What answers from the symbol graph say of lines that could not be resolved."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cairn.graph.values import Mention, Unresolved
from cairn.workspace import Workspace
from small_projects import write_files

FILES = {
    "runtime.rs": (
        "pub fn spawn(task: u32) {}\n\npub fn park(task: u32) {}\n\npub fn steal(task: u32) {}\n\n"
        "pub fn idle(task: u32) {}\n\nfn main() {\n    steal(1);\n}\n"
    ),
    "blocking.rs": "cfg_rt! {\n    fn run() {\n        spawn(1);\n        spawn(2); // spawn(3)\n    }\n}\n",
    "hooks.rs": 'static HOOKS: &[&str] = &["park"];\n// idle(1)\n',
    "base.cs": (
        "abstract class Filter {\n    public abstract void Execute(int x);\n\n    void Run(Filter f) {\n"
        "        f.Execute(1);\n    }\n}\n"
    ),
    "field.cs": "class FieldFilter : Filter {\n    public override void Execute(int x) {}\n}\n",
    "poll.h": "int poll_close(int handle);\n",
    "unix/poll.c": '#include "../poll.h"\n\nint poll_close(int handle) {\n  return handle;\n}\n',
    "win/poll.c": '#include "../poll.h"\n\nint poll_close(int handle) {\n  return -handle;\n}\n',
    "loop.c": '#include "poll.h"\n\nint stop(int handle) {\n  return poll_close(handle);\n}\n',
    "app.py": (
        "from shop import helpers\n\n\ndef run(thing):\n    return thing.settle_all(1)\n\n\n"
        "def direct():\n    return run(2)\n"
    ),
    "shop/accounts.py": (
        "class Book:\n    def settle_all(self, x):\n        return x\n\n\n"
        "class Ledger:\n    def settle_all(self, x):\n        return x\n"
    ),
    "shop/helpers.js": "export function pad() {}\n",
    "web/load.js": 'const pad = require("@gone/helpers")\n',
    "tests/test_app.py": "def test_book(book):\n    book.settle_all(3)\n",
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("unresolved")
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    with Workspace.open(root) as opened:
        opened.index()
        yield opened


def test_calls_in_a_macro_are_counted_where_no_call_is_known(workspace: Workspace) -> None:
    links = workspace.graph.callers("spawn")
    assert links.links == ()
    first = (Mention("blocking.rs", 3, "spawn"), Mention("blocking.rs", 4, "spawn"))
    assert links.unresolved == Unresolved("call", ("spawn",), 2, first)
    assert links.notes == (
        "No call of spawn is known; 2 lines say `spawn(`: blocking.rs:3, blocking.rs:4; list them: "
        "cairn search '\\bspawn\\b' --mode regex",
    )


def test_the_search_of_a_note_lists_the_lines(workspace: Workspace) -> None:
    hits = workspace.search(r"\bspawn\b", mode="regex").code
    assert {("blocking.rs", 3), ("blocking.rs", 4)} <= {(hit.path, hit.start_line) for hit in hits}


def test_a_name_in_a_text_keeps_an_answer_from_saying_that_nothing_calls_it(workspace: Workspace) -> None:
    unresolved = workspace.graph.callers("park").unresolved
    assert unresolved == Unresolved("name", ("park",), 1, (Mention("hooks.rs", 1, "park"),))


def test_a_comment_is_no_call(workspace: Workspace) -> None:
    links = workspace.graph.callers("idle")
    assert (links.links, links.unresolved) == ((), None)


def test_a_known_call_is_not_counted_again(workspace: Workspace) -> None:
    links = workspace.graph.callers("steal")
    assert [link.line for link in links.links] == [10]
    assert links.unresolved is None


def test_a_call_of_what_a_method_overrides_may_mean_the_method(workspace: Workspace) -> None:
    links = workspace.graph.callers("FieldFilter.Execute")
    assert (links.links, links.unresolved) == ((), None)
    assert [(link.path, link.line) for base in links.above or () for link in base.links] == [("base.cs", 5)]


@pytest.mark.parametrize("path", ["poll.h", "unix/poll.c", "win/poll.c"])
def test_a_call_of_one_body_may_mean_the_declaration_or_another_body(workspace: Workspace, path: str) -> None:
    links = workspace.graph.callers(f"{path}:poll_close")
    assert links.links or links.unresolved == Unresolved(
        "call", ("poll_close",), 1, (Mention("loop.c", 4, "poll_close"),)
    )


def test_a_call_on_an_unknown_object_is_counted_for_each_namesake(workspace: Workspace) -> None:
    for owner in ("Book", "Ledger"):
        unresolved = workspace.graph.callers(f"{owner}.settle_all").unresolved
        assert unresolved is not None
        assert [mention.path for mention in unresolved.first] == ["app.py", "tests/test_app.py"]


def test_callees_name_calls_of_what_the_project_defines_more_than_once(workspace: Workspace) -> None:
    links = workspace.graph.callees("app.py:run")
    assert links.unresolved == Unresolved("callee", ("settle_all",), 1, (Mention("app.py", 5, "settle_all"),))
    assert links.notes == ("1 line of it calls names that this project defines, and it is not known which: app.py:5",)


def test_tests_count_the_lines_of_tests_alone(workspace: Workspace) -> None:
    unresolved = workspace.graph.choose_tests("Book.settle_all").unresolved
    assert unresolved is not None
    assert unresolved.first == (Mention("tests/test_app.py", 2, "settle_all"),)


def test_an_impact_counts_them_too(workspace: Workspace) -> None:
    answer = workspace.graph.impact("Book.settle_all")
    assert answer.affected == ()
    assert answer.unresolved is not None
    assert answer.notes[0].startswith("No use of settle_all is known; 2 lines say `settle_all(`")


def test_imports_that_lead_nowhere_are_counted(workspace: Workspace) -> None:
    answer = workspace.graph.importers("shop/helpers.js")
    assert answer.importers == ()
    assert answer.unresolved is not None
    assert Mention("web/load.js", 1, "helpers") in answer.unresolved.first


def test_a_search_for_callers_says_so_as_well(workspace: Workspace) -> None:
    notes = workspace.search("callers of spawn").notes
    assert notes[0].startswith("No call of spawn is known; 2 lines say `spawn(`")
    assert workspace.search("callers of idle").notes[0].startswith("Nothing calls function idle")


def test_code_outside_of_python_is_dead_only_where_no_line_says_its_name(tmp_path: Path) -> None:
    text = (
        "struct Named;\n\nstruct Forgotten;\n\nfn call_later(f: fn()) {}\n\nfn inner() -> Vec<Named> { Vec::new() }\n\n"
        "pub fn offered() {}\n\n#[inline]\nfn small() {}\n\n#[tokio::test]\nasync fn checks() {}\n\n"
        "mod tests {\n    #[test]\n    fn works() { super::helps(); }\n}\n\nfn helps() {}\n\n"
        "fn main() {\n    inner();\n    wrap! { fn f() { call_later(x) } }\n}\n"
    )
    (tmp_path / "main.rs").write_text(text)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        found = workspace.graph.dead_code()
    assert {(dead.symbol.name, dead.confidence) for dead in found.dead} == {
        ("Forgotten", 0.9),
        ("small", 0.9),
        ("offered", 0.6),
    }
    assert found.undecided == 1  # f, whose name a parameter has
    assert found.notes == (
        "1 more definition that nothing is known to use is left out: other lines say its name, or make names like it.",
    )


def test_a_set_of_files_in_a_cycle_lists_all_of_them(tmp_path: Path) -> None:
    for name, imports in {"a": "b", "b": "a\nimport c", "c": "b"}.items():
        (tmp_path / f"{name}.py").write_text(f"import {imports}\n")
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        (cycle,) = workspace.graph.import_cycles().cycles
    assert cycle.size == 3
    assert sorted([*(step.path for step in cycle.steps), *cycle.others]) == ["a.py", "b.py", "c.py"]


def unknown_calls(root: Path, symbol: str, files: dict[str, str]) -> tuple[str, list[str]]:
    """Return what the lines look like that may call a symbol and could not be resolved, and the first of them."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    with Workspace.open(root) as workspace:
        workspace.index()
        unresolved = workspace.graph.callers(symbol).unresolved
    assert unresolved is not None
    assert unresolved.lines == len(unresolved.first)
    return unresolved.form, [files[mention.path].splitlines()[mention.line - 1].strip() for mention in unresolved.first]


def test_a_call_that_cannot_be_one_of_a_method_of_python_is_not_counted(tmp_path: Path) -> None:
    files = {
        "cart.py": "class Cart:\n    def get(self, key, default=None):\n        return key\n",
        "app.py": (
            "import requests\n\n\ndef run(x, rest):\n    x.get(1)\n    x.get()\n    x.get(1, 2, 3, 4)\n"
            "    requests.get(1)\n    get(1)\n    x.get(*rest)\n"
        ),
    }
    assert unknown_calls(tmp_path, "Cart.get", files) == ("call", ["x.get(1)", "x.get(*rest)"])


def test_a_call_of_something_unknown_is_none_of_a_function_of_python_or_go(tmp_path: Path) -> None:
    files = {
        "tools/get.py": "def get(key):\n    return key\n",
        "app.py": "from nowhere import *\n\n\ndef run(x):\n    x.get(1)\n    get(1)\n",
        "go.mod": "module shop\n",
        "a/a.go": (
            'package a\n\nimport "net/http"\n\nfunc fetch(x int) {}\n\n'
            "func run(x any) {\n\thttp.fetch(1)\n\tx.fetch(1)\n}\n"
        ),
    }
    assert unknown_calls(tmp_path, "tools/get.py:get", files) == ("call", ["get(1)"])
    assert unknown_calls(tmp_path, "a/a.go:fetch", files)[0] == "name"


def test_what_cannot_be_a_call_still_says_the_name(tmp_path: Path) -> None:
    files = {
        "cart.py": "class Cart:\n    def get(self, key):\n        return key\n",
        "app.py": "def run(x):\n    x.get(1, 2, 3)\n",
    }
    assert unknown_calls(tmp_path, "Cart.get", files) == ("name", ["x.get(1, 2, 3)"])


def test_the_body_for_one_platform_of_kotlin_may_be_what_is_called(tmp_path: Path) -> None:
    files = {
        "common/Pool.kt": "package pool\n\ninternal expect fun drain(size: Int)\n\nfun run() {\n    drain(1)\n}\n",
        "native/Pool.kt": "package pool\n\ninternal actual fun drain(size: Int) {\n    print(size)\n}\n",
        "web/Pool.kt": "package pool\n\ninternal actual fun drain(size: Int) {\n    print(size)\n    print(0)\n}\n",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text(text)
    with Workspace.open(tmp_path) as opened:
        opened.index()
        for path in ("native/Pool.kt:drain", "web/Pool.kt:drain"):
            links = opened.graph.callers(path)
            assert links.links or links.unresolved is not None


def test_the_body_for_one_system_of_rust_may_be_what_is_called(tmp_path: Path) -> None:
    modules = '#[cfg(dump)]\nmod dump;\n#[cfg(not(dump))]\n#[path = "dump_mock.rs"]\nmod dump;\n'
    body = (
        "use super::Handle;\n\nimpl Handle {\n    pub fn trace_core(&self, core: u32) {\n        drop(core)\n    }\n}\n"
    )
    files = {
        "lib.rs": f"{modules}\npub struct Handle;\n\npub fn run(handle: &Handle) {{\n    handle.trace_core(1);\n}}\n",
        "dump.rs": body,
        "dump_mock.rs": body.replace("drop(core)", ""),
    }
    for path, text in files.items():
        (tmp_path / path).write_text(text)
    with Workspace.open(tmp_path) as opened:
        opened.index()
        for path in ("dump.rs:4", "dump_mock.rs:4"):
            links = opened.graph.callers(path)
            assert links.links or links.unresolved is not None


def test_a_function_of_c_that_others_may_link_to_is_not_surely_dead(tmp_path: Path) -> None:
    (tmp_path / "till.c").write_text("int ring_once(void) { return 1; }\nstatic int hide(void) { return 2; }\n")
    with Workspace.open(tmp_path, state_dir=tmp_path / "state") as workspace:
        workspace.index()
        sure = {dead.symbol.name: dead.confidence >= 0.9 for dead in workspace.graph.dead_code().dead}
    assert sure == {"ring_once": False, "hide": True}


def test_a_function_of_javascript_that_is_a_value_is_not_dead(tmp_path: Path) -> None:
    text = (
        "export default new Promise(function runLater(done) { done(); });\nexport const jar = { remove() {} };\n"
        "function goneAway() {}\n"
    )
    (tmp_path / "till.js").write_text(text)
    with Workspace.open(tmp_path, state_dir=tmp_path / "state") as workspace:
        workspace.index()
        names = {dead.symbol.name for dead in workspace.graph.dead_code().dead}
    assert names == {"goneAway"}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("till.js", "export class Till {\n  ringOnce() {}\n  [Symbol.iterator]() {}\n}\nnew Till();\n"),
        ("till.js", "export const text = 'a'.replace(\n  /a/,\n  function swapped(found) { return found; });\n"),
        ("Till.cs", "public interface ITill { void RingOnce(); }\npublic class Till : ITill { }\n"),
        ("till.swift", "private class Till {\n    subscript(at: Int) -> Int { at }\n}\nlet till = Till()\n"),
    ],
)
def test_what_may_be_used_unsaid_is_not_surely_dead(path: str, text: str, tmp_path: Path) -> None:
    (tmp_path / path).write_text(text)
    with Workspace.open(tmp_path, state_dir=tmp_path / "state") as workspace:
        workspace.index()
        dead = {dead.symbol.name for dead in workspace.graph.dead_code().dead if dead.confidence >= 0.9}
    assert dead == set()


def test_a_call_of_an_interface_does_not_mean_a_static_method_of_the_same_name(tmp_path: Path) -> None:
    (tmp_path / "Mocks.java").write_text("public class Mocks {\n  public static void verify(Object o) {}\n}\n")
    (tmp_path / "Order.java").write_text("public interface Order {\n  void verify(Object o);\n}\n")
    (tmp_path / "Use.java").write_text(
        "class Use {\n  void use(Order order, Object it) {\n    order.verify(it);\n    Mocks.verify(it);\n  }\n}\n"
    )
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        answer = workspace.graph.callers("Mocks.verify")
    assert [(link.path, link.line) for link in answer.links] == [("Use.java", 4)]
    assert answer.unresolved is None


@pytest.mark.parametrize(
    ("files", "symbol", "place"),
    [
        (
            {
                "use.go": "package p\n\ntype Runner interface {\n\tSettle(x int)\n}\n\n"
                "func use(r Runner) {\n\tr.Settle(1)\n}\n",
                "own/own.go": "package own\n\ntype Own struct{}\n\nfunc (o Own) Settle(x int) {}\n",
            },
            "Own.Settle",
            ("use.go", 8),
        ),
        (
            {
                "use.py": "from typing import Protocol\n\n\nclass Runner(Protocol):\n    def settle(self): ...\n\n\n"
                "def use(r: Runner):\n    r.settle()\n",
                "own.py": "class Own:\n    def settle(self):\n        pass\n",
            },
            "Own.settle",
            ("use.py", 9),
        ),
        (
            {
                "use.ts": "interface Runner { settle(x: number): void }\n"
                "export function use(r: Runner) {\n  r.settle(1)\n}\n",
                "own.ts": "export function settle(x: number) {}\nexport const own = { settle }\n",
            },
            "own.ts:1",
            ("use.ts", 3),
        ),
    ],
)
def test_a_call_of_an_interface_may_mean_what_fits_it_unsaid(
    files: dict[str, str], symbol: str, place: tuple[str, int], tmp_path: Path
) -> None:
    write_files(tmp_path, files)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        links = workspace.graph.callers(symbol)
    unsure = [(mention.path, mention.line) for mention in links.unresolved.first] if links.unresolved else []
    by_interface = [(link.path, link.line) for base in links.above or () for link in base.links]
    assert unsure + by_interface == [place]


def test_a_call_in_half_typed_code_is_counted_beside_those_that_are_known(tmp_path: Path) -> None:
    files = {
        "shop.py": "def settle(x):\n    return x\n",
        "app.py": (
            "from shop import settle\n\n\ndef half(a):\n    if settle(1\n    return a\n\n\n"
            'def whole():\n    """Like settle(2)."""\n    return settle(2)  # or settle(3)\n\n\n'
            'def texts():\n    # settle(4)\n    return \'settle(5)\', """\n    settle(6)\n    """\n'
        ),
    }
    assert unknown_calls(tmp_path, "settle", files) == ("call", ["if settle(1"])


def test_a_word_of_a_script_is_no_call_of_another_language(tmp_path: Path) -> None:
    files = {
        "Till.java": "class Till {\n  void settle() {}\n\n  void run() { settle(); }\n\n  void shut() {}\n}\n",
        "run.sh": "echo Failed to settle\necho Failed to shut\n",
    }
    write_files(tmp_path, files)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert workspace.graph.callers("settle").unresolved is None
        said = workspace.graph.callers("shut").unresolved
    assert said is not None
    assert (said.form, said.lines) == ("name", 1)


def test_a_method_of_an_object_without_a_class_of_its_own_may_be_called_by_its_base(tmp_path: Path) -> None:
    (tmp_path / "Reader.scala").write_text(
        "abstract class Reader {\n  def parse(text: String): Int\n  def run(text: String): Int = parse(text)\n}\n\n"
        "object Readers {\n  def made(): Reader =\n    new Reader {\n"
        "      final def parse(text: String): Int = 1\n    }\n\n"
        "  def plain(): Int = {\n    def helper(): Int = 1\n    2\n  }\n}\n"
    )
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        for ask in (workspace.graph.callers, workspace.graph.references):
            unresolved = ask("Reader.scala:9").unresolved
            assert unresolved is not None
            assert unresolved.first == (Mention("Reader.scala", 3, "parse"),)
        assert workspace.graph.callers("Reader.scala:13").unresolved is None


def test_references_tell_of_calls_that_callers_tell_of(tmp_path: Path) -> None:
    (tmp_path / "a.php").write_text(
        "<?php\ninterface Plain { }\ninterface Stacking { public function pushPart(int $x): void; }\n"
        "class Wrapper {\n    public function __construct(private Plain $inner) { }\n"
        "    public function run(): void { $this->inner->pushPart(1); }\n}\n"
    )
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        called = workspace.graph.callers("Stacking.pushPart").unresolved
        assert called is not None
        assert workspace.graph.references("Stacking.pushPart").unresolved == called
