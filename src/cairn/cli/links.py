"""Links in the output of a terminal (OSC 8), for terminals that are known to open them: others show them as rubbish."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Mapping
from urllib.parse import quote

_PROGRAMS = ("iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "Tabby", "rio")  # TERM_PROGRAM
_TERMINALS = re.compile(r"(xterm-kitty|xterm-ghostty|alacritty|foot|contour|wezterm)\b")  # TERM
_LEAST_VTE = 5000  # the version of GNOME's terminals that has them


def opens_links(environment: Mapping[str, str] = os.environ) -> bool:
    """Tell whether the terminal of an environment opens links. tmux and screen may drop them."""
    terminal = environment.get("TERM", "")
    if terminal.startswith(("screen", "tmux")) or "TMUX" in environment or "STY" in environment:
        return False
    version = environment.get("VTE_VERSION", "")
    return (
        _TERMINALS.match(terminal) is not None
        or environment.get("TERM_PROGRAM") in _PROGRAMS
        or "WT_SESSION" in environment
        or "KONSOLE_VERSION" in environment
        or (version.isdecimal() and int(version) >= _LEAST_VTE)
    )


def link(text: str, file: str) -> str:
    """Return a text that opens a file, given by its whole path."""
    url = f"file://{quote(socket.gethostname())}{quote(os.fsencode(file))}"
    return f"\x1b]8;;{url}\x1b\\{text}\x1b]8;;\x1b\\"


def link_to(text: str, root: str, path: str) -> str:
    """Return a text that opens a file of a project where the terminal opens links; else the text alone.

    Args:
        text: to show.
        root: the folder of the project; of a branch that is not checked out, its name.
        path: of the file, relative to the root.
    """
    return link(text, os.path.join(root, path)) if os.path.isabs(root) and opens_links() else text
