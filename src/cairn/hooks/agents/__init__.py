"""The particulars of each agent: its detection, files, events and answers.

Agents with hooks have a module each; those that only get the MCP server are rows of a table.
"""

from __future__ import annotations

from importlib import import_module

from cairn.errors import RequestError
from cairn.hooks.adapter import Adapter
from cairn.loading import load

# The modules, which have an `ADAPTER` each; `-` in an agent's name is `_` there.
_MODULES = (
    "claude-code",
    "codex",
    "copilot-cli",
    "cursor",
    "devin",
    "gemini-cli",
    "opencode",
    "vscode",
    "windsurf",
)
# The rows of `mcp_only.py`.
_ROWS = (
    "amp",
    "antigravity",
    "augment",
    "cline",
    "continue",
    "crush",
    "droid",
    "goose",
    "grok",
    "junie",
    "kilo",
    "kimi",
    "kiro",
    "qwen",
    "roo",
    "vibe",
    "warp",
    "zed",
)
NAMES: tuple[str, ...] = (*_MODULES, *_ROWS)


def adapter_of(name: str) -> Adapter:
    """Return the adapter of an agent.

    Raises:
        RequestError: if there is none.
    """
    if name not in NAMES:
        meant = " or ".join(_named_like(name[:50].lower()))
        raise RequestError(
            f"there is no agent {name[:50]!r}",
            f"{f'did you mean {meant}? ' if meant else ''}name one of {', '.join(NAMES)}",
        )
    if name in _ROWS:
        row: Adapter = import_module(f"{__name__}.mcp_only").ADAPTERS[name]
        return row
    adapter: Adapter = import_module(f"{__name__}.{name.replace('-', '_')}").ADAPTER
    return adapter


def _named_like(name: str) -> list[str]:
    """Return the agents whose names are like a word: `claude-code` for `claude`, `vscode` for `VS-Code`."""
    letters = _letters(name)
    alike = [
        known
        for known in NAMES
        if len(letters) > 2 and (letters in _letters(known) or known.partition("-")[0] in letters)
    ]
    near: list[str] = alike or load("difflib:get_close_matches")(name, NAMES, 1)
    return near


def _letters(name: str) -> str:
    return "".join(letter for letter in name if letter.isalnum())
