"""Moments that could not be taken in yet, as files in the user's state folder, each handed over later.

A file is synced before its moment is acknowledged, and removed after the moment was taken in. Whatever happens between
is done again, which changes nothing: a moment that was taken in is known by its id.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from cairn.errors import RequestError, StoreError, UnsafeStateError
from cairn.folders import check_private, state_folder
from cairn.hints import Hint
from cairn.memory.intake import fit_to_keep
from cairn.memory.moments import Moment, parse_moment
from cairn.storage.atomic import write_file
from cairn.storage.own_files import open_folder, read_own

MAX_FILES = 10_000
_MAX_BYTES = 2_000_000  # of a file
_ENDING, _BAD_ENDING, _NEW_ENDING = ".json", ".bad", ".tmp"
_OLD_SECONDS = 600.0  # a file that was never finished is nobody's after that


class SpooledMoment(NamedTuple):
    """A moment that waits to be taken in, and the file that holds it."""

    file: Path
    moment: Moment


class Spool:
    """The moments of one project that wait to be taken in. Threads and processes may share it.

    Args:
        root: of the project.
        folder: of the spools; by default in the user's state folder.
    """

    def __init__(self, root: Path, folder: Path | None = None) -> None:
        self._root = root
        self._base = folder or state_folder() / "spool"
        self.folder = self._base / hashlib.sha256(os.fsencode(root)).hexdigest()[:32]

    def add(self, moment: Moment) -> None:
        """Keep a moment, without its secrets; it is on disk when this returns.

        Raises:
            StoreError: if it cannot be written, or too many wait.
        """
        now = time.time_ns()
        moment = fit_to_keep(moment, self._root, now / 1e9)
        digest = hashlib.sha256(f"{moment.session}\0{moment.event}\0{moment.id}".encode()).hexdigest()[:16]
        try:
            self._create()
            if self.count() >= MAX_FILES:
                raise StoreError(f"{MAX_FILES:,} events are waiting in {self.folder}", Hint.of("doctor"))
            write_file(self.folder / f"{now:020d}-{digest}{_ENDING}", _encode(moment), mode=0o600)
        except OSError as error:
            raise StoreError(
                f"cannot write {self.folder}: {error.strerror}", "free some space, or make it writable"
            ) from error

    def waiting(self, limit: int) -> list[SpooledMoment]:
        """Return moments that wait, the oldest first. What is not a moment is put out of the way, and kept."""
        waiting = []
        for name in self._names()[:limit]:
            file = self.folder / name
            try:
                waiting.append(SpooledMoment(file, _decode(read_own(file, _MAX_BYTES))))
            except OSError:
                continue  # another process took it in, or it can be read later
            except (ValueError, KeyError, TypeError, RequestError, UnsafeStateError):
                _put_aside(file)
        return waiting

    def put_aside(self, unfit: Iterable[SpooledMoment]) -> None:
        """Put moments out of the way that cannot be taken in; they are kept."""
        for waiting in unfit:
            _put_aside(waiting.file)

    def remove(self, taken: Iterable[SpooledMoment]) -> None:
        """Remove what was taken in."""
        for waiting in taken:
            waiting.file.unlink(missing_ok=True)

    def count(self) -> int:
        """Return how many moments wait."""
        return len(self._names())

    def bad_files(self) -> list[Path]:
        """Return files that were put out of the way because they hold no moment."""
        return sorted(self.folder.glob(f"*{_BAD_ENDING}"))

    def _names(self) -> list[str]:
        try:
            with os.scandir(self.folder) as entries:
                names = [entry.name for entry in entries]
        except OSError:
            return []
        for name in names:
            if name.endswith(_NEW_ENDING):
                self._remove_if_old(self.folder / name)
        return sorted(name for name in names if name.endswith(_ENDING))

    def _remove_if_old(self, file: Path) -> None:
        """Remove a file whose writer was killed; it was never acknowledged."""
        with suppress(OSError):
            if time.time() - file.stat().st_mtime > _OLD_SECONDS:
                file.unlink()

    def _create(self) -> None:
        if self.folder.is_dir():
            return
        self._base.mkdir(mode=0o700, parents=True, exist_ok=True)
        check_private(self._base)
        self.folder.mkdir(mode=0o700, exist_ok=True)
        _sync(self._base)


def _put_aside(file: Path) -> None:
    with suppress(OSError):
        file.rename(file.with_suffix(_BAD_ENDING))


def _sync(folder: Path) -> None:
    """Make sure that new names in a folder outlast a crash of the system, where that can be had."""
    with suppress(OSError):
        descriptor = open_folder(folder)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _encode(moment: Moment) -> bytes:
    document: dict[str, Any] = moment._asdict()
    document["call"] = None if moment.call is None else moment.call._asdict()
    names = {name: document.pop(name) for name in ("event", "session", "agent")}
    return json.dumps(names | {"payload": document}, ensure_ascii=False).encode("utf-8", "replace")


def _decode(content: bytes) -> Moment:
    document = json.loads(content)
    event, session, agent = (str(document[name]) for name in ("event", "session", "agent"))
    return parse_moment(event, session, agent, json.dumps(document["payload"]))
