"""The contents of a project's files, packed so that what did not change is published once."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from cairn.errors import ObjectDamagedError
from cairn.team.objects import PUBLISH_AGAIN

_MIN_LIVE = 0.5  # of a pack's members; what is left of one below is packed again
_LEVEL = 6


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


def write_files(tree: Tree, root: Path, pack_file: Callable[[str], Path]) -> Iterator[str]:
    """Write the files of a tree below a folder, and yield the path of each.

    Args:
        tree: the files.
        root: a folder with nothing in it.
        pack_file: returns where the pack of a name is.

    Raises:
        ObjectDamagedError: if a pack does not hold what the tree says.
    """
    for pack, members in _members(tree).items():
        with zipfile.ZipFile(pack_file(pack)) as stored:
            for content, paths in members.items():
                try:
                    data = stored.read(content)
                except (KeyError, zipfile.BadZipFile, zlib.error) as error:
                    raise ObjectDamagedError("a pack lacks what it should hold", PUBLISH_AGAIN) from error
                for path in paths:
                    _write(root, path, data)
                    yield path


def _members(tree: Tree) -> Mapping[str, Mapping[str, list[str]]]:
    """Return, by pack, the paths of each content."""
    members: dict[str, dict[str, list[str]]] = {}
    for path, content in tree.files.items():
        try:
            members.setdefault(tree.packs[content], {}).setdefault(content, []).append(path)
        except KeyError as error:
            raise ObjectDamagedError(f"no pack holds {path}", PUBLISH_AGAIN) from error
    return members


def _write(root: Path, path: str, data: bytes) -> None:
    parts = path.split("/")
    if not path or path.startswith("/") or ".." in parts or "" in parts:
        raise ObjectDamagedError(f"{path!r} is not a path below a project", PUBLISH_AGAIN)
    target = os.path.join(root, path)
    try:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    with os.fdopen(descriptor, "wb", 0) as stream:
        stream.write(data)


def content_hash(data: bytes) -> str:
    """Return what a content is called in a tree."""
    return hashlib.sha256(data).hexdigest()
