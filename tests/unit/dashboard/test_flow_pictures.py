from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from cairn.dashboard.flow_pictures import FlowPicture, draw_flow
from cairn.dashboard.pictures import MOST_BOXES
from cairn.protocol.documents import flow_to_dict
from cairn.structure.flow import flow_of

BRANCHES = """
def pay(cents):
    for attempt in range(4):
        if bank.pay(cents):
            log("<paid>")
        else:
            wait(attempt)
    return None
"""


def picture_of(folder: Path, code: str, name: str = "pay") -> FlowPicture:
    (folder / "pay.py").write_text(code)
    return draw_flow(flow_to_dict(flow_of(folder, "pay.py", name)))


def texts_of(picture: FlowPicture) -> list[str]:
    root = ElementTree.fromstring(str(picture.svg))
    return [str(node.text) for node in root.iter("text") if node.get("class") != "when"]


def test_every_step_has_a_box_and_forks_say_when(tmp_path: Path) -> None:
    picture = picture_of(tmp_path, BRANCHES)
    assert '5: log("<paid>")' in texts_of(picture)
    words = {node.text for node in ElementTree.fromstring(str(picture.svg)).iter("text") if node.get("class") == "when"}
    assert {"true", "false"} <= words
    assert picture.omitted == 0


def test_the_list_nests_what_a_fork_holds(tmp_path: Path) -> None:
    outline = str(picture_of(tmp_path, BRANCHES).outline)
    tree = ElementTree.fromstring(outline)
    loop = next(item for item in tree.findall("li") if "for attempt" in "".join(item.itertext()))
    held = ["".join(item.find("code").itertext()) for item in loop.iter("li") if item is not loop]  # type: ignore[union-attr] # each has one
    assert held == ["if bank.pay(cents):", 'log("<paid>")', "wait(attempt)"]


@pytest.mark.parametrize("n_lines", [100, 1_000])
def test_many_steps_without_a_fork_share_a_box(tmp_path: Path, n_lines: int) -> None:
    code = "def pay():\n" + "".join(f"    say({number})\n" for number in range(n_lines))
    picture = picture_of(tmp_path, code)
    assert len(texts_of(picture)) < MOST_BOXES
    assert f"and {n_lines + 1} more" in str(picture.svg)  # its end, too


def test_no_picture_has_more_boxes_than_can_be_looked_at(tmp_path: Path) -> None:
    code = "def pay(n):\n" + "".join(f"    if n > {number}:\n        say({number})\n" for number in range(200))
    picture = picture_of(tmp_path, code)
    assert len(texts_of(picture)) == MOST_BOXES
    assert picture.omitted > 0
    assert len(re.findall("<li>", str(picture.outline))) == MOST_BOXES


def test_a_flow_without_steps_is_drawn(tmp_path: Path) -> None:
    flow: dict[str, Any] = {"function": "f", "steps": [], "blocks": []}
    assert draw_flow(flow).omitted == 0
