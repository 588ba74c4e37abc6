"""What the files of several agents have in common: the skill that many read, and the entry of the MCP server."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cairn.hooks.adapter import Change, FileEntry, Format, Item, Place, Whole
from cairn.hooks.commands import mcp_server
from cairn.hooks.texts import text_of

SERVER = "cairn"  # what agents call the MCP server


def base_of(place: Place) -> Path:
    """Return the folder below which the files of a level are."""
    return place.root if place.level == "project" else place.home


def skill(place: Place) -> Whole:
    """Return the skill in the folder that nearly all agents read."""
    return Whole(base_of(place) / ".agents" / "skills" / "cairn" / "SKILL.md", text_of("skill.md"))


def server_entry(
    file: Path,
    place: Place,
    *,
    format: Format = "json",
    servers: str = "mcpServers",
    more: Mapping[str, Any] | None = None,
) -> FileEntry:
    """Return the entry of the MCP server in a file of the usual form.

    Args:
        file: of an agent, or of several.
        place: where the agent is told of Cairn.
        format: of the file.
        servers: what the file calls the servers.
        more: what the agent wants to know before the command.
    """
    return FileEntry(file, format, (servers, SERVER), {**(more or {}), **mcp_server(place)})


def workspace_servers(place: Place) -> FileEntry:
    """Return the entry in `.mcp.json`, which Claude Code and Copilot CLI share, so it must be the same for both."""
    return server_entry(place.root / ".mcp.json", place)


def hook_items(
    file: Path, format: Format, hooks: Mapping[str, Any], above: tuple[str, ...] = ("hooks",)
) -> list[Change]:
    """Return an item for each hook of a file that has a list of them under the name of each event.

    Args:
        file: of an agent.
        format: of the file.
        hooks: by the agent's name of the event.
        above: the names that lead to the events.
    """
    return [Item(file, format, (*above, event), value) for event, value in hooks.items()]


def config_folder(place: Place) -> Path:
    """Return the folder of a user's settings of programs that keep to the rules of XDG."""
    folder = Path(place.environment.get("XDG_CONFIG_HOME", ""))
    return folder if folder.is_absolute() else place.home / ".config"
