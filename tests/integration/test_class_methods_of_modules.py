"""Methods that a module of Ruby gives to the classes that include it, and functions of JavaScript called by `call`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cairn.workspace import Workspace
from small_projects import callers, write_files

RUBY = {
    "lib/sellable.rb": (
        "module Sellable\n  extend ActiveSupport::Concern\n\n  included do\n    def price\n      1\n    end\n  end\n\n"
        "  class_methods do\n    def dearest\n      3\n    end\n  end\n\n"
        "  module ClassMethods\n    def sorted\n      sort_key\n    end\n\n"
        "    def sort_key\n      1\n    end\n  end\nend\n"
    ),
    "lib/item.rb": (
        "class Item\n  include Sellable\n\n  def price\n    super + 10\n  end\n\n  def self.sort_key\n    2\n  end\n\n"
        "  def self.sorted\n    super\n  end\nend\n"
    ),
    "lib/paper.rb": (
        "module Base\n  def render\n    draw_it\n  end\n\n  def draw_it\n    1\n  end\nend\n\n"
        "module Fancy\n  include Base\n\n  def draw_it\n    2\n  end\nend\n"
    ),
    "lib/use.rb": (
        "class Book\n  include Sellable\nend\n\ndef use\n  Book.sorted\n  Item.new.price\n  Book.dearest\nend\n"
    ),
}


@pytest.fixture(scope="module")
def ruby(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("ruby")
    write_files(root, RUBY)
    with Workspace.open(root) as workspace:
        workspace.index()
        yield workspace


@pytest.mark.parametrize(
    ("symbol", "expected"),
    [
        ("Sellable.ClassMethods.sorted", {("lib/use.rb", 6), ("lib/item.rb", 13)}),
        ("Sellable.dearest", {("lib/use.rb", 8)}),
        ("Sellable.price", {("lib/item.rb", 5)}),
    ],
)
def test_what_a_module_gives_to_classes_is_called_on_them(
    ruby: Workspace, symbol: str, expected: set[tuple[str, int]]
) -> None:
    assert {(link.path, link.line) for link in ruby.graph.callers(symbol).links} == expected


@pytest.mark.parametrize(
    ("symbol", "base", "place"),
    [
        ("Item.sort_key", "Sellable.ClassMethods.sort_key", "lib/sellable.rb:18"),
        ("Fancy.draw_it", "Base.draw_it", "lib/paper.rb:3"),
    ],
)
def test_a_method_that_overrides_one_of_a_module_is_called_by_that(
    ruby: Workspace, symbol: str, base: str, place: str
) -> None:
    links = ruby.graph.callers(symbol)
    called = [(one.symbol.name, [f"{link.path}:{link.line}" for link in one.links]) for one in links.above or ()]
    assert called == [(base, [place])]
    assert symbol in {link.symbol.name for link in ruby.graph.subclasses(base).links}


JAVASCRIPT = {
    "bell.js": (
        "export class Bell {\n  ring() {}\n\n  later() {\n    run(this.ring.bind(this)); // here\n"
        "    this.ring.call(this); // here\n    Bell.prototype.ring.apply(this, []); // here\n  }\n}\n\n"
        "export function tune() {}\n\nfunction Old() {}\n\nfunction Sub() {\n  Old.call(this); // old\n}\n"
    ),
    "use.ts": (
        'import { Bell, tune } from "./bell.js";\n\nclass Service {\n  static call() {}\n}\n\n'
        "function use(bell: Bell) {\n  bell.ring.call(bell); // here\n  tune.apply(null, []); // tune\n"
        "  const later = tune.bind(null); // tune\n  Service.call(); // own\n}\n"
    ),
}


@pytest.mark.parametrize(
    ("symbol", "mark"),
    [("Bell.ring", "here"), ("tune", "tune"), ("Old", "old"), ("Service.call", "own"), ("Service", "none")],
)
def test_a_function_of_javascript_is_called_by_call_apply_and_bind(symbol: str, mark: str, tmp_path: Path) -> None:
    found = callers(tmp_path, symbol, JAVASCRIPT)
    assert found == {
        (path, line)
        for path, text in JAVASCRIPT.items()
        for line, words in enumerate(text.splitlines(), 1)
        if words.endswith(f"// {mark}")
    }
