"""`cairn fresh`: a session that is shown nothing of earlier ones."""

from __future__ import annotations

import argparse
import shlex
import time

from cairn.cli.outcomes import EXIT_FOUND
from cairn.cli.render import emit, emit_json
from cairn.memory.actors import find_actor
from cairn.memory.fresh import drop_wish, wish_fresh
from cairn.workspace import Workspace


def run_fresh(options: argparse.Namespace) -> int:
    """Let this session, if an agent runs the command, or else the next one be fresh; or like any other again."""
    session = options.session or find_actor().session
    with Workspace.containing(options.project, state_dir=options.state_dir) as workspace:
        memory = workspace.memory
        if session:
            memory.sessions.freshen(session, is_fresh=not options.undo)
        elif options.undo:
            drop_wish(memory.store)
        else:
            wish_fresh(memory.store, time.time())
    if options.json:
        emit_json({"session": session, "fresh": not options.undo})
    else:
        emit(_outcome(session, undo=options.undo, option=options.session))
    return EXIT_FOUND


def _outcome(session: str, *, undo: bool, option: str) -> str:
    which = "This session" if session else "The next session in this project"
    if undo:
        return f"{which} is shown what earlier ones learned."
    command = shlex.join(["cairn", "fresh", "--undo", *(["--session", option] if option else [])])
    return f"{which} is a fresh one: it is shown nothing of earlier ones. To undo: {command}"
