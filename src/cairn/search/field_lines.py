"""Finds the lines that declare the fields of a name, which have no definitions of their own in many languages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cairn.answers import CodeHit
from cairn.graph.rules import TYPE_KINDS
from cairn.search.exact_answer import Effort, lines_saying
from cairn.search.library import Library
from cairn.search.query import Query, looks_named
from cairn.source.roles import ASIDE, Role, role_of

if TYPE_CHECKING:
    from cairn.protocol.requests import SearchRequest

_MAX_FIELDS, _MAX_LINES = 3, 200
_SECONDS = 0.2


def is_heading(query: Query, hit: CodeHit) -> bool:
    """Tell whether a hit is what documentation says under the name that a query is, such as that of a setting."""
    is_name = query.named is not None and looks_named(query.named.last) and hit.name == query.named.last
    return is_name and hit.kind == "section" and not query.wants & Role.DOCS


def with_fields(library: Library, query: Query, request: SearchRequest, hits: Sequence[CodeHit]) -> list[CodeHit]:
    """Return the hits behind the lines in which types of the project's own code declare a field of the query's name."""
    if query.named is None:
        return list(hits)
    name = re.escape(query.named.last)
    declares = re.compile(rf"\s*(?:[\w<>\[\]*&?,.()]+\s+)*[*&$@]?{name}\s*(?:$|[:;=,?!]|\s[\w*\[<])")
    said, _ = lines_saying(library, query, replace(request, limit=_MAX_LINES), query.named.last, Effort(_SECONDS))
    fields = [hit for hit in said if hit.kind in TYPE_KINDS and declares.match(hit.preview)]
    own = [hit for hit in fields if not role_of(hit.path, hit.language) & ASIDE]
    return [*own[:_MAX_FIELDS], *hits][: request.limit or None]
