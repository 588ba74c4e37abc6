"""What agents read about Cairn from their own files: each text in a file of its own here."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def text_of(name: str) -> str:
    """Return a text: `skill.md`, `block.md` or `subagent.md`."""
    return files(__name__).joinpath(name).read_text(encoding="utf-8")
