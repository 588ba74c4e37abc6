"""Estimates what embedding will take before it begins: chunks, tokens, dollars, seconds."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing

from cairn.embedding.chain import fingerprint_of, max_chars_of, price_of
from cairn.errors import IndexMissingError
from cairn.index.plan import Plan, make_plan
from cairn.index.state_dir import StateDir
from cairn.index.views import View
from cairn.model_providers import PROVIDERS
from cairn.model_settings import ModelSettings
from cairn.storage.index import overlay_db, view_db
from cairn.storage.index.view_db import ViewRow
from cairn.types import Estimate

CHARS_PER_TOKEN = 4
CHUNK_OVERHEAD_CHARS = 80  # of the path and names before a chunk's own text
BYTES_PER_CHUNK = 550  # assumed until the project has its own average


def estimate_chain(view: View, state: StateDir, chain: Sequence[ModelSettings]) -> tuple[Estimate, ...]:
    """Return what each model still has to embed once a view is up to date."""
    found = view.walk()
    try:
        with closing(state.open_for_reading()) as connection:
            row = view_db.find_view(connection, view.name)
            plan = make_plan(connection, found, row)
            return tuple(_estimate(connection, row, plan, model) for model in chain)
    except IndexMissingError:
        plan = Plan(list(found.files), [], 0, {})
        return tuple(_estimate(None, None, plan, model) for model in chain)


def _estimate(
    connection: sqlite3.Connection | None, view: ViewRow | None, plan: Plan, settings: ModelSettings
) -> Estimate:
    """Return what one model still has to embed.

    Args:
        connection: the index, None when there is none yet.
        plan: files that an update would read first; their chunks are estimated from their sizes.
    """
    max_chars = max_chars_of(settings)
    n_files = n_chunks = n_chars = 0
    model = None
    if connection is not None:
        models = {row.fingerprint: row for row in overlay_db.read_models(connection)}
        model = models.get(fingerprint_of(settings))
    waiting = plan.changes()
    changing = {file.path for file in waiting}
    if connection is not None and view is not None:
        for blob in overlay_db.missing_blobs(connection, view.id, model.id if model is not None else -1):
            if blob.path not in changing:
                n_files += 1
                n_chunks += blob.n_chunks
                n_chars += min(blob.size + CHUNK_OVERHEAD_CHARS * blob.n_chunks, max_chars * blob.n_chunks)
    for file in waiting:
        chunks = -(-file.size // BYTES_PER_CHUNK)
        n_files += 1
        n_chunks += chunks
        n_chars += min(file.size + CHUNK_OVERHEAD_CHARS * chunks, max_chars * chunks)
    measured = model is not None and model.seconds > 0
    rate = PROVIDERS[settings.provider].chunks_per_second
    if model is not None and measured:
        rate = model.n_embedded / model.seconds
    seconds = n_chunks / max(rate, 1e-3)
    if settings.per_minute:
        seconds = max(seconds, 60 * n_chunks / settings.batch_size / settings.per_minute)
    tokens = -(-n_chars // CHARS_PER_TOKEN)
    price = price_of(settings)
    cost = None if price is None else round(price * tokens / 1e6, 6)
    return Estimate(settings.name, n_files, n_chunks, tokens, cost, round(seconds, 1), measured, settings.stays_here)
