"""Long texts as queries: issues, traces and logs, from an argument, a file or stdin."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from cairn.answers import Answer
from cairn.cli.main import main
from cairn.errors import QueryError
from cairn.operations.context import context
from cairn.protocol.requests import ContextRequest
from cairn.workspace import Workspace
from small_projects import write_files

FILES = {
    "src/shop/__init__.py": "",
    "src/shop/cart.py": (
        '"""Carts and what they cost."""\n\n\n'
        "class Cart:\n"
        "    def total(self, discount):\n"
        "        if not self.items:\n"
        '            raise ValueError(f"cart {self.name} must not be empty")\n'
        "        return sum(self.items) * (1 - discount)\n"
    ),
    "src/shop/orders.py": (
        '"""Places orders."""\n\nfrom shop.cart import Cart\n\n\n'
        "def place(cart: Cart) -> str:\n"
        "    price = cart.total(0.0)\n"
        '    return f"order of {price}"\n'
    ),
    "src/shop/mail.py": (
        '"""Sends letters to customers."""\n\n\n'
        "def send_letter(customer, subject):\n"
        '    """Send a letter about an order to a customer."""\n'
        "    return connect().deliver(customer, subject)\n"
    ),
    "src/shop/archive.py": (
        '"""Keeps old orders in a file."""\n\n\ndef archive(orders, file):\n'
        '    """Write old orders to the archive and compress it."""\n'
        "    file.write(compress(orders))\n"
    ),
    "src/shop/rules.py": '"""Rules."""\n\nSPACE = "Space inside parentheses detected beside a price."\n',
    "tests/test_cart.py": "def test_total():\n    assert Cart([1]).total(0.0) == 1\n",
    "docs/orders.md": "# Orders\n\nHow orders are placed, mailed and archived. The documentation of carts.\n",
}
TRACE = (
    "Traceback (most recent call last):\n"
    '  File "/srv/app/run.py", line 7, in <module>\n'
    "    place(cart)\n"
    '  File "/srv/app/src/shop/orders.py", line 7, in place\n'
    "    price = cart.total(0.0)\n"
    '  File "/srv/app/src/shop/cart.py", line 7, in total\n'
    "    raise ValueError\n"
    "ValueError: cart Maria must not be empty\n"
)
ORDERS = "Orders are placed, mailed and archived twice\n\nNow carts of orders are mailed twice."
LETTERS = (
    "Letters are sent twice\n\n"
    "See the documentation of carts and the tests. When an old order is archived, `send_letter` is called again.\n"
    "I would expect that `src/shop/archive.py` leaves mail alone.\n\n"
    "## Environment\n\n- OS: Linux\n- Python version: 3.12\n"
)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("items") / "shop"
    write_files(root, FILES)
    with Workspace.open(root) as workspace:
        workspace.index()
    (root.parent / "issue.md").write_text(LETTERS)
    (root.parent / "empty.md").write_text("\n")
    return root


@pytest.fixture(scope="module")
def workspace(shop: Path) -> Iterator[Workspace]:
    with Workspace.open(shop) as workspace:
        yield workspace


def parts(answer: Answer) -> list[tuple[str, int, str]]:
    return [(hit.path, hit.start_line, hit.part) for hit in answer.code]


def test_a_traceback_alone_is_its_frames_the_deepest_first(workspace: Workspace) -> None:
    found = parts(workspace.search(TRACE))
    assert found[:2] == [("src/shop/cart.py", 7, "frame 1"), ("src/shop/orders.py", 7, "frame 2")]


@pytest.mark.parametrize(
    ("frame", "line", "confidence"),
    [
        ('File "/srv/app/src/shop/cart.py", line 7, in total', 7, "high"),
        ("src/shop/cart.py:7 breaks for large carts", 7, "high"),
        ('File "/srv/app/src/shop/cart.py", line 2, in total', 5, "medium"),  # where the function is now
        ('File "/srv/app/src/shop/cart.py", line 7, in sum_all', 7, "medium"),
    ],
)
def test_a_frame_alone_is_as_sure_as_its_line(workspace: Workspace, frame: str, line: int, confidence: str) -> None:
    first = workspace.search(frame).code[0]
    assert (first.path, first.start_line, first.confidence) == ("src/shop/cart.py", line, confidence)


@pytest.mark.parametrize(
    "place",
    [
        "https://gitlab.example.com/forks/shop/-/blob/main/src/shop/cart.py?ref_type=heads#L7-9",
        "vscode://file/home/u/shop/src/shop/cart.py:7:3",
        "src/shop/cart.py#L7-L9",
    ],
)
def test_the_one_place_of_a_short_text_comes_first(workspace: Workspace, place: str) -> None:
    said = (
        f"Letters about old orders are sent twice\n\nWe send_letter before we archive:\n\n{place}\n\nPlease fix that."
    )
    assert parts(workspace.search(said))[0] == ("src/shop/cart.py", 7, "frame 1")
    assert parts(workspace.search(f"{said} Or is it in src/shop/orders.py:7?"))[0][0] != "src/shop/cart.py"
    at_length = f"{said} {'When an old order is archived, a customer gets a letter. ' * 6}"
    assert parts(workspace.search(at_length))[0][0] != "src/shop/cart.py"


def test_a_message_alone_is_where_it_is_made(workspace: Workspace) -> None:
    found = parts(workspace.search("Run 7 failed\nValueError: cart Maria must not be empty\n"))
    assert found[0] == ("src/shop/cart.py", 7, "raised here")


def test_the_line_of_a_message_of_which_it_has_little_comes_behind_surer_hits(workspace: Workspace) -> None:
    said = "Space inside parentheses of a letter to a customer about an order: send_letter did not deliver"
    found = [(hit.path, hit.part, hit.confidence) for hit in workspace.search(f"$ shop mail\n{said}\n").code]
    assert found[0] == ("src/shop/mail.py", "named in the text", "high")
    assert ("src/shop/rules.py", "raised here", "low") in found


@pytest.mark.parametrize("place", ["src/shop/orders.py:7:5: ", "src/shop/orders.py(7,5): ", "./src/shop/orders.py:7: "])
def test_what_a_compiler_says_of_a_place_is_no_message_of_the_project(workspace: Workspace, place: str) -> None:
    said = "error: Space inside parentheses detected in the call of total [arg-type]"
    found = parts(workspace.search(f"{place}{said}\nFound 1 error in 1 file\n"))
    assert found[0] == ("src/shop/orders.py", 7, "frame 1")
    assert "raised here" not in {part for _, _, part in found}
    first, *others = workspace.search(f"{place}{said}").code
    assert (first.path, first.start_line, first.match) == ("src/shop/orders.py", 7, "exact")
    assert {hit.match for hit in others} == {None}


@pytest.mark.parametrize(
    ("line", "raised"),
    [
        (
            "src/shop/orders.py:7:5: C: [Correctable] Layout/Space: Space inside parentheses detected beside a price.",
            ("src/shop/rules.py", 3),
        ),
        (
            "src/shop/orders.py:7:in 'place': cart ann must not be empty (ArgumentError)",
            ("src/shop/cart.py", 7),
        ),
        (
            "src/shop/orders.py:7: UserWarning: cart ann must not be empty",
            ("src/shop/cart.py", 7),
        ),
    ],
)
def test_a_message_of_the_project_is_found_beside_the_place_that_it_is_about(
    workspace: Workspace, line: str, raised: tuple[str, int]
) -> None:
    found = parts(workspace.search(f"{line}\n  place(cart)\n"))
    assert found[:2] == [("src/shop/orders.py", 7, "frame 1"), (*raised, "raised here")]


def test_in_an_issue_what_it_names_says_so_and_its_subject_counts_most(workspace: Workspace) -> None:
    found = parts(workspace.search(LETTERS))
    assert found[0] == ("src/shop/mail.py", 4, "named in the text")
    assert ("src/shop/archive.py", "named in the text") in [(path, part) for path, _, part in found]


def test_the_folder_of_a_file_says_nothing_against_it_where_a_report_names_the_file(tmp_path: Path) -> None:
    letters = 'def send(letter, customer):\n    """Send a letter with the total of an order to a customer."""\n    {}\n'
    write_files(
        tmp_path,
        {
            "mail/v1/letters.py": letters.format("return post(letter, customer)"),
            "mail/v2/letters.py": letters.format("return deliver(letter, customer)"),
        },
    )
    report = "Letters with the total of an order are empty\n\nA customer got none of the letters.\n{}"
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        first = [workspace.search(report.format(said)).code[0].path for said in ("", "Look at mail/v1/letters.py.")]
    assert first == ["mail/v2/letters.py", "mail/v1/letters.py"]


def test_the_words_of_a_report_ask_for_no_tests_or_documentation(workspace: Workspace) -> None:
    assert not {path for path, _, _ in parts(workspace.search(LETTERS))[:2]} & {"docs/orders.md", "tests/test_cart.py"}


@pytest.mark.parametrize(
    ("report", "place"),
    [
        (f"{ORDERS} We expect that orders are placed and mailed once.\n", 3),
        (f"{ORDERS} We expect that orders are placed and mailed once, as docs/orders.md says.\n", 0),
        (f"The documentation is wrong: {ORDERS} We expect that orders are placed and mailed once.\n", 0),
    ],
    ids=["a document that only has the words", "one that the text points to", "one that the subject asks for"],
)
def test_in_a_report_some_code_comes_before_a_document_that_it_does_not_name(
    workspace: Workspace, report: str, place: int
) -> None:
    hits = workspace.search(report).code
    assert [hit.path for hit in hits].index("docs/orders.md") == place
    assert place == 0 or hits[place].relevance <= hits[place - 1].relevance


def test_an_issue_with_a_traceback_shows_its_file_at_the_frame(workspace: Workspace) -> None:
    found = parts(
        workspace.search(f"Empty carts break orders\n\nOrders of empty carts should be refused politely.\n\n{TRACE}")
    )
    assert ("src/shop/cart.py", 7, "frame 1") in found[:2]


def test_the_deepest_frame_of_an_issue_is_shown_though_its_file_is_not_found_otherwise(workspace: Workspace) -> None:
    trace = (
        '```\nTraceback (most recent call last):\n  File "/srv/app/tests/test_cart.py", line 2, in <module>\n'
        "RuntimeError\n```\n"
    )
    for limit in (2, 3):
        found = workspace.search(f"{LETTERS}\n## What happens\n\n{trace}", limit=limit).code
        assert len(found) == limit
        assert (found[0].path, found[-1].path, found[-1].part) == ("src/shop/mail.py", "tests/test_cart.py", "frame 1")
        assert found[-1].relevance <= found[-2].relevance


def test_an_issue_that_shows_a_message_begins_with_the_line_that_makes_it(workspace: Workspace) -> None:
    report = (
        "It stopped working\n\nSince yesterday we get this:\n\n```\nValueError: cart 'Maria' must not be empty\n```\n"
    )
    first, *others = workspace.search(report).code
    assert (first.path, first.start_line, first.part) == ("src/shop/cart.py", 7, "raised here")
    assert first.confidence == "high"
    assert [hit.path for hit in others if hit.path == "src/shop/cart.py"] == []


def test_what_an_issue_says_comes_before_the_line_that_makes_the_message_it_shows(workspace: Workspace) -> None:
    report = f"{LETTERS}\n## What it says\n\n```\nValueError: cart 'Maria' must not be empty\n```\n"
    first, second, *others = workspace.search(report).code
    assert (first.path, first.part) == ("src/shop/mail.py", "named in the text")
    assert (second.path, second.start_line, second.part) == ("src/shop/cart.py", 7, "raised here")
    assert second.relevance <= first.relevance
    assert [hit.path for hit in others if hit.path == "src/shop/cart.py"] == []


@pytest.mark.parametrize("title", ["This fails", "CI is red since yesterday", "It stopped working\n\nAny idea?"])
def test_a_report_that_says_nothing_but_its_trace_begins_with_the_deepest_frame(
    workspace: Workspace, title: str
) -> None:
    assert parts(workspace.search(f"{title}\n\n{TRACE}"))[0] == ("src/shop/cart.py", 7, "frame 1")


def test_the_trace_in_a_report_is_no_sure_answer_and_a_pasted_one_is(workspace: Workspace) -> None:
    frame = workspace.search(TRACE).code[0]
    assert (frame.path, frame.part, frame.confidence) == ("src/shop/cart.py", "frame 1", "high")
    report = workspace.search(f"Empty carts break orders\n\nOrders of empty carts should be refused.\n\n{TRACE}")
    frames = [hit for hit in report.code if hit.part.startswith("frame")]
    assert frames
    assert all(hit.confidence != "high" for hit in frames)
    on_windows = "   at Shop.Cart.Total() in D:\\shop\\src\\shop\\cart.py:line 7"
    for trace in (on_windows, on_windows.replace(" in ", " in\n")):
        first = workspace.search(f"Empty carts break orders\n\nRefuse orders of empty carts:\n\n{trace}\n").code[0]
        assert (first.path, first.part, first.confidence) == ("src/shop/cart.py", "frame 1", "medium")
    told = workspace.search(f"{LETTERS}\nIt said that ValueError: cart 'Maria' must not be empty.\n").code
    assert told[0].path == "src/shop/mail.py", "somebody's sentence is about more than the message"


@pytest.mark.parametrize(
    "text",
    [
        "Letters are sent twice\n" + "2024-01-01T00:00:00 INFO worker idle 0123456789abcdef\n" * 20_000,
        "Letters\n" + "\n".join(f'  File "/app/f{number}.py", line {number}, in f' for number in range(5_000)),
        "Letters\n\n```js\n" + "!function(e,t){return e.n=t};" * 5_000 + "\n```\n",
        "Briefe gehen zweimal hinaus\n\nWird eine alte Bestellung abgelegt, so geht der Brief noch einmal hinaus.\n",
        "手紙が二度送られる\n\n古い注文をアーカイブすると手紙がもう一度送られます。\n",
        "\n\n```\n```\n<!-- nothing -->\n",
        "\x00\x01\n\ud800\n",
    ],
    ids=["log", "frames", "minified", "german", "japanese", "nothing", "bytes"],
)
def test_no_text_is_an_error(workspace: Workspace, text: str) -> None:
    answer = workspace.search(text)
    assert answer.mode == "hybrid"
    assert any("were read" in note for note in answer.notes) == (len(text.strip()) > 40_000)


def test_a_trace_of_another_project_is_not_taken_for_this_one(workspace: Workspace) -> None:
    text = "panic: runtime error\n\ngoroutine 1 [running]:\nmain.main()\n\t/tmp/x/main.go:9 +0x1d\nexit status 2\n"
    assert {hit.part for hit in workspace.search(text).code} <= {"", "named in the text"}


def test_a_context_of_a_long_task_is_laid_out(workspace: Workspace) -> None:
    document = context(workspace, ContextRequest(task=f"{LETTERS}\n{'word ' * 20_000}"))
    assert document["items"][0]["filepath"] == "src/shop/mail.py"


def test_a_pattern_of_a_megabyte_is_still_refused(workspace: Workspace) -> None:
    with pytest.raises(QueryError, match="10,000"):
        workspace.search("a" * 1_000_000, mode="regex")


# -- on the command line -----------------------------------------------------------------------------------------------

Cairn = Callable[..., tuple[int, str, str]]


@pytest.fixture
def cairn(shop: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cairn:
    monkeypatch.chdir(shop)

    def run(*arguments: str, sent: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(sent.encode()), isatty=lambda: False))
        code = main(["--no-daemon", *arguments])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run


@pytest.mark.parametrize("command", ["search", "context"])
def test_a_text_from_a_file_and_from_stdin_gives_the_same_answer(cairn: Cairn, shop: Path, command: str) -> None:
    beside = cairn(command, "@../issue.md")
    assert beside[0] == 0
    assert "src/shop/mail.py" in beside[1]
    assert cairn(command, f"@{shop.parent / 'issue.md'}") == beside
    assert cairn(command, "-", sent=LETTERS) == beside


def test_json_says_which_part_a_hit_answers_and_what_the_subject_is(cairn: Cairn) -> None:
    document = json.loads(cairn("search", "-", "--json", sent=TRACE)[1])
    assert document["query"] == "ValueError: cart Maria must not be empty"
    assert document["code"][0]["part"] == "frame 1"
    assert "part" not in json.loads(cairn("search", "Cart.total", "--json")[1])["code"][0]


def test_a_file_that_is_not_there_is_an_error_with_its_name(cairn: Cairn) -> None:
    code, _, error = cairn("search", "@../missing.md")
    assert code == 2
    assert "../missing.md cannot be read" in error
    assert "cairn search ' @../missing.md'" in error


def test_an_empty_file_and_an_empty_stdin_are_errors(cairn: Cairn) -> None:
    assert "empty.md is empty" in cairn("search", "@../empty.md")[2]
    assert "stdin is empty" in cairn("context", "-", sent=" \n")[2]


@pytest.mark.parametrize("query", ["@dataclass", "@router.get", "@Override"])
def test_what_begins_with_an_at_sign_and_is_no_file_is_a_query(cairn: Cairn, query: str) -> None:
    assert cairn("search", query)[0] in (0, 1)


def test_a_file_of_many_megabytes_is_read_at_both_ends(cairn: Cairn, shop: Path) -> None:
    (shop.parent / "big.log").write_text(LETTERS + "noise of the day\n" * 300_000)
    code, shown, error = cairn("search", "@../big.log", "--oneline")
    assert code == 0
    assert "src/shop/mail.py" in shown
    assert "Only the first 30,000 and the last 10,000 characters of the text were read." in error


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32"])
def test_a_text_is_read_as_its_byte_order_mark_says(cairn: Cairn, shop: Path, encoding: str) -> None:
    mark = "\ufeff" if encoding.endswith("be") else ""
    (shop.parent / "wide.md").write_bytes((mark + LETTERS).encode(encoding))
    assert cairn("search", "@../wide.md") == cairn("search", "-", sent=LETTERS)


def test_of_a_wide_text_of_many_megabytes_both_ends_are_read(cairn: Cairn, shop: Path) -> None:
    noise = "x\n" + "noise of the day\n" * 100_001
    (shop.parent / "wide.log").write_bytes((noise + TRACE).encode("utf-16"))
    code, shown, _ = cairn("search", "@../wide.log", "--oneline")
    assert code == 0
    assert "src/shop/cart.py:7" in shown


@pytest.mark.parametrize("text", ["zxqvy ___ wvbnk", "zxqvy wvbnk\n\nIt says ___ where qwrtz should be.\n"])
def test_a_blank_among_words_that_the_project_does_not_know_is_no_name(workspace: Workspace, text: str) -> None:
    assert isinstance(workspace.search(text), Answer)
