"""Where this user's own files are, by the conventions of the system, and whether a folder can be relied on."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from shlex import quote

from cairn.errors import ConfigError, UnsafeStateError


def settings_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder with the user's settings."""
    folder = environment.get("XDG_CONFIG_HOME", "")
    absolute = os.path.isabs(folder)  # others are to be ignored: https://specifications.freedesktop.org/basedir-spec/
    return (Path(folder) if absolute else _home() / ".config") / "cairn"


def state_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder with what is known of the user and the user's projects: the daemon's files, consents."""
    folder = environment.get("XDG_STATE_HOME", "")
    if os.path.isabs(folder):  # as above
        return Path(folder) / "cairn"
    if sys.platform == "darwin":
        return _home() / "Library" / "Application Support" / "cairn"
    if sys.platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or _home()) / "cairn"
    return _home() / ".local" / "state" / "cairn"


def check_private(folder: Path, *, follow: bool = True) -> None:
    """Make sure, as ssh does of its own, that a folder is this user's and nobody else can write it.

    Args:
        folder: which has to be there.
        follow: a link to such a folder will do: the user made it.

    Raises:
        UnsafeStateError: if it is not.
        OSError: if it cannot be looked at.
    """
    if sys.platform == "win32":
        return
    facts = os.stat(folder, follow_symlinks=follow)
    if not stat.S_ISDIR(facts.st_mode):
        raise UnsafeStateError(f"{folder} is no folder", f"move or remove {folder}")
    if facts.st_uid != os.geteuid():
        raise UnsafeStateError(
            f"{folder} belongs to another user", f"sudo chown -R $(id -u) {quote(str(folder))}, or set XDG_STATE_HOME"
        )
    if facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise UnsafeStateError(f"other users can write {folder}", f"chmod go-w {quote(str(folder))}")


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError as error:  # no HOME, and a user whom the system has no record of
        raise ConfigError("your home folder is not known", "set HOME, or XDG_CONFIG_HOME and XDG_STATE_HOME") from error
