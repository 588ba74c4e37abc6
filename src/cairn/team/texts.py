"""The contents of a project's files, packed so that what did not change is published once."""

from __future__ import annotations

import errno
import hashlib
import json
import mmap
import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from cairn.errors import ObjectDamagedError
from cairn.team.objects import PUBLISH_AGAIN

_MIN_LIVE = 0.5  # of a pack's members; what is left of one below is packed again
_LEVEL = 6
# What is before each member of a pack: CRC, length packed, length, that of its name and of what follows that.
_MEMBER, _HEADER = b"PK\3\4", struct.Struct("<14xLLLHH")


class Tree(NamedTuple):
    """Which content each file has, and which pack holds that.

    Attributes:
        files: by path, the SHA-256 of the content.
        packs: the object of the pack of each content.
    """

    files: dict[str, str]
    packs: dict[str, str]

    def dump(self) -> bytes:
        """Return the tree as bytes."""
        return zlib.compress(json.dumps(self._asdict(), sort_keys=True, separators=(",", ":")).encode(), _LEVEL)

    @classmethod
    def load(cls, content: bytes) -> Tree:
        """Return the tree that bytes hold.

        Raises:
            ObjectDamagedError: if they hold none.
        """
        try:
            document = json.loads(zlib.decompress(content))
            return cls(dict(document["files"]), dict(document["packs"]))
        except (KeyError, TypeError, ValueError, zlib.error) as error:
            raise ObjectDamagedError("the list of files cannot be read", PUBLISH_AGAIN) from error


def kept_packs(files: Mapping[str, str], earlier: Tree | None) -> dict[str, str]:
    """Return the pack of each content of files that an earlier tree holds, where enough of that pack is still used."""
    if earlier is None:
        return {}
    wanted = set(files.values())
    live: dict[str, list[str]] = {}
    sizes: dict[str, int] = {}
    for content, pack in earlier.packs.items():
        sizes[pack] = sizes.get(pack, 0) + 1
        if content in wanted:
            live.setdefault(pack, []).append(content)
    return {
        content: pack
        for pack, members in live.items()
        if len(members) >= _MIN_LIVE * sizes[pack]
        for content in members
    }


def write_pack(target: Path, contents: Iterable[tuple[str, bytes]]) -> None:
    """Write contents, each with its hash, to a file that is the same whenever it holds the same."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as pack:
        for name, content in contents:
            pack.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)


class _Member(NamedTuple):
    """A content in a pack: the pack, where the packed bytes are, and the length and checksum of what they hold."""

    pack: Path
    begin: int
    end: int
    n_bytes: int
    crc: int


class PackedFiles:
    """The files of a tree, read one by one from its packs.

    Args:
        tree: the files.
        pack_file: returns where the pack of a name is; the pack stays there.

    Raises:
        ObjectDamagedError: if a pack lacks what the tree says, or a path leads out of the project.
    """

    def __init__(self, tree: Tree, pack_file: Callable[[str], Path]) -> None:
        self._members: dict[str, _Member] = {}
        try:
            of_packs = {pack: dict(_members(pack_file(pack))) for pack in set(tree.packs.values())}
            for path, content in tree.files.items():
                self._members[_checked(path)] = of_packs[tree.packs[content]][content]
        except (KeyError, ValueError, struct.error) as error:
            raise _lacking() from error

    def sizes(self) -> Iterator[tuple[str, int]]:
        """Yield the path and the size in bytes of each file."""
        return ((path, member.n_bytes) for path, member in self._members.items())

    def read(self, path: str) -> bytes:
        """Return the content of a file.

        Raises:
            FileNotFoundError: if there is none.
            ObjectDamagedError: if its pack is damaged.
        """
        if (member := self._members.get(path)) is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        with _mapped(member.pack) as content:
            return _unpacked(content, member)

    def write(self, root: Path, mtime_ns: int) -> None:
        """Write all files below a folder with nothing in it, as if each had been written at some time.

        Raises:
            ObjectDamagedError: if a pack is damaged.
        """
        by_pack: dict[Path, list[tuple[str, _Member]]] = {}
        for path, member in self._members.items():
            by_pack.setdefault(member.pack, []).append((path, member))
        for pack, members in by_pack.items():
            with _mapped(pack) as content:
                for path, member in members:
                    _write(f"{root}/{path}", _unpacked(content, member), mtime_ns)


def _mapped(pack: Path) -> mmap.mmap:
    with pack.open("rb") as stream:
        return mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)


def _members(pack: Path) -> Iterator[tuple[str, _Member]]:
    """Yield the members of a pack with their names; `zipfile` takes three times as long.

    Raises:
        ValueError, struct.error: if it is not a pack.
    """
    at = 0
    with _mapped(pack) as content:
        while content[at : at + 4] == _MEMBER:
            crc, n_packed, n_bytes, n_name, n_more = _HEADER.unpack_from(content, at)
            name = content[at + _HEADER.size : at + _HEADER.size + n_name].decode("ascii", "replace")
            begin = at + _HEADER.size + n_name + n_more
            at = begin + n_packed
            yield name, _Member(pack, begin, at, n_bytes, crc)


def _unpacked(pack: mmap.mmap, member: _Member) -> bytes:
    try:
        packed = pack[member.begin : member.end]
        data = zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, max(1, member.n_bytes))
    except zlib.error as error:
        raise _lacking() from error
    if len(data) != member.n_bytes or zlib.crc32(data) != member.crc:
        raise _lacking()
    return data


def _lacking() -> ObjectDamagedError:
    return ObjectDamagedError("a pack lacks what it should hold", PUBLISH_AGAIN)


def _checked(path: str) -> str:
    """Return a path, which stays below the project."""
    parts = path.split("/")
    if not path or path.startswith("/") or ".." in parts or "" in parts:
        raise ObjectDamagedError(f"{path!r} is not a path below a project", PUBLISH_AGAIN)
    return path


def _write(target: str, data: bytes, mtime_ns: int) -> None:
    try:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    try:
        with memoryview(data) as rest:
            n_written = 0
            while n_written < len(data):
                n_written += os.write(descriptor, rest[n_written:])
        os.utime(descriptor, ns=(mtime_ns, mtime_ns))
    finally:
        os.close(descriptor)


def content_hash(data: bytes) -> str:
    """Return what a content is called in a tree."""
    return hashlib.sha256(data).hexdigest()
