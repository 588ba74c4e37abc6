"""All SQL that looks for rows that do not fit together."""

from __future__ import annotations

import sqlite3

_ORPHANS = {
    "files that show a blob that is not there": """SELECT count(*) FROM entry WHERE blob_id IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM blob WHERE blob.id = entry.blob_id)""",
    "files of a view that is not there": """SELECT count(*) FROM entry
        WHERE NOT EXISTS (SELECT 1 FROM view WHERE view.id = entry.view_id)""",
    "files without a path": """SELECT count(*) FROM entry
        WHERE NOT EXISTS (SELECT 1 FROM path WHERE path.id = entry.path_id)""",
    "contents known to git of a blob that is not there": """SELECT count(*) FROM origin
        WHERE NOT EXISTS (SELECT 1 FROM blob WHERE blob.id = origin.blob_id)""",
    "references of a blob that is not there": """SELECT count(*) FROM facts
        WHERE NOT EXISTS (SELECT 1 FROM blob WHERE blob.id = facts.blob_id)""",
    "chunks of a blob that is not there": """SELECT count(*) FROM chunk
        WHERE NOT EXISTS (SELECT 1 FROM blob WHERE blob.id = chunk.id >> 20)""",
    "definitions of a blob that is not there": """SELECT count(*) FROM definition
        WHERE NOT EXISTS (SELECT 1 FROM blob WHERE blob.id = definition.id >> 20)""",
    "blobs of a segment that is not there": """SELECT count(*) FROM blob WHERE n_chunks > 0
        AND NOT EXISTS (SELECT 1 FROM segment WHERE segment.id = blob.segment_id)""",
}


def find_orphans(connection: sqlite3.Connection) -> dict[str, int]:
    """Return how many rows point at nothing, by what they are; none of which there are none."""
    counts = {words: connection.execute(query).fetchone()[0] for words, query in _ORPHANS.items()}
    return {words: count for words, count in counts.items() if count}
