"""Where `cairn init` installs Cairn, and with which command."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from cairn.errors import ConfigError
from cairn.hooks.adapter import Level, Place


def home_folder() -> Path | None:
    """Return the user's home folder, None if unknown."""
    try:
        home = Path.home()
    except RuntimeError:  # no HOME, and no entry for the user in the system's database
        return None
    return home if home.is_absolute() and os.environ.get("HOME") != "" else None


def place_of(root: Path, level: Level, environment: Mapping[str, str] = os.environ) -> Place:
    """Return where Cairn is installed for agents.

    A project's files may be committed, so they only name the program. The user's own files have its path, because GUI
    programs are often started with a short PATH.

    Raises:
        ConfigError: if the user's own files are meant and their home folder is unknown.
    """
    home = home_folder()
    if level == "project":
        return Place(level, root, home or Path(os.sep), environment)
    if home is None:
        raise ConfigError("your home folder is unknown", "set HOME")
    return Place(level, root, home, environment, absolute_command(environment))


def absolute_command(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the command that starts Cairn from anywhere."""
    started = os.path.abspath(sys.argv[0]) if os.path.basename(sys.argv[0]) == "cairn" else ""
    for program in (shutil.which("cairn", path=environment.get("PATH", "")), started):
        if program and os.access(program, os.X_OK):
            return (os.path.abspath(program),)
    return (sys.executable, "-P", "-m", "cairn")
