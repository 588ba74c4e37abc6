"""The files of others that the dashboard carries."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path

import cairn.dashboard

_FOLDER = Path(cairn.dashboard.__file__).parent
_OURS = {"cairn.css", "cairn.js", "cairn.svg"}
_MOST_SCRIPT_BYTES = 60_000


def test_every_file_of_others_is_recorded_and_is_what_was_recorded() -> None:
    recorded = json.loads((_FOLDER / "vendored.json").read_text())
    assert {entry["file"] for entry in recorded} | _OURS == {file.name for file in (_FOLDER / "static").iterdir()}
    for entry in recorded:
        digest = hashlib.sha384((_FOLDER / "static" / entry["file"]).read_bytes()).digest()
        assert entry["integrity"] == f"sha384-{base64.b64encode(digest).decode()}"
        assert entry["licence"] == "0BSD"


def test_the_scripts_of_a_page_stay_small() -> None:
    assert sum(file.stat().st_size for file in (_FOLDER / "static").glob("*.js")) < _MOST_SCRIPT_BYTES
