"""Published generations: turns an indexed checkout into objects, and objects into a project that can be opened."""

from __future__ import annotations

import errno
import os
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Literal, NamedTuple

from cairn.errors import IndexMissingError, ObjectDamagedError
from cairn.hints import Hint
from cairn.index.past_files import past_file
from cairn.index.state_dir import StateDir
from cairn.index.state_files import is_derived
from cairn.index.views import CheckoutView, Stamp, View
from cairn.source.walk import MAX_FILE_BYTES, Walk
from cairn.storage.arrays import load_arrays, save_arrays
from cairn.storage.index.copy_db import CopiedView, copy_view, settle_view
from cairn.team.objects import PUBLISH_AGAIN
from cairn.team.texts import PackedFiles, Tree, content_hash, kept_packs, write_pack
from cairn.types import FileStat

DATABASE = "index.db"
_WRITTEN_NS = 1_000_000_000_000_000_000  # the modification time of all files of all generations
Kind = Literal["database", "derived", "history", "tree", "pack"]
Store = Callable[[Path], str]


class PublishedFile(NamedTuple):
    """One object of a generation.

    Attributes:
        kind: of object.
        name: the file's name; for a pack its hash.
        object: its name in the object store.
    """

    kind: Kind
    name: str
    object: str


class PlantedView(CheckoutView):
    """The files of a generation, read from packs until something needs them on disk.

    Args:
        root: their folder, initially empty.
        files: their packed form.
    """

    def __init__(self, root: Path, files: PackedFiles) -> None:
        super().__init__(root, None, MAX_FILE_BYTES)
        self._files = files
        self._stamps = {path: (size, _WRITTEN_NS) for path, size in files.sizes()}
        self._writing = threading.Lock()
        self._is_written = False
        self._n_read = 0  # reads from packs

    def walk(self) -> Walk:
        """Find the files, on disk."""
        self.ensure_on_disk()
        return super().walk()

    def stamp(self, path: str) -> Stamp:
        """Return the size and modification time, which never change."""
        if (stamp := self._stamps.get(path)) is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return stamp

    def read(self, path: str) -> bytes:
        """Return the content of a file; after as many reads as there are files, write all of them to disk."""
        if not self._is_written:
            if self._n_read == len(self._stamps):
                with suppress(OSError):  # the disk is full, but the packs have everything
                    self.ensure_on_disk()
            self._n_read += 1
        return super().read(path) if self._is_written else self._files.read(path)

    def ensure_on_disk(self) -> None:
        """Write all files, unless that is done; one thread does it for all.

        Raises:
            ObjectDamagedError: if a pack is damaged.
            OSError: if the disk is full.
        """
        with self._writing:
            if self._is_written:
                return
            shutil.rmtree(self.root, ignore_errors=True)  # left by an earlier attempt
            self.root.mkdir()
            self._files.write(self.root, _WRITTEN_NS)
            self._is_written = True


class Planted(NamedTuple):
    """A generation that can be opened: its files, and the folder of its index."""

    view: PlantedView
    state: Path


def publish(state: StateDir, view: View, scratch: Path, store: Store, earlier: Tree | None) -> list[PublishedFile]:
    """Store and return what a node needs to answer from a checkout, which must not change meanwhile.

    Args:
        state: that of its index.
        view: the checkout.
        scratch: an empty folder.
        store: stores a file, and returns the name of the object.
        earlier: the files of the previous generation.

    Raises:
        IndexMissingError: if the checkout is not indexed.
        ObjectStoreError: as `store`.
    """
    with closing(state.open_for_reading()) as connection:
        copied = copy_view(connection, view.name, scratch / DATABASE)
    if copied is None or not copied.view.generation or copied.view.pending:
        raise IndexMissingError("this checkout is not indexed yet", Hint.of("index"))
    pieces = [_stored(store, "database", scratch / DATABASE)]
    pieces += [_stored(store, "derived", file) for file in _derived(state, copied) if file.exists()]
    past = past_file(state, view.name)
    if past.exists():
        pieces.append(_stored(store, "history", past))
    tree, packs = _pack_texts(view, copied.paths, scratch / "texts.zip", store, earlier)
    listing = scratch / "tree"
    listing.write_bytes(tree.dump())
    return [*pieces, *packs, _stored(store, "tree", listing)]


def _derived(state: StateDir, copied: CopiedView) -> Iterator[Path]:
    """Yield the possible derived files of a view."""
    yield state.view(copied.view.arrays)
    yield state.layout(copied.view.layout)
    for segment in copied.segments:
        yield state.segment(segment.name)
        yield state.neighbours(segment.name)
    yield state.graph(copied.view.id)


def _pack_texts(
    view: View, paths: Sequence[str], scratch: Path, store: Store, earlier: Tree | None
) -> tuple[Tree, list[PublishedFile]]:
    """Store contents that no earlier pack has; return the tree and all of its packs."""
    files, path_of = {}, {}
    for path in paths:
        files[path] = name = content_hash(view.read(path))
        path_of[name] = path
    packs = kept_packs(files, earlier)
    kept = [PublishedFile("pack", name, name) for name in sorted(set(packs.values()))]
    new = sorted(set(path_of) - set(packs))
    if not new:
        return Tree(files, packs), kept
    write_pack(scratch, ((name, view.read(path_of[name])) for name in new))
    stored = _stored(store, "pack", scratch)
    packs.update(dict.fromkeys(new, stored.object))
    return Tree(files, packs), [*kept, stored._replace(name=stored.object)]


def _stored(store: Store, kind: Kind, file: Path) -> PublishedFile:
    return PublishedFile(kind, file.name, store(file))


def plant(pieces: Sequence[PublishedFile], cached: Callable[[str], Path], folder: Path) -> Planted:
    """Write a generation to a folder, so that it can be opened like any project; its files are not written yet.

    Args:
        pieces: the generation's objects.
        cached: returns the immutable file of an object.
        folder: a folder that does not exist yet; an error leaves it incomplete.

    Raises:
        ObjectDamagedError: if the pieces are inconsistent.
        ObjectStoreError: as `cached`.
        UnsafeStateError, StoreError: if the folder cannot be used.
    """
    root, packs = folder / "files", folder / "packs"
    root.mkdir(parents=True)
    packs.mkdir()
    for piece in pieces:
        if piece.kind == "pack":
            _link(cached(piece.object), packs / piece.object)
    files = PackedFiles(Tree.load(_only(pieces, "tree", cached).read_bytes()), lambda pack: packs / pack)
    view, state = PlantedView(root, files), StateDir(folder / "state")
    seal = state.create()
    shutil.copyfile(_only(pieces, "database", cached), state.database)
    stats = (FileStat(path, size, _WRITTEN_NS, _WRITTEN_NS) for path, size in files.sizes())
    settle_view(state.database, view.name, seal.id, stats)
    for piece in pieces:
        if piece.kind == "derived":
            _link(cached(piece.object), _named(state.derived, piece.name))
        elif piece.kind == "history":
            _rename_arrays(cached(piece.object), piece.name, past_file(state, view.name), folder)
    return Planted(view, state.path)


def _only(pieces: Sequence[PublishedFile], kind: Kind, cached: Callable[[str], Path]) -> Path:
    found = [piece for piece in pieces if piece.kind == kind]
    if len(found) != 1:
        raise ObjectDamagedError(f"a generation has {len(found)} pieces of kind {kind}", PUBLISH_AGAIN)
    return cached(found[0].object)


def _named(folder: Path, name: str) -> Path:
    if not is_derived(name):
        raise ObjectDamagedError(f"{name!r} is not a file of an index", PUBLISH_AGAIN)
    return folder / name


def _link(source: Path, target: Path) -> None:
    """Link or copy an immutable file."""
    try:
        os.link(source, target)
    except OSError:  # another file system, or one without hard links
        shutil.copyfile(source, target)


def _rename_arrays(source: Path, name: str, target: Path, scratch: Path) -> None:
    """Write a file of arrays under another name, which is part of its content."""
    named = _named(scratch, name)
    _link(source, named)
    save_arrays(target, load_arrays(named))
    named.unlink()
