"""Examines everything an index depends on: folder, disk, locks, database, and the files derived from it."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import stat
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from cairn.errors import (
    CairnError,
    DerivedFileError,
    IndexDamagedError,
    IndexForeignError,
    IndexLockedError,
    StoreDamagedError,
    StoreError,
    is_disk_full,
)
from cairn.hints import Hint
from cairn.index.aside import files_set_aside, size_set_aside
from cairn.index.last_error import read_error
from cairn.index.mounts import MOUNTS, is_network, kind_of
from cairn.index.overlay import OverlayFile, OverlayStore
from cairn.index.past_files import past_file
from cairn.index.plan import files_of_index, has_size, is_usable
from cairn.index.segment import Segment
from cairn.index.state_dir import StateDir
from cairn.index.state_files import unlisted
from cairn.index.view import load_layout, load_own, load_view
from cairn.source.plumbing import OLDEST_GIT, run_git
from cairn.source.text import pluralize
from cairn.storage.arrays import load_arrays
from cairn.storage.catalog import STORES
from cairn.storage.connection import check, store_errors, transaction
from cairn.storage.copies import find_copies
from cairn.storage.index import blob_db, health_db, overlay_db, segment_db, view_db
from cairn.storage.index.schema import INDEX
from cairn.storage.lock import holder, write_lock
from cairn.storage.store import Store

LOW_BYTES, FULL_BYTES = 500_000_000, 20_000_000

_MAX_TOLD = 1_000  # characters of a recorded error
_MOST_NAMED = 3  # files set aside, by name

Level = Literal["ok", "warning", "error"]
# How to repair a finding: move aside what is in the way, restore read permission, rebuild everything, redo damaged
# files, delete litter; and for `cairn.memory.upkeep`: fold memories from their events again, correct the dates of
# events, rewrite the files of shared memories.
Repair = Literal["", "move", "allow", "rebuild", "redo", "tidy", "refold", "redate", "reshare"]


class Finding(NamedTuple):
    """The result of one check: its level, what is wrong in a sentence, how to repair it, or what else to do.

    `repair` is empty if nothing needs repair, or Cairn cannot repair it.
    """

    check: str
    level: Level
    message: str
    repair: Repair = ""
    hint: str = ""
    fixed: bool = False


def examine(state: StateDir, fingerprint: str, stores: Sequence[Store] = STORES) -> list[Finding]:
    """Examine everything without changing anything.

    Args:
        state: the folder.
        fingerprint: of the bundled model.
        stores: the stores that the folder may hold.
    """
    findings = list(_folder(state))
    if any(finding.repair in ("move", "allow") or finding.check == "state" for finding in findings):
        return findings
    if not state.path.exists():
        return [*findings, Finding("database", "warning", "this project is not indexed yet", hint=Hint.of("index"))]
    findings += [_disk(state), file_system(state.path), *_locks(state)]
    findings += [finding for store in stores if store.is_truth for finding in _examine_truth(state, store)]
    try:
        with write_lock(state.lock, 2.0, INDEX):  # keeps writers from replacing files during the comparison
            findings += _examine_index(state, fingerprint)
    except IndexLockedError:
        findings.append(Finding("database", "warning", "in use by a writer, so not examined", hint=Hint.of("doctor")))
    except StoreError:  # nothing can be written, so nothing changes
        findings += _examine_index(state, fingerprint)
    return [*findings, *_history(state)]


def repair(state: StateDir, findings: list[Finding], rebuild: Callable[[], object], redo: Callable[[], object]) -> None:
    """Repair the findings of `examine` as far as possible.

    Args:
        state: the folder.
        findings: what was found.
        rebuild: brings the index up to date after the database was moved aside.
        redo: checks every byte of the derived files and redoes what is damaged.

    Raises:
        StoreError: if something cannot be written.
    """
    wanted = {finding.repair for finding in findings}
    if "allow" in wanted:
        _allow(state)
    if "move" in wanted:
        _clear_the_way(state)
    if "rebuild" in wanted:
        state.create()
        with write_lock(state.lock, 10.0, INDEX):
            state.set_aside()
        rebuild()
    elif wanted & {"redo", "move", "allow"}:
        redo()
    if wanted & {"redo", "tidy"}:
        _tidy(state)


# -- what surrounds the index -----------------------------------------------------------------------------------------


def examine_git(project: Path) -> Finding:
    """Report which git Cairn runs and whether it is too old; a program inside the project never counts as git."""
    try:
        version = os.fsdecode(run_git(project, ["version"]).stdout).removeprefix("git version ").strip()
    except FileNotFoundError:
        words = "git is not installed: folders are walked, and branches are not known"
        return Finding("git", "warning", words, hint="install git")
    if version and tuple(map(int, re.findall(r"\d+", version)[:2])) < OLDEST_GIT:
        words = f"{version} is older than 2.30: some repositories and the history of some lines cannot be read"
        return Finding("git", "warning", words, hint="upgrade git")
    return Finding("git", "ok", version or "installed")


def is_damaged(state: StateDir, fingerprint: str) -> bool:
    """Read the whole database and tell whether it differs from what was written."""
    return any(finding.repair == "rebuild" for finding in _examine_index(state, fingerprint))


def _folder(state: StateDir) -> Iterator[Finding]:
    in_the_way = list(_in_the_way(state))
    for path, words in in_the_way:
        yield Finding("folder", "error", f"{path} {words}", "move")
    unreadable = list(_unreadable_paths(state))
    for path in unreadable:
        yield Finding("folder", "error", f"{path} cannot be read", "allow")
    if in_the_way or unreadable:
        return
    try:
        state.check()
    except CairnError as error:
        yield Finding("state", "error", str(error), hint=error.hint)
        return
    if state.path.is_dir():
        yield _may_write(state)
        return
    above = next(folder for folder in state.path.parents if folder.is_dir())
    if not os.access(above, os.W_OK | os.X_OK):
        words = f"{above} cannot be written, so nothing can be indexed here"
        yield Finding("folder", "error", words, hint="make it writable, or set CAIRN_STATE_DIR to a folder that is")


def _may_write(state: StateDir) -> Finding:
    for path in filter(os.path.isdir, (state.path, state.derived)):
        try:
            with tempfile.NamedTemporaryFile(dir=path, suffix=".tmp"):
                pass
        except OSError as error:
            words = f"{path} cannot be written ({error.strerror}): answers come from what is there"
            elsewhere = "make it writable, or set CAIRN_STATE_DIR to a folder that is, where another memory begins"
            hint = "free some space" if is_disk_full(error) else elsewhere
            return Finding("folder", "error", words, hint=hint)
    return Finding("folder", "ok", f"{state.path} can be written")


def _in_the_way(state: StateDir) -> Iterator[tuple[Path, str]]:
    """Yield whatever occupies the place of our folders and files and can be moved, with a description.

    A database is set aside when it is opened. The index is examined once nothing is in the way.
    """
    if state.is_tracked():
        return  # git has to remove it
    for path in (state.path, state.derived):
        if os.path.lexists(path) and (os.path.islink(path) or not os.path.isdir(path)):
            yield path, "is a link" if os.path.islink(path) else "is not a directory"
    if os.path.islink(state.path) or not os.path.isdir(state.path):
        return
    paths = [*state.locks(), *state.logs(), state.last_error, state.embedding_log]
    if not os.path.islink(state.derived):
        paths += sorted(state.derived_files())
    for path in paths:
        if words := _no_file(path):
            yield path, words


def _no_file(path: Path) -> str:
    """Return what is wrong with a path that should be a file; empty if it is one or is missing."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return ""
    if stat.S_ISREG(mode):
        return ""
    return (
        "is a link" if stat.S_ISLNK(mode) else "is a directory, not a file" if stat.S_ISDIR(mode) else "is not a file"
    )


def _unreadable_paths(state: StateDir) -> Iterator[Path]:
    """Yield folders and files that this user owns but cannot read."""
    if os.path.islink(state.path):
        return
    paths = [state.path, state.derived, state.database, *state.locks(), *state.logs()]
    if not os.path.islink(state.derived):
        paths += sorted(state.derived_files())
    for path in paths:
        with suppress(OSError):
            status = path.lstat()
            wanted = os.R_OK | (os.X_OK if stat.S_ISDIR(status.st_mode) else 0)
            owned = not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
            if owned and not stat.S_ISLNK(status.st_mode) and not os.access(path, wanted):
                yield path


def _disk(state: StateDir) -> Finding:
    free = shutil.disk_usage(state.path).free
    words = f"{free / 1e6:,.0f} MB free, {state.disk_bytes() / 1e6:,.1f} MB used by the index"
    if free < FULL_BYTES:
        return Finding("disk", "error", words, hint=Hint("free some space, then run", "index"))
    if free < LOW_BYTES:
        return Finding("disk", "warning", words, hint=Hint.of("gc"))
    return Finding("disk", "ok", words)


def file_system(folder: Path, mounts: Path = MOUNTS) -> Finding:
    """Report whether a folder is on a local file system, as far as Linux tells.

    Args:
        folder: the folder.
        mounts: the table of mounts, as in proc(5).
    """
    kind = kind_of(folder, mounts)
    if is_network(kind):
        words = f"{kind} is a network file system: locks may not hold between machines, changes are not reported"
        return Finding("file-system", "warning", words, hint="set CAIRN_STATE_DIR to a local folder")
    return Finding("file-system", "ok", kind or "not known")


def _locks(state: StateDir) -> Iterator[Finding]:
    for path in state.locks():
        name = path.name.removesuffix(".lock")
        try:
            pid = holder(path)
        except StoreError as error:
            yield Finding("lock", "warning", str(error), hint=error.hint)
            continue
        if pid is not None:
            yield Finding("lock", "ok", f"{name}: held by process {pid or '(not known)'}, and free once that ends")


def _history(state: StateDir) -> Iterator[Finding]:
    if (error := read_error(state)) is not None:
        message, hint = (str(error.get(name, ""))[:_MAX_TOLD] for name in ("message", "hint"))
        yield Finding("last-run", "warning", f"failed at {_moment(error.get('at'))}: {message}", hint=hint)
    if aside := files_set_aside(state):
        count, size = size_set_aside(state)
        words = f"{pluralize(count, 'file')} of damaged or foreign indexes kept, {size / 1e6:.1f} MB, "
        words += f"as {', '.join(file.name for file in aside[:_MOST_NAMED])}{', …' * (len(aside) > _MOST_NAMED)}"
        yield Finding("set-aside", "ok", words)


def _moment(seconds: object) -> str:
    """Format a time from a file, which may hold nonsense."""
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(float(str(seconds))))
    except (ValueError, OverflowError, OSError):
        return "an unknown time"


# -- stores of truth ---------------------------------------------------------------------------------------------------


def _examine_truth(state: StateDir, store: Store) -> Iterator[Finding]:
    """Examine a store of truth. Nothing in it is repaired automatically."""
    file = state.file_of(store)
    try:
        connection = state.open_existing(store)
        if connection is None:
            return
        with closing(connection), store_errors(file, store):
            wrong = check(connection)
    except StoreDamagedError as error:
        yield Finding(file.stem, "error", str(error), hint=store.way_out(file))
    except CairnError as error:
        yield Finding(file.stem, "error", str(error), hint=error.hint)
    else:
        if wrong:
            yield Finding(
                file.stem, "error", str(store.damage(file, f"is damaged: {wrong[0]}")), hint=store.way_out(file)
            )
        else:
            yield Finding(file.stem, "ok", f"whole; {pluralize(len(find_copies(file)), 'copy', 'copies')} beside it")


# -- the index itself -------------------------------------------------------------------------------------------------


def _examine_index(state: StateDir, fingerprint: str) -> list[Finding]:
    if not os.path.lexists(state.database):
        return [Finding("database", "warning", "this project is not indexed yet", hint=Hint.of("index"))]
    try:
        with closing(state.open_for_reading()) as connection, store_errors(state.database, INDEX):
            return list(_examine_database(connection, state, fingerprint))
    except DerivedFileError as error:
        return [Finding("derived", "error", str(error), "redo")]
    except (IndexDamagedError, IndexForeignError) as error:
        return [Finding("database", "error", str(error), "rebuild")]
    except CairnError as error:  # from a newer version, or cannot be opened
        return [Finding("database", "error", str(error), hint=error.hint)]
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        return [Finding("database", "error", f"{state.database} holds rows that make no sense: {error}", "rebuild")]


def _examine_database(connection: sqlite3.Connection, state: StateDir, fingerprint: str) -> Iterator[Finding]:
    if wrong := check(connection):
        yield Finding("database", "error", f"{state.database} is damaged: {wrong[0]}", "rebuild")
        return
    wrong_rows = health_db.find_misfits(connection) or health_db.find_orphans(connection)
    damaged = list(blob_db.iter_damaged_blobs(connection))
    if not wrong_rows:
        wrong_rows = _disagreements(connection, state)
    if wrong_rows or damaged:
        parts = [f"{count:,} {words}" for words, count in wrong_rows.items()]
        parts += [f"{pluralize(len(damaged), 'file')} whose rows are not as written"] if damaged else []
        yield Finding("database", "error", f"{state.database} is damaged: {', '.join(parts)}", "rebuild")
        return
    yield Finding("database", "ok", f"whole; {pluralize(len(view_db.read_views(connection)), 'view')}")
    if is_usable(connection, fingerprint):
        yield Finding("version", "ok", "made by this version of the analysis and of the model")
    else:
        yield Finding("version", "warning", "made by another version: the next run rebuilds it", hint=Hint.of("index"))
    yield from _examine_derived(connection, state)


def _disagreements(connection: sqlite3.Connection, state: StateDir) -> dict[str, int]:
    """Count rows that disagree with intact derived files, by kind."""
    counts: dict[str, int] = {}
    for view in view_db.read_views(connection):
        if not view.generation or view.pending:
            continue  # committed files may not be published yet
        with suppress(DerivedFileError):
            arrays = load_view(state, view)
            shown = zip(arrays.paths, arrays.blob_ids.tolist(), strict=True)
            rows = ((path, blob_id) for path, blob_id, *_ in view_db.files_in_view(connection, view.id))
            if n_wrong := len(set(shown).symmetric_difference(rows)):
                counts[f"files that {view.name} shows otherwise"] = n_wrong
    for row in segment_db.read_segments(connection):
        with suppress(DerivedFileError):
            segment = Segment.load(state.segment(row.name))
            held = dict(zip(segment.blob_ids.tolist(), np.diff(segment.blob_start).tolist(), strict=True))
            stored = segment_db.chunk_counts(connection, row.id)
            n_wrong = sum(held.get(blob_id) != count for blob_id, count in stored.items())
            if n_wrong or row.n_rows != len(segment):
                counts["blobs that their segment does not hold"] = max(1, n_wrong)
    return counts


def _examine_derived(connection: sqlite3.Connection, state: StateDir) -> Iterator[Finding]:
    files = list(_files_of(connection, state))
    if bad := [file.path.name for file in files if not file.is_whole()]:
        words = f"{len(bad):,} of {pluralize(len(files), 'file')} missing or damaged, such as {bad[0]}"
        yield Finding("derived", "error", words, "redo")
    else:
        yield Finding("derived", "ok", f"{pluralize(len(files), 'file')}, each as written")
    if litter := _litter(connection, state):
        yield Finding(
            "litter",
            "warning",
            f"{pluralize(len(litter), 'file belongs', 'files belong')} to nothing, such as {litter[0].name}",
            "tidy",
        )


class _DerivedFile(NamedTuple):
    """A derived file that should exist: how to read it, and its size if known."""

    path: Path
    load: Callable[[Path], object]
    n_bytes: int | None

    def is_whole(self) -> bool:
        """Read it to the last byte."""
        if self.n_bytes is not None and not has_size(self.path, self.n_bytes):
            return False
        try:
            self.load(self.path)
        except (DerivedFileError, KeyError):
            return False
        return True


def _files_of(connection: sqlite3.Connection, state: StateDir) -> Iterator[_DerivedFile]:
    for row in segment_db.read_segments(connection):
        yield _DerivedFile(state.segment(row.name), Segment.load, row.n_bytes)
        yield from _optional(state.neighbours(row.name))
    for view in view_db.read_views(connection):
        if view.generation:
            yield _DerivedFile(state.view(view.arrays), load_own, view.n_bytes)
            yield _DerivedFile(state.layout(view.layout), load_layout, view.layout_bytes)
        yield from _optional(state.graph(view.id))
        yield from _optional(past_file(state, view.name))
    for model in overlay_db.read_models(connection):
        for overlay in overlay_db.read_overlays(connection, model.id):
            yield _DerivedFile(state.overlay(overlay.name), OverlayFile.load, overlay.n_bytes)


def _optional(path: Path) -> Iterator[_DerivedFile]:
    """Yield a file that only makes answers faster, so it may be missing."""
    if path.exists():
        yield _DerivedFile(path, load_arrays, None)


def _litter(connection: sqlite3.Connection, state: StateDir) -> list[Path]:
    return sorted(unlisted(state, files_of_index(connection, state)))


# -- repairs ----------------------------------------------------------------------------------------------------------


def _allow(state: StateDir) -> None:
    """Restore read permission on our own folders and files."""
    for path in _unreadable_paths(state):  # folders first, to see what is in them
        try:
            path.chmod(path.lstat().st_mode | (stat.S_IRWXU if path.is_dir() else stat.S_IRUSR | stat.S_IWUSR))
        except OSError as error:
            raise StoreError(f"cannot let you read {path}: {error.strerror}", f"chmod u+rwX {path}") from error


def _clear_the_way(state: StateDir) -> None:
    """Move aside and keep whatever occupies the place of our folders and files."""
    stamp = f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
    for path, _ in list(_in_the_way(state)):
        # Move it out of `derived/`, where all unreferenced files get deleted.
        target = state.path / path.name if path.parent == state.derived else path
        try:
            path.replace(f"{target}.moved-{stamp}")
        except OSError as error:
            raise StoreError(f"cannot move {path} aside: {error.strerror}", f"move or remove {path}") from error


def _tidy(state: StateDir) -> None:
    """Drop damaged graphs and other models' vectors, and delete unreferenced files."""
    if not state.database.exists():
        return
    with write_lock(state.lock, 10.0, INDEX), closing(state.open_for_writing()) as connection:
        with store_errors(state.database, INDEX), transaction(connection):
            for model in overlay_db.read_models(connection):
                OverlayStore(connection, state, model).forget_lost()
        optional = [state.neighbours(row.name) for row in segment_db.read_segments(connection)]
        for view in view_db.read_views(connection):
            optional += [state.graph(view.id), past_file(state, view.name)]
        for path in filter(Path.exists, optional):
            try:
                load_arrays(path)
            except DerivedFileError:
                path.unlink(missing_ok=True)  # answers do without it until it is rebuilt
        state.remove_unlisted(files_of_index(connection, state))
