"""The files of one view as arrays: each file's blob, role, and the terms and vector of its path."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cairn.digest import blake2b
from cairn.errors import DerivedFileError
from cairn.index.analysis import IMPACT_SCALE, POSTINGS_LAYOUT, Postings, WordVectors, quantize
from cairn.index.state_dir import StateDir, new_name
from cairn.kernels.grouping import group
from cairn.source.attributes import GITATTRIBUTES
from cairn.source.roles import PathAttributes, Role, RoledFile, by_others, own_role, roles_of
from cairn.source.terms import term_hash, terms_of
from cairn.source.text import raw_words, split_identifier
from cairn.storage.arrays import Arrays, are_below, check_fits, load_arrays, save_arrays
from cairn.storage.index.view_db import Published, ViewRow

# The weight of a path's term by its position; among folders, the nearest counts most.
STEM_WEIGHT = 1.0
FOLDER_WEIGHTS = (0.6, 0.4, 0.25)
STEM_FIELD, FOLDER_FIELD = 1, 2
_LAYOUT = {
    "paths": ("u1", 1),
    "roles": ("u2", 1),
    "languages": ("u1", 1),
    "language_names": ("u1", 1),
    "stem_terms": ("u1", 1),
    "stems": ("u8", 1),
    "vectors": ("i1", 2),
} | POSTINGS_LAYOUT
UNKNOWN_SIZE = -1
_NAMELESS_STEMS = frozenset({"__init__", "index", "mod", "main", "lib", "init", "default"})
_NAMELESS_FOLDERS = frozenset({"src", "lib", "source", "sources"})


class ViewFile(NamedTuple):
    """One file of a view. `is_generated`: its content says that a program wrote it.

    `size` and `mtime_ns` are those at indexing time.
    """

    path: str
    blob_id: int
    language: str
    is_generated: bool = False
    size: int = UNKNOWN_SIZE
    mtime_ns: int = 0


class ViewArrays(NamedTuple):
    """The files of a view, as arrays.

    Shapes: blob_ids, roles, languages, stem_terms, stems (n_files,); vectors (n_files, dimensions); stamps (n_files,
    2).

    `postings` has a row per file. `stem_terms` counts the distinct terms of each file's stem, and `stems` are the
    hashes of whole stems. `languages` index into `language_names`. `stamps` are the sizes and modification times when
    this was written; the database has those of files that were touched since.
    """

    paths: tuple[str, ...]
    blob_ids: npt.NDArray[np.int64]
    roles: npt.NDArray[np.uint16]
    languages: npt.NDArray[np.uint8]
    language_names: tuple[str, ...]
    stem_terms: npt.NDArray[np.uint8]
    stems: npt.NDArray[np.uint64]
    vectors: npt.NDArray[np.int8]
    postings: Postings
    stamps: npt.NDArray[np.int64]


class ViewFiles:
    """Saves the arrays of views; what depends only on the paths is stored once for all views with the same paths.

    Args:
        state: the state folder.
        made_by: the version of the analysis and the model, on which the arrays depend too.
    """

    def __init__(self, state: StateDir, made_by: str) -> None:
        self._state = state
        self._made_by = made_by

    def save(self, arrays: ViewArrays) -> Published:
        """Write the arrays of a view, each file atomically."""
        paths, names = _pack(arrays.paths), _pack(arrays.language_names)
        digest = blake2b(self._made_by.encode(), digest_size=16)
        for part in (paths, names, arrays.languages, arrays.roles):
            digest.update(len(part).to_bytes(8, "little") + part.tobytes())
        layout = digest.hexdigest()
        layout_bytes = _size_if_whole(self._state.layout(layout)) or save_arrays(
            self._state.layout(layout),
            {
                "paths": paths,
                "roles": arrays.roles,
                "languages": arrays.languages,
                "language_names": names,
                "stem_terms": arrays.stem_terms,
                "stems": arrays.stems,
                "vectors": arrays.vectors,
                **arrays.postings.to_arrays(),
            },
        )
        name = new_name()
        n_bytes = save_arrays(
            self._state.view(name), {"blob_ids": arrays.blob_ids.astype(np.int32), "stamps": arrays.stamps}
        )
        return Published(name, n_bytes, layout, layout_bytes)


def load_view(state: StateDir, view: ViewRow) -> ViewArrays:
    """Map the files that `ViewFiles.save` wrote for a view.

    Raises:
        DerivedFileError: if one is missing or damaged.
    """
    arrays, path = load_layout(state.layout(view.layout)), state.view(view.arrays)
    own = load_own(path)
    blob_ids = own["blob_ids"].astype(np.int64)
    found = ViewArrays(
        _unpack(arrays["paths"]),
        blob_ids,
        arrays["roles"],
        arrays["languages"],
        _unpack(arrays["language_names"]),
        arrays["stem_terms"],
        arrays["stems"],
        arrays["vectors"],
        Postings.from_arrays(arrays),
        own.get("stamps", np.full((len(blob_ids), 2), UNKNOWN_SIZE)),  # older versions did not write it
    )
    check_fits(path, files=len(blob_ids) == len(found.paths), stamps=found.stamps.shape == (len(blob_ids), 2))
    return found


def load_own(path: Path) -> Arrays:
    """Map the file with a view's own arrays.

    Raises:
        DerivedFileError: if it is missing or damaged.
    """
    return load_arrays(path, {"blob_ids": ("i4", 1)})


def load_layout(path: Path) -> Arrays:
    """Map the file shared by views with the same paths.

    Raises:
        DerivedFileError: if it is missing, damaged, or inconsistent.
    """
    arrays = load_arrays(path, _LAYOUT)
    n_files = _count(arrays["paths"])
    check_fits(
        path,
        files=all(len(arrays[name]) == n_files for name in ("roles", "languages", "stem_terms", "stems", "vectors")),
        languages=are_below(arrays["languages"], _count(arrays["language_names"])),
        postings=Postings.from_arrays(arrays).fit(n_files),
    )
    return arrays


def _size_if_whole(path: Path) -> int:
    """Return the size of a file of arrays, 0 if it is missing or damaged."""
    try:
        load_layout(path)
    except DerivedFileError:
        return 0
    return path.stat().st_size


def build_view(
    files: Sequence[ViewFile],
    word_vectors: WordVectors,
    dimensions: int,
    last: ViewArrays | None = None,
    read_attributes: Callable[[], PathAttributes | None] = lambda: None,
) -> ViewArrays:
    """Return the arrays for `files`, in path order, reusing what `last` has for the same paths.

    Args:
        read_attributes: reads what `.gitattributes` say of the files; only called if a file is new or changed.
    """
    names = tuple(sorted({file.language for file in files}))
    blob_ids = np.array([file.blob_id for file in files], dtype=np.int64)
    stamps = np.array([(file.size, file.mtime_ns) for file in files], dtype=np.int64).reshape(-1, 2)
    if last is not None and _same_files(files, names, last):
        roles = _renew_roles(files, blob_ids, last, read_attributes)
        return last._replace(blob_ids=blob_ids, roles=roles, stamps=stamps)
    place = {path: number for number, path in enumerate(last.paths)} if last is not None else {}
    came_from = np.array([place.get(file.path, -1) for file in files], dtype=np.int64)
    new = np.flatnonzero(came_from < 0)
    fresh = _build_paths([files[number].path for number in new.tolist()], word_vectors, dimensions)
    made = fresh if last is None else _merge_paths(last, fresh, came_from, new)
    return ViewArrays(
        paths=tuple(file.path for file in files),
        blob_ids=blob_ids,
        roles=_find_roles(files, last, read_attributes()),
        languages=np.array([names.index(file.language) for file in files], dtype=np.uint8),
        language_names=names,
        stem_terms=made.stem_terms,
        stems=made.stems,
        vectors=made.vectors,
        postings=made.postings,
        stamps=stamps,
    )


def _renew_roles(
    files: Sequence[ViewFile],
    blob_ids: npt.NDArray[np.int64],
    last: ViewArrays,
    read_attributes: Callable[[], PathAttributes | None],
) -> npt.NDArray[np.uint16]:
    """Return the roles of the same files as in `last`, some of which have changed."""
    changed = np.flatnonzero(blob_ids != last.blob_ids).tolist()
    if not changed:
        return last.roles
    attributes = read_attributes()
    if any(files[number].path.endswith(GITATTRIBUTES) for number in changed):
        return _find_roles(files, None, attributes)
    roles = last.roles.copy()
    for number in changed:
        own = own_role(_roled(files[number]), attributes)
        roles[number] = (roles[number] & int(by_others(files[number].path))) | int(own)
    return roles


def _find_roles(
    files: Sequence[ViewFile], last: ViewArrays | None, attributes: PathAttributes | None
) -> npt.NDArray[np.uint16]:
    known: dict[RoledFile, Role] = {}
    if last is not None and _attribute_blobs(files) == _attribute_blobs(
        zip(last.paths, last.blob_ids.tolist(), strict=True)
    ):
        stored = zip(last.blob_ids.tolist(), last.languages.tolist(), last.roles.tolist(), strict=True)
        before = dict(zip(last.paths, stored, strict=True))
        for file in files:
            blob_id, language, role = before.get(file.path, (-1, 0, 0))
            if blob_id == file.blob_id and last.language_names[language] == file.language:
                known[_roled(file)] = Role(role)
    return np.array(roles_of([_roled(file) for file in files], attributes, known), np.uint16)


def _roled(file: ViewFile) -> RoledFile:
    return RoledFile(file.path, file.language, file.is_generated)


def _attribute_blobs(files: Iterable[Sequence[Any]]) -> set[tuple[str, int]]:
    """Return the `.gitattributes` files, as path and blob."""
    return {(path, blob_id) for path, blob_id, *_ in files if path.endswith(GITATTRIBUTES)}


class _PathArrays(NamedTuple):
    """Arrays that depend only on the paths."""

    stem_terms: npt.NDArray[np.uint8]
    stems: npt.NDArray[np.uint64]
    vectors: npt.NDArray[np.int8]
    postings: Postings


def _build_paths(paths: Sequence[str], word_vectors: WordVectors, dimensions: int) -> _PathArrays:
    entries: list[tuple[int, int, int, int]] = []  # hash, file, impact, fields
    words: list[list[str]] = []
    stem_terms = np.zeros(len(paths), dtype=np.uint8)
    for number, path in enumerate(paths):
        terms, path_words, n_stem = _path_terms(path)
        entries.extend((hashed, number, impact, fields) for hashed, (impact, fields) in terms.items())
        words.append(path_words)
        stem_terms[number] = min(255, n_stem)
    return _PathArrays(
        stem_terms=stem_terms,
        stems=np.array([_stem_hash(path) for path in paths], dtype=np.uint64),
        vectors=_embed_paths(words, word_vectors, dimensions),
        postings=_to_postings(entries),
    )


def _merge_paths(
    last: ViewArrays, fresh: _PathArrays, came_from: npt.NDArray[np.int64], new: npt.NDArray[np.int64]
) -> _PathArrays:
    """Combine the arrays of old and new paths.

    Args:
        came_from: shape (n_files,), each file's position in `last`, -1 for new ones.
        new: the positions of the new files, in the order of `fresh`.
    """
    old = np.flatnonzero(came_from >= 0)
    moved_to = np.full(len(last.paths), -1, dtype=np.int64)
    moved_to[came_from[old]] = old

    def join(known: npt.NDArray[Any], added: npt.NDArray[Any]) -> npt.NDArray[Any]:
        result = np.empty((len(came_from), *known.shape[1:]), dtype=known.dtype)
        result[old], result[new] = known[came_from[old]], added
        return result

    parts = [(last.postings, moved_to), (fresh.postings, new)]
    hashes = np.concatenate([np.repeat(postings.hashes, np.diff(postings.start)) for postings, _ in parts])
    rows = np.concatenate([numbers[postings.rows] for postings, numbers in parts])
    impacts = np.concatenate([postings.impacts for postings, _ in parts])
    fields = np.concatenate([postings.fields for postings, _ in parts])
    order = np.lexsort((rows, hashes))
    order = order[rows[order] >= 0]
    return _PathArrays(
        stem_terms=join(last.stem_terms, fresh.stem_terms),
        stems=join(last.stems, fresh.stems),
        vectors=join(last.vectors, fresh.vectors),
        postings=_make_postings(hashes[order], rows[order], impacts[order], fields[order]),
    )


def path_words(path: str) -> list[str]:
    """Return the lower-case words of a path for embedding, those of the file's stem first."""
    return _path_terms(path)[1]


@lru_cache(maxsize=1_024)  # helps queries; indexing needs each path only once
def _path_terms(path: str) -> tuple[dict[int, tuple[int, int]], list[str], int]:
    """Return a path's terms as {hash: (impact, fields)}, its words for embedding, and its stem's number of terms."""
    stem, folders = _split_name(path)
    terms: dict[int, tuple[int, int]] = {}
    words: list[str] = []
    n_stem = 0
    parts = [(stem, STEM_WEIGHT, STEM_FIELD)]
    parts += [(f, w, FOLDER_FIELD) for f, w in zip(folders, FOLDER_WEIGHTS, strict=False)]
    for text, weight, field in parts:
        for raw in raw_words(text):
            split = split_identifier(raw)
            words.extend(split)
            for term in terms_of(raw, split):
                hashed = term_hash(term)
                impact, fields = terms.get(hashed, (0, 0))
                terms[hashed] = (max(impact, round(IMPACT_SCALE * weight)), fields | field)
        if field == STEM_FIELD:
            n_stem = len(terms)
    return terms, words, n_stem


def _split_name(path: str) -> tuple[str, list[str]]:
    """Return the part of a path that names the file, and its other parts, nearest first.

    The name is the stem, but for `mod.rs` or `src/index.ts` it is the nearest folder with a telling name.
    """
    *folders, name = path.split("/")
    parts = [name.split(".", 1)[0] or name, *reversed(folders)]
    place = 0
    if parts[0] in _NAMELESS_STEMS:
        place = next((i for i, part in enumerate(parts) if i and part.lower() not in _NAMELESS_FOLDERS), 0)
    return parts[place], parts[:place] + parts[place + 1 :]


def _same_files(files: Sequence[ViewFile], names: tuple[str, ...], last: ViewArrays) -> bool:
    """Tell whether paths and languages are unchanged; everything but the blobs depends on these."""
    if tuple(file.path for file in files) != last.paths or names != last.language_names:
        return False
    return [names[number] for number in last.languages] == [file.language for file in files]


def _stem_hash(path: str) -> int:
    """Return the hash of the term by which other code names a file: its stem, or its folder for `index.js`."""
    raw = "_".join(raw_words(_split_name(path)[0]))
    terms = terms_of(raw, split_identifier(raw))
    return term_hash(terms[-1]) if terms else 0


def _to_postings(entries: list[tuple[int, int, int, int]]) -> Postings:
    entries.sort()
    return _make_postings(
        np.array([entry[0] for entry in entries], dtype=np.uint64),
        np.array([entry[1] for entry in entries], dtype=np.int64),
        np.array([entry[2] for entry in entries], dtype=np.uint8),
        np.array([entry[3] for entry in entries], dtype=np.uint8),
    )


def _make_postings(
    all_hashes: npt.NDArray[np.uint64],
    rows: npt.NDArray[np.int64],
    impacts: npt.NDArray[np.uint8],
    fields: npt.NDArray[np.uint8],
) -> Postings:
    """Return postings from entries sorted by term and then by file."""
    hashes, first, _ = group(all_hashes)
    start = np.r_[first, len(rows)].astype(np.int64)
    return Postings(hashes=hashes, start=start, rows=rows.astype(np.int32), impacts=impacts, fields=fields)


def _embed_paths(words: list[list[str]], word_vectors: WordVectors, dimensions: int) -> npt.NDArray[np.int8]:
    distinct = sorted({word for row in words for word in row})
    if not distinct:
        return np.zeros((len(words), dimensions), dtype=np.int8)
    table = word_vectors(distinct)
    place = {word: number for number, word in enumerate(distinct)}
    pooled = np.zeros((len(words), dimensions), dtype=np.float32)
    for number, row in enumerate(words):
        if row:
            pooled[number] = table[[place[word] for word in row]].sum(axis=0)
    return quantize(pooled)


def _pack(texts: Sequence[str]) -> npt.NDArray[np.uint8]:
    return np.frombuffer(os.fsencode("\0".join(texts)), dtype=np.uint8)


def _count(packed: npt.NDArray[np.uint8]) -> int:
    """Return the number of packed texts."""
    return len(packed) - int(np.count_nonzero(packed)) + 1 if len(packed) else 0


def _unpack(packed: npt.NDArray[np.generic]) -> tuple[str, ...]:
    data = packed.tobytes()
    return tuple(os.fsdecode(data).split("\0")) if data else ()
