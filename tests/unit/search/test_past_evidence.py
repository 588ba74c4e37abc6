from __future__ import annotations

import pytest

from cairn.search.any_length import understand_text
from cairn.search.query import asks_for_change, is_work_item


@pytest.mark.parametrize(
    "text",
    [
        "Fix the total of an empty cart",
        "feat(cart): support vouchers",
        "[core] Added retries to uploads",
        "modules/http-router: Keep the query of a redirect",
        "don\u2019t close the stream twice",
        "TypeError: total() fails with an empty cart",
        "Uploads do stop, but the spinner should go away",
        "how are totals kept\nin an empty cart",
        "word " * 60,
    ],
)
def test_subjects_of_changes_reports_and_long_texts_ask_for_a_change(text: str) -> None:
    assert asks_for_change(text)


@pytest.mark.parametrize(
    "text", ["how are totals kept", "where is the address checked", "SessionStore", "handlers of routes", "addresses"]
)
def test_questions_and_names_do_not(text: str) -> None:
    assert not asks_for_change(text)


def test_a_long_text_is_a_work_item_whatever_its_subject() -> None:
    assert is_work_item(understand_text("Totals in an empty cart\n\nThe page shows nothing."))
    assert not is_work_item(understand_text("totals in an empty cart"))
