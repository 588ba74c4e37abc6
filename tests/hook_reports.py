"""Payloads that agents send to hooks, as documented or captured, and what each of them accepts in answer.

A checker raises AssertionError for what an agent would ignore, drop or take for a failure.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from cairn.hooks.adapter import Adapter
from cairn.hooks.report import Happening, Report

FOLDER = "/repo"


def report_of(
    agent: str, event: str, payload: Mapping[str, Any], environment: Mapping[str, str] | None = None, id: str = "run-1"
) -> Report:
    return Report(id, agent, event, 1_790_000_000.0, FOLDER, environment or {}, payload)


def read(adapter: Adapter, event: str, payload: Mapping[str, Any], **environment: str) -> Happening:
    """Return what a payload means to an adapter that must understand it."""
    happening = adapter.read(report_of(adapter.name, event, payload, environment))
    assert happening is not None
    assert happening.event == event
    assert all(moment.session == happening.session for moment in happening.moments)
    return happening


Check = Callable[[str], dict[str, Any]]


def fields(document: object, allowed: Mapping[str, type], required: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return an object after checking that it has these fields and no others."""
    assert isinstance(document, dict), document
    assert set(document) <= set(allowed), f"unknown: {set(document) - set(allowed)}"
    assert set(required) <= set(document), f"missing: {set(required) - set(document)}"
    for name, value in document.items():
        assert isinstance(value, allowed[name]), f"{name} is {value!r}"
    return document


def said(text: str, *, silence: str = "") -> dict[str, Any]:
    """Return the object that a hook printed: one, alone; `silence` stands for nothing."""
    if text == silence == "":
        return {}
    document = json.loads(text)
    assert isinstance(document, dict)
    return document


def check_nested(text: str, event: str, allowed: Mapping[str, type]) -> dict[str, Any]:
    """Check an answer below `hookSpecificOutput` that names its event."""
    if not text:
        return {}
    outer = fields(said(text), {"hookSpecificOutput": dict}, ("hookSpecificOutput",))
    inner = fields(outer["hookSpecificOutput"], {"hookEventName": str, **allowed}, ("hookEventName",))
    assert inner["hookEventName"] == event
    if "permissionDecision" in inner:
        assert inner["permissionDecision"] == "deny"
        assert inner["permissionDecisionReason"]
    return inner
