"""`cairn eval`."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from cairn.cli.outcomes import EXIT_FOUND
from cairn.cli.render import ProgressBar, emit, emit_json
from cairn.errors import PathError, RequestError
from cairn.hints import Hint
from cairn.memory.identity import without_halves
from cairn.operations import perform
from cairn.operations.tuning import scores_document
from cairn.optimize.evaluate import FoundPlace, compare_scores, parse_questions, parse_results, score_all
from cairn.protocol.memory_table import MEMORY_OPERATIONS
from cairn.schema import decode
from cairn.workspace import Workspace

Document = dict[str, Any]  # scores, as JSON in docs/http-api.md
_COMMAND_SECONDS = 60.0
_MOST_BYTES = 5_000_000
_LINES_HINT = Hint("name a file in JSON Lines, as explained by: cairn eval run --help")
_SCORES_HINT = Hint("name two files with what this printed: cairn eval run QUESTIONS --json")
_NAMES = {"ndcg": "NDCG@10", "file_match": "a right file among 5", "function_match": "symbols among 10 results"}


def run_run(options: argparse.Namespace) -> int:
    """Score the questions of a file: with this project's answers, a program, or what another tool found."""
    text = _read(options.questions, _LINES_HINT)
    if not options.command and options.results is None:
        return _show(_perform(options, "eval/run", {"questions": text}), options)
    questions = parse_questions(text)
    if options.results is not None:
        results = parse_results(_read(options.results, _LINES_HINT))
        return _show({**scores_document(score_all(questions, lambda query: results.get(query, [])))}, options)
    command = _split(options.command)
    with Workspace.containing(options.project, state_dir=options.state_dir) as workspace:
        root = workspace.root

    def find(query: str) -> list[FoundPlace]:
        return [FoundPlace(path) for path in _paths_printed(command, query, root)]

    return _show({**scores_document(score_all(questions, find))}, options)


def run_compare(options: argparse.Namespace) -> int:
    """Compare two scores question by question."""
    compared = compare_scores(*(_scores_in(file) for file in (options.before, options.after)))
    if options.json:
        emit_json(
            {
                name: {"before": before, "after": after, "difference": difference._asdict()}
                for name, (before, after, difference) in compared.items()
            }
        )
        return EXIT_FOUND
    for name, (before, after, difference) in compared.items():
        interval = f"95 % of the difference from {difference.low:+.3f} to {difference.high:+.3f}"
        emit(f"{_NAMES[name]}: {before:.3f} -> {after:.3f}, {interval} ({difference.questions:,} questions)")
    return EXIT_FOUND


def run_history(options: argparse.Namespace) -> int:
    """Score the subjects of the newest commits."""
    return _show(_perform(options, "eval/history", {"limit": options.limit}), options)


def _perform(options: argparse.Namespace, operation: str, fields: Document) -> Document:
    """Ask in this process, so that progress is shown and Ctrl-C ends it."""
    with Workspace.containing(options.project, state_dir=options.state_dir) as workspace:
        request = decode(MEMORY_OPERATIONS[operation].request, fields)
        with closing(ProgressBar("Asking")) as bar:
            document: Document = perform(workspace, operation, request, bar)
    return document


def _show(document: Document, options: argparse.Namespace) -> int:
    if options.json:
        emit_json(document)
    else:
        for name, value in document["metrics"].items():
            interval = f"95 % from {value['low']:.3f} to {value['high']:.3f}"
            emit(f"{_NAMES[name]}: {value['mean']:.3f}, {interval} ({value['questions']:,} questions)")
    return EXIT_FOUND


def _split(command: str) -> list[str]:
    try:
        parts = shlex.split(command)
    except ValueError as error:
        raise RequestError(f"the command cannot be read: {error}", Hint("quote it as a shell would")) from error
    if not any("{query}" in part for part in parts[1:]):
        raise RequestError("the command has no argument with {query}", Hint("as in: rg -l {query}"))
    return parts


def _paths_printed(command: Sequence[str], query: str, root: Path) -> list[str]:
    """Return the paths that a program prints, one a line, with or without `:LINE` behind, below the project."""
    passed = without_halves(query).replace("\0", " ")  # no program can be handed anything else
    arguments = [part.replace("{query}", passed) for part in command]
    try:
        done = subprocess.run(
            arguments, cwd=root, stdin=subprocess.DEVNULL, capture_output=True, timeout=_COMMAND_SECONDS, check=False
        )
    except OSError as error:
        raise PathError(
            f"{command[0]} cannot be run: {error.strerror}", Hint("name a program that is there")
        ) from error
    except subprocess.TimeoutExpired:
        return []
    paths = []
    for line in os.fsdecode(done.stdout[:_MOST_BYTES]).splitlines():
        path = line.strip()
        if path and not os.path.exists(root / path):
            path = path.partition(":")[0]
        if path:
            paths.append(os.path.relpath(path, root) if os.path.isabs(path) else path)
    return paths


def _read(file: str, hint: Hint) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise PathError(f"{file} cannot be read: {why}", hint) from error


def _scores_in(file: str) -> list[Document]:
    try:
        return list(json.loads(_read(file, _SCORES_HINT))["scores"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise RequestError(f"{file} holds no scores", _SCORES_HINT) from error
