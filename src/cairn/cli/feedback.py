"""`cairn feedback`."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from cairn.cli.memories import answer_memory
from cairn.cli.notes import note, printable
from cairn.cli.outcomes import EXIT_FOUND, EXIT_NONE
from cairn.cli.places import Standpoint
from cairn.cli.render import Style, emit, emit_json
from cairn.source.text import pluralize

if TYPE_CHECKING:
    from cairn.protocol.memory_documents import FeedbackDocument, FeedbackListDocument, QuestionDocument


def run_feedback(options: argparse.Namespace) -> int:
    """Print questions with what was shown and used, the newest first."""
    fields = {"session": options.session, "since": options.since, "empty": options.empty, "limit": options.limit}
    document: FeedbackListDocument = answer_memory(options, "feedback", fields)
    if options.json:
        emit_json(document)
    else:
        style = Style(sys.stdout)
        for question in document["questions"]:
            _print_question(question, style)
        _note_sums(document)
    return EXIT_FOUND if document["questions"] else EXIT_NONE


def run_mark(options: argparse.Namespace) -> int:
    """Say that what an answer showed was good or bad."""
    here = Standpoint(options.project)
    ids = [here.place(id) for id in options.ids]
    fields = {"ids": ids, "verdict": options.verdict, "session": options.shown_in}
    document: FeedbackDocument = answer_memory(options, "feedback/mark", fields)
    if options.json:
        emit_json(document)
    else:
        for marked in document["marked"]:
            what = printable(marked["filepath"] or marked["id"])
            asked = f" for {printable(marked['question'])!r}" if marked["question"] else ""
            emit(f"{what} was {marked['verdict']}{asked}.")
    return EXIT_FOUND


def _print_question(question: QuestionDocument, style: Style) -> None:
    facts = [question["time"][:16].replace("T", " "), question["surface"], printable(question["session"])]
    facts.append(f"{question['found']:,} found")
    emit(f"{style.name(printable(question['query']))}  {style.faint('  '.join(filter(None, facts)))}")
    uses: dict[tuple[int, str], list[str]] = {}
    for use in question["uses"]:
        uses.setdefault((use["rank"], use["filepath"]), []).append(use["use"])
    for (rank, path), how in sorted(uses.items(), key=lambda item: (item[0][0] or len(question["shown"]) + 1, item[0])):
        place = f"{rank}." if rank else "not shown:"
        emit(f"    {place} {style.path(printable(path))}  {', '.join(dict.fromkeys(how))}")


def _note_sums(document: FeedbackListDocument) -> None:
    totals = document["totals"]
    if totals["questions"]:
        note(
            f"{pluralize(totals['questions'], 'question')}: {totals['used']:,} led to a use, "
            f"{totals['empty']:,} found nothing."
        )
    for memory in document["memories"]:
        shown = pluralize(memory["shown"], "memory", "memories")
        note(f"{shown} shown at {memory['event']}: {memory['used']:,} used, {memory['unhelpful']:,} unhelpful.")
    if not document["kept"]:
        note("Nothing is kept from now on: memory.feedback or memory.capture is off.")
    elif not document["questions"]:
        note("No question is kept.")
