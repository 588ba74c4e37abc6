"""The project of a command in the list of those that the daemon may serve."""

from __future__ import annotations

import argparse

from cairn.errors import CairnError
from cairn.index.project import name_of
from cairn.index.state_dir import UNWRITABLE
from cairn.registry import Registry
from cairn.runtime import StateFolder
from cairn.warning import warn
from cairn.workspace import Workspace


def allow(workspace: Workspace, options: argparse.Namespace) -> None:
    """Allow the daemon to serve a project, since the user just worked on it.

    With --state-dir the daemon would not find the index, so nothing is done. If the list cannot be written, the user
    gets a warning, and their answer.
    """
    if options.state_dir or workspace.is_unnamed:
        return
    registry = Registry(StateFolder.of_user())
    name = workspace.settings.project_name
    if registry.knows(workspace.root, name):
        return
    try:
        registry.add(workspace.root, name or name_of(workspace.root))
    except CairnError as error:
        warn(UNWRITABLE, f"{error}; {error.hint}")
