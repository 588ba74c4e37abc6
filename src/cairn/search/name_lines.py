"""Finds the lines that say a name of which neither index nor graph knows more: settings, keys, fields."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cairn.answers import CodeHit
from cairn.graph.rules import TYPE_KINDS
from cairn.loading import load
from cairn.search.confidence import GUESSED, confidence_word
from cairn.search.exact_answer import Effort, lines_saying
from cairn.search.library import Library
from cairn.search.query import SCOPE_MARK, Query, looks_named
from cairn.source.roles import ASIDE, Role, role_of

if TYPE_CHECKING:
    from cairn.protocol.requests import SearchRequest
    from cairn.search.related import Related

_MAX_FIELDS, _MAX_SET, _MAX_LINES = 3, 5, 200
_SECONDS = 0.2
# Relations of which a line that says the name is an example, most likely.
_SAID = frozenset({"callers", "references", "writes", "importers"})
_IN_QUOTES = r"[\"'`](?:[\w-]+\.)*NAME[\"'`]"
# A call that sets what is called so, and an assignment of an item.
_SETS_BY_NAME = (
    rf"(?i:(?:set|put|default|assign|define|override|update|write)\w*)\W.{{0,40}}{_IN_QUOTES}"
    rf"|{_IN_QUOTES}\]?\s*(?:=[^=>~]|=>|:)"
)
_SETS = rf"(?:^|[^\w-])NAME\s*(?:[-+*/|&?]{{0,2}}=[^=>~]|:[^:])|:NAME\b|{_SETS_BY_NAME}"


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
    if owner := SCOPE_MARK.split(query.named.scope)[-1]:
        own = [hit for hit in own if hit.name.lower() == owner.lower()] or own
    return [*own[:_MAX_FIELDS], *hits][: request.limit or None]


def lines_instead(
    library: Library, query: Query, request: SearchRequest, related: Related | None, effort: Effort
) -> Related | None:
    """Return the lines that say the name of a question, where the graph does not know who uses it.

    Args:
        related: what the graph says, without hits; None if nothing has the name.
    """
    if query.relation is None:
        return related
    hits, more = _lines_said(library, query, request, related, effort)
    if related is not None:  # then some of them may say it of something else
        hits = _guessed(hits)
    if hits:
        unknown = "what refers to {!r} could not be resolved" if related else "no definition called {!r} is known"
        note = f"These lines say the name: {unknown.format(query.relation.symbol)}."
        rest = related.notes if related else []  # that the time was up, too
        said: Related = load("cairn.search.related:Related")(hits, more, [note, *rest], "literal")
        return said
    return related and related._replace(notes=[*related.notes, "The hits are related code."])


def _lines_said(
    library: Library, query: Query, request: SearchRequest, related: Related | None, effort: Effort
) -> tuple[list[CodeHit], int]:
    """Return the lines that say the name of a question, as far as they are of use, and how many more there are."""
    question = query.relation
    if question is None or question.relation not in _SAID or not (related is None or related.is_said):
        return [], 0
    # Where something has the name, lines say the last part of it by itself.
    name = SCOPE_MARK.split(question.symbol)[-1] if related else question.symbol
    if not (looks_named(name) if related else question.is_marked):
        return [], 0
    if question.relation == "writes":
        hits, more = lines_saying(library, query, request, name, effort, _SETS)
        if hits and not role_of(hits[0].path, hits[0].language) & (Role.TEST | Role.DOCS):
            return hits, more
    return lines_saying(library, query, request, name, effort)


def with_lines_that_set(
    library: Library, query: Query, request: SearchRequest, related: Related, effort: Effort
) -> Related:
    """Return what assigns a name, and behind that the lines that set it by its name, as settings are."""
    if query.relation is None or query.relation.relation != "writes":
        return related
    name = SCOPE_MARK.split(query.relation.symbol)[-1]
    left = min((request.limit or _MAX_LINES) - len(related.hits), _MAX_SET)
    if left < 1 or not looks_named(name):
        return related
    hits, more = lines_saying(library, query, replace(request, limit=left), name, effort, _SETS_BY_NAME)
    if not hits:
        return related
    note = "What comes last says it in quotes, and may set it by its name."
    return related._replace(
        hits=[*related.hits, *_guessed(hits)], more=related.more + more, notes=[*related.notes, note]
    )


def _guessed(hits: Sequence[CodeHit]) -> list[CodeHit]:
    return [hit._replace(relevance=GUESSED, confidence=confidence_word(GUESSED)) for hit in hits]
