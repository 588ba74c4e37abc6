"""The memory as a store: its tables, as the migrations that made them; the modules `*_db` fill and read them."""

from __future__ import annotations

from cairn.hints import Hint
from cairn.storage.sealed import META
from cairn.storage.store import Migration, Store

MIGRATIONS = (
    Migration(
        "events, and what is folded from them",
        (
            META,
            # The truth. `seq` counts what arrived here, so that others can ask for what is new. `source` is empty for
            # what was said on this machine, else `shared` or `import`; `sharing` says whether it has to be, or was,
            # written to the folder that is shared through git: 0 no, 1 it has to be, 2 it was.
            """CREATE TABLE event (
                seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, observation TEXT NOT NULL,
                other TEXT NOT NULL, time TEXT NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL,
                source TEXT NOT NULL DEFAULT '', sharing INTEGER NOT NULL DEFAULT 0)""",
            "CREATE INDEX event_observation ON event (observation)",
            "CREATE INDEX event_other ON event (other) WHERE other != ''",
            "CREATE INDEX event_time ON event (time)",
            "CREATE INDEX event_sharing ON event (sharing) WHERE sharing = 1",
            # Folded from the events; see cairn/memory/fold.py.
            """CREATE TABLE observation (
                number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, type TEXT NOT NULL, text TEXT NOT NULL,
                importance INTEGER NOT NULL, tags TEXT NOT NULL, origin TEXT NOT NULL, session TEXT NOT NULL,
                branch TEXT NOT NULL, revision TEXT NOT NULL, is_shared INTEGER NOT NULL, status TEXT NOT NULL,
                superseded_by TEXT NOT NULL, actor TEXT NOT NULL, created TEXT NOT NULL, changed TEXT NOT NULL,
                is_redacted INTEGER NOT NULL)""",
            "CREATE INDEX observation_status ON observation (status, type)",
            "CREATE INDEX observation_session ON observation (session) WHERE session != ''",
            """CREATE TABLE link (
                number INTEGER NOT NULL, path TEXT NOT NULL, symbol TEXT NOT NULL, hash TEXT NOT NULL,
                PRIMARY KEY (number, path, symbol)) WITHOUT ROWID""",
            "CREATE INDEX link_path ON link (path)",
        ),
    ),
    Migration(
        "what recall searches, derived from observations",
        (
            # Terms as packed arrays, vectors as bytes: see cairn/memory/derived.py.
            """CREATE TABLE posting (
                number INTEGER PRIMARY KEY REFERENCES observation (number) ON DELETE CASCADE,
                hashes BLOB NOT NULL, impacts BLOB NOT NULL, fields BLOB NOT NULL)""",
            """CREATE TABLE vector (
                model TEXT NOT NULL, number INTEGER NOT NULL REFERENCES observation (number) ON DELETE CASCADE,
                vector BLOB NOT NULL, PRIMARY KEY (model, number)) WITHOUT ROWID""",
            "CREATE INDEX vector_number ON vector (number)",
        ),
    ),
)
# The digest of the schema that all steps make: see `check_schema`. A test says what it is after a new step.
NEWEST = "df7c997404733d4a2dda46327905316f5133d16e1c9a0d642ada054d254ea21c"

MEMORY = Store(
    name="the memory",
    file_name="memory.db",
    migrations=MIGRATIONS,
    newest=NEWEST,
    is_truth=True,
    work="writing memories",
    update=Hint.of("memories"),
)
