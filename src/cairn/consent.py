"""The user's answers to projects that ask for an embedding model.

They are kept in the user's state folder, in a file for each project, and never in the project: a clone cannot bring a
consent.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cairn.digest import blake2b
from cairn.folders import unwritable
from cairn.storage.atomic import write_file

_MAX_BYTES = 100_000
_MAX_ANSWERS = 50
_NO_LINK, _NO_WAITING = getattr(os, "O_NOFOLLOW", 0), getattr(os, "O_NONBLOCK", 0)


class Consents:
    """The answers for one project.

    Args:
        state_folder: the user's.
        root: the project's folder.
    """

    def __init__(self, state_folder: Path, root: Path) -> None:
        self._root = os.path.realpath(root)
        name = blake2b(os.fsencode(self._root), digest_size=16).hexdigest()
        self.file = state_folder / "consent" / f"{name}.json"

    def answer(self, digest: str) -> bool | None:
        """Return the user's answer; None if they were not asked, or it cannot be read.

        Args:
            digest: identifies what the project asked for, so that any change of it is asked about again.
        """
        entry = self._read().get(digest)
        return entry["allowed"] if isinstance(entry, dict) and isinstance(entry.get("allowed"), bool) else None

    def record(self, words_of: Mapping[str, str], *, allowed: bool) -> None:
        """Record an answer.

        Args:
            words_of: the words that the user saw for each digest, which are as for `answer`.
            allowed: the answer.

        Raises:
            StoreError: if it cannot be written.
        """
        now = int(time.time())
        new = {digest: {"allowed": allowed, "what": words, "at": now} for digest, words in words_of.items()}
        answers = {**{digest: entry for digest, entry in self._read().items() if digest not in new}, **new}
        kept = dict(list(answers.items())[-_MAX_ANSWERS:])
        try:
            self._write(json.dumps({"root": self._root, "answers": kept}, indent=1))
        except OSError as error:
            raise unwritable(self.file, error) from error

    def forget(self) -> None:
        """Drop all answers, so that the user is asked again.

        Raises:
            StoreError: if the file cannot be removed.
        """
        try:
            self.file.unlink(missing_ok=True)
        except OSError as error:
            raise unwritable(self.file, error) from error

    def _read(self) -> dict[str, Any]:
        """Return the answers; none if the file or its folder belongs to others or is writable by them."""
        try:
            if not _is_ours(os.lstat(self.file.parent), stat.S_IFDIR):
                return {}
            descriptor = os.open(self.file, os.O_RDONLY | _NO_LINK | _NO_WAITING)
            with open(descriptor, "rb") as stream:
                if not _is_ours(os.fstat(descriptor), stat.S_IFREG):
                    return {}
                document = json.loads(stream.read(_MAX_BYTES))
            answers = document["answers"] if document["root"] == self._root else {}
        except (
            OSError,
            ValueError,
            KeyError,
            TypeError,
            RecursionError,
        ):  # missing or damaged: ask again
            return {}
        return answers if isinstance(answers, dict) else {}

    def _write(self, text: str) -> None:
        folder = self.file.parent
        for level in (folder.parent, folder):  # `mode` applies to the last level only
            level.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_ours(os.lstat(folder), stat.S_IFDIR):
            raise PermissionError(0, "other users can write its folder")
        write_file(self.file, text.encode("ascii"), mode=0o600)


def _is_ours(facts: os.stat_result, kind: int) -> bool:
    """Tell whether a file is of a kind, belongs to this user, and cannot be written by others."""
    if stat.S_IFMT(facts.st_mode) != kind:
        return False
    return sys.platform == "win32" or (facts.st_uid == os.geteuid() and not facts.st_mode & 0o022)
