"""Requests: dataclasses whose annotations carry their limits, which `cairn.schema` reads and describes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from cairn.schema import Rule
from cairn.types import Mode, OutlineMode

MAX_ANSWER_TOKENS = 1_000_000
DEFAULT_ANSWER_TOKENS = 8_000
MAX_BODY_BYTES = 1_000_000  # of one request

_Name = Annotated[str, Rule(min_length=1, max_length=1_000)]
_Kinds = Annotated[tuple[_Name, ...], Rule("only definitions of these kinds: function, class...", max_length=50)]
_Languages = Annotated[tuple[_Name, ...], Rule("only files in these languages", max_length=50)]
_Globs = Annotated[tuple[_Name, ...], Rule("only these paths; !GLOB leaves out", max_length=50)]
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
    build: Annotated[bool, Rule("build the first index if there is none; false: that is an error, told at once")] = True


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
    kinds: _Kinds = ()
    languages: _Languages = ()
    globs: _Globs = ()
    context: Annotated[int, Rule("show so many lines around the first line of a hit", least=0, most=1_000)] = 0
    max_tokens: _Tokens = None
    explain: Annotated[bool, Rule("say what each score is made of")] = False
    expand: Annotated[bool, Rule("show a few callers and callees of each hit")] = False
    update: _Update = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarRequest(ProjectRequest):
    """Find code that does the same as what stands at a line of a file, or as `code`. One of both is needed."""

    file: Annotated[_Path | None, Rule("the file with the code that others are compared with")] = None
    line: Annotated[int, Rule("a line of `file`; the innermost definition there is meant", least=1)] = 1
    code: Annotated[str | None, Rule("a text instead of a place; in the first of `languages`, if there are any")] = None
    limit: Annotated[int, Rule("hits at most; 0: all that are similar", least=0, most=100_000)] = 10
    kinds: _Kinds = ()
    languages: _Languages = ()
    globs: _Globs = ()
    max_tokens: _Tokens = None
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
    update: _Update = False


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
