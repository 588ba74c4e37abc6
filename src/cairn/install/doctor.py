"""The findings of `cairn doctor` for all surfaces: on the stores, the installed agents, and the hook program."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cairn.hooks.examine import examine_hook_program
from cairn.index.health import Finding
from cairn.install.examine import examine_agents
from cairn.workspace import Workspace


def examine_all(workspace: Workspace, state: Path, *, fix: bool = False) -> list[Finding]:
    """Return all findings about a project.

    Args:
        workspace: the project.
        state: the user's state folder.
        fix: repair what can be repaired.
    """
    findings = workspace.upkeep.doctor(fix=fix)
    return [*findings, *examine_agents(workspace.root), *examine_hook_program(state)]


def is_healthy(findings: Sequence[Finding]) -> bool:
    """Tell whether no error remains."""
    return not any(finding.level == "error" and not finding.fixed for finding in findings)
