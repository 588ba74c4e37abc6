"""`cairn gc` and `cairn doctor`."""

from __future__ import annotations

import argparse
import sys

from cairn.cli.notes import note, printable
from cairn.cli.outcomes import EXIT_FOUND, EXIT_STORE, EXIT_USAGE
from cairn.cli.render import emit, emit_json
from cairn.cli.stdin import ask_whether, is_anybody_here
from cairn.index.health import Finding
from cairn.install.doctor import examine_all, is_healthy
from cairn.runtime import StateFolder
from cairn.source.text import pluralize
from cairn.storage.memory.schema import MEMORY
from cairn.workspace import Workspace

_REPAIRS = {
    "move": "move it aside",
    "allow": "make it readable for you again",
    "rebuild": "move the database aside, keep it, and index from scratch",
    "redo": "index those files again",
    "tidy": "delete them",
    "refold": "rebuild them from their events",
    "redate": "date them anew, in their order",
    "reshare": "write the files again; then commit them",
}


def run_gc(options: argparse.Namespace) -> int:
    """Drop what no branch or worktree contains any more, and report it."""
    with Workspace.containing(options.project, state_dir=options.state_dir) as workspace:
        report = workspace.upkeep.collect(dry_run=options.dry_run)
        days = workspace.settings.garbage_days
    if options.json:
        emit_json(report._asdict())
        return EXIT_FOUND
    verb = "Would drop" if options.dry_run else "Dropped"
    about = "about " if options.dry_run else ""
    emit(
        f"{verb} {pluralize(len(report.views), 'view')} and {pluralize(report.blobs, 'file content')} "
        f"({pluralize(report.chunks, 'chunk')}); "
        f"{about}{report.freed_bytes / 1e6:.1f} MB freed."
    )
    for name in report.views:
        emit(f"  {printable(name)}")
    if report.waiting:
        emit(
            f"{pluralize(report.waiting, 'more content is', 'more contents are')} in no view, "
            f"but not for {pluralize(1, 'day') if days == 1 else f'{days:g} days'} yet."
        )
    return EXIT_FOUND


def run_doctor(options: argparse.Namespace) -> int:
    """Examine everything, repair what the user allows, and report."""
    if options.adopt_memory:
        return _adopt_memory(options)
    if options.salvage_memory:
        return _salvage_memory(options)
    with Workspace.containing(options.project, state_dir=options.state_dir) as workspace:
        rebuilt = [_rebuild_memory(workspace)] if options.rebuild_memory else []
        state = StateFolder.of_user().path
        findings = examine_all(workspace, state, fix=options.fix)
        if not options.fix and not options.json and _consents(findings):
            findings = examine_all(workspace, state, fix=True)
    findings = [*rebuilt, *findings]
    healthy = is_healthy(findings)
    if options.json:
        emit_json({"healthy": healthy, "findings": [finding._asdict() for finding in findings]})
    else:
        for finding in findings:
            _emit(finding)
    return EXIT_FOUND if healthy else EXIT_STORE


def _rebuild_memory(workspace: Workspace) -> Finding:
    rebuilt = workspace.memory.rebuild()
    number = f"{rebuilt.mended:,} of them {'was' if rebuilt.mended == 1 else 'were'}"
    mended = f"; {number} not what the events say" if rebuilt.mended else ""
    message = f"what recall searches was rebuilt from {pluralize(rebuilt.memories, 'memory', 'memories')}{mended}"
    return Finding("memory", "warning" if rebuilt.mended else "ok", message, fixed=bool(rebuilt.mended))


def _adopt_memory(options: argparse.Namespace) -> int:
    """Take over a memory that was made elsewhere, if the user confirms it."""
    with Workspace.containing(options.project, state_dir=options.state_dir) as workspace:
        file = workspace.state.path / MEMORY.file_name
        question = f"Take over {file}? Agents will be shown what it says, so do so only if it is yours."
        if not _is_confirmed(options, question, "--adopt-memory"):
            return EXIT_USAGE
        n_memories = workspace.upkeep.adopt_memory()
    if options.json:
        emit_json({"adopted": n_memories >= 0, "memories": max(n_memories, 0)})
    elif n_memories < 0:
        emit(f"{printable(str(file))} was made here: there is nothing to take over.")
    else:
        emit(f"Took over {pluralize(n_memories, 'memory', 'memories')}.")
    return EXIT_FOUND


def _salvage_memory(options: argparse.Namespace) -> int:
    """Save what can be read of a damaged memory, if the user confirms it."""
    with Workspace.containing(options.project, state_dir=options.state_dir) as workspace:
        file = workspace.state.path / MEMORY.file_name
        question = f"Make a new {file} of what can be read? The damaged file is kept under another name."
        if not _is_confirmed(options, question, "--salvage-memory"):
            return EXIT_USAGE
        done = workspace.upkeep.salvage_memory()
    if options.json:
        counts = {"events": done.n_events, "memories": done.n_memories, "lost": done.n_lost}
        emit_json({**counts, "kept": str(done.kept)})
        return EXIT_FOUND
    memories = pluralize(done.n_memories, "memory", "memories")
    lost = "some events" if done.n_lost is None else pluralize(done.n_lost, "event")
    emit(f"Saved {pluralize(done.n_events, 'event')} of {memories}; {lost} could not be read.")
    emit(f"The damaged file is kept: {printable(str(done.kept))}")
    return EXIT_FOUND


def _is_confirmed(options: argparse.Namespace, question: str, option: str) -> bool:
    """Ask the user, unless they said `--yes`; without a terminal, say how to confirm it."""
    if options.yes:
        return True
    if is_anybody_here():
        is_confirmed = bool(ask_whether(question))
    else:
        is_confirmed = False
        note(f"{question}\n  try: cairn doctor {option} --yes")
    if not is_confirmed:
        note("Nothing was changed.")
    return is_confirmed


def _consents(findings: list[Finding]) -> bool:
    """Show what is wrong and ask, on a terminal, whether to repair it."""
    repairable = [finding for finding in findings if finding.repair]
    if not repairable or not sys.stdin.isatty() or not sys.stdout.isatty():
        return False
    for finding in repairable:
        _emit(finding)
    return bool(ask_whether("Repair this?"))


def _emit(finding: Finding) -> None:
    mark = "fixed" if finding.fixed else finding.level
    emit(f"{mark:<8} {finding.check:<12} {printable(finding.message)}")
    if finding.fixed:
        return
    if finding.repair:
        emit(f"  try: cairn doctor --fix   (to {_REPAIRS[finding.repair]})")
    elif finding.hint:
        emit(f"  try: {printable(finding.hint)}")
