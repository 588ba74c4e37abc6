"""Finds everything that a change may affect: the surest path from it to every definition, over all edges at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cairn.graph.entities import How
from cairn.graph.network import Ints, Network
from cairn.graph.nodes import PLACE_MASK
from cairn.graph.resolve import IMPLEMENT, INHERIT, USE, Edge
from cairn.source.references import KINDS
from cairn.waiting import check

# How likely a change affects the next step, by how the step was resolved.
CONFIDENCE = {How.EXACT: 1.0, How.IMPORT: 0.95, How.RECEIVER: 0.9, How.NAME: 0.5}
# What names a type or passes a function on is affected less than what calls it.
_KIND_FACTOR = {USE: 0.7, INHERIT: 0.9, IMPLEMENT: 0.9}
_OVERRIDE = 0.6  # a call of a method may run any of those that override it
_FLOOR = 0.05  # ways less sure than this are not followed

WAYS = (*KINDS, "override")
_BY_OVERRIDE = len(KINDS)

# The length of a way is one integer: the doubt in it (minus the logarithm of its confidence) above its steps. So the
# surest way is the shortest, and of equally sure ways the one with fewer steps.
_STEP_BITS = 20
_DOUBT_SCALE = 1 << 30
_FARTHEST = np.iinfo(np.int64).max
_NOWHERE = -1  # a node before all others, so that there is one


@dataclass(frozen=True, slots=True)
class Reached:
    """What a change may affect, in the order of the nodes; all of shape (n,).

    `confidence` is from 0 to 1, `depth` counts the steps of the surest way, and `ways` says in `WAYS` what its last
    step is.
    """

    nodes: Ints
    confidence: npt.NDArray[np.float64]
    depth: Ints
    ways: npt.NDArray[np.uint8]


class Steps(NamedTuple):
    """Edges and overrides to walk over, as `Network` has them, those of a file in a row."""

    sources: Ints
    targets: Ints
    kinds: npt.NDArray[np.uint8]
    hows: npt.NDArray[np.uint8]
    overriding: Ints
    overridden: Ints


def doubt_of_edge(how: How, kind: int) -> int:
    """Return how long a step over an edge is: the doubt in it, above the step itself."""
    return (int(_DOUBT[how, kind]) << _STEP_BITS) + 1


def doubt_of_override() -> int:
    """Return how long the step from a method to one that it overrides is."""
    return (_doubt_of(_OVERRIDE) << _STEP_BITS) + 1


def is_too_far(length: int) -> bool:
    """Tell whether a way is so unsure that it is not followed."""
    return length >> _STEP_BITS > _FARTHEST_DOUBT


def counts(source: int, kind: int) -> bool:
    """Tell whether a step over an edge is walked: that a file names something as a whole says too little."""
    return bool(source & PLACE_MASK) or kind != USE


def with_overriding(reached: Reached, edges: Sequence[Edge]) -> Reached:
    """Return what a change may affect together with the methods that override those that changed.

    A change of a method's head concerns them, but not what calls them: so no step leads on from them.

    Args:
        edges: see `cairn.graph.overriding.overriding`.
    """
    if not edges:
        return reached
    sure = {edge.source: CONFIDENCE[edge.how] * _KIND_FACTOR[IMPLEMENT] for edge in edges}
    rows = zip(reached.nodes.tolist(), reached.confidence.tolist(), strict=True)
    surer = {node for node, confidence in rows if confidence >= sure.get(node, 2.0)}
    added = sorted(sure.keys() - surer)
    kept = ~np.isin(reached.nodes, np.array(added, np.int64))
    nodes = np.concatenate([reached.nodes[kept], np.array(added, np.int64)])
    order = np.argsort(nodes)
    return Reached(
        nodes[order],
        np.concatenate([reached.confidence[kept], [sure[node] for node in added]])[order],
        np.concatenate([reached.depth[kept], np.ones(len(added), np.int64)])[order],
        np.concatenate([reached.ways[kept], np.full(len(added), _BY_OVERRIDE, np.uint8)])[order],
    )


class Feelers:
    """What a change of each node affects directly, and how surely."""

    def __init__(self, network: Network | Steps) -> None:
        file_names_it = ((network.sources & PLACE_MASK) == 0) & (network.kinds == USE)
        calls = ~file_names_it
        changed = np.concatenate([network.targets[calls], network.overriding])
        feeling = np.concatenate([network.sources[calls], network.overridden])
        ways = np.concatenate([network.kinds[calls], np.full(len(network.overriding), _BY_OVERRIDE, np.uint8)])
        doubt = np.concatenate([_DOUBT[network.hows[calls], network.kinds[calls]], _doubts(len(network.overriding))])
        nodes = np.sort(np.concatenate([[_NOWHERE], changed, feeling]))  # `np.unique` imports another 70 ms of numpy
        self.nodes = nodes[np.flatnonzero(np.diff(nodes, prepend=nodes[0] - 1))]
        at = np.searchsorted(self.nodes, changed)
        order = np.argsort(at, kind="stable")
        self._first = np.searchsorted(at[order], np.arange(len(self.nodes) + 1))
        self._feeling = np.searchsorted(self.nodes, feeling)[order]
        self._length = (doubt[order] << _STEP_BITS) + 1
        self._ways = ways[order]

    def reach(self, starts: Sequence[int]) -> Reached:
        """Return what a change of some nodes may affect, the nodes themselves left out.

        Each round takes what came nearer one step on, until nothing does (Bellman and Ford's algorithm).
        """
        distance = np.full(len(self.nodes), _FARTHEST, np.int64)
        last = np.zeros(len(self.nodes), np.int64)
        waiting = np.zeros(len(self.nodes), np.bool_)
        sorted_starts = np.sort(np.array(starts, np.int64))
        moved = np.searchsorted(self.nodes[:-1], sorted_starts)
        moved = moved[self.nodes[moved] == sorted_starts]
        distance[moved] = 0
        while len(moved):
            check()
            counts = self._first[moved + 1] - self._first[moved]
            skipped = np.cumsum(counts) - counts
            edges = np.arange(counts.sum()) + np.repeat(self._first[moved] - skipped, counts)
            lengths = np.repeat(distance[moved], counts) + self._length[edges]
            feeling = self._feeling[edges]
            nearer = (lengths < distance[feeling]) & (lengths >> _STEP_BITS <= _FARTHEST_DOUBT)
            edges, lengths, feeling = edges[nearer], lengths[nearer], feeling[nearer]
            np.minimum.at(distance, feeling, lengths)
            nearest = lengths == distance[feeling]
            edges, moved = edges[nearest], feeling[nearest]
            last[moved[::-1]] = edges[::-1]  # of ways as near, the first
            waiting[moved] = True
            moved = np.flatnonzero(waiting)
            waiting[moved] = False
        found = np.flatnonzero((distance > 0) & (distance < _FARTHEST))
        confidence = np.exp((distance[found] >> _STEP_BITS) / -_DOUBT_SCALE)
        steps = distance[found] & ((1 << _STEP_BITS) - 1)
        return Reached(self.nodes[found], confidence, steps, self._ways[last[found]])


def _doubt_of(confidence: float) -> int:
    return round(-float(np.log(confidence)) * _DOUBT_SCALE)


def _doubts(count: int) -> Ints:
    return np.full(count, _doubt_of(_OVERRIDE), np.int64)


_FARTHEST_DOUBT = _doubt_of(_FLOOR)
# By how and kind.
_DOUBT = np.array(
    [[_doubt_of(CONFIDENCE[how] * _KIND_FACTOR.get(kind, 1.0)) for kind in range(len(KINDS))] for how in How], np.int64
)
