"""Answers: JSON documents, and how values become them."""

from __future__ import annotations

from dataclasses import asdict, fields, is_dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NotRequired, TypedDict, cast

from cairn.answers import Answer, CodeHit, Fetched, MemoryHit, Outline
from cairn.errors import CairnError
from cairn.schema import wire_name
from cairn.types import Confidence, Match, MemorySource, MemoryStatus, MemoryType, OutlineMode

if TYPE_CHECKING:
    from cairn.structure.flow import FlowGraph, Slice


class NextDocument(TypedDict):
    """What to do next, as data: words, and an action with its arguments; null for one that the reader chooses."""

    words: str
    action: str
    arguments: dict[str, Any]


class ErrorDocument(TypedDict):
    """What went wrong: a stable code, a sentence, and the next thing to do, as a command and as data."""

    code: str
    message: str
    hint: str
    next: NotRequired[NextDocument]


class RemoteDocument(TypedDict):
    """That something is of a team's project and not on this machine: which project, and of which commit."""

    project: str
    commit: str


class CoverageDocument(TypedDict):
    """How much of the project an answer stands on, in files."""

    indexed: int
    eligible: int
    pending: int


class NeighbourDocument(TypedDict):
    """A definition that calls a hit, or that it calls."""

    relation: Literal["caller", "callee"]
    filepath: str
    line: int
    kind: str
    name: str
    how: str


class HitDocument(TypedDict):
    """A piece of code. `project` names its project when several were searched; `sent` says that the session has it.

    Where a budget ends, the last hit may have no `preview` and no `signature`, or just its place, name and id.
    """

    id: str
    kind: str
    name: str
    filepath: str
    start_line: int
    end_line: int
    language: NotRequired[str]
    signature: NotRequired[str]
    tokens: NotRequired[int]
    relevance: NotRequired[float]
    confidence: NotRequired[Confidence]
    preview: NotRequired[str]
    qualified_name: NotRequired[str]
    neighbours: NotRequired[list[NeighbourDocument]]
    stale: NotRequired[bool]
    origin: NotRequired[Literal["generated", "vendored"]]
    score: NotRequired[float]
    explain: NotRequired[dict[str, float] | None]
    captures: NotRequired[list[dict[str, str]]]
    similarity: NotRequired[float | None]
    match: NotRequired[Match]
    part: NotRequired[str]
    project: NotRequired[str]
    remote: NotRequired[RemoteDocument]
    sent: NotRequired[bool]


class MemoryHitDocument(TypedDict):
    """A memory that was found. `text` is there where `summary` is only its beginning, and the answer is about memories.

    `check` says what became of the code that it speaks of, and `source` that words of it came with the repository or an
    import. Where a budget ends, only the first five fields
    and `check` are left.
    `project` names its project when several were searched; `sent` says that the session has it.
    """

    id: str
    type: MemoryType
    status: MemoryStatus
    summary: str
    files: list[str]
    importance: NotRequired[int]
    tags: NotRequired[list[str]]
    created: NotRequired[str]
    tokens: NotRequired[int]
    relevance: NotRequired[float]
    confidence: NotRequired[Confidence]
    why: NotRequired[str]
    check: NotRequired[str]
    source: NotRequired[MemorySource]
    text: NotRequired[str]
    project: NotRequired[str]
    sent: NotRequired[bool]


class SearchDocument(TypedDict):
    """The answer to a query: hits best first, and what they stand on.

    `searched` is there where the time of an exact search was up: so many files had been looked at. `omitted_notes` and
    `omitted_memory` are there where a budget had no room for so many notes and memories.
    """

    query: str
    mode: str
    view: str
    branch: str
    generation: int
    code: list[HitDocument]
    memory: list[MemoryHitDocument]
    total_tokens_available: int
    omitted: int
    coverage: CoverageDocument
    took_ms: float
    revision: NotRequired[str]
    searched: NotRequired[int]
    notes: NotRequired[list[str]]
    omitted_notes: NotRequired[int]
    omitted_memory: NotRequired[int]
    remote: NotRequired[RemoteDocument]


class FetchedDocument(TypedDict):
    """The text of one result. `omitted_lines` were cut off its end, `sent` says that the session has it already.

    `omitted_ids` is in the last one: of so many ids behind it, not even a row had room. `error` says why there is
    nothing of an id, where others have a text.
    """

    id: str
    kind: str
    name: str
    filepath: str
    start_line: int
    end_line: int
    language: str
    text: str
    tokens: int
    stale: bool
    revision: str
    omitted_lines: NotRequired[int]
    omitted_ids: NotRequired[int]
    remote: NotRequired[RemoteDocument]
    sent: NotRequired[bool]
    error: NotRequired[ErrorDocument]


class ContextItem(TypedDict):
    """A definition with what is around it, as text. `id` is for fetch."""

    id: str
    kind: str
    name: str
    filepath: str
    start_line: int
    end_line: int
    text: str
    tokens: int
    sent: NotRequired[bool]


class ContextDocument(TypedDict):
    """What is around results or what a task needs, and memories of it.

    `omitted` definitions and `omitted_memory` memories did not fit.
    """

    items: list[ContextItem]
    memory: list[MemoryHitDocument]
    omitted: int
    tokens: int
    notes: list[str]
    omitted_memory: NotRequired[int]
    remote: NotRequired[RemoteDocument]


class OutlineSymbolDocument(TypedDict):
    """A definition of a file."""

    id: str
    kind: str
    name: str
    qualified_name: str
    signature: str
    doc: str
    start_line: int
    end_line: int
    depth: int


class OutlineDocument(TypedDict):
    """What a file defines. `unlisted` entries of `imports` and `symbols` had no room beside `text`."""

    filepath: str
    language: str
    mode: OutlineMode
    lines: int
    file_tokens: int
    imports: list[str]
    symbols: list[OutlineSymbolDocument]
    omitted: int
    text: str
    tokens: int
    notes: list[str]
    unlisted: NotRequired[int]
    remote: NotRequired[RemoteDocument]


class CoreSymbolDocument(TypedDict):
    """A definition of a core file, as a line of its outline."""

    line: int
    signature: str


class CoreFileDocument(TypedDict):
    """A core file. `missing` says that it is not there any more; `omitted` definitions had no room."""

    filepath: str
    summary: str
    missing: bool
    symbols: list[CoreSymbolDocument]
    omitted: int


class CoreListDocument(TypedDict):
    """The core files in the order in which they are marked; `omitted` files had no room."""

    files: list[CoreFileDocument]
    omitted: int
    tokens: int


class CoreChangeDocument(TypedDict):
    """A core file that was marked or unmarked; `changed` says whether that is new."""

    filepath: str
    summary: str
    changed: bool


class CoreSuggestionDocument(TypedDict):
    """A file that might be a core file, with its rank, which sums to 1 over all, and its most central definitions."""

    filepath: str
    rank: float
    symbols: list[CoreSymbolDocument]


def error_to_dict(error: CairnError) -> ErrorDocument:
    """Return an error as JSON."""
    return cast("ErrorDocument", error.to_dict())


def answer_to_dict(answer: Answer) -> SearchDocument:
    """Return a search answer as the JSON document of docs/cli.md."""
    document: SearchDocument = {
        "query": answer.query,
        "mode": answer.mode,
        "view": answer.view,
        "branch": answer.branch,
        "generation": answer.generation,
        "code": [_hit_to_dict(hit) for hit in answer.code],
        "memory": [memory_hit_to_dict(hit) for hit in answer.memory],
        "total_tokens_available": answer.total_tokens_available,
        "omitted": answer.omitted,
        "coverage": {
            "indexed": answer.coverage.indexed,
            "eligible": answer.coverage.eligible,
            "pending": answer.coverage.pending,
        },
        "took_ms": answer.took_ms,
    }
    if answer.revision:
        document["revision"] = answer.revision
    if answer.searched is not None:
        document["searched"] = answer.searched
    if answer.omitted_memory:
        document["omitted_memory"] = answer.omitted_memory
    if answer.notes:
        document["notes"] = list(answer.notes)
    return document


def memory_hit_to_dict(hit: MemoryHit, *, whole: bool = False) -> MemoryHitDocument:
    """Return a memory as a row of an answer; with its text if it is wanted `whole`."""
    document: MemoryHitDocument = {
        "id": hit.id,
        "type": hit.type,
        "status": hit.status,
        "summary": hit.summary,
        "files": list(hit.files),
        "importance": hit.importance,
        "tags": list(hit.tags),
        "created": hit.created,
        "tokens": hit.tokens,
        "relevance": hit.relevance,
        "confidence": hit.confidence,
        "why": hit.why,
    }
    if hit.check:
        document["check"] = hit.check
    if hit.source:
        document["source"] = hit.source
    if whole and hit.text != hit.summary:
        document["text"] = hit.text
    return document


def _hit_to_dict(hit: CodeHit) -> HitDocument:
    document: HitDocument = {
        "id": hit.id,
        "kind": hit.kind,
        "name": hit.name,
        "filepath": hit.path,
        "start_line": hit.start_line,
        "end_line": hit.end_line,
        "language": hit.language,
        "signature": hit.signature,
        "tokens": hit.tokens,
        "relevance": hit.relevance,
        "confidence": hit.confidence,
        "preview": hit.preview,
    }
    if hit.qualified_name != hit.name:
        document["qualified_name"] = hit.qualified_name
    if hit.neighbours is not None:
        document["neighbours"] = [cast("NeighbourDocument", _row(neighbour)) for neighbour in hit.neighbours]
    if hit.stale:
        document["stale"] = True
    if hit.origin:
        document["origin"] = hit.origin
    if hit.explain is not None:
        document["score"] = hit.score
        document["explain"] = hit.explain
    if hit.captures is not None:
        document["captures"] = list(hit.captures)
    if hit.match is not None:
        document["similarity"] = hit.similarity
        document["match"] = hit.match
    if hit.part:
        document["part"] = hit.part
    return document


def _row(value: NamedTuple) -> dict[str, Any]:
    """Return the fields of a flat value under their names in JSON."""
    return {wire_name(name): field for name, field in value._asdict().items()}


def graph_to_dict(value: object) -> Any:  # noqa: ANN401 - any JSON
    """Return an answer of the symbol graph as JSON: its fields, `path` being called `filepath` as everywhere."""
    if is_dataclass(value) and not isinstance(value, type):
        held = [(field, getattr(value, field.name)) for field in fields(value)]
        return {
            wire_name(field.name): graph_to_dict(part)
            for field, part in held
            if part is not None or not field.metadata.get("left_out")
        }
    return [graph_to_dict(item) for item in value] if isinstance(value, tuple) else value


def fetched_to_dict(fetched: Fetched) -> FetchedDocument:
    """Return a fetched text as JSON."""
    return cast("FetchedDocument", graph_to_dict(fetched))


def outline_to_dict(outline: Outline) -> OutlineDocument:
    """Return an outline as JSON."""
    return {
        "filepath": outline.path,
        "language": outline.language,
        "mode": outline.mode,
        "lines": outline.lines,
        "file_tokens": outline.file_tokens,
        "imports": list(outline.imports),
        "symbols": [cast("OutlineSymbolDocument", _row(symbol)) for symbol in outline.symbols],
        "omitted": outline.omitted,
        "text": outline.text,
        "tokens": outline.text_tokens,
        "notes": list(outline.notes),
    }


class FlowWayDocument(TypedDict):
    """A step that may follow another, and when; `exception` and `skipped` are no ways that the program goes."""

    step: int
    when: str


class FlowStepDocument(TypedDict):
    """A statement, or the head of one that holds others."""

    kind: str
    start_line: int
    end_line: int
    text: str
    reads: list[str]
    writes: list[str]
    next: list[FlowWayDocument]


class FlowDocument(TypedDict):
    """The flow of a function: its steps, runs of them without a fork, and which step reads what another wrote."""

    filepath: str
    language: str
    function: str
    start_line: int
    end_line: int
    complexity: int
    steps: list[FlowStepDocument]
    blocks: list[dict[str, int]]
    dependences: list[dict[str, Any]]


def flow_to_dict(graph: FlowGraph) -> dict[str, Any]:
    """Return the flow of a function as JSON."""
    steps = [
        {
            "kind": step.kind,
            "start_line": step.first_line,
            "end_line": step.last_line,
            "text": step.text,
            "reads": sorted({name.lstrip("*") for name in step.access.reads}),
            "writes": sorted(step.access.writes),
            "next": [{"step": target, "when": kind} for target, kind in step.successors],
        }
        for step in graph.control.steps
    ]
    return {
        "filepath": graph.path,
        "language": graph.language,
        "function": graph.control.name,
        "start_line": graph.control.first_line,
        "end_line": graph.control.last_line,
        "complexity": graph.control.complexity(),
        "steps": steps,
        "blocks": [{"first": first, "last": last} for first, last in graph.control.blocks()],
        "dependences": [asdict(dependence) for dependence in graph.dependences],
    }


def slice_to_dict(found: Slice) -> dict[str, Any]:
    """Return a slice as JSON."""
    return {
        "filepath": found.path,
        "language": found.language,
        "function": found.function,
        "line": found.line,
        "variable": found.variable,
        "direction": "forward" if found.forward else "backward",
        "lines": [{"line": number, "text": text} for number, text in found.lines],
        "notes": list(found.notes),
    }
