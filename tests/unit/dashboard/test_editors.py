from __future__ import annotations

from pathlib import Path

import pytest

from cairn.config import EDITORS
from cairn.dashboard.editors import editor_address

FILE = Path("/home/ada/my shop/a&b.py")


@pytest.mark.parametrize("editor", [name for name in EDITORS if name != "none"])
def test_every_editor_that_can_be_set_has_an_address(editor: str) -> None:
    address = editor_address(editor, FILE, 7)
    assert address.startswith(f"{editor}://")
    assert "my%20shop/a%26b.py" in address
    assert address.endswith("7")


def test_somebody_who_wants_no_links_gets_none() -> None:
    assert editor_address("none", FILE, 7) == ""
