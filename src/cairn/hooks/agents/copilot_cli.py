"""Copilot CLI: `.github/hooks/cairn.json`, which VS Code also reads, and `.mcp.json`, which Claude Code also reads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from cairn.hooks.adapter import Change, Detection, Place
from cairn.hooks.copilot import COPILOT_CLI, Copilot
from cairn.hooks.shared_files import server_entry, skill, workspace_servers


class CopilotCli(Copilot):
    """Copilot in the terminal. It denies a tool whose hook fails, so hook commands never fail."""

    name = COPILOT_CLI
    title = "Copilot CLI"
    detection = Detection(("copilot",), (".github/copilot", ".github/hooks", ".github/mcp.json"), (".copilot",))
    some_lines = "view_range=[{first}, {last}]"
    by_hand = (
        "Start Copilot CLI in the project and trust the folder; hooks and MCP servers of a project load only then.",
        "Restart Copilot CLI if it is running; it reads these files when it starts.",
    )
    first_environment: ClassVar[Mapping[str, str]] = {"COPILOT_CLI": "1"}
    first_payload: ClassVar[Mapping[str, Any]] = {
        "hook_event_name": "SessionStart",
        "session_id": "SESSION",
        "timestamp": "2026-11-20T20:54:34.434Z",
        "cwd": "FOLDER",
        "source": "new",
        "initial_prompt": "",
    }

    def changes(self, place: Place) -> list[Change]:
        """Return the hooks, the MCP server and the skill."""
        if place.level == "project":
            return [self.hooks_file(place, place.root / ".github" / "hooks"), workspace_servers(place), skill(place)]
        folder = Path(place.environment.get("COPILOT_HOME") or place.home / ".copilot")
        server = server_entry(folder / "mcp-config.json", place, more={"type": "local", "tools": ["*"]})
        return [self.hooks_file(place, folder / "hooks"), server, skill(place)]


ADAPTER = CopilotCli()
