"""Who acts in a process: a person, or the agent that runs it, as its environment tells."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import NamedTuple

from cairn.errors import ConfigError

ACTOR_VARIABLE = "CAIRN_ACTOR"
SAID_BY_USER = "rule:said-by-user"  # the actor of what a rule found in a prompt
_MAX_SESSION_CHARS = 150  # as in `cairn.hooks.payload`
_FORM = re.compile(r"(person|agent):[^\x00-\x1f\x7f]{1,200}")


class AgentSign(NamedTuple):
    """A variable that an agent sets for the commands it runs; its name, and the variable with its session's id."""

    variable: str
    agent: str
    session: str = ""


# An agent that another one started inherits the signs of that one, too: those that are started by others come first.
SIGNS = (
    AgentSign("COPILOT_CLI", "copilot-cli"),
    AgentSign("CURSOR_AGENT", "cursor"),
    AgentSign("GEMINI_CLI", "gemini-cli", "GEMINI_SESSION_ID"),
    AgentSign("QWEN_CODE", "qwen-code"),
    AgentSign("CODEX_THREAD_ID", "codex", "CODEX_THREAD_ID"),
    AgentSign("CODEX_SANDBOX", "codex"),
    AgentSign("CODEX_SANDBOX_NETWORK_DISABLED", "codex"),
    AgentSign("OPENCODE", "opencode"),
    AgentSign("DEVIN_PROJECT_DIR", "devin"),
    AgentSign("GOOSE_TERMINAL", "goose"),
    AgentSign("CLINE_ACTIVE", "cline"),
    AgentSign("AUGMENT_AGENT", "augment"),
    AgentSign("CLAUDECODE", "claude-code", "CLAUDE_CODE_SESSION_ID"),
)


class Acting(NamedTuple):
    """Who acts, as `person:ada` or `agent:claude-code`, and in which session, as `find_session` names it."""

    actor: str
    session: str = ""


def find_actor(environment: Mapping[str, str] = os.environ) -> Acting:
    """Return who acts: whom CAIRN_ACTOR names, else the agent whose sign is there, else the user.

    Raises:
        ConfigError: if CAIRN_ACTOR names nobody.
    """
    sign = next((sign for sign in SIGNS if environment.get(sign.variable)), None)
    session = find_session(environment)
    if named := environment.get(ACTOR_VARIABLE, ""):
        if not is_actor(named):
            raise ConfigError(
                f"{ACTOR_VARIABLE} must be agent:NAME or person:NAME, not {named[:100]!r}",
                f"set it, or remove it: unset {ACTOR_VARIABLE}",
            )
        return Acting(named, session)
    return Acting(f"person:{_user_name()}") if sign is None else Acting(f"agent:{sign.agent}", session)


def find_session(environment: Mapping[str, str] = os.environ) -> str:
    """Return the session of the agent that runs this process as its hooks name it, `AGENT:ID`; empty for none."""
    sign = next((sign for sign in SIGNS if environment.get(sign.variable)), None)
    id = environment.get(sign.session, "") if sign is not None else ""
    return f"{sign.agent}:{id[:_MAX_SESSION_CHARS]}" if sign is not None and id else ""


def is_actor(text: str) -> bool:
    """Tell whether a text names a person or an agent."""
    return _FORM.fullmatch(text) is not None


def agent_named(name: object) -> str:
    """Return the actor that an agent's program is by the name it gives, whatever that holds."""
    words = re.sub(r"[^\w.@/+-]+", "-", name if isinstance(name, str) else "").strip("-")[:100]
    return f"agent:{words or 'unknown'}"


def _user_name() -> str:
    import getpass  # noqa: PLC0415 - start-up time: agents do not need it

    try:
        name = getpass.getuser()
    except (KeyError, OSError):  # a user whom the system does not know
        name = ""
    return name if is_actor(f"person:{name}") else "unknown"
