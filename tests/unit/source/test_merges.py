from __future__ import annotations

import pytest

from cairn.source.languages import BY_NAME
from cairn.source.merges import first_merge_line, sides_of
from cairn.structure.outline import outline_file

TYPESCRIPT = """\
export class Cart {
  items: string[] = [];

<<<<<<< HEAD
  total(): number {
    return 1;
  }
=======
  total(tax: number): number {
    return tax;
  }
>>>>>>> feature/tax

  clear(): void {}
}

<<<<<<< HEAD
export function one(): void {}
||||||| 1f2e3d4
export function none(): void {}
=======
export function two(): void {}
>>>>>>> feature/tax

export function after(): void {}
"""
PYTHON = """\
class Cart:
<<<<<<< HEAD
    def total(self):
        return 1
=======
    def total(self, tax):
        return tax
>>>>>>> feature

    def clear(self):
        return 0
"""


def outlined(text: str, language: str) -> list[str]:
    """Return the lines and signatures of what an outline lists."""
    found = outline_file(text.encode(), "cart", BY_NAME[language])
    return [f"{symbol.start_line}-{symbol.end_line} {symbol.signature}" for symbol in found.symbols]


@pytest.mark.parametrize("language", ["typescript", "tsx"])
def test_both_sides_of_an_unfinished_merge_are_outlined(language: str) -> None:
    assert outlined(TYPESCRIPT, language) == [
        "1-15 class Cart",
        "2-2 items: string[] = []",
        "5-7 total(): number",
        "9-11 total(tax: number): number",
        "14-14 clear(): void",
        "18-18 function one(): void",
        "22-22 function two(): void",
        "25-25 function after(): void",
    ]
    assert outlined(TYPESCRIPT.replace("\n", "\r\n"), language) == outlined(TYPESCRIPT, language)


def test_an_outline_says_that_a_merge_is_not_finished() -> None:
    notes = outline_file(TYPESCRIPT.encode(), "cart.ts", BY_NAME["typescript"]).notes
    assert [note.partition(";")[0] for note in notes] == ["a merge is not finished, see line 4"]


def test_marks_of_a_merge_are_in_no_signature() -> None:
    assert outlined(PYTHON, "python") == [
        "1-11 class Cart",
        "3-4 def total(self)",
        "6-7 def total(self, tax)",
        "10-11 def clear(self)",
    ]


def test_the_first_side_counts_where_both_do_not_fit_together() -> None:
    text = (
        "export class Cart {\n<<<<<<< HEAD\n  total(): number {\n=======\n  sum(tax: number): number {\n>>>>>>> other\n"
        "    return 1;\n  }\n  clear() {}\n}\nexport function after() {}\n"
    )
    assert outlined(text, "typescript") == [
        "1-10 class Cart",
        "3-8 total(): number",
        "9-9 clear()",
        "11-11 function after()",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Title\n=======\n\ntext\n",
        "<<<<<<< HEAD\nno other mark\n",
        ">>>>>>> other\n=======\n<<<<<<< HEAD\n",
        "  <<<<<<< HEAD\n  =======\n  >>>>>>> indented\n",
    ],
)
def test_what_only_looks_like_a_mark_of_a_merge_is_left_alone(text: str) -> None:
    assert sides_of(text.encode()) is None
    assert first_merge_line(text.encode()) == 0


def test_a_file_without_its_marks_has_as_many_bytes_and_lines() -> None:
    data = TYPESCRIPT.encode()
    sides = sides_of(data)
    assert sides is not None
    assert {(len(side), side.count(b"\n")) for side in sides} == {(len(data), data.count(b"\n"))}
    assert b"none" not in sides[0]
