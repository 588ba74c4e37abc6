"""Loads what is rarely needed when it is first called for, so that nobody else pays for its imports."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def load(place: str) -> Callable[..., Any]:
    """Return the function at a place, `module:function`; its module is imported now."""
    module, _, name = place.partition(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function
