"""The contents of a project's files, packed so that what did not change is published once."""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from cairn.errors import ObjectDamagedError
from cairn.team.objects import PUBLISH_AGAIN
from cairn.types import FileStat

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


def write_files(tree: Tree, root: Path, pack_file: Callable[[str], Path]) -> Iterator[FileStat]:
    """Write the files of a tree below a folder, and yield what each is then.

    Args:
        tree: the files.
        root: a folder with nothing in it.
        pack_file: returns where the pack of a name is.

    Raises:
        ObjectDamagedError: if a pack does not hold what the tree says.
    """
    for pack, members in _members(tree).items():
        try:
            for content, data in _contents(pack_file(pack), members):
                for path in members[content]:
                    yield _write(f"{root}", path, data)
        except (ValueError, struct.error, zlib.error) as error:
            raise ObjectDamagedError("a pack lacks what it should hold", PUBLISH_AGAIN) from error


def _contents(pack: Path, names: Collection[str]) -> Iterator[tuple[str, bytes]]:
    """Yield members of a pack by their names, in its order; `ZipFile.read` takes three times as long for these.

    Raises:
        ValueError, struct.error, zlib.error: if it lacks one, or its content is another.
    """
    n_found, at = 0, 0
    with pack.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
        while content[at : at + 4] == _MEMBER:
            crc, n_packed, n_bytes, n_name, n_more = _HEADER.unpack_from(content, at)
            name = content[at + _HEADER.size : at + _HEADER.size + n_name].decode("ascii", "replace")
            begin = at + _HEADER.size + n_name + n_more
            at = begin + n_packed
            if name not in names:
                continue
            data = zlib.decompressobj(-zlib.MAX_WBITS).decompress(content[begin:at], max(1, n_bytes))
            if len(data) != n_bytes or zlib.crc32(data) != crc:
                raise ValueError(f"{name} is damaged")
            n_found += 1
            yield name, data
    if n_found != len(names):
        raise ValueError("some are not there")


def _members(tree: Tree) -> Mapping[str, Mapping[str, list[str]]]:
    """Return, by pack, the paths of each content."""
    members: dict[str, dict[str, list[str]]] = {}
    for path, content in tree.files.items():
        try:
            members.setdefault(tree.packs[content], {}).setdefault(content, []).append(path)
        except KeyError as error:
            raise ObjectDamagedError(f"no pack holds {path}", PUBLISH_AGAIN) from error
    return members


def _write(root: str, path: str, data: bytes) -> FileStat:
    parts = path.split("/")
    if not path or path.startswith("/") or ".." in parts or "" in parts:
        raise ObjectDamagedError(f"{path!r} is not a path below a project", PUBLISH_AGAIN)
    target = f"{root}/{path}"
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
        status = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    return FileStat(path, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def content_hash(data: bytes) -> str:
    """Return what a content is called in a tree."""
    return hashlib.sha256(data).hexdigest()
