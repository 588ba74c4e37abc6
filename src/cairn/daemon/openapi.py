"""Describes every route in OpenAPI 3.1, from the types of requests and answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import is_dataclass
from typing import Any

from cairn import __version__
from cairn.daemon.http import Route
from cairn.protocol.answer_types import answer_type
from cairn.protocol.documents import ErrorDocument, RemoteDocument
from cairn.protocol.table import OPERATIONS
from cairn.schema import json_schema

_STATUSES = {
    "400": "The request cannot be carried out",
    "401": "The token is missing, or the request comes from a foreign page or host name",
    "403": "The project is not allowed",
    "404": "Not found",
    "405": "Method not allowed",
    "408": "The request did not arrive in time",
    "409": "The index cannot be used",
    "413": "The request is too large",
    "422": "A field of the request is invalid",
    "500": "A bug in Cairn",
    "503": "The daemon is busy or stopping",
}

# `progress` with the number of files done and in total; then `done` with a report, or `error` with an error, as JSON.
_EVENT = {
    "type": "object",
    "properties": {"event": {"enum": ["progress", "done", "error"]}, "data": {"type": "string"}},
    "required": ["event", "data"],
}


def describe(routes: Sequence[Route]) -> dict[str, Any]:
    """Return the OpenAPI document of some routes."""
    schemas: dict[str, Any] = {}
    error = {"application/json": {"schema": json_schema(ErrorDocument, schemas)}}
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, schemas, error)
    _add_remote(schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Cairn",
            "version": __version__,
            "description": "Codebase intelligence on this machine. Every error is a code, a message and a hint.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _add_remote(schemas: dict[str, Any]) -> None:
    """Add to every answer about a project, those of graph and history too, that the project may be a team's."""
    remote = json_schema(RemoteDocument, schemas)
    for name in OPERATIONS:
        kind = answer_type(name)
        if isinstance(kind, type) and is_dataclass(kind) and kind.__name__ in schemas:
            schemas[kind.__name__]["properties"]["remote"] = remote


def _operation(route: Route, schemas: dict[str, Any], error: dict[str, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": f"{route.method.lower()}_{route.path.strip('/').replace('/', '_').replace('-', '_')}",
        "summary": route.summary,
        "security": [] if route.open_to_all else [{"token": []}],
        "responses": {
            **{status: {"description": text, "content": error} for status, text in _STATUSES.items()},
            **_answers(route, schemas),
        },
    }
    if route.request is not None and route.method == "GET":
        operation["parameters"] = _parameters(route.request)
    elif route.request is not None:
        schema = json_schema(route.request, schemas)
        # Without a body, every field has its default.
        required = "required" in json_schema(route.request)
        operation["requestBody"] = {"required": required, "content": {"application/json": {"schema": schema}}}
    elif route.takes:
        content = {route.takes: {"schema": {"type": "string", "format": "binary"}}}
        operation["requestBody"] = {"required": True, "content": content}
    if route.unavailable:
        operation["responses"]["501"] = {"description": "Not in this version", "content": error}
    return operation


def _answers(route: Route, schemas: dict[str, Any]) -> dict[str, Any]:
    if route.answer is None:
        return {"200": {"description": "Events", "content": {"text/event-stream": {"schema": _EVENT}}}}
    if route.takes:
        return {"200": {"description": "The answer", "content": {"text/plain": {"schema": {"type": "string"}}}}}
    kind = answer_type(route.answer) if isinstance(route.answer, str) and route.answer in OPERATIONS else route.answer
    schema = json_schema(kind, schemas)
    return {"200": {"description": "The answer", "content": {"application/json": {"schema": schema}}}}


def _parameters(request: type) -> list[dict[str, Any]]:
    schema = json_schema(request)
    required = schema.get("required", ())
    return [
        {"name": name, "in": "query", "required": name in required, "schema": field}
        for name, field in schema["properties"].items()
    ]
