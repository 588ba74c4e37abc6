"""Asks the user whether to allow the embedding model that a project's file names: once, and only on a terminal."""

from __future__ import annotations

import argparse
import os

from cairn.cli.notes import note, printable
from cairn.cli.stdin import ask_whether, is_anybody_here
from cairn.consent import Consents
from cairn.errors import ConfigError
from cairn.folders import state_folder
from cairn.workspace import Workspace


def open_with_consent(options: argparse.Namespace) -> Workspace:
    """Open the project of `cairn index`, and ask whether to allow the model that its file names.

    Without a terminal nobody is asked and nothing is allowed: an agent or a script cannot consent for the user.

    Raises:
        ConfigError: if `--ask` is given and there is no terminal to ask on.
    """
    on_terminal = is_anybody_here() and not options.json
    if options.ask and not on_terminal:
        raise ConfigError("--ask needs a terminal to ask on", "run it in a terminal, without --json")
    workspace = _open_project(options)
    if options.ask:
        Consents(state_folder(), workspace.root).forget()
        workspace = _open_project(options)
        if workspace.consent_request is None:
            note("The project's file asks for nothing that needs your consent.")
    if workspace.consent_request is None:
        return workspace
    if not on_terminal:
        note(printable(workspace.consent_request.note))
        return workspace
    note(f"{printable(workspace.consent_request.file)} asks for another embedding model:")
    for line in workspace.consent_request.lines:
        note(f"  {printable(line)}")
    note("It would receive this project's code and every query about it.")
    is_allowed = ask_whether("Allow it for this project?")
    if is_allowed is None:
        return workspace
    workspace.consent_request.settle(allowed=is_allowed)
    note(
        "Allowed."
        if is_allowed
        else "Not allowed. Searches use the bundled model, unless you set another one yourself."
    )
    note("To be asked again: cairn index --ask")
    return _open_project(options)


def _open_project(options: argparse.Namespace) -> Workspace:
    # A folder given to `cairn index` counts as named by the user, even if it is `.`.
    path = os.path.abspath(options.path) if options.path else options.project
    return Workspace.containing(path, state_dir=options.state_dir)
