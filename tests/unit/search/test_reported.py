"""Which lines of a text are looked for as messages."""

from __future__ import annotations

import pytest

from cairn.search.reported import messages_of
from cairn.search.work_item import read_work_item


def messages(text: str) -> list[str]:
    return messages_of(read_work_item(text))


def test_what_every_trace_says_is_no_message() -> None:
    trace = 'Traceback (most recent call last):\n  File "/srv/run.py", line 7, in <module>\n    place(cart)\n'
    between = "\nDuring handling of the above exception, another exception occurred:\n\n"
    found = messages(f"{trace}KeyError: 'ann'\n{between}{trace}ValueError: cart ann must not be empty\n")
    assert found == ["ValueError: cart ann must not be empty"]


@pytest.mark.parametrize(
    "line",
    [
        "2024-03-01 12:00:01,124 INFO started",
        "2024-03-01 12:00:01,124 INFO [worker] started 12",
        "12:00:01 DEBUG shop.mail: '/srv/letters' -> 'ann'",
    ],
)
def test_a_line_of_a_log_with_few_words_is_no_message(line: str) -> None:
    log = f"2024-03-01 12:00:01,000 INFO Order 12 was placed twice by ann\n{line}\n{line}\n"
    assert messages(log) == ["2024-03-01 12:00:01,000 INFO Order 12 was placed twice by ann"]


@pytest.mark.parametrize(
    "code",
    [
        "app.get('/', (req, res) => res.status('200').send('cart'))",
        "total = sum(items, key=price(",
        "queue.on('done', (cart, items) => {",
        "cart.add('apples', 3, now=True)",
    ],
)
def test_code_below_what_a_program_printed_is_no_message(code: str) -> None:
    assert messages(f"$ shop run\nOrder 12 was placed twice by ann\n{code}\n") == ["Order 12 was placed twice by ann"]
