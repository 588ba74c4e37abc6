"""Codebase intelligence for AI coding agents: search, structure and memory of one repository, on this machine."""

# This module imports nothing, because it is loaded for every hook event, where each import would be felt.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from cairn.errors import CairnError
    from cairn.workspace import Workspace

__all__ = ["CairnError", "Workspace", "__version__"]
__version__ = "0.1.0"

_PUBLIC = {"CairnError": "cairn.errors", "Workspace": "cairn.workspace"}


def __getattr__(name: str) -> object:
    """Load the public names on first use, so that `cairn --version` imports almost nothing."""
    if name in _PUBLIC:
        return getattr(__import__(_PUBLIC[name], fromlist=(name,)), name)
    raise AttributeError(f"module 'cairn' has no attribute {name!r}")
