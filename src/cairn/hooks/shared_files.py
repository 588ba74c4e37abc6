"""Parts common to several agents' files: the shared skill, and the entry of the MCP server."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cairn.hooks.adapter import Change, FileEntry, Format, Item, Place, Whole
from cairn.hooks.commands import mcp_server
from cairn.hooks.texts import text_of

SERVER = "cairn"  # the name of the MCP server


def base_of(place: Place) -> Path:
    """Return the base folder of a level's files."""
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
        file: of one or several agents.
        place: where Cairn is installed for the agent.
        format: of the file.
        servers: the file's key for the servers.
        more: fields that the agent wants before the command.
    """
    return FileEntry(file, format, (servers, SERVER), {**(more or {}), **mcp_server(place)})


def workspace_servers(place: Place) -> FileEntry:
    """Return the entry in `.mcp.json`, which must be the same for Claude Code and Copilot CLI, since they share it."""
    return server_entry(place.root / ".mcp.json", place)


def hook_items(
    file: Path, format: Format, hooks: Mapping[str, Any], above: tuple[str, ...] = ("hooks",)
) -> list[Change]:
    """Return an item for each hook, for files with a list of hooks under each event's name.

    Args:
        file: of an agent.
        format: of the file.
        hooks: by the agent's name for the event.
        above: the keys that lead to the events.
    """
    return [Item(file, format, (*above, event), value) for event, value in hooks.items()]


def config_folder(place: Place) -> Path:
    """Return the user's XDG configuration folder."""
    folder = Path(place.environment.get("XDG_CONFIG_HOME", ""))
    return folder if folder.is_absolute() else place.home / ".config"
