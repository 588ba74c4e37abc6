"""Loads rarely needed functions at their first use, so that nothing else pays for their imports."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def load(place: str) -> Callable[..., Any]:
    """Return the function at a place, `module:function`, and import its module if that has not been done."""
    module, _, name = place.partition(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function
