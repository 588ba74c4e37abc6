"""Which calls of Rust, Kotlin and Swift are resolved, one small project for each way to write them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from cairn.graph.nodes import file_of, place_of
from cairn.workspace import Workspace

Calls = Callable[[dict[str, str]], set[tuple[str, str]]]
MANIFEST = '[package]\nname = "shop"\n'
TILL = """\
package shop
class Till {
    class Builder {
        fun add(name: String): Builder = this
    }
    fun open(): Boolean = true
    companion object {
        fun builder(): Builder = Builder()
    }
}
"""


@pytest.fixture
def edges(tmp_path: Path) -> Calls:
    """Return a function that writes files and returns their references as (from, to), each as `path:qualified name`."""

    def find(files: dict[str, str]) -> set[tuple[str, str]]:
        folder = tmp_path / "project"
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        with Workspace.open(folder, state_dir=tmp_path / "state") as workspace:
            workspace.index()
            graph = workspace.graph.current()

            def named(node: int) -> str:
                path = graph.code.paths[file_of(node)]
                return f"{path}:{graph.code.definition(node).qualified_name}" if place_of(node) >= 0 else path

            numbers = range(len(graph.code.paths))
            found = (edge for number in numbers for edge in graph.resolver.edges(number))
            return {(named(edge.source), named(edge.target)) for edge in found}

    return find


@pytest.fixture
def crate(edges: Calls) -> Calls:
    """Return a function that finds the calls of some files, which belong to a crate called `shop`."""
    return lambda files: edges({"Cargo.toml": MANIFEST, **{path: dedent(text) for path, text in files.items()}})


@pytest.fixture
def kotlin(edges: Calls) -> Calls:
    """Return a function that finds the calls of some files beside the class `Till`."""
    return lambda files: edges({"Till.kt": TILL, **{path: dedent(text) for path, text in files.items()}})


# -- Rust -------------------------------------------------------------------------------------------------------------


def test_calls_in_the_arguments_of_macros_are_found(crate: Calls) -> None:
    found = crate(
        {
            "src/lib.rs": """\
            pub struct Till { open: bool }
            impl Till {
                pub fn count(&self) -> u32 { 0 }
                pub fn copy(&self) -> Till { Till { open: self.open } }
            }
            fn price(x: u32) -> u32 { x }
            fn pair<T>(x: T) -> T { x }
            fn main(till: Till) {
                println!("{}", price(1));
                assert_eq!(till.copy().count(), vec![pair(2)][0]);
            }
            fn unused() { assert!(matches!(price, Some(count) if (count)(1))) }
            """
        }
    )
    caller = "src/lib.rs:main"
    assert {(caller, f"src/lib.rs:{name}") for name in ("price", "pair", "Till.count", "Till.copy")} <= found
    assert ("src/lib.rs:unused", "src/lib.rs:price") not in {(a, b) for a, b in found if b.endswith("count")}


def test_items_inside_macros_that_switch_them_on_are_found(crate: Calls) -> None:
    found = crate(
        {
            "src/lib.rs": """\
            macro_rules! cfg_rt { ($($item:item)*) => { $($item)* } }
            cfg_rt! {
                pub fn spawn() {}
                pub mod inner {
                    cfg_rt! {
                        pub fn deep() { super::spawn() }
                    }
                }
            }
            pub struct Till;
            impl Till {
                cfg_rt! {
                    /// Opens.
                    pub fn open(&self) { spawn() }
                }
                pub fn close(&self) { self.open() }
            }
            """
        }
    )
    assert ("src/lib.rs:Till.open", "src/lib.rs:spawn") in found
    assert ("src/lib.rs:Till.close", "src/lib.rs:Till.open") in found
    assert ("src/lib.rs:inner.deep", "src/lib.rs:spawn") in found
    assert ("src/lib.rs", "src/lib.rs:cfg_rt") in found


def test_a_macro_is_found_in_its_crate_and_in_one_that_is_named(crate: Calls) -> None:
    found = crate(
        {
            "src/lib.rs": "#[macro_use]\nmod macros;\nmod till;\n",
            "src/macros.rs": "#[macro_export]\nmacro_rules! ready { ($e:expr) => { $e } }\n",
            "src/till.rs": "fn open() { ready!(1); println!(); }\nfn ready() {}\nfn plain() { ready(); }\n",
            "other/Cargo.toml": '[package]\nname = "other"\n',
            "other/src/lib.rs": "fn go() { shop::ready!(2); }\n",
            "third/Cargo.toml": '[package]\nname = "third"\n',
            "third/src/lib.rs": "use futures::ready;\nfn go() { ready!(2); }\n",
        }
    )
    macro = "src/macros.rs:ready"
    assert {source for source, target in found if target == macro} >= {"src/till.rs:open", "other/src/lib.rs:go"}
    assert ("src/till.rs:plain", "src/till.rs:ready") in found
    assert ("src/till.rs:plain", macro) not in found
    assert ("third/src/lib.rs:go", macro) not in found


def test_paths_begin_with_a_crate_with_crate_or_with_super(crate: Calls) -> None:
    found = crate(
        {
            "src/lib.rs": "pub mod till;\npub fn top() {}\n",
            "src/till.rs": """\
            pub fn open() { crate::top(); }
            fn up() { super::top(); self::open(); }
            mod tests { fn deep() { super::open(); super::super::top(); } }
            """,
            "tests/opening.rs": "mod support;\nuse support::helper;\nfn opens() { shop::till::open(); helper(); }\n",
            "tests/support/mod.rs": "pub fn helper() {}\n",
        }
    )
    assert ("src/till.rs:open", "src/lib.rs:top") in found
    assert ("src/till.rs:up", "src/lib.rs:top") in found
    assert ("src/till.rs:up", "src/till.rs:open") in found
    assert ("src/till.rs:tests.deep", "src/till.rs:open") in found
    assert ("src/till.rs:tests.deep", "src/lib.rs:top") in found
    assert ("tests/opening.rs:opens", "src/till.rs:open") in found
    assert ("tests/opening.rs:opens", "tests/support/mod.rs:helper") in found


def test_a_function_may_have_the_name_of_its_module(crate: Calls) -> None:
    found = crate(
        {
            "src/lib.rs": "mod sleep;\npub use sleep::sleep;\nfn go() { sleep(); sleep::deeply(); }\n",
            "src/sleep.rs": "pub fn sleep() {}\npub fn deeply() {}\n",
        }
    )
    assert ("src/lib.rs:go", "src/sleep.rs:sleep") in found
    assert ("src/lib.rs:go", "src/sleep.rs:deeply") in found


def test_a_variable_may_have_the_name_of_what_makes_its_value(crate: Calls) -> None:
    found = crate(
        {
            "src/lib.rs": "mod task;\nuse task::Task;\nfn run() -> Task { task::spawn() }\n"
            "fn go() { let task = task::spawn(); task.stop(); let run = run(); run.stop(); }\n",
            "src/task.rs": "pub struct Task;\nimpl Task { pub fn stop(&self) {} }\npub fn spawn() -> Task { Task }\n",
        }
    )
    for name in ("src/task.rs:spawn", "src/task.rs:Task.stop", "src/lib.rs:run"):
        assert ("src/lib.rs:go", name) in found


def test_the_type_of_a_field_counts_before_a_method_of_its_name(crate: Calls) -> None:
    found = crate(
        {
            "src/lib.rs": """\
            mod park;
            use park::{Park, Shared};
            type List = Shared;
            struct Driver { park: Park, list: List }
            struct Pair<'a>(pub &'a Park, Shared);
            impl Driver {
                fn park(&self) { self.park.stop(); self.list.size(); }
            }
            impl Pair<'_> {
                fn go(&self) { self.0.stop(); self.1.size() }
            }
            """,
            "src/park.rs": """\
            pub struct Park;
            impl Park { pub fn stop(&self) {} }
            pub struct Shared;
            impl Shared { pub fn size(&self) {} }
            """,
        }
    )
    for caller in ("Driver.park", "Pair.go"):
        assert (f"src/lib.rs:{caller}", "src/park.rs:Park.stop") in found
        assert (f"src/lib.rs:{caller}", "src/park.rs:Shared.size") in found


def test_type_arguments_of_a_call_may_hold_brackets(crate: Calls) -> None:
    found = crate({"src/lib.rs": "fn channel<T>() {}\nfn go() { channel::<()>(); channel::<Vec<(u8, u8)>>(); }\n"})
    assert ("src/lib.rs:go", "src/lib.rs:channel") in found


def test_a_method_of_something_unknown_is_not_found_by_its_name(crate: Calls) -> None:
    found = crate(
        {
            "src/lib.rs": """\
            struct Till;
            impl Till { fn put_slice(&self) {} }
            fn go(unknown: bytes::BytesMut) { unknown.put_slice(); make().put_slice(); }
            """
        }
    )
    assert "src/lib.rs:Till.put_slice" not in {target for _, target in found}


# -- Kotlin -----------------------------------------------------------------------------------------------------------


def test_an_extension_calls_methods_of_its_receiver(kotlin: Calls) -> None:
    found = kotlin(
        {
            "Bag.kt": "package shop\nclass Bag {\n    class Builder {\n        fun add(name: String) {}\n    }\n}\n",
            "More.kt": """\
            package shop
            fun Till.Builder.coin() = add("coin")
            fun Bag.Builder.note() { add("note") }
            fun Till.reopen() { this.open(); coin() }
            fun <T : Till> T.again() = open()
            """,
        }
    )
    assert ("More.kt:Builder.coin", "Till.kt:Till.Builder.add") in found
    assert ("More.kt:Builder.note", "Bag.kt:Bag.Builder.add") in found
    assert ("More.kt:Till.reopen", "Till.kt:Till.open") in found
    assert ("More.kt:T.again", "Till.kt:Till.open") in found


def test_extensions_of_types_of_other_libraries_are_found_by_package_and_import(kotlin: Calls) -> None:
    found = kotlin(
        {
            "texts/Texts.kt": """\
            package texts
            fun String.isQuoted(): Boolean = true
            fun String.quoted(): String = if (isQuoted()) this else this.escaped()
            fun String.escaped(): String = this
            fun Int.escaped(): Int = this
            """,
            "Use.kt": """\
            package shop
            import texts.quoted
            fun label(name: String) { name.quoted(); "x".quoted() }
            """,
            "Far.kt": "package far\nfun label(name: String) { name.escaped() }\n",
        }
    )
    assert ("texts/Texts.kt:String.quoted", "texts/Texts.kt:String.isQuoted") in found
    assert ("texts/Texts.kt:String.quoted", "texts/Texts.kt:String.escaped") in found
    assert ("Use.kt:label", "texts/Texts.kt:String.quoted") in found
    assert "texts/Texts.kt:Int.escaped" not in {target for _, target in found}
    assert ("Far.kt:label", "texts/Texts.kt:String.escaped") not in found


def test_calls_behind_an_operator_before_them_are_found(kotlin: Calls) -> None:
    found = kotlin({"Use.kt": "package shop\nfun ready() = true\nfun go() {\n    if (!ready()) return\n}\n"})
    assert ("Use.kt:go", "Use.kt:ready") in found


def test_parameters_in_the_head_of_a_class_are_known_in_its_body(kotlin: Calls) -> None:
    found = kotlin(
        {
            "Use.kt": """\
            package shop
            class Shop private constructor(till: Till, builder: Till.Builder) {
                val isOpen = till.open()
                val rest = builder.add("rest")
            }
            """
        }
    )
    assert {("Use.kt:Shop", "Till.kt:Till.open"), ("Use.kt:Shop", "Till.kt:Till.Builder.add")} <= found


def test_an_annotation_before_the_constructor_hides_nothing(kotlin: Calls) -> None:
    found = kotlin(
        {
            "Use.kt": """\
            package shop
            @JvmInline
            value class Wrapped<out T>
            @PublishedApi internal constructor(@PublishedApi internal val till: Till) {
                fun open() = till.open()
            }
            """
        }
    )
    assert ("Use.kt:Wrapped.open", "Till.kt:Till.open") in found


def test_companions_and_types_of_parameters_lead_to_methods(kotlin: Calls) -> None:
    found = kotlin(
        {"Use.kt": 'package shop\nfun <T : Till> go(till: T) {\n    Till.builder().add("x")\n    till.open()\n}\n'}
    )
    caller = "Use.kt:go"
    assert (caller, "Till.kt:Till.Builder.add") in found
    assert (caller, "Till.kt:Till.open") in found
    assert any(source == caller and target.endswith("builder") for source, target in found)


# -- Swift ------------------------------------------------------------------------------------------------------------


def test_a_type_counts_before_its_extensions_in_other_files(edges: Calls) -> None:
    found = edges(
        {
            "Till.swift": "struct Till {\n  func open() {}\n}\n",
            "Till+Debug.swift": "extension Till {\n  func dump() { open() }\n}\n",
            "Till+Shop.swift": "extension Till {\n  func sell() { self.dump() }\n"
            "  static func make() -> Till { Till() }\n}\n",
            "Till+Night.swift": "extension Till {}\n",
            "Shop.swift": "func run() {\n  let till = Till()\n  till.sell()\n  Till.make().open()\n}\n",
        }
    )
    assert ("Shop.swift:run", "Till.swift:Till") in found
    assert ("Shop.swift:run", "Till+Shop.swift:Till.sell") in found
    assert ("Shop.swift:run", "Till.swift:Till.open") in found
    assert ("Till+Debug.swift:Till.dump", "Till.swift:Till.open") in found
    assert ("Till+Shop.swift:Till.sell", "Till+Debug.swift:Till.dump") in found
    assert ("Till+Shop.swift:Till.make", "Till.swift:Till") in found


def test_making_something_of_another_library_is_no_call_of_its_extension(edges: Calls) -> None:
    found = edges(
        {
            "Data+Hex.swift": 'extension Data {\n  func hex() -> String { "" }\n}\n',
            "Shop.swift": "func run() {\n  let data = Data()\n  data.hex()\n}\n",
        }
    )
    assert ("Shop.swift:run", "Data+Hex.swift:Data") not in found
    assert ("Shop.swift:run", "Data+Hex.swift:Data.hex") in found


def test_calls_through_protocols_are_found(edges: Calls) -> None:
    found = edges(
        {
            "Monitor.swift": "protocol Monitor {\n  func opened()\n}\nextension Monitor {\n  func log() {}\n}\n",
            "Quiet.swift": "struct Quiet {}\n",
            "Quiet+Monitor.swift": "extension Quiet: Monitor {\n  func opened() {}\n}\n",
            "Till.swift": dedent("""\
            class Till {
              let monitor: (any Monitor)?
              weak var other: Monitor?
              func open() {
                monitor?.opened()
                other?.log()
              }
            }
            func watch<Kind: Monitor>(_ kind: Kind, with some: some Monitor) {
              kind.opened()
              some.log()
            }
            func rest<Kind>(in kind: Kind) where Kind: Monitor {
              kind.log()
            }
            func hush(quiet: Quiet) {
              quiet.log()
            }
            """),
        }
    )
    opened, log = "Monitor.swift:Monitor.opened", "Monitor.swift:Monitor.log"
    assert {("Till.swift:Till.open", opened), ("Till.swift:Till.open", log)} <= found
    assert {("Till.swift:watch", opened), ("Till.swift:watch", log)} <= found
    assert ("Till.swift:rest", log) in found
    assert ("Till.swift:hush", log) in found


def test_making_something_by_an_alias_of_its_type_leads_to_both(edges: Calls) -> None:
    found = edges(
        {
            "Till.swift": "struct Till {}\n",
            "Shop.swift": "struct Shop {\n  @usableFromInline\n  typealias Box = Till\n  func open() { Box() }\n}\n",
        }
    )
    assert ("Shop.swift:Shop.open", "Till.swift:Till") in found
    assert ("Shop.swift:Shop.open", "Shop.swift:Shop.Box") in found


def test_a_property_counts_before_a_method_of_its_name(edges: Calls) -> None:
    found = edges(
        {
            "Monitor.swift": "class Monitor {\n  func opened() {}\n}\n",
            "Till.swift": dedent("""\
            class Till {
              var monitor: Monitor?
              func monitor(_ monitor: Monitor) -> Till { self }
              func open() {
                monitor?.opened()
                self.monitor?.opened()
              }
            }
            """),
        }
    )
    assert ("Till.swift:Till.open", "Monitor.swift:Monitor.opened") in found


def test_what_try_and_await_give_has_a_type(edges: Calls) -> None:
    found = edges(
        {
            "Till.swift": "struct Till {\n  func open() {}\n}\nfunc make() async throws -> Till { Till() }\n",
            "Shop.swift": dedent("""\
            func run() async throws {
              let till = try await make()
              till.open()
            }
            func again(for till: Till) {
              let till = till.open()
            }
            """),
        }
    )
    assert ("Shop.swift:run", "Till.swift:Till.open") in found
    assert ("Shop.swift:again", "Till.swift:Till.open") in found


def test_an_attribute_makes_what_wraps_a_property(edges: Calls) -> None:
    found = edges(
        {
            "Flag.swift": "@propertyWrapper\nstruct Flag {\n  init(name: String) {}\n}\n",
            "Shop.swift": 'struct Shop {\n  @Flag(name: "open")\n  var isOpen: Bool\n}\n',
        }
    )
    assert "Flag.swift:Flag" in {target for source, target in found if source.startswith("Shop.swift")}
