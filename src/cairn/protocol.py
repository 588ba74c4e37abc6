"""What passes between processes: requests, answers and errors, one schema of each for command line, HTTP and MCP.

Requests are dataclasses whose annotations carry their limits; `cairn.schema` reads and describes them. Answers are JSON
documents. Nothing here does I/O.
"""

from __future__ import annotations

from dataclasses import MISSING, asdict, dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict

from cairn.errors import CairnError, RequestError
from cairn.schema import Rule, decode, encode, wire_name
from cairn.types import Answer, CodeHit, Confidence, Fetched, Match, Mode, Outline, OutlineMode

if TYPE_CHECKING:
    from cairn.graph.flow import FlowGraph, Slice

# Of requests, answers and the file by which the daemon is found. A daemon of another number is replaced.
PROTOCOL_VERSION = 1
MAX_ANSWER_TOKENS = 1_000_000
DEFAULT_ANSWER_TOKENS = 8_000

# -- requests ----------------------------------------------------------------------------------------------------------

_Name = Annotated[str, Rule(min_length=1, max_length=1_000)]
_Tokens = Annotated[
    int | None,
    Rule("what the answer may cost, in estimated tokens; what is left out is counted", least=0, most=MAX_ANSWER_TOKENS),
]
_Limit = Annotated[int, Rule("how many at most; 0: all", least=0, most=100_000)]
_Update = Annotated[bool, Rule("look for changed files first, as the command line does; the daemon watches anyway")]
_Branch = Annotated[
    str | None, Rule("a branch, tag or commit instead of what is checked out", min_length=1, max_length=1_000)
]
_Symbol = Annotated[
    str, Rule("NAME, CLASS.METHOD, PATH:NAME, PATH:LINE, PATH, or the id of a hit", min_length=1, max_length=2_000)
]
_Changed = Annotated[str | None, Rule("what changes, as for callers", min_length=1, max_length=2_000)]
_Diff = Annotated[
    str | None, Rule("what changed since this revision, instead of a symbol", min_length=1, max_length=1_000)
]
_Summary = Annotated[str | None, Rule("what the file is for, in a sentence", max_length=500)]
_Path = Annotated[str, Rule("a file of the project, relative to its root", min_length=1, max_length=4_096)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectRequest:
    """Anything asked of one project."""

    project: Annotated[str, Rule("name or folder of a project; by default the one at hand", max_length=4_096)] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRequest(ProjectRequest):
    """What may be asked in a session, which is not sent the same thing twice."""

    session: Annotated[str, Rule("the session's id, as /api/session/start gave it", max_length=200)] = ""
    repeat: Annotated[bool, Rule("send again what this session was sent already")] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest(SessionRequest):
    """Find code by meaning, name, text or pattern. With the project `all`, every known project is searched."""

    query: Annotated[
        str,
        Rule("prose, a name, a quoted text, a regular expression, or `callers of X`"),
    ]
    branch: _Branch = None
    limit: Annotated[int, Rule("hits at most; 0: all matches of an exact search", least=0, most=100_000)] = 10
    mode: Annotated[Mode, Rule("how the query is meant")] = "auto"
    kinds: Annotated[tuple[_Name, ...], Rule("only definitions of these kinds: function, class...", max_length=50)] = ()
    languages: Annotated[tuple[_Name, ...], Rule("only files in these languages", max_length=50)] = ()
    globs: Annotated[tuple[_Name, ...], Rule("only these paths; !GLOB leaves out", max_length=50)] = ()
    context: Annotated[int, Rule("show so many lines around the first line of a hit", least=0, most=1_000)] = 0
    max_tokens: _Tokens = None
    explain: Annotated[bool, Rule("say what each score is made of")] = False
    expand: Annotated[bool, Rule("show a few callers and callees of each hit")] = False
    update: _Update = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchRequest(SessionRequest):
    """Get the full text of results by their ids."""

    ids: Annotated[
        tuple[_Name, ...], Rule("ids from a search, or PATH#NAME from an outline", min_length=1, max_length=1_000)
    ]
    branch: _Branch = None
    skip_lines: Annotated[int, Rule("leave out so many lines of each text: a cut text goes on there", least=0)] = 0
    max_tokens: _Tokens = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRequest(SessionRequest):
    """Get what is around chosen results, or what a task needs: definitions with callers, callees and tests."""

    task: Annotated[str, Rule("what is to be done, in prose; instead of ids", max_length=10_000)] = ""
    ids: Annotated[tuple[_Name, ...], Rule("ids from a search; instead of a task", max_length=50)] = ()
    files: Annotated[tuple[_Path, ...], Rule("files known to matter; they come first", max_length=50)] = ()
    limit: Annotated[int, Rule("definitions at most", least=1, most=50)] = 5
    max_tokens: _Tokens = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineRequest(ProjectRequest):
    """List what a file defines, as it is on disk now."""

    file: _Path
    mode: Annotated[OutlineMode, Rule("structure, one symbol with what is around it, or how functions flow")] = (
        "structure"
    )
    symbol: Annotated[
        str | None, Rule("only this definition: its name, or a line in it", min_length=1, max_length=1_000)
    ] = None
    max_tokens: _Tokens = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SymbolRequest(ProjectRequest):
    """Ask who calls a symbol, or what it calls."""

    symbol: _Symbol
    limit: _Limit = 0
    max_tokens: _Tokens = None
    update: _Update = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PathRequest(ProjectRequest):
    """Ask for the shortest way of calls from one symbol to another."""

    source: _Symbol
    target: _Symbol
    max_tokens: _Tokens = None
    update: _Update = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportersRequest(ProjectRequest):
    """Ask which files import a file."""

    target: Annotated[str, Rule("a path, a module's name, or a symbol of the file", min_length=1, max_length=4_096)]
    max_tokens: _Tokens = None
    update: _Update = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRequest(ProjectRequest):
    """Ask what a change may break, or which tests to run for it. One of `symbol` and `diff` is needed."""

    symbol: _Changed = None
    diff: _Diff = None
    limit: _Limit = 0
    max_tokens: _Tokens = None
    update: _Update = False


Relation = Literal["callers", "callees", "path", "impact", "tests", "importers"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphRequest(ProjectRequest):
    """Ask the symbol graph one of its questions: all of `graph/...` in one form; see `graph_operation`."""

    relation: Annotated[
        Relation, Rule("what to ask; path: of calls from `symbol` to `target`; importers: of the file `symbol`")
    ]
    symbol: _Changed = None
    target: Annotated[str | None, Rule("where a path of calls ends", min_length=1, max_length=2_000)] = None
    diff: _Diff = None
    limit: _Limit = 0
    max_tokens: _Tokens = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreListRequest(ProjectRequest):
    """Show the core files: what each is for and what it defines, as far as the budget goes."""

    max_tokens: _Tokens = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreAddRequest(ProjectRequest):
    """Mark a file as a core file, or give it another summary."""

    file: _Path
    summary: _Summary = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreRemoveRequest(ProjectRequest):
    """Take the mark of a core file away."""

    file: _Path


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreSuggestRequest(ProjectRequest):
    """Ask which files might be core files: those that most of the code leads to and that are not marked."""

    limit: Annotated[int, Rule("how many at most", least=1, most=100)] = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreRequest(ProjectRequest):
    """Ask for or change the core files: all of `core/...` in one form; see `core_operation`."""

    action: Annotated[Literal["list", "mark", "unmark", "suggest"], Rule("what to do")] = "list"
    file: Annotated[_Path | None, Rule("which file to mark or unmark")] = None
    summary: _Summary = None
    limit: Annotated[int, Rule("how many suggestions at most", least=1, most=100)] = 10
    max_tokens: _Tokens = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexStatusRequest(ProjectRequest):
    """Ask how much is indexed, and how well it is."""

    check: Annotated[bool, Rule("examine the index and all it stands on, too")] = False


# For each choice of a request that stands for several: the operation, and what that calls the fields it takes.
_Forms = dict[str, tuple[str, dict[str, str]]]
_OF_SYMBOL = {"symbol": "symbol", "limit": "limit", "max_tokens": "max_tokens"}
_OF_CHANGE = {**_OF_SYMBOL, "diff": "diff"}
_GRAPH_FORMS: _Forms = {
    "callers": ("graph/callers", _OF_SYMBOL),
    "callees": ("graph/callees", _OF_SYMBOL),
    "path": ("graph/path", {"symbol": "source", "target": "target", "max_tokens": "max_tokens"}),
    "impact": ("graph/impact", _OF_CHANGE),
    "tests": ("graph/tests", _OF_CHANGE),
    "importers": ("graph/importers", {"symbol": "target", "max_tokens": "max_tokens"}),
}
_CORE_FORMS: _Forms = {
    "list": ("core/list", {"max_tokens": "max_tokens"}),
    "mark": ("core/add", {"file": "file", "summary": "summary"}),
    "unmark": ("core/remove", {"file": "file"}),
    "suggest": ("core/suggest", {"limit": "limit"}),
}


def graph_operation(asked: GraphRequest) -> tuple[str, ProjectRequest]:
    """Return the operation, by its name, and the request for it that a question to the graph stands for.

    Raises:
        RequestError: if it lacks what that question needs, or has what it cannot take.
    """
    return _chosen(asked, "relation", _GRAPH_FORMS)


def core_operation(asked: CoreRequest) -> tuple[str, ProjectRequest]:
    """Return the operation on core files, by its name, and the request for it that a request stands for.

    Raises:
        RequestError: as `graph_operation`.
    """
    return _chosen(asked, "action", _CORE_FORMS)


def _chosen(asked: ProjectRequest, by: str, forms: _Forms) -> tuple[str, ProjectRequest]:
    choice = getattr(asked, by)
    name, names = forms[choice]
    names = {"project": "project", **names}
    given = {key: value for key, value in encode(asked).items() if key != by}
    if wrong := [key for key in given if key not in names]:
        raise RequestError(f"{choice} takes no {wrong[0]!r}", f"it takes: {', '.join(names)}")
    kind = OPERATIONS[name].request
    needed = {one.name for one in fields(kind) if one.default is MISSING}
    if missing := [ours for ours, theirs in names.items() if theirs in needed and ours not in given]:
        raise RequestError(f"{choice} needs {missing[0]!r}", f"it takes: {', '.join(names)}")
    return name, decode(kind, {names[key]: value for key, value in given.items()})


class Operation(NamedTuple):
    """Something that is asked of a project: its name, which is its address below `/api/`, and what it takes.

    What it gives is in `answer_type`. They change the index at most; `core/add` and `core/remove` change
    `.cairn/core.yaml`.
    """

    name: str
    request: type[ProjectRequest]
    summary: str


OPERATIONS = {
    one.name: one
    for one in (
        Operation("search", SearchRequest, "Find code by meaning, name, text or pattern"),
        Operation("fetch", FetchRequest, "Get the full text of results"),
        Operation("context", ContextRequest, "Get what is around results, or what a task needs"),
        Operation("outline", OutlineRequest, "List what a file defines"),
        Operation("graph/callers", SymbolRequest, "Show what calls a symbol"),
        Operation("graph/callees", SymbolRequest, "Show what a symbol calls"),
        Operation("graph/path", PathRequest, "Show the shortest way of calls between two symbols"),
        Operation("graph/importers", ImportersRequest, "Show which files import a file"),
        Operation("graph/impact", ChangeRequest, "Show what a change may break"),
        Operation("graph/tests", ChangeRequest, "Show which tests to run for a change"),
        Operation("core/list", CoreListRequest, "Show the core files"),
        Operation("core/add", CoreAddRequest, "Mark a core file"),
        Operation("core/remove", CoreRemoveRequest, "Take the mark of a core file away"),
        Operation("core/suggest", CoreSuggestRequest, "Suggest core files"),
    )
}


def answer_type(operation: str) -> Any:  # noqa: ANN401 - an annotation
    """Return what an operation answers, as a type that `cairn.schema.json_schema` describes."""
    from cairn.graph import values  # noqa: PLC0415 - start-up time: only descriptions need it

    types: dict[str, Any] = {
        "search": SearchDocument,
        "fetch": list[FetchedDocument],
        "context": ContextDocument,
        "outline": OutlineDocument,
        "graph/callers": values.Links,
        "graph/callees": values.Links,
        "graph/path": values.CallPath,
        "graph/importers": values.Importers,
        "graph/impact": values.Impact,
        "graph/tests": values.TestChoice,
        "core/list": CoreListDocument,
        "core/add": CoreChangeDocument,
        "core/remove": CoreChangeDocument,
        "core/suggest": list[CoreSuggestionDocument],
    }
    return types[operation]


# -- answers -----------------------------------------------------------------------------------------------------------


class ErrorDocument(TypedDict):
    """What went wrong: a stable code, a sentence, and the next thing to do."""

    code: str
    message: str
    hint: str


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
    """A piece of code. `project` names its project when several were searched; `sent` says that the session has it."""

    id: str
    kind: str
    name: str
    filepath: str
    start_line: int
    end_line: int
    language: str
    signature: str
    tokens: int
    relevance: float
    confidence: Confidence
    preview: str
    neighbours: NotRequired[list[NeighbourDocument]]
    stale: NotRequired[bool]
    score: NotRequired[float]
    explain: NotRequired[dict[str, float] | None]
    captures: NotRequired[list[dict[str, str]]]
    similarity: NotRequired[float | None]
    match: NotRequired[Match]
    project: NotRequired[str]
    sent: NotRequired[bool]


class SearchDocument(TypedDict):
    """The answer to a query: hits best first, and what they stand on."""

    query: str
    mode: str
    view: str
    branch: str
    generation: int
    code: list[HitDocument]
    memory: list[dict[str, Any]]
    total_tokens_available: int
    omitted: int
    coverage: CoverageDocument
    took_ms: float
    revision: NotRequired[str]
    notes: NotRequired[list[str]]


class FetchedDocument(TypedDict):
    """The text of one result. `omitted_lines` were cut off its end, `sent` says that the session has it already."""

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
    sent: NotRequired[bool]


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
    """What is around results or what a task needs; `omitted` definitions did not fit."""

    items: list[ContextItem]
    omitted: int
    tokens: int
    notes: list[str]


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
    """What a file defines."""

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
    """A core file that was marked or is none any more; `changed` tells whether that is new."""

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
    return {"code": error.code, "message": str(error), "hint": error.hint}


def answer_to_dict(answer: Answer) -> SearchDocument:
    """Return a search answer as the JSON document of docs/cli.md."""
    document: SearchDocument = {
        "query": answer.query,
        "mode": answer.mode,
        "view": answer.view,
        "branch": answer.branch,
        "generation": answer.generation,
        "code": [_hit_to_dict(hit) for hit in answer.code],
        "memory": [],
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
    if answer.notes:
        document["notes"] = list(answer.notes)
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
    if hit.neighbours is not None:
        document["neighbours"] = [
            {
                "relation": one.relation,
                "filepath": one.path,
                "line": one.line,
                "kind": one.kind,
                "name": one.name,
                "how": one.how,
            }
            for one in hit.neighbours
        ]
    if hit.stale:
        document["stale"] = True
    if hit.explain is not None:
        document["score"] = hit.score
        document["explain"] = hit.explain
    if hit.captures is not None:
        document["captures"] = list(hit.captures)
    if hit.match is not None:
        document["similarity"] = hit.similarity
        document["match"] = hit.match
    return document


def graph_to_dict(value: object) -> Any:  # noqa: ANN401 - any JSON
    """Return an answer of the symbol graph as JSON: its fields, `path` being called `filepath` as everywhere."""
    if is_dataclass(value) and not isinstance(value, type):
        return {wire_name(one.name): graph_to_dict(getattr(value, one.name)) for one in fields(value)}
    return [graph_to_dict(one) for one in value] if isinstance(value, tuple) else value


def fetched_to_dict(fetched: Fetched) -> FetchedDocument:
    """Return a fetched text as JSON."""
    return {
        "id": fetched.id,
        "kind": fetched.kind,
        "name": fetched.name,
        "start_line": fetched.start_line,
        "end_line": fetched.end_line,
        "language": fetched.language,
        "text": fetched.text,
        "tokens": fetched.tokens,
        "stale": fetched.stale,
        "revision": fetched.revision,
        "filepath": fetched.path,
    }


def outline_to_dict(outline: Outline) -> OutlineDocument:
    """Return an outline as JSON."""
    return {
        "filepath": outline.path,
        "language": outline.language,
        "mode": outline.mode,
        "lines": outline.lines,
        "file_tokens": outline.file_tokens,
        "imports": list(outline.imports),
        "symbols": [
            {
                "id": symbol.id,
                "kind": symbol.kind,
                "name": symbol.name,
                "qualified_name": symbol.qualified_name,
                "signature": symbol.signature,
                "doc": symbol.doc,
                "start_line": symbol.start_line,
                "end_line": symbol.end_line,
                "depth": symbol.depth,
            }
            for symbol in outline.symbols
        ],
        "omitted": outline.omitted,
        "text": outline.text,
        "tokens": outline.text_tokens,
        "notes": list(outline.notes),
    }


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
        "dependences": [asdict(one) for one in graph.dependences],
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
    }
