"""`cairn index` and `cairn status`."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from cairn.cli.consent import open_with_consent
from cairn.cli.memory_rows import cost_of
from cairn.cli.notes import note, printable
from cairn.cli.outcomes import EXIT_FOUND, EXIT_USAGE
from cairn.cli.project import allow
from cairn.cli.render import ProgressBar, emit, emit_json
from cairn.errors import CairnError, ConfigError, IndexLockedError, NotAvailableError
from cairn.history.following import HistoryThread
from cairn.hooks.errors import with_errors
from cairn.runtime import StateFolder
from cairn.source.text import pluralize
from cairn.types import EmbeddingReport, Estimate, IndexReport
from cairn.workspace import Workspace

if TYPE_CHECKING:
    from cairn.index.watch import Update

_ENDING_SECONDS = 3.0  # for the commits that are being read when a watch ends
_MOST_LANGUAGES = 8  # shown after a run, those with the most files


def run_index(options: argparse.Namespace) -> int:
    """Build or update the index, its graphs and the vectors of configured models, and report what was done."""
    if options.watch:
        return _watch(options)
    document, code = index_project(options)
    if options.json:
        emit_json(document)
    return code


def index_project(options: argparse.Namespace) -> tuple[dict[str, Any], int]:
    """Do what `cairn index` does, and return its JSON document and its exit code."""
    bar = ProgressBar("Indexing")
    with open_with_consent(options) as workspace:
        with closing(bar):
            report = workspace.index(
                branch=options.branch, full=options.full, dry_run=options.dry_run, history=False, progress=bar
            )
        _say(workspace.take_notice())
        if not options.json:
            _emit_report(report, every_skipped=options.skipped)
            sys.stdout.flush()
        if not options.dry_run:
            allow(workspace, options)
            _build_graphs(workspace, quiet=options.json)
            if options.full or options.branch or not workspace.upkeep.knows_history():
                workspace.history.follow_run(report, options.branch)
        estimates = workspace.upkeep.estimate(options.branch)
        reports = () if options.dry_run else _embed(workspace, estimates, branch=options.branch, full=options.full)
        root = workspace.root
    embedding = [row._asdict() for row in (estimates if options.dry_run else reports)]
    document = {"root": str(root), **asdict(report), "embedding": embedding}
    if not options.json:
        for line in map(_estimate_line, estimates) if options.dry_run else map(_embedding_line, reports):
            emit(line)
    failures = [embedding_report for embedding_report in reports if embedding_report.error]
    for failure in failures:
        note(f"error[{failure.code}]: {printable(failure.error)}\n  try: {printable(failure.hint)}")
    return document, EXIT_USAGE if failures else EXIT_FOUND


def _say(notice: str) -> None:
    if notice:
        note(printable(notice))


def _watch(options: argparse.Namespace) -> int:
    """Follow edits until Ctrl-C and report what each update did."""
    if options.dry_run:
        raise ConfigError("--watch changes the index, and --dry-run must not", "cairn index --watch")
    with open_with_consent(options) as workspace:
        try:
            allow(workspace, options)
            if options.full:
                workspace.index(full=True)
            note(f"Watching {printable(str(workspace.root))}; stop with Ctrl-C.")
            _follow(workspace, as_json=options.json)
        except KeyboardInterrupt:
            note("Stopped. The index is as the last update left it.")
    return EXIT_FOUND


def _follow(workspace: Workspace, *, as_json: bool) -> None:
    """Report each update, and have new commits read behind it."""
    commits = HistoryThread(
        workspace.root.name, workspace.settings, lambda seconds: workspace.history.follow(seconds=seconds)
    )
    try:
        for update in workspace.upkeep.watch(workspace.upkeep.watcher()):
            commits.wake()
            _say(workspace.take_notice())
            _emit_update(update, as_json=as_json)
    finally:
        commits.end(_ENDING_SECONDS)


def _has_changes(report: IndexReport) -> bool:
    return bool(report.added or report.changed or report.removed or report.renamed)


def _emit_update(update: Update, *, as_json: bool) -> None:
    """Report an update if it is the first, failed, or changed anything."""
    if update.batch.note:
        note(printable(update.batch.note))
    if isinstance(update.error, CairnError):
        note(f"error[{update.error.code}]: {printable(str(update.error))}\n  try: {printable(update.error.hint)}")
    if update.report is None or (update.batch.reason != "start" and not _has_changes(update.report)):
        return
    if as_json:
        document = asdict(update.report)
        del document["skipped"]  # would repeat every skipped file at each update
        emit_json({"reason": update.batch.reason, **document})
    else:
        emit(_summary(update.report))
    sys.stdout.flush()


def _build_graphs(workspace: Workspace, *, quiet: bool) -> None:
    """Build the graph of near chunks that a large index lacks; it takes minutes, and searches work without it."""
    n_chunks = 0
    with closing(ProgressBar("Linking near chunks", unit="chunks")) as bar:
        try:
            n_chunks = workspace.upkeep.build_graphs(progress=bar)
        except NotAvailableError as error:
            note(f"Searching compares every chunk: {error}.\n  try: {error.hint}")
        except KeyboardInterrupt:
            note("Interrupted. The index is complete; link its chunks with: cairn index")
            raise
    if n_chunks and not quiet:
        emit(f"Linked {pluralize(n_chunks, 'chunk')} to {'its' if n_chunks == 1 else 'their'} neighbours.")


def _embed(
    workspace: Workspace, estimates: Sequence[Estimate], *, branch: str | None, full: bool
) -> tuple[EmbeddingReport, ...]:
    """Embed with the configured models; say first what leaves the machine and, as far as is known, what it costs."""
    if not workspace.settings.chain:
        return ()
    for text in workspace.upkeep.warnings():
        note(f"warning: {printable(text)}")
    for estimate in estimates:
        if estimate.chunks and (estimate.cost or not estimate.stays_here):
            note(_estimate_line(estimate))
    bars: dict[str, ProgressBar] = {}

    def progress(model: str, done: int, total: int) -> None:
        bars.setdefault(model, ProgressBar(f"Embedding with {model}", unit="chunks"))(done, total)

    try:
        return workspace.upkeep.embed(branch=branch, full=full, progress=progress)
    except IndexLockedError as error:
        note(f"{error}; {error.hint}")
        return ()
    except KeyboardInterrupt:
        note("Interrupted. What was embedded is kept; continue with: cairn index")
        raise
    finally:
        for bar in bars.values():
            bar.close()


def _estimate_line(estimate: Estimate) -> str:
    cost = "free of charge"
    if estimate.cost is None:
        cost = "at an unknown price"
    elif estimate.cost:
        cost = f"about ${estimate.cost:.2f}"
    rate = "measured" if estimate.measured else "assumed"
    amount = f"{pluralize(estimate.chunks, 'chunk')} of {pluralize(estimate.missing_files, 'file')}"
    return (
        f"{printable(estimate.model)}: {amount} to embed, an estimated {pluralize(estimate.tokens, 'token')} "
        f"(characters / 4), {cost}, about {_duration(estimate.seconds)} at the {rate} speed"
    )


def _embedding_line(report: EmbeddingReport) -> str:
    reused = f", {report.reused:,} reused" if report.reused else ""
    chunks = pluralize(report.embedded, "chunk")
    return (
        f"Embedded {chunks} with {printable(report.model)} in {report.seconds:.1f} s{reused}; "
        f"the model covers {report.covered:,} of {report.total:,}."
    )


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _emit_report(report: IndexReport, *, every_skipped: bool) -> None:
    emit(_summary(report))
    _emit_languages(dict(list(report.languages.items())[:_MOST_LANGUAGES]))
    if (more := len(report.languages) - _MOST_LANGUAGES) > 0:
        emit(f"  {pluralize(more, 'more language')}; all of them: cairn status")
    _emit_skipped(report, every=every_skipped)


def _emit_languages(languages: Mapping[str, int]) -> None:
    for language, count in languages.items():
        emit(f"  {language:<12} {count:>7,} {'file' if count == 1 else 'files'}")


def _summary(report: IndexReport) -> str:
    if report.dry_run:
        return (
            f"Would read {pluralize(report.added, 'new file')} and {pluralize(report.changed, 'changed one')} and drop "
            f"{report.removed:,}; {pluralize(report.unchanged, 'is', 'are')} up to date."
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
    summary = ", ".join(changes) or "nothing changed"
    contents = f"{pluralize(report.files, 'file')}, {pluralize(report.chunks, 'chunk')}"
    return f"Indexed {contents} in {report.seconds:.2f} s ({summary})."


def _emit_skipped(report: IndexReport, *, every: bool) -> None:
    if not report.skipped and every:
        emit("Skipped no file.")
    if not report.skipped:
        return
    reasons = Counter(skip.reason for skip in report.skipped)
    emit(f"Skipped {pluralize(len(report.skipped), 'file')}:")
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
        status = with_errors(workspace.upkeep.status(), StateFolder.of_user().path)
    if options.json:
        emit_json(status)
        return EXIT_FOUND
    _emit_index(status)
    _emit_models(status)
    _emit_languages(status["languages"])
    each = " (each one: cairn index --skipped)" if status["skipped"] else ""
    emit(f"skipped     {pluralize(len(status['skipped']), 'file')}{each}")
    for reason, count in Counter(status["skipped"].values()).most_common(5):
        emit(f"  {count:>7,} {printable(reason)}")
    _emit_memory(status["memory"])
    if aside := status["set_aside"]:
        emit(f"set aside   {pluralize(len(aside), 'file')}, the last {printable(aside[-1])}; see: cairn doctor")
    if error := status["last_error"]:
        emit(f"last error  {printable(str(error.get('message')))}\n  try: {printable(str(error.get('hint')))}")
    return EXIT_FOUND


def _emit_index(status: Mapping[str, Any]) -> None:
    emit(f"project     {printable(status['root'])}")
    emit(f"branch      {printable(status['branch']) or '(none)'}")
    emit(
        f"index       {pluralize(status['files'], 'file')}, {pluralize(status['chunks'], 'chunk')}, "
        f"generation {status['generation']}"
    )
    emit(f"pending     {pluralize(status['pending'], 'file')} changed since (cairn index reads them)")
    sizes = ", ".join(f"{part} {_megabytes(size)}" for part, size in status["sizes"].items() if size)
    emit(f"on disk     {_megabytes(status['disk_bytes'])} in {printable(status['state_dir'])}: {sizes}")
    for view in status["views"]:
        gone = "  (its folder is gone)" if view["gone"] else ""
        branch = printable(view["branch"]) or "no branch"
        emit(f"view        {printable(view['name'])} ({branch}): {pluralize(view['files'], 'file')}{gone}")


def _emit_models(status: Mapping[str, Any]) -> None:
    emit(f"fingerprint {status['model']}  (of the bundled model)")
    for model in status["embedding"]:
        active = "  (answers)" if model["active"] else ""
        covered = f"{model['covered']:,} of {pluralize(model['total'], 'chunk')}"
        emit(f"model       {printable(model['model'])}: {covered}{active}")
        if model["error"]:
            emit(f"            last error: {printable(model['error'])}")
    if status["asks_for"]:
        emit(f"asks for    {printable(status['asks_for'])}  (allow it with: cairn index)")


def _emit_memory(memory: Mapping[str, Any]) -> None:
    if memory["error"]:
        emit(f"memories    {printable(memory['error'])}; see: cairn doctor")
        return
    waits = [
        (memory["waiting"], "an event waits", "events wait"),
        (memory["pending"], "one has no vector of the model yet", "have no vector of the model yet"),
    ]
    notes = [one if count == 1 else f"{count:,} {more}" for count, one, more in waits if count]
    active = f"{memory['active']:,} active"
    emit(f"memories    {'; '.join([active, *notes])}")
    for agent in memory["agents"]:
        emit(f"agent       {printable(agent['agent'])}, {_heard_of(agent)}")
        if failed := [event for event in agent["events"] if event["errors"]]:
            n_errors = sum(event["errors"] for event in failed)
            last = f"{failed[-1]['event']}: {failed[-1]['error']}"
            emit(f"            {pluralize(n_errors, 'error')} of its hooks in a day, such as {printable(last)}")
    if memory["chat"]["calls"]:
        emit(f"summaries   {cost_of(memory['chat'])}")


def _heard_of(agent: Mapping[str, Any]) -> str:
    if not agent["heard"]:
        return "not heard of here"
    heard = time.strftime("%Y-%m-%d %H:%M", time.localtime(agent["heard"]))
    slow = max(agent["events"], key=lambda event: event["p95_ms"])
    return f"last heard of {heard}; p95 of its hooks up to {slow['p95_ms']:.0f} ms ({slow['event']})"


def _megabytes(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:.1f} MB"
