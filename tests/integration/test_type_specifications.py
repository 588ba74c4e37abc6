"""What only says the types of something is no call: specifications of Elixir, signatures of Haskell."""

from __future__ import annotations

from pathlib import Path

from cairn.graph.values import Links, References
from cairn.workspace import Workspace
from small_projects import write_files

ELIXIR = """\
defmodule Shop do
  @type money :: integer()
  @type bill :: %{sum: total(), tax: money()}

  @spec total(list, money()) :: money()
  def total(items, n), do: items + n

  @callback total(term, term) :: money()

  @spec shown(money()) :: String.t() when
          money: var
  def shown(x), do: x

  def run, do: total([], 1)
end
"""
HASKELL = """\
module Shop where

total :: Int -> Int
total x = x + 1

first, second :: Int -> Int
first = total
second x = first x

data Bill = Bill { sum :: Int, total' :: Int }

run :: Int
run = total 3

unused :: Int -> Int
unused x = x
"""


def ask(root: Path, files: dict[str, str], symbol: str) -> tuple[Links, References]:
    """Return the callers of a symbol of a small project, and the references to it."""
    write_files(root, files)
    with Workspace.open(root) as workspace:
        workspace.index()
        return workspace.graph.callers(symbol), workspace.graph.references(symbol)


def test_a_specification_of_elixir_is_no_call_of_the_function(tmp_path: Path) -> None:
    links, found = ask(tmp_path, {"shop.ex": ELIXIR}, "Shop.total")
    assert [link.line for link in links.links] == [14]
    assert [(one.kind, one.line) for one in found.references] == [("call", 14)]
    assert links.unresolved is None


def test_a_specification_of_elixir_uses_types(tmp_path: Path) -> None:
    links, found = ask(tmp_path, {"shop.ex": ELIXIR}, "Shop.money")
    assert links.links == ()
    assert {(one.kind, one.line) for one in found.references} == {("type", line) for line in (3, 5, 8, 10)}


def test_a_signature_of_haskell_is_no_call_and_no_reference(tmp_path: Path) -> None:
    links, found = ask(tmp_path, {"Shop.hs": HASKELL}, "total")
    assert [(link.kind, link.line) for link in links.links] == [("call", 13)]
    assert [(one.kind, one.line) for one in found.references] == [("call", 13), ("read", 7)]
    assert links.unresolved is not None
    assert [mention.line for mention in links.unresolved.first] == [7]


def test_nothing_calls_what_only_its_signature_says(tmp_path: Path) -> None:
    links, found = ask(tmp_path, {"Shop.hs": HASKELL}, "unused")
    assert (links.links, links.unresolved) == ((), None)
    assert (found.references, found.unresolved) == ((), None)
    links, found = ask(tmp_path, {"Shop.hs": HASKELL}, "first")
    assert [link.line for link in links.links] == [8]
    assert [one.line for one in found.references] == [8]
