"""Lets Python look for cycles of objects rarely during work that makes many objects and hardly any cycles."""

from __future__ import annotations

import gc
from contextlib import AbstractContextManager

from cairn.sharing import ProcessSetting

# The thresholds for work that ends soon; by default the search takes a twentieth of its time. `__main__` has them too.
RARELY = (75_000, 20, 50)


def _at_least_rarely(before: tuple[int, int, int]) -> tuple[int, int, int]:
    young, middle, old = map(max, before, RARELY)
    return young, middle, old


_thresholds = ProcessSetting(gc.get_threshold, lambda values: gc.set_threshold(*values), _at_least_rarely)


def collect_rarely() -> AbstractContextManager[None]:
    """Have Python look for cycles rarely, in the whole process, until the block ends."""
    return _thresholds.changed()
