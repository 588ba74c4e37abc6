"""Searches that the symbol graph answers: relations, definitions by name and kind, neighbours, contexts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cairn.answers import Answer
from cairn.protocol.documents import answer_to_dict
from cairn.workspace import Workspace
from small_projects import write_files

FILES = {
    "shop/__init__.py": "",
    "shop/base.py": "class Base:\n    def check(self):\n        return True\n\n    def open(self):\n        return 1\n",
    "shop/money.py": "def fee(amount):\n    return rounded(amount)\n\n\ndef rounded(amount):\n    return amount\n",
    "shop/cart.py": (
        "from shop.base import Base\nfrom shop.money import fee\n\n\nclass Cart(Base):\n"
        "    def check(self):\n        return fee(1)\n\n    def total(self):\n        return fee(2)\n\n\n"
        "class Gift(Cart):\n    def check(self):\n        return False\n"
    ),
    "shop/list.py": "from shop import money\n\n\nclass Listing:\n    def total(self):\n        return 1\n",
    "web/odd.rb": "class Odd\n  def empty?\n    size == 0\n  end\n\n  def show\n    empty?\n  end\nend\n",
    "tests/test_cart.py": "from shop.cart import Cart\n\n\ndef test_total():\n    assert Cart().total() == 1\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    write_files(root, FILES)
    return root


@pytest.fixture
def workspace(project: Path) -> Iterator[Workspace]:
    with Workspace.open(project) as opened:
        opened.index()
        yield opened


def places(answer: Answer) -> list[tuple[str, int, int, str]]:
    return [(hit.path, hit.start_line, hit.end_line, hit.name) for hit in answer.code]


def test_callers_are_the_lines_of_the_calls(workspace: Workspace) -> None:
    answer = workspace.search("who calls fee?")
    assert places(answer) == [("shop/cart.py", 7, 7, "check"), ("shop/cart.py", 10, 10, "total")]
    assert answer.mode == "graph"
    assert {hit.confidence for hit in answer.code} == {"high"}
    assert answer.code[0].preview == "        return fee(1)"
    assert "calls of function fee (shop/money.py:1)" in answer.notes[0]
    assert "--mode hybrid" in answer.notes[0]


def test_callees_and_implementations_are_definitions_that_can_be_fetched(workspace: Workspace) -> None:
    assert places(workspace.search("what does fee call")) == [("shop/money.py", 5, 6, "rounded")]
    answer = workspace.search("subclasses of Base")
    assert places(answer) == [("shop/cart.py", 5, 10, "Cart"), ("shop/cart.py", 13, 15, "Gift")]
    (text,) = workspace.fetch([answer.code[1].id])
    assert text.text.startswith("class Gift(Cart):")


def test_usages_are_the_lines_that_refer_to_it_in_any_way(workspace: Workspace) -> None:
    answer = workspace.search("usages of Cart")
    assert places(answer) == [
        ("shop/cart.py", 13, 13, "Gift"),
        ("tests/test_cart.py", 5, 5, "test_total"),
        ("tests/test_cart.py", 1, 1, ""),
    ]
    assert "references to class Cart (shop/cart.py:5)" in answer.notes[0]


def test_where_a_field_is_assigned_is_a_question_for_writes(workspace: Workspace, project: Path) -> None:
    (project / "shop/stock.py").write_text(
        "class Stock:\n    def __init__(self):\n        self.left = 3\n\n"
        "    def take(self):\n        self.left -= 1\n        return self.left\n"
    )
    workspace.index()
    answer = workspace.search("where is Stock.left assigned")
    assert places(answer) == [("shop/stock.py", 3, 3, "__init__"), ("shop/stock.py", 6, 6, "take")]
    assert "assignments of field Stock.left (shop/stock.py:3)" in answer.notes[0]


def test_a_word_of_prose_that_several_symbols_share_is_no_question_for_writes(workspace: Workspace) -> None:
    assert workspace.search("where is the total changed").mode != "graph"


def test_implementations_of_a_method_are_those_that_override_it(workspace: Workspace) -> None:
    found = places(workspace.search("implementations of Base.check"))
    assert [line for _, line, _, _ in found] == [6, 14]
    assert places(workspace.search("implementations of Base.open")) != found


def test_importers_are_import_lines_those_of_the_name_first(workspace: Workspace) -> None:
    assert places(workspace.search("importers of shop/money.py")) == [
        ("shop/cart.py", 2, 2, ""),
        ("shop/list.py", 1, 1, ""),
    ]
    assert [hit.confidence for hit in workspace.search("who imports fee").code] == ["high", "medium"]
    assert places(workspace.search("importers of shop.money"))[0] == ("shop/cart.py", 2, 2, "")


def test_imports_that_cannot_be_resolved_are_not_said_to_be_none(workspace: Workspace, project: Path) -> None:
    (project / "shop/store.zig").write_text("pub fn open() u8 { return 1; }\n")
    (project / "shop/use.zig").write_text(
        'const store = @import("store.zig");\npub fn two() u8 { return store.open(); }\n'
    )
    (project / "shop/alone.zig").write_text("pub fn alone() u8 { return 1; }\n")
    workspace.index()
    said = " ".join(workspace.search("importers of shop/store.zig").notes)
    assert "1 line says `store` in an import: shop/use.zig:1" in said
    assert "Nothing imports" not in said
    said = " ".join(workspace.search("importers of shop/alone.zig").notes)
    assert "Which files import shop/alone.zig is not known" in said
    assert "Nothing imports" not in said


def test_tests_are_the_functions_that_reach_the_symbol(workspace: Workspace) -> None:
    answer = workspace.search("tests for Cart.total")
    assert places(answer)[0] == ("tests/test_cart.py", 4, 5, "test_total")
    assert answer.code[0].confidence == "high"


def test_a_name_of_several_symbols_is_answered_for_all_of_them(workspace: Workspace) -> None:
    answer = workspace.search("callers of total")
    assert places(answer) == [("tests/test_cart.py", 5, 5, "test_total")]
    assert "any of 2 symbols called total" in answer.notes[0]


def test_a_name_may_end_in_a_question_mark(workspace: Workspace) -> None:
    assert places(workspace.search("callers of empty?")) == [("web/odd.rb", 7, 7, "show")]


@pytest.mark.parametrize("query", ["callers of nothing_here", "tests for payment", "importers of gone.py"])
def test_what_does_not_exist_is_ranked_as_prose(workspace: Workspace, query: str) -> None:
    asked, prose = workspace.search(query), workspace.search(query, mode="hybrid")
    assert places(asked) == places(prose)
    assert (asked.mode, asked.notes) == ("hybrid", ())


def test_a_kind_of_which_nothing_has_the_name_is_said_so(workspace: Workspace) -> None:
    assert workspace.search("class Gone").notes == ("The index has no definition called 'Gone'.",)


def test_a_symbol_that_nothing_calls_is_said_so_and_related_code_follows(workspace: Workspace) -> None:
    answer = workspace.search("callers of Listing.total")
    assert answer.mode == "hybrid"
    assert answer.notes == (
        "Nothing calls method Listing.total (shop/list.py:5), as far as can be resolved.",
        "The hits are related code.",
    )


def test_a_name_that_nothing_defines_is_used_in_the_lines_that_say_it(workspace: Workspace, project: Path) -> None:
    (project / "deploy.yaml").write_text("env:\n  SHOP_CURRENCY: eur\n")
    (project / "shop/settings.py").write_text(
        "import os\n\nCURRENCY = os.environ['SHOP_CURRENCY']\nSHOP_CURRENCY_2 = 1\n"
    )
    (project / "shop/page.html").write_text("<p>{{ shop.page.title }}</p>\n")
    workspace.index()
    answer = workspace.search("where is SHOP_CURRENCY read")
    assert [(hit.path, hit.start_line) for hit in answer.code] == [("shop/settings.py", 3), ("deploy.yaml", 2)]
    assert answer.notes == ("These lines say the name: no definition called 'SHOP_CURRENCY' is known.",)
    assert [hit.path for hit in workspace.search("usages of shop.page.title").code] == ["shop/page.html"]
    assert [hit.path for hit in workspace.search("where is SHOP_CURRENCY set").code] == ["deploy.yaml"]


def test_lines_that_say_a_name_are_shown_where_none_of_them_can_be_resolved(
    workspace: Workspace, project: Path
) -> None:
    (project / "web/later.rb").write_text("def later(list)\n  list.settle_up\nend\n")
    (project / "web/bill.rb").write_text("class Bill\n  def settle_up\n    1\n  end\nend\n")
    (project / "web/note.rb").write_text("class Note\n  def settle_up\n    1\n  end\nend\n")
    workspace.index()
    answer = workspace.search("who calls Bill.settle_up")
    assert "web/later.rb" in [hit.path for hit in answer.code]
    assert "related code" not in " ".join(answer.notes)


def test_what_sets_a_setting_by_its_name_comes_behind_what_assigns_it(workspace: Workspace, project: Path) -> None:
    (project / "config.rs").write_text(
        "pub struct Config {\n    pub page_size: u32,\n}\n\n"
        "pub fn small() -> Config {\n    Config { page_size: 3 }\n}\n\n"
        'pub fn defaults(all: Builder) -> Builder {\n    all.set_default("shop.page_size", 20)\n}\n\n'
        'pub fn show(all: Builder) {\n    println!("page_size");\n}\n'
    )
    workspace.index()
    answer = workspace.search("where is page_size set")
    assert [(hit.start_line, hit.confidence) for hit in answer.code] == [(6, "high"), (10, "medium")]
    assert "What comes last says it in quotes, and may set it by its name." in answer.notes


def test_fields_that_share_a_name_are_counted(workspace: Workspace, project: Path) -> None:
    for name in ("Crate", "Box"):
        (project / f"{name.lower()}.rs").write_text(
            f"pub struct {name} {{ pub weight_grams: u32 }}\n\n"
            f"pub fn heavy(one: {name}) -> bool {{ one.weight_grams > 9 }}\n"
        )
    workspace.index()
    note = workspace.search("usages of weight_grams").notes[0]
    assert "any of 2 symbols called weight_grams (" in note


def test_a_file_or_a_line_may_be_asked_about(workspace: Workspace) -> None:
    assert places(workspace.search("callers of shop/money.py:2")) == places(workspace.search("callers of fee"))
    assert places(workspace.search("callees of shop/cart.py:total")) == [("shop/money.py", 1, 2, "fee")]
    assert (
        workspace.search("callees of shop/__init__.py")
        .notes[0]
        .startswith("Nothing of this project is called by shop/__init__.py")
    )


@pytest.mark.parametrize(
    "query",
    [
        "callers of \udcff",
        "importers of ../..",
        "tests for :0",
        "callees of shop/cart.py:99999999999999999999",
        "who calls ???",
        "subclasses of \U0001f600",
        "importers of ::",
        "class _" + "x" * 5_000,
    ],
)
def test_odd_symbols_break_no_question(workspace: Workspace, query: str) -> None:
    assert workspace.search(query).mode in ("hybrid", "symbol", "literal")


def test_filters_the_limit_and_the_budget_hold_for_questions(workspace: Workspace) -> None:
    one = workspace.search("callers of fee", limit=1)
    assert (len(one.code), one.omitted) == (1, 1)
    assert places(workspace.search("subclasses of Base", kinds=("method",))) != places(
        workspace.search("subclasses of Base")
    )
    assert all(hit.path.startswith("shop/list") for hit in workspace.search("who imports fee", globs=("list.py",)).code)
    assert "within the filters" in workspace.search("callers of fee", globs=("web",)).notes[0]
    none = workspace.search("callers of fee", max_tokens=1)
    assert (none.code, none.omitted) == ((), 2)


def test_a_file_that_changed_is_answered_from_as_it_is_now(workspace: Workspace, project: Path) -> None:
    cart = project / "shop/cart.py"
    cart.write_text("\n" + cart.read_text())
    answer = workspace.search("callers of fee")
    assert [hit.start_line for hit in answer.code] == [8, 11]
    assert all(hit.stale for hit in answer.code)
    assert answer.code[0].preview == "        return fee(1)"
    assert "def check" in workspace.fetch([answer.code[0].id])[0].text


def test_a_kind_and_a_name_give_the_definition_first(workspace: Workspace) -> None:
    answer = workspace.search("class Cart")
    assert places(answer)[0] == ("shop/cart.py", 5, 10, "Cart")
    assert answer.code[0].confidence == "high"
    assert answer.notes == ()
    assert "come first" in workspace.search("class cart").notes[0]
    assert [hit.kind for hit in workspace.search("method total").code[:2]] == ["method", "method"]


def test_a_qualified_name_comes_before_its_namesakes_and_all_namesakes_before_the_rest(workspace: Workspace) -> None:
    assert places(workspace.search("Listing.total"))[0] == ("shop/list.py", 5, 6, "total")
    assert {hit.path for hit in workspace.search("total").code[:2]} == {"shop/list.py", "shop/cart.py"}
    assert len([hit for hit in workspace.search("check").code[:3] if hit.name == "check"]) == 3


def test_parts_of_a_named_hits_score_still_add_up(workspace: Workspace) -> None:
    for hit in workspace.search("check", explain=True).code:
        assert hit.explain is not None
        assert sum(hit.explain.values()) == pytest.approx(hit.score, abs=0.002)
        assert all(0 != value == round(value, 4) for value in hit.explain.values())
        sizes = [abs(value) for value in hit.explain.values()]
        assert sizes == sorted(sizes, reverse=True)


def test_expanded_hits_have_callers_and_callees(workspace: Workspace) -> None:
    hit = workspace.search("fee", expand=True).code[0]
    assert hit.neighbours is not None
    assert [(one.relation, one.path, one.line, one.name) for one in hit.neighbours] == [
        ("caller", "shop/cart.py", 7, "Cart.check"),
        ("caller", "shop/cart.py", 10, "Cart.total"),
        ("callee", "shop/money.py", 5, "rounded"),
    ]
    assert workspace.search("fee").code[0].neighbours is None


def test_neighbours_are_part_of_the_document_and_of_the_budget(workspace: Workspace) -> None:
    document = answer_to_dict(workspace.search("fee", expand=True))
    assert document["code"][0]["neighbours"][0] == {
        "relation": "caller", "filepath": "shop/cart.py", "line": 7, "kind": "method", "name": "Cart.check",
        "how": "import",
    }  # fmt: skip
    assert "neighbours" not in answer_to_dict(workspace.search("fee"))["code"][0]
    cost = len(json.dumps(answer_to_dict(workspace.search("fee")))) // 4 + 3
    plain = workspace.search("fee", max_tokens=cost)
    expanded = workspace.search("fee", max_tokens=cost, expand=True)
    assert plain.omitted == 0
    assert len(expanded.code) + expanded.omitted == len(plain.code)
    assert expanded.code[-1].neighbours is None
    assert expanded.code[0].neighbours is not None


def test_a_hit_outside_of_definitions_has_no_neighbours(workspace: Workspace) -> None:
    (hit,) = workspace.search("from shop import money", mode="literal", expand=True).code
    assert hit.neighbours == ()


def test_a_context_has_callers_callees_and_tests_within_its_budget(workspace: Workspace) -> None:
    outline = workspace.code.outline("shop/cart.py", mode="context", symbol="Cart.total")
    assert "calls:\nshop/money.py:1 function fee" in outline.text
    assert "tested by:\ntests/test_cart.py test_total" in outline.text
    assert "called by:" not in outline.text
    called = workspace.code.outline("shop/money.py", mode="context", symbol="fee")
    assert "called by:\nshop/cart.py:7 method Cart.check\nshop/cart.py:10 method Cart.total" in called.text
    small = workspace.code.outline("shop/money.py", mode="context", symbol="fee", max_tokens=60)
    assert small.text_tokens <= 60


def test_a_context_without_an_index_names_the_command_that_makes_one(project: Path) -> None:
    with Workspace.open(project) as bare:
        outline = bare.code.outline("shop/money.py", mode="context", symbol="fee")
    assert "def fee(amount):" in outline.text
    assert "called by" not in outline.text
    (note,) = outline.notes
    assert "cairn index" in note
    assert f"({note})" in outline.text
    assert not (project / ".cairn").exists()


def test_a_context_in_a_file_that_is_not_indexed_yet_says_so(workspace: Workspace, project: Path) -> None:
    (project / "new.py").write_text("def fresh():\n    return 1\n")
    (note,) = workspace.code.outline("new.py", mode="context", symbol="fresh").notes
    assert "new.py is not in the index" in note
