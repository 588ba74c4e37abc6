"""Pictures have at most sixty boxes, whatever there is to show, and count the others."""

from __future__ import annotations

from cairn.dashboard.pictures import MOST_BOXES, Box, Column, draw, draw_columns


def test_columns_stand_side_by_side_with_lines_from_the_first() -> None:
    columns = [Column("changed", [Box("a")]), Column("1 step", [Box("b", "/b"), Box("c")]), Column("tests", [Box("t")])]
    picture = draw_columns(columns, "What <a> may break")
    assert picture.omitted == 0
    assert 'aria-label="What &lt;a&gt; may break"' in picture.svg
    assert picture.svg.count("<rect ") == 4
    assert picture.svg.count("<path ") == 2
    assert picture.svg.count('class="at"') == 1
    assert picture.svg.index(">changed<") < picture.svg.index(">1 step<") < picture.svg.index(">tests<")


def test_what_has_no_room_is_counted() -> None:
    many = [Box(f"box {number}") for number in range(50)]
    picture = draw_columns([Column("changed", [Box("a")]), Column("1 step", many), Column("2 steps", many)], "Much")
    assert picture.svg.count("<rect ") == MOST_BOXES
    assert picture.omitted == 41
    boxes = {box.name: box for box in [*many, *(Box(f"more {number}") for number in range(50))]}
    graph = draw(boxes, [("box 0", name) for name in boxes], "box 0", "Much")
    assert graph.svg.count("<rect ") == MOST_BOXES
    assert graph.omitted == 40
