"""Who calls what in Go, Java, TypeScript, C and C++, where the rules of the language decide."""

from __future__ import annotations

from pathlib import Path

import pytest

from cairn.workspace import Workspace
from small_projects import callers, write_files

GO = {"go.mod": "module shop\n"}
GO_CART = "package shop\n\ntype Cart struct{}\n\nfunc (c *Cart) Add() {}\n\nfunc first[T any](x T) T { return x }\n\n"


def calling_lines(root: Path, symbol: str, files: dict[str, str]) -> set[str]:
    """Return the lines of a small project that call a symbol."""
    return {files[path].splitlines()[line - 1].strip() for path, line in callers(root, symbol, files)}


@pytest.mark.parametrize(
    ("symbol", "code"),
    [
        ("Cart.Add", "func run() {\n\tuse(func(n int, c *Cart) {\n\t\tc.Add() // here\n\t})\n}\n"),
        ("Cart.Add", "func run(x any) {\n\tcart, ok := x.(*Cart)\n\tcart.Add() // here\n}\n"),
        ("Cart.Add", "func run(x any) {\n\tx.(*Cart).Add() // here\n}\n"),
        ("Cart.Add", "func run() {\n\t(&Cart{}).Add() // here\n}\n"),
        ("first", "func run() {\n\tfirst[int](1) // here\n}\n"),
    ],
    ids=["parameter of a closure", "asserted variable", "assertion", "literal in brackets", "type arguments"],
)
def test_the_receiver_of_a_call_of_go_is_known(symbol: str, code: str, tmp_path: Path) -> None:
    files = {**GO, "cart.go": GO_CART + code}
    assert [line for line in calling_lines(tmp_path, symbol, files) if "here" in line]


JAVA = {
    "shop/Base.java": (
        "package shop;\n\npublic class Base {\n  public Base(int x) {}\n  Base self() { return this; }\n"
        "  Base put(Object x) { return this; }\n  void run() {}\n  static void go(String s) {}\n}\n"
    ),
    "shop/Mode.java": "package shop;\n\npublic enum Mode {\n  ON, OFF;\n  void run() {}\n}\n",
    "shop/Open.java": "package shop;\n\npublic interface Open {\n  void look();\n}\n",
}


@pytest.mark.parametrize(
    ("symbol", "body"),
    [
        ("Base.run", "Base made(Base b) { return b; }\n  void f() { self().self().run(); } // here"),
        ("Base.run", "void f(Object o) { ((Base) o).run(); } // here"),
        ("Base.run", 'void f() { new Base(1) { void g() { x("it\'s"); } }.run(); } // here'),
        (
            "Base.run",
            "void f(Base b) { b.put(new Base(1) { " + "void g() { int x = 1; } " * 20 + "})\n.run(); } // here",
        ),
        ("Base.run", "void f() { new Base(2) {\n void g() { run(); } // here\n }; }"),
        ("Base.go", "void f() { String go = Open.x(); go(go); } // here"),
        ("Base", "Cart(int x) { super(x); } // here"),
        ("Cart", "Cart(int x) { super(x); }\n  Cart() { this(1); } // here"),
        ("Mode.run", "void f() { Mode.ON.run(); } // here"),
    ],
    ids=[
        "result in a type with a constructor",
        "cast",
        "anonymous class",
        "long arguments",
        "within an anonymous class",
        "a variable of the name of a method",
        "super",
        "another constructor",
        "constant of an enum",
    ],
)
def test_the_receiver_of_a_call_of_java_is_known(symbol: str, body: str, tmp_path: Path) -> None:
    files = {
        **JAVA,
        "shop/Cart.java": f"package shop;\n\npublic class Cart extends Base implements Open {{\n  {body}\n}}\n",
    }
    assert [line for line in calling_lines(tmp_path, symbol, files) if "here" in line]


@pytest.mark.parametrize(
    ("symbol", "body"),
    [
        ("Tool.parseNumber", "void f() { Integer.parseNumber(x); }"),
        ("Tool.findIt", "void f(Class<?> c) { getClass().findIt(); c.getClass().findIt(); }"),
        ("Tool.sendAll", "private java.util.List<String> all;\n  void f() { all.sendAll(); this.all.sendAll(); }"),
        ("Open", "class Inner extends Exception implements Open {\n    Inner() { super(); }\n  }"),
    ],
    ids=["class of the library", "class object", "field of a foreign type", "interface"],
)
def test_what_java_gets_from_another_library_is_no_call(symbol: str, body: str, tmp_path: Path) -> None:
    tool = "package shop;\n\nclass Tool {\n  void parseNumber(int x) {}\n  void findIt() {}\n  void sendAll() {}\n}\n"
    files = {**JAVA, "shop/Tool.java": tool, "shop/Cart.java": f"package shop;\n\nclass Cart {{\n  {body}\n}}\n"}
    assert not {line for line in calling_lines(tmp_path, symbol, files) if "(" in line}


TYPESCRIPT = (
    "export interface Maker {\n  init(): void;\n}\nexport interface Mail {\n  text: string;\n}\n"
    "export const Mail: Maker = make();\nexport class Cart {\n  add(): void {}\n}\n"
)


@pytest.mark.parametrize(
    ("symbol", "code"),
    [
        ("Maker.init", "Mail.init(); // here\n"),
        ("Cart.add", "const cart = found as Cart;\ncart.add(); // here\n"),
        ("Cart.add", "(found as Cart).add(); // here\n"),
        ("Cart.add", "const cart = given.cart ?? new Cart();\ncart.add(); // here\n"),
        ("Cart.add", "const first = new Cart();\nconst cart = first!;\ncart.add(); // here\n"),
    ],
    ids=["variable beside an interface", "cast variable", "cast", "default", "not null"],
)
def test_the_receiver_of_a_call_of_typescript_is_known(symbol: str, code: str, tmp_path: Path) -> None:
    files = {"shop.ts": TYPESCRIPT, "app.ts": 'import { Cart, Mail } from "./shop";\n\n' + code}
    assert [line for line in calling_lines(tmp_path, symbol, files) if "here" in line]


def test_methods_of_arrays_and_pages_are_no_calls_of_the_only_function_of_the_name(tmp_path: Path) -> None:
    files = {
        "a.ts": "export const own = {\n  includes(x: string) {},\n  setAttribute(x: string) {},\n};\n",
        "b.ts": 'export function f(list, node) {\n  list.includes("a");\n  node.setAttribute("b");\n}\n',
    }
    assert calling_lines(tmp_path, "includes", files) == set()
    assert calling_lines(tmp_path, "setAttribute", files) == set()


def test_what_a_source_file_of_c_keeps_to_itself_is_not_called_elsewhere(tmp_path: Path) -> None:
    files = {
        "own.c": (
            "static void helper(int x) {}\n#define release(x) helper(x)\nvoid take(int x);\n"
            "void run(void) { helper(1); }\n"
        ),
        "other.c": "void go(void) { helper(2); release(3); take(4); }\n",
    }
    assert calling_lines(tmp_path, "helper", files) == {files["own.c"].splitlines()[3]}
    assert calling_lines(tmp_path, "release", files) == set()
    assert calling_lines(tmp_path, "own.c:take", files) == set()


def test_a_class_within_another_is_not_a_class_of_the_same_name_outside(tmp_path: Path) -> None:
    files = {
        "list.h": (
            "namespace db {\nclass List {\n public:\n  class Iterator {\n   public:\n    void Next();\n  };\n};\n}\n"
        ),
        "iterator.h": "namespace db {\nclass Iterator {\n public:\n  virtual void Next() = 0;\n};\n}\n",
        "use.cc": '#include "iterator.h"\nnamespace db {\nvoid run(Iterator* it) {\n  it->Next();\n}\n}\n',
    }
    assert calling_lines(tmp_path, "list.h:Next", files) == set()
    assert calling_lines(tmp_path, "iterator.h:Next", files) == {"it->Next();"}


CPP = {
    "shop.h": (
        "namespace shop {\nclass Cart {\n public:\n  explicit Cart(int x);\n  void Add();\n};\n\nclass Store {\n"
        " public:\n  void Run();\n  void Run(Cart* c);\n  void Help();\n  struct State;\n private:\n"
        "  Cart* const cart_;\n};\n}\n"
    )
}


@pytest.mark.parametrize(
    ("symbol", "code"),
    [
        ("Cart.Add", "void Store::Run() {\n  cart_->Add(); // here\n}\n"),
        ("Store.Help", "void Store::Run() {\n  Help(); // here\n}\n"),
        ("Store.Help", "void Store::Run() {\n  this->Help(); // here\n}\n"),
        (
            "Cart.Add",
            "struct Store::State {\n  Cart* cart;\n};\nvoid Store::Go(State* s) {\n  s->cart->Add(); // here\n}\n",
        ),
        ("Cart.Add", "void run(int n) {\n  Cart cart(n);\n  cart.Add(); // here\n}\n"),
        ("Cart.Add", "void run(void* p) {\n  ((Cart*)p)->Add(); // here\n}\n"),
        ("Cart", "class Large : public Cart {\n public:\n  Large() : Cart(1) {} // here\n};\n"),
    ],
    ids=["constant pointer", "own method", "this", "type within the type", "variable like a function", "cast", "base"],
)
def test_the_receiver_of_a_call_of_cpp_is_known(symbol: str, code: str, tmp_path: Path) -> None:
    files = {**CPP, "shop.cc": f'#include "shop.h"\nnamespace shop {{\n{code}}}\n'}
    assert [line for line in calling_lines(tmp_path, symbol, files) if "here" in line]


LOCK = {
    "lock.h": (
        "class Lock {\n public:\n  explicit Lock(int* held) : held_(held) {}\n  ~Lock() {}\n private:\n"
        "  int* const held_;\n};\n"
    )
}


@pytest.mark.parametrize(
    "code",
    [
        "void run() {\n  int a;\n  Lock one(&a); // here\n}\n",
        "void run() {\n  int a;\n  const Lock one{&a}; // here\n}\n",
        "void run(int* a) {\n  Lock one(a); // here\n}\n",
        "void run() {\n  auto go = [](int* a) {\n    Lock one(a); // here\n  };\n}\n",
        "void Till::run() {\n  Lock one(mutex_); // here\n}\n",
        "void run(int a) {\n  Lock one(held(a)); // here\n}\n",
        "static Lock one(nullptr); // here\n",
        "class Till {\n  Lock one{nullptr}; // here\n};\n",
    ],
    ids=["brackets", "braces", "parameter", "in a closure", "member", "call", "outside", "field"],
)
def test_a_declaration_of_cpp_with_values_makes_an_object(code: str, tmp_path: Path) -> None:
    files = {**LOCK, "till.cc": f'#include "lock.h"\n{code}'}
    assert [line for line in calling_lines(tmp_path, "Lock", files) if "here" in line]


@pytest.mark.parametrize(
    "code",
    ["Lock one(int a);", "Lock one(Other);", "Lock one(Other o);", "Lock one();", "Lock* one(&a);"],
)
def test_what_may_declare_a_function_of_cpp_makes_nothing(code: str, tmp_path: Path) -> None:
    files = {**LOCK, "till.cc": f'#include "lock.h"\nvoid run(int a) {{\n  {code}\n  Other(a);\n}}\n'}
    assert not callers(tmp_path, "Lock", files)


def test_a_destructor_of_cpp_is_no_call_of_its_type(tmp_path: Path) -> None:
    code = '#include "lock.h"\nvoid run(int* a) {\n  Lock one(a);\n  new Lock(a);\n}\n'
    write_files(tmp_path, {**LOCK, "till.cc": code})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        calling = workspace.graph.callers("lock.h:Lock")
        found = workspace.graph.references("lock.h:Lock").references
    assert {(link.path, link.line) for link in calling.links} == {("till.cc", 3), ("till.cc", 4)}
    assert calling.unresolved is None
    assert {(each.kind, each.path, each.line) for each in found} == {
        ("construct", "till.cc", 3),
        ("construct", "till.cc", 4),
    }


def test_one_of_several_overloads_says_what_all_return(tmp_path: Path) -> None:
    text = (
        "interface Till {\n  pick(): Till;\n  pick<\n    A,\n  >(\n    one: A,\n    two: string,\n  ): Till;\n"
        "  ring(): void;\n}\ninterface Other {\n  ring(): void;\n}\n"
        "function run(till: Till) {\n  till.pick(1).ring();\n}\n"
    )
    assert callers(tmp_path, "Till.ring", {"till.ts": text}) == {("till.ts", 15)}


def test_a_property_with_a_setter_gives_what_its_getter_says(tmp_path: Path) -> None:
    text = (
        "class Drawer:\n    def pop(self): ...\n\nclass Till:\n    @property\n    def drawer(self) -> Drawer:\n"
        "        return self._drawer\n    @drawer.setter\n    def drawer(self, value):\n"
        "        self._drawer = value if value is not None else Drawer()\n\n\n"
        "def run(till: Till):\n    till.drawer.pop()\n"
    )
    assert callers(tmp_path, "Drawer.pop", {"till.py": text}) == {("till.py", 14)}


def test_methods_of_tests_are_not_what_other_code_calls(tmp_path: Path) -> None:
    method = "    def count_coins(self): ...\n"
    files = {
        "till.py": f"class Till:\n{method}\n\nclass Small(Till):\n{method}",
        "tests/test_till.py": f"class Fake:\n{method}",
        "app.py": "def run(till):\n    till.count_coins()\n",
    }
    assert callers(tmp_path, "Till.count_coins", files) == {("app.py", 2)}


@pytest.mark.parametrize(
    ("imports", "call"),
    [
        ("import static a.Sub.check;", "check(1)"),
        ("import static a.Sub.*;", "check(1)"),
        ("import a.Sub;", "Sub.check(1)"),
        ("", "a.Sub.check(1)"),
        ("", "a.Base.check(1)"),
    ],
)
def test_static_methods_of_java_are_found_that_a_subclass_gives(tmp_path: Path, imports: str, call: str) -> None:
    files = {
        "a/Base.java": "package a;\npublic class Base {\n  public static int check(int x) { return x; }\n}\n",
        "a/Sub.java": "package a;\npublic class Sub extends Base {\n}\n",
        "b/Use.java": f"package b;\n{imports}\nclass Use {{\n  int use() {{ return {call}; }}\n}}\n",
    }
    assert callers(tmp_path, "Base.check", files) == {("b/Use.java", 4)}


PRIVATE = """\
class Cart {
  #lines = [];
  #add(line) { this.#lines.push(line); }
  static #made() { return new Cart(); }
  fill(other, line) {
    this.#add(line); // here
    other.#add(line); // here
    [1].forEach((n) => this.#add(n)); // here
    return Cart.#made();
  }
}
class Other {
  #add(line) {}
  fill() { this.#add(1); }
}
"""


@pytest.mark.parametrize("ending", ["js", "ts"])
@pytest.mark.parametrize("symbol", ["Cart.#add", "cart.{}#Cart.#add", "cart.{}:3"])
def test_a_private_name_means_the_member_of_the_class_around_it(ending: str, symbol: str, tmp_path: Path) -> None:
    files = {f"cart.{ending}": PRIVATE}
    lines = {number for number, text in enumerate(PRIVATE.splitlines(), 1) if text.endswith("// here")}
    assert callers(tmp_path, symbol.format(ending), files) == {(f"cart.{ending}", line) for line in lines}


def test_a_cast_to_anything_says_nothing(tmp_path: Path) -> None:
    text = "class Cart {\n  add() {}\n  fill() {\n    (this as any).add(); // here\n  }\n}\n"
    assert callers(tmp_path, "Cart.add", {"cart.ts": text}) == {("cart.ts", 4)}


def test_a_raw_name_of_rust_is_the_name(tmp_path: Path) -> None:
    text = "pub struct Reader;\nimpl Reader {\n    fn r#async() {}\n}\nfn run() {\n    Reader::r#async();\n}\n"
    assert callers(tmp_path, "Reader.async", {"lib.rs": text}) == {("lib.rs", 6)}


def test_a_heading_is_not_meant_where_code_has_the_name(tmp_path: Path) -> None:
    files = {"guide.md": "# Drawer\n\nA drawer.\n", "app.py": "class Drawer: ...\n\n\nDrawer()\n"}
    assert callers(tmp_path, "Drawer", files) == {("app.py", 4)}
