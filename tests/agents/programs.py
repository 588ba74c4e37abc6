"""The agents: how each is told of the model, and how it is run without a person.

Nobody's settings are touched: each runs with a home of its own.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from agents.anthropic_messages import Messages
from agents.gemini_content import GenerateContent
from agents.model import Call, Vendor
from agents.openai_chat import Chat
from agents.openai_responses import Responses

PROMPT = "Find out how commands parse their options."
NO_KEY = "none"  # the model asks for none


class Setting(NamedTuple):
    """Where an agent runs: its home, the project, the model's address; and what it is asked."""

    home: Path
    project: Path
    url: str
    prompt: str = PROMPT


class Run(NamedTuple):
    """A command and what is in its environment beside the usual."""

    arguments: list[str]
    environment: dict[str, str]


class Tools(NamedTuple):
    """What an agent's own tools are called with."""

    read: Callable[[Path], Call]
    search: Callable[[str], Call]
    edit: Callable[[Path, str, str], Call]
    shell: Callable[[str], Call]


class Agent(NamedTuple):
    """An agent: its program, what its model speaks, what prepares a run, and its own tools."""

    program: str
    vendor: Callable[[], Vendor]
    prepare: Callable[[Setting], Run]
    tools: Tools


def _write(path: Path, document: Any) -> None:  # noqa: ANN401 - JSON
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document))


def _own(name: str, **arguments: object) -> Call:
    return Call(name, arguments, is_own=True)


def _claude(at: Setting) -> Run:
    _write(at.home / ".claude.json", {"hasCompletedOnboarding": True})
    options = ["--permission-mode", "acceptEdits", "--allowedTools", "mcp__cairn,Read,Edit,Bash"]
    environment = {
        "ANTHROPIC_BASE_URL": at.url,
        "ANTHROPIC_API_KEY": NO_KEY,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }
    return Run(["-p", at.prompt, *options], environment)


_CLAUDE_TOOLS = Tools(
    lambda path: _own("Read", file_path=str(path)),
    lambda text: _own("Bash", command=f"grep -rn '{text}' ."),
    lambda path, old, new: _own("Edit", file_path=str(path), old_string=old, new_string=new),
    lambda command: _own("Bash", command=command),
)


def _codex(at: Setting) -> Run:
    home = at.home / ".codex"
    home.mkdir(parents=True, exist_ok=True)
    settings = f"""\
model = "gpt-5"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"

[model_providers.scripted]
name = "scripted"
base_url = "{at.url}/v1"
wire_api = "responses"
requires_openai_auth = false

[projects.{json.dumps(str(at.project))}]
trust_level = "trusted"
"""
    (home / "config.toml").write_text(settings)
    # Nobody is there to approve the hooks with `/hooks`, which is what a person does once.
    options = ["--skip-git-repo-check", "--dangerously-bypass-hook-trust"]
    return Run(["exec", *options, at.prompt], {"CODEX_HOME": str(home)})


_CODEX_TOOLS = Tools(
    lambda path: _own("exec_command", cmd=f"cat {path}"),
    lambda text: _own("exec_command", cmd=f"grep -rn '{text}' ."),
    lambda path, old, new: _own("exec_command", cmd=f"sed -i 's/{old}/{new}/' {path}"),
    lambda command: _own("exec_command", cmd=command),
)


def _gemini(at: Setting) -> Run:
    settings: dict[str, Any] = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "general": {"disableAutoUpdate": True},
        "privacy": {"usageStatisticsEnabled": False},
    }
    _write(at.home / ".gemini" / "settings.json", settings)
    environment = {"GEMINI_API_KEY": NO_KEY, "GOOGLE_GEMINI_BASE_URL": at.url, "GEMINI_CLI_HOME": str(at.home)}
    return Run(["--yolo", "--model", "gemini-2.5-pro", "-p", at.prompt], environment)


_GEMINI_TOOLS = Tools(
    lambda path: _own("read_file", file_path=str(path)),
    lambda text: _own("grep_search", pattern=text),
    lambda path, old, new: _own("replace", file_path=str(path), instruction="mend", old_string=old, new_string=new),
    lambda command: _own("run_shell_command", command=command),
)


def _opencode(at: Setting) -> Run:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{at.url}/v1", "apiKey": NO_KEY},
        "models": {"scripted": {"tool_call": True, "limit": {"context": 200_000, "output": 8_000}}},
    }
    config: dict[str, Any] = {"provider": {"local": provider}, "autoupdate": False, "share": "disabled"}
    _write(at.home / ".config" / "opencode" / "opencode.json", config)
    return Run(["run", "--model", "local/scripted", at.prompt], {"OPENCODE_DISABLE_MODELS_FETCH": "1"})


_OPENCODE_TOOLS = Tools(
    lambda path: _own("read", filePath=str(path)),
    lambda text: _own("bash", command=f"grep -rn '{text}' .", description="search"),
    lambda path, old, new: _own("edit", filePath=str(path), oldString=old, newString=new),
    lambda command: _own("bash", command=command, description="run"),
)


def _copilot(at: Setting) -> Run:
    environment = {
        "COPILOT_PROVIDER_BASE_URL": f"{at.url}/v1",
        "COPILOT_PROVIDER_TYPE": "openai",
        "COPILOT_PROVIDER_API_KEY": NO_KEY,
        "COPILOT_MODEL": "scripted",
        "COPILOT_OFFLINE": "true",
        "COPILOT_ALLOW_ALL": "true",  # trusts the folder, as a person does once
    }
    return Run(["-p", at.prompt, "--allow-all-tools", "--disable-builtin-mcps"], environment)


_COPILOT_TOOLS = Tools(
    lambda path: _own("view", path=str(path)),
    lambda text: _own("grep", pattern=text, output_mode="content"),
    lambda path, old, new: _own("edit", path=str(path), old_str=old, new_str=new),
    lambda command: _own("bash", command=command, description="run"),
)


AGENTS = {
    "claude-code": Agent("claude", Messages, _claude, _CLAUDE_TOOLS),
    "codex": Agent("codex", Responses, _codex, _CODEX_TOOLS),
    "gemini-cli": Agent("gemini", GenerateContent, _gemini, _GEMINI_TOOLS),
    "opencode": Agent("opencode", Chat, _opencode, _OPENCODE_TOOLS),
    "copilot-cli": Agent("copilot", Chat, _copilot, _COPILOT_TOOLS),
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
