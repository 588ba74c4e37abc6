from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cairn.workspace import Workspace

CART = '''"""Carts."""


class CartError(Exception):
    """A cart that cannot be used: the cart of somebody is closed and cannot take more items."""


def add(cart, item):
    # The cart of somebody is closed: it cannot take more items of a kind.
    if cart.closed:
        raise CartError(f"The cart of {cart.owner!r} is closed and cannot take {item}")
    cart.items.append(item)


def remove(cart, item):
    log.warning("Item %s was not found in any open cart", item)


def use(cart):
    raise CartError("use() of a cart requires items")


def check(page, count):
    raise CartError(f"option {page} must be {count}")
'''
PAGES = '''def fetch(page):
    """Fetch a page.

    DEBUG: Skipped stale page 'about' while publishing
    """
    log.debug("Skipped stale page %(page)r while publishing", {"page": page})


def report(page):
    log.error("Error publishing %(page)s", {"page": page})
'''
TESTS = """def test_cart():
    assert str(error) == "The cart of 'ann' is closed and cannot take 3 apples"
    assert error == "CartError: use() of a cart requires items"
    assert log == "Skipped stale page 'about' while publishing"
"""
CHANGES = "1.2\n  The cart of 'ann' is closed and cannot take 3 apples: said so.\n"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("messages")
    (root / "tests").mkdir()
    files = {"cart.py": CART, "pages.py": PAGES, "tests/test_cart.py": TESTS, "CHANGES": CHANGES}
    for path, text in files.items():
        (root / path).write_text(text)
    with Workspace.open(root) as workspace:
        workspace.index()
        yield workspace


def line_of(source: str, part: str) -> int:
    return source[: source.index(part)].count("\n") + 1


RAISED = ("cart.py", line_of(CART, "raise CartError(f"))
LOGGED = ("pages.py", line_of(PAGES, "log.debug"))


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("The cart of 'ann' is closed and cannot take 3 apples", RAISED),
        ("shop.cart.CartError: The cart of 'ann' is closed and cannot take 3 apples", RAISED),
        ("The test failed: the cart of 'bob' is closed and cannot take 'tests'", RAISED),
        ("Traceback:\nshop.CartError: The cart of 'ann' is closed and cannot take 3 apples", RAISED),
        ("[CartError]\n  The cart of 'ann' is closed and cannot take 3 apples", RAISED),
        ("cart.py:2: error: The cart of 'ann' is closed and cannot take 3 apples", RAISED),
        ("DEBUG: Skipped stale page 'home' while publishing", LOGGED),
        ("2024-07-08 16:34:44 [shop.pages] DEBUG: Skipped stale page 'home' while publishing", LOGGED),
        ("$ shop publish\nSkipped stale page 'home' while publishing", LOGGED),
        ("Item 12 was not found in any open cart", ("cart.py", line_of(CART, "log.warning"))),
        ("CartError: use() of a cart requires items", ("cart.py", line_of(CART, 'raise CartError("use()'))),
        ("CartError: option timeout must be a number", ("cart.py", line_of(CART, 'raise CartError(f"option'))),
    ],
)
def test_a_message_is_found_where_the_code_makes_it(text: str, place: tuple[str, int], workspace: Workspace) -> None:
    hit = workspace.search(text).code[0]
    assert (hit.path, hit.start_line) == place


REPORT = """It stopped working

Hello, since last week our build is red on every branch. Nothing changed on our side as far as I can see. We get:

```
{}
```

Is there a workaround?
"""


@pytest.mark.parametrize(
    "message",
    [
        "CartError: Item 12 was not found in any open cart: connection reset by peer while reading from it",
        "loading shop: adding to a basket: Item 12 was not found in any open cart: permission denied",
        "The cart of 'ann' is closed and cannot take 3 apples",
        "Item 12 was not found in any open cart",
    ],
)
def test_a_message_in_a_report_is_found_by_its_words_in_a_row(message: str, workspace: Workspace) -> None:
    hit = workspace.search(REPORT.format(message)).code[0]
    assert (hit.path, hit.part, hit.confidence) == ("cart.py", "raised here", "high")


def test_the_message_in_a_title_is_found_though_another_one_is_printed(workspace: Workspace) -> None:
    title = "shop.CartError: Item 12 was not found in any open cart when pages are published twice"
    printed = "Caused by: org.other.BuildException: The build of all pages has failed"
    hits = workspace.search(REPORT.format(printed).replace("It stopped working", title)).code
    assert (hits[0].path, hits[0].start_line, hits[0].part) == ("cart.py", line_of(CART, "log.warning"), "raised here")


@pytest.mark.parametrize("message", ["closed and open carts of ann and bob", "Our page about the cart of somebody"])
def test_words_alone_in_a_report_that_no_line_has_in_a_row_are_made_nowhere(message: str, workspace: Workspace) -> None:
    assert all(hit.part != "raised here" for hit in workspace.search(REPORT.format(message)).code)


def test_no_remark_behind_code_and_no_form_of_a_hidden_folder_makes_a_message(tmp_path: Path) -> None:
    (tmp_path / ".github").mkdir()
    (tmp_path / ".github" / "bug.yml").write_text("value: |\n  Shop cannot print this page twice\n")
    (tmp_path / "cart.js").write_text(
        "function show(cart) {\n  if (cart) {\n  } // Shop cannot print this page twice\n}\n"
    )
    with Workspace.open(tmp_path) as own:
        own.index()
        hits = own.search(REPORT.format("Error: Shop cannot print this page twice")).code
    assert all(hit.part != "raised here" for hit in hits)


def test_a_message_that_two_files_make_alike_is_not_sure(tmp_path: Path) -> None:
    for name in ("cart", "order"):
        line = 'raise ShopError("cannot print the last page twice")'
        (tmp_path / f"{name}.py").write_text(f"def print_{name}(page):\n    {line}\n")
    with Workspace.open(tmp_path) as own:
        own.index()
        hit = own.search(REPORT.format("ShopError: cannot print the last page twice")).code[0]
    assert (hit.part, hit.confidence) == ("raised here", "medium")


def test_a_place_that_a_compiler_names_comes_first_where_the_message_is_not_of_the_project(
    workspace: Workspace,
) -> None:
    hit = workspace.search("cart.py:16: error: unused parameter of a function").code[0]
    assert (hit.path, hit.start_line) == ("cart.py", 16)


def test_what_people_write_of_an_error_is_no_output(workspace: Workspace) -> None:
    item = "Closed carts\n\nHowever, `add` does not say which cart is closed. Does it make sense to say that as well?"
    assert workspace.search(item).code[0].path == "cart.py"
    assert all(hit.part != "raised here" for hit in workspace.search(item).code)


def test_a_message_in_a_page_of_documentation_is_not_raised_there(tmp_path: Path) -> None:
    (tmp_path / "REPORTING.md").write_text("# Reports\n\nSay what went wrong: cannot print the page of a cart\n")
    (tmp_path / "cart.py").write_text("def show(cart):\n    return cart.page\n")
    with Workspace.open(tmp_path) as own:
        own.index()
        hits = own.search("Report\n\nERROR: cannot print the page of a cart").code
    assert all(hit.part != "raised here" for hit in hits if hit.path == "REPORTING.md")
