"""Where this user's own files are, by the conventions of the system, and whether a folder is safe to use."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from shlex import quote

from cairn.errors import ConfigError, StoreError, UnsafeStateError, resource_error


def settings_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder with the user's settings."""
    folder = environment.get("XDG_CONFIG_HOME", "")
    absolute = os.path.isabs(
        folder
    )  # relative paths are to be ignored: https://specifications.freedesktop.org/basedir-spec/
    return (Path(folder) if absolute else _home() / ".config") / "cairn"


def state_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder with the state of the user's projects: the daemon's files, the list of projects, consents."""
    folder = environment.get("XDG_STATE_HOME", "")
    if os.path.isabs(folder):  # as above
        return Path(folder) / "cairn"
    if sys.platform == "darwin":
        return _home() / "Library" / "Application Support" / "cairn"
    if sys.platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or _home()) / "cairn"
    return _home() / ".local" / "state" / "cairn"


def check_private(folder: Path, *, follow: bool = True) -> None:
    """Make sure that a folder belongs to this user and nobody else can write it, as ssh does for its own.

    Args:
        folder: an existing folder.
        follow: accept a link to such a folder, since the user made it.

    Raises:
        UnsafeStateError: if it does not.
        OSError: if it cannot be inspected.
    """
    if sys.platform == "win32":
        return
    facts = os.stat(folder, follow_symlinks=follow)
    if not stat.S_ISDIR(facts.st_mode):
        raise UnsafeStateError(f"{folder} is not a directory", f"move or remove {folder}")
    if facts.st_uid != os.geteuid():
        raise UnsafeStateError(
            f"{folder} belongs to another user", f"sudo chown -R $(id -u) {quote(str(folder))}, or set XDG_STATE_HOME"
        )
    if facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise UnsafeStateError(f"other users can write {folder}", f"chmod go-w {quote(str(folder))}")


def unwritable(file: Path, error: OSError) -> StoreError:
    """Return what is said when one of the user's own files cannot be written: that a full disk is full, for one."""
    shortage = resource_error(error)
    hint = shortage.hint if shortage is not None else "make it writable, or set XDG_STATE_HOME"
    return StoreError(f"cannot write {file}: {error.strerror}", hint)


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError as error:  # no HOME, and no entry for the user in the system's database
        raise ConfigError("your home folder is unknown", "set HOME, or XDG_CONFIG_HOME and XDG_STATE_HOME") from error
