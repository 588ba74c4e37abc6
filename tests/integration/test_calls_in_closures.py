"""Calls on what closures are given, and on what is taken out of containers and tuples."""

from __future__ import annotations

from pathlib import Path

import pytest

from cairn.workspace import Workspace
from small_projects import callers, write_files

SWIFT = """protocol Monitor {
    func started()
}

class Group {
    let monitors: [Monitor] = []

    func perform(_ event: @escaping (any Monitor) -> Void) {
        for monitor in monitors {
            event(monitor)
        }
    }

    func start() {
        perform { $0.started() }
        perform { monitor in monitor.started() }
    }

    func startAll() {
        for monitor in monitors {
            monitor.started()
        }
    }
}
"""


def test_a_closure_of_swift_is_given_what_the_function_says(tmp_path: Path) -> None:
    found = callers(tmp_path, "Monitor.started", {"Group.swift": SWIFT})
    assert {("Group.swift", 15), ("Group.swift", 16)} <= found


def test_the_items_of_an_array_of_swift_have_its_type(tmp_path: Path) -> None:
    assert ("Group.swift", 21) in callers(tmp_path, "Monitor.started", {"Group.swift": SWIFT})


KOTLIN = """package shop

interface Collector {
    fun emit(item: Int)
}

class Till {
    fun ring() {}
}

fun flow(block: suspend Collector.() -> Unit) {}

fun withTill(name: String, block: (Till) -> Unit) {}

fun main(till: Till, tills: List<Till>) {
    flow { emit(1) }
    withTill("x") { it.ring() }
    withTill("x") { drawer -> drawer.ring() }
    till.apply { ring() }
    till.also { it.ring() }
    with(till) { ring() }
    tills.forEach { it.ring() }
}
"""


def test_a_lambda_of_kotlin_has_the_receiver_that_the_function_says(tmp_path: Path) -> None:
    assert callers(tmp_path, "Collector.emit", {"shop.kt": KOTLIN}) == {("shop.kt", 16)}


def test_a_lambda_of_kotlin_knows_its_parameter_and_what_scope_functions_give(tmp_path: Path) -> None:
    found = callers(tmp_path, "Till.ring", {"shop.kt": KOTLIN})
    assert found == {("shop.kt", line) for line in range(17, 23)}


TYPESCRIPT = """export interface Registry { check(): void }

export interface Maker<T> { new (): T }

export function make<T>(name: string, init: (inst: T, at: number) => void): Maker<T> {
  return null as never;
}

export function visit(action: (registry: Registry) => void) {}

visit((registry) => registry.check());
visit(function (registry) { registry.check(); });
make<Registry>("a", (inst) => { inst.check(); });

export function all(registries: Registry[]) {
  registries.forEach((registry) => registry.check());
}
"""


def test_a_callback_of_typescript_is_given_what_the_parameter_says(tmp_path: Path) -> None:
    found = callers(tmp_path, "Registry.check", {"registry.ts": TYPESCRIPT})
    assert {("registry.ts", line) for line in (11, 12, 16)} <= found


def test_type_arguments_say_what_a_callback_is_given(tmp_path: Path) -> None:
    assert ("registry.ts", 13) in callers(tmp_path, "Registry.check", {"registry.ts": TYPESCRIPT})


def test_a_parameter_of_a_closure_hides_what_else_has_its_name(tmp_path: Path) -> None:
    files = {
        "till.ts": (
            "export class Till { open() {} }\nexport const till = new Till();\n"
            "export function each(items: unknown[]) { items.forEach((till) => till.open()); }\ntill.open();\n"
        )
    }
    assert callers(tmp_path, "Till.open", files) == {("till.ts", 4)}


RUST = """mod headers;

pub struct Sender;
pub struct Receiver;

impl Sender {
    pub fn send(&self) {}
}

impl Receiver {
    pub fn recv(&self) {}
}

pub fn channel() -> (Sender, Receiver) {
    (Sender, Receiver)
}

pub fn with_sender<F>(f: F)
where
    F: FnOnce(&Sender) -> u32,
{
}

pub struct Hub {
    all: Vec<Sender>,
    first: Option<Sender>,
}

impl Hub {
    pub fn builder() -> Hub where Hub: Sized { Hub { all: vec![], first: None } }

    pub fn run(&self) {
        let (tx, rx) = channel();
        tx.send();
        rx.recv();
        for sender in self.all.iter() {
            sender.send();
        }
        if let Some(sender) = self.first.as_ref() {
            sender.send();
        }
        with_sender(|sender| { sender.send(); 1 });
        self.first.as_ref().unwrap().send();
        Hub::builder().run();
    }

    pub fn read(&self, headers: u32) {
        headers::parse(headers);
    }
}
"""


@pytest.mark.parametrize(
    ("line", "how"),
    [
        (34, "a part of a tuple"),
        (37, "an item"),
        (40, "what is in an option"),
        (42, "a closure"),
        (43, "what is unwrapped"),
    ],
)
def test_calls_of_rust_are_found_on(tmp_path: Path, line: int, how: str) -> None:
    files = {"Cargo.toml": '[package]\nname = "hub"\n', "src/lib.rs": RUST, "src/headers.rs": ""}
    assert ("src/lib.rs", line) in callers(tmp_path, "Sender.send", files), how


def test_the_result_of_a_function_of_rust_ends_before_its_conditions(tmp_path: Path) -> None:
    files = {"Cargo.toml": '[package]\nname = "hub"\n', "src/lib.rs": RUST, "src/headers.rs": ""}
    assert callers(tmp_path, "Hub.run", files) == {("src/lib.rs", 44)}


def test_a_path_of_rust_does_not_begin_with_a_variable(tmp_path: Path) -> None:
    files = {
        "Cargo.toml": '[package]\nname = "hub"\n',
        "src/lib.rs": RUST,
        "src/headers.rs": "pub fn parse(value: u32) {}\n",
    }
    assert callers(tmp_path, "parse", files) == {("src/lib.rs", 48)}


MODULES = """pub mod client;

mod tests {
    use super::client;

    pub mod inner {
        pub use super::super::client::connect;
    }

    fn run() {
        client::connect();
    }
}

pub fn dial() {
    tests::inner::connect();
}

impl<E, F> Execute<F> for E
where
    E: Executor<Option<F>>,
{
    fn start(&self, item: F) {
        self.execute(item)
    }
}

pub trait Execute<F> {
    fn start(&self, item: F);
}

pub trait Executor<F> {
    fn execute(&self, item: F);
}

fn count() {
    static HUB: client::Hub = client::Hub;
    HUB.join();
}
"""
CLIENT = "pub fn connect() {}\n\npub struct Hub;\n\nimpl Hub {\n    pub fn join(&self) {}\n}\n"
CRATE = {"Cargo.toml": '[package]\nname = "net"\n', "src/lib.rs": MODULES, "src/client.rs": CLIENT}


def test_a_module_within_a_file_of_rust_has_imports_of_its_own(tmp_path: Path) -> None:
    assert ("src/lib.rs", 11) in callers(tmp_path, "connect", CRATE)


def test_a_type_parameter_that_a_trait_is_implemented_for_has_the_methods_of_its_bound(tmp_path: Path) -> None:
    assert callers(tmp_path, "Executor.execute", CRATE) == {("src/lib.rs", 24)}


def test_a_static_within_a_function_of_rust_has_its_type(tmp_path: Path) -> None:
    assert callers(tmp_path, "Hub.join", CRATE) == {("src/lib.rs", 38)}


TRAITS = """pub mod io;

use io::ReadExt;

pub struct Socket;

impl Socket {
    pub fn read(&self) {}
}

fn run(socket: Socket) {
    socket.read();
    socket.read_all();
}
"""
IO = """pub trait ReadExt {
    fn read(&self) {}
    fn read_all(&self) {}
}

impl<R: Sized> ReadExt for R {}
"""


def test_a_trait_of_rust_for_all_types_gives_what_a_type_lacks(tmp_path: Path) -> None:
    files = {"Cargo.toml": '[package]\nname = "net"\n', "src/lib.rs": TRAITS, "src/io.rs": IO}
    assert callers(tmp_path, "ReadExt.read_all", files) == {("src/lib.rs", 13)}
    assert callers(tmp_path, "Socket.read", files) == {("src/lib.rs", 12)}


def test_the_type_of_a_closure_may_go_on_behind_a_bracket_at_the_end_of_a_line(tmp_path: Path) -> None:
    text = """package shop

typealias Handler = (
    name: String,
) -> Unit

fun handle(block: Handler) {}

fun ring() {}

fun use() {
    handle { ring() }
}
"""
    assert ("Till.kt", 12) in callers(tmp_path, "ring", {"Till.kt": text})


def test_a_list_that_a_closure_holds_may_have_closures_called_on_it(tmp_path: Path) -> None:
    text = """package shop

fun ring(): Boolean = true

fun use(names: List<String>) {
    names.forEach { name ->
        val found: List<String> = names.sorted()
        found.filter { ring() }
    }
}
"""
    assert ("Till.kt", 8) in callers(tmp_path, "ring", {"Till.kt": text})


def test_a_route_that_is_a_value_calls_what_its_nameless_function_calls(tmp_path: Path) -> None:
    files = {
        "drop.ts": "export async function drop(id: string) {}\nexport async function keep(id: string) {}\n",
        "route.ts": (
            'import { drop, keep } from "./drop";\n\nexport const dropRoute = procedure\n  .input(schema)\n'
            "  .mutation(async ({ input }) => {\n    await drop(input.id);\n  });\n\nkeep('a');\n"
        ),
    }
    write_files(tmp_path, files)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        called = workspace.graph.callees("dropRoute").links
        steps = workspace.graph.call_path("dropRoute", "drop").steps
        none = workspace.graph.call_path("dropRoute", "keep").steps
    assert [(link.symbol.name, link.line) for link in called] == [("drop", 6)]
    assert [(step.symbol.name, step.line) for step in steps] == [("dropRoute", 3), ("drop", 6)]
    assert none == ()


def test_an_extension_of_kotlin_is_called_on_what_a_library_calls_a_closure_on(tmp_path: Path) -> None:
    text = (
        "package web\n\nimport lib.createPlugin\nimport web.more.routes\n\n"
        "val Plugin = createPlugin {\n    val till = openTill()\n    till.ring()\n    routes()\n}\n\n"
        "internal fun Builder<String>.openTill(): Till = Till()\n\nclass Till {\n    fun ring() {}\n}\n\n"
        "fun keep(openTill: () -> Till) {\n    openTill()\n}\n"
    )
    more = "package web.more\n\nimport lib.Application\n\nfun Application.routes() {}\n"
    apart = "package apart\n\nfun go() {\n    routes()\n}\n"
    files = {"Plugin.kt": text, "More.kt": more, "Apart.kt": apart}
    assert callers(tmp_path, "openTill", files) == {("Plugin.kt", 7)}
    assert callers(tmp_path, "Till.ring", files) == {("Plugin.kt", 8)}
    assert callers(tmp_path, "routes", files) == {("Plugin.kt", 9)}
