"""Which calls of Rust are resolved, one small project for each way to write them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from cairn.graph.nodes import file_of, place_of
from cairn.workspace import Workspace

Calls = Callable[[dict[str, str]], set[tuple[str, str]]]
MANIFEST = '[package]\nname = "shop"\n'


@pytest.fixture
def calls(tmp_path: Path) -> Calls:
    """Return a function that writes files and returns their calls as (from, to), both as `path:name`."""

    def find(files: dict[str, str]) -> set[tuple[str, str]]:
        folder = tmp_path / "project"
        for path, text in {"Cargo.toml": MANIFEST, **files}.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(dedent(text))
        with Workspace.open(folder, state_dir=tmp_path / "state") as workspace:
            workspace.index()
            graph = workspace.graph.current()

            def named(node: int) -> str:
                path = graph.code.paths[file_of(node)]
                return f"{path}:{graph.code.definition(node).qualified_name}" if place_of(node) >= 0 else path

            return {
                (named(edge.source), named(edge.target))
                for number in range(len(graph.code.paths))
                for edge in graph.resolver.edges(number)
            }

    return find


def test_calls_in_the_arguments_of_macros_are_found(calls: Calls) -> None:
    found = calls(
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


def test_items_inside_macros_that_switch_them_on_are_found(calls: Calls) -> None:
    found = calls(
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


def test_a_macro_is_found_in_its_crate_and_in_one_that_is_named(calls: Calls) -> None:
    found = calls(
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


def test_paths_begin_with_a_crate_with_crate_or_with_super(calls: Calls) -> None:
    found = calls(
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


def test_a_function_may_have_the_name_of_its_module(calls: Calls) -> None:
    found = calls(
        {
            "src/lib.rs": "mod sleep;\npub use sleep::sleep;\nfn go() { sleep(); sleep::deeply(); }\n",
            "src/sleep.rs": "pub fn sleep() {}\npub fn deeply() {}\n",
        }
    )
    assert ("src/lib.rs:go", "src/sleep.rs:sleep") in found
    assert ("src/lib.rs:go", "src/sleep.rs:deeply") in found


def test_a_variable_may_have_the_name_of_what_makes_its_value(calls: Calls) -> None:
    found = calls(
        {
            "src/lib.rs": "mod task;\nuse task::Task;\nfn run() -> Task { task::spawn() }\n"
            "fn go() { let task = task::spawn(); task.stop(); let run = run(); run.stop(); }\n",
            "src/task.rs": "pub struct Task;\nimpl Task { pub fn stop(&self) {} }\npub fn spawn() -> Task { Task }\n",
        }
    )
    for name in ("src/task.rs:spawn", "src/task.rs:Task.stop", "src/lib.rs:run"):
        assert ("src/lib.rs:go", name) in found


def test_the_type_of_a_field_counts_before_a_method_of_its_name(calls: Calls) -> None:
    found = calls(
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


def test_type_arguments_of_a_call_may_hold_brackets(calls: Calls) -> None:
    found = calls({"src/lib.rs": "fn channel<T>() {}\nfn go() { channel::<()>(); channel::<Vec<(u8, u8)>>(); }\n"})
    assert ("src/lib.rs:go", "src/lib.rs:channel") in found
