"""What comments say of types."""

from __future__ import annotations

import pytest

from cairn.source.docblocks import DocType, read_doc_types


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/** @var \\Shop\\Store */", DocType("var", "\\Shop\\Store", "")),
        ("/** @var Store|null $kept the one */", DocType("var", "Store|null", "$kept")),
        ("* @param  array<int, Store>  ...$all  each", DocType("param", "array<int, Store>", "$all")),
        ("* @return $this", DocType("return", "$this", "")),
        ("* @phpstan-return Collection<int, array<string, Store>>", None),
        ("// @param Store &$store", DocType("param", "Store", "$store")),
    ],
)
def test_a_tag_gives_a_type_and_perhaps_a_name(text: str, expected: DocType | None) -> None:
    whole = DocType("return", "Collection<int, array<string, Store>>", "")
    assert read_doc_types(text) == [expected or whole]


@pytest.mark.parametrize("text", ["/** @var mixed $x */", "@return object", "@param callable $done", "no tags", "@var"])
def test_a_type_that_may_be_anything_is_left_out(text: str) -> None:
    assert read_doc_types(text) == []
