"""Reads what the members of extension blocks of C# are called on."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from cairn.source.type_names import type_text

EXTENDED = " extended"  # stands for a variable that holds what a member of such a block is called on
ANY = "object"
_HEAD = re.compile(
    rb"^extension[ \t]*(<[^<>()]*>)?[ \t]*\((?:\s*\[[^\[\]]*\])?\s*(?:(?:ref|in|scoped|readonly)\s+)*"
    rb"([^\s()<>,]+(?:<[^()]*>)?[?\[\]]*)(?:\s+(\w+))?\s*\)"
)


def values_of_blocks(
    data: bytes, openings: Iterable[re.Match[bytes]], starts: Sequence[int]
) -> Iterator[tuple[int, str, str]]:
    """Yield what the members of extension blocks are called on, as values of `cairn.source.facts.Facts`.

    Args:
        data: the file.
        openings: matches of `Support.wrappers`; those of macros count for nothing.
        starts: the first bytes of the definitions.
    """
    for opening in openings:
        head = _HEAD.search(opening[2]) if not opening[3] else None
        end = data.find(b"\n%b}" % opening[1], opening.end())
        if head is None or end < 0:
            continue
        kind = type_text(head[2].decode("utf-8", "replace"))
        kind = ANY if kind.encode() in re.findall(rb"\w+", head[1] or b"") else kind
        names = (EXTENDED, (head[3] or b"").decode("utf-8", "replace"))
        inside = range(bisect_left(starts, opening.end()), bisect_left(starts, end))
        yield from ((place, name, f":{kind}") for place in inside for name in names if name and kind)
