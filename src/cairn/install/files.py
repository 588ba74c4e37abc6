"""The agents' files on disk: their real paths, their content, and whether they may be changed."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from cairn.documents.nodes import MAX_BYTES
from cairn.errors import PathError
from cairn.hooks.adapter import Place


def real_path(file: Path, place: Place) -> Path:
    """Return the real path of a file. Links in the user's files are followed, those in a project only within it.

    Raises:
        PathError: if it leads out of the project, or in a circle.
    """
    try:
        real = Path(os.path.realpath(file))
        root = Path(os.path.realpath(place.root))
    except (OSError, ValueError) as error:
        raise PathError(f"{shown_path(file, place)} cannot be found: {error}", "remove it") from error
    if real.is_symlink():
        raise PathError(f"{shown_path(file, place)} is a link in a circle", "remove it")
    if place.level == "project" and not real.is_relative_to(root):
        raise PathError(f"{shown_path(file, place)} is a link that leads out of the project", "remove it")
    return real


def shown_path(file: Path, place: Place) -> str:
    """Return a path for people: relative to the project or to `~`."""
    for folder, prefix in ((place.root, ""), (place.home, "~/")):
        for start in (folder, Path(os.path.realpath(folder))):
            if file.is_relative_to(start) and (prefix or place.level == "project"):
                return f"{prefix}{file.relative_to(start).as_posix()}"
    return str(file)


def read_content(file: Path) -> bytes | None:
    """Return the content of a file, None if there is none.

    Raises:
        PathError: if it is not a regular file, cannot be read, or is larger than 50 MB.
    """
    try:
        descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise PathError(f"{file} cannot be read: {error.strerror}", "make it readable") from error
    facts = os.fstat(descriptor)
    if not stat.S_ISREG(facts.st_mode):
        os.close(descriptor)
        raise PathError(f"{file} is not a regular file", "move or remove it")
    with open(descriptor, "rb") as stream:
        if facts.st_size > MAX_BYTES:
            raise PathError(f"{file} is larger than {MAX_BYTES:,} bytes", "make the change by hand")
        return stream.read()


def check_writable(file: Path) -> None:
    """Make sure that a file, if it exists, may be changed.

    Raises:
        PathError: if it is read-only.
    """
    if file.exists() and not (file.stat().st_mode & 0o222 and os.access(file, os.W_OK)):
        raise PathError(f"{file} is read-only", "make it writable, or leave it as it is")


def missing_folders(file: Path) -> tuple[str, ...]:
    """Return the missing folders above a file, outermost first.

    Raises:
        PathError: if something above it is not a directory, or the first folder cannot be created.
    """
    missing: list[str] = []
    folder = file.parent
    while not os.path.lexists(folder):
        missing.insert(0, str(folder))
        folder = folder.parent
    if not folder.is_dir():
        raise PathError(f"{folder} is not a directory", "move or remove it")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PathError(f"{folder} is read-only", "make it writable")
    return tuple(missing)


def folders_of_ours(file: Path, place: Place) -> tuple[str, ...]:
    """Return the folders above a file of Cairn's to remove with it if they are empty, outermost first.

    There is no record that they were created for it. git keeps no empty folders, so in a project they were; of the
    user's own folders, only one called `cairn` counts as ours.
    """
    root = Path(os.path.realpath(place.root))
    if place.level == "user" or not file.is_relative_to(root):
        return tuple(str(folder) for folder in file.parents[:1] if folder.name == "cairn")
    return tuple(str(folder) for folder in reversed(file.parents) if folder != root and folder.is_relative_to(root))
