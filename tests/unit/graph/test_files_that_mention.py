"""Words are told from parts of longer ones."""

from __future__ import annotations

import pytest

from cairn.graph.mentions import has_word


@pytest.mark.parametrize(
    ("text", "word", "expected"),
    [
        (b"find_by(1)", b"find_by", True),
        (b"find_by!(1)", b"find_by", True),
        (b"find_by_id(1)", b"find_by", False),
        (b"refind_by(1) + find_by", b"find_by", True),
        (b"@find_by", b"find_by", True),
        (b"a==b", b"==", True),
        (b"x.open?", b"open?", True),
        (b"reopen?", b"open?", False),
        (b"", b"find", False),
    ],
)
def test_a_word_is_no_part_of_a_longer_one(text: bytes, word: bytes, *, expected: bool) -> None:
    assert has_word(text, word) is expected
