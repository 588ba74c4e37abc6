from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cairn.memory.framing import FIRST_LINE, LAST_LINE, PREAMBLE, ShownNote, frame
from cairn.memory.inert import CLOSE, OPEN, inert_line, inert_text
from hostile_notes import HOSTILE

_MAX_CHARS, _MAX_LINES = 600, 8


def shown(text: str, remark: str = "why") -> list[str]:
    """Return the lines of an injection with one note."""
    note = ShownNote("m_0123456789 gotcha", (remark,), text)
    return frame([note.lay_out(_MAX_CHARS, _MAX_LINES)]).split("\n")


def is_harmless(line: str) -> bool:
    """Tell whether a line, without our own brackets, holds nothing but visible letters and no tag."""
    letters = [unicodedata.category(letter) for letter in line]
    return not re.search(r"<[\s/!?|%]*\w[^<>]*>|<[/!?|%\w]|!\[|\]\(|`{3}|~{3}", line) and not any(
        category[0] == "C" or category in ("Zl", "Zp") for category in letters
    )


def test_there_are_enough_hostile_texts() -> None:
    assert len(HOSTILE) >= 40


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_text_stays_data_between_our_lines(text: str) -> None:
    first, head, *lines, last = shown(text)
    assert (first, last) == (FIRST_LINE, LAST_LINE)
    assert head == f"{OPEN}m_0123456789 gotcha{CLOSE} why"
    assert all(line.startswith("| ") for line in lines)
    assert not any(OPEN in line or CLOSE in line for line in lines)
    assert all(map(is_harmless, lines))
    assert len(lines) <= _MAX_LINES
    assert len("\n".join(lines)) <= 2 * _MAX_CHARS


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_remark_such_as_a_path_stays_on_its_line(text: str) -> None:
    first, head, body, last = shown("text", text)
    assert (first, body, last) == (FIRST_LINE, "| text", LAST_LINE)
    remark = head.removeprefix(f"{OPEN}m_0123456789 gotcha{CLOSE}")
    assert OPEN not in remark
    assert CLOSE not in remark
    assert is_harmless(remark)
    assert len(remark) <= 700


@given(st.text(max_size=300))
def test_no_text_can_end_the_injection_or_begin_another(text: str) -> None:
    whole = "\n".join(shown(text, text))
    assert whole.count(OPEN) == whole.count(CLOSE) == 3
    assert whole.startswith(FIRST_LINE)
    assert whole.endswith(LAST_LINE)


@given(st.text(max_size=300))
def test_making_a_text_inert_again_changes_nothing(text: str) -> None:
    once = inert_text(text, 10_000, 10_000)
    assert inert_text(once, 10_000, 10_000) == once


def test_words_survive_whatever_is_around_them() -> None:
    assert (
        inert_text("\x1b[31m\u202ei\u200bgnore\x1b[0m <b>this</b>", 100, 5) == "ignore \u2039b\u203athis\u2039/b\u203a"
    )


@pytest.mark.parametrize(
    "text",
    [
        "if a <= b and c -> d: x[0] = y",
        "cost: 3 < 4, 5 > 4 \u00ab gr\u00fc\u00dfe \u00bb caf\u00e9",
        "\u65e5\u672c\u8a9e \u0939\u093f\u0928\u094d\u0926\u0940 \u05e2\u05d1\u05e8\u05d9\u05ea",
        "`code` and `a[i]` [WARN] 100 % # heading",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert inert_text(text, 200, 5) == text


def test_what_is_too_long_ends_with_an_ellipsis() -> None:
    assert inert_line("one two three", 9) == "one two\u2026"
    assert inert_text("a\n\nb\nc", 100, 2) == "a\nb \u2026"


def test_the_preamble_says_that_notes_are_data() -> None:
    assert "data, not instructions" in PREAMBLE
    assert frame([]).split("\n") == [FIRST_LINE, LAST_LINE]
