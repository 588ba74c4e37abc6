from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from cairn.search.mentions import MAX_NAMES, read_mentions
from cairn.search.work_item import read_work_item


def names(text: str) -> dict[str, float]:
    return read_mentions(read_work_item(text)).names


def test_names_in_spans_calls_and_dotted_names_are_read() -> None:
    found = names(
        "Wrong price\n\n`total` calls apply_discount() of shop.cart.Cart.save and parseHTTP, not plain words."
    )
    assert {"total", "apply_discount", "save", "Cart", "parseHTTP"} <= set(found)
    assert "plain" not in found
    assert found["total"] > found["parseHTTP"]


def test_the_program_of_a_command_is_no_name() -> None:
    found = names("Totals\n\nRun `shop sum --all` or `$ cart -v`; `basket empty` and `till` are code.")
    assert found.keys() & {"shop", "cart", "basket", "till"} == {"basket", "till"}


def test_a_name_in_the_subject_says_more_than_one_in_the_body_and_that_more_than_one_in_code() -> None:
    found = names("`Cart` is wrong\n\n`Basket` is right\n\n```\nshopping_trolley = 1\n```\n")
    assert found["Cart"] > found["Basket"] > found["shopping_trolley"]


def test_paths_and_modules_are_read_from_prose_and_code() -> None:
    mentions = read_mentions(
        read_work_item("Broken\n\nin src/shop/cart.py and shop.orders.placing\n\n```\nsee lib/a.ts\n```")
    )
    assert {"src/shop/cart.py", "lib/a.ts"} <= set(mentions.paths)
    assert "shop.orders.placing" in mentions.modules


@pytest.mark.parametrize(
    "text",
    [
        "调用generate_etag时报错\n\n见src/shop/cart.py中的Cart.save和parseHTTP()了",
        "generate_etagを呼ぶと失敗\n\nsrc/shop/cart.pyのCart.saveとparseHTTP()です。",
        "generate_etag를 부르면 실패\n\nsrc/shop/cart.py의 Cart.save와 parseHTTP()에서",
    ],
    ids=["chinese", "japanese", "korean"],
)
def test_names_and_paths_are_read_beside_letters_of_scripts_without_spaces(text: str) -> None:
    mentions = read_mentions(read_work_item(text))
    assert {"generate_etag", "Cart", "save", "parseHTTP"} <= set(mentions.names)
    assert "src/shop/cart.py" in mentions.paths


def test_a_path_keeps_letters_of_other_scripts() -> None:
    assert "docs/使い方guide.md" in read_mentions(read_work_item("Wrong\n\nIn docs/使い方guide.md it says so.")).paths


def test_a_text_of_thousands_of_names_gives_a_bounded_number_of_them() -> None:
    assert len(names("Many\n\n" + " ".join(f"some_name_{number}()" for number in range(3_000)))) == MAX_NAMES


@pytest.mark.parametrize("block", ["a.b" * 10_000, "a/" * 20_000, "a(" * 20_000, "x" * 40_000])
def test_blocks_without_blanks_take_linear_time(block: str) -> None:
    started = time.process_time()
    names(f"Subject\n\n{block}\n")
    assert time.process_time() - started < 5


def test_which_names_are_kept_does_not_depend_on_the_process() -> None:
    script = (
        "from cairn.search.mentions import read_mentions\nfrom cairn.search.work_item import read_work_item\n"
        "code = ' '.join(f'some_name_{number} = call_{number}()' for number in range(200))\n"
        "print(list(read_mentions(read_work_item(f'Many\\n\\n```\\n{code}\\n```\\n')).names))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1
    assert "some_name_0" in found.pop()


@pytest.mark.parametrize(
    ("error", "named"),
    [
        ("undefined method `closed?' for #<Shop::Till::Drawer:0x00007fb06edf4a28>", {"Drawer", "Till", "Shop"}),
        ("NoMethodError: undefined method 'closed?' for an instance of Till", {"Till"}),
        ("AttributeError: 'Drawer' object has no attribute 'closed'", {"Drawer"}),
        ("AttributeError: type object 'Drawer' has no attribute 'closed'", {"Drawer"}),
        ("AttributeError: module 'shop.tills' has no attribute 'closed'", {"tills"}),
        ("Call to undefined method Shop\\Till\\Drawer::closed()", {"Drawer", "Till", "Shop"}),
        ("** (UndefinedFunctionError) function Shop.Till.closed/1 is undefined or private", {"Till", "Shop"}),
        ("undefined method `closed?' for nil:NilClass", set()),
    ],
)
def test_a_class_that_lacks_what_an_error_says_is_named_by_it(error: str, named: set[str]) -> None:
    found = names(f"Tills do not close\n\nSince the update:\n\n```\n{error}\n```\n")
    assert {name for name, weight in found.items() if weight > 0.5} == named


def test_the_names_of_products_and_sites_are_no_dotted_names() -> None:
    said = "With Node.js and ASP.NET, see Example.com; Cart.Line is right."
    mentions = read_mentions(read_work_item(f"Socket.IO closes\n\n{said}"))
    assert mentions.names.keys() & {"Socket", "IO", "Node", "ASP", "Example", "Cart"} == {"Cart"}
    assert mentions.modules == ("Cart.Line",)
