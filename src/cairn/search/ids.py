"""The ids of hits: short, and made from content, so that they survive edits elsewhere in the file."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import NamedTuple

from cairn.digest import blake2b

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32: no characters that look alike
_PAIRS = [first + second for first in _ALPHABET for second in _ALPHABET]
_KEY_CHARS, _PATH_CHARS = 8, 3


class HitId(NamedTuple):
    """`key` is the chunk's stable number; `place` says which definition that begins in it, None for the whole chunk."""

    key: int
    path: str
    place: int | None

    @classmethod
    def parse(cls, text: str) -> HitId | None:
        """Parse an id; None when the text is not one. `path` then holds the characters that stand for the path."""
        body, _, place = text.removeprefix("c_").partition(".")
        well_formed = text.startswith("c_") and len(body) == _KEY_CHARS + _PATH_CHARS and set(body) <= set(_ALPHABET)
        if not well_formed or (place and not (place.isascii() and place.isdigit())):
            return None
        key = 0
        for character in body[:_KEY_CHARS]:
            key = key * 32 + _ALPHABET.index(character)
        return cls(key, body[_KEY_CHARS:], int(place) if place else None)


def format_hit_id(key: int, path: str, place: int | None) -> str:
    """Return the id of a hit: 8 characters for the chunk's content, 3 for its path, and the place, if any."""
    pairs = _PAIRS[key >> 30 & 1023], _PAIRS[key >> 20 & 1023], _PAIRS[key >> 10 & 1023], _PAIRS[key & 1023]
    text = f"c_{''.join(pairs)}{path_mark(path)}"
    return text if place is None else f"{text}.{place}"


@lru_cache(maxsize=4_096)
def path_mark(path: str) -> str:
    """Return the characters that stand for a path in an id."""
    number = int.from_bytes(blake2b(os.fsencode(path), digest_size=2).digest(), "big") & 0x7FFF
    return _ALPHABET[number >> 10] + _PAIRS[number & 1023]
