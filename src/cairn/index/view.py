"""The files of one view as arrays: which blob each shows, the terms and vector of its path, its role."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt

from cairn.index.analysis import IMPACT_SCALE, Postings, WordVectors, quantize
from cairn.source.roles import roles_of
from cairn.source.text import raw_words, split_identifier, term_hash, terms_of
from cairn.storage.arrays import load_arrays, save_arrays

# How much a term of a path counts, by where it stands; the folder next to the file counts most.
STEM_WEIGHT = 1.0
FOLDER_WEIGHTS = (0.6, 0.4, 0.25)
STEM_FIELD, FOLDER_FIELD = 1, 2
_NAMELESS_STEMS = frozenset({"__init__", "index", "mod", "main", "lib", "init", "default"})


class ViewFile(NamedTuple):
    """One file that a view shows."""

    path: str
    blob_id: int
    language: str


@dataclass(frozen=True, slots=True)
class ViewArrays:
    """Shapes: blob_ids, roles, languages, stem_terms, stems (n_files,); vectors (n_files, dimensions).

    `postings` has a row per file; `stem_terms` counts the distinct terms of each file's stem, `stems` are the hashes of
    the stems taken whole. `languages` are numbers into `language_names`.
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

    def save(self, path: Path) -> int:
        """Write the arrays and return their size in bytes; a crash leaves either the whole file or none."""
        return save_arrays(
            path,
            {
                "paths": _pack(self.paths),
                "blob_ids": self.blob_ids,
                "roles": self.roles,
                "languages": self.languages,
                "language_names": _pack(self.language_names),
                "stem_terms": self.stem_terms,
                "stems": self.stems,
                "vectors": self.vectors,
                **self.postings.to_arrays(),
            },
        )

    @classmethod
    def load(cls, path: Path) -> ViewArrays:
        """Map a file that `save` wrote.

        Raises:
            DerivedFileError: if it is missing or damaged.
        """
        arrays = load_arrays(path)
        return cls(
            _unpack(arrays["paths"]),
            cast("npt.NDArray[np.int64]", arrays["blob_ids"]),
            cast("npt.NDArray[np.uint16]", arrays["roles"]),
            cast("npt.NDArray[np.uint8]", arrays["languages"]),
            _unpack(arrays["language_names"]),
            cast("npt.NDArray[np.uint8]", arrays["stem_terms"]),
            cast("npt.NDArray[np.uint64]", arrays["stems"]),
            cast("npt.NDArray[np.int8]", arrays["vectors"]),
            Postings.from_arrays(arrays),
        )


def build_view(
    files: Sequence[ViewFile], word_vectors: WordVectors, dimensions: int, last: ViewArrays | None = None
) -> ViewArrays:
    """Return the arrays for `files`, in the order given; the `last` ones serve where only contents changed."""
    names = tuple(sorted({file.language for file in files}))
    if last is not None and _same_files(files, names, last):
        return replace(last, blob_ids=np.array([file.blob_id for file in files], dtype=np.int64))
    entries: list[tuple[int, int, int, int]] = []  # hash, file, impact, fields
    words: list[list[str]] = []
    stem_terms = np.zeros(len(files), dtype=np.uint8)
    for number, file in enumerate(files):
        terms, path_words, n_stem = _path_terms(file.path)
        entries.extend((hashed, number, impact, fields) for hashed, (impact, fields) in terms.items())
        words.append(path_words)
        stem_terms[number] = min(255, n_stem)
    return ViewArrays(
        paths=tuple(file.path for file in files),
        blob_ids=np.array([file.blob_id for file in files], dtype=np.int64),
        roles=np.array(roles_of([(file.path, file.language) for file in files]), dtype=np.uint16),
        languages=np.array([names.index(file.language) for file in files], dtype=np.uint8),
        language_names=names,
        stem_terms=stem_terms,
        stems=np.array([_stem_hash(file.path) for file in files], dtype=np.uint64),
        vectors=_embed_paths(words, word_vectors, dimensions),
        postings=_to_postings(entries),
    )


def path_words(path: str) -> list[str]:
    """Return the lower-case words of a path for embedding: those of the file's stem first."""
    return _path_terms(path)[1]


@lru_cache(maxsize=65_536)  # a long run writes the view anew with every batch
def _path_terms(path: str) -> tuple[dict[int, tuple[int, int]], list[str], int]:
    """Return the terms of a path as {hash: (impact, fields)}, its words for embedding, and the stem's term count."""
    *folders, name = path.split("/")
    stem = name.split(".", 1)[0] or name
    terms: dict[int, tuple[int, int]] = {}
    words: list[str] = []
    n_stem = 0
    parts = [(stem, STEM_WEIGHT, STEM_FIELD)]
    parts += [(f, w, FOLDER_FIELD) for f, w in zip(reversed(folders), FOLDER_WEIGHTS, strict=False)]
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


def _same_files(files: Sequence[ViewFile], names: tuple[str, ...], last: ViewArrays) -> bool:
    """Tell whether paths and languages are what they were, on which all but the blobs depends."""
    if tuple(file.path for file in files) != last.paths or names != last.language_names:
        return False
    return [names[number] for number in last.languages] == [file.language for file in files]


def _stem_hash(path: str) -> int:
    """Return the hash of the term that names a file in other files' code: its stem, or its folder's for `index.js`."""
    *folders, name = path.split("/")
    stem = name.split(".", 1)[0] or name
    if stem in _NAMELESS_STEMS and folders:
        stem = folders[-1]
    raw = "_".join(raw_words(stem))
    terms = terms_of(raw, split_identifier(raw))
    return term_hash(terms[-1]) if terms else 0


def _to_postings(entries: list[tuple[int, int, int, int]]) -> Postings:
    entries.sort()
    all_hashes = np.array([entry[0] for entry in entries], dtype=np.uint64)
    hashes, first = np.unique(all_hashes, return_index=True)
    return Postings(
        hashes=hashes,
        start=np.r_[first, len(entries)].astype(np.int64),
        rows=np.array([entry[1] for entry in entries], dtype=np.int32),
        impacts=np.array([entry[2] for entry in entries], dtype=np.uint8),
        fields=np.array([entry[3] for entry in entries], dtype=np.uint8),
    )


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
    return np.frombuffer(b"\0".join(os.fsencode(text) for text in texts), dtype=np.uint8)


def _unpack(packed: npt.NDArray[np.generic]) -> tuple[str, ...]:
    data = packed.tobytes()
    return tuple(os.fsdecode(text) for text in data.split(b"\0")) if data else ()
