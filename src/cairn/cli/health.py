"""`cairn gc` and `cairn doctor`."""

from __future__ import annotations

import argparse
import sys

from cairn.cli.notes import note, printable
from cairn.cli.outcomes import EXIT_FOUND, EXIT_STORE
from cairn.cli.render import emit, emit_json
from cairn.index.health import Finding
from cairn.source.text import counted
from cairn.workspace import Workspace

_MENDS = {
    "move": "move it aside",
    "allow": "let you read it again",
    "rebuild": "move the database aside, keep it, and index from scratch",
    "redo": "read those files of the project again",
    "tidy": "delete them",
}


def run_gc(options: argparse.Namespace) -> int:
    """Drop what no branch and no worktree shows any more, and say what went."""
    with Workspace.containing(options.project, state_dir=options.state_dir) as workspace:
        report = workspace.upkeep.collect(dry_run=options.dry_run)
        days = workspace.settings.garbage_days
    if options.json:
        emit_json(report._asdict())
        return EXIT_FOUND
    verb = "Would drop" if options.dry_run else "Dropped"
    about = "about " if options.dry_run else ""
    emit(
        f"{verb} {counted(len(report.views), 'view')} and {counted(report.blobs, 'file content')} "
        f"({counted(report.chunks, 'chunk')}); "
        f"{about}{report.freed_bytes / 1e6:.1f} MB freed."
    )
    for name in report.views:
        emit(f"  {printable(name)}")
    if report.waiting:
        emit(
            f"{counted(report.waiting, 'more content is', 'more contents are')} in no view, "
            f"but not for {counted(1, 'day') if days == 1 else f'{days:g} days'} yet."
        )
    return EXIT_FOUND


def run_doctor(options: argparse.Namespace) -> int:
    """Examine everything, mend what may be mended, and say how it is."""
    with Workspace.containing(options.project, state_dir=options.state_dir) as workspace:
        findings = workspace.upkeep.doctor(fix=options.fix)
        if not options.fix and not options.json and _consents(findings):
            findings = workspace.upkeep.doctor(fix=True)
    failed = any(one.level == "error" and not one.fixed for one in findings)
    if options.json:
        emit_json({"healthy": not failed, "findings": [one._asdict() for one in findings]})
    else:
        for one in findings:
            _emit(one)
    return EXIT_STORE if failed else EXIT_FOUND


def _consents(findings: list[Finding]) -> bool:
    """Show what is wrong and ask, on a terminal, whether to mend it."""
    wrong = [one for one in findings if one.repair]
    if not wrong or not sys.stdin.isatty() or not sys.stdout.isatty():
        return False
    for one in wrong:
        _emit(one)
    note("Mend this? [y/N] ")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _emit(one: Finding) -> None:
    mark = "fixed" if one.fixed else one.level
    emit(f"{mark:<8} {one.check:<12} {printable(one.message)}")
    if one.fixed:
        return
    if one.repair:
        emit(f"  try: cairn doctor --fix   (to {_MENDS[one.repair]})")
    elif one.hint:
        emit(f"  try: {printable(one.hint)}")
