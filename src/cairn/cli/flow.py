"""`cairn flow` and `cairn slice`."""

from __future__ import annotations

import argparse
import re
import sys

from cairn.cli.notes import note, printable
from cairn.cli.outcomes import EXIT_FOUND
from cairn.cli.render import Style, emit, emit_json, file_of
from cairn.cli.structure import printable_lines
from cairn.errors import QueryError
from cairn.operations.flow import parse_function_place
from cairn.protocol.documents import flow_to_dict, slice_to_dict
from cairn.structure.flow import flow_lines, mermaid
from cairn.workspace import Workspace


def run_flow(options: argparse.Namespace) -> int:
    """Print how control and data flow in a function."""
    file, function = parse_function_place(options.target)
    with Workspace.containing(options.project, state_dir=options.state_dir) as workspace:
        graph = workspace.code.flow(file_of(options.project, file), function)
    if options.json:
        emit_json(flow_to_dict(graph))
    elif options.mermaid:
        emit(printable_lines(mermaid(graph, data=options.dfg)))
    else:
        emit(printable_lines("\n".join(flow_lines(graph, control=not options.dfg, data=not options.cfg))))
    return EXIT_FOUND


def run_slice(options: argparse.Namespace) -> int:
    """Print the lines that a line depends on, or that depend on it."""
    match = re.fullmatch(r"(.+?):(\d{1,18})(?::([^:]+))?", options.target)
    if match is None:
        raise QueryError(f"{options.target!r} does not name a line", "cairn slice FILE:LINE[:VAR]")

    file, line, variable = match[1], int(match[2]), match[3] or ""
    with Workspace.containing(options.project, state_dir=options.state_dir) as workspace:
        program_slice = workspace.code.slice(file_of(options.project, file), line, variable, forward=options.forward)
    if options.json:
        emit_json(slice_to_dict(program_slice))
        return EXIT_FOUND
    style = Style(sys.stdout)
    emit(f"{style.path(printable(program_slice.path))}  {style.name(printable(program_slice.function))}")
    width = len(str(program_slice.lines[-1][0]))
    for number, text in program_slice.lines:
        mark = ">" if number == program_slice.line else " "
        emit(f"{mark}{number:>{width}}  {printable(text)}")
    for text in program_slice.notes:
        note(printable(f"{text[:1].upper()}{text[1:]}."))
    return EXIT_FOUND
