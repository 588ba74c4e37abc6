"""The frozen values that answers are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from cairn.types import Confidence, Match, MemorySource, MemoryStatus, MemoryType, OutlineMode

MEMORIES_BESIDE = 3  # most memories in an answer about code


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of the project an answer covers, in files."""

    indexed: int
    eligible: int
    pending: int


class Neighbour(NamedTuple):
    """A definition that calls a hit or is called by it.

    `relation` is `caller`, with the line of the call, or `callee`, with the line of its definition. `name` is
    qualified, and empty for the top level of a file. `how` says how the call was resolved; see `cairn.graph.values`.
    """

    relation: Literal["caller", "callee"]
    path: str
    line: int
    kind: str
    name: str
    how: Literal["exact", "import", "receiver", "name"]


class CodeHit(NamedTuple):
    """One piece of code in an answer. `tokens` is an estimate (bytes / 4) for the text that `fetch` returns.

    `captures` are what the metavariables of a structural pattern stand for, by name, once for each match on the lines.
    `similarity`, 0 to 1, and `match` say how similar this is to the sample, for a question about similar code, or how
    much of what was pasted stands on the lines.
    `origin` is empty for what people of the project wrote.
    `neighbours` is None unless the request wanted them. `qualified_name` includes the names of what encloses it. `part`
    says which part of a long text this answers: `raised here`, `frame 2`, `changed here`, `route of the request`,
    `named in the text`, `changed by HASH`, or nothing.
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
    qualified_name: str = ""
    origin: Literal["", "generated", "vendored"] = ""
    part: str = ""


@dataclass(frozen=True, slots=True)
class MemoryHit:
    """A memory in an answer. `summary` is how its text begins; `tokens` is an estimate for all of it.

    `files` are what it is tied to, as `path` or `path::name`. `why` says what led to it, and `check` what became of the
    code that it speaks of, empty if that is as it was. `source` is empty for what was learned on this machine.
    """

    id: str
    type: MemoryType
    status: MemoryStatus
    summary: str
    text: str
    files: tuple[str, ...]
    importance: int
    tags: tuple[str, ...]
    created: str
    tokens: int
    relevance: float
    confidence: Confidence
    why: str
    check: str = ""
    source: MemorySource = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one query: the hits, best first, and what they are based on.

    `view` names the files that were searched: a folder, or the requested branch or commit; `revision` is then the full
    hash of the commit, else empty. `branch` was checked out when these files were last compared with the index.
    `omitted` counts hits left out to stay within `max_tokens`; `notes` are sentences for the reader, such as how the
    query was understood. `memory` is what earlier sessions learned, best first; `omitted_memory` counts those that
    `max_tokens` left out. `searched` is how many files an exact search read before time ran out; None if it read all.
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
    searched: int | None = None
    memory: tuple[MemoryHit, ...] = ()
    omitted_memory: int = 0


@dataclass(frozen=True, slots=True)
class Fetched:
    """The full text of one hit, as it is now.

    `stale` means that its file changed since it was indexed and no longer holds it. `revision` is the full hash of the
    commit from which it was read, empty for a file on disk.
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


class OutlineSymbol(NamedTuple):
    """One definition in an outline. `id` is for `fetch`; `doc` is the first line of its documentation.

    `depth` counts the enclosing definitions. Lines are those of the definition itself, without comments above it.
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

    `text` is the outline for the reader, with about `text_tokens` tokens; the whole file has `file_tokens` (both are
    estimates). `symbols` are those that `text` shows, in reading order; `omitted` counts the rest. `imports` are as
    in the file, without their keyword. `notes` are sentences for the reader. `focus` is the definition that the request
    named, if any.
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
    focus: OutlineSymbol | None = None
