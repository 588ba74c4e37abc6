"""Requests: dataclasses whose annotations carry their limits, which `cairn.schema` reads and describes.

Nobody compares or prints them: without the methods for that, defining them takes a third less time at each start.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from cairn import fields
from cairn.fields import DEFAULT_ANSWER_TOKENS as DEFAULT_ANSWER_TOKENS
from cairn.fields import MAX_ANSWER_TOKENS as MAX_ANSWER_TOKENS
from cairn.hints import HintStyle
from cairn.types import Mode, OutlineMode, ReferenceKind, SearchType

MAX_BODY_BYTES = 1_000_000  # of one request

_Name = Annotated[str, fields.NAME]
_Kinds = Annotated[tuple[_Name, ...], fields.KINDS]
_Languages = Annotated[tuple[_Name, ...], fields.LANGUAGES]
_Globs = Annotated[tuple[_Name, ...], fields.GLOBS]
_Tokens = Annotated[int | None, fields.TOKENS]
_Limit = Annotated[int, fields.GRAPH_LIMIT]
_Update = Annotated[bool, fields.UPDATE]
_Branch = Annotated[str | None, fields.BRANCH]
_Symbol = Annotated[str, fields.SYMBOL]
_Changed = Annotated[str | None, fields.CHANGED]
_Diff = Annotated[str | None, fields.DIFF]
_Summary = Annotated[str | None, fields.SUMMARY]
_Path = Annotated[str, fields.FILE]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ProjectRequest:
    """Anything asked of one project."""

    project: Annotated[str, fields.PROJECT] = ""
    build: Annotated[bool, fields.BUILD] = True
    hints: Annotated[HintStyle, fields.HINTS] = "commands"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SessionRequest(ProjectRequest):
    """What may be asked in a session, which is not sent the same thing twice."""

    session: Annotated[str, fields.SESSION] = ""
    repeat: Annotated[bool, fields.REPEAT] = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SearchRequest(SessionRequest):
    """Find code by meaning, name, text or pattern. With the project `all`, every known project is searched."""

    query: Annotated[str, fields.QUERY]
    type: Annotated[SearchType, fields.SEARCH_TYPE] = "all"
    branch: _Branch = None
    limit: Annotated[int, fields.SEARCH_LIMIT] = 10
    mode: Annotated[Mode, fields.MODE] = "auto"
    kinds: _Kinds = ()
    languages: _Languages = ()
    globs: _Globs = ()
    context: Annotated[int, fields.LINES_AROUND] = 0
    max_tokens: _Tokens = None
    explain: Annotated[bool, fields.EXPLAIN] = False
    expand: Annotated[bool, fields.EXPAND] = False
    update: _Update = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SimilarRequest(ProjectRequest):
    """Find code that does the same as what stands at a line of a file, or as `code`. One of both is needed."""

    file: Annotated[_Path | None, fields.SIMILAR_FILE] = None
    line: Annotated[int, fields.SIMILAR_LINE] = 1
    code: Annotated[str | None, fields.SIMILAR_CODE] = None
    limit: Annotated[int, fields.SIMILAR_LIMIT] = 10
    kinds: _Kinds = ()
    languages: _Languages = ()
    globs: _Globs = ()
    max_tokens: _Tokens = None
    update: _Update = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class FetchRequest(SessionRequest):
    """Get the full text of results by their ids."""

    ids: Annotated[tuple[_Name, ...], fields.FETCH_IDS]
    branch: _Branch = None
    skip_lines: Annotated[int, fields.SKIP_LINES] = 0
    max_tokens: _Tokens = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ContextRequest(SessionRequest):
    """Get what is around chosen results, or what a task needs: definitions with callers, callees and tests."""

    task: Annotated[str, fields.TASK] = ""
    ids: Annotated[tuple[_Name, ...], fields.CONTEXT_IDS] = ()
    files: Annotated[tuple[_Path, ...], fields.CONTEXT_FILES] = ()
    limit: Annotated[int, fields.CONTEXT_LIMIT] = 5
    max_tokens: _Tokens = None
    update: _Update = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class OutlineRequest(ProjectRequest):
    """List what a file defines, as it is on disk now."""

    file: _Path
    mode: Annotated[OutlineMode, fields.OUTLINE_MODE] = "structure"
    symbol: Annotated[str | None, fields.OUTLINE_SYMBOL] = None
    max_tokens: _Tokens = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SymbolRequest(ProjectRequest):
    """Ask who calls a symbol, or what it calls."""

    symbol: _Symbol
    limit: _Limit = 0
    max_tokens: _Tokens = None
    update: _Update = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ReferencesRequest(ProjectRequest):
    """Ask what refers to a symbol."""

    symbol: _Symbol
    kinds: Annotated[tuple[ReferenceKind, ...], fields.REFERENCE_KINDS] = ()
    limit: _Limit = 0
    max_tokens: _Tokens = None
    update: _Update = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PathRequest(ProjectRequest):
    """Ask for the shortest way of calls from one symbol to another."""

    source: Annotated[str, fields.PATH_FROM]
    target: Annotated[str, fields.PATH_TO]
    max_tokens: _Tokens = None
    update: _Update = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ImportersRequest(ProjectRequest):
    """Ask which files import a file."""

    target: Annotated[str, fields.IMPORTED]
    max_tokens: _Tokens = None
    update: _Update = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ChangeRequest(ProjectRequest):
    """Ask what a change may break, or which tests to run for it. One of `symbol` and `diff` is needed."""

    symbol: _Changed = None
    diff: _Diff = None
    limit: _Limit = 0
    max_tokens: _Tokens = None
    update: _Update = False


Relation = Literal["callers", "callees", "references", "subclasses", "path", "impact", "tests", "importers"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class GraphRequest(ProjectRequest):
    """Ask the symbol graph one of its questions: all of `graph/...` in one form; see `graph_operation`."""

    relation: Annotated[Relation, fields.RELATION]
    symbol: Annotated[str | None, fields.ASKED_ABOUT] = None
    target: Annotated[str | None, fields.PATH_TO] = None
    diff: _Diff = None
    limit: _Limit = 0
    max_tokens: _Tokens = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class HistoryRequest(ProjectRequest):
    """Ask which commits and files solved something like a query, or shaped a file."""

    query: Annotated[str, fields.HISTORY_QUERY]
    limit: Annotated[int, fields.HISTORY_LIMIT] = 5
    max_tokens: _Tokens = None
    update: _Update = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RelatedRequest(ProjectRequest):
    """Ask which files change together with a file."""

    file: _Path
    limit: Annotated[int, fields.HISTORY_LIMIT] = 10
    max_tokens: _Tokens = None
    update: _Update = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CoreListRequest(ProjectRequest):
    """Show the core files: what each is for and what it defines, as far as the budget goes."""

    max_tokens: _Tokens = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CoreAddRequest(ProjectRequest):
    """Mark a file as a core file, or give it another summary."""

    file: _Path
    summary: _Summary = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CoreRemoveRequest(ProjectRequest):
    """Take the mark of a core file away."""

    file: _Path


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CoreSuggestRequest(ProjectRequest):
    """Ask which files might be core files: those that most of the code leads to and that are not marked."""

    limit: Annotated[int, fields.SUGGEST_LIMIT] = 10


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CoreRequest(ProjectRequest):
    """Ask for or change the core files: all of `core/...` in one form; see `core_operation`."""

    action: Annotated[Literal["list", "mark", "unmark", "suggest"], fields.CORE_ACTION] = "list"
    file: Annotated[_Path | None, fields.CORE_FILE] = None
    summary: _Summary = None
    limit: Annotated[int, fields.SUGGEST_LIMIT] = 10
    max_tokens: _Tokens = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class IndexStatusRequest(ProjectRequest):
    """Ask how much is indexed, and how well it is."""

    check: Annotated[bool, fields.CHECK] = False
