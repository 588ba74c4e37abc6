"""Calls of Elixir: what aliases, imports, captures and pipes let a name mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from cairn.workspace import Workspace
from small_projects import callers, write_files

CART = """defmodule Shop.Cart do
  def total(cart), do: sum(cart)
  def add!(cart, item), do: [item | cart]
  defp sum(cart), do: Enum.sum(cart)

  defmodule Line do
    def total(line), do: line.price
  end
end
"""


@pytest.mark.parametrize(
    ("statement", "call"),
    [
        ("alias Shop.Cart", "Cart.total(x)"),
        ("alias Shop.{Cart, Other}", "Cart.total(x)"),
        ("alias Shop.Cart, as: Basket", "Basket.total(x)"),
        ("alias Shop", "Shop.Cart.total(x)"),
        ("require Shop.Cart, as: Basket", "Basket.total x"),
        ("import Shop.Cart", "total(x)"),
        ("import Shop.Cart, only: [total: 1]", "x |> total()"),
        ("import Shop.Cart", "x |> total"),
        ("import Shop.Cart", "Enum.map(x, &total/1)"),
        ("", "Shop.Cart.total(x)"),
        ("", "Enum.map(x, &Shop.Cart.total/1)"),
        ("", "x |> Shop.Cart.total()"),
    ],
)
def test_a_call_leads_to_the_module_that_the_file_means(statement: str, call: str, tmp_path: Path) -> None:
    text = f"defmodule Shop.App do\n  {statement}\n\n  def run(x) do\n    {call}\n  end\nend\n"
    files = {"lib/cart.ex": CART, "lib/app.ex": text}
    assert callers(tmp_path, "lib/cart.ex:Shop.Cart.total", files) == {("lib/app.ex", 5)}
    assert callers(tmp_path, "lib/cart.ex:Shop.Cart.Line.total", files) == set()


def test_a_module_that_is_used_brings_its_imports(tmp_path: Path) -> None:
    files = {
        "lib/cart.ex": CART,
        "lib/web.ex": (
            "defmodule Shop.Web do\n  defmacro __using__(_) do\n    quote do\n"
            "      import Shop.Cart\n    end\n  end\nend\n"
        ),
        "lib/app.ex": "defmodule Shop.App do\n  use Shop.Web\n\n  def run(x), do: add!(x, 1)\nend\n",
    }
    assert callers(tmp_path, "add!", files) == {("lib/app.ex", 4)}


@pytest.mark.parametrize("head", ["defmacro __using__(_) do", "using do", "using opts do"])
def test_a_module_that_is_used_brings_its_aliases(head: str, tmp_path: Path) -> None:
    files = {
        "lib/cart.ex": CART,
        "lib/case.ex": (
            f"defmodule Shop.Case do\n  {head}\n    quote do\n      alias Shop.{{Cart, Other}}\n    end\n  end\n"
            "  alias Shop.Hidden, as: Own\nend\n"
        ),
        "lib/hidden.ex": "defmodule Shop.Hidden do\n  def total(x), do: x\nend\n",
        "lib/app.ex": "defmodule Shop.App do\n  use Shop.Case\n\n  def run(x), do: Cart.total(Own.total(x))\nend\n",
    }
    assert callers(tmp_path, "lib/cart.ex:Shop.Cart.total", files) == {("lib/app.ex", 4)}
    assert callers(tmp_path, "lib/hidden.ex:Shop.Hidden.total", files) == set()


def test_a_module_that_applies_one_of_its_functions_where_it_is_used_brings_what_these_quote(tmp_path: Path) -> None:
    files = {
        "lib/cart.ex": CART,
        "lib/web.ex": (
            "defmodule Shop.Web do\n  def controller do\n    quote do\n"
            "      import Shop.Cart\n      alias Shop.Cart\n    end\n  end\n\n"
            "  defmacro __using__(which) do\n    apply(__MODULE__, which, [])\n  end\nend\n"
        ),
        "lib/app.ex": (
            "defmodule Shop.App do\n  use Shop.Web, :controller\n\n"
            "  def run(x), do: add!(x, 1)\n  def sum(x), do: Cart.total(x)\nend\n"
        ),
    }
    assert callers(tmp_path, "add!", files) == {("lib/app.ex", 4)}
    assert callers(tmp_path, "lib/cart.ex:Shop.Cart.total", files) == {("lib/app.ex", 5)}


@pytest.mark.parametrize(
    ("head", "use", "scope"),
    [
        ("defmacro __using__(_) do", "use Shop.Policy", "__using__."),
        ("using do", "use Shop.Policy", ""),
        ("def controller do", "use Shop.Policy, :controller", "controller."),
    ],
)
def test_a_module_that_is_used_defines_what_it_quotes(head: str, use: str, scope: str, tmp_path: Path) -> None:
    applied = "\n  defmacro __using__(which), do: apply(__MODULE__, which, [])\n" if "controller" in head else ""
    files = {
        "lib/policy.ex": (
            f"defmodule Shop.Policy do\n  {head}\n    quote do\n      defp is_admin(x), do: x.admin\n    end\n  end\n"
            f"{applied}  def hidden(x), do: x\nend\n"
        ),
        "lib/app.ex": (
            f"defmodule Shop.App do\n  {use}\n\n  def run(x) do\n    is_admin(x) || is_admin(x.owner)\n    hidden(x)\n"
            "  end\nend\n"
        ),
        "lib/apart.ex": "defmodule Shop.Apart do\n  def run(x), do: is_admin(x)\nend\n",
    }
    assert callers(tmp_path, f"Shop.Policy.{scope}is_admin", files) == {("lib/app.ex", 5)}
    if scope:
        assert callers(tmp_path, "Shop.Policy.hidden", files) == set()


def test_a_variable_of_the_same_name_hides_no_function(tmp_path: Path) -> None:
    text = "defmodule App do\n  def run(token), do: token(token)\n  defp token(x), do: x\nend\n"
    assert callers(tmp_path, "App.token", {"lib/app.ex": text}) == {("lib/app.ex", 2)}


def test_a_function_of_the_module_itself_is_called_by_its_placeholder(tmp_path: Path) -> None:
    text = "defmodule App do\n  def run(x), do: __MODULE__.start(x)\n  def start(x), do: x\nend\n"
    assert callers(tmp_path, "App.start", {"lib/app.ex": text}) == {("lib/app.ex", 2)}


@pytest.mark.parametrize("call", ["Plug.Cowboy.add!(x, 1)", ":ets.add!(x, 1)", "adapter.add!(x, 1)", "add!(x, 1)"])
def test_a_call_of_another_module_means_no_namesake(call: str, tmp_path: Path) -> None:
    text = f"defmodule Shop.App do\n  def run(x, adapter) do\n    {call}\n  end\nend\n"
    assert callers(tmp_path, "add!", {"lib/cart.ex": CART, "lib/app.ex": text}) == set()


def test_a_file_that_imports_or_uses_a_module_imports_its_file(tmp_path: Path) -> None:
    files = {
        "lib/cart.ex": CART,
        "lib/app.ex": "defmodule Shop.App do\n  import Shop.Cart\nend\n",
        "lib/view.ex": "defmodule Shop.View do\n  alias Shop.Cart\nend\n",
    }
    callers(tmp_path, "lib/cart.ex:Shop.Cart.total", files)
    with Workspace.open(tmp_path) as workspace:
        found = {importer.path for importer in workspace.graph.importers("lib/cart.ex").importers}
    assert found == {"lib/app.ex", "lib/view.ex"}


RATES = """defmodule Shop.Rates do
  @rate 2
  def rate, do: @rate
  def twice(price), do: price * @rate * 2
  def own, do: rate()
end

defmodule Shop.Tax do
  @rate 3
  def tax(price), do: price * @rate
end
"""


def test_an_attribute_of_a_module_is_not_the_function_of_its_name(tmp_path: Path) -> None:
    write_files(tmp_path, {"lib/rates.ex": RATES})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        of_attribute = workspace.graph.references("lib/rates.ex:2")
        of_function = workspace.graph.references("lib/rates.ex:3")
        calls = workspace.graph.callers("lib/rates.ex:3")
    assert [(one.kind, one.line) for one in of_attribute.references] == [("read", 3), ("read", 4)]
    assert of_attribute.unresolved is None
    assert [(one.kind, one.line) for one in of_function.references] == [("call", 5)]
    assert [link.line for link in calls.links] == [5]
    assert calls.unresolved is None


@pytest.mark.parametrize(
    "call", ["{Cart, :total, [x]}", "apply(Cart, :total, [x])", "Task.start(Cart, :total, [x])", "{Cart, :total, x}"]
)
def test_a_function_that_is_called_later_by_its_name_is_called(call: str, tmp_path: Path) -> None:
    text = f"defmodule Shop.App do\n  alias Shop.Cart\n\n  def run(x) do\n    {call}\n  end\nend\n"
    files = {"lib/cart.ex": CART, "lib/app.ex": text}
    assert callers(tmp_path, "lib/cart.ex:Shop.Cart.total", files) == {("lib/app.ex", 5)}
    assert callers(tmp_path, "lib/cart.ex:Shop.Cart.Line.total", files) == set()


def test_a_message_to_a_process_is_no_call(tmp_path: Path) -> None:
    text = "defmodule Shop.App do\n  alias Shop.Cart\n  def run(x), do: GenServer.call(Cart, :total)\nend\n"
    assert callers(tmp_path, "lib/cart.ex:Shop.Cart.total", {"lib/cart.ex": CART, "lib/app.ex": text}) == set()


def test_a_module_names_its_own_function_to_be_called_later(tmp_path: Path) -> None:
    text = "defmodule Shop.App do\n  def run(x), do: {__MODULE__, :later, [x]}\n  def later(x), do: x\nend\n"
    assert callers(tmp_path, "Shop.App.later", {"lib/app.ex": text}) == {("lib/app.ex", 2)}
