"""Agents with files of every kind, for the tests of the installer."""

from __future__ import annotations

from pathlib import Path

from cairn.hooks.adapter import Adapter, Block, Change, Detection, FileEntry, Item, Place, Whole
from cairn.hooks.commands import hook_command, mcp_server


def base(place: Place) -> Path:
    return place.root if place.level == "project" else place.home


class Alpha(Adapter):
    """Has hooks in two lists, a server in a file of many agents, and a skill."""

    name = "alpha"
    title = "Alpha"
    detection = Detection(("alpha",), (".alpha",), (".alpha",))
    timeout = 5
    names: tuple[str, ...] = ("Start", "Before")

    def changes(self, place: Place) -> list[Change]:
        """Return what Alpha needs."""
        settings = base(place) / ".alpha" / "settings.json"
        hooks = [
            Item(
                settings, "json", ("hooks", name),
                {"hooks": [{"command": hook_command(place, name.lower(), self.name), "timeout": self.timeout}]},
            )
            for name in self.names
        ]  # fmt: skip
        return [
            *hooks,
            FileEntry(base(place) / ".mcp.json", "json", ("mcpServers", "cairn"), mcp_server(place)),
            Whole(base(place) / ".alpha" / "skills" / "cairn" / "SKILL.md", "---\nname: cairn\n---\nAsk.\n"),
        ]


class Beta(Adapter):
    """Shares the server's file, and has TOML, a default, and a passage in AGENTS.md."""

    name = "beta"
    title = "Beta"
    detection = Detection(("beta",), (), (".beta",))

    def changes(self, place: Place) -> list[Change]:
        """Return what Beta needs."""
        config = base(place) / ".beta"
        return [
            FileEntry(base(place) / ".mcp.json", "json", ("mcpServers", "cairn"), mcp_server(place)),
            FileEntry(config / "config.toml", "toml", ("mcp_servers", "cairn"), mcp_server(place)),
            FileEntry(config / "hooks.json", "jsonc", ("version",), 1, is_default=True),
            Item(
                config / "hooks.json", "jsonc", ("hooks", "stop"), {"command": hook_command(place, "turn-end", "beta")}
            ),
            Block(base(place) / "AGENTS.md", "Ask Cairn first.\n"),
        ]
