"""`cairn history`, `related` and `why`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from cairn.cli.given import read_given
from cairn.cli.graph import more, show
from cairn.cli.notes import printable
from cairn.cli.places import standpoint_of
from cairn.cli.remote import answer
from cairn.cli.render import Style
from cairn.history.values import rest_of_files
from cairn.source.text import cut_at_word, pluralize

_MAX_SHOWN_CHARS = 80  # of a query that nothing was found for
Document = dict[str, Any]  # an answer from the history, as JSON in docs/cli.md


def run_history(options: argparse.Namespace) -> int:
    """Show which commits and files solved something like a query, or shaped a file."""
    query = standpoint_of(options).past_place(read_given(" ".join(options.query), "history", "query"))
    document: Document = answer(
        options, "history", {"query": query, "limit": options.limit, "update": not options.no_update}
    )
    return show(
        document,
        options,
        lambda style: _solved_rows(document, style),
        something=bool(document["commits"]),
        omitted=_more_commits(document),
        nothing="" if not document["read"] else _nothing_of(document, cut_at_word(query, _MAX_SHOWN_CHARS)),
    )


def _nothing_of(document: Document, query: str) -> str:
    if document["subject"] == "file":
        return f"No commit that Cairn counts changed {printable(query)}."
    return f"No commit says much of {query!r}."


def _more_commits(document: Document) -> str:
    """Return a note on the commits that were left out."""
    note = more(document["omitted"], "more commit")
    return f"At least {note}" if note and document["is_cut"] else note


def _solved_rows(document: Document, style: Style) -> Iterator[str]:
    for commit in document["commits"]:
        yield from commit_rows(commit, style)
    if document["files"]:
        yield _heading(document)
    for file in document["files"]:
        counts = f"({pluralize(file['commits'], 'commit')})"
        yield f"  {style.path(printable(file['filepath']))}  {style.faint(counts)}"


def _heading(document: Document) -> str:
    """Return what stands above the files, which are those of all commits that were found."""
    if document["subject"] != "query":
        return "With it changed:"
    n_found = len(document["commits"]) + document["omitted"]
    return f"The {n_found:,} commits found changed:" if n_found > 1 else "This commit changed:"


def commit_rows(commit: Document, style: Style) -> Iterator[str]:
    """Yield a commit and the files that it changed."""
    yield f"{commit['hash']}  {commit['date']}  {style.name(printable(commit['subject']))}"
    shown = [style.path(printable(path)) for path in commit["files"]]
    if files := [*shown, *rest_of_files(len(shown), commit["omitted_files"])]:
        yield f"    {', '.join(files)}"


def run_related(options: argparse.Namespace) -> int:
    """Show which files change together with a file."""
    file = standpoint_of(options).past_place(options.file)
    document: Document = answer(
        options, "history/related", {"file": file, "limit": options.limit, "update": not options.no_update}
    )

    def rows(style: Style) -> Iterator[str]:
        for other in document["files"]:
            counts = f"({other['together']:,} of its {pluralize(other['commits'], 'commit')})"
            yield f"{style.path(printable(other['filepath']))}  {style.faint(counts)}"

    path = printable(document["filepath"])
    nothing = f"No commit that Cairn counts changed {path}."
    if document["commits"]:
        nothing = f"{pluralize(document['commits'], 'commit')} changed {path}, and nothing else with it."
    return show(
        document,
        options,
        rows,
        something=bool(document["files"]),
        omitted=more(document["omitted"], "more file"),
        nothing=nothing if document["read"] else "",
    )


def run_why(options: argparse.Namespace) -> int:
    """Show which commits shaped some lines, with what else they changed."""
    place = standpoint_of(options).past_place(options.place)
    document: Document = answer(
        options, "history/why", {"place": place, "limit": options.limit, "update": not options.no_update}
    )

    def rows(style: Style) -> Iterator[str]:
        for commit in document["commits"]:
            yield from commit_rows(commit, style)

    return show(
        document,
        options,
        rows,
        something=bool(document["commits"]),
        omitted=_more_commits(document),
        nothing="" if document["notes"] else "No commit shaped these lines.",
    )
