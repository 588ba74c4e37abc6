"""`cairn ui`: opens the pages of the daemon in the user's browser, or signs all browsers out."""

from __future__ import annotations

import argparse
import json
import os
import socket
import webbrowser
from typing import Any
from urllib.parse import urlencode

from cairn.cli.notes import note
from cairn.cli.outcomes import EXIT_FOUND
from cairn.cli.render import emit, emit_json
from cairn.client import ensure
from cairn.errors import CairnError, error_from_dict
from cairn.registry import Registry
from cairn.runtime import Runtime, StateFolder
from cairn.transport import ask, authority
from cairn.workspace import Workspace

# Cookies of this name go to no other program of this machine; those of 127.0.0.1 go to all of its ports.
_OWN_NAME = "cairn.localhost"


def run_ui(options: argparse.Namespace) -> int:
    """Print a link that works once, and open it unless only the link is wanted."""
    folder = StateFolder.of_user()
    runtime = ensure(folder)
    if options.sign_out:
        n_browsers = _ask(folder, runtime, "sign-out", {})["browsers"]
        if options.json:
            emit_json({"browsers": n_browsers})
        else:
            emit(f"{n_browsers} browsers are signed out." if n_browsers != 1 else "1 browser is signed out.")
        return EXIT_FOUND
    link = _ask(folder, runtime, "link", {"path": _page_of(folder, options.project)})
    url = f"http://{_address(runtime)}{link['path']}"
    if options.json:
        emit_json({"url": url, "seconds": link["seconds"]})
    else:
        emit(url)
        note(f"The link works once, within {link['seconds']:.0f} seconds.")
    if not (options.print or options.json) and not webbrowser.open(url):
        note("No browser could be opened; open the link yourself.")
    return EXIT_FOUND


def _page_of(folder: StateFolder, path: str) -> str:
    """Return the page of the project that a folder is in; of no project if it is in none that is allowed.

    Raises:
        CairnError: if the folder was named but cannot be a project.
    """
    try:
        with Workspace.containing(path) as workspace:
            root = str(workspace.root)
    except CairnError:
        if path != os.curdir:
            raise
        return "/"
    name = Registry(folder).names().get(root)
    return f"/?{urlencode({'project': name}, errors='surrogateescape')}" if name else "/"


def _ask(folder: StateFolder, runtime: Runtime, what: str, body: dict[str, str]) -> dict[str, Any]:
    reply = ask(runtime, folder.read_token(), "POST", f"/api/ui/{what}", json.dumps(body).encode("ascii"))
    document: dict[str, Any] = json.loads(reply.body)
    if reply.status >= 400:
        raise error_from_dict(document)
    return document


def _address(runtime: Runtime) -> str:
    """Return where a browser finds the daemon: under a name of its own where the system knows such names."""
    try:
        found = {entry[4][0] for entry in socket.getaddrinfo(_OWN_NAME, runtime.port, proto=socket.IPPROTO_TCP)}
    except OSError:
        return authority(runtime)
    return f"{_OWN_NAME}:{runtime.port}" if runtime.host in found else authority(runtime)
