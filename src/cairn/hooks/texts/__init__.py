"""The texts about Cairn that go into agents' files, each in a file here."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def text_of(name: str) -> str:
    """Return a text: `skill.md`, `block.md` or `subagent.md`."""
    return files(__name__).joinpath(name).read_text(encoding="utf-8")
