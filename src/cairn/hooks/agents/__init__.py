"""One module for each agent, with all that is particular to it: how it is found, its files, its events, its answers."""

from __future__ import annotations

from importlib import import_module

from cairn.errors import RequestError
from cairn.hooks.adapter import Adapter

# The modules, which have an `ADAPTER` each; `-` in an agent's name is `_` there.
NAMES: tuple[str, ...] = (
    "claude-code",
    "copilot-cli",
    "cursor",
    "devin",
    "gemini-cli",
    "opencode",
    "vscode",
    "windsurf",
)


def adapter_of(name: str) -> Adapter:
    """Return the adapter of an agent.

    Raises:
        RequestError: if there is none.
    """
    if name not in NAMES:
        raise RequestError(f"there is no agent {name[:50]!r}", f"name one of {', '.join(NAMES)}")
    adapter: Adapter = import_module(f"{__name__}.{name.replace('-', '_')}").ADAPTER
    return adapter
