"""The files of a view as they are on disk now: which changed since they were indexed, and what is in these."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from cairn import waiting
from cairn.config import Settings
from cairn.errors import UnparsableError
from cairn.graph.recent import Recent, Room
from cairn.graph.rules import rules_of
from cairn.graph.source_file import SourceFile
from cairn.graph.stored import LOOK_EVERY, Stamp, StoredCode
from cairn.index.isolation import run_isolated
from cairn.index.reading import HEAD_BYTES
from cairn.source.content import check_content, normalize
from cairn.source.facts import NO_FACTS, decode
from cairn.source.languages import detect_language
from cairn.source.walk import read_file
from cairn.types import Definition

MAX_REREAD = 200  # changed files that are parsed on the spot; those beyond are left as they were indexed
_MANIFEST_BYTES = 1_000_000
_GONE: Stamp = (-1, -1)


class Checkout:
    """Reads the files of one snapshot from disk.

    Attributes:
        changed: the files that are not as they were indexed, with their stamps now, as `find_changed` gave them.
        unread: how many of them are left as they were indexed.
        files: those that are read from disk instead of from the index, by number.
    """

    def __init__(
        self, stored: StoredCode, root: Path, languages: Sequence[str], settings: Settings, room: Room
    ) -> None:
        files = stored.snapshot.files
        self.root = root
        self.paths = files.paths
        self.changed: dict[int, Stamp] = {}
        self.unread = 0
        self.files: dict[int, SourceFile] = {}
        self._stored = stored
        self._blobs: list[int] = files.blob_ids.tolist()
        self._languages = languages
        self._max_file_bytes = settings.max_file_bytes
        self._contents: Recent[int, bytes] = Recent(room.contents, len)

    def find_changed(self) -> dict[int, Stamp]:
        """Return the files that are not as they were indexed, with their stamps now, (-1, -1) for those gone."""
        changed = {}
        lstat, root = os.lstat, str(self.root)
        for number, path in enumerate(self.paths):
            if not number % LOOK_EVERY:
                waiting.check()
            try:
                status = lstat(f"{root}/{path}")
            except OSError:
                changed[number] = _GONE
                continue
            stamp = (status.st_size, status.st_mtime_ns)
            if stamp != self._stamps[number]:
                changed[number] = stamp
        # An update that found a file unchanged stores its new time without making a new generation.
        blobs = {self.paths[number]: self._blobs[number] for number in changed}
        stamps = self._stored.stamps_of(blobs)
        for number in changed:
            self._stamps[number] = stamps.get(self.paths[number], _GONE)
        return {number: stamp for number, stamp in changed.items() if stamp == _GONE or stamp != self._stamps[number]}

    @cached_property
    def _stamps(self) -> list[Stamp]:
        """What the index knows of each file's size and time."""
        return self._stored.read_stamps()

    def read_changed(self, changed: dict[int, Stamp]) -> None:
        """Read changed files from disk, in place of those read before."""
        self._contents.clear()
        self.files = {number: self.parse(number) for number in sorted(changed)[:MAX_REREAD]}
        self.changed = changed
        self.unread = max(0, len(changed) - MAX_REREAD)

    def add(self, number: int) -> None:
        """Read one more file from disk, which changed after the changed files were looked for."""
        self.files[number] = self.parse(number)

    def parse(self, number: int) -> SourceFile:
        """Return a file as it is now; one that cannot be read or parsed defines nothing."""
        waiting.check()
        path = self.paths[number]
        definitions: tuple[Definition, ...] = ()
        facts, language = NO_FACTS, self._languages[number]
        data = self.read(number)
        if data is not None and not check_content(data, path):
            language = detect_language(path, data[:HEAD_BYTES]).name
            with suppress(UnparsableError):
                definitions, encoded = run_isolated("cairn.index.facts:definitions_and_facts", data, language)
                facts = decode(encoded) or NO_FACTS
        return SourceFile(number, path, language, definitions, facts, rules_of(language), stale=True)

    def read(self, number: int) -> bytes | None:
        """Return the normalized content of a file, None if it cannot be read; read once while no file changes."""
        if (data := self._contents.get(number)) is not None:
            return data
        try:
            data = normalize(read_file(self.root, self.paths[number], self._max_file_bytes))
        except OSError:
            return None
        return self._contents.put(number, data)

    def read_text(self, path: str) -> str:
        """Return the text of a small file of the project as it is now, empty if it cannot be read."""
        try:
            return read_file(self.root, path, _MANIFEST_BYTES).decode("utf-8", "replace")
        except OSError:
            return ""
