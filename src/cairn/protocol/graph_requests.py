"""Requests to the symbol graph, as in `cairn.protocol.requests`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from cairn import fields
from cairn.protocol.requests import ProjectRequest
from cairn.types import ReferenceKind

_Limit = Annotated[int, fields.GRAPH_LIMIT]
_Symbol = Annotated[str, fields.SYMBOL]
_Changed = Annotated[str | None, fields.CHANGED]
_Diff = Annotated[str | None, fields.DIFF]
_Tokens = Annotated[int | None, fields.TOKENS]
_Update = Annotated[bool, fields.UPDATE]
Relation = Literal[
    "callers",
    "callees",
    "references",
    "subclasses",
    "path",
    "impact",
    "tests",
    "importers",
    "history",
    "related",
    "why",
]


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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class GraphRequest(ProjectRequest):
    """Ask the symbol graph one of its questions: all of `graph/...` in one form; see `graph_operation`."""

    relation: Annotated[Relation, fields.RELATION]
    symbol: Annotated[str | None, fields.ASKED_ABOUT] = None
    target: Annotated[str | None, fields.PATH_TO] = None
    diff: _Diff = None
    limit: _Limit = 0
    max_tokens: _Tokens = None
