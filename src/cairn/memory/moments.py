"""Moments of an agent's work, in one form for all agents: what `/api/hook/{event}` takes, checked and bounded."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from cairn.errors import RequestError

EVENTS = (
    "session-start", "prompt", "before-tool", "after-tool", "before-compaction", "turn-end", "session-end",
    "subagent-start", "subagent-end",
)  # fmt: skip
OUTCOMES = ("ok", "failed", "denied", "")  # the last: the agent does not say

# What tools do, whatever agents call them.
TOOLS = ("read", "edit", "write", "delete", "shell", "search", "list", "web", "mcp", "task", "plan", "other")
# The names that agents give to their tools, in lower case and without `_` and `-`.
_TOOL_NAMES: Mapping[str, str] = {
    name: tool
    for tool, names in {
        "read": "read readfile view viewfile cat openfile readmanyfiles notebookread viewimage getfilecontents",
        "edit": "edit editfile multiedit strreplace strreplaceeditor strreplacebasededittool replace applypatch patch "
        "notebookedit editnotebook searchreplace insertedit inserteditintofile replacestringinfile "
        "multireplacestringinfile replacefilecontent multireplacefilecontent applydiff editblock",
        "write": "write writefile create createfile writetofile savefile newfile",
        "delete": "delete deletefile remove removefile",
        "shell": "bash shell runshellcommand runterminalcmd runinterminal runcommand execcommand localshell "
        "unifiedexec exec powershell executecommand terminal execute",
        "search": "grep glob search searchfilecontent codebasesearch filesearch grepsearch semanticsearch findfiles rg "
        "greptool find textsearch findbyname searchcodebase",
        "list": "ls list listdir listdirectory listfiles tree",
        "web": "webfetch websearch googlewebsearch fetch fetchwebpage readurlcontent searchweb browser",
        "task": "task agent subagent runsubagent dispatchagent spawnagent invokeagent delegate",
        "plan": "exitplanmode enterplanmode updateplan todowrite writetodos todoread taskcreate taskupdate "
        "managetodolist createplan plan",
    }.items()
    for name in names.split()
}
_MCP_PREFIXES = ("mcp__", "mcp_", "mcp:", "mcp-")

MAX_TEXT_CHARS = 20_000
MAX_OUTPUT_CHARS = 20_000
MAX_NAME_CHARS = 500
MAX_TARGET_CHARS = 4_000
_MAX_SIZE = 2**53
_HINT = "docs/http-api.md names the fields of an event"


class ToolCall(NamedTuple):
    """One call of a tool; its bodies are looked at, and not kept.

    Attributes:
        tool: one of `TOOLS`.
        name: what the agent calls it.
        target: the path, relative to the root where it is below it; or the command, the pattern, the address.
        outcome: one of `OUTCOMES`.
        exit_code: of a command, None where nobody says.
        duration_ms: 0 where nobody says.
        input_bytes, output_bytes: how much went in and came out.
        output: the end of what it printed or answered, or the error.
    """

    tool: str
    name: str
    target: str
    outcome: str = ""
    exit_code: int | None = None
    duration_ms: int = 0
    input_bytes: int = 0
    output_bytes: int = 0
    output: str = ""

    @property
    def is_edit(self) -> bool:
        """Whether it changes a file by itself."""
        return self.tool in ("edit", "write", "delete")

    @property
    def is_failure(self) -> bool:
        """Whether it failed: it says so, or its command ended with an exit code other than 0."""
        return self.outcome == "failed" or self.exit_code not in (None, 0)


class Moment(NamedTuple):
    """Something that an agent did or was told.

    Attributes:
        id: names it once and for all, so that one that arrives twice counts once.
        event: one of `EVENTS`.
        session: the agent's own id of its session.
        agent: such as `claude-code`.
        seconds: when, since the epoch.
        text: the prompt, or what the agent said at the end of its turn.
        call: of `before-tool` and `after-tool`.
        branch, revision: what was checked out, empty where nobody says.
        details: what else the agent says, such as `source` or `reason`: short texts.
    """

    id: str
    event: str
    session: str
    agent: str
    seconds: float
    text: str = ""
    call: ToolCall | None = None
    branch: str = ""
    revision: str = ""
    details: Mapping[str, str] = {}


def canonical_tool(name: str) -> str:
    """Return what a tool does by the name that an agent gives it, `other` if no agent we know of has one so named."""
    if name.lower().startswith(_MCP_PREFIXES):
        return "mcp"
    return _TOOL_NAMES.get(name.lower().replace("_", "").replace("-", ""), "other")


def parse_moment(event: str, session: str, agent: str, payload: str) -> Moment:
    """Return the moment that a payload describes: a JSON object with the fields of `Moment`, and `call` as an object.

    Raises:
        RequestError: if it is not one, or a field has the wrong kind. What is too long is cut.
    """
    if event not in EVENTS:
        raise RequestError(f"`event` must be one of {', '.join(EVENTS)}", _HINT)
    try:
        document = json.loads(payload)
    except (ValueError, RecursionError) as error:
        raise RequestError("`payload` must be JSON", _HINT) from error
    if not isinstance(document, dict):
        raise RequestError("`payload` must be an object", _HINT)
    details = _field(document, "details", dict, {})
    return Moment(
        id=_text(document, "id", MAX_NAME_CHARS),
        event=event,
        session=session,
        agent=agent,
        seconds=_number(document, "seconds"),
        text=_text(document, "text", MAX_TEXT_CHARS),
        call=_call(document.get("call")),
        branch=_text(document, "branch", MAX_NAME_CHARS),
        revision=_text(document, "revision", MAX_NAME_CHARS),
        details={
            name[:50]: value[:MAX_NAME_CHARS] for name, value in list(details.items())[:20] if isinstance(value, str)
        },
    )


def _call(document: object) -> ToolCall | None:
    if document is None:
        return None
    if not isinstance(document, dict):
        raise RequestError("`call` must be an object", _HINT)
    name = _text(document, "name", MAX_NAME_CHARS)
    tool = _text(document, "tool", MAX_NAME_CHARS) or canonical_tool(name)
    outcome = _text(document, "outcome", 10)
    exit_code = _field(document, "exit_code", int, None)
    if tool not in TOOLS:
        raise RequestError(f"`tool` must be one of {', '.join(TOOLS)}", _HINT)
    if outcome not in OUTCOMES:
        raise RequestError("`outcome` must be ok, failed or denied", _HINT)
    return ToolCall(
        tool=tool,
        name=name,
        target=_text(document, "target", MAX_TARGET_CHARS),
        outcome=outcome,
        exit_code=None if exit_code is None else max(-(2**31), min(2**31, exit_code)),
        duration_ms=_size(document, "duration_ms"),
        input_bytes=_size(document, "input_bytes"),
        output_bytes=_size(document, "output_bytes"),
        output=_text(document, "output", None)[-MAX_OUTPUT_CHARS:],
    )


def _field(document: Mapping[str, Any], name: str, kind: type, default: Any) -> Any:  # noqa: ANN401 - of the kind asked for
    value = document.get(name)
    if value is None:
        return default
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise RequestError(f"`{name}` must be {_KINDS[kind]}", _HINT)
    return value


_KINDS = {str: "a string", int: "a whole number", dict: "an object"}


def _text(document: Mapping[str, Any], name: str, max_chars: int | None) -> str:
    text: str = _field(document, name, str, "")
    return text[:max_chars].encode("utf-8", "replace").decode()


def _size(document: Mapping[str, Any], name: str) -> int:
    value: int = _field(document, name, int, 0)
    return max(0, min(_MAX_SIZE, value))


def _number(document: Mapping[str, Any], name: str) -> float:
    value = document.get(name, 0.0)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise RequestError(f"`{name}` must be a number", _HINT)
    return float(value)
