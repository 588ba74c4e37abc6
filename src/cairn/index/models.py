"""What the index knows of the configured models; imports nothing heavy, since every search needs it.

The index stores what tells models apart. How and where to ask them is kept in the user's own state: whoever can write
an index must not decide where a question is sent or with which key.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

from cairn.embedding.chain import fingerprint_of
from cairn.errors import CairnError
from cairn.index.seal import change_record, read_record
from cairn.index.state_dir import StateDir
from cairn.model_settings import ModelSettings
from cairn.storage.index import overlay_db
from cairn.types import ModelStatus


def place_of(settings: ModelSettings) -> str:
    """Return where a model's texts are sent, to which the user agrees by running `cairn index`."""
    return f"{settings.provider} {settings.base_url or settings.model}"


def remember_model(state: StateDir, settings: ModelSettings) -> None:
    """Remember how to ask a model, so that it can still answer after the settings have changed."""
    fingerprint = fingerprint_of(settings)
    values = {field.name: getattr(settings, field.name) for field in fields(ModelSettings)}

    def change(record: dict[str, Any]) -> None:
        record["models"] = {**_dict(record.get("models")), fingerprint: values}

    if (seal := state.seal()) is not None:
        change_record(seal, change)


def recall_models(state: StateDir) -> dict[str, ModelSettings]:
    """Return how to ask the models that this index was embedded with, by fingerprint."""
    result = {}
    for fingerprint, values in _dict(_record_of(state).get("models")).items():
        try:
            settings = ModelSettings(**values)
            if fingerprint_of(settings) == fingerprint:
                result[fingerprint] = settings
        except (TypeError, ValueError, KeyError, AttributeError, CairnError):
            continue  # written by another version
    return result


def agree(state: StateDir, places: Iterable[str]) -> None:
    """Record that the user agrees to send this index's texts to these places."""
    new = sorted(places_agreed_to(state) | set(places))
    if (seal := state.seal()) is not None:
        change_record(seal, lambda record: record.update(agreed=new))


def places_agreed_to(state: StateDir) -> set[str]:
    """Return the places to which a command of the user's own has sent this index's texts."""
    places = _record_of(state).get("agreed")
    return {place for place in places if isinstance(place, str)} if isinstance(places, list) else set()


def _record_of(state: StateDir) -> dict[str, Any]:
    seal = state.seal()
    return dict(read_record(seal) or {}) if seal is not None else {}


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def chain_status(
    connection: sqlite3.Connection, view_id: int, total: int, chain: Sequence[ModelSettings]
) -> list[ModelStatus]:
    """Return the models in the order they are tried: the chain, those of earlier settings, the bundled one.

    Args:
        total: the number of chunks in the view.
    """
    rows = {row.fingerprint: row for row in overlay_db.read_models(connection)} if chain else {}
    asked = [(model.name, rows.pop(fingerprint_of(model), None)) for model in chain]
    asked += [(f"{row.name} (previous)", row) for row in rows.values()]
    result: list[ModelStatus] = []
    for name, row in asked:
        covered = overlay_db.count_covered(connection, view_id, row.id) if row is not None else 0
        active = covered == total > 0 and not any(status.active for status in result)
        result.append(ModelStatus(name, covered, total, active, row.error if row is not None else ""))
    return [*result, ModelStatus("bundled", total, total, not any(status.active for status in result))]
