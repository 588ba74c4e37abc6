"""Asks the user about the embedding model that a project's file asks for: once, and on a terminal only."""

from __future__ import annotations

import argparse
import os
import sys

from cairn.cli.notes import note, printable
from cairn.consent import Consents
from cairn.errors import ConfigError
from cairn.folders import state_folder
from cairn.workspace import Workspace


def open_asking(options: argparse.Namespace) -> Workspace:
    """Open the project of `cairn index`; what its file asks for holds from then on if the user allows it.

    Without a terminal nobody is asked and nothing is allowed: an agent or a script answers for nobody.

    Raises:
        ConfigError: if `--ask` is given and there is no terminal to ask on.
    """
    on_terminal = sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty() and not options.json
    if options.ask and not on_terminal:
        raise ConfigError("--ask needs a terminal, to ask whoever sits there", "run it in a terminal, without --json")
    workspace = _opened(options)
    if options.ask:
        Consents(state_folder(), workspace.root).forget()
        workspace = _opened(options)
        if workspace.consent_request is None:
            note("The project's file asks for nothing that is yours to allow.")
    if workspace.consent_request is None:
        return workspace
    if not on_terminal:
        note(printable(workspace.consent_request.note))
        return workspace
    note(f"{printable(workspace.consent_request.file)} asks for another embedding model:")
    for line in workspace.consent_request.lines:
        note(f"  {printable(line)}")
    note("It would get the code of this project, and what is searched for in it.")
    sys.stderr.write("Allow it for this project? [y/N] ")
    sys.stderr.flush()
    said = sys.stdin.readline()
    if not said.endswith("\n"):  # the end of the input is no answer
        note("")
        return workspace
    allowed = said.strip().lower() in ("y", "yes")
    workspace.consent_request.settle(allowed=allowed)
    note("Allowed." if allowed else "Not allowed; the bundled model is used, unless you set another one yourself.")
    note("To be asked again: cairn index --ask")
    return _opened(options)


def _opened(options: argparse.Namespace) -> Workspace:
    # A folder that is given to `cairn index` is named, `.` too.
    named = os.path.abspath(options.path) if options.path else options.project
    return Workspace.containing(named, state_dir=options.state_dir)
