"""The agents: how each is told of our server and of the model, and how it is run without a person.

Nobody's settings are touched: each runs with a home of its own.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from agents.anthropic_messages import Messages
from agents.gemini_content import GenerateContent
from agents.model import Vendor
from agents.openai_chat import Chat
from agents.openai_responses import Responses

PROMPT = "Find out how commands parse their options."
NO_KEY = "none"  # the model asks for none


class Setting(NamedTuple):
    """Where an agent runs: its home, the project, the model's address, and the command of our server."""

    home: Path
    project: Path
    url: str
    server: Sequence[str]
    server_environment: Mapping[str, str]


class Run(NamedTuple):
    """A command and what is in its environment beside the usual."""

    arguments: list[str]
    environment: dict[str, str]


class Agent(NamedTuple):
    """An agent: its program, what its model speaks, and what prepares a run."""

    program: str
    vendor: Callable[[], Vendor]
    prepare: Callable[[Setting], Run]


def _write(path: Path, document: Any) -> None:  # noqa: ANN401 - JSON
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document))


def _claude(at: Setting) -> Run:
    server = {"command": at.server[0], "args": at.server[1:], "env": dict(at.server_environment), "alwaysLoad": True}
    _write(at.home / "mcp.json", {"mcpServers": {"cairn": server}})
    _write(at.home / ".claude.json", {"hasCompletedOnboarding": True})
    options = ["--mcp-config", str(at.home / "mcp.json"), "--strict-mcp-config", "--allowedTools", "mcp__cairn"]
    environment = {
        "ANTHROPIC_BASE_URL": at.url,
        "ANTHROPIC_API_KEY": NO_KEY,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }
    return Run(["-p", PROMPT, *options], environment)


def _codex(at: Setting) -> Run:
    variables = ", ".join(f"{name} = {json.dumps(value)}" for name, value in at.server_environment.items())
    home = at.home / ".codex"
    home.mkdir(parents=True)
    (home / "config.toml").write_text(
        f"""\
model = "gpt-5"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"

[model_providers.scripted]
name = "scripted"
base_url = "{at.url}/v1"
wire_api = "responses"
requires_openai_auth = false

[mcp_servers.cairn]
command = {json.dumps(at.server[0])}
args = {json.dumps(list(at.server[1:]))}
env = {{ {variables} }}
required = true
"""
    )
    return Run(["exec", "--skip-git-repo-check", PROMPT], {"CODEX_HOME": str(home)})


def _gemini(at: Setting) -> Run:
    server = {"command": at.server[0], "args": at.server[1:], "env": dict(at.server_environment), "trust": True}
    settings = {
        "mcpServers": {"cairn": server},
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "general": {"disableAutoUpdate": True},
        "privacy": {"usageStatisticsEnabled": False},
    }
    _write(at.home / ".gemini" / "settings.json", settings)
    environment = {"GEMINI_API_KEY": NO_KEY, "GOOGLE_GEMINI_BASE_URL": at.url, "GEMINI_CLI_HOME": str(at.home)}
    return Run(["--yolo", "--model", "gemini-2.5-pro", "-p", PROMPT], environment)


def _opencode(at: Setting) -> Run:
    server = {"type": "local", "command": list(at.server), "environment": dict(at.server_environment), "enabled": True}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{at.url}/v1", "apiKey": NO_KEY},
        "models": {"scripted": {"tool_call": True, "limit": {"context": 200_000, "output": 8_000}}},
    }
    config = {"mcp": {"cairn": server}, "provider": {"local": provider}, "autoupdate": False, "share": "disabled"}
    _write(at.home / ".config" / "opencode" / "opencode.json", config)
    return Run(["run", "--model", "local/scripted", PROMPT], {"OPENCODE_DISABLE_MODELS_FETCH": "1"})


def _copilot(at: Setting) -> Run:
    server = {"type": "local", "command": at.server[0], "args": at.server[1:], "env": dict(at.server_environment)}
    config = json.dumps({"mcpServers": {"cairn": {**server, "tools": ["*"]}}})
    environment = {
        "COPILOT_PROVIDER_BASE_URL": f"{at.url}/v1",
        "COPILOT_PROVIDER_TYPE": "openai",
        "COPILOT_PROVIDER_API_KEY": NO_KEY,
        "COPILOT_MODEL": "scripted",
        "COPILOT_OFFLINE": "true",
    }
    options = ["--allow-all-tools", "--disable-builtin-mcps", "--additional-mcp-config", config]
    return Run(["-p", PROMPT, *options], environment)


AGENTS = {
    "claude-code": Agent("claude", Messages, _claude),
    "codex": Agent("codex", Responses, _codex),
    "gemini-cli": Agent("gemini", GenerateContent, _gemini),
    "opencode": Agent("opencode", Chat, _opencode),
    "copilot-cli": Agent("copilot", Chat, _copilot),
}


def environment_of(at: Setting, run: Run) -> dict[str, str]:
    """Return the environment of a run: a home of its own, and no settings of the person who runs the test."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TERM", "SHELL") if name in os.environ}
    return {
        **kept,
        "HOME": str(at.home),
        "XDG_CONFIG_HOME": str(at.home / ".config"),
        "NO_COLOR": "1",
        **run.environment,
    }
