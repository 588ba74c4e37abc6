"""Which generated and vendored files a query asks for: these come last in every list, unless they are meant."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cairn.index.snapshot import Snapshot
from cairn.search.query import Query
from cairn.source.roles import FOREIGN, Role

_LEAST_MEANT = 1.0  # the strength of a row that defines a name of the query just as it is written


def meant_files(
    snapshot: Snapshot, query: Query, symbols: dict[int, float], in_scope: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Return which files of these roles are asked for, shape (n_files,).

    That is: by a word for their role, by path, by a filter that leaves nothing else, or by a name that they alone
    define.

    Args:
        symbols: {row that defines a name of the query: strength}.
        in_scope: the numbers of the files that may be found, with -1 for none.
    """
    roles = snapshot.files.roles
    foreign = (roles & int(FOREIGN)) > 0
    meant = (roles & int(query.wants & FOREIGN)) > 0
    for role in (Role.GENERATED, Role.VENDORED):
        has_role = (roles & int(role)) > 0
        if (own := has_role[in_scope[in_scope >= 0]]).any() and own.all():
            meant |= has_role
    if words := tuple(word for word in query.text.split() if "." in word or "/" in word):
        paths = snapshot.files.paths
        meant[[number for number in np.flatnonzero(foreign).tolist() if paths[number].endswith(words)]] = True
    defining = [int(snapshot.file_of_row[row]) for row, strength in symbols.items() if strength >= _LEAST_MEANT]
    if defining and foreign[defining].all():
        meant[defining] = True
    return meant & foreign
