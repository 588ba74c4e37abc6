"""Requests: dataclasses whose annotations carry their limits, which `cairn.schema` reads and describes.

Nobody compares or prints them: without the methods for that, defining them takes a third less time at each start.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cairn import fields
from cairn.fields import DEFAULT_ANSWER_TOKENS as DEFAULT_ANSWER_TOKENS
from cairn.fields import MAX_ANSWER_TOKENS as MAX_ANSWER_TOKENS
from cairn.hints import HintStyle
from cairn.types import Mode, OutlineMode, SearchType

MAX_BODY_BYTES = 1_000_000  # of one request

_Name = Annotated[str, fields.NAME]
_Kinds = Annotated[tuple[_Name, ...], fields.KINDS]
_Languages = Annotated[tuple[_Name, ...], fields.LANGUAGES]
_Globs = Annotated[tuple[_Name, ...], fields.GLOBS]
_Tokens = Annotated[int | None, fields.TOKENS]
_Update = Annotated[bool, fields.UPDATE]
_Branch = Annotated[str | None, fields.BRANCH]
_Path = Annotated[str, fields.FILE]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ProjectRequest:
    """Anything asked of one project."""

    project: Annotated[str, fields.PROJECT] = ""
    build: Annotated[bool, fields.BUILD] = True
    hints: Annotated[HintStyle, fields.HINTS] = "commands"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class FlowRequest(ProjectRequest):
    """Ask how control and data flow in a function, as it is on disk now."""

    place: Annotated[str, fields.FLOW_PLACE]


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
class IndexStatusRequest(ProjectRequest):
    """Ask how much is indexed, and how well it is."""

    check: Annotated[bool, fields.CHECK] = False
