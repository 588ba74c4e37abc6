"""The numbered versions of a project's tuning with their evidence, and the file that answers read."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from cairn.errors import NotFoundError, RequestError
from cairn.hints import Hint
from cairn.index.state_dir import StateDir
from cairn.memory.store import MemoryStore
from cairn.search.tuning import Tuning, describe_tuning, dump_tuning, find_tuning, parse_tuning, tuning_file
from cairn.storage.atomic import write_file
from cairn.storage.memory import tuning_db
from cairn.storage.memory.tuning_db import StoredVersion


class Version(NamedTuple):
    """A version of the tuning: its time, status, changes, and evidence as JSON."""

    number: int
    created: float
    status: str
    tuning: dict[str, Any]
    report: dict[str, Any]


class Versions:
    """The versions of a project's tuning.

    Args:
        state: the state folder.
        store: the memory.
        now: the clock, in seconds since the epoch.
    """

    def __init__(self, state: StateDir, store: MemoryStore, now: Callable[[], float] = time.time) -> None:
        self._state, self._store, self._now = state, store, now

    def active(self) -> tuple[Tuning, str]:
        """Return the tuning that answers use, and why the present one is not used, if so."""
        return find_tuning(self._state)

    def list(self) -> list[Version]:
        """Return all versions, newest first."""
        if not self._store.exists:
            return []
        with self._store.reading() as connection:
            return [_version(row) for row in tuning_db.versions(connection)]

    def find(self, number: int) -> Version:
        """Return a version.

        Raises:
            NotFoundError: if there is none of this number.
        """
        for version in self.list():
            if version.number == number:
                return version
        raise NotFoundError(f"there is no version {number} of the tuning", Hint("list them", "optimize history"))

    def add(self, tuning: Tuning, status: str, report: Mapping[str, Any]) -> Version:
        """Add a new version; the tuning gets its number."""
        with self._store.writing() as connection:
            number = tuning_db.next_number(connection)
            document = json.dumps(describe_tuning(tuning._replace(number=number)))
            row = StoredVersion(number, self._now(), status, document, json.dumps(report))
            tuning_db.add_version(connection, row)
        return _version(row)

    def ship(self, number: int) -> Version:
        """Have answers use a version on trial, while the previous one still answers a share of the questions.

        Raises:
            NotFoundError, RequestError, StoreError, OSError: as `apply`.
        """
        before = self.active()[0]._replace(before=None)
        self._note_trial(number, {"state": "running", "before": before.number, "since": self._now(), "looks": 0})
        return self.apply(number, before)

    def trial(self) -> tuple[Tuning, dict[str, Any]] | None:
        """Return the version on trial and the state of the trial; None if there is none."""
        tuning, _ = self.active()
        if tuning.before is None or not self._store.exists:
            return None
        guard = next((v.report.get("guard") for v in self.list() if v.number == tuning.number), None)
        return (tuning, guard) if guard else None

    def go_on(self, guard: Mapping[str, Any]) -> None:
        """Save the state of the trial."""
        self._note_trial(self.active()[0].number, guard)

    def end_trial(self, guard: Mapping[str, Any]) -> int:
        """End the trial: keep the version, or go back if it lost; return the number of the version in use."""
        number = self.active()[0].number
        self._note_trial(number, guard)
        return self.roll_back() if guard["state"] == "lost" else self.apply(number).number

    def _note_trial(self, number: int, guard: Mapping[str, Any]) -> None:
        report = {**self.find(number).report, "guard": dict(guard)}
        with self._store.writing() as connection:
            tuning_db.set_report(connection, number, json.dumps(report))

    def apply(self, number: int, before: Tuning | None = None) -> Version:
        """Have answers use a version, and return it.

        Args:
            number: of the version.
            before: the version for a share of the questions in a trial; None for no trial.

        Raises:
            NotFoundError: if there is none of this number.
            RequestError: if it was measured against other shipped values.
            StoreError, OSError: if it cannot be written.
        """
        version = self.find(number)
        try:
            tuning = parse_tuning(version.tuning)
        except ValueError as error:
            hint = Hint("measure again", "optimize run")
            raise RequestError(f"version {number} cannot be used: {error}", hint) from error
        seal = self._state.create()
        with self._store.writing() as connection:
            tuning_db.set_status(connection, "active", "replaced")
            tuning_db.set_status_of(connection, number, "active")
            content = dump_tuning(tuning._replace(before=before), seal.secret)
            write_file(tuning_file(self._state), content, mode=0o600)
        return version._replace(status="active")

    def roll_back(self) -> int:
        """Have answers use the version before the active one, and return its number; 0 for the shipped values.

        Raises:
            RequestError: if none is active.
        """
        versions = self.list()
        current = next((version for version in versions if version.status == "active"), None)
        if current is None and not tuning_file(self._state).exists():
            raise RequestError("no tuning is active", Hint("make one", "optimize run"))
        before = self._number_before(versions, current)
        if current is not None:
            with self._store.writing() as connection:
                tuning_db.set_status_of(connection, current.number, "rolled-back")
        if before:
            return self.apply(before).number
        with suppress(FileNotFoundError):
            tuning_file(self._state).unlink()
        return 0

    def _number_before(self, versions: Sequence[Version], current: Version | None) -> int:
        """Return the version to go back to among the usable ones; during a trial, the one that answers beside it."""
        tuning, _ = self.active()
        older = [v for v in versions if v.status == "replaced" and current is not None and v.number < current.number]
        if tuning.before is not None:
            older = [version for version in versions if version.number == tuning.before.number]
        return next((version.number for version in older if _is_usable(version)), 0)

    # -- of an unfinished run ------------------------------------------------------------------------------------------

    def checkpoint(self, key: str) -> dict[str, Any] | None:
        """Return the checkpoint of an unfinished run on the same examples, None if there is none."""
        if not self._store.exists:
            return None
        with self._store.reading() as connection:
            body = tuning_db.read_run(connection, key)
        return None if body is None else dict(json.loads(body))

    def keep_checkpoint(self, key: str, body: Mapping[str, Any]) -> None:
        """Save a run's checkpoint, replacing earlier ones."""
        with self._store.writing() as connection:
            tuning_db.keep_run(connection, key, json.dumps(body), self._now())

    def drop_checkpoints(self) -> None:
        """Delete all checkpoints, once a run has finished."""
        if self._store.exists:
            with self._store.writing() as connection:
                tuning_db.drop_runs(connection)


def _is_usable(version: Version) -> bool:
    """Tell whether a version is usable: not if it was measured against other shipped values."""
    try:
        parse_tuning(version.tuning)
    except ValueError:
        return False
    return True


def _version(row: StoredVersion) -> Version:
    return Version(row.number, row.created, row.status, json.loads(row.tuning), json.loads(row.report))
