"""Calls on what a variable holds: one branch of a condition, a default, a cast, an item, what a place must be."""

from __future__ import annotations

from pathlib import Path

import pytest

from small_projects import callers

KOTLIN = """package till
open class Drawer
class Small : Drawer() {
    fun slam() = 1
    fun same(): Small = this
    fun turn(each: (Int) -> Int): Small = this
    private fun Int.cents() = this
    fun pay(coin: Int) = coin.cents()
}
class Large : Drawer() {
    fun slam() = 2
    fun cents() = 3
}
class Box(val drawers: List<Small>, drawer: Any) {
    private val first get() = drawers.first()
    fun open() = first.slam()
}
fun Small.again() = same()
val Small.other: Small get() = same()
"""
KOTLIN_LINES = [
    "val it = if (other) Small() else null; it?.slam()",
    "val it = make(drawer) ?: Small(); it.slam()",
    "val it = drawer as Small; it.slam()",
    "val it = drawer as? Small ?: return; it.slam()",
    "val it = when (n) { 1 -> Small() else -> null }; it!!.slam()",
    "(drawer as? Small)?.slam()",
    "for (it in smalls) it.slam()",
    "val it = smalls[0]; it.slam()",
    "rest.forEach { it.slam() }",
    "Small().turn { 1 }.turn { 2 }.slam()",
    "Small().other.slam()",
    "var it: Any = 1; it = Small(); it.slam()",
]


@pytest.mark.parametrize("line", KOTLIN_LINES)
def test_kotlin_tells_what_a_variable_holds_by(line: str, tmp_path: Path) -> None:
    head = "fun run(drawer: Any, smalls: List<Small>, n: Int, other: Boolean, vararg rest: Small) {"
    files = {"Drawer.kt": KOTLIN, "App.kt": f"package till\n{head}\n    {line}\n}}\n"}
    assert ("App.kt", 3) in callers(tmp_path, "Small.slam", files)


def test_a_property_of_kotlin_holds_what_its_getter_gives(tmp_path: Path) -> None:
    assert callers(tmp_path, "Small.slam", {"Drawer.kt": KOTLIN}) == {("Drawer.kt", 16)}


def test_an_extension_in_a_class_of_kotlin_is_called_there(tmp_path: Path) -> None:
    assert callers(tmp_path, "Int.cents", {"Drawer.kt": KOTLIN}) == {("Drawer.kt", 8)}


def test_a_method_called_await_is_no_operator(tmp_path: Path) -> None:
    text = "package till\nclass All {\n    fun await() = 1\n}\nfun run() = All().await()\n"
    assert callers(tmp_path, "All.await", {"All.kt": text}) == {("All.kt", 5)}


def test_kotlin_names_the_type_of_an_outer_object(tmp_path: Path) -> None:
    text = "package till\nclass All {\n    fun go() = 1\n    fun run() { with(2) { this@All.go() } }\n}\n"
    assert callers(tmp_path, "All.go", {"All.kt": text}) == {("All.kt", 4)}


def test_a_variable_that_gets_several_types_has_the_methods_of_each(tmp_path: Path) -> None:
    text = (
        "package till\nclass A {\n    fun one() = 1\n}\nclass B {\n    fun two() = 1\n}\n"
        "fun run(x: Any) {\n    if (x is A) {\n        val y = A()\n        y.one()\n    } else {\n"
        "        val y = B()\n        y.two()\n    }\n}\n"
    )
    assert callers(tmp_path, "B.two", {"All.kt": text}) == {("All.kt", 14)}


SWIFT = """class Small {
    static func made(of size: Int) -> Small { Small() }
    init(_ size: Int = 1) {}
    func slam() -> Int { 1 }
}
class Large {
    static func made(of size: Int) -> Large { Large() }
    func slam() -> Int { 2 }
}
protocol Named {}
extension Named {
    func name() -> String { "" }
}
func paint(_ drawer: Small, with other: Small = Small(), all: [Small] = []) {}
"""
SWIFT_SLAMS = [
    "if let it = drawer as? Small { it.slam() }",
    "guard let it = find(), let other = smalls.first else { return }; other.slam()",
    "let it = n == 1 ? Small() : Small(); it.slam()",
    "let it = none ?? Small(); it.slam()",
    "for it in smalls { it.slam() }",
    "(drawer as? Small)?.slam()",
    "if !done(Small().slam()) { return }",
]
SWIFT_MAKES = [
    "paint(.made(of: 1))",
    "paint(Small(), with: .made(of: 1))",
    "paint(Small(), all: [.made(of: 1)])",
    "let it: Small = .made(of: 1)",
    "small = .made(of: 1)",
]


@pytest.mark.parametrize("line", SWIFT_SLAMS)
def test_swift_tells_what_a_variable_holds_by(line: str, tmp_path: Path) -> None:
    head = "func run(drawer: Any, smalls: [Small], n: Int) {"
    files = {"Drawer.swift": SWIFT, "App.swift": f"{head}\n    {line}\n}}\n"}
    assert callers(tmp_path, "Small.slam", files) == {("App.swift", 2)}


@pytest.mark.parametrize("line", SWIFT_MAKES)
def test_a_member_of_swift_without_a_type_is_of_the_type_of_its_place(line: str, tmp_path: Path) -> None:
    files = {"Drawer.swift": SWIFT, "App.swift": f"func run(small: Small) {{\n    {line}\n}}\n"}
    assert callers(tmp_path, "Small.made", files) == {("App.swift", 2)}


def test_a_result_tells_the_type_of_a_member_of_swift(tmp_path: Path) -> None:
    files = {"Drawer.swift": SWIFT, "App.swift": "func run() -> Small {\n    return .made(of: 2)\n}\n"}
    assert callers(tmp_path, "Small.made", files) == {("App.swift", 2)}


def test_an_extension_of_swift_calls_what_its_type_inherits(tmp_path: Path) -> None:
    text = "protocol Known: Named {}\nextension Known {\n    func run() { name() }\n}\n"
    assert callers(tmp_path, "Named.name", {"Drawer.swift": SWIFT, "App.swift": text}) == {("App.swift", 3)}


TYPESCRIPT = """export class Small {
  slam() {}
}
export class Large {
  slam() {}
}
export function make(): Small | null {
  return null;
}
"""


@pytest.mark.parametrize(
    "line",
    [
        "const it = n ? new Small() : make(); it.slam();",
        "const it = find() ?? new Small(); it.slam();",
        "const it = (n as Small); it.slam();",
        "const it = n! as Small; it.slam();",
        "for (const it of smalls) { it.slam(); }",
        "let it; it = n ? null : new Small(); it.slam();",
    ],
)
def test_typescript_tells_what_a_variable_holds_by(line: str, tmp_path: Path) -> None:
    head = 'import { Small, make } from "./small";\nexport function run(n: unknown, smalls: Small[]) {'
    files = {"small.ts": TYPESCRIPT, "app.ts": f"{head}\n  {line}\n}}\n"}
    assert callers(tmp_path, "Small.slam", files) == {("app.ts", 3)}


JAVA = (
    "package till;\npublic class Small {\n    public void slam() {}\n}\nclass Large {\n    public void slam() {}\n}\n"
)


@pytest.mark.parametrize(
    "line",
    [
        "var it = n > 1 ? new Small() : other; it.slam();",
        "var it = (Small) other; it.slam();",
        "for (var it : smalls) { it.slam(); }",
    ],
)
def test_java_tells_what_a_variable_holds_by(line: str, tmp_path: Path) -> None:
    text = (
        "package till;\nimport java.util.List;\nclass App {\n    void run(int n, Object other, List<Small> smalls) {\n"
        f"        {line}\n    }}\n}}\n"
    )
    assert callers(tmp_path, "Small.slam", {"Small.java": JAVA, "App.java": text}) == {("App.java", 5)}


REASSIGNED = {
    "App.java": "package till;\nclass App {\n    void run(Small it, Other other) {\n        it.slam();\n"
    "        it = other.each().next();\n        it.slam();\n    }\n}\n",
    "App.cs": "namespace Till;\nclass App {\n    void Run(Small it, Other other) {\n        it.slam();\n"
    "        it = other.Each().Next();\n        it.slam();\n    }\n}\n",
    "app.cpp": '#include "small.h"\n\nvoid run(Small *it, Other *other) {\n  it->slam();\n'
    "  it = other->each()->next();\n  it->slam();\n}\n",
    "app.ts": 'import { Small } from "./small";\n\nfunction run(it: Small, other: any) {\n  it.slam();\n'
    "  it = other.each().next();\n  it.slam();\n}\n",
}
DECLARED = {
    "App.java": {"Small.java": JAVA},
    "App.cs": {"Small.cs": "namespace Till;\npublic class Small {\n    public void slam() {}\n}\n"},
    "app.cpp": {"small.h": "class Small {\n public:\n  void slam() {}\n};\n"},
    "app.ts": {"small.ts": "export class Small {\n  slam() {}\n}\n"},
}


@pytest.mark.parametrize("path", REASSIGNED)
def test_a_parameter_keeps_its_declared_type_when_something_unknown_is_assigned(path: str, tmp_path: Path) -> None:
    assert callers(tmp_path, "Small.slam", {path: REASSIGNED[path], **DECLARED[path]}) == {(path, 4), (path, 6)}


CSHARP = """namespace Till;
public class Small {
    public void Slam() {}
}
public class Large {
    public void Slam() {}
}
"""


@pytest.mark.parametrize(
    "line",
    [
        "var it = n > 1 ? new Small() : null; it.Slam();",
        "var it = (Small) other; it.Slam();",
        "var it = other as Small; it.Slam();",
        "var it = none ?? new Small(); it.Slam();",
        "var it = n switch { 1 => new Small(), _ => null }; it.Slam();",
        "foreach (var it in smalls) { it.Slam(); }",
    ],
)
def test_csharp_tells_what_a_variable_holds_by(line: str, tmp_path: Path) -> None:
    text = (
        "using System.Collections.Generic;\nnamespace Till;\nclass App {\n"
        f"    void Run(int n, object other, List<Small> smalls) {{\n        {line}\n    }}\n}}\n"
    )
    assert callers(tmp_path, "Small.Slam", {"Small.cs": CSHARP, "App.cs": text}) == {("App.cs", 5)}


PHP = "<?php\nclass Small {\n    function slam() {}\n}\nclass Large {\n    function slam() {}\n}\n"


@pytest.mark.parametrize(
    "line",
    [
        "$it = $n ? new Small() : null; $it->slam();",
        "$it = $none ?? new Small(); $it->slam();",
        "$it = match ($n) { 1 => new Small(), default => null }; $it->slam();",
        "$one = new Small(); $it = clone $one; $it->slam();",
        "foreach ($smalls as $it) { $it->slam(); }",
        "foreach ($smalls as $key => $it) { $it->slam(); }",
    ],
)
def test_php_tells_what_a_variable_holds_by(line: str, tmp_path: Path) -> None:
    text = f"<?php\n/** @param Small[] $smalls */\nfunction run($n, array $smalls) {{\n    {line}\n}}\n"
    assert callers(tmp_path, "Small.slam", {"Small.php": PHP, "App.php": text}) == {("App.php", 4)}


RUST = """pub struct Small { n: u32 }
impl Small {
    pub fn new() -> Small { Small { n: 1 } }
    pub fn slam(&self) -> u32 { self.n }
}
pub struct Large { n: u32 }
impl Large {
    pub fn slam(&self) -> u32 { self.n }
}
pub enum Drawer { One(u32, Small), Two { inner: Small } }
pub struct Pair(Large, Small);
pub struct Till { small: Small }
pub trait Slams { fn slam(&self) -> u32; }
pub struct Holder<S> { slams: S }
impl<S: Slams> Holder<S> {
    pub fn all(&self) -> u32 { self.slams.slam() }
}
"""


@pytest.mark.parametrize(
    "line",
    [
        "match drawer { Drawer::One(_, ref mut it) => it.slam(), _ => 1 };",
        "if let Drawer::Two { inner, .. } = drawer { inner.slam(); }",
        "match drawer { Drawer::Two { inner: it } => it.slam(), _ => 1 };",
        "let Pair(_, it) = pair; it.slam();",
        "let Till { small: it } = till; it.slam();",
        "let it = Arc::new(Small::new()); it.slam();",
        "let it = if n > 1 { Small::new() } else { other }; it.slam();",
    ],
)
def test_rust_tells_what_a_variable_holds_by(line: str, tmp_path: Path) -> None:
    head = "use crate::till::*;\nfn run(drawer: Drawer, pair: Pair, till: Till, n: u32) {"
    files = {"src/lib.rs": "mod till;\nmod app;\n", "src/till.rs": RUST, "src/app.rs": f"{head}\n    {line}\n}}\n"}
    assert callers(tmp_path, "Small.slam", files) == {("src/app.rs", 3)}


def test_a_bound_tells_what_a_field_has_that_is_declared_without_it(tmp_path: Path) -> None:
    files = {"src/lib.rs": "mod till;\n", "src/till.rs": RUST}
    assert callers(tmp_path, "Slams.slam", files) == {("src/till.rs", 16)}


def test_a_type_that_extends_a_list_holds_what_it_says(tmp_path: Path) -> None:
    files = {
        "Small.java": JAVA,
        "Row.java": "package till;\nimport java.util.ArrayList;\nclass Row<T> extends ArrayList<T> {\n"
        "    T pick() { return get(0); }\n}\n",
        "Smalls.java": "package till;\nclass Smalls extends Row<Small> {}\n",
        "App.java": "package till;\nclass App {\n    void run(Smalls all) {\n        all.get(0).slam();\n"
        "        all.pick().slam();\n    }\n}\n",
    }
    assert callers(tmp_path, "Small.slam", files) == {("App.java", 4), ("App.java", 5)}


DESCRIPTOR = """class Till:
    def open(self): ...
class Other:
    def open(self): ...
class Late(Generic[T]):
    def __get__(self, shop, owner) -> T: ...
    def open(self): ...
class Made:
    def __get__(self, shop, owner) -> Till: ...
class Plain:
    def __get__(self, shop, owner): ...
class Shop:
    late: Late[Till] = Late()
    made = Made()
    plain = Plain()
    def __init__(self):
        self.plain = Till()
"""


@pytest.mark.parametrize("name", ["late", "made", "plain"])
def test_a_descriptor_of_python_gives_what_it_is_declared_with_or_returns_or_is_assigned(
    name: str, tmp_path: Path
) -> None:
    files = {"shop.py": DESCRIPTOR, "app.py": f"from shop import Shop\ndef run(shop: Shop):\n    shop.{name}.open()\n"}
    assert callers(tmp_path, "Till.open", files) == {("app.py", 3)}
    assert callers(tmp_path, "Late.open", files) == set()


def test_a_descriptor_is_itself_on_its_class(tmp_path: Path) -> None:
    files = {"shop.py": DESCRIPTOR, "app.py": "from shop import Shop\nShop.late.open()\n"}
    assert callers(tmp_path, "Late.open", files) == {("app.py", 2)}
