"""Injects faults while an index is made, updated and collected, and checks after each that the answers are right.

    python bench/faults.py --faults 300

A fault is a SIGKILL at a random moment, a disk that runs full (a tmpfs of a random small size; skipped where none may
be mounted), or a file of the state cut short, emptied, deleted or with some bytes changed. After it a search must
answer or say what to do, and then the index must hold and answer what one made afresh does, and what is not derived
(the settings in the state folder) must be as it was.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from cairn.config import Settings
from cairn.errors import CairnError
from cairn.workspace import Workspace

FILES = 24
SHARED = "# kept\n"
SETTINGS = Settings(batch_chunks=12, garbage_days=0)
COMMANDS = (("index",), ("index", "--full"), ("gc",))
QUERIES = (*(f"work_{number}_1" for number in range(0, FILES, 5)), "how are steps stored")


def write_version(root: Path, version: int) -> None:
    """Write a tree of which a third differs, and some files come and go, from version to version."""
    for number in range(FILES):
        file = root / f"package_{number % 3}" / f"module_{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        if version and number % 7 == version % 7:
            file.unlink(missing_ok=True)
            continue
        mark = version if number % 3 == 0 else 0
        body = "\n".join(f"    step_{step} = store(offset + {step}, {mark})" for step in range(8))
        file.write_text(
            "\n\n".join(f"def work_{number}_{place}(offset):\n{body}\n    return offset\n" for place in range(3))
        )


def run(root: Path, state: Path, *command: str) -> subprocess.Popen[bytes]:
    options = ["-C", str(root), "--state-dir", str(state)]
    environment = os.environ | {"CAIRN_BATCH_CHUNKS": "12", "CAIRN_GARBAGE_DAYS": "0"}
    return subprocess.Popen(
        [sys.executable, "-m", "cairn", *command, *options],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def content(workspace: Workspace) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(workspace.state.database)) as connection:
        return connection.execute(
            """SELECT path, hash, language, key, kind, header, chunk.start_line, chunk.end_line, first_line, last_line
               FROM file JOIN blob ON blob.id = file.blob_id JOIN chunk ON chunk.id >> 20 = blob.id
               ORDER BY path, first_line"""
        ).fetchall()


def answers(workspace: Workspace) -> list[list[tuple[str, int, str, float]]]:
    return [
        [(hit.path, hit.start_line, hit.id, round(hit.score, 4)) for hit in workspace.search(query, limit=5).code]
        for query in QUERIES
    ]


def verify(root: Path, state: Path, fresh_state: Path, *, examine: bool) -> str:
    """Return what is wrong after a fault, nothing when all is well."""
    with Workspace.open(root, state_dir=state, settings=SETTINGS) as workspace:
        try:
            workspace.refresh()
            workspace.search(QUERIES[0])
        except CairnError as error:
            if not error.hint:
                return f"no way out of: {error}"
            examine = True
        if examine:
            left = [finding for finding in workspace.upkeep.doctor(fix=True) if finding.repair and not finding.fixed]
            if left:
                return f"not mended: {left[0].message}"
        workspace.index()
        with Workspace.open(root, state_dir=fresh_state, settings=SETTINGS) as fresh:
            fresh.index()
            if content(workspace) != content(fresh):
                return "holds something else than a fresh index"
            if answers(workspace) != answers(fresh):
                return "answers something else than a fresh index"
    if (state / "config.yaml").read_text() != SHARED:
        return "the settings were touched"
    return ""


def prepare(root: Path, state: Path, chance: random.Random) -> None:
    """Make an index of some version, and let the files be of another one."""
    state.mkdir(exist_ok=True)
    (state / "config.yaml").write_text(SHARED)
    version = chance.randrange(20)
    write_version(root, version)
    if chance.random() < 0.8:
        with Workspace.open(root, state_dir=state, settings=SETTINGS) as workspace:
            workspace.index()
            write_version(root, version + 1)
            workspace.index()
            write_version(root, version + 2)


def kill(root: Path, state: Path, chance: random.Random, seconds: float) -> str:
    command = chance.choice(COMMANDS)
    process = run(root, state, *command)
    assert process.stderr is not None
    with process.stderr:
        try:
            process.wait(timeout=chance.uniform(0.35, 1.05) * seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    return f"SIGKILL of {' '.join(command)}"


def damage(state: Path, chance: random.Random) -> str:
    files = sorted(
        file for file in state.rglob("*") if file.is_file() and file.name not in ("config.yaml", ".gitignore")
    )
    file = chance.choice(files)
    size = file.stat().st_size
    how = chance.choice(("cut", "flip", "flip", "empty", "delete"))
    if how == "cut":
        os.truncate(file, chance.randrange(size + 1))
    elif how == "empty":
        os.truncate(file, 0)
    elif how == "delete":
        file.unlink()
    elif size:
        with file.open("r+b") as stream:
            for _ in range(chance.choice((1, 8, 200))):
                stream.seek(chance.randrange(size))
                stream.write(bytes([chance.randrange(256)]))
    return f"{how} {file.name if file.name.startswith('index') else '*' + file.suffix}"


@contextlib.contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[Callable[[], None]]:
    """Mount a tmpfs, and give a function that makes it large."""
    folder.mkdir()
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)], check=True, capture_output=True
    )

    def enlarge() -> None:
        subprocess.run(["mount", "-o", "remount,size=64m", str(folder)], check=True)

    try:
        yield enlarge
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(root: Path, folder: Path, chance: random.Random) -> str:
    """Let a disk run full in the midst of something; return what is wrong then."""
    with small_disk(folder / "disk", chance.randrange(150, 1_500)) as enlarge:
        state = folder / "disk" / "state"
        state.mkdir()
        (state / "config.yaml").write_text(SHARED)
        write_version(root, 1)
        for version in (1, 2, 3):
            write_version(root, version)
            process = run(root, state, *chance.choice(COMMANDS))
            _, said = process.communicate()
            if process.returncode not in (0, 3) or b"Traceback" in said:
                return f"exit code {process.returncode}: {said.decode()[-300:]}"
            if process.returncode == 3 and b"  try: " not in said:
                return f"no hint: {said.decode()}"
        enlarge()
        return verify(root, state, folder / "fresh", examine=False)


def one_fault(number: int, seed: int, seconds: float, *, disks: bool) -> tuple[str, str]:
    """Return what was done and what was wrong then."""
    chance = random.Random(f"{seed}/{number}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        root, state = folder / "root", folder / "state"
        root.mkdir()
        kind = ("kill", "damage", "damage", "kill", "fill")[number % 5]
        if kind == "fill" and disks:
            return "full disk", fill(root, folder, chance)
        prepare(root, state, chance)
        if kind == "damage" and (state / "index.db").exists():
            what = damage(state, chance)
        else:
            what = kill(root, state, chance, seconds)
        # SQLite notices a change of its pages' structure, but not one of a value: for that there is the doctor.
        return what, verify(root, state, folder / "fresh", examine=what.startswith(("flip index", "cut index")))


def may_mount() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        try:
            with small_disk(Path(folder, "disk"), 100):
                return True
        except (OSError, subprocess.CalledProcessError):
            return False


def duration() -> float:
    """Return how long a run takes here, in seconds, which spreads the kills."""
    with tempfile.TemporaryDirectory() as folder:
        write_version(Path(folder, "root"), 0)
        begun = time.perf_counter()
        run(Path(folder, "root"), Path(folder, "state"), "index").communicate()
        return time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--faults", type=int, default=300)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if shutil.which("mount") is None or not (disks := may_mount()):
        disks = False
        print("no tmpfs may be mounted: processes are killed instead of disks filled", file=sys.stderr)
    seconds = duration()
    done: collections.Counter[str] = collections.Counter()
    failed = []
    for number in range(options.first, options.first + options.faults):
        what, wrong = one_fault(number, options.seed, seconds, disks=disks)
        done[what] += 1
        if wrong:
            failed.append({"fault": number, "what": what, "wrong": wrong})
            print(json.dumps(failed[-1]), file=sys.stderr, flush=True)
    survived = options.faults - len(failed)
    print(
        json.dumps(
            {"faults": options.faults, "survived": survived, "failed": failed, "what": dict(sorted(done.items()))}
        )
    )


if __name__ == "__main__":
    main()
