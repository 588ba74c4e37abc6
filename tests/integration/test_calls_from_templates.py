"""What templates of other files, or frameworks, call is not said to be called by nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cairn.workspace import Workspace
from small_projects import write_files

FILES = {
    "app/helpers/shop_helper.rb": "module ShopHelper\n  def divider_tag\n  end\n\n  def idle_tag\n  end\nend\n",
    "app/views/show.html.erb": "<p>Our idle_tag</p>\n<%= divider_tag %>\n",
    "app/models/price.rb": "class Price\n  def cents=(value)\n    @cents = value\n  end\nend\n",
    "app/models/till.rb": "class Till\n  def fill(price)\n    price.cents = 3\n  end\nend\n",
    "app/jobs/card_job.rb": "class CardJob < ApplicationJob\nend\n",
    "app/controllers/till_controller.rb": "class TillController\n  before_action :find_till, only: [:index]\n"
    "  def index\n    CardJob.perform_later(@till)\n  end\n\n  def find_till\n  end\nend\n",
    "db/migrate/1_add_price.rb": "class AddPrice < ActiveRecord::Migration[7.0]\n  def change\n  end\nend\n",
    "lib/tasks/clean.rake": "task :clean_up do\n  puts 1\nend\n",
    "views.py": "def total_of(cart):\n    return 1\n\n\ndef spare_of(cart):\n    return 2\n",
    "templates/cart.html": "<p>spare_of carts</p>\n<b>{% for x in\n   total_of %}</b>\n",
    "Pages/Cart.cs": "namespace Shop { class CartModel { public void OnPay() {} public void OnRest() {} } }\n",
    "Pages/Cart.cshtml": "@model CartModel\n<button>@Model.OnPay()</button>\n",
    "till.component.ts": "export class TillComponent {\n  ring() {}\n  sell() {}\n}\n",
    "till.component.html": '<button (click)="ring()" title="sell">{{ name }}</button>\n',
    "config/recurring.yml": "clear:\n  command: 'Stats.rebuild_totals'\n",
    "app/models/stats.rb": "class Stats\n  def self.rebuild_totals\n  end\nend\n",
    "web.py": "class Web(Resource):\n    @api.get('/')\n    def show(self):\n        return 1\n",
    "src/routes/+page.server.js": "export function load() {\n  return 1\n}\n",
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("called")
    write_files(root, FILES)
    with Workspace.open(root) as opened:
        opened.index()
        yield opened


@pytest.mark.parametrize(
    ("symbol", "place"),
    [
        ("divider_tag", ("app/views/show.html.erb", 2)),
        ("total_of", ("templates/cart.html", 3)),
        ("OnPay", ("Pages/Cart.cshtml", 2)),
        ("TillComponent.ring", ("till.component.html", 1)),
        ("cents=", ("app/models/till.rb", 3)),
    ],
)
def test_lines_of_templates_and_assignments_may_call(workspace: Workspace, symbol: str, place: tuple[str, int]) -> None:
    unresolved = workspace.graph.callers(symbol).unresolved
    assert unresolved is not None
    assert [(line.path, line.line) for line in unresolved.first] == [place]


def test_callbacks_and_classes_that_a_library_is_called_on_are_used(workspace: Workspace) -> None:
    for symbol, line in (("find_till", 2), ("CardJob", 4)):
        links = workspace.graph.callers(symbol).links
        assert [(link.path, link.line) for link in links] == [("app/controllers/till_controller.rb", line)]
    affected = workspace.graph.impact("CardJob").affected
    assert [each.symbol.name for each in affected] == ["TillController.index"]


@pytest.mark.parametrize("symbol", ["idle_tag", "spare_of", "OnRest", "TillComponent.sell"])
def test_texts_of_templates_call_nothing(workspace: Workspace, symbol: str) -> None:
    assert workspace.graph.callers(symbol).unresolved is None


def test_references_know_of_templates_too(workspace: Workspace) -> None:
    assert workspace.graph.references("divider_tag").unresolved is not None


def test_what_frameworks_find_by_its_name_is_not_dead(workspace: Workspace) -> None:
    dead = [each for each in workspace.graph.dead_code().dead if each.confidence > 0.5]
    assert {each.symbol.name for each in dead} == {"ShopHelper.idle_tag", "Till.fill", "TillComponent", "spare_of"}


def test_settings_that_name_code_are_told_and_what_a_library_may_call(workspace: Workspace) -> None:
    said = workspace.graph.callers("rebuild_totals").unresolved
    assert said is not None
    assert [(line.path, line.line) for line in said.first] == [("config/recurring.yml", 2)]
    note = str(workspace.graph.callers("Web.show").notes[0])
    assert note.startswith(
        "A library may call it: it is decorated with get and is of a type that derives from Resource."
    )
