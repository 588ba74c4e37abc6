"""`cairn index` and `cairn status`."""

from __future__ import annotations

import argparse
from collections import Counter
from contextlib import closing
from dataclasses import asdict
from typing import Any

from cairn.cli.main import EXIT_FOUND
from cairn.cli.render import ProgressBar, emit, emit_json, printable
from cairn.types import IndexReport
from cairn.workspace import Workspace


def run_index(options: argparse.Namespace) -> int:
    """Build or update the index, and say what was done."""
    bar = ProgressBar("Indexing")
    with Workspace.containing(options.path or options.project, state_dir=options.state_dir) as workspace:
        with closing(bar):
            report = workspace.index(full=options.full, dry_run=options.dry_run, progress=bar)
        root = workspace.root
    if options.json:
        emit_json({"root": str(root), **asdict(report)})
        return EXIT_FOUND
    emit(_summary(report))
    for language, count in list(report.languages.items())[:8]:
        emit(f"  {language:<12} {count:>7,} files")
    _emit_skipped(report, every=options.skipped)
    return EXIT_FOUND


def _summary(report: IndexReport) -> str:
    if report.dry_run:
        return (
            f"Would read {report.added:,} new and {report.changed:,} changed files and drop {report.removed:,}; "
            f"{report.unchanged:,} are up to date."
        )
    changes = [
        f"{count:,} {word}"
        for count, word in (
            (report.added, "added"),
            (report.changed, "changed"),
            (report.renamed, "renamed"),
            (report.removed, "removed"),
        )
        if count
    ]
    done = ", ".join(changes) or "nothing changed"
    return f"Indexed {report.files:,} files, {report.chunks:,} chunks in {report.seconds:.2f} s ({done})."


def _emit_skipped(report: IndexReport, *, every: bool) -> None:
    if not report.skipped:
        return
    reasons = Counter(skip.reason for skip in report.skipped)
    emit(f"Skipped {len(report.skipped):,} files:")
    for reason, count in reasons.most_common():
        emit(f"  {count:>7,} {printable(reason)}")
    if every:
        for skip in report.skipped:
            emit(f"  {printable(skip.path)}: {printable(skip.reason)}")
    else:
        emit("  each one: cairn index --skipped")


def run_status(options: argparse.Namespace) -> int:
    """Show what is indexed."""
    with Workspace.containing(options.project, state_dir=options.state_dir) as workspace:
        status: dict[str, Any] = workspace.status()
    if options.json:
        emit_json(status)
        return EXIT_FOUND
    emit(f"project     {printable(status['root'])}")
    emit(f"branch      {status['branch'] or '(none)'}")
    emit(f"index       {status['files']:,} files, {status['chunks']:,} chunks, generation {status['generation']}")
    emit(f"pending     {status['pending']:,} files changed since (cairn index reads them)")
    emit(f"on disk     {status['disk_bytes'] / 1e6:.1f} MB in {printable(status['state_dir'])}")
    emit(f"model       {status['model']}")
    for language, count in status["languages"].items():
        emit(f"  {language:<12} {count:>7,} files")
    emit(f"skipped     {len(status['skipped']):,} files (each one: cairn index --skipped)")
    return EXIT_FOUND
