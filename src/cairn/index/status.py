"""The content and condition of an index, for people to read."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from cairn.config import Settings
from cairn.errors import IndexMissingError
from cairn.hints import Hint
from cairn.index.aside import files_set_aside
from cairn.index.gc import find_gone_views
from cairn.index.last_error import read_error
from cairn.index.models import chain_status
from cairn.index.plan import make_plan
from cairn.index.state_dir import StateDir
from cairn.index.views import View
from cairn.storage.connection import store_errors
from cairn.storage.index import garbage_db, meta_db, view_db
from cairn.storage.index.schema import INDEX


def read_status(root: Path, state: StateDir, settings: Settings, checkout: View) -> dict[str, object]:
    """Return what the index holds of a checkout, as plain values.

    Raises:
        IndexMissingError: if the checkout was not indexed yet.
    """
    with closing(state.open_for_reading()) as connection, store_errors(state.database, INDEX):
        view = view_db.find_view(connection, checkout.name)
        if view is None or not view.generation:  # its first run is not finished
            raise IndexMissingError("this project is not indexed yet", Hint.of("index"))
        found = checkout.walk()
        plan = make_plan(connection, found, view)
        files, chunks, languages = view_db.count_totals(connection, view.id)
        skipped = [*found.skipped, *view_db.read_skipped(connection, view.id)]
        views = garbage_db.read_view_sizes(connection)
        gone = find_gone_views(views, root)
        sizes = state.sizes()
        return {
            "root": str(root),
            "state_dir": str(state.path),
            "branch": view.branch,
            "generation": meta_db.generation(connection),
            "files": files,
            "chunks": chunks,
            "pending": len(plan.changes()) + len(plan.removed),
            "languages": languages,
            "skipped": {skip.path: skip.reason for skip in skipped},
            "model": meta_db.read_meta(connection).get("model", ""),
            "embedding": [model._asdict() for model in chain_status(connection, view.id, chunks, settings.chain)],
            "views": [row._asdict() | {"gone": row.id in gone} for row in views],
            "sizes": sizes,
            "disk_bytes": sum(sizes.values()),
            "set_aside": [file.name for file in files_set_aside(state)],
            "last_error": read_error(state),
        }
