from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from cairn.documents.document import parse_document
from cairn.hooks.adapter import Block, FileEntry, Item, Level, Place, Whole
from cairn.hooks.agents import adapter_of
from cairn.hooks.agents.mcp_only import ADAPTERS

USUAL = {"command": "/opt/cairn", "args": ["mcp"]}
STDIO = {"type": "stdio", **USUAL}
ONE_LIST = {"type": "local", "command": ["/opt/cairn", "mcp"], "enabled": True}

# Agent, level, file, format, names that lead to the entry, entry.
ENTRIES: list[tuple[str, Level, str, str, tuple[str, ...], dict[str, Any]]] = [
    ("amp", "project", ".amp/settings.json", "jsonc", ("amp.mcpServers", "cairn"), USUAL),
    ("amp", "user", ".config/amp/settings.json", "jsonc", ("amp.mcpServers", "cairn"), USUAL),
    ("antigravity", "project", ".agents/mcp_config.json", "json", ("mcpServers", "cairn"), USUAL),
    ("antigravity", "user", ".gemini/config/mcp_config.json", "json", ("mcpServers", "cairn"), USUAL),
    ("augment", "user", ".augment/settings.json", "json", ("mcpServers", "cairn"), USUAL),
    ("cline", "user", ".cline/data/settings/cline_mcp_settings.json", "json", ("mcpServers", "cairn"), USUAL),
    ("crush", "project", ".crush.json", "json", ("mcp", "cairn"), STDIO),
    ("crush", "user", ".config/crush/crush.json", "json", ("mcp", "cairn"), STDIO),
    ("droid", "project", ".factory/mcp.json", "json", ("mcpServers", "cairn"), STDIO),
    ("droid", "user", ".factory/mcp.json", "json", ("mcpServers", "cairn"), STDIO),
    ("grok", "project", ".grok/config.toml", "toml", ("mcp_servers", "cairn"), USUAL),
    ("grok", "user", ".grok/config.toml", "toml", ("mcp_servers", "cairn"), USUAL),
    ("junie", "project", ".junie/mcp/mcp.json", "json", ("mcpServers", "cairn"), USUAL),
    ("junie", "user", ".junie/mcp/mcp.json", "json", ("mcpServers", "cairn"), USUAL),
    ("kilo", "project", ".kilo/kilo.jsonc", "jsonc", ("mcp", "cairn"), ONE_LIST),
    ("kilo", "user", ".config/kilo/kilo.jsonc", "jsonc", ("mcp", "cairn"), ONE_LIST),
    ("kimi", "project", ".kimi-code/mcp.json", "json", ("mcpServers", "cairn"), USUAL),
    ("kimi", "user", ".kimi-code/mcp.json", "json", ("mcpServers", "cairn"), USUAL),
    ("kiro", "project", ".kiro/settings/mcp.json", "json", ("mcpServers", "cairn"), USUAL),
    ("kiro", "user", ".kiro/settings/mcp.json", "json", ("mcpServers", "cairn"), USUAL),
    ("qwen", "project", ".qwen/settings.json", "jsonc", ("mcpServers", "cairn"), USUAL),
    ("qwen", "user", ".qwen/settings.json", "jsonc", ("mcpServers", "cairn"), USUAL),
    ("roo", "project", ".roo/mcp.json", "json", ("mcpServers", "cairn"), USUAL),
    ("warp", "project", ".warp/.mcp.json", "json", ("mcpServers", "cairn"), USUAL),
    ("warp", "user", ".warp/.mcp.json", "json", ("mcpServers", "cairn"), USUAL),
    ("zed", "project", ".zed/settings.json", "jsonc", ("context_servers", "cairn"), USUAL),
    ("zed", "user", ".config/zed/settings.json", "jsonc", ("context_servers", "cairn"), USUAL),
]


def place(tmp_path: Path, level: Level, **environment: str) -> Place:
    return Place(level, tmp_path / "repo", tmp_path / "home", environment, ("/opt/cairn",))


def base(place: Place) -> Path:
    return place.root if place.level == "project" else place.home


@pytest.mark.parametrize(("name", "level", "file", "format", "path", "value"), ENTRIES)
def test_an_agent_is_told_of_the_server_in_its_own_file_and_form(
    tmp_path: Path, name: str, level: Level, file: str, format: str, path: tuple[str, ...], value: dict[str, Any]
) -> None:
    where = place(tmp_path, level)
    entry = next(change for change in adapter_of(name).changes(where) if isinstance(change, FileEntry))

    assert (entry.file, entry.format, entry.path) == (base(where) / file, format, path)
    assert entry.value == value
    document = parse_document(b"", entry.format, "file").set(entry.path, entry.value)
    assert document.get(path) == value


def test_every_agent_of_the_table_is_tested() -> None:
    assert {*ADAPTERS} == {row[0] for row in ENTRIES} | {"continue", "goose", "vibe"}


def test_goose_gets_an_extension(tmp_path: Path) -> None:
    where = place(tmp_path, "user")
    (entry,) = adapter_of("goose").changes(where)

    assert isinstance(entry, FileEntry)
    assert (entry.file, entry.path) == (where.home / ".config/goose/config.yaml", ("extensions", "cairn"))
    written = parse_document(b"extensions:\n", "yaml", "file").set(entry.path, entry.value).content
    extension = yaml.safe_load(written)["extensions"]["cairn"]
    assert (extension["type"], extension["cmd"], extension["args"], extension["enabled"]) == (
        "stdio", "/opt/cairn", ["mcp"], True,
    )  # fmt: skip


def test_vibe_gets_an_item_of_its_list_for_the_user_alone(tmp_path: Path) -> None:
    where = place(tmp_path, "user")
    (item,) = adapter_of("vibe").changes(where)

    assert isinstance(item, Item)
    assert item.file == where.home / ".vibe/config.toml"
    written = parse_document(b'[[mcp_servers]]\nname = "x"\n', "toml", "file").append(item.path, item.value).content
    assert written.decode().endswith(
        '\n[[mcp_servers]]\nname = "cairn"\ntransport = "stdio"\ncommand = "/opt/cairn"\nargs = ["mcp"]\n'
    )
    assert not any(isinstance(change, Item) for change in adapter_of("vibe").changes(place(tmp_path, "project")))


@pytest.mark.parametrize("level", ["project", "user"])
def test_continue_gets_files_of_our_own(tmp_path: Path, level: Level) -> None:
    where = place(tmp_path, level)
    changes = adapter_of("continue").changes(where)

    assert all(isinstance(change, Whole) for change in changes)
    server = next(change for change in changes if change.file.suffix == ".yaml")
    assert isinstance(server, Whole)
    assert server.file == base(where) / ".continue/mcpServers/cairn.yaml"
    assert yaml.safe_load(server.text) == {
        "name": "Cairn", "version": "1.0.0", "schema": "v1", "mcpServers": [{"name": "cairn", **USUAL}],
    }  # fmt: skip


@pytest.mark.parametrize("name", ADAPTERS)
def test_in_a_project_an_agent_gets_instructions_and_for_a_user_none(name: str, tmp_path: Path) -> None:
    adapter = adapter_of(name)

    told = [c for c in adapter.changes(place(tmp_path, "project")) if isinstance(c, Block | Whole)]

    assert any("cairn search" in change.text for change in told)
    if "user" in adapter.levels:
        changes = adapter.changes(place(tmp_path, "user"))
        assert not any(isinstance(change, Block) for change in changes)


def test_a_file_that_the_user_has_is_preferred_to_a_new_one(tmp_path: Path) -> None:
    where = place(tmp_path, "project")
    where.root.mkdir()
    (where.root / "kilo.json").write_text("{}")

    assert adapter_of("kilo").changes(where)[0].file == where.root / "kilo.json"


@pytest.mark.parametrize(
    ("name", "variable", "value", "file"),
    [
        ("amp", "XDG_CONFIG_HOME", "/x", "/x/amp/settings.json"),
        ("kimi", "KIMI_CODE_HOME", "/x", "/x/mcp.json"),
        ("grok", "GROK_HOME", "/x", "/x/config.toml"),
        ("vibe", "VIBE_HOME", "/x", "/x/config.toml"),
        ("cline", "CLINE_MCP_SETTINGS_PATH", "/x/servers.json", "/x/servers.json"),
    ],
)
def test_a_variable_moves_the_files_of_the_user(
    tmp_path: Path, name: str, variable: str, value: str, file: str
) -> None:
    assert adapter_of(name).changes(place(tmp_path, "user", **{variable: value}))[0].file == Path(file)
    in_project = adapter_of(name).changes(place(tmp_path, "project", **{variable: value}))
    assert all(change.file.is_relative_to(tmp_path / "repo") for change in in_project)
