"""Calls of Ruby: what reopened modules, mixins, `new`, names of variables and bare names mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from small_projects import callers

STORE = """module Shop
  module Counts
    def count_all
      1
    end
  end

  class Store
    include Counts
    def initialize(path)
      @path = path
    end

    def self.open(path)
      new(path)
    end

    def close!
      count_all
    end
  end
end
"""


OTHERS = "".join(f"module Shop\n  class Other{number}\n    def close!; end\n  end\nend\n" for number in range(3))


@pytest.mark.parametrize(
    "statement",
    [
        "Shop::Store.new(x).close!",
        "Store.open(x).close!",
        "kept = Store.new x; kept.close!",
        "kept = Store.open(x) { |y| y }; kept.close!",
        "Alias.new(x).close!",
        "@store.close!",
        "store.close!",
    ],
)
def test_a_type_of_a_module_that_many_files_reopen_is_found(statement: str, tmp_path: Path) -> None:
    text = (
        "module Shop\n  class App\n    Alias = Store\n    def run(x, store)\n      @store ||= Store.new(x)\n"
        f"      {statement}\n    end\n  end\nend\n"
    )
    files = {"lib/store.rb": STORE, "lib/others.rb": OTHERS, "lib/app.rb": text}
    assert callers(tmp_path, "Store.close!", files) == {("lib/app.rb", 6)}


def test_a_module_that_is_included_within_a_type_gives_its_methods(tmp_path: Path) -> None:
    files = {
        "lib/store.rb": STORE,
        "lib/more.rb": (
            "module Shop\n  class Store\n    module Extra\n      def more; end\n    end\n"
            "    include Extra\n  end\nend\n"
        ),
        "lib/app.rb": "Shop::Store.new(1).more\nShop::Store.new(1).count_all\n",
    }
    assert callers(tmp_path, "more", files) == {("lib/app.rb", 1)}
    assert callers(tmp_path, "count_all", files) == {("lib/store.rb", 19), ("lib/app.rb", 2)}


def test_new_by_itself_makes_an_object_of_the_class_around(tmp_path: Path) -> None:
    assert ("lib/store.rb", 15) in callers(tmp_path, "Store", {"lib/store.rb": STORE})


@pytest.mark.parametrize(
    "line", ["[total]", "x[total]", "total unless x", "x ? total : 1", "{a: total}", "x.map { total }"]
)
def test_a_bare_name_is_a_call_wherever_it_stands(line: str, tmp_path: Path) -> None:
    text = f"class Cart\n  def run(x)\n    {line}\n  end\n\n  def total\n    1\n  end\nend\n"
    assert callers(tmp_path, "Cart.total", {"cart.rb": text}) == {("cart.rb", 3)}


@pytest.mark.parametrize(
    "lines", ["total = 1\n    [total]", "total, b = 1, 2\n    [total]", "x.map { |total| [total] }", "total += 1"]
)
def test_a_local_variable_hides_the_method_of_its_name(lines: str, tmp_path: Path) -> None:
    text = f"class Cart\n  def run(x)\n    {lines}\n  end\n\n  def total\n    1\n  end\nend\n"
    assert callers(tmp_path, "Cart.total", {"cart.rb": text}) == set()


def test_a_variable_called_like_several_types_tells_nothing(tmp_path: Path) -> None:
    files = {
        "a.rb": "module A\n  class Report\n    def print_all; end\n  end\nend\n",
        "b.rb": "module B\n  class Report\n    def print_all; end\n  end\nend\n",
        "app.rb": "def run(report)\n  report.print_all\nend\n",
    }
    assert callers(tmp_path, "A.Report.print_all", files) == set()


def test_a_type_from_elsewhere_has_no_methods_of_the_project(tmp_path: Path) -> None:
    files = {"own.rb": "class Own\n  def read_whole; end\nend\n", "app.rb": "def run\n  IO.read_whole\nend\n"}
    assert callers(tmp_path, "read_whole", files) == set()
