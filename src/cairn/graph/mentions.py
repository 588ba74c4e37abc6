"""Tells which files mention an identifier: the index leaves few that may, and the text of those decides."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

import numpy as np
import numpy.typing as npt

from cairn import waiting
from cairn.graph.checkout import Checkout
from cairn.graph.recent import Recent, Room
from cairn.index.snapshot import Snapshot
from cairn.source.terms import term_hash, terms_of_word
from cairn.source.text import raw_words

_MAX_TERM_CHARS = 60  # of an identifier; the index has no terms of longer ones


class FileMentions:
    """The words of the files of one state of a view.

    Args:
        snapshot: the index.
        checkout: the files as they are on disk.
        files_of_blob: returns the files that show a blob.
        room: how much is kept in memory.
    """

    def __init__(
        self, snapshot: Snapshot, checkout: Checkout, files_of_blob: Callable[[int], Iterable[int]], room: Room
    ) -> None:
        self._snapshot = snapshot
        self._checkout = checkout
        self._files_of_blob = files_of_blob
        self._n_files = len(checkout.paths)
        self._saying: Recent[str, frozenset[int]] = Recent(room.names, lambda files: len(files) + 8)

    def forget(self) -> None:
        """Drop what was found, since files changed."""
        self._saying.clear()

    def may_mention(self, name: str) -> set[int]:
        """Return the files that the index knows to have the stems of the words of a name, as `filter` of `filters`."""
        name = name.rpartition(".")[2] or name
        terms = {terms[-1] for word in raw_words(name) if (terms := terms_of_word(word)[1])}
        if not terms or len(name) > _MAX_TERM_CHARS:
            return set(range(self._n_files))
        is_said = np.ones(len(self._snapshot.blob_ids), np.bool_)
        for term in terms:
            is_said &= self._have(term)
        blobs = self._snapshot.blob_ids[is_said].tolist()
        files = {number for blob in blobs for number in self._files_of_blob(blob)}
        return files | self._checkout.files.keys()

    def _have(self, term: str) -> npt.NDArray[np.bool_]:
        """Tell of each blob whether it has a term."""
        rows = self._snapshot.term_rows([term_hash(term)]).rows
        have = np.zeros(len(self._snapshot.blob_ids), np.bool_)  # `np.unique` imports another 25 ms of numpy
        have[self._snapshot.blob_of_row[rows]] = True
        return have

    def mentioning(self, name: str, among: Collection[int] | None = None) -> set[int]:
        """Return the files, all or those of some, in whose text an identifier stands, perhaps within a longer one."""
        return set(self.iter_mentioning([name], self.may_mention(name) if among is None else among))

    def iter_mentioning(self, names: Collection[str], files: Iterable[int]) -> Iterator[int]:
        """Yield those of some files in whose text any of some identifiers stands, perhaps within a longer one."""
        texts = [name.encode("utf-8", "surrogateescape") for name in names]
        for number in files:
            waiting.check()
            data = self._checkout.read(number)
            if data is not None and any(text in data for text in texts):
                yield number

    def mentions(self, number: int, names: Collection[str]) -> bool:
        """Tell whether any of some identifiers stands in the text of a file, perhaps within a longer one."""
        return any(True for _ in self.iter_mentioning(names, [number]))

    def saying(self, name: str) -> frozenset[int]:
        """Return the files in whose text an identifier is a whole word."""
        if (files := self._saying.get(name)) is None:
            files = frozenset(number for number in self.may_mention(name) if self.says(number, name))
            self._saying.put(name, files)
        return files

    def says(self, number: int, name: str) -> bool:
        """Tell whether an identifier is a whole word of a file."""
        waiting.check()
        data = self._checkout.read(number)
        return data is not None and has_word(data, name.encode("utf-8", "surrogateescape"))


def has_word(data: bytes, word: bytes) -> bool:
    """Tell whether some bytes hold a word that is not part of a longer one."""
    at = data.find(word)
    while at >= 0:
        end = at + len(word)
        begins = at == 0 or not (_is_letter(data[at - 1]) and _is_letter(word[0]))
        if begins and not (end < len(data) and _is_letter(data[end]) and _is_letter(word[-1])):
            return True
        at = data.find(word, at + 1)
    return False


def _is_letter(byte: int) -> bool:
    return byte == 0x5F or bytes((byte,)).isalnum()


def stem_of(path: str) -> str:
    """Return what an import says of a file at least: its name up to the first dot behind another character."""
    return path.rpartition("/")[2].lstrip(".").partition(".")[0]
