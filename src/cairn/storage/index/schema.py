"""The index as a store: its tables, as migrations; the `*_db` modules read and write them."""

from __future__ import annotations

from cairn.errors import IndexDamagedError, IndexLockedError, IndexVersionError
from cairn.hints import Hint
from cairn.storage.store import Migration, Store

MIGRATIONS = (
    Migration(
        "first schema",
        (
            "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
            """CREATE TABLE segment (
                id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
                n_rows INTEGER NOT NULL, n_bytes INTEGER NOT NULL)""",
            """CREATE TABLE blob (
                id INTEGER PRIMARY KEY, hash BLOB NOT NULL, language TEXT NOT NULL, note TEXT NOT NULL,
                n_chunks INTEGER NOT NULL, segment_id INTEGER NOT NULL, UNIQUE (hash, language))""",
            """CREATE TABLE definition (
                id INTEGER PRIMARY KEY, chunk INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
                qualified_name TEXT NOT NULL, signature TEXT NOT NULL, doc TEXT NOT NULL, parent INTEGER NOT NULL,
                start_line INTEGER NOT NULL, end_line INTEGER NOT NULL,
                start_byte INTEGER NOT NULL, end_byte INTEGER NOT NULL)""",
            "CREATE INDEX definition_name ON definition (name COLLATE NOCASE)",
            """CREATE TABLE chunk (
                id INTEGER PRIMARY KEY, key INTEGER NOT NULL, kind TEXT NOT NULL, owner INTEGER NOT NULL,
                part INTEGER NOT NULL, first_definition INTEGER NOT NULL, end_definition INTEGER NOT NULL,
                header TEXT NOT NULL, start_line INTEGER NOT NULL, end_line INTEGER NOT NULL,
                start_byte INTEGER NOT NULL, end_byte INTEGER NOT NULL,
                first_line INTEGER NOT NULL, last_line INTEGER NOT NULL)""",
            "CREATE INDEX chunk_key ON chunk (key)",
            "CREATE TABLE view (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, branch TEXT NOT NULL DEFAULT '')",
            """CREATE TABLE file (
                view_id INTEGER NOT NULL, path BLOB NOT NULL, blob_id INTEGER, size INTEGER NOT NULL,
                mtime_ns INTEGER NOT NULL, racy INTEGER NOT NULL, reason TEXT NOT NULL DEFAULT '',
                PRIMARY KEY (view_id, path)) WITHOUT ROWID""",
            "CREATE INDEX file_blob ON file (blob_id)",
        ),
    ),
    Migration(
        "a generation for each view",
        (
            "ALTER TABLE view ADD COLUMN generation INTEGER NOT NULL DEFAULT 0",
            "ALTER TABLE view ADD COLUMN n_bytes INTEGER NOT NULL DEFAULT 0",
        ),
    ),
    Migration("files a run has yet to read", ("ALTER TABLE view ADD COLUMN pending INTEGER NOT NULL DEFAULT 0",)),
    Migration(
        "vectors of other models beside the bundled one's",  # their SQL is in overlay_db.py
        (
            """CREATE TABLE model (
                id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, name TEXT NOT NULL, settings TEXT NOT NULL,
                dimensions INTEGER NOT NULL DEFAULT 0, n_embedded INTEGER NOT NULL DEFAULT 0,
                seconds REAL NOT NULL DEFAULT 0, error TEXT NOT NULL DEFAULT '', error_at REAL NOT NULL DEFAULT 0)""",
            """CREATE TABLE overlay (
                id INTEGER PRIMARY KEY, model_id INTEGER NOT NULL, name TEXT NOT NULL UNIQUE,
                n_rows INTEGER NOT NULL, n_bytes INTEGER NOT NULL)""",
            """CREATE TABLE overlay_blob (
                blob_id INTEGER NOT NULL, model_id INTEGER NOT NULL, overlay_id INTEGER NOT NULL,
                PRIMARY KEY (blob_id, model_id)) WITHOUT ROWID""",
        ),
    ),
    Migration("what each blob refers to", ("CREATE TABLE facts (blob_id INTEGER PRIMARY KEY, data BLOB NOT NULL)",)),
    Migration(
        "views that share their paths, and views of revisions",
        (
            "DROP TABLE file",
            "DELETE FROM view",
            "ALTER TABLE view ADD COLUMN revision TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE view ADD COLUMN layout TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE view ADD COLUMN layout_bytes INTEGER NOT NULL DEFAULT 0",
            "CREATE TABLE path (id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE)",
            """CREATE TABLE entry (
                view_id INTEGER NOT NULL, path_id INTEGER NOT NULL, blob_id INTEGER, size INTEGER NOT NULL,
                mtime_ns INTEGER NOT NULL, racy INTEGER NOT NULL, reason TEXT NOT NULL DEFAULT '',
                PRIMARY KEY (view_id, path_id)) WITHOUT ROWID""",
            "CREATE INDEX entry_blob ON entry (blob_id)",
            """CREATE VIEW file AS
                SELECT view_id, path.path AS path, blob_id, size, mtime_ns, racy, reason
                FROM entry JOIN path ON path.id = entry.path_id""",
            """CREATE TABLE origin (
                path_id INTEGER NOT NULL, object BLOB NOT NULL, size INTEGER NOT NULL, blob_id INTEGER NOT NULL,
                PRIMARY KEY (path_id, object)) WITHOUT ROWID""",
        ),
    ),
    Migration(
        "since when something is garbage",  # its SQL is in garbage_db.py
        (
            """CREATE TABLE garbage (
                kind TEXT NOT NULL, id INTEGER NOT NULL, since REAL NOT NULL,
                PRIMARY KEY (kind, id)) WITHOUT ROWID""",
        ),
    ),
    Migration(
        "when a file's entry was changed",  # which nobody can set, unlike the time of its content
        (
            "ALTER TABLE entry ADD COLUMN ctime_ns INTEGER NOT NULL DEFAULT 0",
            "DROP VIEW file",
            """CREATE VIEW file AS
                SELECT view_id, path.path AS path, blob_id, size, mtime_ns, racy, reason, ctime_ns
                FROM entry JOIN path ON path.id = entry.path_id""",
        ),
    ),
    Migration("checksums of rows", ("ALTER TABLE blob ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0",)),
    Migration(
        "how a model is asked is the user's",  # and is kept with them, see index/seal.py
        (
            "ALTER TABLE model RENAME TO old_model",
            """CREATE TABLE model (
                id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
                dimensions INTEGER NOT NULL DEFAULT 0, n_embedded INTEGER NOT NULL DEFAULT 0,
                seconds REAL NOT NULL DEFAULT 0, error TEXT NOT NULL DEFAULT '', error_at REAL NOT NULL DEFAULT 0)""",
            """INSERT INTO model SELECT id, fingerprint, name, dimensions, n_embedded, seconds, error, error_at
               FROM old_model""",
            "DROP TABLE old_model",
            "DELETE FROM meta WHERE key = 'embedding_agreed'",
        ),
    ),
    Migration(
        "names for the files of views, which none had before",
        ("ALTER TABLE view ADD COLUMN arrays TEXT NOT NULL DEFAULT ''",),
    ),
    Migration(
        "whether a program wrote a content",
        (
            "ALTER TABLE blob ADD COLUMN is_generated INTEGER NOT NULL DEFAULT 0",
            "UPDATE blob SET checksum = 0",  # which covers the new column from now on
        ),
    ),
)
# The digest of the schema after all steps; see `check_schema`. After a new step, a test prints the new one.
NEWEST = "f025b727265f25a96c1e644fc8f75f2f57297be6ad989d597f28523f56b52b61"

INDEX = Store(
    name="the index",
    file_name="index.db",
    migrations=MIGRATIONS,
    newest=NEWEST,
    is_truth=False,
    work="indexing",
    update=Hint.of("index"),
    rebuild=Hint.of("index", full=True),
    damaged=IndexDamagedError,
    locked=IndexLockedError,
    version=IndexVersionError,
)
