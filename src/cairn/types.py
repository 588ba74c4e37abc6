"""The frozen values that pass between layers; nothing here does I/O or imports the rest of the package."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Confidence = Literal["high", "medium", "low"]
OutlineMode = Literal["structure", "context", "extract"]
Match = Literal["exact", "renamed", "edited", "related"]
Mode = Literal["auto", "hybrid", "literal", "regex", "symbol", "semantic", "structural"]


class FileStat(NamedTuple):
    """One eligible file as the walk found it.

    `path` is relative to the root, with `/` between parts; bytes that are no UTF-8 are surrogate-escaped. `mtime_ns` is
    when its content changed, as far as that was not set by hand; `ctime_ns` when anything about it did. In a commit, 63
    bits of the object's id stand for the one, and 0 for the other.
    """

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int = 0


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was not indexed, and why."""

    path: str
    reason: str


class Span(NamedTuple):
    """A stretch of a file: lines are 1-based and inclusive, bytes 0-based and half-open."""

    start_line: int
    end_line: int
    start_byte: int
    end_byte: int


class Definition(NamedTuple):
    """A named thing a file defines.

    `span` starts at the definition itself, not at the comment or decorator above it. `qualified_name` joins the names
    of the enclosing definitions with dots. `parent` indexes the enclosing definition in the file's list, -1 for none.
    """

    kind: str
    name: str
    qualified_name: str
    signature: str
    doc: str
    parent: int
    span: Span


class Chunk(NamedTuple):
    """A unit of retrieval: some whole lines of one file, in reading order.

    The `lines` ranges of a file's chunks are disjoint and cover each of its lines once. `span` is what a reader is
    shown: for the chunk that opens a definition, all of that definition, though its methods are chunks of their own.
    `definitions` is the half-open range of the file's definitions that begin in this chunk; `owner` is the definition
    the chunk belongs to (-1 for module-level text) and `part` counts the pieces of one that was split, from 0.
    """

    kind: str
    owner: int
    part: int
    definitions: tuple[int, int]
    header: str
    span: Span
    lines: tuple[tuple[int, int], ...]


class ParsedFile(NamedTuple):
    """What one file's content yields. `note` says why a grammar was not used, empty when it was."""

    language: str
    definitions: tuple[Definition, ...]
    chunks: tuple[Chunk, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of the project the answer stands on, in files."""

    indexed: int
    eligible: int
    pending: int


class Neighbour(NamedTuple):
    """A definition that calls a hit or is called by it.

    `relation` is `caller`, with the line of the call, or `callee`, with the line of its definition. `name` is
    qualified, empty for the top level of a file; `how` the call was resolved is as in `cairn.graph.values`.
    """

    relation: Literal["caller", "callee"]
    path: str
    line: int
    kind: str
    name: str
    how: Literal["exact", "import", "receiver", "name"]


@dataclass(frozen=True, slots=True)
class CodeHit:
    """One piece of code in an answer. `tokens` is an estimate (bytes / 4) for the text that `fetch` returns.

    `captures` are what the metavariables of a structural pattern stand for, by name, once for each match on the lines.
    `similarity`, 0 to 1, and `match` say how alike this is to code that others were asked for.
    `neighbours` is None unless they were asked for.
    """

    id: str
    kind: str
    name: str
    path: str
    start_line: int
    end_line: int
    language: str
    signature: str
    tokens: int
    score: float
    relevance: float
    confidence: Confidence
    preview: str
    stale: bool = False
    explain: dict[str, float] | None = None
    captures: tuple[dict[str, str], ...] | None = None
    similarity: float | None = None
    match: Match | None = None
    neighbours: tuple[Neighbour, ...] | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one query: hits best first, and what they stand on.

    `view` names the files that were searched: a folder, or the branch or commit that was asked for; `revision` is then
    the full hash of the commit, else empty. `branch` is the one when these files were last compared with the index.
    `omitted` counts hits left out to keep within `max_tokens`; `notes` are sentences for the reader, such as how the
    query was understood.
    """

    query: str
    mode: str
    branch: str
    generation: int
    code: tuple[CodeHit, ...]
    coverage: Coverage
    took_ms: float
    total_tokens_available: int
    omitted: int = 0
    notes: tuple[str, ...] = ()
    view: str = ""
    revision: str = ""


@dataclass(frozen=True, slots=True)
class Fetched:
    """The full text of one hit, as it stands now.

    `stale` says that its file changed since it was indexed, and that it was not found there again. `revision` is the
    full hash of the commit that it was read from, empty for a file on disk.
    """

    id: str
    kind: str
    name: str
    path: str
    start_line: int
    end_line: int
    language: str
    text: str
    tokens: int
    stale: bool = False
    revision: str = ""


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What one indexing run did. `files` and `chunks` are the totals now; the rest counts this run."""

    files: int
    chunks: int
    added: int
    changed: int
    removed: int
    renamed: int
    unchanged: int
    embedded_chunks: int
    skipped: tuple[Skipped, ...]
    seconds: float
    generation: int
    dry_run: bool = False
    languages: dict[str, int] = field(default_factory=dict)


class Estimate(NamedTuple):
    """What embedding what is missing with one model would take; all figures but `missing_files` are estimates.

    `chunks` is exact for files that are indexed already. `tokens` are characters / 4. `cost` is in US dollars, None
    when the price is not known. `measured` tells whether `seconds` comes from earlier runs with this model.
    """

    model: str
    missing_files: int
    chunks: int
    tokens: int
    cost: float | None
    seconds: float
    measured: bool
    stays_here: bool


class EmbeddingReport(NamedTuple):
    """What one run did with one model. `embedded` counts chunks sent, `reused` those whose text was embedded before.

    `covered` of `total` chunks have a vector now. `error` is empty when nothing failed; `hint` names the next command.
    """

    model: str
    embedded: int
    reused: int
    covered: int
    total: int
    seconds: float
    error: str = ""
    code: str = ""
    hint: str = ""


class ModelStatus(NamedTuple):
    """One model of the chain: how many of the view's chunks it covers, whether it answers now, its last error."""

    model: str
    covered: int
    total: int
    active: bool
    error: str = ""


class OutlineSymbol(NamedTuple):
    """One definition in an outline. `id` is for `fetch`; `doc` the first line of its documentation.

    `depth` counts the definitions around it. Lines are those of the definition itself, without what stands above it.
    """

    id: str
    kind: str
    name: str
    qualified_name: str
    signature: str
    doc: str
    start_line: int
    end_line: int
    depth: int


@dataclass(frozen=True, slots=True)
class Outline:
    """What a file defines, as it is on disk now.

    `text` is the outline to be read, of about `text_tokens` tokens; `file_tokens` is what the file would cost (both are
    estimates). `symbols` are those that `text` shows, in reading order; `omitted` counts the rest. `imports` are shown
    as they are written, without their keyword. `notes` are sentences for the reader.
    """

    path: str
    language: str
    mode: OutlineMode
    lines: int
    file_tokens: int
    imports: tuple[str, ...]
    symbols: tuple[OutlineSymbol, ...]
    omitted: int
    text: str
    text_tokens: int
    notes: tuple[str, ...] = ()
