"""`cairn search` and `cairn fetch`."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from dataclasses import replace

from cairn.cli.main import EXIT_FOUND, EXIT_NONE
from cairn.cli.render import ProgressBar, Style, emit, emit_json, note, printable
from cairn.protocol import answer_to_dict, fetched_to_dict
from cairn.source.text import raw_words
from cairn.types import Answer, CodeHit
from cairn.workspace import Workspace


def run_search(options: argparse.Namespace) -> int:
    """Bring the index up to date, search it, and print the hits."""
    with Workspace.containing(options.project, state_dir=options.state_dir) as workspace:
        told = ""
        if not options.no_update:
            bar = ProgressBar("Indexing")
            with closing(bar):
                told = workspace.refresh(bar)
        answer = workspace.search(
            options.query,
            limit=options.limit,
            mode=options.mode,
            kinds=options.kind,
            languages=options.lang,
            globs=options.globs,
            max_tokens=options.max_tokens,
            explain=options.explain,
            context=options.context,
        )
        if told:
            answer = replace(answer, notes=(*answer.notes, told))
        elif not options.no_update and workspace.complete_in_background():
            told = f"a run in the background completes them; it writes to {workspace.state.embedding_log}"
            answer = replace(answer, notes=(*answer.notes, told))
    if options.json:
        emit_json(answer_to_dict(answer))
    else:
        _print(answer)
    return EXIT_FOUND if answer.code or answer.omitted else EXIT_NONE


def _print(answer: Answer) -> None:
    style = Style(sys.stdout)
    words = [word for word in raw_words(answer.query) if len(word) > 2]
    for hit in answer.code:
        _print_hit(hit, style, words)
    for text in answer.notes:
        note(printable(text))
    if not answer.code and not answer.omitted:
        note(f"Nothing relevant for {answer.query!r} in {answer.coverage.indexed:,} files.")
    elif answer.omitted:
        note(f"{answer.omitted:,} more; raise --max-tokens or -n to see them.")


def _print_hit(hit: CodeHit, style: Style, words: list[str]) -> None:
    where = f"{printable(hit.path)}:{hit.start_line}"
    label = f"{hit.kind} {hit.name}".strip()
    changed = " (changed since it was indexed)" if hit.stale else ""
    facts = f"{hit.start_line}-{hit.end_line}  ~{hit.tokens} tokens  {hit.confidence}  {hit.id}{changed}"
    emit(f"{style.path(where)}  {style.name(printable(label))}  {style.faint(facts)}")
    for line in hit.preview.splitlines():
        emit(f"    {style.mark(printable(line), words)}")
    if hit.explain is not None:
        parts = "  ".join(f"{name} {value:+.3f}" for name, value in hit.explain.items())
        emit(style.faint(f"    score {hit.score:.3f} = {parts}"))
    emit("")


def run_fetch(options: argparse.Namespace) -> int:
    """Print the full text of results."""
    with Workspace.containing(options.project, state_dir=options.state_dir) as workspace:
        fetched = workspace.fetch(options.ids)
    if options.json:
        emit_json([fetched_to_dict(one) for one in fetched])
        return EXIT_FOUND
    style = Style(sys.stdout)
    for one in fetched:
        changed = " (changed since it was indexed)" if one.stale else ""
        facts = f"{one.start_line}-{one.end_line}  ~{one.tokens} tokens{changed}"
        label = printable(f"{one.kind} {one.name}".strip())
        emit(f"{style.path(f'{printable(one.path)}:{one.start_line}')}  {style.name(label)}  {style.faint(facts)}")
        emit("\n".join(printable(line.removesuffix("\r")) for line in one.text.split("\n")))
        emit("")
    return EXIT_FOUND
