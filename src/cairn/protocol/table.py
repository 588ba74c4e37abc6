"""The operations: what each is called, what it takes, what it gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import NamedTuple

from cairn.errors import RequestError
from cairn.protocol.core_requests import (
    CoreAddRequest,
    CoreListRequest,
    CoreRemoveRequest,
    CoreRequest,
    CoreSuggestRequest,
)
from cairn.protocol.graph_requests import (
    ChangeRequest,
    GraphRequest,
    ImportersRequest,
    PathRequest,
    ReferencesRequest,
    SymbolRequest,
)
from cairn.protocol.history_requests import HistoryRequest, RelatedRequest, WhyRequest
from cairn.protocol.requests import (
    ContextRequest,
    FetchRequest,
    FlowRequest,
    OutlineRequest,
    ProjectRequest,
    SearchRequest,
    SimilarRequest,
)
from cairn.schema import decode, encode

# For each choice of a request that stands for several: the operation, and what that calls the fields it takes.
_Forms = dict[str, tuple[str, dict[str, str]]]
_OF_SYMBOL = {"symbol": "symbol", "limit": "limit", "max_tokens": "max_tokens"}
_OF_CHANGE = {**_OF_SYMBOL, "diff": "diff"}
_GRAPH_FORMS: _Forms = {
    "callers": ("graph/callers", _OF_SYMBOL),
    "callees": ("graph/callees", _OF_SYMBOL),
    "references": ("graph/references", _OF_SYMBOL),
    "subclasses": ("graph/subclasses", _OF_SYMBOL),
    "path": ("graph/path", {"symbol": "source", "target": "target", "max_tokens": "max_tokens"}),
    "impact": ("graph/impact", _OF_CHANGE),
    "tests": ("graph/tests", _OF_CHANGE),
    "importers": ("graph/importers", {"symbol": "target", "max_tokens": "max_tokens"}),
    "history": ("history", {"symbol": "query", "limit": "limit", "max_tokens": "max_tokens"}),
    "related": ("history/related", {"symbol": "file", "limit": "limit", "max_tokens": "max_tokens"}),
    "why": ("history/why", {"symbol": "place", "limit": "limit", "max_tokens": "max_tokens"}),
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
    return _choose(asked, "relation", _GRAPH_FORMS)


def core_operation(asked: CoreRequest) -> tuple[str, ProjectRequest]:
    """Return the operation on core files, by its name, and the request for it that a request stands for.

    Raises:
        RequestError: as `graph_operation`.
    """
    return _choose(asked, "action", _CORE_FORMS)


def _choose(asked: ProjectRequest, by: str, forms: _Forms) -> tuple[str, ProjectRequest]:
    choice = getattr(asked, by)
    name, names = forms[choice]
    names = {"project": "project", **names}
    given = {key: value for key, value in encode(asked).items() if key != by}
    if wrong := [key for key in given if key not in names]:
        raise RequestError(f"{choice} takes no {wrong[0]!r}", f"it takes: {', '.join(names)}")
    kind = OPERATIONS[name].request
    needed = {field.name for field in fields(kind) if field.default is MISSING}
    if missing := [ours for ours, theirs in names.items() if theirs in needed and ours not in given]:
        raise RequestError(f"{choice} needs {missing[0]!r}", f"it takes: {', '.join(names)}")
    return name, decode(kind, {names[key]: value for key, value in given.items()})


class Operation(NamedTuple):
    """Something that is asked of a project: its name, which is its address below `/api/`, and what it takes.

    What it gives is in `cairn.protocol.answer_types`. They change the index at most; `core/add`
    and `core/remove` change `.cairn/core.yaml`.
    """

    name: str
    request: type[ProjectRequest]
    summary: str


OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation("search", SearchRequest, "Find code by meaning, name, text or pattern"),
        Operation("similar", SimilarRequest, "Find code that does the same, copies first"),
        Operation("fetch", FetchRequest, "Get the full text of results"),
        Operation("context", ContextRequest, "Get what is around results, or what a task needs"),
        Operation("outline", OutlineRequest, "List what a file defines"),
        Operation("flow", FlowRequest, "Show how control and data flow in a function"),
        Operation("graph/callers", SymbolRequest, "Show what calls a symbol"),
        Operation("graph/callees", SymbolRequest, "Show what a symbol calls"),
        Operation("graph/references", ReferencesRequest, "Show all that refers to a symbol"),
        Operation("graph/subclasses", SymbolRequest, "Show what derives from a type or implements it"),
        Operation("graph/path", PathRequest, "Show the shortest way of calls between two symbols"),
        Operation("graph/importers", ImportersRequest, "Show which files import a file"),
        Operation("graph/impact", ChangeRequest, "Show what a change may break"),
        Operation("graph/tests", ChangeRequest, "Show which tests to run for a change"),
        Operation("history", HistoryRequest, "Show which commits and files solved something like a query"),
        Operation("history/related", RelatedRequest, "Show which files change together with a file"),
        Operation("history/why", WhyRequest, "Show which commits shaped some lines"),
        Operation("core/list", CoreListRequest, "Show the core files"),
        Operation("core/add", CoreAddRequest, "Mark a core file"),
        Operation("core/remove", CoreRemoveRequest, "Take the mark of a core file away"),
        Operation("core/suggest", CoreSuggestRequest, "Suggest core files"),
    )
}

# What a team's server answers: all that changes nothing and needs no repository.
TEAM_OPERATIONS = tuple(
    name
    for name in OPERATIONS
    if name in ("search", "similar", "fetch", "context", "outline", "history", "history/related")
    or name.startswith("graph/")
)


def decode_request(operation: str, values: Mapping[str, object]) -> ProjectRequest:
    """Return the request for an operation, given by its name, with its fields as JSON.

    Raises:
        RequestError: if it is not one.
    """
    return decode(OPERATIONS[operation].request, dict(values))
