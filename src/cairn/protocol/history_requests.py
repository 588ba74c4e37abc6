"""Requests to the history, as in `cairn.protocol.requests`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cairn import fields
from cairn.protocol.requests import ProjectRequest

_Limit = Annotated[int, fields.HISTORY_LIMIT]
_Tokens = Annotated[int | None, fields.TOKENS]
_Update = Annotated[bool, fields.UPDATE]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class HistoryRequest(ProjectRequest):
    """Ask which commits and files solved something like a query, or shaped a file, a folder or a symbol."""

    query: Annotated[str, fields.HISTORY_QUERY]
    limit: _Limit = 5
    max_tokens: _Tokens = None
    update: _Update = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RelatedRequest(ProjectRequest):
    """Ask which files change together with a file."""

    file: Annotated[str, fields.FILE]
    limit: _Limit = 10
    max_tokens: _Tokens = None
    update: _Update = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class WhyRequest(ProjectRequest):
    """Ask which commits shaped some lines, with what else they changed."""

    place: Annotated[str, fields.SHAPED]
    limit: _Limit = 5
    max_tokens: _Tokens = None
    update: _Update = False
