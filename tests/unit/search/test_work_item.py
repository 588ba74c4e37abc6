from __future__ import annotations

import time

import pytest

from cairn.search.any_length import is_long
from cairn.search.reported import is_output, messages_of
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
        "see " + "#1 and " * 6_000 + "x",
        "see http://a" + ".#1" * 10_000 + " x",
        "see " + "http://a&" * 4_000 + " x",
    ],
)
def test_texts_that_are_made_to_be_slow_take_linear_time(block: str) -> None:
    started = time.process_time()
    read_work_item(f"Subject\n\n{block}\n")
    assert time.process_time() - started < 5  # linear: some milliseconds; a pattern that backtracks: hours


@pytest.mark.parametrize(
    "heading",
    [
        "### Is there an existing issue for this?",
        "**What steps will reproduce the bug?**",
        "### Prerequisites",
        "## Bug report",
        "### Root cause",
        "### Are you willing to submit a PR?",
    ],
)
def test_a_heading_of_a_template_is_no_subject(heading: str) -> None:
    assert read_work_item(f"{heading}\n\nThe cart forgets discounts.\n").subject == "The cart forgets discounts."


def test_a_heading_that_asks_about_the_code_is_a_subject() -> None:
    text = "## Why does `Cart.total` ask this twice?\n\nIt is slow.\n"
    assert read_work_item(text).subject == "Why does `Cart.total` ask this twice?"


def test_headings_below_that_of_an_environment_belong_to_it() -> None:
    item = read_work_item(
        "Totals wrong\n\n**Versions and environment**\n\n#### Command line\n\nshop --debug\n\n### More\n\nOnly here."
    )
    assert "shop --debug" not in item.prose
    assert item.prose.endswith("Only here.")


def test_a_table_of_what_is_installed_is_left_out_in_all_its_rows() -> None:
    installed = "| key | value |\n| --- | --- |\n| version | 0.90.1 |\n| rust_version | 1.75 |\n| heap | fast |\n"
    item = read_work_item(f"Totals are wrong\n\nEvery time.\n\n### Configuration\n\n{installed}\nThat is all.")
    assert item.prose == "Every time.\n### Configuration\nThat is all."
    assert "| version | 0.90.1 |" in read_work_item(f"Totals are wrong\n\n```\n{installed}```\n").code
    assert "| 12 | 13 |" in read_work_item("Totals are wrong\n\n| total | shown |\n| --- | --- |\n| 12 | 13 |\n").prose


@pytest.mark.parametrize(
    "line", ["_No response_", "N/A", "Hello,", "Hi there!", "maria  10:32 AM", "Maria Muster [10:32:01]", "10:32"]
)
def test_a_line_that_says_nothing_is_left_out_and_no_subject(line: str) -> None:
    item = read_work_item(f"{line}\nThe cart forgets discounts.\n{line}\nAdd one.\n")
    assert (item.subject, item.prose) == ("The cart forgets discounts.", "Add one.")


@pytest.mark.parametrize("step", ["1. shell=True is passed to the cart", "2) Start it with platform=linux"])
def test_a_numbered_step_says_nothing_of_what_is_installed(step: str) -> None:
    assert step in read_work_item(f"Checkout fails\n\nSteps\n\n{step}\n3. Check out\n").prose


@pytest.mark.parametrize("line", ["1. OS: Linux", "2. Node version: 18.2"])
def test_a_number_before_what_is_installed_makes_no_step_of_it(line: str) -> None:
    assert line not in read_work_item(f"Checkout fails\n\nIt is empty.\n\n{line}\n").prose


def test_what_begins_like_a_greeting_may_be_a_subject() -> None:
    assert read_work_item("Hello world example\n\nIt does not print.").subject == "Hello world example"


def test_the_log_of_a_ci_service_is_read_without_its_times() -> None:
    printed = [
        "go: downloading example.com/foo v1.0.0",
        "=== RUN TestTotal",
        "    cart_test.go:12: ",
        "panic: runtime error: index out of range",
        "\tsrc/shop/cart.go:40 +0x1d",
    ]
    item = read_work_item(
        "\n".join(f"test\tRun tests\t2026-02-10T10:00:0{i}.12Z {line}" for i, line in enumerate(printed))
    )
    assert item.raw == "\n".join(printed)
    assert item.subject == "panic: runtime error: index out of range"
    assert item.prose == ""
    assert item.is_printed


def test_a_few_times_make_no_log_of_a_report() -> None:
    item = read_work_item("Slow at night\n\n2026-02-10T10:00:00Z is when it began\nand 2026-02-10 when it ended.")
    assert item.subject == "Slow at night"
    assert not item.is_printed


def test_what_a_failing_test_prints_is_output_and_its_error_the_subject() -> None:
    item = read_work_item(
        "............. [ 66%]\n=========== FAILURES ===========\n    def test_total() -> None:\n>       total()\n\n"
        "tests/test_cart.py:60: \nsrc/shop/cart.py:12: in total\n    raise ValueError\n"
        "E   ValueError: cart must not be empty\n=========== 1 failed in 0.1s ===========\n"
    )
    assert item.subject == "E   ValueError: cart must not be empty"
    assert item.is_printed
    assert "[ 66%]" not in item.prose


def test_a_report_of_few_words_is_no_output_unless_it_has_a_trace() -> None:
    report = "Colours are ignored\n\n- [x] Linux\n\n```js\nshop.$patch({ user: 'Eva' })\n```\n\nSet NO_COLOR."
    assert not is_output(read_work_item(report))
    trace = (
        'Colours\n\n```\nTraceback (most recent call last):\n  File "a.py", line 3, in f\nValueError: no cart\n```\n'
    )
    assert is_output(read_work_item(trace))
    assert is_output(read_work_item("ValueError: no cart"))


@pytest.mark.parametrize(
    "report",
    [
        "Fix the cart\n\nItems could not be added twice.\n",
        "Cart is not found\n\nSince 1.80.\n\n```\n$ shop -V\n1.80.2 (using Parser 3.3.10, ruby 3.4.7)\n```\n",
        "Cart is not found\n```\nshop.place(cart)\n```\n",
        "Fix an error for carts that are not found\n\nSigned-off-by: Ann <ann@shop.example>\n",
    ],
)
def test_words_of_what_failed_make_no_output_of_several_paragraphs_or_a_block(report: str) -> None:
    assert not is_output(read_work_item(report))


def test_a_message_of_some_lines_and_a_log_are_output() -> None:
    assert is_output(read_work_item("shop: cart 7 is not found\n  looked in: /srv/carts\n"))
    started = "2024-03-01 12:00:01,124 INFO [shop.orders] placed the order of ann\n"
    assert is_output(read_work_item(started * 20))
    assert is_output(read_work_item(f"{started * 3}2024-03-01 12:00:02,124 INFO Please place our order again\n\n\n"))
    assert not is_output(read_work_item(f"{started}Where do we place it?\n{started * 2}"))


def test_colours_are_no_part_of_a_text() -> None:
    item = read_work_item(
        "Totals\n\n\x1b[31m\x1b[1mTypeError\x1b[22m: no cart\n\x1b[36m \u276f \x1b[39msrc/cart.ts\x1b[2m:4:12\x1b[22m"
    )
    assert "TypeError: no cart" in item.raw
    assert "src/cart.ts:4:12" in item.trace


def test_a_review_is_about_what_it_says_of_a_place() -> None:
    item = read_work_item(
        "src/shop/cart.py:12\n```suggestion\n    if cart is not None:\n```\nPlease do this in create() instead.\nThanks"
    )
    assert item.subject == "Please do this in create() instead."
    assert item.code.strip() == "if cart is not None:"
    assert "src/shop/cart.py:12" in item.raw


def test_links_in_what_is_left_out_lead_nowhere() -> None:
    text = "Totals\n\n- [x] I read [this](https://example.com/shop/blob/main/CONTRIBUTING.md)\n\nThey are wrong."
    assert read_work_item(text).links == ()


@pytest.mark.parametrize(
    "said",
    [
        "not ok 1 sums\n# (from function `sum' in file test/sum.bash, line 12,\n#  in test file test/a.bats, line 3)",
        "./libexec/shop-run: line 12: CART: unbound variable",
        "thread 'main' panicked at src/main.rs:12:10:\ncart of ann is closed",
        "0   libc  0x0001 abort + 308\n1   Shop  0x0001000b Cart.total(of:) + 120 (Cart.swift:112)",
        '  + Exception Group Traceback (most recent call last):\n  |   File "/srv/a.py", line 3, in f\n'
        "  |     raise ExceptionGroup('x', errors)\n  | ExceptionGroup: several orders failed (1 sub-exception)\n"
        "  +-+---------------- 1 ----------------\n    | Traceback (most recent call last):\n"
        '    |   File "/srv/b.py", line 4, in g\n    | ValueError: no cart\n    +----------------',
        "  1) test totals (CartTest)\n     test/cart_test.exs:20\n     ** (ArgumentError) no cart\n     stacktrace:\n"
        "       (shop 0.1.0) lib/cart.ex:12: Cart.total/1",
    ],
    ids=["bats", "bash", "panic", "crash report", "group of exceptions", "ExUnit"],
)
def test_what_test_runners_shells_and_crash_reports_print_is_output(said: str) -> None:
    item = read_work_item(f"Orders fail\n\n```\n{said}\n```\n")
    assert item.trace
    assert is_output(item)
    assert is_output(read_work_item(said))


def test_a_table_of_places_is_no_trace() -> None:
    assert not read_work_item("Places\n\n| place | what |\n|---|---|\n| src/cart.py:12 | the sum |\n").trace


@pytest.mark.parametrize(
    "line",
    [
        "See https://example.com/shop/issues/12",
        "Fixes #12, #13 and refs shop/cart#14.",
        "Closes #12. Closes #13.",
        "Related to https://example.com/shop/pull/12 (comment)",
        "see #12 for more details",
    ],
)
def test_a_line_that_refers_to_issues_alone_is_left_out(line: str) -> None:
    item = read_work_item(f"{line}\nThe cart forgets discounts.\n{line}\nAdd one.\n")
    assert (item.subject, item.prose) == ("The cart forgets discounts.", "Add one.")


@pytest.mark.parametrize("line", ["Fixes #12: keep what was ordered", "see #12, the check is inverted"])
def test_what_stands_behind_a_reference_is_read(line: str) -> None:
    assert read_work_item(f"{line}\nplease fix").subject == line
    assert line in read_work_item(f"Totals\n\n{line}\n").prose


@pytest.mark.parametrize("host", ["github.com/shop/shop/blob", "gitlab.example.com/forks/shop/-/blob"])
@pytest.mark.parametrize("said", ["", " , the check is inverted"])
def test_a_link_to_a_file_is_no_trailer(host: str, said: str) -> None:
    item = read_work_item(f"see https://{host}/main/shop/cart.py#L54-59{said}\nplease fix")
    assert item.links == ("shop/cart.py",)
    assert item.subject == f"see  {said}".strip()


LOGFMT = [
    'time=2026-08-21T11:02:03.412Z level=INFO source=cart.go:7 msg="The cart is open" component=shop',
    'time=2026-08-21T11:02:04.412Z level=ERROR source=cart.go:9 msg="The cart is lost" err="open /x: access denied"',
    'time=2026-08-21T11:02:05.412Z level=INFO source=cart.go:8 msg="See you next time!"',
]
JSON_LOG = [
    '{"level":"info","ts":1755774412.51,"msg":"The cart is open"}',
    '{"level":"error","ts":1755774412.52,"msg":"The cart is lost","error":"open /x: access denied"}',
    '{"level":"info","ts":1755774412.53,"msg":"See you next time!"}',
]


@pytest.mark.parametrize("log", [LOGFMT, JSON_LOG, LOGFMT[1:], JSON_LOG[1:]])
def test_the_error_of_a_log_of_fields_is_its_message(log: list[str]) -> None:
    item = read_work_item("\n".join(log))
    assert messages_of(item)[0] == next(line for line in log if "lost" in line)
    assert not item.prose


def test_an_assignment_is_no_line_of_a_log() -> None:
    assert read_work_item("Totals\n\ntotal=3 is wrong, msg=4 as well\n").prose == "total=3 is wrong, msg=4 as well"


TRACE = (
    "Traceback (most recent call last):\n"
    '  File "/app/shop/run.py", line 12, in main\n'
    "    total()\n"
    '  File "/app/shop/cart.py", line 3, in total\n'
    "    raise ValueError(text)\n"
    "ValueError: cart must not be empty"
)


@pytest.mark.parametrize(
    "stamp",
    ["web-1     | ", "shop_web_1 | ", "[pod/web-7f/web] ", "[pod/web-7f/web] 2026-01-02T03:04:05.678Z "],
    ids=["Compose", "Compose 1", "kubectl", "kubectl with times"],
)
def test_the_log_of_containers_is_read_without_their_names(stamp: str) -> None:
    item = read_work_item("\n".join(stamp + line for line in TRACE.split("\n")))
    assert item.raw == TRACE
    assert item.is_printed
    assert item.subject == "ValueError: cart must not be empty"


def test_a_table_is_no_log_of_containers() -> None:
    table = "name   | total\n------ | -----\ncart-1 | 12\ncart-2 | 13\n"
    item = read_work_item(f"Totals are wrong\n\n{table}")
    assert item.subject == "Totals are wrong"
    assert "cart-1 | 12" in item.prose


def test_a_trace_in_a_box_is_read_without_it() -> None:
    item = read_work_item(
        "\u256d\u2500\u2500\u2500 Traceback (most recent call last) \u2500\u2500\u2500\u256e\n"
        "\u2502 /app/shop/run.py:12 in main          \u2502\n"
        "\u2502                                      \u2502\n"
        "\u2502 /app/shop/cart.py:3 in total         \u2502\n"
        "\u2502   \u2771 3 \u2502   raise ValueError(text)       \u2502\n"
        "\u2570" + "\u2500" * 38 + "\u256f\n"
        "ValueError: cart must not be empty"
    )
    assert item.raw.startswith(
        "Traceback (most recent call last):\n/app/shop/run.py:12 in main\n\n/app/shop/cart.py:3 in total\n"
        "  raise ValueError(text)\n"
    )
    assert item.is_printed
    assert messages_of(item) == ["ValueError: cart must not be empty"]


def test_a_block_that_asks_for_versions_and_shows_nothing_else_is_left_out() -> None:
    shown = "```\n$ shop -V\n1.88.0 (using Cart 3.3.10, running on ruby 3.4.2) [x86_64]\n  - shop-total 1.26.0\n```"
    item = read_work_item(f"Totals are lost\n\nThey are not shown.\n\n{shown}\n\nNever.\n")
    assert "running on ruby" not in item.raw
    assert item.prose == "They are not shown.\nNever."


def test_a_block_that_shows_more_than_versions_is_kept() -> None:
    shown = "$ shop --version\nshop 1.88.0\n$ shop total\nno such cart"
    assert read_work_item(f"Totals are lost\n\n```\n{shown}\n```\n").code == shown


def test_the_place_of_a_frame_of_dotnet_on_a_line_of_its_own_belongs_to_the_trace() -> None:
    item = read_work_item(
        "Totals are wrong\n\nIt says:\nShop.CartException: no items\n"
        "   at Shop.Cart.Total(Int32 count, String name) in \nD:\\src\\Shop\\Cart.cs:line 46\n"
        "   at Shop.Order.Place() in\n/src/Shop/Order.cs:line 12\n\nSee /src/Shop/Cart.cs:line 46\n"
    )
    assert "Cart.cs:line 46" in item.trace
    assert "/src/Shop/Order.cs:line 12" in item.trace
    assert item.prose.endswith("See /src/Shop/Cart.cs:line 46")


def test_what_stands_behind_a_box_to_tick_is_left_out_to_the_end_of_its_lines() -> None:
    item = read_work_item(
        "Totals are lost\n\nThey are not shown.\n"
        "- [x] This message body should clearly illustrate what problems it\nsolves, and how. For large ones,\n"
        "please\n`open` one\n\nand never were.\n- [ ] short\nand said by somebody.\n"
    )
    assert item.prose == "They are not shown.\nand never were.\nand said by somebody."


@pytest.mark.parametrize(
    "text",
    [
        "12:01:22.333 [error] GenServer terminating\n** (RuntimeError) no cart\n    (shop 1.0.0) lib/cart.ex:7\n",
        "2024-01-02 12:01:22 ERROR Order 12 was lost on its way to us\nNobody knows more of it than this line does.\n",
        "Crashed: com.acme.queue\n0  Shop  0x1fb2eb954 Cart.add(item:) + 72\n",
    ],
)
def test_a_text_that_begins_with_an_error_of_a_log_or_a_crash_is_printed(text: str) -> None:
    assert read_work_item(text).is_printed


def test_an_answer_of_one_word_to_a_form_says_nothing() -> None:
    item = read_work_item(
        "Totals are lost\n\n### Is this a bug?\n\nYes\n\n### Do you see it each time?\n\nno.\n\nNo cart is kept.\n"
    )
    assert item.prose == "No cart is kept."
