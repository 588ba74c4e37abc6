"""Counts the words of texts and takes them apart; imports no numpy, as parsing needs none."""

from __future__ import annotations

import os
import re
from array import array
from collections import Counter
from typing import NamedTuple

from cairn.kernels.build import IS_COMPILED

if IS_COMPILED:
    import cairn.kernels._compiled as _compiled

# Of the hashes of words in one process, so that nobody can choose words whose hashes are alike.
_SEED = int.from_bytes(os.urandom(8), "little")
# Of ASCII, what stands in no word becomes a space.
_WORD_BYTES = bytes(byte if byte >= 128 or chr(byte).isalnum() or byte == ord("_") else ord(" ") for byte in range(256))
# Parts of an identifier, and line feeds.
_SMALL = r"[^\x00-`{-\x7f]"  # small letters and all beyond ASCII
_PARTS = re.compile(rf"[A-Z]+(?=[A-Z]{_SMALL})|[A-Z]?{_SMALL}+|[A-Z]+|[0-9]+|\n")


class WordCounts(NamedTuple):
    """The words of some texts: each once, with a line feed after it, and int32 arrays of what is counted.

    `ids` are the numbers of the different words of each text, `counts` how often each stands there, and `lengths` how
    many there are, by text.
    """

    words: str
    ids: bytes
    counts: bytes
    lengths: bytes


def count_words(texts: list[str]) -> WordCounts:
    """Return the words of some texts: runs of ASCII letters and digits, underscores, and any other characters."""
    return WordCounts(*_compiled.count_words(texts, _SEED)) if IS_COMPILED else count_plainly(texts)


def count_plainly(texts: list[str]) -> WordCounts:
    """Return what `count_words` does, in Python alone."""
    numbers: dict[str, int] = {}
    ids, counts, lengths = array("i"), array("i"), array("i")
    for text in texts:
        counted = Counter(text.encode("utf-8").translate(_WORD_BYTES).decode("utf-8").split(" "))
        del counted[""]
        ids.extend([numbers.setdefault(word, len(numbers)) for word in counted])
        counts.extend(counted.values())
        lengths.append(len(counted))
    words = "".join([f"{word}\n" for word in numbers])
    return WordCounts(words, ids.tobytes(), counts.tobytes(), lengths.tobytes())


class PartsOfLines(NamedTuple):
    """The lower-case parts of identifiers: each once, with a line feed after it, and an int32 array of their numbers.

    In that, each line feed between the identifiers is -1.
    """

    parts: str
    ids: bytes


def split_identifiers(lines: str) -> PartsOfLines:
    """Take apart identifiers, each in a line of its own: `parseHTTPResponse_v2` is parse, http, response, v, 2.

    What is beyond ASCII counts as small letters.
    """
    return PartsOfLines(*_compiled.split_identifiers(lines, _SEED)) if IS_COMPILED else split_plainly(lines)


def split_plainly(lines: str) -> PartsOfLines:
    """Return what `split_identifiers` does, in Python alone."""
    numbers: dict[str, int] = {}
    found = _PARTS.findall(lines)
    ids = array("i", [-1 if part == "\n" else numbers.setdefault(_lower(part), len(numbers)) for part in found])
    return PartsOfLines("".join([f"{part}\n" for part in numbers]), ids.tobytes())


def _lower(part: str) -> str:
    return part.lower() if part.isascii() else part.encode("utf-8").lower().decode("utf-8")
