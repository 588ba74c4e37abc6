"""Damages every file of a memory in all ways that files can be, and checks that nothing is lost in silence.

    python bench/memory_damage.py --damages 500

A project with memories, some shared, with copies and waiting events, is copied as its last process left it, at its end
or killed. Then one of `KINDS` is done to it. What is asked next must be answered rightly, or refused with a hint; the
database must stay in its place; the doctor must see what commands refuse; and where the events are whole, `doctor
--fix` must bring the right answers back.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from cairn.errors import CairnError
from cairn.facets.memory import by_whom
from cairn.memory.lifecycle import NewMemory
from cairn.memory.moments import parse_moment
from cairn.memory.spool import Spool
from cairn.storage.copies import copy_database
from cairn.storage.memory.observation_db import Conditions
from cairn.storage.memory.rows import CodeLink, Observation
from cairn.storage.memory.schema import MIGRATIONS
from cairn.workspace import Workspace
from damages import Outcome, reads_everything, run, run_without_rights

ADA = by_whom("person:ada")
_TOPICS = ("cache", "parser", "lock", "index", "session", "token", "clock", "branch", "daemon", "spool")


class Truth(NamedTuple):
    """What a memory holds, whatever happens to its files."""

    memories: dict[str, Observation]
    export: tuple[str, ...]


class Scene:
    """A project with a memory that is to be damaged, and another one with a memory of its own.

    Args:
        folder: an empty folder.
        dice: decide what is done.
    """

    def __init__(self, folder: Path, dice: random.Random) -> None:
        self.dice = dice
        template = _template()
        self.root, self.other = folder / "root", template / "other"
        self.was_killed = dice.random() < 0.5
        shutil.copytree(template / ("killed" if self.was_killed else "ended"), self.root, symlinks=True)
        self.state, self.spool = self.root / ".cairn", Spool(self.root)
        for file in (template / "spool").iterdir():
            self.spool.folder.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, self.spool.folder / file.name)
        self.truth = _truth()

    @property
    def database(self) -> Path:
        """The database of the memory."""
        return self.state / "memory.db"

    def files(self) -> list[Path]:
        """Return all files of the memory."""
        return [
            *sorted(self.state.glob("memory.db*")),
            *sorted((self.state / "shared").iterdir()),
            *sorted(self.spool.folder.iterdir()),
            self.state / "seal",
        ]

    def pick(self) -> Path:
        """Choose a file, often the database or its log."""
        if self.dice.random() < 0.6:
            live = [self.database, Path(f"{self.database}-wal"), Path(f"{self.database}-shm")]
            return self.dice.choice([file for file in live if file.exists()])
        return self.dice.choice(self.files())


def _fill(root: Path, name: str, number: int) -> None:
    """Keep memories of all kinds in a project."""
    root.mkdir()
    with Workspace.open(root) as workspace:
        lifecycle = workspace.memory.lifecycle
        ids = []
        for place in range(number):
            topic = _TOPICS[place % len(_TOPICS)]
            draft = NewMemory(
                f"{name} {place}: the {topic} must be held before the {_TOPICS[(place * 7 + 3) % 10]} is opened",
                type=("gotcha", "decision", "discovery")[place % 3],
                importance=1 + place % 10,
                tags=(topic,),
                links=(CodeLink(f"src/{topic}.py"),) if place % 2 else (),
                is_shared=place % 4 == 0,
            )
            ids.append(lifecycle.remember(draft, ADA).observation.id)
        lifecycle.resolve(ids[1], ADA, "fixed")
        lifecycle.supersede(ids[2], ids[3], ADA)
        lifecycle.edit(ids[4], ADA, text=f"{name}: said otherwise")
        lifecycle.erase(ids[5], ADA)


@cache
def _home() -> Path:
    """Return a folder for what belongs to the user: their records tie the projects to this machine."""
    return Path(tempfile.mkdtemp(prefix="memory-damage-")) / "home"


@contextmanager
def _own_home() -> Iterator[None]:
    before = os.environ.get("XDG_STATE_HOME")
    os.environ["XDG_STATE_HOME"] = str(_home())
    try:
        yield
    finally:
        if before is None:
            del os.environ["XDG_STATE_HOME"]
        else:
            os.environ["XDG_STATE_HOME"] = before


@cache
def _template() -> Path:
    """Make the projects once; what was made is copied for each damage."""
    folder = _home().parent
    _fill(folder / "ended", "ours", 40)
    _fill(folder / "other", "theirs", 40)
    copy_database(folder / "ended" / ".cairn" / "memory.db")
    with Workspace.open(folder / "ended") as workspace:
        workspace.memory.lifecycle.remember(NewMemory("ours, last: it was just said, and is in the log"), ADA)
        shutil.copytree(folder / "ended", folder / "killed")
    waiting = Spool(folder / "ended", folder / "waiting")
    for place in range(5):
        waiting.add(parse_moment("prompt", "s1", "an-agent", json.dumps({"id": f"e{place}", "text": f"do {place}"})))
    waiting.folder.rename(folder / "spool")
    return folder


@cache
def _truth() -> Truth:
    with Workspace.open(_template() / "ended") as workspace:
        return Truth(_memories(workspace), tuple(workspace.memory.exchange.export()))


def _memories(workspace: Workspace) -> dict[str, Observation]:
    return {observation.id: observation for observation in workspace.memory.store.select(Conditions())}


# -- what is done to it ------------------------------------------------------------------------------------------------


def flip(scene: Scene) -> str:
    """Change some bytes of a file."""
    file = scene.pick()
    size = file.stat().st_size
    with file.open("r+b") as stream:
        for _ in range(scene.dice.choice((1, 8, 200)) if size else 0):
            stream.seek(scene.dice.randrange(size))
            stream.write(scene.dice.randbytes(1))
    return _label(file)


def cut(scene: Scene) -> str:
    """Cut a file short, empty it, fill it with zeros, or add to it."""
    file = scene.pick()
    size = file.stat().st_size
    how = scene.dice.choice(("cut", "empty", "zeros", "longer"))
    if how == "zeros":
        file.write_bytes(bytes(size))
    elif how == "longer":
        with file.open("ab") as stream:
            stream.write(scene.dice.randbytes(999))
    else:
        os.truncate(file, scene.dice.randrange(size + 1) if how == "cut" else 0)
    return f"{how} {_label(file)}"


def delete(scene: Scene) -> str:
    """Delete a file."""
    file = scene.pick()
    file.unlink()
    return _label(file)


def swap(scene: Scene) -> str:
    """Put another project's file in the place of one, or its whole database with what belongs to it."""
    file = scene.dice.choice([scene.database, scene.database, scene.state / "seal"])
    shutil.copyfile(scene.other / ".cairn" / file.name, file)
    if file == scene.database and scene.dice.random() < 0.5:
        for suffix in ("-wal", "-shm"):
            Path(f"{file}{suffix}").unlink(missing_ok=True)
    return _label(file)


def foreign_log(scene: Scene) -> str:
    """Put the log of another project's memory beside the database."""
    with closing(sqlite3.connect(scene.other / ".cairn" / "memory.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute("UPDATE meta SET value = value")
        shutil.copyfile(scene.other / ".cairn" / "memory.db-wal", f"{scene.database}-wal")
    return "memory.db-wal"


def in_the_way(scene: Scene) -> str:
    """Put a folder, a pipe or a link in the place of a file."""
    file = scene.pick()
    file.unlink()
    how = scene.dice.choice(("folder", "pipe", "link"))
    if how == "folder":
        file.mkdir()
    elif how == "pipe":
        os.mkfifo(file)
    else:
        file.symlink_to(scene.other / ".cairn" / "memory.db")
    return f"{how} at {_label(file)}"


def alter(scene: Scene) -> str:
    """Change or delete rows, as damage that SQLite does not notice would."""
    statement = scene.dice.choice(
        (
            "UPDATE event SET body = replace(body, 'must', 'may!') WHERE seq % 5 = 0",
            "UPDATE event SET id = lower(hex(randomblob(32))) WHERE seq = 3",
            "UPDATE observation SET text = replace(text, 'must', 'may!') WHERE number % 5 = 0",
            "UPDATE observation SET tags = '[', importance = x'ff' WHERE number = 7",
            "UPDATE observation SET status = 'active'",
            "DELETE FROM link",
            "DELETE FROM posting WHERE number < 20",
            "DELETE FROM vector",
            "UPDATE posting SET hashes = x'00', impacts = x'ffff'",
            "UPDATE meta SET value = 'nonsense' WHERE key != 'seal'",
            "UPDATE meta SET value = 'nonsense'",
            "DROP TABLE link",
            "CREATE TRIGGER t AFTER INSERT ON event BEGIN DELETE FROM event; END",
        )
    )
    with closing(sqlite3.connect(scene.database)) as connection, connection:
        connection.execute(statement)
    return statement


def forbid(scene: Scene) -> str:
    """Take the right to read away."""
    file = scene.pick()
    file.chmod(0)
    return _label(file)


def run_full(scene: Scene) -> str:
    """Let a process write memories until no file may grow any more; what it acknowledged must be there."""
    limit = scene.database.stat().st_size + scene.dice.randrange(200_000)
    done = _child("write", str(scene.root), str(limit))
    lines = done.stdout.split()
    if "Traceback" in done.stderr or not lines or lines[-1] != "refused":
        return f"wrong: it ended so: {done.stderr[-500:]}"
    return _check_written(scene, lines[:-1], "disk full")


def kill_migration(scene: Scene) -> str:
    """Kill a process at a random moment while it brings an older database to the newest schema."""
    first = scene.dice.randrange(1, len(MIGRATIONS))
    _make_older(scene.database, first)
    process = subprocess.Popen([sys.executable, __file__, "--child", "open", str(scene.root)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    with suppress(subprocess.TimeoutExpired):
        process.wait(scene.dice.random() * 0.1)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    return f"from version {first}"


KINDS: tuple[Callable[[Scene], str], ...] = (
    flip, flip, flip, flip, cut, cut, delete, swap, foreign_log, in_the_way, alter, alter, forbid, run_full,
    kill_migration,
)  # fmt: skip


def _label(file: Path) -> str:
    return file.name if len(file.name) < 20 else f"*{file.suffix} in {file.parent.name[:8]}"


_ADDED_COLUMN = re.compile(r"ALTER TABLE (\w+) ADD COLUMN (\w+)")


def _make_older(database: Path, version: int) -> None:
    """Take the tables away that later steps made: what they hold is not the truth."""
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        for migration in MIGRATIONS[version:]:
            for statement in migration.statements:
                if statement.split()[1] == "INDEX":
                    connection.execute(f"DROP INDEX IF EXISTS {statement.split()[2]}")
        for migration in reversed(MIGRATIONS[version:]):
            for statement in reversed(migration.statements):
                kind, name = statement.split()[1:3]
                if added := _ADDED_COLUMN.match(statement):
                    connection.execute(f"ALTER TABLE {added[1]} DROP COLUMN {added[2]}")
                elif statement.startswith("ALTER"):
                    raise ValueError(statement)
                elif kind == "TABLE":
                    connection.execute(f"DROP TABLE {name}")
        connection.execute("DELETE FROM meta WHERE key LIKE 'recall%'")
        connection.execute(f"PRAGMA user_version = {version}")


def _child(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, __file__, "--child", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={
            name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")
        },  # it writes files, too
    )


def _run_child(arguments: list[str]) -> None:
    """Open a memory, or write to it until no file may grow; print what was acknowledged."""
    action, root, *rest = arguments
    print("ready" if action == "open" else "", flush=True)
    with Workspace.open(root) as workspace:
        if action == "open":
            _memories(workspace)
            return
        import resource  # noqa: PLC0415 - not on every system

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(rest[0]), int(rest[0])))
        try:
            for number in range(2_000):
                text = f"written while the disk fills, {number}: {'so ' * 200}{number}"
                print(workspace.memory.lifecycle.remember(NewMemory(text), ADA).observation.id, flush=True)
        except CairnError as error:
            print("refused" if error.hint else "no-hint", flush=True)


# -- what must be true afterwards --------------------------------------------------------------------------------------


def _check_written(scene: Scene, ids: list[str], words: str) -> str:
    with Workspace.open(scene.root) as workspace:
        found = _memories(workspace)
    lost = [id for id in ids if id not in found]
    if lost or not scene.truth.memories.keys() <= found.keys():
        return f"wrong: {len(lost)} of {len(ids)} acknowledged memories are gone"
    scene.truth = Truth(found, ())
    return words


def check(scene: Scene) -> tuple[str, str]:
    """Return how it went on, and what is wrong if it did not go on well."""
    was_there = os.path.lexists(scene.database)
    with Workspace.open(scene.root) as workspace:
        findings = workspace.upkeep.doctor()
    how, wrong = _ask(scene)
    if wrong:
        return how, wrong
    if was_there and not os.path.lexists(scene.database):
        return how, "the database was moved away"
    seen = [finding for finding in findings if finding.level != "ok" and finding.check != "database"]
    if how != "right" and not seen:
        return how, "the doctor sees nothing wrong"
    if not any(finding.repair == "refold" for finding in findings):
        return how, ""
    with Workspace.open(scene.root) as workspace:
        workspace.upkeep.doctor(fix=True)
    again, wrong = _ask(scene)
    return f"{how}, mended", wrong or ("" if again == "right" else f"not mended: {again}")


def _ask(scene: Scene) -> tuple[str, str]:
    """Return whether the answers are right, refused with a hint, or said to be incomplete; and what is wrong."""
    told: list[str] = []
    outcome = "right"
    for question in (_ask_for_all, _ask_for_one, _ask_for_export, _ask_recall, _write_one):
        try:
            with Workspace.open(scene.root) as workspace:
                is_right = question(workspace, scene.truth)
                told.append(workspace.take_notice())
        except CairnError as error:
            if not error.hint:
                return outcome, f"no way out of: {error}"
            outcome = error.code
            continue
        if not is_right and not any("which held memories" in text for text in told):
            return outcome, f"{question.__name__} is wrong, and nobody says so"
        if not is_right:
            outcome = "missed"
    return outcome, ""


def _ask_for_all(workspace: Workspace, truth: Truth) -> bool:
    found = _memories(workspace)
    return all(found.get(id) == observation for id, observation in truth.memories.items())


def _ask_for_one(workspace: Workspace, truth: Truth) -> bool:
    store = workspace.memory.store
    if not store.exists:
        return False
    id, wanted = next(iter(truth.memories.items()))
    return store.observation(id) == wanted and bool(store.history(id))


def _ask_for_export(workspace: Workspace, truth: Truth) -> bool:
    return set(truth.export) <= set(workspace.memory.exchange.export())


def _ask_recall(workspace: Workspace, truth: Truth) -> bool:
    found = workspace.memory.recall.search("what must be held before the lock is opened?", 20)
    return bool(found) and all(
        truth.memories.get(hit.observation.id, hit.observation) == hit.observation for hit in found
    )


def _write_one(workspace: Workspace, truth: Truth) -> bool:
    made = workspace.memory.lifecycle.remember(NewMemory("said after the damage"), ADA)
    return workspace.memory.store.observation(made.observation.id).text == "said after the damage"


def one_damage(number: int, seed: int) -> Outcome:
    """Do one damage and check what becomes of it."""
    kind = KINDS[number % len(KINDS)]
    if kind is forbid and reads_everything():
        return run_without_rights(__file__, number, seed)
    with _own_home(), tempfile.TemporaryDirectory() as name:
        scene = Scene(Path(name), random.Random(f"{seed}/{number}"))
        what = f"{kind.__name__} {'of a killed process' if scene.was_killed else ''}"
        try:
            what = f"{what}: {kind(scene)}"
            how, wrong = ("", what) if "wrong: " in what else check(scene)
        except Exception:  # noqa: BLE001 - reported as what is wrong
            how, wrong = "", traceback.format_exc()[-2_000:]
        finally:
            shutil.rmtree(scene.spool.folder, ignore_errors=True)
    return Outcome(what, how, wrong)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        _run_child(sys.argv[2:])
    else:
        try:
            run(__doc__, "damages", 300, one_damage)
        finally:
            shutil.rmtree(_home().parent, ignore_errors=True)
