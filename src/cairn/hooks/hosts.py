"""Tells which program runs a hook, since several run the hooks that users installed for Claude Code.

An agent that was started in another's shell inherits its variables. So proof comes before hints, and Claude Code's own
mark, which most of them inherit, comes last.
"""

from __future__ import annotations

from cairn.hooks.report import Report

CLAUDE_CODE, CURSOR, COPILOT_CLI, VSCODE = "claude-code", "cursor", "copilot-cli", "vscode"
DEVIN, GEMINI_CLI, QWEN_CODE, DROID, OPENCODE = "devin", "gemini-cli", "qwen-code", "droid", "opencode"

# Variables with the id of the payload's session.
_PROOFS = (
    ("CLAUDE_CODE_SESSION_ID", CLAUDE_CODE),
    ("GEMINI_SESSION_ID", GEMINI_CLI),
    ("QWEN_SESSION_ID", QWEN_CODE),
    ("COPILOT_AGENT_SESSION_ID", COPILOT_CLI),
)
_IN_PAYLOAD = (("cursor_version", CURSOR), ("agent_action_name", "windsurf"))
_MARKS = (
    ("CURSOR_VERSION", CURSOR),
    ("COPILOT_CLI", COPILOT_CLI),
    ("DEVIN_PROJECT_DIR", DEVIN),
    ("GEMINI_SESSION_ID", GEMINI_CLI),
    ("QWEN_PROJECT_DIR", QWEN_CODE),
    ("FACTORY_PROJECT_DIR", DROID),
    ("OPENCODE", OPENCODE),
)


def host_of(report: Report) -> str:
    """Return the name of the agent that runs a hook, empty if unknown."""
    sessions = [report.payload.get(name) for name in ("session_id", "sessionId")]
    for variable, host in _PROOFS:
        if report.environment.get(variable) and report.environment[variable] in sessions:
            return host
    for name, host in _IN_PAYLOAD:
        if name in report.payload:
            return host
    for variable, host in _MARKS:
        if report.environment.get(variable):
            return host
    if "timestamp" in report.payload and "hook_event_name" in report.payload:
        return VSCODE  # it has no mark of its own; Claude Code sends no time
    return CLAUDE_CODE if report.environment.get("CLAUDECODE") else ""


def is_foreign(report: Report) -> bool:
    """Tell whether another agent runs this one's hook."""
    return host_of(report) not in ("", report.agent)
