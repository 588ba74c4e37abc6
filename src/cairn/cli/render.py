"""How results look: plain and stable when piped, coloured on a terminal, JSON with --json."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO

from cairn.cli.color import takes_color

_RESET, _BOLD, _DIM, _CYAN, _YELLOW = "\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[36m", "\x1b[33m"


class Style:
    """Adds colour where the stream takes it, see `cairn.cli.color`."""

    def __init__(self, stream: TextIO) -> None:
        self.on = takes_color(stream)

    def path(self, text: str) -> str:
        """Colour a place in a file."""
        return self._wrap(_CYAN, text)

    def name(self, text: str) -> str:
        """Make the name of a definition stand out."""
        return self._wrap(_BOLD, text)

    def faint(self, text: str) -> str:
        """Dim what matters less."""
        return self._wrap(_DIM, text)

    def mark(self, text: str, words: Sequence[str]) -> str:
        """Highlight the words of the query in a line of code."""
        if not self.on or not words:
            return text
        pattern = "|".join(sorted(map(re.escape, words), key=len, reverse=True))
        return re.sub(pattern, lambda match: f"{_YELLOW}{match[0]}{_RESET}", text, flags=re.IGNORECASE)

    def _wrap(self, code: str, text: str) -> str:
        return f"{code}{text}{_RESET}" if self.on else text


def emit(text: str) -> None:
    """Print a line of the result."""
    sys.stdout.write(text + "\n")


def emit_json(document: Mapping[str, object] | Sequence[object]) -> None:
    """Print the one JSON document of a command. Bytes of paths that are not UTF-8 stay lone surrogates, escaped."""
    sys.stdout.write(json.dumps(document, ensure_ascii=True) + "\n")


def file_of(project: str, file: str) -> str | Path:
    """Return a file relative to the folder given with -C if it exists there, else relative to the project's root."""
    near = Path(os.path.realpath(project)) / file
    return near if os.path.exists(near) else file


class ProgressBar:
    """A bar on stderr that appears only on a terminal, and only if the work takes a while."""

    _DELAY_SECONDS = 0.3
    _REFRESH_SECONDS = 0.1
    _WIDTH = 30
    _COLUMNS = 80

    def __init__(self, label: str, stream: TextIO | None = None, unit: str = "files") -> None:
        self._label = label
        self._unit = unit
        self._stream = stream or sys.stderr
        self._started = self._drawn = time.monotonic()
        self._shown = False

    def __call__(self, done: int, total: int) -> None:
        """Show the progress."""
        now = time.monotonic()
        finished = done >= total
        if not self._stream.isatty() or now - self._started < self._DELAY_SECONDS:
            return
        if not finished and self._shown and now - self._drawn < self._REFRESH_SECONDS:
            return
        self._drawn, self._shown = now, True
        self._stream.write(f"\r{self._line(done, total)}")
        self._stream.flush()

    def _line(self, done: int, total: int) -> str:
        """Return the bar with its words, on one line of the terminal: on the next one, it could not be drawn over."""
        columns = self._columns() - 1
        words = f"{done:,}/{total:,} {self._unit}"
        width = min(self._WIDTH, columns - len(f"{self._label}  {words}"))
        if width < 1:
            return f"{self._label} {words}"[:columns]
        filled = width * done // max(1, total)
        return f"{self._label} {'█' * filled}{'░' * (width - filled)} {words}"

    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or self._COLUMNS
        except (OSError, ValueError):  # no terminal that tells
            return self._COLUMNS

    def close(self) -> None:
        """Remove the bar."""
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
