"""Finds what git tracks in a state folder, since anybody who can push to the repository controls that.

Usually git's index file is read up to where the folder would be listed; otherwise git is asked.
"""

from __future__ import annotations

import mmap
import os
import stat
import struct
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from cairn.errors import PathError

# What is meant to be committed.
SHARED_FILES = (b"config.yaml", b"core.yaml", b".gitignore")
SHARED_FOLDER = b"shared/"
# What answers depend on. If git tracks any of it, none of it can be trusted.
_DECISIVE = (b"index.db", b"memory.db", b"derived", b"seal")
_HEAD = struct.Struct(">4sLL")
_FLAGS_AT, _PATH_AT = 60, 62  # byte offsets in an entry; with SHA-256 they make no sense, and git is asked
_EXTENDED, _LENGTH = 0x4000, 0x0FFF
_MODES = (0o100644, 0o100755, 0o120000, 0o160000, 0o040000)
_MAX_ENTRIES = 2_000  # entries to read one by one; beyond them, search for the folder's name


class StatePlace(NamedTuple):
    """A state folder's place in a checkout: the checkout's index file, its top folder, and the path below that."""

    index_file: Path
    top: Path
    path: bytes


class _Odd(Exception):
    """The index file is of an unusual kind, or would take long to read."""


# Results by place, valid while git's index file is unchanged.
_known: dict[StatePlace, tuple[tuple[int, ...], tuple[str, ...]]] = {}


def find_place(state: Path) -> StatePlace | None:
    """Return a state folder's place in the checkout that contains it or that it is; None outside of any."""
    path = str(state)
    for top, git in _around(path):
        if not os.access(git, os.F_OK):  # cheaper than `stat`, which raises in most folders
            continue
        try:
            mode = os.stat(git).st_mode  # git never creates a link, so this is the user's own
            folder = git if stat.S_ISDIR(mode) else _git_folder_of(git, top, mode)
        except (OSError, ValueError):
            continue
        return _place(folder, top, path)
    return None


@lru_cache(maxsize=64)  # every question asks
def _around(path: str) -> tuple[tuple[str, str], ...]:
    """Return a folder and its parents, innermost first, each with the path of its possible `.git`."""
    folders = [path]
    while (parent := os.path.dirname(folders[-1])) != folders[-1]:
        folders.append(parent)
    return tuple((folder, os.path.join(folder, ".git")) for folder in folders)


@lru_cache(maxsize=64)  # every question asks
def _place(git_folder: str, top: str, state: str) -> StatePlace:
    return StatePlace(Path(git_folder, "index"), Path(top), os.fsencode(state[len(top) :].strip(os.sep)))


def find_tracked(state: Path) -> tuple[str, ...]:
    """Return a few paths that git tracks in a state folder though they are not meant to be shared, relative to it.

    Raises:
        PathError: if git has to be asked but cannot answer.
    """
    place = find_place(state)
    if place is None:
        return ()
    try:
        facts = os.stat(place.index_file)
    except OSError:  # nothing was ever added
        return ()
    if not stat.S_ISREG(facts.st_mode):
        return ()
    stamp = (facts.st_mtime_ns, facts.st_size, facts.st_ino)
    known = _known.get(place)
    if known is None or known[0] != stamp:
        known = _known[place] = stamp, tuple(os.fsdecode(path) for path in _find(place))[:10]
    return known[1]


def is_decisive(path: str) -> bool:
    """Tell whether answers depend on a tracked path."""
    return path == "." or os.fsencode(path).lower().startswith(_DECISIVE)


def _find(place: StatePlace) -> list[bytes]:
    any_case = _ignores_case(place.top / os.fsdecode(place.path))
    try:
        paths = ask_git(place, any_case=True) if any_case else list(_read(place))
    except (_Odd, OSError, ValueError, struct.error):
        paths = ask_git(place, any_case=False)
    return [path for path in paths if not _is_shared(path)]


def _is_shared(path: bytes) -> bool:
    return path.startswith(SHARED_FOLDER) or path in SHARED_FILES


def _git_folder_of(file: str, top: str, mode: int) -> str:
    """Return the folder that a `.git` file names."""
    if not stat.S_ISREG(mode):  # a pipe from an archive
        raise ValueError(file)
    with open(file, "rb") as stream:
        text = stream.read(5_000)
    if not text.startswith(b"gitdir: "):
        raise ValueError(file)
    return os.path.join(top, os.fsdecode(text.removeprefix(b"gitdir: ").rstrip(b"\r\n")))


def _ignores_case(state: Path) -> bool:
    """Tell whether another capitalisation of the folder's name means the same folder."""
    try:
        return os.path.samestat(os.lstat(state), os.lstat(state.with_name(state.name.upper())))
    except OSError:
        return False


def _read(place: StatePlace) -> Iterator[bytes]:
    """Yield the listed paths below the folder, relative to it; `.` for the folder itself."""
    if any(name.startswith("sharedindex.") for name in os.listdir(place.index_file.parent)):
        raise _Odd
    with place.index_file.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        signature, version, count = _HEAD.unpack_from(data)
        if signature != b"DIRC" or version not in (2, 3):  # version 4 stores shortened paths
            raise _Odd
        first = place.path + b"/" if place.path else b""
        at = _HEAD.size
        for number in range(count):
            if number == _MAX_ENTRIES:
                if data.find(place.path, at) >= 0:
                    raise _Odd
                return
            path, at = _entry(data, at)
            if path == place.path or path.rstrip(b"/") == place.path:
                raise _Odd  # the folder itself is a link, a submodule, or an entry of a sparse index
            if path.startswith(first):
                yield path[len(first) :]
            elif path > first:
                return


def _entry(data: mmap.mmap, at: int) -> tuple[bytes, int]:
    """Return the path of an entry and the offset of the next one; see gitformat-index(5)."""
    mode = int.from_bytes(data[at + 24 : at + 28], "big")
    flags = int.from_bytes(data[at + _FLAGS_AT : at + _PATH_AT], "big")
    start = at + _PATH_AT + (2 if flags & _EXTENDED else 0)
    end = data.find(b"\0", start)
    if mode not in _MODES or end < 0 or min(end - start, _LENGTH) != flags & _LENGTH:
        raise _Odd
    return data[start:end], at + ((end - at) // 8 + 1) * 8


def ask_git(place: StatePlace, *, any_case: bool) -> list[bytes]:
    """Return the paths that git lists below a state folder, relative to it; `.` if something is in its place.

    Args:
        place: of the folder.
        any_case: also count other capitalisations of the folder's name.
    """
    # start-up time: no git runs if the daemon answers
    from cairn.source.git import first_complaint  # noqa: PLC0415 - as above
    from cairn.source.plumbing import run_git  # noqa: PLC0415 - as above

    options = ":(icase,literal)" if any_case else ":(literal)"
    pattern = [options + os.fsdecode(place.path)] if place.path else []
    try:
        done = run_git(place.top, ["ls-files", "-z", "--cached", "--", *pattern])
    except FileNotFoundError:  # without git, nothing here was checked out by it
        return []
    if done.returncode:
        raise PathError(f"git cannot list what it tracks in {place.top}: {first_complaint(done)}", "see: git status")
    paths = [path for path in done.stdout.split(b"\0") if path]
    return [path[len(place.path) :].lstrip(b"/") or b"." for path in paths] if place.path else paths
