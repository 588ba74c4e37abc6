"""What a file refers to, as columns, and packed for the index."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from typing import NamedTuple

from cairn.source.closures import Closure
from cairn.source.imports import Import, ImportFlag

FACTS_FORMAT = b"a"  # to be raised whenever a query or `cairn.source.references` finds something else


class Facts(NamedTuple):
    """What a file refers to, in columns, because references are many.

    `kinds`, `expressions`, `scopes` and `lines` are as long as there are references: what kind (a place in `KINDS` of
    `cairn.source.references`), to what (a place in `texts`), in which definition (its place in the file, -1 outside of
    all), and on which line. So are `counts`, how many arguments a call gives, see `cairn.source.arguments`; they are
    empty in languages where that does not matter.
    `closures` are functions without a name; `blocks` says in which of them a reference is, as the number of definitions
    plus its place, -1 for none; it is empty where there are no closures. `enclosed` are pairs of a definition and the
    closure around it.
    `values` say what a variable holds: (scope, variable, expression); an expression that begins with `:` is a type.
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
    """Return facts as bytes."""
    imports = [(*imported[:4], int(imported.flags)) for imported in facts.imports]
    return FACTS_FORMAT + zlib.compress(
        json.dumps((*facts[:5], imports, *facts[6:]), separators=(",", ":")).encode(), 1
    )


def decode(data: bytes) -> Facts | None:
    """Return the facts that `encode` wrote, None if another version of this module wrote them."""
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
