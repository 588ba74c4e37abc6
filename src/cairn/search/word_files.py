"""Files of code that have some words, and lines of their texts, for what is looked for in files and not in chunks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cairn.index.snapshot import Snapshot
from cairn.search.exact import LineMatch
from cairn.source.languages import BY_NAME
from cairn.source.roles import FOREIGN, Role
from cairn.source.terms import known_hash, terms_of_word
from cairn.source.text import raw_words

MINOR = int(Role.EXAMPLE | Role.DOCS | FOREIGN)
_DATA = frozenset({"sql", "graphql", "protobuf"})  # languages of code that only describe


def files_with_words(snapshot: Snapshot, text: str) -> npt.NDArray[np.int64]:
    """Return the files that have a chunk with all words of a text."""
    terms = {own[-1] for word in raw_words(text) if (own := terms_of_word(word)[1])}
    rows = snapshot.term_rows([known_hash(term) for term in sorted(terms)]).rows
    if len(terms) > 1:  # else each is there once
        rows = np.flatnonzero(np.bincount(rows, minlength=snapshot.n_rows) == len(terms))
    are_said = np.zeros(len(snapshot.files.paths) + 1, dtype=np.bool_)  # the last is no file
    are_said[snapshot.file_of_row[rows]] = True
    return np.flatnonzero(are_said[:-1])


def is_code(snapshot: Snapshot) -> npt.NDArray[np.bool_]:
    """Tell which files are code that does something, and no tests."""
    names = snapshot.files.language_names
    of_code = np.array([name in BY_NAME and BY_NAME[name].group == "code" and name not in _DATA for name in names])
    code: npt.NDArray[np.bool_] = of_code[snapshot.files.languages] & ((snapshot.files.roles & int(Role.TEST)) == 0)
    return code


def line_in_text(file: int, lines: Sequence[str], number: int, end: int) -> LineMatch:
    """Return a line of a file's text, up to the end of what it begins."""
    start = len("\n".join([*lines[: number - 1], ""]).encode("utf-8", "replace"))
    return LineMatch(file, number, end, start, lines[number - 1].encode("utf-8", "replace"))
