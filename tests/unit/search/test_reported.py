"""Which lines of a text are looked for as messages."""

from __future__ import annotations

import pytest

from cairn.search.reported import messages_of
from cairn.search.work_item import read_work_item

REPORT = "Since yesterday we see this for some of the orders that people place with us at night:"


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


def test_a_code_span_with_a_level_before_its_words_is_a_message() -> None:
    said = '[error] All carts in the folder were placed: "orders/"'
    assert messages(f"The CLI fails for a folder with a slash\n\n{REPORT}\n`{said}`\n") == [said]


def test_the_error_that_a_title_tells_is_looked_for_first_without_when_it_happens() -> None:
    printed = "```\nCaused by: org.other.BuildException: The build has failed for cart.kt\n```\n"
    assert messages(
        f"java.lang.StateException: Carts should be empty when ann pays twice\n\n{REPORT}\n\n{printed}"
    ) == [
        "java.lang.StateException: Carts should be empty",
        "Caused by: org.other.BuildException: The build has failed for cart.kt",
    ]


@pytest.mark.parametrize("subject", ["Error in production", "Exception while orders are placed", "Warning about carts"])
def test_a_subject_that_only_begins_like_an_error_is_no_message(subject: str) -> None:
    assert messages(f"{subject}\n\n{REPORT}\n\n```\nOrder 12 cannot be placed twice\n```\n") == [
        "Order 12 cannot be placed twice"
    ]
    assert messages(f"{subject}\n\n{REPORT}") == []


@pytest.mark.parametrize(
    "said",
    [
        "TypeError: cart must not be empty",
        "Uncaught TypeError: cart must not be empty",
        "TypeError [ERR_CART]: cart must not be empty",
        'Exception in thread "main" java.lang.IllegalStateException: cart must not be empty',
        "ValueError('cart must not be empty')",
        "** (ArgumentError) cart must not be empty",
        "  | ValueError: cart must not be empty",
    ],
)
def test_a_line_that_says_which_error_it_was_is_the_message(said: str) -> None:
    code = f"```\nError logged below\n{said}\ncarts were not found anywhere\n```"
    assert messages(f"Carts\n\n{REPORT}\n\n{code}\n") == [said.lstrip("| ")]


@pytest.mark.parametrize(
    "panic",
    [
        "thread 'main' panicked at src/main.rs:12:10:\ncart of ann is closed",
        "thread 'main' (4711) panicked at src/main.rs:12:10:\ncart of ann is closed\nnote: run with `RUST_BACKTRACE=1`",
        "thread 'main' panicked at 'cart of ann is closed', src/main.rs:12:10",
        "thread 'main' panicked at src/main.rs:12:10:\n"
        "called `Result::unwrap()` on an `Err` value: cart of ann is closed",
    ],
)
def test_the_message_of_a_rust_panic_is_told_from_its_place(panic: str) -> None:
    assert messages(f"{panic}\n")[0] == "cart of ann is closed"
    assert messages(f"Carts\n\n{REPORT}\n\n```\n{panic}\n```\n") == ["cart of ann is closed"]
    assert all("thread" not in line for line in messages(f"{panic}\n"))


@pytest.mark.parametrize(
    "line",
    [
        "[warn] order of ann was placed twice",
        "2024-03-01 12:00:01 ERROR shop.orders: order of ann was placed twice",
        "2024-03-01 12:00:01 error order of ann was placed twice",
        "[12:00:01] [Critical] order of ann was placed twice",
    ],
)
def test_a_line_of_a_log_with_a_level_of_warning_or_above_is_a_message(line: str) -> None:
    log = f"{line}\n2024-03-01 12:00:02 INFO order of ann was paid once\n[warn] ready"
    assert messages(f"Orders\n\n{REPORT}\n\n```\n{log}\n```\n") == [line]


def test_a_log_outside_of_a_block_has_messages_and_a_list_has_none() -> None:
    said = "2024-03-01 12:00:01 ERROR shop.orders: order of ann was placed twice"
    log = "\n".join(["2024-03-01 12:00:00 INFO order of ann was paid once"] * 20)
    assert messages(f"{log}\n{said}\n{log}\n") == [said]
    assert messages("Orders\n\n- error handling of orders\n- warn people who place orders twice\n") == []


def test_what_went_well_is_no_message_of_a_log_that_says_what_did_not() -> None:
    paid, ready = (
        f"2024-03-01 12:00:0{n} INFO shop: order of ann was {done}" for n, done in enumerate(("paid", "sent"))
    )
    said = "2024-03-01 12:00:03 WARNING shop: order of ann was placed twice"
    assert messages(f"{paid}\n{ready}\n{said}\n") == [said]
    assert messages(f"{paid}\n{ready}\n") == [paid, ready]


def test_what_is_installed_where_is_no_message_of_output() -> None:
    said = "[shop error]: order of ann was placed twice"
    trace = 'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    place(ann)\n'
    about = "**shop version and environment**\n\nOperating System: Linux 6.17 of the shop\n"
    assert not [line for line in messages(f"{trace}{said}\n\n{about}") if "ystem" in line or "version" in line]


RSPEC = """Failures:

  1) Shop::Cart cannot be placed twice
     Failure/Error: return unless cart.is_not_found

     Shop::Refused:
       carts of ann were not found
     # ./lib/shop/cart.rb:44:in 'place'

Finished in 0.5 seconds (files took 2 seconds to load)
1 example, 1 failure

rspec ./spec/shop/cart_spec.rb:19 # Shop::Cart cannot be placed twice
"""
JEST = """  \u25cf Cart \u203a is not placed twice

    TypeError: cart of ann is closed

      at async place (src/cart.ts:12:3)
      at new Cart (src/cart.ts:2:3)

Tests:       1 failed, 20 passed, 21 total
"""
PYTEST = """============================= test session starts ==============================
platform linux -- Python 3.12.3, pytest-8.3.4, pluggy-1.5.0
collected 12 items
E       ValueError: cart of ann is closed

src/shop/cart.py:12: ValueError
=========================== short test summary info ============================
FAILED tests/test_cart.py::test_place[two carts] - ValueError: cart of ann is closed
========================= 1 failed, 11 passed in 4.12s =========================
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (RSPEC, "carts of ann were not found"),
        (JEST, "TypeError: cart of ann is closed"),
        (PYTEST, "ValueError: cart of ann is closed"),
    ],
)
def test_what_a_test_is_called_and_its_code_are_no_messages(text: str, said: str) -> None:
    assert messages(text) == [said]


@pytest.mark.parametrize("line", ["3 files could not be read by the shop", "Found 3 orders placed twice"])
def test_a_number_of_things_makes_no_summary_of_tests(line: str) -> None:
    assert messages(f"$ shop run\n{line}\n12 examples, 1 failure\n") == [line]


@pytest.mark.parametrize(
    "line",
    [
        "Order of ann was placed twice",
        "Order 12 of ann: placed twice by the shop.",
        "Avoid orders that are longer than 12 lines.",
    ],
)
def test_a_line_of_words_alone_in_a_block_is_a_message(line: str) -> None:
    assert messages(f"Carts\n\n{REPORT}\n\n```\n{line}\n```\n") == [line]
    assert messages(f"Carts\n\n{REPORT}\n\n~~~text\n{line}\n") == [line]


@pytest.mark.parametrize(
    "block",
    [
        "Order of ann was placed twice\norder = shop.place(ann)",
        "for order in orders of the shop",
        "npm install shop-orders --save",
        "shop.place(order, of=ann, now=True)",
        "one of many lines\nand one of them\nand one of them\nand one of them",
    ],
)
def test_a_block_with_code_or_many_lines_has_no_message_that_does_not_say_so(block: str) -> None:
    assert messages(f"Carts\n\n{REPORT}\n\n```\n{block}\n```\n") == []
    assert messages(f"Carts\n\n{REPORT}\n\nOrder of ann was placed twice\n") == []


def test_a_message_that_is_logged_again_with_other_values_is_looked_for_once() -> None:
    again = "".join(
        f"2024-05-11 10:00:{second} ERROR shop.pay: Payment {second}7 was refused by bank{second}\n"
        for second in range(10, 50)
    )
    said = "2024-05-11 10:00:09 ERROR shop.cart: The cart is closed for good"
    told = [message.partition(": ")[2] for message in messages(f"{again}{said}\n{again}")]
    assert told == ["Payment 497 was refused by bank49", "The cart is closed for good"]


def test_the_status_of_a_request_is_no_message_of_a_log_of_requests() -> None:
    log = "".join(
        f'INFO:     127.0.0.1:{port} - "GET /carts/{port} HTTP/1.1" 500 Internal Server Error\n'
        for port in range(50100, 50140)
    )
    assert messages(log) == []


def test_a_short_quote_may_be_a_message_with_the_lines_into_which_it_is_wrapped() -> None:
    quote = "> No cart of this kind was provided. Please ensure that the shop\nis up to date and opens early\n"
    assert messages(f"Keep carts\n\n{REPORT}\n\n{quote}\nIt is odd.\n") == [
        "No cart of this kind was provided. Please ensure that the shop is up to date and opens early"
    ]


def test_a_long_quote_is_what_somebody_said() -> None:
    quote = "> We saw it\n> when the shop was open\n> and some people came\n> from another town with carts\n"
    assert messages(f"Keep carts\n\n{REPORT}\n\n{quote}") == []


def test_a_message_that_says_of_which_program_it_is_one_of_an_error() -> None:
    said = "`[shop error]: 'ann' is a cart.` is written to the wrong place"
    assert messages(f"{said}\n\n{REPORT}\n") == ["[shop error]: 'ann' is a cart."]


def test_a_statement_of_code_that_says_what_is_missing_is_no_message() -> None:
    code = 'const cart = open("ann");\nconsole.log("Failed to open the cart of ann");\n'
    assert messages(f"Keep carts\n\n{REPORT}\n\n```\n{code}```\n") == []


def test_a_remark_in_code_that_somebody_shows_is_no_message() -> None:
    code = "cart.on('open', (done) => {\n  // Must not be called before the shop is open, so wait.\n});\n"
    assert messages(f"Keep carts\n\n{REPORT}\n\n```js\n{code}```\n") == []
