from __future__ import annotations

import pytest

from cairn.source.imports import Import
from cairn.source.inner_names import imports_in_comments


def imports(text: bytes) -> list[Import]:
    return list(imports_in_comments(text, [0], "typescript"))


def test_a_comment_imports_what_its_tags_and_types_name() -> None:
    found = imports(b"/**\n * @import { Cart,\n *   Order } from './cart'\n * @param {import('./user').User} user */")
    assert [(one.module, one.name) for one in found] == [("./cart", "Cart"), ("./cart", "Order"), ("./user", "User")]


def test_code_outside_of_such_comments_imports_nothing_here() -> None:
    assert imports(b"/** a */ import('./cart').Cart /* @import { Order } from './order' */") == []


@pytest.mark.parametrize(
    "part", [b"@import ", b"@import a ", b" ", b"a ", b"\n * ", b"import('", b"@a {", b"{a", b"/**"], ids=repr
)
def test_a_comment_of_a_megabyte_is_read_in_one_pass(part: bytes) -> None:
    """With a second pass for each of its parts, this takes minutes to days."""
    assert imports(b"/** @import " + part * (1_000_000 // len(part)) + b"*/") == []
