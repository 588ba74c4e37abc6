"""The references of a file as columns, and their packed form for the index."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from typing import NamedTuple

from cairn.source.closures import Closure
from cairn.source.imports import Import, ImportFlag

FACTS_FORMAT = b"b"  # bump this when a query or `cairn.source.references` finds something else


class Facts(NamedTuple):
    """What a file refers to, in columns, since references are many.

    `kinds`, `expressions`, `scopes` and `lines` have an element for each reference: its kind (an index into `KINDS` of
    `cairn.source.references`), the expression (an index into `texts`), the enclosing definition (an index, -1 for
    none), and the line. So has `counts`, the number of arguments of a call, see `cairn.source.arguments`; it is empty
    in languages where that does not matter.
    `closures` are anonymous functions. `blocks` has the closure around each reference, as the number of definitions
    plus the closure's index, -1 for none; it is empty without closures. `enclosed` are pairs of a definition and the
    closure around it.
    `values` say what variables hold: (scope, variable, expression); an expression that begins with `:` is a type.
    """

    texts: Sequence[str] = ()
    kinds: Sequence[int] = ()
    expressions: Sequence[int] = ()
    scopes: Sequence[int] = ()
    lines: Sequence[int] = ()
    imports: Sequence[Import] = ()
    values: Sequence[tuple[int, str, str]] = ()
    package: str = ""
    closures: Sequence[Closure] = ()
    blocks: Sequence[int] = ()
    enclosed: Sequence[tuple[int, int]] = ()
    counts: Sequence[int] = ()


NO_FACTS = Facts()


def encode(facts: Facts) -> bytes:
    """Pack facts into bytes."""
    imports = [(*imported[:4], int(imported.flags)) for imported in facts.imports]
    return FACTS_FORMAT + zlib.compress(
        json.dumps((*facts[:5], imports, *facts[6:]), separators=(",", ":")).encode(), 1
    )


def decode(data: bytes) -> Facts | None:
    """Unpack the facts that `encode` packed, None if another version of this module did."""
    if not data.startswith(FACTS_FORMAT):
        return None
    document = json.loads(zlib.decompress(data[len(FACTS_FORMAT) :]))
    texts, kinds, expressions, scopes, lines, imports, values, package, closures, blocks, enclosed, counts = document
    decoded = [Import(module, name, alias, line, ImportFlag(flags)) for module, name, alias, line, flags in imports]
    return Facts(
        texts,
        kinds,
        expressions,
        scopes,
        lines,
        decoded,
        [(scope, name, value) for scope, name, value in values],
        package,
        tuple(Closure(*entry[:5], *map(tuple, entry[5:])) for entry in closures),
        tuple(blocks),
        tuple((place, scope) for place, scope in enclosed),
        tuple(counts),
    )
