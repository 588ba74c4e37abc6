"""Agents that only get the MCP server: only their files and the form of an entry differ, so each is a row.

An agent that gets hooks moves to a module of its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from cairn.hooks.adapter import Adapter, Block, Change, Detection, FileEntry, Format, Item, Level, Place, Whole
from cairn.hooks.commands import mcp_server
from cairn.hooks.shared_files import SERVER, base_of, config_folder, skill
from cairn.hooks.texts import text_of

_CONFIG = ".config/"


class McpAgent(NamedTuple):
    """An agent and its files.

    Attributes:
        name, title, detection, by_hand: as in `Adapter`.
        project: the files below the root that may list MCP servers; the first that exists is used, else the first.
            None if only the user's files do.
        user: the same below the home folder.
        format: of these files.
        path: the keys that lead to the servers.
        entry: makes the entry of a server.
        is_list: whether the servers are a list of entries with names.
        block: the file below the root that gets the instructions; empty if `rule` is used.
        rule: a file of Cairn's own below the root, and its first lines.
        has_skills: whether it reads the skill in the shared folder.
        moved: a variable, and the part of the user's paths that its value replaces.
    """

    name: str
    title: str
    detection: Detection
    project: tuple[str, ...]
    user: tuple[str, ...]
    format: Format = "json"
    path: tuple[str, ...] = ("mcpServers",)
    entry: Callable[[Place], Mapping[str, Any]] = mcp_server
    is_list: bool = False
    block: str = "AGENTS.md"
    rule: tuple[str, str] | None = None
    has_skills: bool = False
    moved: tuple[str, str] = ("", "")
    by_hand: tuple[str, ...] = ()


class McpOnly(Adapter):
    """An agent without hooks, as described by its row."""

    def __init__(self, row: McpAgent) -> None:
        # Class attributes of other adapters are instance attributes here.
        self.__dict__.update(name=row.name, title=row.title, detection=row.detection, by_hand=row.by_hand)
        levels: tuple[Level, ...] = ("project", "user") if row.user else ("project",)
        self.__dict__.update(levels=levels)
        self._row = row

    def changes(self, place: Place) -> list[Change]:
        """Return the MCP server, and for a project the instructions."""
        return [*self._servers(place), *self._instructions(place)]

    def _servers(self, place: Place) -> list[Change]:
        row = self._row
        names = row.project if place.level == "project" else row.user
        if not names:
            return []
        files = [self._file(name, place) for name in names]
        file = next((file for file in files if file.is_file()), files[0])
        entry = dict(row.entry(place))
        if row.is_list:
            return [Item(file, row.format, row.path, entry)]
        if not row.path:
            return [Whole(file, _continue_block(entry))]
        return [FileEntry(file, row.format, (*row.path, SERVER), entry)]

    def _file(self, name: str, place: Place) -> Path:
        variable, part = self._row.moved
        moved = place.environment.get(variable, "")
        if place.level == "user" and moved and name.startswith(part):
            return Path(moved) / name[len(part) :].lstrip("/")
        if place.level == "user" and name.startswith(_CONFIG):
            return config_folder(place) / name.removeprefix(_CONFIG)
        return base_of(place) / name

    def _instructions(self, place: Place) -> list[Change]:
        row = self._row
        skills: list[Change] = [skill(place)] if row.has_skills else []
        if place.level == "user":
            return skills
        if row.rule is not None:
            name, beginning = row.rule
            return [Whole(place.root / name, beginning + text_of("block.md")), *skills]
        return [Block(place.root / row.block, text_of("block.md")), *skills]


def _with(**more: Any) -> Callable[[Place], Mapping[str, Any]]:  # noqa: ANN401 - JSON
    """Return the usual entry of a server with additions."""
    return lambda place: {**more, **mcp_server(place)}


def _in_one_list(place: Place) -> Mapping[str, Any]:
    """Return the entry for OpenCode and its derivatives: program and arguments in one list."""
    server = mcp_server(place)
    return {"type": "local", "command": [server["command"], *server["args"]], "enabled": True}


def _goose(place: Place) -> Mapping[str, Any]:
    server = mcp_server(place)
    return {
        "enabled": True,
        "type": "stdio",
        "name": SERVER,
        "description": "Search, structure and memory of this project",
        "cmd": server["command"],
        "args": server["args"],
        "envs": {},
        "env_keys": [],
        "timeout": 60,
    }


def _continue_block(entry: Mapping[str, Any]) -> str:
    """Return the file for one server; JSON is valid YAML."""
    lines = [f"    {name}: {json.dumps(value)}" for name, value in entry.items()]
    return "\n".join(["name: Cairn", "version: 1.0.0", "schema: v1", "mcpServers:", f"  - name: {SERVER}", *lines, ""])


_ROWS = (
    McpAgent(
        "amp",
        "Amp",
        Detection(("amp",), (".amp",), (".config/amp",)),
        (".amp/settings.json", ".amp/settings.jsonc"),
        (".config/amp/settings.json", ".config/amp/settings.jsonc"),
        "jsonc",
        ("amp.mcpServers",),
        has_skills=True,
        by_hand=("Approve the MCP server `cairn` when Amp asks; it does so for servers of a project.",),
    ),
    McpAgent(
        "antigravity",
        "Antigravity",
        Detection(
            ("agy", "antigravity"),
            (".agents/mcp_config.json", ".agents/hooks.json", ".antigravity"),
            (".gemini/config", ".gemini/antigravity", ".gemini/antigravity-cli", ".antigravity"),
        ),
        (".agents/mcp_config.json",),
        (".gemini/config/mcp_config.json",),
        has_skills=True,
        by_hand=("Restart Antigravity if it is running; it reads its MCP servers when it starts.",),
    ),
    McpAgent(
        "augment",
        "Augment",
        Detection(("auggie",), (".augment", ".augment-guidelines"), (".augment",)),
        (),
        (".augment/settings.json",),
        by_hand=(
            "Augment takes MCP servers from your own files only, which `cairn init --agent augment --user` writes.",
        ),
    ),
    McpAgent(
        "cline",
        "Cline",
        Detection(("cline",), (".clinerules",), (".cline",)),
        (),
        (".cline/data/settings/cline_mcp_settings.json",),
        moved=("CLINE_MCP_SETTINGS_PATH", ".cline/data/settings/cline_mcp_settings.json"),
        by_hand=("Cline takes MCP servers from your own files only, which `cairn init --agent cline --user` writes.",),
    ),
    McpAgent(
        "continue",
        "Continue",
        Detection(("cn",), (".continue", ".continuerc.json"), (".continue",)),
        (".continue/mcpServers/cairn.yaml",),
        (".continue/mcpServers/cairn.yaml",),
        "yaml",
        (),
        rule=(".continue/rules/cairn.md", "---\nname: Cairn\nalwaysApply: true\n---\n\n"),
        by_hand=("Continue uses MCP servers in agent mode only.",),
    ),
    McpAgent(
        "crush",
        "Crush",
        Detection(("crush",), ("crush.json", ".crush.json", ".crush"), (".config/crush",)),
        (".crush.json", "crush.json"),
        (".config/crush/crush.json",),
        path=("mcp",),
        entry=_with(type="stdio"),
        by_hand=("If you configure Crush by a `crushrc`, add the MCP server `cairn` there.",),
    ),
    McpAgent(
        "droid",
        "Factory Droid",
        Detection(("droid",), (".factory",), (".factory",)),
        (".factory/mcp.json",),
        (".factory/mcp.json",),
        entry=_with(type="stdio"),
        by_hand=("Restart Droid if it is running; it reads its MCP servers when it starts.",),
    ),
    McpAgent(
        "goose",
        "Goose",
        Detection((), (".goosehints", ".goose"), (".config/goose",)),  # there is another program called goose
        (),
        (".config/goose/config.yaml",),
        "yaml",
        ("extensions",),
        _goose,
        by_hand=(
            "Goose takes MCP servers from your own files only, which `cairn init --agent goose --user` writes.",
            "Restart Goose if it is running; it reads its settings when it starts.",
        ),
    ),
    McpAgent(
        "grok",
        "Grok Build",
        Detection(("grok",), (".grok",), (".grok",)),
        (".grok/config.toml",),
        (".grok/config.toml",),
        "toml",
        ("mcp_servers",),
        moved=("GROK_HOME", ".grok"),
    ),
    McpAgent(
        "junie",
        "Junie",
        Detection(("junie",), (".junie",), (".junie",)),
        (".junie/mcp/mcp.json",),
        (".junie/mcp/mcp.json",),
    ),
    McpAgent(
        "kilo",
        "Kilo Code",
        Detection(("kilo",), (".kilo", ".kilocode", "kilo.json", "kilo.jsonc"), (".config/kilo", ".kilocode")),
        (".kilo/kilo.jsonc", ".kilo/kilo.json", "kilo.jsonc", "kilo.json"),
        (".config/kilo/kilo.jsonc", ".config/kilo/kilo.json"),
        "jsonc",
        ("mcp",),
        _in_one_list,
        has_skills=True,
    ),
    McpAgent(
        "kimi",
        "Kimi Code",
        Detection(("kimi",), (".kimi-code",), (".kimi-code",)),
        (".kimi-code/mcp.json",),
        (".kimi-code/mcp.json",),
        moved=("KIMI_CODE_HOME", ".kimi-code"),
    ),
    McpAgent(
        "kiro",
        "Kiro",
        Detection(("kiro", "kiro-cli"), (".kiro",), (".kiro",)),
        (".kiro/settings/mcp.json",),
        (".kiro/settings/mcp.json",),
        rule=(".kiro/steering/cairn.md", "---\ninclusion: always\n---\n\n"),
    ),
    McpAgent(
        "qwen",
        "Qwen Code",
        Detection(("qwen",), (".qwen", "QWEN.md"), (".qwen",)),
        (".qwen/settings.json",),
        (".qwen/settings.json",),
        "jsonc",
        block="QWEN.md",
        by_hand=("Restart Qwen Code if it is running, and trust the folder if it asks.",),
    ),
    McpAgent(
        "roo",
        "Roo Code",
        Detection((), (".roo", ".roomodes", ".roorules"), (".roo",)),
        (".roo/mcp.json",),
        (),
    ),
    McpAgent(
        "vibe",
        "Mistral Vibe",
        Detection(("vibe",), (".vibe",), (".vibe",)),
        (),  # a file in the project would replace the user's
        (".vibe/config.toml",),
        "toml",
        ("mcp_servers",),
        _with(name=SERVER, transport="stdio"),
        is_list=True,
        moved=("VIBE_HOME", ".vibe"),
        by_hand=(
            "Vibe's settings in a project would take the place of yours, so its MCP server is in your own file, "
            "which `cairn init --agent vibe --user` writes.",
        ),
    ),
    McpAgent(
        "warp",
        "Warp",
        Detection(("warp-terminal",), (".warp", "WARP.md"), (".warp",)),
        (".warp/.mcp.json",),
        (".warp/.mcp.json",),
        by_hand=("In Warp, start the MCP server `cairn` under Settings, Agents, MCP servers, if it is not running.",),
    ),
    McpAgent(
        "zed",
        "Zed",
        Detection(("zed", "zeditor"), (".zed",), (".config/zed",)),
        (".zed/settings.json",),
        (".config/zed/settings.json",),
        "jsonc",
        ("context_servers",),
        by_hand=("If Zed asks whether you trust the project, say yes; its MCP servers start only then.",),
    ),
)

ADAPTERS: Mapping[str, Adapter] = {row.name: McpOnly(row) for row in _ROWS}
