"""The shape of answers outside the process: one model for the command line's JSON, and later for HTTP and MCP."""

from __future__ import annotations

from dataclasses import asdict, fields, is_dataclass
from typing import TYPE_CHECKING, Any

from cairn.types import Answer, CodeHit, Fetched, Outline

if TYPE_CHECKING:
    from cairn.graph.flow import FlowGraph, Slice

PROTOCOL_VERSION = 1


def answer_to_dict(answer: Answer) -> dict[str, Any]:
    """Return a search answer as the JSON document of docs/cli.md."""
    document: dict[str, Any] = {
        "query": answer.query,
        "mode": answer.mode,
        "view": answer.view,
        "branch": answer.branch,
        "generation": answer.generation,
        "code": [_hit_to_dict(hit) for hit in answer.code],
        "memory": [],
        "total_tokens_available": answer.total_tokens_available,
        "omitted": answer.omitted,
        "coverage": asdict(answer.coverage),
        "took_ms": answer.took_ms,
    }
    if answer.revision:
        document["revision"] = answer.revision
    if answer.notes:
        document["notes"] = list(answer.notes)
    return document


def _hit_to_dict(hit: CodeHit) -> dict[str, Any]:
    document: dict[str, Any] = {
        "id": hit.id,
        "kind": hit.kind,
        "name": hit.name,
        "filepath": hit.path,
        "start_line": hit.start_line,
        "end_line": hit.end_line,
        "language": hit.language,
        "signature": hit.signature,
        "tokens": hit.tokens,
        "relevance": hit.relevance,
        "confidence": hit.confidence,
        "preview": hit.preview,
    }
    if hit.neighbours is not None:
        document["neighbours"] = [
            {"filepath" if key == "path" else key: value for key, value in one._asdict().items()}
            for one in hit.neighbours
        ]
    if hit.stale:
        document["stale"] = True
    if hit.explain is not None:
        document["score"] = hit.score
        document["explain"] = hit.explain
    if hit.captures is not None:
        document["captures"] = list(hit.captures)
    if hit.match is not None:
        document["similarity"] = hit.similarity
        document["match"] = hit.match
    return document


def graph_to_dict(value: object) -> Any:  # noqa: ANN401 - any JSON
    """Return an answer of the symbol graph as JSON: its fields, `path` being called `filepath` as everywhere."""
    if is_dataclass(value) and not isinstance(value, type):
        return {
            "filepath" if one.name == "path" else one.name: graph_to_dict(getattr(value, one.name))
            for one in fields(value)
        }
    return [graph_to_dict(one) for one in value] if isinstance(value, tuple) else value


def fetched_to_dict(fetched: Fetched) -> dict[str, Any]:
    """Return a fetched text as JSON."""
    document = asdict(fetched)
    document["filepath"] = document.pop("path")
    return document


def outline_to_dict(outline: Outline) -> dict[str, Any]:
    """Return an outline as JSON."""
    return {
        "filepath": outline.path,
        "language": outline.language,
        "mode": outline.mode,
        "lines": outline.lines,
        "file_tokens": outline.file_tokens,
        "imports": list(outline.imports),
        "symbols": [symbol._asdict() for symbol in outline.symbols],
        "omitted": outline.omitted,
        "text": outline.text,
        "tokens": outline.text_tokens,
        "notes": list(outline.notes),
    }


def flow_to_dict(graph: FlowGraph) -> dict[str, Any]:
    """Return the flow of a function as JSON."""
    steps = [
        {
            "kind": step.kind,
            "start_line": step.first_line,
            "end_line": step.last_line,
            "text": step.text,
            "reads": sorted({name.lstrip("*") for name in step.access.reads}),
            "writes": sorted(step.access.writes),
            "next": [{"step": target, "when": kind} for target, kind in step.successors],
        }
        for step in graph.control.steps
    ]
    return {
        "filepath": graph.path,
        "language": graph.language,
        "function": graph.control.name,
        "start_line": graph.control.first_line,
        "end_line": graph.control.last_line,
        "complexity": graph.control.complexity(),
        "steps": steps,
        "blocks": [{"first": first, "last": last} for first, last in graph.control.blocks()],
        "dependences": [asdict(one) for one in graph.dependences],
    }


def slice_to_dict(found: Slice) -> dict[str, Any]:
    """Return a slice as JSON."""
    return {
        "filepath": found.path,
        "language": found.language,
        "function": found.function,
        "line": found.line,
        "variable": found.variable,
        "direction": "forward" if found.forward else "backward",
        "lines": [{"line": number, "text": text} for number, text in found.lines],
    }
