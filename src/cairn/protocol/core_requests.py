"""Requests about core files, as in `cairn.protocol.requests`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from cairn import fields
from cairn.protocol.requests import ProjectRequest

_Summary = Annotated[str | None, fields.SUMMARY]
_Path = Annotated[str, fields.FILE]
_Tokens = Annotated[int | None, fields.TOKENS]


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
