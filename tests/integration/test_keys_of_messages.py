"""A message in a file of texts leads on to the code that asks for it by its key; and text is found in another case."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cairn.workspace import Workspace
from small_projects import write_files

FILES = {
    "i18n/en.json": '{\n  "cart-is-locked": "The cart is locked",\n  "title": "The list of carts"\n}\n',
    "i18n/nested.yml": "errors:\n  cart:\n    too_heavy: Nobody can carry that\n",
    "i18n/messages_en.properties": "form.error.emptyName=A name is missing\n",
    "shop/cart.py": (
        "def check(cart):\n    if cart.locked:\n        raise Refused(t('cart-is-locked'))\n"
        "    if cart.weight > 9:\n        raise Refused(t('errors.cart.too_heavy'))\n"
        "    raise ValueError('nothing can be checked here')\n"
    ),
    "shop/other.py": "KEY = 'cart-is-locked-for-ever'\ntitle = 1\n",
    "pages/form.html": '<p th:text="#{form.error.emptyName}"></p>\n',
    "tests/test_cart.py": "def test_it():\n    assert refused('cart-is-locked')\n",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("keys")
    write_files(root, FILES)
    with Workspace.open(root) as workspace:
        workspace.index()
        yield workspace


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ('"The cart is locked"', [("i18n/en.json", 2), ("shop/cart.py", 3), ("tests/test_cart.py", 2)]),
        ("The cart is locked", [("i18n/en.json", 2), ("shop/cart.py", 3), ("tests/test_cart.py", 2)]),
        ('"Nobody can carry that"', [("i18n/nested.yml", 3), ("shop/cart.py", 5)]),
        ('"A name is missing"', [("i18n/messages_en.properties", 1), ("pages/form.html", 1)]),
        ('"The list of carts"', [("i18n/en.json", 3)]),  # `title` may be any word
    ],
)
def test_a_text_leads_to_the_code_that_says_its_key(shop: Workspace, text: str, places: list[tuple[str, int]]) -> None:
    found = [(hit.path, hit.start_line) for hit in shop.search(text).code]
    assert found[: len(places)] == places
    if text.startswith('"'):
        assert len(found) == len(places)


def test_a_note_says_by_which_key_and_the_code_is_no_sure_answer(shop: Workspace) -> None:
    answer = shop.search('"The cart is locked"')
    assert [hit.confidence for hit in answer.code] == ["high", "medium", "medium"]
    assert str(answer.notes[-1]).startswith("What comes then says the key 'cart-is-locked' of that text;")


def test_who_asks_for_exact_text_is_given_no_more(shop: Workspace) -> None:
    assert [hit.path for hit in shop.search("The cart is locked", mode="literal").code] == ["i18n/en.json"]
    assert [hit.path for hit in shop.search('"The cart is locked"', globs=["i18n/**"]).code] == ["i18n/en.json"]


def test_a_quoted_text_is_found_in_another_case_if_nowhere_else(shop: Workspace) -> None:
    answer = shop.search('"Nothing can be checked"')
    (hit,) = answer.code
    assert (hit.path, hit.start_line, hit.confidence) == ("shop/cart.py", 6, "medium")
    assert "No line holds 'Nothing can be checked' exactly; these hold it in another case." in answer.notes


def test_exact_text_in_another_case_is_counted_and_not_shown(shop: Workspace) -> None:
    answer = shop.search("Nothing can be CHECKED", mode="literal")
    assert answer.code == ()
    (note,) = answer.notes
    assert str(note) == "In another case, 1 line holds it: cairn search '(?i)Nothing can be CHECKED' --mode regex"


def test_one_common_word_of_a_sentence_is_no_part_of_a_message(shop: Workspace) -> None:
    answer = shop.search("Fixed a problem where the weight of the things would calculate as 99.9999 and be carried in")
    assert not any("holds" in str(note) for note in answer.notes)
