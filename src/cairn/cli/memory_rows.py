"""How memories look in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.cli.notes import limits_of, note, printable
from cairn.cli.render import Style, emit
from cairn.memory.targets import MARK
from cairn.source.text import pluralize

if TYPE_CHECKING:
    import argparse

    from cairn.protocol.documents import MemoryHitDocument
    from cairn.protocol.memory_documents import ChatDocument, MemoryDocument, MemoryEventDocument, MemoryRowDocument
    from cairn.types import MemorySource


def print_hit(hit: MemoryHitDocument, style: Style) -> None:
    """Print a memory that was found, with its whole text if that is there."""
    facts: list[str] = [hit["status"]] if hit["status"] != "active" else []
    if "created" in hit:
        facts += [hit["created"][:10], f"importance {hit['importance']}", hit["confidence"]]
    facts += _origin(hit.get("source", ""))
    project = f"{printable(hit['project'])}: " if "project" in hit else ""
    emit(f"{project}{style.name(hit['id'])}  {hit['type']}  {style.faint('  '.join(facts))}".rstrip())
    for line in hit.get("text", hit["summary"]).split("\n"):
        emit(f"    {printable(line)}")
    for file in hit["files"]:
        emit(f"    {style.path(printable(file))}")
    if check := hit.get("check"):
        emit(f"    {printable(check)}")
    emit("")


def print_row(row: MemoryRowDocument, style: Style) -> None:
    """Print a memory as a row of a list."""
    facts = [row["created"][:10], f"importance {row['importance']}"]
    if row["status"] != "active":
        by = f" by {row['superseded_by']}" if "superseded_by" in row else ""
        facts.insert(0, f"{row['status']}{by}")
    if row.get("shared"):
        facts.append("shared")
    facts += _origin(row.get("source", ""))
    facts += [f"#{printable(tag)}" for tag in row["tags"]]
    emit(f"{style.name(row['id'])}  {row['type']}  {style.faint('  '.join(facts))}")
    emit(f"    {printable(row['summary'])}")
    for file in row["files"]:
        emit(f"    {style.path(printable(file))}")


def print_memory(document: MemoryDocument, style: Style) -> None:
    """Print a memory whole, with what happened to it."""
    by = f" by {document['superseded_by']}" if document["superseded_by"] else ""
    facts = [
        f"{document['status']}{by}",
        f"importance {document['importance']}",
        f"~{pluralize(document['tokens'], 'token')}",
        *(["shared"] if document["shared"] else []),
        *_origin(document["source"]),
        *(f"#{printable(tag)}" for tag in document["tags"]),
    ]
    emit(f"{style.name(document['id'])}  {document['type']}  {style.faint('  '.join(facts))}")
    for line in document["text"].split("\n"):
        emit(f"    {printable(line)}")
    for file in document["files"]:
        emit(f"    {style.path(printable(file))}")
    for name in ("session", "branch", "revision"):
        if value := document[name]:
            emit(style.faint(f"    {name} {printable(value)}"))
    if shown := document["shown"]:
        used = sum(row["use"] not in ("", "unhelpful") for row in shown)
        emit(style.faint(f"    shown {pluralize(len(shown), 'time')}, used {pluralize(used, 'time')}"))
    for event in document["history"]:
        emit(style.faint(f"    {event['time']}  {printable(event['actor'])}  {printable(_deed(event))}"))
    emit("")


def _origin(source: MemorySource) -> list[str]:
    """Return in words where a memory is from, nothing for this machine."""
    return [{"shared": "from the repository", "import": "imported", "team": "from the team"}[source]] if source else []


def _deed(event: MemoryEventDocument) -> str:
    """Return in a few words what happened."""
    value = event["value"]
    reason = f": {value['reason']}" if value.get("reason") else ""
    if event["kind"] == "status":
        by = f" by {value['superseded_by']}" if "superseded_by" in value else ""
        return f"{value['status']}{by}{reason}"
    if event["kind"] in ("link", "unlink"):
        symbol = f"{MARK}{value['symbol']}" if value["symbol"] else ""
        return f"{event['kind']} {value['path']}{symbol}"
    if event["kind"] == "set":
        changes = (f"{name} {str(content)[:60]!r}" for name, content in value.items() if name != "reason")
        return f"set {', '.join(changes)}{reason}"
    return event["kind"]


def cost_of(chat: ChatDocument) -> str:
    """Return in words what questions to a chat model cost."""
    failed = f", {chat['failed']:,} of them failed" if chat["failed"] else ""
    tokens = pluralize(chat["input_tokens"] + chat["output_tokens"], "token")
    asked = pluralize(chat["calls"], "question")
    return f"{asked} to the chat model in {chat['days']} days{failed}: {tokens}, ${chat['cost']:.2f}"


def note_rest(total: int, options: argparse.Namespace, n_shown: int, nothing: str) -> None:
    """Say how many rows of a list are not shown, or why there are none.

    Args:
        nothing: what to say of a list without rows.
    """
    n_more = total - options.offset - n_shown
    if not total:
        note(nothing)
    elif options.offset >= total:
        note(f"There are only {total:,}; use a smaller --offset.")
    elif n_more > 0:
        note(f"{n_more:,} more; raise {limits_of(options)}, or use --offset, to see them.")
