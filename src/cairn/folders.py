"""Where this user's own files are, by the conventions of the system: settings, and state."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from cairn.errors import ConfigError


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


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError as error:  # no HOME, and a user whom the system has no record of
        raise ConfigError("your home folder is not known", "set HOME, or XDG_CONFIG_HOME and XDG_STATE_HOME") from error
