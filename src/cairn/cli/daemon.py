"""`cairn daemon start`, `stop`, `status`, `ensure` and `logs`."""

from __future__ import annotations

import argparse
import json
from typing import Any

from cairn.cli.notes import note, printable
from cairn.cli.outcomes import EXIT_FOUND, EXIT_NONE
from cairn.cli.render import emit, emit_json
from cairn.client import ensure, find_daemon, stop
from cairn.errors import DaemonError, error_from
from cairn.hints import Hint
from cairn.hooks.plain_files import LOG as HOOK_LOG
from cairn.runtime import Runtime, StateFolder
from cairn.transport import ask, authority

_STATUS_SECONDS = 5.0


def run_start(options: argparse.Namespace) -> int:
    """Start the daemon unless it is running."""
    return run_ensure(options)


def run_ensure(options: argparse.Namespace) -> int:
    """Start the daemon unless it is running; return as soon as it answers."""
    return _show_runtime(ensure(StateFolder.of_user()), as_json=options.json)


def _show_runtime(runtime: Runtime, *, as_json: bool) -> int:
    if as_json:
        emit_json({"running": True, "pid": runtime.pid, "url": _url(runtime), "version": runtime.version})
    else:
        emit(f"The daemon answers at {_url(runtime)} (process {runtime.pid}).")
    return EXIT_FOUND


def _url(runtime: Runtime) -> str:
    return f"http://{authority(runtime)}"


def run_stop(options: argparse.Namespace) -> int:
    """Stop the daemon and wait until it has."""
    stopped = stop(StateFolder.of_user())
    if options.json:
        emit_json({"stopped": stopped})
    elif stopped:
        emit("The daemon has stopped.")
    else:
        note("No daemon is running.")
    return EXIT_FOUND if stopped else EXIT_NONE


def run_status(options: argparse.Namespace) -> int:
    """Show what the daemon is doing."""
    folder = StateFolder.of_user()
    runtime = find_daemon(folder)
    if runtime is None:
        if options.json:
            emit_json({"running": False})
        else:
            note("No daemon is running; start it with: cairn daemon start")
        return EXIT_NONE
    status = _status_of(runtime, folder.read_token())
    if options.json:
        emit_json({"running": True, "pid": runtime.pid, "url": _url(runtime), **status})
        return EXIT_FOUND
    usage = status["usage"]
    emit(f"daemon      {_url(runtime)}, process {runtime.pid}, version {status['version']}")
    emit(
        f"up          {status['uptime_seconds']:,.0f} s, {status['requests']:,} requests, {status['sessions']} sessions"
    )
    emit(f"memory      {usage['memory_mb']:.0f} of {usage['memory_limit_mb']} MB")
    emit(f"threads     {usage['threads']} of {usage['thread_limit']}")
    emit(f"token       {printable(str(folder.token))}")
    for project in status["open"]:
        emit(f"  {printable(project['name'])}  {printable(project['root'])}")
    return EXIT_FOUND


def _status_of(runtime: Runtime, token: str) -> dict[str, Any]:
    try:
        reply = ask(runtime, token, "GET", "/api/status", timeout_seconds=_STATUS_SECONDS)
        document: dict[str, Any] = json.loads(reply.body)
    except (DaemonError, ValueError) as error:
        raise DaemonError(
            f"the daemon (process {runtime.pid}) does not answer: {error}", Hint.of("daemon stop")
        ) from error
    if reply.status >= 400:  # such as for the token of another daemon
        raise error_from(document["code"], document["message"], Hint.of("daemon stop"))
    return document


def run_logs(options: argparse.Namespace) -> int:
    """Print the end of the daemon's log."""
    folder = StateFolder.of_user()
    lines = folder.end_of_log(options.lines)
    if options.json:
        emit_json({"file": str(folder.log), "lines": lines})
    else:
        for line in lines:
            emit(printable(line))
    if not lines:
        note("There is no log: no daemon has run yet.")
    if (hooks := folder.path / HOOK_LOG).exists():
        note(f"The log of the hook program is {hooks}")
    return EXIT_FOUND if lines else EXIT_NONE
