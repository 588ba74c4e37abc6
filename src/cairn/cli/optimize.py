"""`cairn optimize`."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

from cairn.cli.memories import answer_memory
from cairn.cli.notes import note, printable
from cairn.cli.outcomes import EXIT_FOUND, EXIT_NONE
from cairn.cli.render import ProgressBar, Style, emit, emit_json
from cairn.loading import load
from cairn.operations import perform
from cairn.protocol.memory_table import MEMORY_OPERATIONS
from cairn.schema import decode
from cairn.source.text import pluralize
from cairn.workspace import Workspace

Document = dict[str, Any]  # an answer, as JSON in docs/http-api.md


def run_run(options: argparse.Namespace) -> int:
    """Tune the project; 1 if nothing passed."""
    fields = {
        "seed": options.seed,
        "seconds": options.seconds,
        "text_calls": options.text_calls,
        "apply": not options.propose,
    }
    # Here and not in the daemon, so that progress is shown and Ctrl-C ends it.
    with Workspace.containing(options.project, state_dir=options.state_dir) as workspace:
        request = decode(MEMORY_OPERATIONS["optimize/run"].request, fields)
        workspace.tuning.tools = load("cairn.mcp.tools:descriptions")()
        with closing(ProgressBar("Asking")) as bar:
            version: Document = perform(workspace, "optimize/run", request, bar)
    passed = version["status"] != "refused"
    if options.json:
        emit_json(version)
    else:
        emit_version(version, Style(sys.stdout))
    return EXIT_FOUND if passed else EXIT_NONE


def run_status(options: argparse.Namespace) -> int:
    """Show what is used, and what there is to learn from."""
    status: Document = answer_memory(options, "optimize/status", {})
    if options.json:
        emit_json(status)
        return EXIT_FOUND
    used = f"version {status['active']} of {status['versions']}" if status["active"] else "the shipped values"
    emit(f"used: {used}")
    examples = status["examples"]
    commits, questions = pluralize(examples["history"], "commit"), pluralize(examples["feedback"], "question")
    few = f"; {status['needed']} are needed" if sum(examples.values()) < status["needed"] else ""
    emit(f"to learn from: {commits}, {questions} of sessions{few}")
    if status["trial"]["state"] == "running":
        emit(f"on trial: {_trial(status['trial'])}")
    for line in status["notes"][:3]:
        emit(printable(line))
    if status["problem"]:
        note(printable(f"The tuning that is there is not used: {status['problem']}."))
    return EXIT_FOUND


def run_check(options: argparse.Namespace) -> int:
    """Judge the version that is on trial; 1 if none is."""
    # Here and not in the daemon, which has this run while nobody asks.
    with Workspace.containing(options.project, state_dir=options.state_dir) as workspace:
        request = decode(MEMORY_OPERATIONS["optimize/check"].request, {})
        trial: Document = perform(workspace, "optimize/check", request, None)
    is_there = trial["state"] != "none"
    if options.json:
        emit_json(trial)
    elif not is_there:
        note("No version is on trial.")
    elif trial["state"] == "running":
        emit(f"on trial: {_trial(trial)}")
    else:
        emit(printable(f"version {trial['version']} {trial['note']}"))
    return EXIT_FOUND if is_there else EXIT_NONE


def run_apply(options: argparse.Namespace) -> int:
    """Use a version."""
    version: Document = answer_memory(options, "optimize/apply", {"version": options.version})
    emit_json(version) if options.json else emit(f"version {version['number']} is used now")
    return EXIT_FOUND


def run_rollback(options: argparse.Namespace) -> int:
    """Use the version before."""
    document: Document = answer_memory(options, "optimize/rollback", {})
    used = f"version {document['active']}" if document["active"] else "the shipped values"
    emit_json(document) if options.json else emit(f"{used} {'is' if document['active'] else 'are'} used again")
    return EXIT_FOUND


def run_history(options: argparse.Namespace) -> int:
    """List the versions, the newest first; 1 if there is none."""
    document: Document = answer_memory(options, "optimize/history", {})
    if options.json:
        emit_json(document)
    else:
        for version in document["versions"]:
            emit_version(version, Style(sys.stdout))
        if not document["versions"]:
            note("No version was made yet. See: cairn optimize run")
    return EXIT_FOUND if document["versions"] else EXIT_NONE


def run_diff(options: argparse.Namespace) -> int:
    """Show what differs between two versions; 1 if nothing does."""
    document: Document = answer_memory(options, "optimize/diff", {"before": options.before, "after": options.after})
    if options.json:
        emit_json(document)
    else:
        for row in document["differences"]:
            before, after = (_shown(row[side]) for side in ("before", "after"))
            emit(printable(f"{row['field']}: {before} -> {after}"))
    return EXIT_FOUND if document["differences"] else EXIT_NONE


def emit_version(version: Document, style: Style) -> None:
    """Print a version with its evidence."""
    made = datetime.fromtimestamp(version["created"], UTC)
    emit(f"{style.name('version ' + str(version['number']))}  {made:%Y-%m-%d %H:%M}  {version['status']}")
    report = version["report"]
    counts = report.get("examples", {})
    emit(f"  learned from {counts.get('fitted', 0):,} questions, tested on {counts.get('held', 0):,} others")
    if gain := report.get("gain"):
        before, after = report["before"]["ndcg"], report["after"]["ndcg"]
        interval = f"95 % of the difference from {gain['low']:+.3f} to {gain['high']:+.3f}"
        emit(f"  NDCG@10 {before:.3f} -> {after:.3f}  {style.faint(interval)}")
    if answers := report.get("answers"):
        emit(f"  {answers['better']:,} answers are better, {answers['worse']:,} worse")
    for line in (*_parts(report.get("bars", {}), "bar of "), *_parts(report.get("text", {}))):
        emit(f"  {printable(line)}")
    if says := report.get("guard", {}).get("note"):
        emit(f"  {printable(says)}")
    for reason in report.get("reasons", []):
        emit(f"  not used: {printable(reason)}")


def _parts(report: Document, prefix: str = "") -> list[str]:
    """Return what became of bars or of texts."""
    if reason := report.get("skipped"):
        return [f"texts are as they were: {reason}"]
    lines = []
    for name, one in report.items():
        if isinstance(one, dict):
            means = f"{one['before']:.3f} -> {one['after']:.3f}" if "before" in one else ""
            lines.append(
                f"{prefix}{name}: {'better, ' + means if one['passed'] else 'as before: ' + '; '.join(one['reasons'])}"
            )
    return lines


def _trial(trial: Document) -> str:
    before = f"version {trial['before']}" if trial["before"] else "the shipped values"
    asked = trial.get("gain", {}).get("questions", 0)
    return f"version {trial['version']} against {before}, with {asked:,} questions whose files are known so far"


def _shown(value: Any) -> str:  # noqa: ANN401 - JSON
    return "shipped" if value is None else json.dumps(value, ensure_ascii=False)
