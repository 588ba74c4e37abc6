"""Codebase intelligence for AI coding agents: search, structure and memory of one repository, on this machine."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cairn.errors import CairnError
    from cairn.workspace import Workspace

__all__ = ["CairnError", "Workspace", "__version__"]
__version__ = "0.1.0"

_PUBLIC = {"CairnError": "cairn.errors", "Workspace": "cairn.workspace"}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - the module protocol fixes this signature
    """Load the public names on first use, so that `cairn --version` imports almost nothing."""
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'cairn' has no attribute {name!r}")
