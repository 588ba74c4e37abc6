"""`bench/pieces.py` names functions of the program as text."""

from __future__ import annotations

import importlib

import pytest

from pieces import PIECES


@pytest.mark.parametrize("place", [place for places in PIECES.values() for place in places])
def test_a_piece_of_a_query_is_a_function_of_the_program(place: str) -> None:
    module, _, path = place.partition(":")
    found: object = importlib.import_module(f"cairn.{module}")
    for name in path.split("."):
        found = getattr(found, name)
    assert callable(found)
