from __future__ import annotations

import time

import pytest

from cairn.search.any_length import is_long
from cairn.search.work_item import HEAD_CHARS, TAIL_CHARS, read_work_item

ISSUE = """### Checkout fails for empty carts

<!-- Thanks for the report!
Please fill in everything. -->

- [x] I have searched for duplicates

**Describe the bug**

`Cart.total` is wrong, see [the code](https://example.com/shop/blob/main/src/shop/cart.py#L12).

```python
cart = Cart()
cart.total()
```

Traceback (most recent call last):
  File "/home/me/src/shop/cart.py", line 12, in total
ValueError: cart must not be empty

## Environment

Something about machines.
- OS: Linux

## More

- Python version: 3.12.1
The discount is lost, too.
---
Fixes #12
"""


def test_the_first_line_is_the_subject_and_headings_lose_their_marks() -> None:
    assert read_work_item(ISSUE).subject == "Checkout fails for empty carts"


def test_prose_code_and_tracebacks_are_kept_apart() -> None:
    item = read_work_item(ISSUE)
    assert "`Cart.total` is wrong, see the code." in item.prose
    assert "The discount is lost, too." in item.prose
    assert item.code == "cart = Cart()\ncart.total()"
    assert 'File "/home/me/src/shop/cart.py", line 12' in item.trace


def test_the_files_that_links_lead_to_are_remembered() -> None:
    assert read_work_item(ISSUE).links == ("src/shop/cart.py",)


@pytest.mark.parametrize(
    "noise", ["Thanks for the report", "searched for", "Describe", "Something about", "OS:", "3.12.1", "---", "#12"]
)
def test_comments_boxes_headings_versions_and_trailers_are_dropped(noise: str) -> None:
    item = read_work_item(ISSUE)
    assert noise not in f"{item.subject}{item.prose}{item.code}{item.trace}"


def test_an_issue_without_its_title_begins_with_what_somebody_wrote() -> None:
    item = read_work_item("### Describe the bug\n\n<!-- here -->\nThe cart forgets discounts.\n\n### Steps\n\nAdd one.")
    assert item.subject == "The cart forgets discounts."
    assert item.prose == "Add one."


def test_of_a_long_first_line_the_first_sentence_is_the_subject() -> None:
    text = "The cart forgets every discount when it is saved. " + "It should keep them all the time. " * 10
    item = read_work_item(text)
    assert item.subject == "The cart forgets every discount when it is saved."
    assert item.prose.startswith("It should keep them")


def test_the_subject_of_a_bare_traceback_is_what_went_wrong() -> None:
    trace = (
        "Traceback (most recent call last):\n"
        '  File "cart.py", line 3, in total\n'
        "    raise ValueError(text)\n"
        "ValueError: cart must not be empty\n"
    )
    assert read_work_item(trace).subject == "ValueError: cart must not be empty"


def test_an_escaped_line_break_is_no_part_of_a_name() -> None:
    assert "nContent" not in read_work_item(r"Bodies differ" + "\n\n" + r'it sends "Host: a\nContent-Type: b"').prose


@pytest.mark.parametrize("text", ["one\ntwo", "word " * 60])
def test_a_text_of_several_lines_or_many_words_is_long(text: str) -> None:
    assert is_long(text)


@pytest.mark.parametrize("text", ["where are carts saved", "Cart.total\n"])
def test_a_question_is_not_long(text: str) -> None:
    assert not is_long(text)


def test_of_a_very_long_text_the_beginning_and_the_end_are_read() -> None:
    item = read_work_item("beginning\n" + "word " * 200_000 + "\nend of it")
    assert item.is_cut
    assert item.subject == "beginning"
    assert item.prose.endswith("end of it")
    assert len(item.raw) <= HEAD_CHARS + TAIL_CHARS + 1


@pytest.mark.parametrize(
    "block",
    [
        "a" * 40_000,
        "a." * 20_000,
        "<" * 40_000,
        "- " * 20_000,
        "`" * 40_000,
        "\\n" * 20_000,
        "[(" * 20_000,
        " " * 40_000,
    ],
)
def test_texts_that_are_made_to_be_slow_take_linear_time(block: str) -> None:
    started = time.process_time()
    read_work_item(f"Subject\n\n{block}\n")
    assert time.process_time() - started < 5  # linear: some milliseconds; a pattern that backtracks: hours
