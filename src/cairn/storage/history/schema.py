"""The database of commits: the terms of each, and the files it changed. It is derived from git."""

from __future__ import annotations

from cairn.hints import Hint
from cairn.storage.sealed import META
from cairn.storage.store import Migration, Store

MIGRATIONS = (
    Migration(
        "commits and the files they changed",  # their SQL is in commit_db.py
        (
            META,
            "CREATE TABLE path (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE)",
            """CREATE TABLE past (
                id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, seconds INTEGER NOT NULL, subject TEXT NOT NULL,
                weight REAL NOT NULL, hashes BLOB NOT NULL, fields BLOB NOT NULL, paths BLOB NOT NULL)""",
        ),
    ),
)
# The digest of the schema after all steps; see `check_schema`. After a new step, a test prints the new one.
NEWEST = "4a84563929a1d1cc3ef67f68d42701c26420e1845db0287501343c542dd5d7b0"

HISTORY = Store(
    name="the history",
    file_name="history.db",
    migrations=MIGRATIONS,
    newest=NEWEST,
    is_truth=False,
    work="reading the history",
    update=Hint.of("index"),
    rebuild=Hint.of("index"),
)
