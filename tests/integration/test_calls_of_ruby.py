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


TILL = """class Till
  def self.open(path) = Till.new(path)
  def ring; end
  def drawer
    @drawer ||= Drawer.new
  end
  def pick(x)
    return nil unless x
    if x == 1 then Drawer.new else nil end
  ensure
    puts x
  end
  def tally
    yield drawer, 1
  end
  def configure(&block)
    instance_eval(&block)
  end
  delegate :slam, to: :drawer
  def_delegators :@drawer, :count_coins, :shake
  def_delegator :drawer, :slam, :rattle
end

class Drawer
  def slam; end
  def count_coins; end
  def shake; end
end

class Other
  def ring; end
  def slam; end
  def count_coins; end
  def shake; end
end
"""


@pytest.mark.parametrize(
    "statement",
    [
        "till.drawer.slam",
        "till.pick(1).slam",
        "till.tally { |drawer, n| drawer.slam }",
        "till.tally do |drawer, n| drawer.tap { |x| x.slam } end",
        "found = nil || (1 > 2 ? 3 : till.drawer); found.slam",
        "a, b = 1, till.drawer; b.slam",
        "till.slam",
    ],
)
def test_what_methods_and_blocks_give_is_known(statement: str, tmp_path: Path) -> None:
    files = {"till.rb": TILL, "app.rb": f"def run\n  till = Till.open(1)\n  {statement}\nend\n"}
    assert callers(tmp_path, "Drawer.slam", files) == {("app.rb", 3)}


def test_delegated_methods_lead_to_what_they_delegate_to(tmp_path: Path) -> None:
    files = {"till.rb": TILL, "app.rb": "Till.new(1).count_coins\nTill.new(1).shake\n"}
    assert callers(tmp_path, "Drawer.count_coins", files) == {("app.rb", 1)}
    assert callers(tmp_path, "Drawer.shake", files) == {("app.rb", 2)}


def test_a_block_may_run_on_an_object(tmp_path: Path) -> None:
    files = {"till.rb": TILL, "app.rb": "Till.new(1).configure do\n  ring\nend\nring\n"}
    assert callers(tmp_path, "Till.ring", files) == {("app.rb", 2)}


def test_each_block_has_variables_of_its_own(tmp_path: Path) -> None:
    text = (
        "describe Till do\n  it 'rings' do\n    it = Till.new(1)\n    it.ring\n  end\n"
        "  it 'does not' do\n    it = Other.new\n    it.ring\n    2.times { it.ring }\n  end\n"
        "  let(:made) { Other.new }\n  it { made.ring }\nend\n"
    )
    files = {"till.rb": TILL, "till_spec.rb": text}
    assert callers(tmp_path, "Till.ring", files) == {("till_spec.rb", 4)}
    assert callers(tmp_path, "Other.ring", files) == {("till_spec.rb", 8), ("till_spec.rb", 9), ("till_spec.rb", 12)}


def test_a_variable_of_a_block_is_the_one_around_if_that_was_there_before(tmp_path: Path) -> None:
    text = "def run\n  till = nil\n  2.times { till = Till.new(1) }\n  till.ring\nend\n"
    assert callers(tmp_path, "Till.ring", {"till.rb": TILL, "app.rb": text}) == {("app.rb", 4)}


def test_a_default_says_what_a_parameter_holds(tmp_path: Path) -> None:
    text = "def run(till = Till.new(1), other: Other.new)\n  till.ring\n  other.ring\nend\n"
    assert callers(tmp_path, "Till.ring", {"till.rb": TILL, "app.rb": text}) == {("app.rb", 2)}


def test_super_means_the_method_of_the_same_name(tmp_path: Path) -> None:
    text = "class Small < Till\n  def ring\n    super\n  end\n  def drawer\n    super()\n  end\nend\n"
    files = {"till.rb": TILL, "small.rb": text}
    assert callers(tmp_path, "Till.ring", files) == {("small.rb", 3)}
    assert ("small.rb", 6) in callers(tmp_path, "Till.drawer", files)


def test_a_name_behind_two_colons_is_none_of_the_module_around(tmp_path: Path) -> None:
    head = "module Shop\n  class Date; end\n  class Till; end\n"
    text = f"{head}  A = Date.new\n  B = ::Date.new\n  C = ::Till.new(1)\nend\n"
    files = {"till.rb": TILL, "shop.rb": text}
    assert callers(tmp_path, "Shop.Date", files) == {("shop.rb", 4)}
    assert callers(tmp_path, "Shop.Till", files) == set()


@pytest.mark.parametrize("head", ["include Shop", "class App < Shop::Base", "class App; include Shop"])
def test_names_of_what_is_mixed_in_are_visible(head: str, tmp_path: Path) -> None:
    shop = "module Shop\n  class Date; end\n  class Base\n    class Date; end\n  end\nend\n"
    text = f"{head}\ndef run\n  Date.new\nend\n"
    name = "Shop.Base.Date" if "Base" in head else "Shop.Date"
    assert callers(tmp_path, name, {"shop.rb": shop, "app.rb": text}) == {("app.rb", 3)}


@pytest.mark.parametrize(
    "body", ["define_method(name) { 1 }", "module_eval <<-X\n    def #{name}\n      1\n    end\n  X"]
)
def test_methods_that_a_list_of_names_defines_are_known(body: str, tmp_path: Path) -> None:
    text = f"class Shop\n  %w(open_door close_door).each do |name|\n  {body}\n  end\nend\n"
    files = {"shop.rb": text, "app.rb": "Shop.new.open_door\nShop.new.close_door\n"}
    assert callers(tmp_path, "close_door", files) == {("app.rb", 2)}


def test_a_bare_name_may_be_what_something_mixes_in(tmp_path: Path) -> None:
    text = "describe Shop do\n  it { assert_ringing 1 }\n  it { |assert_ringing| assert_ringing }\nend\n"
    files = {"helpers.rb": "module Helpers\n  def assert_ringing(x); end\nend\n", "shop_spec.rb": text}
    assert callers(tmp_path, "assert_ringing", files) == {("shop_spec.rb", 2)}


def test_what_all_namesakes_override_is_called_where_the_object_is_unknown(tmp_path: Path) -> None:
    base = "class Base\n  def weigh_all; end\nend\nclass A < Base\n  def weigh_all; end\nend\n"
    text = f"{base}def run(x)\n  x.weigh_all\nend\n"
    assert callers(tmp_path, "Base.weigh_all", {"app.rb": text}) == {("app.rb", 8)}


def test_what_many_tests_assign_to_an_attribute_from_itself_is_evaluated_in_time(tmp_path: Path) -> None:
    tests = "".join(
        f"  it '{number}' do\n    @box = @box.fill({number})\n    @box.take\n  end\n" for number in range(30)
    )
    files = {
        "box.rb": "class Box\n  def take\n  end\n\n  def fill(number)\n    self\n  end\nend\n",
        "bag.rb": "class Bag\n  def take\n  end\n\n  def fill(number)\n  end\nend\n",
        "box_spec.rb": f"describe Box do\n{tests}  it 'last' do\n    Box.new.take\n  end\nend\n",
    }
    assert ("box_spec.rb", 4 * 30 + 3) in callers(tmp_path, "Box.take", files)
