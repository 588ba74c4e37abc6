"""The frozen values that pass between layers; nothing here does I/O or imports the rest of the package.

Those of answers are in `cairn.answers`: defining classes takes time, which a run of the index can save.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Confidence = Literal["high", "medium", "low"]
ReferenceKind = Literal["call", "construct", "read", "write", "type", "import", "base", "decorate"]
OutlineMode = Literal["structure", "context", "extract"]
Match = Literal["exact", "renamed", "edited", "related"]
Mode = Literal["auto", "hybrid", "literal", "regex", "symbol", "semantic", "structural"]
SearchType = Literal["all", "code", "memory"]
MemoryType = Literal["gotcha", "decision", "bug_fix", "discovery", "trade_off", "session_summary"]
Mark = Literal["good", "bad"]  # of somebody, on what an answer showed
BulkAction = Literal["archive", "resolve", "reopen", "keep", "forget"]  # with all memories that a filter finds
SavingsGroup = Literal["day", "agent", "kind"]
MemoryStatus = Literal["active", "resolved", "superseded", "archived"]
MemoryOrigin = Literal["captured", "agent", "person", "imported"]
# Empty: this machine; else the repository, an import, or a team's server.
MemorySource = Literal["", "shared", "import", "team"]


class FileStat(NamedTuple):
    """One eligible file as the walk found it.

    `path` is relative to the root, with `/` between parts; bytes that are not valid UTF-8 are surrogate-escaped.
    `mtime_ns` is when its content changed, unless that was set by hand, and `ctime_ns` when anything about it did. In a
    commit, `mtime_ns` is 63 bits of the object's id and `ctime_ns` is 0.
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
    """A named thing that a file defines.

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

    The `lines` ranges of a file's chunks are disjoint and cover each of its lines once. `span` is what a reader sees:
    for the chunk in which a definition begins, all of that definition, even though its methods are chunks of their own.
    `definitions` is the half-open range of the file's definitions that begin in this chunk; `owner` is the definition
    to which the chunk belongs (-1 for module-level text), and `part` numbers the pieces of a split definition from 0.
    """

    kind: str
    owner: int
    part: int
    definitions: tuple[int, int]
    header: str
    span: Span
    lines: tuple[tuple[int, int], ...]


MAX_DEFINITIONS = 20_000  # of one file; the rest are data, too
ON_REST = f"only its first {MAX_DEFINITIONS:,} definitions are known"  # what is said of a file that may have more


class ParsedFile(NamedTuple):
    """What one file's content yields. `note` says why no grammar was used, or that there may be more definitions."""

    language: str
    definitions: tuple[Definition, ...]
    chunks: tuple[Chunk, ...]
    note: str = ""


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
    """What it would take to complete one model's vectors; all figures but `missing_files` are estimates.

    `chunks` is exact for files that are already indexed. `tokens` are characters / 4. `cost` is in US dollars, None if
    the price is unknown. `measured` tells whether `seconds` comes from earlier runs with this model.
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
    """What one run did with one model. `embedded` counts chunks sent, `reused` those whose text had a vector already.

    `covered` of `total` chunks now have a vector. `error` is empty if nothing failed; `hint` names the next command.
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
