"""Hostile state: links, whole state folders, databases and settings that a repository brings along."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from cairn.storage.index.schema import MIGRATIONS
from plants import LAUGHS, SECRETS, Outside, Plant, commit, link_to, pipe, remove, write

# -- links in the place of state ---------------------------------------------------------------------------------------

_FOLDERS = (".cairn", ".cairn/derived", ".cairn/shared")
_FILES = (
    ".cairn/index.db", ".cairn/index.db-wal", ".cairn/index.db-shm", ".cairn/index.db-journal", ".cairn/index.lock",
    ".cairn/last-error.json", ".cairn/embedding.lock", ".cairn/embedding.log", ".cairn/neighbours.lock",
    ".cairn/.gitignore", ".cairn/config.yaml", ".cairn/core.yaml", ".cairn/index.db.new", ".cairn/seal",
)  # fmt: skip


def links() -> Iterator[Plant]:
    for name in _FOLDERS:
        yield Plant(f"link: {name} to a folder", partial(_link, name, "", True))
        yield Plant(f"link: {name} to a folder, uncommitted", partial(_link, name, "", False))
    for name in _FILES:
        yield Plant(f"link: {name} to a file", partial(_link, name, "authorized_keys", True))
        yield Plant(f"link: {name} to what is not there", partial(_link, name, "new", True))
    for name in (".cairn/index.lock", ".cairn/index.db", ".cairn/last-error.json"):
        yield Plant(f"hard link: {name}", partial(_hard_link, name))
    yield Plant("link: .cairn to a folder, pulled", lambda _root, _outside: None, partial(_link, ".cairn", "", True))
    yield Plant(
        "link: derived to a folder, pulled", lambda _root, _outside: None, partial(_link, ".cairn/derived", "", True)
    )
    yield Plant(
        "link: the lock, pulled",
        lambda _root, _outside: None,
        partial(_link, ".cairn/index.lock", "authorized_keys", True),
    )


def _link(name: str, target: str, committed: bool, root: Path, outside: Outside) -> None:
    place = root / name
    remove(place)
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(outside.victims / target)
    if committed:
        commit(root)


def _hard_link(name: str, root: Path, outside: Outside) -> None:
    place = root / name
    place.parent.mkdir(exist_ok=True)
    os.link(outside.victims / "authorized_keys", place)


# -- whole state folders -----------------------------------------------------------------------------------------------


def states() -> Iterator[Plant]:
    yield Plant("state: of another user, committed", partial(_copy_state, ".cairn", committed=True))
    yield Plant("state: of another user, uncommitted", partial(_copy_state, ".cairn", committed=False))
    yield Plant("state: in a folder below", partial(_copy_state, "src/.cairn", committed=True))
    yield Plant("state: in other letters", partial(_copy_state, ".Cairn", committed=True))
    yield Plant(
        "state: of another user, pulled", lambda _root, _outside: None, partial(_copy_state, ".cairn", committed=True)
    )
    for name in ("derived", "index.db", "index.db-wal", "index.db-shm", "index.lock", "last-error.json"):
        yield Plant(f"state: a folder for {name}", partial(_folder_for, name))
        yield Plant(f"state: a pipe for {name}", partial(pipe, f".cairn/{name}"))
    yield Plant("state: .cairn is a file", lambda root, _outside: write(root, ".cairn", "x"))
    yield Plant("state: .cairn is a pipe", partial(pipe, ".cairn"))


def _copy_state(where: str, root: Path, outside: Outside, *, committed: bool) -> None:
    for file in outside.theirs.rglob("*"):
        if file.is_file() and file.name != ".gitignore":
            target = root / where / file.relative_to(outside.theirs)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.read_bytes())
    if committed:
        commit(root)


def _folder_for(name: str, root: Path, _outside: Outside) -> None:
    remove(root / ".cairn" / name)
    (root / ".cairn" / name / "deep").mkdir(parents=True)


# -- databases ---------------------------------------------------------------------------------------------------------

_ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i"
_STATEMENTS = {
    "a view that never ends for meta": f"DROP TABLE meta; CREATE VIEW meta AS {_ENDLESS} AS key, i AS value FROM n",
    "a view that never ends for view": f"DROP TABLE view; CREATE VIEW view AS {_ENDLESS} FROM n",
    "a view that never ends for segment": f"DROP TABLE segment; CREATE VIEW segment AS {_ENDLESS} FROM n",
    "a view that never ends for blob": f"DROP TABLE blob; CREATE VIEW blob AS {_ENDLESS} FROM n",
    "a trigger that deletes": "CREATE TRIGGER t AFTER INSERT ON meta BEGIN DELETE FROM view; END",
    "a trigger that never ends": "CREATE TRIGGER t AFTER UPDATE ON view BEGIN "
    f"DELETE FROM blob WHERE id IN ({_ENDLESS} FROM n); END",
    "a table too many": "CREATE TABLE extra (x)",
    "a table too few": "DROP TABLE entry",
    "another column": "ALTER TABLE blob ADD COLUMN extra TEXT DEFAULT 'x'",
    "a generated column": "ALTER TABLE meta ADD COLUMN g AS (hex(zeroblob(100000000)))",
    "an index on an expression": "CREATE INDEX x ON blob (hex(zeroblob(n_chunks * 10000000)))",
    "a table of full text": "CREATE VIRTUAL TABLE full_text USING fts5(x)",
    "version 0": "PRAGMA user_version = 0",
    "version -1": "PRAGMA user_version = -1",
    "the highest version": "PRAGMA user_version = 2147483647",
    "names that lead out": "UPDATE segment SET name = '../../../../victims/authorized_keys'",
    "layouts that lead out": "UPDATE view SET layout = '../../../victims/authorized_keys'",
    "paths that lead out": "UPDATE path SET path = CAST('../../victims/authorized_keys' AS BLOB) WHERE id = 1",
    "absolute paths": "UPDATE path SET path = CAST('/etc/passwd' AS BLOB) WHERE id = 1",
    "huge numbers": "UPDATE blob SET n_chunks = 9223372036854775807; UPDATE view SET generation = 9223372036854775807",
    "texts for numbers": "UPDATE view SET generation = 'x'; UPDATE meta SET value = 'x'",
    "a schema that lies": "PRAGMA writable_schema = ON; "
    "UPDATE sqlite_schema SET sql = 'CREATE TABLE blob (x)' WHERE name = 'blob'",
}  # fmt: skip


def databases() -> Iterator[Plant]:
    for name, statements in _STATEMENTS.items():
        yield Plant(f"database: {name}", partial(_alter_database, statements, committed=True))
        yield Plant(f"database: {name}, uncommitted", partial(_alter_database, statements, committed=False))
    for key in ("url", "url_far", "openai"):
        yield Plant(f"database: an earlier model with {key}", partial(_name_earlier_model, key, committed=False))
    yield Plant(
        "database: an earlier model, pulled", lambda _r, _o: None, partial(_name_earlier_model, "url", committed=True)
    )
    yield Plant("database: no database", lambda root, _outside: write(root, ".cairn/index.db", b"\0" * 100_000))
    yield Plant("database: empty", lambda root, _outside: write(root, ".cairn/index.db", b""))


def _alter_database(statements: str, root: Path, outside: Outside, *, committed: bool) -> None:
    _copy_state(".cairn", root, outside, committed=False)
    connection = sqlite3.connect(root / ".cairn" / "index.db", isolation_level=None)
    for statement in _split(statements):
        connection.execute(statement)
    connection.close()
    if committed:
        commit(root)


def _split(statements: str) -> Iterator[str]:
    part = ""
    for piece in statements.split(";"):
        part += piece + ";"
        if sqlite3.complete_statement(part):
            yield part
            part = ""
    if part.strip(" ;"):
        yield part


def _name_earlier_model(key: str, root: Path, outside: Outside, *, committed: bool) -> None:
    """Name a model of earlier settings, to be asked with the reader's own keys, as an index of an older version did."""
    _copy_state(".cairn", root, outside, committed=False)
    url = {"url": outside.url, "url_far": "http://192.0.2.1:9", "openai": ""}[key]
    settings = {"provider": "openai", "model": "m", "url": url, "api_key_env": SECRETS[0] if url else ""}
    (root / ".cairn" / "index.db").unlink()
    connection = sqlite3.connect(root / ".cairn" / "index.db", isolation_level=None)
    older = next(number for number, migration in enumerate(MIGRATIONS) if "how a model is asked" in migration.name)
    for migration in MIGRATIONS[:older]:
        for statement in migration.statements:
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {older}")
    connection.execute(
        "INSERT INTO model (fingerprint, name, settings, dimensions) VALUES ('f', 'openai:m', ?, 256)",
        (json.dumps(settings),),
    )
    connection.execute("INSERT INTO meta VALUES ('embedding_agreed', ?)", (f"openai {url}\nopenai m",))
    connection.close()
    if committed:
        commit(root)


# -- settings ----------------------------------------------------------------------------------------------------------


def settings() -> Iterator[Plant]:
    texts: dict[str, str] = {
        "a server": "embedding:\n  provider: openai\n  model: m\n  url: URL\n",
        "a server with a key": f"embedding:\n  provider: openai\n  model: m\n  url: URL\n  api_key_env: {SECRETS[0]}\n",
        "a far server": "embedding:\n  provider: openai\n  model: m\n  url: http://192.0.2.1:9\n",
        "the provider": "embedding:\n  provider: openai\n  model: text-embedding-3-small\n",
        "another provider": "embedding:\n  provider: google\n  model: m\n",
        "fallbacks": "embedding:\n  fallbacks:\n    - provider: openai\n      model: m\n      url: URL\n",
        "fallbacks as a string": 'embedding:\n  fallbacks: "[{provider: openai, model: m, url: URL}]"\n',
        "fallbacks as a string with a key": "embedding:\n  fallbacks: '[{provider: openai, model: m, url: URL, "
        f"api_key_env: {SECRETS[0]}}}]'\n",
        "the address in other letters": "embedding:\n  provider: openai\n  model: m\n  URL: URL\n",
        "ollama": "embedding:\n  provider: ollama\n  model: m\n  url: URL\n",
        "a model with code": "embedding:\n  provider: sentence-transformers\n  model: someone/planted\n",
        "a keyring": "embedding:\n  provider: openai\n  model: m\n  keyring_service: login\n",
        "a state folder": "state_dir: VICTIMS\n",
        "a host": "daemon_host: 0.0.0.0\n",
        "100 GB a file": "max_file_bytes: 100000000000\n",
        "all memory": "memory_mb: 999999999\nbatch_chunks: 999999999\n",
        "not numbers": "watch_poll_seconds: .nan\nlock_timeout_seconds: .inf\n",
        "huge numbers": "memory_mb: " + "9" * 5_000 + "\n",
        "keys that are not strings": "1: 2\nnull: 3\n? [a]\n: 4\n",
        "a key that is a mapping": "? {a: b}\n: 4\n",
        "duplicate keys": "max_file_bytes: 1\nmax_file_bytes: 2\n",
        "a list": "- a\n- b\n",
        "brackets": "[" * 200_000,
        "braces": "{a: " * 100_000,
        "laughs": LAUGHS,
        "a tag": "max_file_bytes: !!python/object/apply:os.system ['touch VICTIMS/marker']\n",
        "a loop of aliases": "a: &a [*a]\nembedding: &e {fallbacks: [*e]}\n",
        "a date": "project_name: 2001-01-01\nmax_file_bytes: 2001-01-01\n",
        "two documents": "max_file_bytes: 1\n---\nmax_file_bytes: 2\n",
        "control characters": "project_name: \"\\0\\e[31m\"\n",
    }  # fmt: skip
    for name, text in texts.items():
        yield Plant(f"settings: {name}", partial(_write_settings, text))
    yield Plant("settings: not UTF-8", lambda root, _outside: write(root, ".cairn/config.yaml", b"a: \xff\xfe"))
    yield Plant("settings: 6 GB", _sparse)
    yield Plant("settings: a pipe", partial(pipe, ".cairn/config.yaml"))
    yield Plant("settings: a folder", lambda root, _outside: (root / ".cairn" / "config.yaml").mkdir(parents=True))
    yield Plant("settings: a device", partial(link_to, ".cairn/config.yaml", "/dev/zero"))
    yield Plant("core files: a device", partial(link_to, ".cairn/core.yaml", "/dev/zero"))


def _write_settings(text: str, root: Path, outside: Outside) -> None:
    write(root, ".cairn/config.yaml", text.replace("URL", outside.url, 1).replace("VICTIMS", str(outside.victims)))
    commit(root)


def _sparse(root: Path, _outside: Outside) -> None:
    write(root, ".cairn/config.yaml", "")
    os.truncate(root / ".cairn" / "config.yaml", 6 << 30)
