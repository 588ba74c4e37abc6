"""Which project a command is about, as others know it, and that its user works on it."""

from __future__ import annotations

import argparse

from cairn.errors import CairnError
from cairn.index.project import name_of
from cairn.index.state_dir import UNWRITABLE
from cairn.registry import ALL, Project, Registry
from cairn.runtime import StateFolder
from cairn.warning import warn
from cairn.workspace import Workspace


def allow(workspace: Workspace, options: argparse.Namespace) -> None:
    """Put a project on the list of those the daemon serves, for its user just worked on it.

    An index in a folder of its own is not where the daemon would look for it. An answer is worth more than the list:
    that it cannot be written is a warning.
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


def among(wanted: str) -> list[Project]:
    """Return the project with a name, or all of them.

    Raises:
        ProjectError, AmbiguousError: as `Registry.find`.
    """
    registry = Registry(StateFolder.of_user())
    return list(registry.projects()) if wanted == ALL and registry.projects() else [registry.find(wanted)]
