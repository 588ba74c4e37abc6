from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import similar as bench
from cairn.answers import Answer
from cairn.errors import IndexMissingError, NotFoundError, PathError, QueryError
from cairn.workspace import Workspace

SOURCE = Path(__file__).parents[2] / "src"
TOTAL = '''def total(orders, rate):
    """Add up what was ordered."""
    amount = 0
    for order in orders:
        if order.paid:
            amount += order.price * order.count
    return round(amount * rate, 2)
'''
RENAMED = TOTAL.replace("amount", "summed").replace("order", "item").replace("total", "sum_up").replace("rate", "tax")
EDITED = TOTAL.replace("total(", "grand_total(").replace("    return", "    log(amount)\n    return")
TS = "export function total(orders: Order[], rate: number) {\n  let amount = 0;\n  for (const order of orders) {\n" + (
    "    if (order.paid) amount += order.price * order.count;\n  }\n  return round(amount * rate, 2);\n}\n"
)


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Workspace]:
    """A project with a function, its copies, and what has nothing to do with it."""
    files = {
        "orders.py": f"import math\n\nLIMIT = 3\n\n\n{TOTAL}",
        "copied/orders.py": f"# A copy.\n\n{TOTAL}",
        "renamed.py": RENAMED,
        "edited.py": EDITED,
        "web/total.ts": TS,
        "colors.py": 'def mix(red, green):\n    """Mix paints."""\n    return (red + green) / 2\n',
        "net.py": "class Socket:\n    def connect(self, host, port):\n        self.peer = resolve(host, port)\n"
        "        while not self.peer.ready:\n            self.peer.wait()\n        raise OSError(host)\n",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        yield workspace


def matches(answer: Answer) -> list[tuple[str, str | None]]:
    return [(hit.path, hit.match) for hit in answer.code]


def test_copies_come_first_then_renamed_then_edited_ones(shop: Workspace) -> None:
    answer = shop.similar("orders.py", 8)
    assert matches(answer)[:3] == [("copied/orders.py", "exact"), ("renamed.py", "renamed"), ("edited.py", "edited")]
    similarities = [hit.similarity or 0.0 for hit in answer.code]
    assert similarities == sorted(similarities, reverse=True)
    assert similarities[0] == 1.0
    assert {hit.path for hit in answer.code}.isdisjoint({"orders.py", "colors.py", "net.py"})
    assert (answer.query, answer.mode) == ("orders.py:8", "similar")


def test_the_line_may_be_any_of_the_definition_or_the_comment_above(shop: Workspace) -> None:
    for line in (6, 9, 12):
        assert shop.similar("orders.py", line).code[0].path == "copied/orders.py"
    assert shop.similar("copied/orders.py", 1).code[0].path == "orders.py"


def test_a_hit_can_be_fetched(shop: Workspace) -> None:
    (copy,) = shop.similar("orders.py", 8, limit=1).code
    (fetched,) = shop.fetch([copy.id])
    assert TOTAL.rstrip() in fetched.text


def test_a_place_without_a_definition_stands_for_its_chunk(shop: Workspace, tmp_path: Path) -> None:
    settings = "".join(f"SETTING_{number} = connect('host{number}', {number})\n" for number in range(8))
    (tmp_path / "one.py").write_text(settings)
    (tmp_path / "two.py").write_text(settings)
    shop.index()
    assert matches(shop.similar("one.py", 3))[0] == ("two.py", "exact")


def test_what_is_asked_is_the_file_as_it_is_now(shop: Workspace, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(f"{TOTAL}\n\n{RENAMED}")
    answer = shop.similar("net.py", 2)
    assert ("orders.py", "exact") in matches(answer)
    beside = next(hit for hit in answer.code if hit.path == "net.py")
    assert (beside.name, beside.match, beside.start_line) == ("sum_up", "renamed", 10)
    assert "def sum_up" in shop.fetch([beside.id])[0].text


def test_files_with_one_content_are_all_listed(shop: Workspace, tmp_path: Path) -> None:
    shutil.copyfile(tmp_path / "orders.py", tmp_path / "twin.py")
    shop.index()
    assert matches(shop.similar("orders.py", 8, limit=2)) == [("copied/orders.py", "exact"), ("twin.py", "exact")]


def test_a_file_that_is_not_indexed_can_be_asked_about(shop: Workspace, tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("scratch.py\n")
    (tmp_path / "scratch.py").write_text(TOTAL)
    assert {path for path, match in matches(shop.similar("scratch.py", 1)) if match == "exact"} == {
        "orders.py",
        "copied/orders.py",
    }


def test_filters_narrow_what_may_be_a_hit(shop: Workspace) -> None:
    assert {hit.path for hit in shop.similar("orders.py", 8, globs=["copied"]).code} == {"copied/orders.py"}
    assert {hit.path for hit in shop.similar("orders.py", 8, languages=["typescript"]).code} == {"web/total.ts"}
    assert shop.similar("orders.py", 8, kinds=["class"]).code == ()
    limited = shop.similar("orders.py", 8, limit=1)
    assert len(limited.code) == 1
    assert limited.omitted == len(shop.similar("orders.py", 8, limit=0).code) - 1


def test_nothing_similar_is_an_empty_answer(shop: Workspace) -> None:
    assert shop.similar("net.py", 3).code == ()


def test_code_without_a_place_is_compared_too(shop: Workspace) -> None:
    answer = shop.similar(code=f"# as found elsewhere\n{TOTAL}", languages=["python"])
    assert {path for path, match in matches(answer) if match == "exact"} == {"orders.py", "copied/orders.py"}
    assert answer.notes == ()


def test_the_language_of_code_without_a_place_is_guessed(shop: Workspace) -> None:
    answer = shop.similar(code=TS)
    assert matches(answer)[0] == ("web/total.ts", "exact")
    assert "typescript" in answer.notes[0]


@pytest.mark.parametrize("line", [0, -1, 13, 10**9])
def test_a_line_that_is_not_there_is_refused_with_their_number(shop: Workspace, line: int) -> None:
    with pytest.raises(NotFoundError, match="it has 12"):
        shop.similar("orders.py", line)


def test_a_file_that_cannot_be_used_is_refused(shop: Workspace, tmp_path: Path) -> None:
    (tmp_path / "empty.py").write_text("\n\n")
    (tmp_path / "binary.py").write_bytes(b"\x00\x01\n" * 9)
    with pytest.raises(NotFoundError, match="no file nowhere"):
        shop.similar("nowhere.py", 1)
    with pytest.raises(NotFoundError, match="empty"):
        shop.similar("empty.py", 1)
    with pytest.raises(PathError, match="is not a text file"):
        shop.similar("binary.py", 1)
    with pytest.raises(PathError, match="not a file of the project"):
        shop.similar("../elsewhere.py", 1)


@pytest.mark.parametrize(
    ("code", "message"),
    [("", "no code"), (" \n\t", "no code"), ("a\0b", "not text"), ("x = 1\n" * 200_000, "more than")],
)
def test_code_that_cannot_be_used_is_refused(shop: Workspace, code: str, message: str) -> None:
    with pytest.raises(QueryError, match=message) as caught:
        shop.similar(code=code)
    assert "cairn similar" in caught.value.hint


def test_a_language_nobody_knows_is_refused(shop: Workspace) -> None:
    with pytest.raises(QueryError, match="no language is called klingon"):
        shop.similar(code="x", languages=["klingon"])


def test_a_kind_nobody_knows_is_refused(shop: Workspace) -> None:
    with pytest.raises(QueryError, match="no kind is called klass"):
        shop.similar(code="x", kinds=["klass"])
    with pytest.raises(QueryError, match="no kind is called klass"):
        shop.search("orders", kinds=["class", "klass"])


def test_both_or_neither_of_place_and_code_are_refused(shop: Workspace) -> None:
    with pytest.raises(QueryError, match="either"):
        shop.similar()
    with pytest.raises(QueryError, match="either"):
        shop.similar("orders.py", 1, code="x")


def test_nothing_is_compared_before_something_is_indexed(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(TOTAL)
    with Workspace.open(tmp_path) as workspace, pytest.raises(IndexMissingError):
        workspace.similar("a.py", 1)


@pytest.mark.slow
def test_planted_copies_of_this_projects_own_functions_are_found(tmp_path: Path) -> None:
    root = tmp_path / "source"
    shutil.copytree(SOURCE / "cairn", root, ignore=shutil.ignore_patterns("__pycache__", "data"))
    count = 20  # the functions are others after each change of the source, so few of them would be a lottery
    outcomes = bench.measure_planted(root, count, 0, 0)
    found = {kind: [one for one in outcomes if one[0] == kind] for kind in bench.KINDS}
    assert all(rank == 1 and mark == "exact" for _, rank, mark in found["exact"])
    assert sum(mark == "renamed" for _, rank, mark in found["renamed"] if rank == 1) >= 0.9 * count
    assert sum(rank is not None and rank <= 5 for _, rank, _ in found["edited"]) >= 0.8 * count
