"""`cairn search`, `cairn similar` and `cairn fetch`."""

from __future__ import annotations

import argparse
import re
import sys
from contextlib import closing
from dataclasses import replace

from cairn.cli.main import EXIT_FOUND, EXIT_NONE
from cairn.cli.render import ProgressBar, Style, emit, emit_json, file_of, note, printable
from cairn.errors import QueryError
from cairn.protocol import answer_to_dict, fetched_to_dict
from cairn.source.text import raw_words
from cairn.types import Answer, CodeHit
from cairn.workspace import Workspace


def run_search(options: argparse.Namespace) -> int:
    """Bring the index up to date, search it, and print the hits."""
    with Workspace.containing(options.project, state_dir=options.state_dir) as workspace:
        told = _update(workspace, options, options.branch)
        with closing(ProgressBar("Reading references")) as bar:
            answer = workspace.search(
                options.query,
                branch=options.branch,
                limit=options.limit,
                mode=options.mode,
                kinds=options.kind,
                languages=options.lang,
                globs=options.globs,
                max_tokens=options.max_tokens,
                explain=options.explain,
                context=options.context,
                expand=options.expand,
                progress=bar,
            )
        if told:
            answer = replace(answer, notes=(*answer.notes, told))
        elif not options.no_update and options.branch is None and workspace.complete_in_background():
            told = f"a run in the background completes them; it writes to {workspace.state.embedding_log}"
            answer = replace(answer, notes=(*answer.notes, told))
    if options.json:
        emit_json(answer_to_dict(answer))
    else:
        _print(answer, explain=options.explain)
    return EXIT_FOUND if answer.code or answer.omitted else EXIT_NONE


def run_similar(options: argparse.Namespace) -> int:
    """Bring the index up to date, and print code like that of a place or of stdin."""
    filters = {"limit": options.limit, "kinds": options.kind, "languages": options.lang, "globs": options.globs}
    match = re.fullmatch(r"(.+):(\d+)", options.target)
    if match is None and options.target != "-":
        raise QueryError(f"{options.target!r} names no line", "cairn similar FILE:LINE")
    with Workspace.containing(options.project, state_dir=options.state_dir) as workspace:
        # One byte more than is taken, so that what is too long shows, and no more than that is read.
        code = None if match else sys.stdin.buffer.read(workspace.settings.max_file_bytes + 1)
        _update(workspace, options)
        if match:
            answer = workspace.similar(file_of(options.project, match[1]), int(match[2]), **filters)
        else:
            answer = workspace.similar(code=(code or b"").decode("utf-8", "surrogateescape"), **filters)
    if options.json:
        emit_json(answer_to_dict(answer))
        return EXIT_FOUND if answer.code else EXIT_NONE
    style = Style(sys.stdout)
    for hit in answer.code:
        _print_hit(hit, style, [], explain=False)
    for text in answer.notes:
        note(printable(text))
    if not answer.code:
        note(f"Nothing similar in {answer.coverage.indexed:,} files.")
    elif answer.omitted:
        note(f"{answer.omitted:,} more; raise -n to see them.")
    return EXIT_FOUND if answer.code else EXIT_NONE


def _update(workspace: Workspace, options: argparse.Namespace, branch: str | None = None) -> str:
    """Bring the index up to date, unless that is not wanted; return a note if the answer is from before."""
    if options.no_update:
        return ""
    with closing(ProgressBar("Indexing")) as bar:
        return workspace.refresh(bar, branch=branch)


def _print(answer: Answer, *, explain: bool) -> None:
    style = Style(sys.stdout)
    words = [word for word in raw_words(answer.query) if len(word) > 2]
    for hit in answer.code:
        _print_hit(hit, style, words, explain=explain)
    if answer.revision:
        note(f"From {printable(answer.branch)}, commit {answer.revision[:12]}; the files are not checked out.")
    for text in answer.notes:
        note(printable(text))
    if answer.coverage.pending:
        note(f"{answer.coverage.indexed:,} of {answer.coverage.eligible:,} files are indexed; go on with: cairn index")
    if not answer.code and not answer.omitted:
        note(f"Nothing relevant for {answer.query!r} in {answer.coverage.indexed:,} files.")
    elif answer.omitted:
        note(f"{answer.omitted:,} more; raise --max-tokens or -n to see them.")


def _print_hit(hit: CodeHit, style: Style, words: list[str], *, explain: bool) -> None:
    where = f"{printable(hit.path)}:{hit.start_line}"
    label = f"{hit.kind} {hit.name}".strip()
    changed = " (changed since it was indexed)" if hit.stale else ""
    verdict = hit.confidence if hit.match is None else f"{hit.match} {hit.similarity:.2f}"
    facts = f"{hit.start_line}-{hit.end_line}  ~{hit.tokens} tokens  {verdict}  {hit.id}{changed}"
    emit(f"{style.path(where)}  {style.name(printable(label))}  {style.faint(facts)}")
    for line in hit.preview.splitlines():
        emit(f"    {style.mark(printable(line), words)}")
    for captured in hit.captures or () if explain else ():
        parts = "  ".join(f"${name} = {printable(text)}" for name, text in captured.items())
        emit(style.faint(f"    {parts}"))
    for one in hit.neighbours or ():
        label = printable(f"{one.kind} {one.name}".strip())
        emit(f"    {one.relation} {style.path(f'{printable(one.path)}:{one.line}')}  {label}")
    if hit.explain is not None:
        parts = "  ".join(f"{name} {value:+.3f}" for name, value in hit.explain.items())
        emit(style.faint(f"    score {hit.score:.3f} = {parts}"))
    emit("")


def run_fetch(options: argparse.Namespace) -> int:
    """Print the full text of results."""
    with Workspace.containing(options.project, state_dir=options.state_dir) as workspace:
        fetched = workspace.fetch(options.ids, branch=options.branch)
    if options.json:
        emit_json([fetched_to_dict(one) for one in fetched])
        return EXIT_FOUND
    style = Style(sys.stdout)
    for one in fetched:
        changed = " (changed since it was indexed)" if one.stale else ""
        changed += f" (of commit {one.revision[:12]}, which is not checked out)" if one.revision else ""
        facts = f"{one.start_line}-{one.end_line}  ~{one.tokens} tokens{changed}"
        label = printable(f"{one.kind} {one.name}".strip())
        emit(f"{style.path(f'{printable(one.path)}:{one.start_line}')}  {style.name(label)}  {style.faint(facts)}")
        emit("\n".join(printable(line.removesuffix("\r")) for line in one.text.split("\n")))
        emit("")
    return EXIT_FOUND
