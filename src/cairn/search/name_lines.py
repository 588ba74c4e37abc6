"""Finds the lines that say a name of which neither index nor graph knows more: settings, variables, keys, fields."""

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
from cairn.search.query import EXACT_MODES, SCOPE_MARK, Query, looks_named
from cairn.source.languages import BY_NAME
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

_MAX_READ, _MAX_WORDS_OF_QUESTION = 5, 10
# A variable of the environment, as a word; without underscores only in a question that says what it is.
_VARIABLE = re.compile(r"(?<![\w$.:/#-])\$?\{?([A-Z][A-Z\d]*(_[A-Z\d]+)*)\}?(?![\w.:/#-]*\w)")
_SAYS_ENVIRONMENT = re.compile(r"(?i)\benv(?:ironment)?\b")
# `os.Getenv("NAME")`, `process.env.NAME`, `ENV.fetch("NAME")`, `#[arg(env = "NAME")]`, `@Value("${NAME:1}")`.
_READS_VARIABLE = r"(?i:env)\w*\W{1,4}(?:\w+\W{1,4})?NAME(?:\W|$)|[:\"'] *\$\{NAME[:}]"
_SHORTEST = 3
_NO_READING = re.compile(
    r"(?i)\b(?:set|put|unset|remove|delete|clear)_?(?:env|var)|^\s*ENV\s|^\s*(?:#(?!\[)|//|/?\*|--|;|<!--)"
)
_SCRIPTS = frozenset({"bash", "powershell", "dockerfile", "make"})


def with_reads_of_variable(
    library: Library, query: Query, request: SearchRequest, hits: Sequence[CodeHit], notes: list[str]
) -> list[CodeHit]:
    """Return the hits behind the lines of code that read the variable of the environment which a question names."""
    found = dict(_VARIABLE.findall(query.text)) if _may_name_variable(query) else {}
    name, parts = next(iter(found.items()), ("", ""))
    is_variable = len(found) == 1 and (bool(parts) or _SAYS_ENVIRONMENT.search(query.text.replace(name, "")))
    if len(name) < _SHORTEST or not is_variable:
        return list(hits)
    effort = Effort(_SECONDS)
    said, _ = lines_saying(library, query, replace(request, limit=_MAX_LINES), name, effort, _READS_VARIABLE)
    own = [hit for hit in said if not role_of(hit.path, hit.language) & (ASIDE & ~Role.CONFIG)]
    own = [hit for hit in own if not _NO_READING.search(hit.preview)]
    if not own:
        return list(hits)
    own.sort(key=lambda hit: (is_script(hit), BY_NAME[hit.language].group != "code"))
    places = {(hit.path, hit.start_line) for hit in own[:_MAX_READ]}
    notes.append(f"What comes first reads {name!r} from the environment.")
    rest = [hit for hit in hits if (hit.path, hit.start_line) not in places]
    return [*own[:_MAX_READ], *rest][: request.limit or None]


def _may_name_variable(query: Query) -> bool:
    """Tell whether a query is so short that a name in capitals may be all that it is about."""
    return query.item is None and query.mode not in EXACT_MODES and query.text.count(" ") < _MAX_WORDS_OF_QUESTION


def is_script(hit: CodeHit) -> bool:
    """Tell whether a hit is in a script that sets variables of the environment for other programs."""
    return hit.language in _SCRIPTS


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
