"""The text of answers for agents: best first, `path:line`, ids for the next step, and what was cut.

Each agent truncates long results in its own way, so no text here is longer than any of them allows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cairn.errors import CairnError, error_from_dict
from cairn.hints import Hint, show
from cairn.mcp.quoted import FRAME, memory_blocks, quote
from cairn.source.text import pluralize

if TYPE_CHECKING:
    from cairn.protocol.documents import (
        ContextDocument,
        FetchedDocument,
        HitDocument,
        OutlineDocument,
        SearchDocument,
    )

MAX_CHARS = 10_000
MAX_BYTES = 20_000  # one agent keeps 20 KiB, which multi-byte characters reach first
_FOOT_CHARS = 700  # reserved for the notes at the end
_COUNT_CHARS = 40  # of these, for the count of notes that do not fit
_LEAST_CHARS = 60  # a note cut shorter than this says nothing
PAGE_TOKENS = 2_300  # tokens of a text that the daemon lays out for a page


class Page:
    """A text within the limits. Blocks come best first; the first one that does not fit ends it."""

    def __init__(self) -> None:
        self._blocks: list[str] = []
        self._chars = MAX_CHARS - _FOOT_CHARS
        self._bytes = MAX_BYTES - 2 * _FOOT_CHARS
        self.n_left_out = 0

    @property
    def room(self) -> int:
        """The remaining characters."""
        return 0 if self.n_left_out else max(0, min(self._chars, self._bytes))

    def add(self, block: str) -> None:
        """Add a block, or count it as omitted."""
        n_bytes = _n_bytes(block) + 1
        if self.n_left_out or len(block) + 1 > self._chars or n_bytes > self._bytes:
            self.n_left_out += 1
            return
        self._chars -= len(block) + 1
        self._bytes -= n_bytes
        self._blocks.append(block)

    def close(self, notes: Sequence[str]) -> str:
        """Return the text, with the notes that fit at its end; the others are counted."""
        left = _FOOT_CHARS + self.room // 2
        for place, note in enumerate(notes):
            n_rest = len(notes) - place - 1
            room = left - (_COUNT_CHARS if n_rest else 0)
            cost = max(len(note), _n_bytes(note) // 2) + 1
            if cost > room:
                if cut := room > _LEAST_CHARS:
                    self._blocks.append(f"{_beginning(note, room - 2)}…")
                if n_left := n_rest + (not cut):
                    self._blocks.append(f"{pluralize(n_left, 'more note')} without room.")
                break
            left -= cost
            self._blocks.append(note)
        # Path bytes that are not UTF-8 are lone surrogates, which not every JSON parser accepts.
        return "\n".join(self._blocks).encode("utf-8", "backslashreplace").decode("utf-8")


def _n_bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _beginning(text: str, n_chars: int) -> str:
    """Return the leading characters that fit, with two bytes of room per character."""
    return text.encode("utf-8", "surrogatepass")[: 2 * n_chars].decode("utf-8", "ignore")[:n_chars]


def error_text(error: CairnError) -> str:
    """Return an error, and what to do next."""
    hint = f"\ntry: {show(error.hint, 'tools')}" if error.hint else ""
    return f"error[{error.code}]: {error}{hint}"


def search_text(document: SearchDocument, narrowed_by: Sequence[str] = (), limit: int = 0) -> str:
    """Return the hits: place, definition, confidence, id and preview.

    Args:
        document: the answer.
        narrowed_by: the request's filters, by name.
        limit: the maximal number of hits, 0 if nothing else cut the answer.
    """
    page = Page()
    for hit in document["code"]:
        page.add(_hit(hit))
    omitted_memories = _add_memories(page, document)
    notes = [*document.get("notes", ()), *place_notes(document)]
    coverage = document["coverage"]
    omitted = document["omitted"] + page.n_left_out
    if omitted:
        cut_by = "max_tokens" if len(document["code"]) < limit else "limit"
        raised = "" if page.n_left_out else f"raise `{cut_by}`, or "  # a full answer has no more, whatever the limit
        notes.insert(0, f"{pluralize(omitted, 'more hit')}: {raised}narrow with `globs`, `languages` or `kinds`.")
    if not document["code"] and not omitted:
        within = f" with these {', '.join(f'`{name}`' for name in narrowed_by)}" if narrowed_by else ""
        looked_at = (
            f"the {pluralize(document['searched'], 'file')} looked at"
            if "searched" in document
            else pluralize(coverage["indexed"], "file")
        )
        notes.insert(0, f"Nothing relevant for {document['query'][:200]!r} in {looked_at}{within}.")
        notes.append(_advice(coverage["eligible"], narrowed_by))
    if omitted_memories:
        more = pluralize(omitted_memories, "more memory has", "more memories have")
        notes.append(f"{more} no room: use `recall`.")
    if coverage["pending"]:
        notes.append(
            f"{coverage['indexed']:,} of {pluralize(coverage['eligible'], 'file')} "
            f"{'is' if coverage['indexed'] == 1 else 'are'} indexed so far."
        )
    if n_notes := document.get("omitted_notes"):
        notes.append(f"{pluralize(n_notes, 'note')} without room.")
    return page.close(notes)


def place_notes(document: Any) -> list[str]:  # noqa: ANN401 - JSON
    """Return a note if an answer, or a hit in it, is from a team's project."""
    if remote := document.get("remote"):
        name = remote["project"]
        return [f"Of {name} at {remote['commit'][:12]}, not checked out here; ask on with project={name!r}."]
    is_some = any("remote" in hit for hit in document.get("code", ()))
    return ["Ask on about a hit with `project`: the name in brackets."] if is_some else []


def _add_memories(page: Page, document: Any) -> int:  # noqa: ANN401 - whatever has memories
    """Add an answer's memories, and return how many of them do not fit."""
    n_left_out = page.n_left_out
    for block in memory_blocks(document["memory"]):
        page.add(block)
    n_here, page.n_left_out = page.n_left_out - n_left_out, n_left_out
    return int(n_here) + int(document.get("omitted_memory", 0))


def _advice(n_files: int, narrowed_by: Sequence[str]) -> str:
    """Return what to do after a search without a hit."""
    if not n_files:
        return "`index_status` says what is skipped."
    without = "it without them, " if narrowed_by else ""
    return f"Try {without}other words, the name of a definition, or mode=regex."


def _hit(hit: HitDocument) -> str:
    project = f"[{hit['project']}] " if "project" in hit else ""
    # For a matching line, the place is enough: it is short, and mostly certain.
    is_line = hit["start_line"] == hit["end_line"]
    facts = [] if is_line else [f"{hit['start_line']}-{hit['end_line']}"]
    if "tokens" in hit and not is_line:
        facts.append(f"~{pluralize(hit['tokens'], 'token')}")
    if "confidence" in hit and not (is_line and hit["confidence"] == "high"):
        facts.append(hit["confidence"])
    if part := hit.get("part"):
        facts.append(part)
    facts.append(hit["id"])
    if "origin" in hit:
        facts.append(hit["origin"])
    if hit.get("stale"):
        facts.append("changed since it was indexed")
    lines = [f"{project}{hit['filepath']}:{hit['start_line']}  {label(hit)}  ({', '.join(facts)})"]
    if preview := hit.get("preview"):
        lines += [f"    {line}" for line in preview.split("\n")]
    for neighbour in hit.get("neighbours", ()):
        where = f"{neighbour['relation']} {neighbour['filepath']}:{neighbour['line']}"
        lines.append(f"    {where}  {neighbour['kind']} {neighbour['name']}".rstrip())
    return "\n".join(lines)


def label(item: Any) -> str:  # noqa: ANN401 - whatever has a kind and a name
    """Return the kind and name of a hit."""
    return f"{item['kind']} {item.get('qualified_name', item['name'])}".strip()


def fetch_text(documents: list[FetchedDocument], skipped: int) -> str:
    """Return the texts one after another; a cut one says how to get the rest.

    Args:
        documents: what was fetched.
        skipped: the number of lines left out at the beginning of each.
    """
    page = Page()
    notes = place_notes(documents[0]) if documents else []
    unseen = []
    for document in documents:
        if error := document.get("error"):
            notes.append(f"Nothing of {document['id']}: {error_text(error_from_dict(error))}")
            continue
        span = f"{document['start_line']}-{document['end_line']}"
        stale = f"  {_change_of(document)}" if document["stale"] else ""
        head = f"{_place_of(document)}  {label(document)}  ({span}, {document['id']}){stale}"
        lines = _shown_text(document).split("\n")
        n_lines = _fitting(lines, page.room - len(head) - 2)
        if not n_lines:
            unseen.append(document["id"])
            page.n_left_out += 1
            continue
        page.add("\n".join([head, *lines[:n_lines], ""]))
        if not document["text"]:
            why = f"it ends before skip_lines={skipped}" if skipped else "its file is gone, or empty; search again"
            notes.append(f"Nothing of {document['id']}: {why}.")
        if n_lines < len(lines):
            at = document["start_line"] + n_lines
            rest = f"fetch ids=[{document['id']!r}] skip_lines={skipped + n_lines}"
            notes.append(f"Cut before line {at} of {document['end_line']}; the rest: {rest}")
            page.n_left_out += 1
    if unseen:
        notes.append(f"No room for: {', '.join(unseen)}. Fetch them apart.")
    if len(documents) == 1 and unseen:  # a single line is too long
        long = _shown_text(documents[0]).split("\n")[0]
        page.n_left_out = 0
        page.add(f"{_place_of(documents[0])}\n{long[: page.room // 4]}")
        size = pluralize(len(long), "character")
        notes += [f"Line {documents[0]['start_line']} has {size}; only its beginning is shown."]
    return page.close(notes)


def _place_of(document: FetchedDocument) -> str:
    return f"{document['filepath']}:{document['start_line']}" if document["filepath"] else FRAME


def _change_of(document: FetchedDocument) -> str:
    return "changed since it was indexed" if document["filepath"] else "check: its code changed or is gone"


def _shown_text(document: FetchedDocument) -> str:
    """Return a text for display: code unchanged, a memory as a quotation."""
    return document["text"] if document["filepath"] else quote(document["text"])


def _fitting(lines: Sequence[str], room: int) -> int:
    """Return how many of the lines fit."""
    for place, line in enumerate(lines):
        room -= max(len(line), _n_bytes(line) // 2) + 1
        if room < 0:
            return place
    return len(lines)


def context_text(document: ContextDocument) -> str:
    """Return each definition with its surroundings."""
    page = Page()
    for item in document["items"]:
        head = f"{item['filepath']}:{item['start_line']}  {label(item)}  ({item['start_line']}-{item['end_line']}"
        head += f", {item['id']})" if item["id"] else ")"
        page.add(f"{head}\n{item['text']}\n")
    omitted_memories = _add_memories(page, document)
    notes = list(document["notes"])
    if omitted_memories:
        notes.append(f"{pluralize(omitted_memories, 'memory', 'memories')} without room: use `recall`.")
    if omitted := document["omitted"] + page.n_left_out:
        notes.insert(0, f"{omitted} more without room: lower `limit`, or ask with `ids` of a search.")
    if not document["items"] and not document["memory"] and not notes:
        notes.append("Nothing was found for this.")
    return page.close([*notes, *place_notes(document)])


def outline_text(document: OutlineDocument) -> str:
    """Return the outline, whose text says itself what it omits."""
    page = Page()
    lines = document["text"].split("\n")
    n_lines = _fitting(lines, page.room)
    page.add("\n".join(lines[:n_lines]))
    if n_lines == len(lines):
        return page.close(place_notes(document))
    more = "`fetch` the definition by its id" if document["mode"] == "context" else "ask with `symbol`"
    return page.close(
        [
            f"Cut after {n_lines} of {pluralize(len(lines), 'line')}: {more}.",
            *document["notes"],
            *place_notes(document),
        ]
    )


def status_text(status: dict[str, Any], findings: list[dict[str, Any]] | None) -> str:
    """Return the state of the index.

    Args:
        status: from `GET /api/index/status`.
        findings: from `GET /api/index/health`; None if not requested.
    """
    page = Page()
    languages = ", ".join(f"{name} {count:,}" for name, count in list(status["languages"].items())[:12])
    branch = f", branch {status['branch']}" if status["branch"] else ""
    page.add(f"project  {status['root']}{branch}")
    page.add(
        f"indexed  {pluralize(status['files'], 'file')}, {pluralize(status['chunks'], 'chunk')}, "
        f"generation {status['generation']}"
    )
    if status["pending"]:
        page.add(f"pending  {pluralize(status['pending'], 'file')}, followed without being asked")
    page.add(f"languages  {languages or 'none'}")
    if reasons := Counter(status["skipped"].values()):
        listed = ", ".join(f"{count:,} {reason}" for reason, count in reasons.most_common(8))
        page.add(f"skipped  {pluralize(reasons.total(), 'file')}: {listed}")
    if status["last_error"]:
        page.add(f"last error  {status['last_error']}")
    for finding in findings or ():
        if finding["level"] != "ok":
            hint = finding["hint"] or Hint.of("doctor", fix=True)
            page.add(f"{finding['level']}  {finding['check']}: {finding['message']}  (try: {hint})")
    if findings is not None and all(finding["level"] == "ok" for finding in findings):
        page.add(f"healthy: {len(findings)} checks found nothing wrong")
    return page.close([])
