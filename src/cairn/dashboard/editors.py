"""URLs with which the user's editor opens a line of a file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

_LIKE_VSCODE, _OF_JETBRAINS = "{scheme}://file/{path}:{line}", "{scheme}://open?file=/{path}&line={line}"
# By the value of the setting `editor`; `none` has no URL.
_SHAPES: Mapping[str, str] = {
    **dict.fromkeys(("cursor", "vscode", "vscodium", "windsurf", "zed"), _LIKE_VSCODE),
    **dict.fromkeys(("goland", "idea", "pycharm", "rustrover", "webstorm"), _OF_JETBRAINS),
}


def editor_address(editor: str, file: Path, line: int) -> str:
    """Return the URL that opens a line of a file in an editor; empty if the editor has none.

    Args:
        editor: a value of the setting `editor`.
        file: absolute.
        line: 1-based.
    """
    shape = _SHAPES.get(editor, "")
    return shape.format(scheme=editor, path=quote(os.fsencode(file).lstrip(b"/")), line=line)
