"""Copilot in VS Code: `.github/hooks/cairn.json`, which it shares with Copilot CLI, and `.vscode/mcp.json`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from cairn.hooks.adapter import Change, Detection, Place
from cairn.hooks.copilot import VSCODE, Copilot
from cairn.hooks.shared_files import config_folder, server_entry, skill


class VsCode(Copilot):
    """Copilot in VS Code."""

    name = VSCODE
    title = "VS Code Copilot"
    detection = Detection(
        ("code", "code-insiders"),
        (".github/copilot-instructions.md", ".github/instructions", ".github/prompts", ".vscode"),
        (".vscode",),
    )
    some_lines = "startLine={first}, endLine={last}"
    by_hand = ("In VS Code, start the MCP server `cairn` once and confirm that you trust it.",)
    first_payload: ClassVar[Mapping[str, Any]] = {
        "timestamp": "2026-11-20T10:00:00.000Z",
        "hook_event_name": "SessionStart",
        "session_id": "SESSION",
        "transcript_path": "",
        "cwd": "FOLDER",
        "source": "new",
    }

    def changes(self, place: Place) -> list[Change]:
        """Return the hooks, the MCP server and the skill."""
        if place.level == "project":
            hooks, servers = place.root / ".github" / "hooks", place.root / ".vscode" / "mcp.json"
        else:
            hooks, servers = place.home / ".copilot" / "hooks", _profile(place) / "mcp.json"
        entry = server_entry(servers, place, format="jsonc", servers="servers", more={"type": "stdio"})
        return [self.hooks_file(place, hooks), entry, skill(place)]


def _profile(place: Place) -> Path:
    """Return the folder of the user's default profile."""
    if sys.platform == "darwin":
        return place.home / "Library" / "Application Support" / "Code" / "User"
    if sys.platform == "win32":
        return Path(place.environment.get("APPDATA") or place.home / "AppData" / "Roaming") / "Code" / "User"
    return config_folder(place) / "Code" / "User"


ADAPTER = VsCode()
