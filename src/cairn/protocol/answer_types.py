"""What each operation answers, for descriptions; apart from the table of them, for it imports the symbol graph's."""

from __future__ import annotations

from typing import Any

from cairn.graph import values
from cairn.history import values as past
from cairn.protocol.documents import (
    ContextDocument,
    CoreChangeDocument,
    CoreListDocument,
    CoreSuggestionDocument,
    FetchedDocument,
    FlowDocument,
    OutlineDocument,
    SearchDocument,
)


def answer_type(operation: str) -> Any:  # noqa: ANN401 - an annotation
    """Return what an operation answers, as a type that `cairn.schema.json_schema` describes."""
    types: dict[str, Any] = {
        "search": SearchDocument,
        "similar": SearchDocument,
        "fetch": list[FetchedDocument],
        "context": ContextDocument,
        "outline": OutlineDocument,
        "flow": FlowDocument,
        "graph/callers": values.Links,
        "graph/callees": values.Links,
        "graph/references": values.References,
        "graph/subclasses": values.Links,
        "graph/path": values.CallPath,
        "graph/importers": values.Importers,
        "graph/impact": values.Impact,
        "graph/tests": values.TestChoice,
        "history": past.Solved,
        "history/related": past.RelatedFiles,
        "history/why": past.ShapedLines,
        "core/list": CoreListDocument,
        "core/add": CoreChangeDocument,
        "core/remove": CoreChangeDocument,
        "core/suggest": list[CoreSuggestionDocument],
    }
    return types[operation]
