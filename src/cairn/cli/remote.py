"""Lets the daemon answer a command if it is running and would give the same answer."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping
from typing import Any

from cairn import __version__
from cairn.cli.notes import note
from cairn.errors import OF_NEWER_PROGRAM, DaemonError, StoreError, error_from_dict
from cairn.loading import load
from cairn.registry import Registry, enclosing_root, is_team_name, real_folder
from cairn.runtime import StateFolder, environment_mark
from cairn.transport import ask

# After that this process answers, and shows its progress.
_ANSWER_SECONDS = 15.0
_IN_SESSION = ("search", "fetch", "context")  # what is asked and fetched in an agent's session is noted with it
_OFF = ("0", "false", "no", "off")
# Errors of the daemon alone: this process may still be able to answer.
_OF_DAEMON = ("access", "busy", "daemon", "internal", "project", "route", "request", "too-large")


def answer(options: argparse.Namespace, operation: str, fields: Mapping[str, object]) -> Any:  # noqa: ANN401 - JSON
    """Return the answer of the daemon or of this process; arguments and errors as for `ask_daemon`.

    It is about the project that the command names with --project, if it does.
    """
    named: str | None = getattr(options, "among", None)
    if operation in _IN_SESSION and (session := load("cairn.memory.actors:find_session")()):
        fields = {**fields, "session": session, "repeat": True}  # known, and still sent whatever it was sent before
    if (document := ask_daemon(options, operation, fields, named)) is None:
        if named is None:
            return load("cairn.cli.here:answer_here")(options, operation, fields)
        document = load("cairn.cli.elsewhere:answer_elsewhere")(options, operation, fields, named)
    if named is not None and not options.json:
        load("cairn.cli.elsewhere:say_where")(document)
    return document


def ask_daemon(
    options: argparse.Namespace, operation: str, fields: Mapping[str, object], project: str | None = None
) -> Any:  # noqa: ANN401 - JSON
    """Return the daemon's answer, None if this process has to find it.

    Args:
        options: of the command.
        operation: one of `cairn.protocol.table.OPERATIONS`.
        fields: of its request, without the project.
        project: the name of a project other than the command's.

    Raises:
        CairnError: the daemon's error, as it would have been raised here.
    """
    if options.no_daemon or options.state_dir or os.environ.get("CAIRN_DAEMON", "").lower() in _OFF:
        return None
    folder = StateFolder.of_user()
    try:
        runtime = folder.find()
        if runtime is None or runtime.version != __version__ or not runtime.answers_commands:
            return None
        if runtime.environment != environment_mark():
            return None
        here = _find_root(folder, options.project)
        project = project or here
        # Where one stands may be a checkout of a team's project, which the daemon does not know yet.
        if project is None or (here is None and is_team_name(project)):
            return None
        body = json.dumps({"project": project, **fields}).encode("ascii")
        reply = ask(runtime, folder.read_token(), "POST", f"/api/{operation}", body, timeout_seconds=_ANSWER_SECONDS)
        document = json.loads(reply.body)
    except DaemonError as error:
        if isinstance(error.__cause__, TimeoutError):  # the user waited that long and should know why
            note(
                f"The daemon did not answer within {_ANSWER_SECONDS:.0f} s; answered without it. See: cairn daemon logs"
            )
        return None
    except (StoreError, ValueError):  # it stopped meanwhile, or its files cannot be read
        return None
    if reply.status < 400:
        return document
    if _is_of_daemon(document["code"], project):
        return None
    raise error_from_dict(document)


def _is_of_daemon(code: str, project: str) -> bool:
    """Tell whether this process may be able to answer although the daemon cannot; say so where the user should know."""
    if code in OF_NEWER_PROGRAM:
        note("The daemon is older than what this project's state was written by; stop it: cairn daemon stop")
        return True
    # This process would ask the same servers again whether they know the project.
    return code in _OF_DAEMON and not (code == "project" and is_team_name(project))


def _find_root(folder: StateFolder, path: str) -> str | None:
    """Return the project around a folder if the daemon may serve it: as `Workspace.containing`, without running git."""
    root = enclosing_root(path) or real_folder(path)
    return root if Registry(folder).knows(root, "") else None
