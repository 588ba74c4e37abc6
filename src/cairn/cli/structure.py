"""`cairn outline`, `cairn flow` and `cairn slice`."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from cairn.cli.main import EXIT_FOUND, EXIT_NONE
from cairn.cli.render import emit, emit_json, printable
from cairn.protocol import outline_to_dict
from cairn.workspace import Workspace


def run_outline(options: argparse.Namespace) -> int:
    """Print what a file defines."""
    with Workspace.containing(options.project, state_dir=options.state_dir) as workspace:
        outline = workspace.outline(
            _file_of(options.project, options.file),
            mode=options.mode,
            symbol=options.symbol,
            max_tokens=options.max_tokens,
        )
    if options.json:
        emit_json(outline_to_dict(outline))
    else:
        emit(_printable_lines(outline.text))
    return EXIT_FOUND if outline.symbols or outline.omitted else EXIT_NONE


def _file_of(project: str, file: str) -> str | Path:
    """Return the file as it is named from the folder given with -C, else from the project's root."""
    near = Path(os.path.realpath(project)) / file
    return near if near.exists() else file


def _printable_lines(text: str) -> str:
    return "\n".join(printable(line) for line in text.split("\n"))
