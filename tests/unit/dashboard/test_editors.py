from __future__ import annotations

import os
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


def test_a_file_whose_name_is_not_unicode_has_an_address_by_its_bytes() -> None:
    assert "caf%E9.py" in editor_address("vscode", FILE.with_name(os.fsdecode(b"caf\xe9.py")), 7)


def test_somebody_who_wants_no_links_gets_none() -> None:
    assert editor_address("none", FILE, 7) == ""
