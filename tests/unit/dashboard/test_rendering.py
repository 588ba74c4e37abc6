"""What pages show of texts that others wrote."""

from __future__ import annotations

import re

import pytest

from cairn.dashboard.charts import Bar, bars
from cairn.dashboard.highlighting import MAX_BYTES, highlight
from cairn.dashboard.pictures import MOST_BOXES, Box, draw
from cairn.dashboard.rendering import STATIC, Pages, as_name, short, spelled, visible

TEMPLATES = STATIC.parent / "templates"
EVIL = "<img src=x onerror=alert(1)>\"'&"


@pytest.mark.parametrize("text", ["\u202eevil", "a\x00b", "\x1b[31m", "\u200bhidden", "\ud800", "\U000e0041", "\u3164"])
def test_what_cannot_be_seen_is_shown_by_its_number(text: str) -> None:
    shown = visible(text)
    assert 'class="unseen">U+' in shown
    shown.encode("utf-8")
    for picture in (bars([Bar(text, 1)], text, text), draw({"a": Box(text, "", text)}, [], "a", text).svg):
        assert "U+" in picture
        assert text not in picture
        picture.encode("utf-8")


def test_what_cannot_be_seen_in_code_is_shown_by_its_number() -> None:
    assert highlight("a = '\u202e'  # \u2066\n", "python").striptags() == "a = 'U+202E' # U+2066"


def test_no_markup_is_made_of_a_value_where_none_can_stand() -> None:
    within_a_tag = r'[\w-]+="(?:[^"{]|\{\{.*?\}\}|\{%.*?%\}|\{)*"|<textarea[^>]*>.*?</textarea>|<title>.*?</title>'
    ours = ("address(", "same(", "static(", "nonce", "'", "[")
    values = {
        (file.name, bool(re.match("aria-label|title|<title", place)), value.strip())
        for file in TEMPLATES.glob("*.html")
        for place in re.findall(within_a_tag, file.read_text(), re.DOTALL)
        for value in re.findall(r"\{\{(.*?)\}\}", place)
    }
    assert len(values) > 50
    assert {
        (name, value)
        for name, is_shown, value in values
        if not value.endswith("|spelled" if is_shown else "|exact") and not value.startswith(ours)
    } == {("log-lines.html", "address")}


def test_lines_and_tabs_stay_as_they_are() -> None:
    assert visible("a\n\tb") == "a\n\tb"


def test_in_the_name_of_a_file_they_are_shown_by_their_numbers() -> None:
    assert as_name("a\n\tb.py").striptags() == "aU+000AU+0009b.py"
    assert spelled("a\nb.py") == "aU+000Ab.py"
    assert "<img" not in as_name(EVIL)


def test_text_is_never_markup() -> None:
    assert "<img" not in visible(EVIL)
    assert "<img" not in highlight(EVIL, "python")
    assert "<img" not in highlight(EVIL, "no such language")
    assert "<img" not in bars([Bar(EVIL, 1)], EVIL, EVIL)
    assert "<img" not in draw({"a": Box(EVIL, EVIL, EVIL)}, [], "a", EVIL).svg


@pytest.mark.parametrize(
    ("language", "text", "marked"),
    [
        ("python", "def f():\n    return 'a'  # b\n", ["keyword", "string", "comment"]),
        ("typescript", "const a: string = 'b'; // c\n", ["keyword", "string", "comment"]),
        ("rust", 'fn f() { let a = "b"; }\n', ["keyword", "string"]),
        ("go", 'func f() string { return "b" }\n', ["keyword", "string"]),
        ("java", 'class A { String a = "b"; }\n', ["keyword", "string"]),
    ],
)
def test_code_is_coloured_and_nothing_of_it_is_lost(language: str, text: str, marked: list[str]) -> None:
    shown = highlight(text, language)
    assert shown.striptags().split() == text.split()
    for kind in marked:
        assert f'class="{kind}"' in shown


def test_a_very_long_text_is_shown_without_colours() -> None:
    text = "def f(): pass\n" * MAX_BYTES
    assert highlight(text, "python") == text


def test_a_picture_has_at_most_sixty_boxes_and_says_how_many_are_left_out() -> None:
    boxes = {str(number): Box(f"f{number}") for number in range(100)}
    picture = draw(boxes, [("0", str(number)) for number in range(1, 100)], "0", "calls")
    assert picture.svg.count("<rect") == MOST_BOXES
    assert picture.omitted == 100 - MOST_BOXES


def test_circles_can_be_drawn() -> None:
    boxes = {name: Box(name) for name in "abc"}
    picture = draw(boxes, [("a", "b"), ("b", "c"), ("c", "a"), ("a", "a")], "a", "calls")
    assert picture.svg.count("<rect") == 3
    assert picture.svg.count("marker-end") == 3


def test_bars_below_zero_hang_from_the_axis() -> None:
    assert 'class="bar-2"' in bars([Bar("2026-01-01", 5), Bar("2026-01-02", -5)], "saved", "tokens")


def test_no_bars_are_no_picture() -> None:
    assert bars([], "saved", "tokens") == ""


@pytest.mark.parametrize(
    ("value", "shown"), [(0, "0"), (999, "999"), (1_000, "1.0k"), (-2_500, "-2.5k"), (3e6, "3.0M")]
)
def test_large_numbers_are_short(value: float, shown: str) -> None:
    assert short(value) == shown


def test_every_file_of_ours_has_an_address_with_its_digest() -> None:
    addresses = Pages().static
    assert {file.name for file in addresses.values()} >= {"cairn.css", "cairn.js", "htmx.min.js", "hx-csp.min.js"}
    assert all(address.partition("/")[0].isalnum() for address in addresses)
