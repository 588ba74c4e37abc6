"""Reads the contents of files once comparing them with the manifest has shown that some may have changed."""

from __future__ import annotations

import sqlite3
import sys

from cairn.index.ahead import Ahead, is_worthwhile
from cairn.index.limits import Progress, RunLimits, usable_cores
from cairn.index.plan import Plan
from cairn.index.reading import PlanReader, find_same
from cairn.index.views import View


class Contents:
    """Reads the files that a plan names.

    Args:
        view: whose files they are.
        todo: the plan.
    """

    def __init__(self, view: View, connection: sqlite3.Connection, todo: Plan) -> None:
        self._view = view
        self._connection = connection
        self._todo = todo

    def start(self, limits: RunLimits, progress: Progress | None) -> Ahead | None:
        """Start parsing the files while the next modules are imported, if that saves time."""
        imported = "numpy" in sys.modules
        if self._todo.is_much or not is_worthwhile(limits, cores=usable_cores(), imported=imported):
            return None
        return Ahead(PlanReader(self._view, self._connection, self._todo, progress), limits)

    def find_same(self) -> list[str]:
        """Return those of the files that are as the index has them."""
        return find_same(self._view, self._connection, self._todo)
