"""From JSON answers to the text an agent reads: best first, `path:line`, ids for the next step, and what was cut.

Agents cut long results each in their own way, so no text here is longer than all of them let pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from cairn.hints import Hint
from cairn.source.text import counted

if TYPE_CHECKING:
    from cairn.protocol.documents import (
        ContextDocument,
        CoreChangeDocument,
        CoreListDocument,
        CoreSuggestionDocument,
        FetchedDocument,
        HitDocument,
        OutlineDocument,
        SearchDocument,
    )

MAX_CHARS = 10_000
MAX_BYTES = 20_000  # one agent keeps 20 KiB; letters of two bytes and more get there first
_FOOT_CHARS = 700  # kept free for what is said at the end
_COUNT_CHARS = 40  # of these for the count of notes that have no room
_LEAST_CHARS = 60  # what is cut shorter says nothing
PAGE_TOKENS = 2_300  # what a page holds of a text that the daemon lays out to a size


class Page:
    """A text that keeps to the limits. Blocks come best first; the first that has no room ends it."""

    def __init__(self) -> None:
        self._blocks: list[str] = []
        self._chars = MAX_CHARS - _FOOT_CHARS
        self._bytes = MAX_BYTES - 2 * _FOOT_CHARS
        self.n_left_out = 0

    @property
    def room(self) -> int:
        """How many characters there is room for."""
        return 0 if self.n_left_out else max(0, min(self._chars, self._bytes))

    def add(self, block: str) -> None:
        """Add a block, or count it as left out."""
        n_bytes = _n_bytes(block) + 1
        if self.n_left_out or len(block) + 1 > self._chars or n_bytes > self._bytes:
            self.n_left_out += 1
            return
        self._chars -= len(block) + 1
        self._bytes -= n_bytes
        self._blocks.append(block)

    def close(self, notes: Sequence[str]) -> str:
        """Return the text, with notes at its end as far as they have room; those that have none are counted."""
        left = _FOOT_CHARS + self.room // 2
        for place, note in enumerate(notes):
            n_rest = len(notes) - place - 1
            room = left - (_COUNT_CHARS if n_rest else 0)
            cost = max(len(note), _n_bytes(note) // 2) + 1
            if cost > room:
                if cut := room > _LEAST_CHARS:
                    self._blocks.append(f"{_beginning(note, room - 2)}…")
                if n_left := n_rest + (not cut):
                    self._blocks.append(f"{counted(n_left, 'more note')} without room.")
                break
            left -= cost
            self._blocks.append(note)
        # Bytes of a path that are no UTF-8 are lone surrogates, which not every reader of JSON accepts.
        return "\n".join(self._blocks).encode("utf-8", "backslashreplace").decode("utf-8")


def _n_bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _beginning(text: str, n_chars: int) -> str:
    """Return as many characters as there is room for, where each has room for two bytes."""
    return text.encode("utf-8", "surrogatepass")[: 2 * n_chars].decode("utf-8", "ignore")[:n_chars]


def search_text(found: SearchDocument, narrowed_by: Sequence[str] = ()) -> str:
    """Return the hits: where, what, how sure, the id to fetch, and a preview.

    Args:
        found: the answer.
        narrowed_by: the filters that the request gave, by name.
    """
    page = Page()
    for hit in found["code"]:
        page.add(_hit(hit))
    notes = list(found.get("notes", ()))
    coverage = found["coverage"]
    omitted = found["omitted"] + page.n_left_out
    if omitted:
        raised = "" if page.n_left_out else "raise `limit`, or "  # a full answer holds no more, whatever the limit
        notes.insert(0, f"{counted(omitted, 'more hit')}: {raised}narrow with `globs`, `languages` or `kinds`.")
    if not found["code"] and not omitted:
        within = f" with these {', '.join(f'`{name}`' for name in narrowed_by)}" if narrowed_by else ""
        looked_at = (
            f"the {counted(found['searched'], 'file')} looked at"
            if "searched" in found
            else counted(coverage["indexed"], "file")
        )
        notes.insert(0, f"Nothing relevant for {found['query'][:200]!r} in {looked_at}{within}.")
        notes.append(_advice(coverage["eligible"], narrowed_by))
    if coverage["pending"]:
        notes.append(
            f"{coverage['indexed']:,} of {counted(coverage['eligible'], 'file')} "
            f"{'is' if coverage['indexed'] == 1 else 'are'} indexed so far."
        )
    if n_notes := found.get("omitted_notes"):
        notes.append(f"{counted(n_notes, 'note')} without room.")
    return page.close(notes)


def _advice(n_files: int, narrowed_by: Sequence[str]) -> str:
    """Return what to do after a search without a hit."""
    if not n_files:
        return "`index_status` says what is skipped."
    without = "it without them, " if narrowed_by else ""
    return f"Try {without}other words, the name of a definition, or mode=regex."


def _hit(hit: HitDocument) -> str:
    project = f"[{hit['project']}] " if "project" in hit else ""
    # Of a line that matches, the place says it all: it is short, and mostly sure.
    is_line = hit["start_line"] == hit["end_line"]
    facts = [] if is_line else [f"{hit['start_line']}-{hit['end_line']}"]
    if "tokens" in hit and not is_line:
        facts.append(f"~{counted(hit['tokens'], 'token')}")
    if "confidence" in hit and not (is_line and hit["confidence"] == "high"):
        facts.append(hit["confidence"])
    facts.append(hit["id"])
    if hit.get("stale"):
        facts.append("changed since it was indexed")
    lines = [f"{project}{hit['filepath']}:{hit['start_line']}  {_label(hit)}  ({', '.join(facts)})"]
    lines += [f"    {line}" for line in hit.get("preview", "").splitlines()]
    for one in hit.get("neighbours", ()):
        lines.append(f"    {one['relation']} {one['filepath']}:{one['line']}  {one['kind']} {one['name']}".rstrip())
    return "\n".join(lines)


def _label(item: Any) -> str:  # noqa: ANN401 - whatever has a kind and a name
    return f"{item['kind']} {item.get('qualified_name', item['name'])}".strip()


def fetch_text(found: list[FetchedDocument], skipped: int) -> str:
    """Return the texts one after another; one that is cut says how to get the rest.

    Args:
        found: what was fetched.
        skipped: the lines that were left out of each at its beginning.
    """
    page = Page()
    notes = []
    unseen = []
    for one in found:
        span = f"{one['start_line']}-{one['end_line']}"
        stale = "  changed since it was indexed" if one["stale"] else ""
        head = f"{one['filepath']}:{one['start_line']}  {_label(one)}  ({span}, {one['id']}){stale}"
        lines = one["text"].split("\n")
        n_lines = _fitting(lines, page.room - len(head) - 2)
        if not n_lines:
            unseen.append(one["id"])
            page.n_left_out += 1
            continue
        page.add("\n".join([head, *lines[:n_lines], ""]))
        if not one["text"]:
            why = f"it ends before skip_lines={skipped}" if skipped else "its file is gone, or empty; search again"
            notes.append(f"Nothing of {one['id']}: {why}.")
        if n_lines < len(lines):
            at = one["start_line"] + n_lines
            rest = f"fetch ids=[{one['id']!r}] skip_lines={skipped + n_lines}"
            notes.append(f"Cut before line {at} of {one['end_line']}; the rest: {rest}")
            page.n_left_out += 1
    if unseen:
        notes.append(f"No room for: {', '.join(unseen)}. Fetch them apart.")
    if len(found) == 1 and unseen:  # one line alone is too long
        long = found[0]["text"].split("\n")[0]
        page.n_left_out = 0
        page.add(f"{found[0]['filepath']}:{found[0]['start_line']}\n{long[: page.room // 4]}")
        notes = [f"Line {found[0]['start_line']} has {counted(len(long), 'character')}; only its beginning is shown."]
    return page.close(notes)


def _fitting(lines: Sequence[str], room: int) -> int:
    """Return how many of the lines fit."""
    for place, line in enumerate(lines):
        room -= max(len(line), _n_bytes(line) // 2) + 1
        if room < 0:
            return place
    return len(lines)


def context_text(found: ContextDocument) -> str:
    """Return each definition with what is around it."""
    page = Page()
    for one in found["items"]:
        head = f"{one['filepath']}:{one['start_line']}  {_label(one)}  ({one['start_line']}-{one['end_line']}"
        head += f", {one['id']})" if one["id"] else ")"
        page.add(f"{head}\n{one['text']}\n")
    notes = list(found["notes"])
    if omitted := found["omitted"] + page.n_left_out:
        notes.insert(0, f"{omitted} more without room: lower `limit`, or ask with `ids` of a search.")
    if not found["items"] and not notes:
        notes.append("Nothing was found for this.")
    return page.close(notes)


def outline_text(found: OutlineDocument) -> str:
    """Return the outline, whose text itself says which definitions it leaves out."""
    page = Page()
    lines = found["text"].split("\n")
    n_lines = _fitting(lines, page.room)
    page.add("\n".join(lines[:n_lines]))
    if n_lines == len(lines):
        return page.close([])
    more = "`fetch` the definition by its id" if found["mode"] == "context" else "ask with `symbol`"
    return page.close([f"Cut after {n_lines} of {counted(len(lines), 'line')}: {more}.", *found["notes"]])


def graph_text(relation: str, found: dict[str, Any]) -> str:
    """Return the answer to a question to the symbol graph, one place a line."""
    page = Page()
    for line in _GRAPH[relation](found):
        page.add(line)
    notes = []
    if page.n_left_out:
        more = (
            "`search` for `callers of X` with `globs` narrows them" if relation == "callers" else "the nearest are here"
        )
        notes.append(f"{counted(page.n_left_out + found.get('omitted', 0), 'more has', 'more have')} no room: {more}.")
    elif found.get("omitted"):
        notes.append(f"{found['omitted']:,} more: raise `limit`.")
    if not found.get("changed", True) and not found["deleted"]:
        notes.append("No definition changed since then.")
    elif not any(found.get(name) for name in ("links", "steps", "importers", "affected", "tests", "deleted")):
        notes.append("None, as far as can be resolved.")
    return page.close([*notes, *found["notes"]])


def _links(found: dict[str, Any]) -> Iterator[str]:
    yield f"of {_symbol(found['symbol'])}:"
    for link in found["links"]:
        yield _link(link)


def _link(link: dict[str, Any]) -> str:
    symbol = link["symbol"]
    beyond = f"  {symbol['filepath']}:{symbol['line']}" if symbol["filepath"] != link["filepath"] else ""
    return f"{link['filepath']}:{link['line']}  {_label(symbol)}  ({link['kind']}, {link['how']}){beyond}"


def _symbol(symbol: dict[str, Any]) -> str:
    return f"{symbol['filepath']}:{symbol['line']}  {_label(symbol)}"


def _steps(found: dict[str, Any]) -> Iterator[str]:
    yield f"from {_symbol(found['source'])}"
    yield f"to {_symbol(found['target'])}:"
    for step in found["steps"]:
        yield _link(step)


def _importers(found: dict[str, Any]) -> Iterator[str]:
    yield f"of {found['filepath']}:"
    for one in found["importers"]:
        what = "  (for types only)" if one["typing_only"] else "  (when a function runs)" if one["deferred"] else ""
        yield f"{one['filepath']}:{one['line']}{what}"


def _impact(found: dict[str, Any]) -> Iterator[str]:
    for symbol in found["changed"]:
        yield f"changed  {_symbol(symbol)}"
    for one in found["affected"]:
        yield f"depth {one['depth']}  {_symbol(one['symbol'])}  ({one['via']}, {one['confidence']:.2f})"
    yield from _deleted(found)
    for test in found["tests"]:
        yield _test(test)
    for path in found["importers"]:
        yield f"importer  {path}:1"


def _tests(found: dict[str, Any]) -> Iterator[str]:
    for symbol in found["changed"]:
        yield f"changed  {_symbol(symbol)}"
    yield from _deleted(found)
    for test in found["tests"]:
        yield _test(test)


def _deleted(found: dict[str, Any]) -> Iterator[str]:
    for one in found["deleted"]:
        yield f"deleted  {one['filepath']}:1" + (f"  ({', '.join(one['definitions'])})" if one["definitions"] else "")
        for mention in one["mentions"]:
            yield f"names it  {mention['filepath']}:{mention['line']}  {mention['name']}"
        if one["omitted"]:
            yield f"names it  {one['omitted']:,} more"


def _test(test: dict[str, Any]) -> str:
    names = f": {', '.join(test['tests'])}" if test["tests"] else ""
    return f"test  {test['filepath']}:1  ({test['reason']}){names}"


_GRAPH = {
    "callers": _links,
    "callees": _links,
    "path": _steps,
    "importers": _importers,
    "impact": _impact,
    "tests": _tests,
}


def core_text(found: CoreListDocument) -> str:
    """Return the core files with what each is for and what it defines."""
    page = Page()
    for one in found["files"]:
        what = " (missing)" if one["missing"] else ""
        summary = f"  {' '.join(one['summary'].split())}" if one["summary"] else ""
        heads = [f"  {symbol['line']}: {symbol['signature']}" for symbol in one["symbols"]]
        more = [f"  and {one['omitted']} more; see its outline"] if one["omitted"] else []
        page.add("\n".join([f"{one['filepath']}:1{what}{summary}", *heads, *more]))
    notes = []
    if omitted := found["omitted"] + page.n_left_out:
        notes.append(f"{counted(omitted, 'more core file')} without room; see .cairn/core.yaml.")
    if not found["files"] and not omitted:
        notes.append("No core files are marked; action=suggest names the most central ones.")
    return page.close(notes)


def core_change_text(found: CoreChangeDocument, *, marked: bool) -> str:
    """Return what became of a mark."""
    if marked:
        state = "is a core file now" if found["changed"] else "was a core file already"
    else:
        state = "is no core file any more" if found["changed"] else "was no core file"
    page = Page()
    page.add(f"{found['filepath']}:1 {state}." + (f" Summary: {found['summary']}" if found["summary"] else ""))
    return page.close(
        ["It is written in .cairn/core.yaml, which is meant to be committed."] if found["changed"] else []
    )


def suggestions_text(found: list[CoreSuggestionDocument]) -> str:
    """Return files that might be core files, with their most central definitions."""
    page = Page()
    for one in found:
        heads = [f"  {symbol['line']}: {symbol['signature']}" for symbol in one["symbols"]]
        page.add("\n".join([f"{one['filepath']}:1  (rank {one['rank']:.3f})", *heads]))
    notes = [f"{counted(page.n_left_out, 'more has', 'more have')} no room: lower `limit`."] if page.n_left_out else []
    return page.close(notes or ([] if found else ["No file is left to suggest."]))


def status_text(status: dict[str, Any], findings: list[dict[str, Any]] | None) -> str:
    """Return how the index is.

    Args:
        status: as `GET /api/index/status` gives it.
        findings: as `GET /api/index/health` gives them; None when nobody asked.
    """
    page = Page()
    languages = ", ".join(f"{name} {count:,}" for name, count in list(status["languages"].items())[:12])
    branch = f", branch {status['branch']}" if status["branch"] else ""
    page.add(f"project  {status['root']}{branch}")
    page.add(
        f"indexed  {counted(status['files'], 'file')}, {counted(status['chunks'], 'chunk')}, "
        f"generation {status['generation']}"
    )
    if status["pending"]:
        page.add(f"pending  {counted(status['pending'], 'file')}, followed without being asked")
    page.add(f"languages  {languages or 'none'}")
    if reasons := Counter(status["skipped"].values()):
        told = ", ".join(f"{count:,} {reason}" for reason, count in reasons.most_common(8))
        page.add(f"skipped  {counted(reasons.total(), 'file')}: {told}")
    if status["last_error"]:
        page.add(f"last error  {status['last_error']}")
    for one in findings or ():
        if one["level"] != "ok":
            page.add(
                f"{one['level']}  {one['check']}: {one['message']}  (try: {one['hint'] or Hint.of('doctor', fix=True)})"
            )
    if findings is not None and all(one["level"] == "ok" for one in findings):
        page.add(f"healthy: {len(findings)} checks found nothing wrong")
    return page.close([])
