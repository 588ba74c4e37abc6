"""Corrupts the state of an index in all ways that files can be, and checks that it answers as a fresh one does again.

    python bench/corrupt.py --corruptions 200

An index of a repository, with a branch beside the checkout, is made, updated and asked; then one of `KINDS` is done to
it. What is asked next must be answered or refused with a hint. Where the answers are not those of a fresh index,
`cairn doctor --fix` must make them so, and find nothing more to mend.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import struct
import subprocess
import tempfile
import time
import traceback
import zlib
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path

from cairn.config import Settings
from cairn.errors import CairnError
from cairn.workspace import Workspace
from damages import Outcome, reads_everything, run, run_without_rights
from faults import QUERIES, write_version

SETTINGS = Settings(batch_chunks=12)
ANSWER_SECONDS = 60.0
_GIT = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "GIT_AUTHOR_NAME": "A"}
_GIT |= {"GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.org"}
_CALLS = "def use_{0}(offset):\n    return work_{0}_1(offset)\n"


class Scene:
    """A project with an index, an older copy of the database, and another project with an index of its own.

    Args:
        folder: an empty folder.
        dice: decide what the project is like.
    """

    def __init__(self, folder: Path, dice: random.Random) -> None:
        self.dice = dice
        self.root, self.other = folder / "root", folder / "other"
        self.state, self.fresh = folder / "root" / ".cairn", folder / "fresh"
        self.older = folder / "older.db"
        for root in (self.root, self.other):
            root.mkdir()
            version = dice.randrange(20)
            _write(root, version)
            _git(root, "init", "-q", "-b", "main")
            _git(root, "add", "-A")
            _git(root, "commit", "-qm", "first")
            with Workspace.open(root, settings=SETTINGS) as workspace:
                workspace.index()
                workspace.index(branch="main")
                if root == self.root:
                    with closing(sqlite3.connect(self.database)) as live, closing(sqlite3.connect(self.older)) as copy:
                        live.backup(copy)
                _write(root, version + 1)
                workspace.index()
                if dice.random() < 0.5:
                    workspace.graph.callers("use_5")
                    workspace.graph.map()
                    graph = workspace.graph.current()
                    graph.network.save(workspace.state.graph(graph.code.view_id))
                if dice.random() < 0.5:
                    _write(root, version + 2)

    @property
    def database(self) -> Path:
        """The database of the index."""
        return self.state / "index.db"

    def derived_files(self, *endings: str) -> list[Path]:
        """Return the derived files, of some endings or all."""
        found = sorted((self.state / "derived").iterdir())
        return [file for file in found if not endings or file.suffix in endings]

    def files(self) -> list[Path]:
        """Return all files of the state but the user's."""
        return [file for file in sorted(self.state.rglob("*")) if file.is_file() and file.name != ".gitignore"]

    def pick(self, files: Sequence[Path]) -> Path:
        """Choose a file."""
        return self.dice.choice(list(files))


def _write(root: Path, version: int) -> None:
    write_version(root, version)
    (root / "uses.py").write_text("\n\n".join(_CALLS.format(number) for number in range(24)))


def _git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=root, env=os.environ | _GIT, check=True, capture_output=True)


# -- what is done to it ------------------------------------------------------------------------------------------------


def swap(scene: Scene) -> str:
    """Copy a derived file over another."""
    source, target = scene.pick(scene.derived_files()), scene.pick(scene.derived_files())
    if source != target:
        shutil.copyfile(source, target)
    return f"{source.suffix} over {target.suffix}"


def exchange(scene: Scene) -> str:
    """Swap the contents of two derived files of one kind."""
    left = scene.pick(scene.derived_files())
    right = scene.pick(scene.derived_files(left.suffix))
    left_data, right_data = left.read_bytes(), right.read_bytes()
    left.write_bytes(right_data)
    right.write_bytes(left_data)
    return left.suffix


def foreign(scene: Scene) -> str:
    """Put a derived file of another project in the place of one."""
    target = scene.pick(scene.derived_files())
    theirs = sorted((scene.other / ".cairn" / "derived").glob(f"*{target.suffix}"))
    if theirs:
        shutil.copyfile(scene.pick(theirs), target)
    return target.suffix


def _replace_by(path: Path, what: str) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    if what == "folder":
        path.mkdir()
    elif what == "full folder":
        path.mkdir()
        (path / "inner").mkdir()
        (path / "inner" / "file").write_text("x")
    elif what == "file":
        path.write_text("not a folder")
    else:
        os.mkfifo(path)


_NAMES = (
    "index.db", "index.db-wal", "index.db-shm", "index.lock", "embedding.lock", "neighbours.lock", "last-error.json",
    "embedding.log",
)  # fmt: skip


def in_the_way(scene: Scene) -> str:
    """Put a folder or a pipe where a file belongs."""
    path = scene.pick([*(scene.state / name for name in _NAMES), *scene.derived_files()])
    what = scene.dice.choice(("folder", "full folder", "pipe"))
    _replace_by(path, what)
    return f"{what} at {_label(path)}"


def no_folder(scene: Scene) -> str:
    """Put a file where a folder belongs, or nothing."""
    path = scene.dice.choice((scene.state, scene.state / "derived"))
    if scene.dice.random() < 0.3:
        shutil.rmtree(path)
        return f"no {path.name}"
    _replace_by(path, "file")
    return f"file at {path.name}"


def cut(scene: Scene) -> str:
    """Cut a file short, empty it, or fill it with zeros."""
    file = scene.pick(scene.files())
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


def flip(scene: Scene) -> str:
    """Change some bytes of a file."""
    file = scene.pick(scene.files() if scene.dice.random() < 0.5 else [scene.database])
    size = file.stat().st_size
    with file.open("r+b") as stream:
        for _ in range(scene.dice.choice((1, 8, 200)) if size else 0):
            # The page that begins with the version of the schema is another matter.
            stream.seek(scene.dice.randrange(min(100, size - 1), size))
            stream.write(scene.dice.randbytes(1))
    return f"flip {_label(file)}"


def delete(scene: Scene) -> str:
    """Delete some files."""
    files = scene.dice.sample(scene.files(), k=scene.dice.randint(1, 4))
    for file in files:
        file.unlink()
    return "delete"


def forbid(scene: Scene) -> str:
    """Take the right to read away."""
    path = scene.pick([*scene.files(), scene.state, scene.state / "derived"])
    path.chmod(0o200 if path.is_file() else 0)
    return f"forbid {_label(path)}"


def other_log(scene: Scene) -> str:
    """Put the log of another database, or an older one, beside this one."""
    source = (scene.other / ".cairn" / "index.db") if scene.dice.random() < 0.7 else scene.older
    copy = scene.fresh.with_name("log.db")
    shutil.copyfile(source, copy)
    with closing(sqlite3.connect(copy)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        with connection:
            connection.execute("UPDATE entry SET size = size + 0")
            connection.execute("UPDATE blob SET n_chunks = n_chunks + 0")
        shutil.copyfile(f"{copy}-wal", f"{scene.database}-wal")
    return "log of " + ("another" if source != scene.older else "an older one")


def other_database(scene: Scene) -> str:
    """Put an older copy of the database, or that of another project, in its place."""
    source = scene.older if scene.dice.random() < 0.6 else scene.other / ".cairn" / "index.db"
    with suppress(FileNotFoundError):
        Path(f"{scene.database}-wal").unlink()
        Path(f"{scene.database}-shm").unlink()
    if scene.dice.random() < 0.5:
        scene.database.unlink()
    shutil.copyfile(source, scene.database)
    return "older database" if source == scene.older else "another's database"


_TABLES = ("meta", "segment", "blob", "definition", "chunk", "view", "path", "entry", "origin", "facts", "garbage")


def delete_rows(scene: Scene) -> str:
    """Delete rows of a table."""
    table = scene.dice.choice(_TABLES)
    share = scene.dice.choice((0.1, 0.5, 1.0))
    with closing(sqlite3.connect(scene.database)) as connection, connection:
        connection.execute(f"DELETE FROM {table} WHERE abs(random() % 1000) < ?", (1000 * share,))
    return f"delete {table}"


def alter_rows(scene: Scene) -> str:
    """Change the values of a column."""
    table = scene.dice.choice(_TABLES)
    values = ("{0} + 1", "'nonsense'", "-1", "x'ff00ff'", "1 << 62", "''", "'../../x'", "3.5")
    with closing(sqlite3.connect(scene.database)) as connection:
        column = scene.dice.choice([row[1] for row in connection.execute(f"PRAGMA table_info({table})")])
        value = scene.dice.choice(values)
        with suppress(sqlite3.Error), connection:
            connection.execute(
                f"UPDATE OR IGNORE {table} SET {column} = {value.format(column)} WHERE abs(random() % 100) < ?",
                (scene.dice.choice((10, 100)),),
            )
    return f"{table}.{column} = {value}"


def drop_table(scene: Scene) -> str:
    """Drop a table."""
    table = scene.dice.choice(_TABLES)
    with closing(sqlite3.connect(scene.database)) as connection, connection:
        connection.execute(f"DROP TABLE {table}")
    return f"drop {table}"


def craft(scene: Scene) -> str:
    """Give a derived file a header, with a checksum that fits, that claims what is not so."""
    file = scene.pick(scene.derived_files())
    data = file.read_bytes()
    magic, version, n_header, _ = struct.unpack("<8sIII", data[:20])
    header, body = json.loads(data[20 : 20 + n_header]), data[20 + n_header :]
    arrays = header["arrays"]
    name = scene.dice.choice(sorted(arrays))
    claims: dict[str, Callable[[], object]] = {
        "huge shape": lambda: arrays[name].__setitem__(1, [1 << 40]),
        "overflow": lambda: arrays[name].__setitem__(1, [1 << 32, 1 << 32]),
        "negative shape": lambda: arrays[name].__setitem__(1, [-1]),
        "offset beyond": lambda: arrays[name].__setitem__(2, len(body)),
        "negative offset": lambda: arrays[name].__setitem__(2, -64),
        "objects": lambda: arrays[name].__setitem__(0, "|O"),
        "code": lambda: arrays[name].__setitem__(0, "i4,(1000000000,)f8"),
        "float": lambda: arrays[name].__setitem__(1, [1.5]),
        "missing": lambda: arrays.pop(name),
        "other type": lambda: arrays[name].__setitem__(0, "<f8"),
        "no arrays": lambda: header.__setitem__("arrays", [1]),
        "other name": lambda: header.__setitem__("name", "x"),
        "deep": lambda: None,
    }
    claim = scene.dice.choice(sorted(claims))
    claims[claim]()
    text = b"[" * 60_000 if claim == "deep" else json.dumps(header).encode()
    text += b" " * (-(20 + len(text)) % 64)
    checksum = zlib.crc32(text + body, len(text))
    file.write_bytes(struct.pack("<8sIII", magic, version, len(text), checksum) + text + body)
    return f"{claim} in {file.suffix}"


def leftovers(scene: Scene) -> str:
    """Leave what a killed run would, and nonsense where errors are kept."""
    derived = scene.state / "derived"
    (derived / f"{'0' * 32}.seg").write_bytes(b"x" * 500)
    (derived / f"view-1-9.arr.{os.getpid()}.tmp").write_bytes(b"x")
    (derived / "folder").mkdir()
    error = scene.dice.choice((b'{"at": "nan"}', b'{"at": 1e300, "message": []}', b"[" * 100_000, b"\xff\xfe", b"[]"))
    (scene.state / "last-error.json").write_bytes(error)
    return "leftovers"


KINDS = (
    swap, exchange, foreign, in_the_way, in_the_way, no_folder, cut, flip, flip, delete, forbid, other_log,
    other_database, delete_rows, alter_rows, alter_rows, drop_table, craft, craft, leftovers,
)  # fmt: skip


def _label(path: Path) -> str:
    return path.name if path.parent.name != "derived" else f"*{path.suffix}"


# -- what must be true afterwards --------------------------------------------------------------------------------------


def answers(workspace: Workspace) -> list[object]:
    """Return what searches and the symbol graph say, of the checkout and of the branch."""
    found: list[object] = []
    for branch in (None, "main"):
        for query in QUERIES:
            hits = workspace.search(query, limit=5, branch=branch).code
            found.append([(hit.path, hit.start_line, hit.id, hit.preview, round(hit.score, 6)) for hit in hits])
    for number in (0, 5, 11):
        with suppress(CairnError):  # a file that is gone in this version
            found.append(workspace.graph.callers(f"work_{number}_1"))
    found.append(workspace.graph.map())
    return found


def check(scene: Scene) -> tuple[str, str]:
    """Return how the index came right again, and what is wrong if it did not."""
    wanted = _fresh_answers(scene)
    with Workspace.open(scene.root, settings=SETTINGS) as workspace:
        how = "by itself"
        try:
            if _answers_after_refresh(workspace) == wanted:
                return how, ""
        except CairnError as error:
            if not error.hint:
                return how, f"no way out of: {error}"
            how = f"{error.code}, then doctor"
        else:
            how = "wrong, then doctor"
        left = [finding for finding in workspace.upkeep.doctor(fix=True) if finding.repair and not finding.fixed]
        if left:
            return how, f"not mended: {left[0].message}"
        if _answers_after_refresh(workspace) != _fresh_answers(
            scene
        ):  # what was moved aside may be among the files now
            return how, "its answers differ from those of a fresh index"
    return how, ""


def _fresh_answers(scene: Scene) -> list[object]:
    with Workspace.open(scene.root, state_dir=scene.fresh, settings=SETTINGS) as fresh:
        fresh.index(full=True)
        fresh.index(branch="main")
        return answers(fresh)


def _answers_after_refresh(workspace: Workspace) -> list[object]:
    """Return the answers as the commands give them, which bring the index up to date first."""
    workspace.refresh()
    workspace.refresh(branch="main")
    return answers(workspace)


def one_corruption(number: int, seed: int) -> Outcome:
    """Do one corruption and check what becomes of it."""
    kind = KINDS[number % len(KINDS)]
    if kind is forbid and reads_everything():
        return run_without_rights(__file__, number, seed)
    with tempfile.TemporaryDirectory() as name:
        return _corrupt(Path(name), random.Random(f"{seed}/{number}"), kind)


def _corrupt(folder: Path, dice: random.Random, kind: Callable[[Scene], str]) -> Outcome:
    scene = Scene(folder, dice)
    what = kind(scene)
    started = time.perf_counter()
    try:
        how, wrong = check(scene)
    except Exception:  # noqa: BLE001 - reported as what is wrong
        return Outcome(f"{kind.__name__}: {what}", "", traceback.format_exc()[-1_500:])
    if not wrong and time.perf_counter() - started > ANSWER_SECONDS:
        wrong = f"took {time.perf_counter() - started:.0f} s"
    return Outcome(f"{kind.__name__}: {what}", how, wrong)


if __name__ == "__main__":
    run(__doc__, "corruptions", 200, one_corruption)
