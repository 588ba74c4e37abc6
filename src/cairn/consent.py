"""What the user answered when the file of a project asked for an embedding model.

The answers are kept in the user's state folder, a file for each project, and never in the project: what comes with a
clone cannot hold a consent.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import time
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from cairn.errors import StoreError
from cairn.storage.atomic import write_file

_MAX_BYTES = 100_000
_MAX_ANSWERS = 50
_NO_LINK, _NO_WAITING = getattr(os, "O_NOFOLLOW", 0), getattr(os, "O_NONBLOCK", 0)


class Consents:
    """The answers for one project.

    Args:
        state_folder: of the user.
        root: the project's folder.
    """

    def __init__(self, state_folder: Path, root: Path) -> None:
        self._root = os.path.realpath(root)
        name = blake2b(os.fsencode(self._root), digest_size=16).hexdigest()
        self.file = state_folder / "consent" / f"{name}.json"

    def answer(self, asked: str) -> bool | None:
        """Return what the user said; None when nobody asked, or it cannot be told.

        Args:
            asked: names what was asked for, down to what would make it something else.
        """
        one = self._read().get(asked)
        return one["allowed"] if isinstance(one, dict) and isinstance(one.get("allowed"), bool) else None

    def record(self, asked: Mapping[str, str], *, allowed: bool) -> None:
        """Keep an answer.

        Args:
            asked: what was asked for, as for `answer`, with the words that the user saw.
            allowed: the answer.

        Raises:
            StoreError: if it cannot be written.
        """
        said = {name: {"allowed": allowed, "what": words, "at": int(time.time())} for name, words in asked.items()}
        answers = {**{name: one for name, one in self._read().items() if name not in said}, **said}
        kept = dict(list(answers.items())[-_MAX_ANSWERS:])
        try:
            self._write(json.dumps({"root": self._root, "answers": kept}, indent=1))
        except OSError as error:
            raise self._not_writable(error) from error

    def forget(self) -> None:
        """Drop all answers, so that the user is asked again.

        Raises:
            StoreError: if that cannot be done.
        """
        try:
            self.file.unlink(missing_ok=True)
        except OSError as error:
            raise self._not_writable(error) from error

    def _not_writable(self, error: OSError) -> StoreError:
        return StoreError(f"cannot write {self.file}: {error.strerror}", "make it writable, or set XDG_STATE_HOME")

    def _read(self) -> dict[str, Any]:
        """Return the answers; none where the file or its folder is another's, or open to others."""
        try:
            if not _is_ours(os.lstat(self.file.parent), stat.S_IFDIR):
                return {}
            descriptor = os.open(self.file, os.O_RDONLY | _NO_LINK | _NO_WAITING)
            with open(descriptor, "rb") as stream:
                if not _is_ours(os.fstat(descriptor), stat.S_IFREG):
                    return {}
                document = json.loads(stream.read(_MAX_BYTES))
            answers = document["answers"] if document["root"] == self._root else {}
        except (OSError, ValueError, KeyError, TypeError, RecursionError):  # none, or damaged: the user is asked again
            return {}
        return answers if isinstance(answers, dict) else {}

    def _write(self, text: str) -> None:
        folder = self.file.parent
        for one in (folder.parent, folder):  # `mode` is of the last one only
            one.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_ours(os.lstat(folder), stat.S_IFDIR):
            raise PermissionError(0, "its folder is not this user's alone")
        write_file(self.file, text.encode("ascii"), mode=0o600)


def _is_ours(facts: os.stat_result, kind: int) -> bool:
    """Tell whether what was found is of a kind, belongs to this user, and can be written by nobody else."""
    if stat.S_IFMT(facts.st_mode) != kind:
        return False
    return sys.platform == "win32" or (facts.st_uid == os.geteuid() and not facts.st_mode & 0o022)
