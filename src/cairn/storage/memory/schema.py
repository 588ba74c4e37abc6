"""The memory as a store: its tables, as migrations; the `*_db` modules read and write them."""

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
            # Folded from the events; see cairn/memory/fold.py. `digest` is a checksum of the row and its links.
            """CREATE TABLE observation (
                number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, type TEXT NOT NULL, text TEXT NOT NULL,
                importance INTEGER NOT NULL, tags TEXT NOT NULL, origin TEXT NOT NULL, session TEXT NOT NULL,
                branch TEXT NOT NULL, revision TEXT NOT NULL, is_shared INTEGER NOT NULL, status TEXT NOT NULL,
                superseded_by TEXT NOT NULL, actor TEXT NOT NULL, created TEXT NOT NULL, changed TEXT NOT NULL,
                is_redacted INTEGER NOT NULL, digest INTEGER NOT NULL)""",
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
    Migration(
        "sessions, and what was used of the memory",
        (
            """CREATE TABLE session (
                number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, agent TEXT NOT NULL, parent TEXT NOT NULL,
                source TEXT NOT NULL, branch TEXT NOT NULL, revision TEXT NOT NULL, started REAL NOT NULL,
                heard REAL NOT NULL, ended REAL NOT NULL, end_reason TEXT NOT NULL, origin TEXT NOT NULL,
                n_prompts INTEGER NOT NULL, n_activities INTEGER NOT NULL, n_reads INTEGER NOT NULL,
                n_edits INTEGER NOT NULL, n_failures INTEGER NOT NULL, has_plan INTEGER NOT NULL,
                is_muted INTEGER NOT NULL, is_fresh INTEGER NOT NULL)""",
            "CREATE INDEX session_heard ON session (heard)",
            "CREATE INDEX session_open ON session (heard) WHERE ended = 0",
            """CREATE TABLE batch (
                number INTEGER PRIMARY KEY, session INTEGER NOT NULL, place INTEGER NOT NULL, kind TEXT NOT NULL,
                prompt TEXT NOT NULL, started REAL NOT NULL, ended REAL NOT NULL, UNIQUE (session, place))""",
            """CREATE TABLE activity (
                number INTEGER PRIMARY KEY, batch INTEGER NOT NULL, seconds REAL NOT NULL, tool TEXT NOT NULL,
                name TEXT NOT NULL, target TEXT NOT NULL, outcome TEXT NOT NULL, exit_code INTEGER,
                duration_ms INTEGER NOT NULL, input_bytes INTEGER NOT NULL, output_bytes INTEGER NOT NULL,
                is_failure INTEGER NOT NULL)""",
            "CREATE INDEX activity_batch ON activity (batch)",
            # Digests of the moments that were processed, so that none counts twice.
            "CREATE TABLE seen (id BLOB PRIMARY KEY, seconds REAL NOT NULL) WITHOUT ROWID",
            "CREATE INDEX seen_seconds ON seen (seconds)",
            """CREATE TABLE injection (
                number INTEGER PRIMARY KEY, session TEXT NOT NULL, seconds REAL NOT NULL, event TEXT NOT NULL,
                observation TEXT NOT NULL, why TEXT NOT NULL, tokens INTEGER NOT NULL, use TEXT NOT NULL)""",
            "CREATE INDEX injection_session ON injection (session)",
            "CREATE INDEX injection_observation ON injection (observation)",
            """CREATE TABLE question (
                number INTEGER PRIMARY KEY, session TEXT NOT NULL, seconds REAL NOT NULL, kind TEXT NOT NULL,
                text TEXT NOT NULL, n_found INTEGER NOT NULL, relevance REAL NOT NULL)""",
            "CREATE INDEX question_session ON question (session)",
            """CREATE TABLE answer (
                question INTEGER NOT NULL, observation TEXT NOT NULL,
                PRIMARY KEY (question, observation)) WITHOUT ROWID""",
            "CREATE INDEX answer_observation ON answer (observation)",
            """CREATE TABLE source (
                agent TEXT NOT NULL, event TEXT NOT NULL, heard REAL NOT NULL, n_events INTEGER NOT NULL,
                n_timed INTEGER NOT NULL, last_ms REAL NOT NULL, total_ms REAL NOT NULL, slowest_ms REAL NOT NULL,
                PRIMARY KEY (agent, event)) WITHOUT ROWID""",
        ),
    ),
    Migration(
        "questions to a chat model",
        (
            """CREATE TABLE chat_call (
                number INTEGER PRIMARY KEY, session TEXT NOT NULL, due REAL NOT NULL, state TEXT NOT NULL,
                asked REAL NOT NULL, model TEXT NOT NULL, input_tokens INTEGER NOT NULL,
                output_tokens INTEGER NOT NULL, cost REAL NOT NULL, note TEXT NOT NULL)""",
            "CREATE INDEX chat_call_asked ON chat_call (asked)",
            "CREATE INDEX chat_call_due ON chat_call (number) WHERE state = 'due'",
        ),
    ),
    Migration(
        "what capture is not sure of, and what open sessions tried",
        (
            """CREATE TABLE candidate (
                number INTEGER PRIMARY KEY, key TEXT NOT NULL, session TEXT NOT NULL, outcome TEXT NOT NULL,
                type TEXT NOT NULL, text TEXT NOT NULL, confidence REAL NOT NULL, importance INTEGER NOT NULL,
                paths TEXT NOT NULL, seconds REAL NOT NULL, observation TEXT NOT NULL, n_seen INTEGER NOT NULL,
                UNIQUE (key, session))""",
            "CREATE INDEX candidate_session ON candidate (session)",
            "CREATE INDEX candidate_observation ON candidate (observation) WHERE observation != ''",
            "CREATE TABLE trail (session TEXT PRIMARY KEY, body TEXT NOT NULL, seconds REAL NOT NULL) WITHOUT ROWID",
        ),
    ),
    Migration(
        "what agents were shown when they used tools",
        (
            """CREATE TABLE served (
                number INTEGER PRIMARY KEY, session TEXT NOT NULL, seconds REAL NOT NULL, agent TEXT NOT NULL,
                kind TEXT NOT NULL, is_replacing INTEGER NOT NULL, path TEXT NOT NULL, hash TEXT NOT NULL,
                tokens INTEGER NOT NULL, replaced_tokens INTEGER NOT NULL, n_followups INTEGER NOT NULL,
                followup_tokens INTEGER NOT NULL)""",
            "CREATE INDEX served_session ON served (session, path)",
            "CREATE INDEX served_seconds ON served (seconds)",
        ),
    ),
    Migration(
        "what searches showed, and what was done with it",
        (
            "ALTER TABLE question ADD COLUMN surface TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE question ADD COLUMN tuning INTEGER NOT NULL DEFAULT 0",
            "ALTER TABLE question ADD COLUMN place INTEGER NOT NULL DEFAULT 0",
            """CREATE TABLE shown (
                question INTEGER NOT NULL, rank INTEGER NOT NULL, id TEXT NOT NULL, path TEXT NOT NULL,
                first_line INTEGER NOT NULL, last_line INTEGER NOT NULL, symbol TEXT NOT NULL,
                relevance REAL NOT NULL, PRIMARY KEY (question, rank)) WITHOUT ROWID""",
            """CREATE TABLE outcome (
                question INTEGER NOT NULL, path TEXT NOT NULL, symbol TEXT NOT NULL, use TEXT NOT NULL,
                seconds REAL NOT NULL, PRIMARY KEY (question, path, symbol, use)) WITHOUT ROWID""",
        ),
    ),
    Migration(
        "versions of the tuning of answers, and unfinished runs",
        (
            """CREATE TABLE tuning_version (
                number INTEGER PRIMARY KEY, created REAL NOT NULL, status TEXT NOT NULL, tuning TEXT NOT NULL,
                report TEXT NOT NULL)""",
            "CREATE TABLE tuning_run (key TEXT PRIMARY KEY, body TEXT NOT NULL, seconds REAL NOT NULL) WITHOUT ROWID",
        ),
    ),
    Migration(
        "lists of memories without reading what they say",
        (
            # It has all that lists are filtered by, in their order: the one by status would have them sorted.
            "DROP INDEX observation_status",
            "CREATE INDEX observation_listed ON observation (created, id, status, type, is_redacted)",
            "DROP INDEX injection_observation",
            "CREATE INDEX injection_observation ON injection (observation, use)",
        ),
    ),
    Migration(
        "what waits for a team's server, and what it has",
        (
            "ALTER TABLE event ADD COLUMN team INTEGER NOT NULL DEFAULT 0",  # see storage/memory/team_db.py
            "CREATE INDEX event_team ON event (team) WHERE team = 1",
        ),
    ),
    Migration(
        "tool calls that failed, without reading those that did not",
        ("CREATE INDEX activity_failed ON activity (seconds) WHERE is_failure = 1",),
    ),
    Migration(
        "how long the last events of each source took",
        (
            """CREATE TABLE source_time (
                agent TEXT NOT NULL, event TEXT NOT NULL, place INTEGER NOT NULL, ms REAL NOT NULL,
                PRIMARY KEY (agent, event, place)) WITHOUT ROWID""",
        ),
    ),
)
# The digest of the schema after all steps; see `check_schema`. After a new step, a test prints the new one.
NEWEST = "a1b45173ce80d54cdd965f8d942f058bd2d212d1f6f6a9a95f5198550eb33992"

MEMORY = Store(
    name="the memory",
    file_name="memory.db",
    migrations=MIGRATIONS,
    newest=NEWEST,
    is_truth=True,
    work="writing memories",
    update=Hint.of("memories"),
    adopt=Hint("if it is yours, as from a backup, take it over", "doctor", adopt_memory=True),
    salvage=Hint("save what can be read", "doctor", salvage_memory=True),
)
