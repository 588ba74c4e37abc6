"""Codebase intelligence for AI coding agents: search, structure and memory of one repository, on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cairn.errors import CairnError
    from cairn.workspace import Workspace

__all__ = ["CairnError", "Workspace", "__version__"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:  # noqa: ANN401 - the module protocol fixes this signature
    """Load the public names on first use, so that `cairn --version` imports almost nothing."""
    if name == "Workspace":
        from cairn.workspace import Workspace  # noqa: PLC0415 - start-up time

        return Workspace
    if name == "CairnError":
        from cairn.errors import CairnError  # noqa: PLC0415 - start-up time

        return CairnError
    raise AttributeError(f"module 'cairn' has no attribute {name!r}")
