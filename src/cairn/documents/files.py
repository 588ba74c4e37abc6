"""Reads and writes a user's own files: links are followed and kept, and concurrent changes are not lost."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from cairn.documents.nodes import MAX_BYTES
from cairn.errors import CairnError, ConfigError, ResourceError, UnsafeStateError, resource_error
from cairn.storage.atomic import AtomicFile
from cairn.yaml_files import read_user_bytes


def read_file(file: Path) -> bytes | None:
    """Return the content of a file, which may be a link; None if there is none.

    Raises:
        ConfigError: if it is not a regular file, is too large, or cannot be read.
    """
    return read_user_bytes(file, MAX_BYTES)


def write_file(file: Path, old: bytes | None, new: bytes) -> None:
    """Replace a file atomically, if it still has the content that was read.

    If it is a link, its target is replaced. Permissions stay. Folders are created.

    Args:
        file: its path.
        old: what `read_file` returned.
        new: what to write.

    Raises:
        ConfigError: if it has changed since, is read-only or another user's, or cannot be written.
        ResourceError: if the disk is full, or the like.
    """
    try:
        target = Path(os.path.realpath(file))
        facts = _facts(target, file)
        if facts is None:
            target.parent.mkdir(parents=True, exist_ok=True)
        with AtomicFile(target) as replacement:
            if facts is not None and hasattr(os, "fchmod"):
                os.fchmod(replacement.stream.fileno(), stat.S_IMODE(facts.st_mode))
                with suppress(PermissionError):  # a group that this user is not in
                    os.fchown(replacement.stream.fileno(), facts.st_uid, facts.st_gid)
            replacement.stream.write(new)
            replacement.stream.flush()
            os.fsync(
                replacement.stream.fileno()
            )  # done first, to leave little time between the next check and the rename
            _check_unchanged(file, old)
    except (OSError, UnsafeStateError) as error:
        raise _unwritable(file, error) from error


def delete_file(file: Path, old: bytes) -> None:
    """Delete a file, if it still has the content that was read; the target of a link stays.

    Raises:
        ConfigError: if it was changed since, or cannot be deleted.
    """
    _check_unchanged(file, old)
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        raise _unwritable(file, error) from error


def _facts(target: Path, file: Path) -> os.stat_result | None:
    try:
        facts = os.stat(target)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(facts.st_mode):
        raise ConfigError(f"{file} is not a regular file", f"move or remove {file}")
    if hasattr(os, "geteuid") and os.geteuid() not in (0, facts.st_uid):
        raise ConfigError(f"{file} belongs to another user", f"make the change in {file} by hand")
    if not os.access(target, os.W_OK) or not facts.st_mode & 0o222:
        raise ConfigError(f"{file} is read-only", f"make {file} writable")
    return facts


def _check_unchanged(file: Path, old: bytes | None) -> None:
    if read_file(file) != old:
        raise ConfigError(f"{file} was changed by another program just now", "run the command again")


def _unwritable(file: Path, error: OSError | UnsafeStateError) -> CairnError:
    if (shortage := resource_error(error)) is not None:
        return ResourceError(f"{file} cannot be written: {shortage}", shortage.hint)
    if isinstance(error, OSError):
        return ConfigError(f"{file} cannot be written: {error.strerror}", f"make {file.parent} writable")
    return ConfigError(f"{file} cannot be written: {error}", f"make the change in {file} by hand")
