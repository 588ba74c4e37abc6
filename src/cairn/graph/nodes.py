"""Numbers the nodes of the symbol graph: the number of a file shifted left, plus a place in the file plus one."""

from __future__ import annotations

NODE_BITS = 20
PLACE_MASK = (1 << NODE_BITS) - 1


def node_of(file: int, place: int) -> int:
    """Return the node of a definition, of the file itself for place -1."""
    return file << NODE_BITS | (place + 1)


def file_of(node: int) -> int:
    """Return the number of the file a node is in."""
    return node >> NODE_BITS


def place_of(node: int) -> int:
    """Return a node's place among the definitions of its file, -1 for the file itself."""
    return (node & PLACE_MASK) - 1
