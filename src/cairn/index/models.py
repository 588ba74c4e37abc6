"""The models of the chain as the index knows them; imports nothing heavy, for every search and `cairn status` asks."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import fields

from cairn.embedding.chain import fingerprint_of
from cairn.model_settings import ModelSettings
from cairn.storage import overlay_db, view_db
from cairn.types import ModelStatus


def place_of(settings: ModelSettings) -> str:
    """Return where a model's texts go: what a user agrees to by `cairn index`."""
    return f"{settings.provider} {settings.base_url or settings.model}"


def settings_to_json(settings: ModelSettings) -> str:
    """Return the settings of a model as JSON; they name secrets and hold none."""
    return json.dumps({one.name: getattr(settings, one.name) for one in fields(ModelSettings)})


def settings_from_json(text: str) -> ModelSettings:
    """Return the settings that `settings_to_json` wrote."""
    return ModelSettings(**json.loads(text))


def chain_status(connection: sqlite3.Connection, view_id: int, chain: Sequence[ModelSettings]) -> list[ModelStatus]:
    """Return the models in the order in which they are asked: the chain, those of earlier settings, the bundled one."""
    rows = {row.fingerprint: row for row in overlay_db.read_models(connection)} if chain else {}
    total = view_db.count_totals(connection, view_id)[1]
    asked = [(one.name, rows.pop(fingerprint_of(one), None)) for one in chain]
    asked += [(f"{row.name} (previous)", row) for row in rows.values()]
    result: list[ModelStatus] = []
    for name, row in asked:
        covered = overlay_db.count_covered(connection, view_id, row.id) if row is not None else 0
        active = covered == total > 0 and not any(one.active for one in result)
        result.append(ModelStatus(name, covered, total, active, row.error if row is not None else ""))
    return [*result, ModelStatus("bundled", total, total, not any(one.active for one in result))]
