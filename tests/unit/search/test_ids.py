from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cairn.search.ids import HitId, format_hit_id, path_mark


@given(st.integers(0, (1 << 40) - 1), st.text(), st.none() | st.integers(0, 10_000))
def test_an_id_comes_back_with_all_it_was_made_from(key: int, path: str, place: int | None) -> None:
    assert HitId.parse(format_hit_id(key, path, place)) == HitId(key, path_mark(path), place)


def test_paths_that_are_no_utf_8_can_be_in_an_id() -> None:
    assert HitId.parse(format_hit_id(7, "\udcff.py", 3)) == HitId(7, path_mark("\udcff.py"), 3)


@pytest.mark.parametrize(
    "text",
    [
        "", "c_", "c_00000000", "00000000abc", "m_00000000abc", "c_0000000Uabc", "c_00000000abcd", "c_00000000abc.x",
        "c_00000000abc.-1", "c_00000000abc.²", "c_00000000abc.1.2", " c_00000000abc", "c_00000000abc\n",
    ],
)  # fmt: skip
def test_anything_else_is_no_id(text: str) -> None:
    assert HitId.parse(text) is None


@given(st.text(max_size=30))
def test_no_text_breaks_the_parser(text: str) -> None:
    HitId.parse(text)
    HitId.parse("c_" + text)
