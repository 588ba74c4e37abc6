"""All repositories that were planted to harm the people who clone them, by name.

A plant is made in a fresh checkout that holds a little harmless code. What it must not reach is outside of it: files
that must not change, programs that must not run, a server that must not be contacted.
"""

from __future__ import annotations

from collections.abc import Iterator

from hostile_files import attributes, configurations, core_files, rules, trees
from hostile_state import databases, links, settings, states
from plants import Plant


def all_plants() -> Iterator[Plant]:
    """Yield every plant."""
    for family in (links, states, databases, settings, configurations, attributes, trees, rules, core_files):
        yield from family()
