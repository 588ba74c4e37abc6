"""Names in what a grammar leaves as text: bodies of macros, types in comments, templates, and symbols of Ruby."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cairn.workspace import Workspace
from small_projects import write_files

FILES = {
    "client.h": "#define TWICE(x) ((x) * 2)\nstruct client {\n\tint flags;\n#define CLIENT_DEAD 0x1\n"
    "#define CLIENT_BAD 0x2\n"
    "#define IS_BAD(c, CLIENT_DEAD) ((c)->CLIENT_DEAD & CLIENT_BAD)\n#define WIDE(x) TWICE(x) /* CLIENT_BAD */\n};\n",
    "client.c": '#include "client.h"\nint is_dead(struct client *c) {\n'
    "\treturn IS_BAD(c, flags) + (c->flags & CLIENT_DEAD);\n}\n",
    "types.d.ts": "export interface Cart { total: number }\nexport interface Item { price: number }\n"
    "export type Row = { a: number };\nexport type Spare = { a: number };\n",
    "use.js": "/** @import { Cart } from './types' */\n/** @typedef {import('./types').Item} Item */\n\n/**\n"
    " * @param {Cart} cart\n * @param {Array<Item>} items of a Spare\n * @returns {import('./types.js').Row}\n */\n"
    "export function sum(cart, items) {\n\treturn /** @type {Cart} */ (items) // {Spare}\n}\n",
    "lib/card.ex": 'defmodule Shop.Card do\n  def badge(assigns), do: ~H"<b>{fee(@x)}</b>"\n  def fee(x), do: x\n'
    "  def spare(x), do: x\n  def tab(assigns), do: assigns\nend\n",
    "lib/page.ex": "defmodule Shop.Page do\n  import Shop.Card\n\n  def render(assigns) do\n"
    '    ~H"""\n    <.badge x={1} />\n    <Shop.Card.tab :if={@open}>spare</Shop.Card.tab>\n'
    '    <.live module={Shop.Side} />\n    """\n  end\nend\n',
    "lib/side.ex": "defmodule Shop.Side do\n  def lonely(x), do: x\n  def shown(x), do: x\nend\n",
    "lib/page.html.heex": "<.lonely title='spare' />\n<p class={Shop.Side.shown(1)}>spare</p>\n",
    "src/Field.php": "<?php\nclass Field {\n    const HOOK = 'hook';\n    const NOTE = 'note';\n"
    "    public function getCols() { return 1; }\n    public function modal() { return 1; }\n"
    "    public function chosen() { return 1; }\n}\n",
    "views/field.blade.php": '<div class="modal" cols="{{ $getCols() }}">\n  {{ \\Field::HOOK }} NOTE\n'
    "  {{ $this->chosen }}\n</div>\n",
    "app/user.rb": "class User < ApplicationRecord\n  before_save :tidy, if: :late?\n"
    "  rescue_from Oops, with: :refuse\n  alias_method :own, :old\n  validates :name, unless: [:free?]\n\n"
    "  def late?; end\n  def refuse; end\n  def old; end\n"
    "  def free?; end\n  def tidy; end\n  def asked; end\nend\n",
    "app/other.rb": "class Other\n  def run(user)\n    user.public_send(:asked)\n  end\nend\n",
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("texts")
    write_files(root, FILES)
    with Workspace.open(root) as opened:
        opened.index()
        yield opened


@pytest.mark.parametrize(
    ("symbol", "expected"),
    [
        ("CLIENT_DEAD", [("read", "client.c", 3)]),  # a macro of the file, although it stands in a struct
        ("CLIENT_BAD", [("read", "client.h", 6)]),
        ("TWICE", [("call", "client.h", 7)]),
        ("IS_BAD", [("call", "client.c", 3)]),
        ("Cart", [("type", "use.js", 5), ("type", "use.js", 10), ("import", "use.js", 1)]),
        ("Item", [("type", "use.js", 6), ("import", "use.js", 2)]),
        ("Row", [("import", "use.js", 7)]),
        ("Spare", []),
        ("Shop.Side", [("read", "lib/page.ex", 8)]),
        ("late?", [("call", "app/user.rb", 2)]),
        ("User.free?", [("call", "app/user.rb", 5)]),
        ("User.refuse", [("call", "app/user.rb", 3)]),
        ("User.old", [("call", "app/user.rb", 4)]),
    ],
)
def test_references_are_found_there(symbol: str, expected: list[tuple[str, str, int]], workspace: Workspace) -> None:
    found = workspace.graph.references(symbol).references
    assert [("call" if each.path.endswith(".rb") else each.kind, each.path, each.line) for each in found] == expected


@pytest.mark.parametrize(
    ("symbol", "expected"),
    [
        ("Shop.Card.badge", [("lib/page.ex", 6)]),
        ("Shop.Card.tab", [("lib/page.ex", 7)]),
        ("Shop.Card.fee", [("lib/card.ex", 2)]),
        ("Shop.Card.spare", []),
        ("User.refuse", [("app/user.rb", 3)]),
    ],
)
def test_calls_are_found_there(symbol: str, expected: list[tuple[str, int]], workspace: Workspace) -> None:
    assert [(link.path, link.line) for link in workspace.graph.callers(symbol).links] == expected


@pytest.mark.parametrize(
    ("symbol", "place"),
    [
        ("Shop.Side.lonely", ("lib/page.html.heex", 1)),
        ("Shop.Side.shown", ("lib/page.html.heex", 2)),
        ("Field.getCols", ("views/field.blade.php", 1)),
        ("Field.HOOK", ("views/field.blade.php", 2)),
        ("Field.chosen", ("views/field.blade.php", 3)),
        ("User.asked", ("app/other.rb", 3)),
    ],
)
def test_what_may_refer_to_something_is_not_denied(symbol: str, place: tuple[str, int], workspace: Workspace) -> None:
    unresolved = workspace.graph.references(symbol).unresolved
    assert unresolved is not None
    assert [(mention.path, mention.line) for mention in unresolved.first] == [place]


@pytest.mark.parametrize("symbol", ["Field.modal", "Field.NOTE"])
def test_words_of_markup_refer_to_nothing(symbol: str, workspace: Workspace) -> None:
    found = workspace.graph.references(symbol)
    assert (found.references, found.unresolved) == ((), None)


def test_types_in_comments_are_imported_as_types(workspace: Workspace) -> None:
    (importer,) = workspace.graph.importers("types.d.ts").importers
    assert (importer.path, importer.typing_only) == ("use.js", True)
