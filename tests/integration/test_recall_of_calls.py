"""Calls that stand in plain sight and need the language's own rules to be found."""

from __future__ import annotations

from pathlib import Path

import pytest

from cairn.workspace import Workspace
from small_projects import callers

ELIXIR = """defmodule Shop.Cart do
  @spec total(list) :: integer
  def total([]), do: 0
  def total([item | rest]) when is_map(item), do: price(item) + total(rest)

  @callback price(map) :: integer when map: var
  defp price(item) do
    item.cents
  end
end
"""


def test_the_heads_and_specifications_of_elixir_are_no_calls(tmp_path: Path) -> None:
    files = {"lib/cart.ex": ELIXIR}
    assert callers(tmp_path, "lib/cart.ex:total", files) == {("lib/cart.ex", 4)}
    assert callers(tmp_path, "lib/cart.ex:7", files) == {("lib/cart.ex", 4)}


def test_a_global_function_of_php_is_called_from_a_namespace(tmp_path: Path) -> None:
    files = {
        "helpers.php": "<?php\nif (! function_exists('data_get')) {\n    function data_get($target) {}\n}\n",
        "src/App.php": (
            "<?php\nnamespace Shop;\n\nclass App\n{\n    function run($x)\n    {\n        data_get($x);\n"
            "        return \\data_get($x);\n    }\n}\n"
        ),
    }
    assert callers(tmp_path, "data_get", files) == {("src/App.php", 8), ("src/App.php", 9)}


def test_a_class_of_php_outside_of_a_namespace_is_not_seen_within_one(tmp_path: Path) -> None:
    files = {
        "Cart.php": "<?php\nclass Cart {}\n",
        "src/App.php": "<?php\nnamespace Shop;\n\nfunction run()\n{\n    new Cart();\n    new \\Cart();\n}\n",
    }
    assert ("src/App.php", 6) not in callers(tmp_path, "Cart", files)


@pytest.mark.parametrize("call", ["launch<Int>(1)", "launch<Int> { 1 }", "launch(1)"])
def test_a_call_of_kotlin_with_type_arguments_is_a_call(tmp_path: Path, call: str) -> None:
    files = {"a.kt": "package a\n\nfun <T> launch(x: Any) {}\n\nfun main() {\n    " + call + "\n}\n"}
    assert callers(tmp_path, "launch", files) == {("a.kt", 6)}


RUST = """use std::time::Duration;

cfg_rt! {
    /// Starts a task.
    pub fn spawn(task: u32) {
        park(task);
    }

    pub struct Handle {
        task: u32,
    }
}

cfg_not_rt! { pub fn idle() {} }

fn park(task: u32) {}

fn main() {
    spawn(1);
}
"""


def test_items_in_a_macro_of_rust_that_only_switches_them_on_are_definitions(tmp_path: Path) -> None:
    files = {"lib.rs": RUST}
    assert callers(tmp_path, "spawn", files) == {("lib.rs", 19)}
    assert callers(tmp_path, "park", files) == {("lib.rs", 6)}
    with Workspace.open(tmp_path) as workspace:
        symbols = {(symbol.name, symbol.start_line) for symbol in workspace.code.outline("lib.rs").symbols}
        assert workspace.search("Handle", mode="symbol").code[0].start_line == 9
    assert {("spawn", 5), ("Handle", 9), ("idle", 14), ("park", 16)} <= symbols
