"""All SQL that looks for inconsistent rows."""

from __future__ import annotations

import sqlite3

_ORPHANS = {
    "files that show a missing blob": """SELECT count(*) FROM entry WHERE blob_id IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM blob WHERE blob.id = entry.blob_id)""",
    "files of a missing view": """SELECT count(*) FROM entry
        WHERE NOT EXISTS (SELECT 1 FROM view WHERE view.id = entry.view_id)""",
    "files without a path": """SELECT count(*) FROM entry
        WHERE NOT EXISTS (SELECT 1 FROM path WHERE path.id = entry.path_id)""",
    "git contents of a missing blob": """SELECT count(*) FROM origin
        WHERE NOT EXISTS (SELECT 1 FROM blob WHERE blob.id = origin.blob_id)""",
    "references of a missing blob": """SELECT count(*) FROM facts
        WHERE NOT EXISTS (SELECT 1 FROM blob WHERE blob.id = facts.blob_id)""",
    "chunks of a missing blob": """SELECT count(*) FROM chunk
        WHERE NOT EXISTS (SELECT 1 FROM blob WHERE blob.id = chunk.id >> 20)""",
    "definitions of a missing blob": """SELECT count(*) FROM definition
        WHERE NOT EXISTS (SELECT 1 FROM blob WHERE blob.id = definition.id >> 20)""",
    "blobs of a missing segment": """SELECT count(*) FROM blob WHERE n_chunks > 0
        AND NOT EXISTS (SELECT 1 FROM segment WHERE segment.id = blob.segment_id)""",
}


# Blobs, chunks and definitions are covered by their blob's checksum.
_TABLES = ("meta", "segment", "view", "path", "entry", "origin", "garbage", "model", "overlay", "overlay_blob")
_STORED_AS = {"INTEGER": "'integer'", "TEXT": "'text'", "BLOB": "'blob'", "REAL": "'real', 'integer'"}


def find_misfits(connection: sqlite3.Connection) -> dict[str, int]:
    """Count values that do not have their column's type, by column; columns without any are left out."""
    found: dict[str, int] = {}
    for table in _TABLES:
        for _, column, kind, needed, _, in_key in connection.execute(f"PRAGMA table_info({table})").fetchall():
            fitting = _STORED_AS[kind] + ("" if needed or in_key else ", 'null'")
            query = f"SELECT count(*) FROM {table} WHERE typeof({column}) NOT IN ({fitting})"
            if count := connection.execute(query).fetchone()[0]:
                found[f"values of {table}.{column} that are not of type {kind.lower()}"] = count
    return found


def find_orphans(connection: sqlite3.Connection) -> dict[str, int]:
    """Count rows that refer to missing rows, by kind; kinds without any are left out."""
    counts = {words: connection.execute(query).fetchone()[0] for words, query in _ORPHANS.items()}
    return {words: count for words, count in counts.items() if count}
