"""`cairn savings`."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from cairn.cli.memories import answer_memory
from cairn.cli.notes import note, printable
from cairn.cli.outcomes import EXIT_FOUND, EXIT_NONE
from cairn.cli.render import Style, emit, emit_json
from cairn.source.text import pluralize

if TYPE_CHECKING:
    from cairn.protocol.memory_documents import SavingsDocument, SavingsSumDocument


def run_savings(options: argparse.Namespace) -> int:
    """Print what answers to tool calls saved, by day, agent and kind."""
    document: SavingsDocument = answer_memory(options, "savings", {"days": options.days, "by": options.by})
    if options.json:
        emit_json(document)
    elif document["rows"] or document["costs"]:
        _print(document)
    else:
        note(f"No answer to a tool call was measured since {document['since']}.")
    return EXIT_FOUND if document["rows"] or document["costs"] else EXIT_NONE


def _print(document: SavingsDocument) -> None:
    style = Style(sys.stdout)
    day = ""
    for group in document["groups"] if document["by"] != "day" else ():
        paid = f", ${group['cost']:.4f}" if group["cost"] else ""
        emit(f"{style.name(printable(group['name']) or 'unknown')}  {_line(group)}{paid}")
    for row in document["rows"] if document["by"] == "day" else ():
        if row["day"] != day:
            day = row["day"]
            emit(style.name(day))
        which = row["kind"] if row["replacing"] else f"{row['kind']} (beside)"
        emit(f"  {printable(row['agent'])}  {which}: {_line(row)}")
    if document["rows"]:
        emit(f"{style.name('all')}  {_line(document['total'])}")
        emit(style.faint(f"tokens: {document['tokenizer']}"))
    for cost in document["costs"]:
        tokens = cost["input_tokens"] + cost["output_tokens"]
        paid = f", ${cost['cost']:.4f}" if cost["cost"] or document["price"] else ""
        who = f"{printable(cost['agent'])}  " if cost["agent"] else ""
        asked = f"{pluralize(cost['calls'], 'question')}, {pluralize(tokens, 'token')}{paid}"
        emit(f"{style.name(cost['day'])}  {who}{cost['kind']} by {printable(cost['model'])}: {asked}")


def _line(row: SavingsSumDocument) -> str:
    saved = f"saved {row['saved']:,}" if row["saved"] >= 0 else f"lost {-row['saved']:,}"
    return (
        f"{saved} ({pluralize(row['answers'], 'answer')} of {row['tokens']:,} for {row['replaced_tokens']:,}, "
        f"{pluralize(row['followups'], 'later read')} of {row['followup_tokens']:,})"
    )
