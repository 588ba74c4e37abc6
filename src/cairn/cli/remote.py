"""Lets the daemon answer a command, when it runs and would answer the same."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping
from typing import Any

from cairn import __version__
from cairn.cli.notes import note
from cairn.errors import DaemonError, StoreError, error_from_dict
from cairn.loading import load
from cairn.registry import Registry, enclosing_root
from cairn.runtime import StateFolder, environment_mark
from cairn.transport import ask

# Beyond that this process answers itself, and shows how far it is.
_ANSWER_SECONDS = 15.0
_OFF = ("0", "false", "no", "off")
# What the daemon alone has to do with: the answer may still be found here.
_OF_DAEMON = ("access", "busy", "daemon", "internal", "project", "route", "request", "too-large")


def answer(options: argparse.Namespace, operation: str, asked: Mapping[str, object], project: str | None = None) -> Any:  # noqa: ANN401 - JSON
    """Return the answer of the daemon, or of this process; arguments and errors as for `ask_daemon`."""
    if (document := ask_daemon(options, operation, asked, project)) is not None:
        return document
    return load("cairn.cli.here:answer_here")(options, operation, asked)


def ask_daemon(
    options: argparse.Namespace, operation: str, asked: Mapping[str, object], project: str | None = None
) -> Any:  # noqa: ANN401 - JSON
    """Return the answer of the daemon, None when this process has to find it.

    Args:
        options: of the command.
        operation: one of `cairn.protocol.OPERATIONS`.
        asked: its request, without the project.
        project: the name of another project than the one of the command.

    Raises:
        CairnError: what the daemon found wrong with the request, as it would have been raised here.
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
        project = project or _known_root(folder, options.project)
        if project is None:
            return None
        body = json.dumps({"project": project, **asked}).encode("ascii")
        reply = ask(runtime, folder.read_token(), "POST", f"/api/{operation}", body, timeout_seconds=_ANSWER_SECONDS)
        document = json.loads(reply.body)
    except DaemonError as error:
        if isinstance(error.__cause__, TimeoutError):  # whoever waited that long is told why
            note(
                f"The daemon did not answer within {_ANSWER_SECONDS:.0f} s; answered without it. See: cairn daemon logs"
            )
        return None
    except (StoreError, ValueError):  # it went meanwhile, is too busy, or its files cannot be read
        return None
    if reply.status < 400:
        return document
    if document["code"] in _OF_DAEMON:
        return None
    raise error_from_dict(document)


def _known_root(folder: StateFolder, path: str) -> str | None:
    """Return the project around a folder if the daemon may serve it: as `Workspace.containing`, without asking git."""
    root = enclosing_root(path) or os.path.realpath(os.path.expanduser(path))
    return root if Registry(folder).knows(root, "") else None
