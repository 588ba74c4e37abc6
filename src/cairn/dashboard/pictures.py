"""Draws graphs as SVG: up to sixty boxes in layers from left to right.

The layout follows Sugiyama, Tagawa and Toda (1981): each box is one layer after the boxes that lead to it, and the
boxes of a layer are sorted by the barycentre of their neighbours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from cairn.dashboard.rendering import spelled

MOST_BOXES = 60
_WIDTH, _HEIGHT, _GAP_X, _GAP_Y = 220, 26, 48, 10
_HEAD = 20  # boxes of a column
_MOST_CHARS = 28
_ROUNDS = 4
_TIP = Markup(
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M0 0 L8 4 L0 8 z"/></marker></defs>'
)


class Box(NamedTuple):
    """A node: its name, the URL that it links to, and a note."""

    name: str
    address: str = ""
    title: str = ""


class Column(NamedTuple):
    """A column of boxes with a heading."""

    head: str
    boxes: Sequence[Box]


class Picture(NamedTuple):
    """A graph as SVG, and the number of omitted boxes."""

    svg: Markup
    omitted: int


def draw(boxes: Mapping[str, Box], edges: Sequence[tuple[str, str]], centre: str, title: str) -> Picture:
    """Return a picture of a graph.

    Args:
        boxes: by key, most important first.
        edges: pairs of keys.
        centre: the key of the box that the picture is about.
        title: the picture's content, for screen readers.
    """
    chosen = list(dict.fromkeys([centre, *boxes]))[:MOST_BOXES]
    kept = [edge for edge in dict.fromkeys(edges) if edge[0] in chosen and edge[1] in chosen and edge[0] != edge[1]]
    layers = _order(_layers(chosen, kept), kept)
    places = {
        key: (column * (_WIDTH + _GAP_X), row * (_HEIGHT + _GAP_Y))
        for column, layer in enumerate(layers)
        for row, key in enumerate(layer)
    }
    width = len(layers) * (_WIDTH + _GAP_X) - _GAP_X + 4
    height = max(len(layer) for layer in layers) * (_HEIGHT + _GAP_Y) - _GAP_Y + 4
    lines = [_line(places[source], places[target]) for source, target in kept]
    drawn = [_box(boxes[key], places[key], is_centre=key == centre) for key in chosen]
    return Picture(_frame(width, height, title, [_TIP, *lines, *drawn]), len(boxes) - len(chosen))


def draw_columns(columns: Sequence[Column], title: str) -> Picture:
    """Return two columns side by side, with lines from the single box of the first to the boxes of the second.

    It needs a picture by `draw` on the same page, which defines the arrowheads.
    """
    left, height = MOST_BOXES, 0
    lines: list[Markup] = []
    drawn: list[Markup] = []
    for number, column in enumerate(columns):
        x, boxes = number * (_WIDTH + _GAP_X), column.boxes[:left]
        left -= len(boxes)
        drawn.append(Markup('<text class="when" x="{}" y="12">{}</text>').format(x, column.head))
        for row, box in enumerate(boxes):
            place = x, _HEAD + row * (_HEIGHT + _GAP_Y)
            drawn.append(_box(box, place, is_centre=number == 0))
            height = max(height, place[1] + _HEIGHT)
            if number == 1:
                lines.append(_line((0, _HEAD), place))
    width = len(columns) * (_WIDTH + _GAP_X) - _GAP_X + 4
    omitted = sum(len(column.boxes) for column in columns) - (MOST_BOXES - left)
    return Picture(_frame(width, height + 4, title, [*lines, *drawn]), omitted)


def _frame(width: int, height: int, title: str, parts: Sequence[Markup]) -> Markup:
    head = Markup(
        '<svg class="picture" viewBox="-2 -2 {} {}" width="{}" height="{}" role="group" aria-label="{}">'
        "<title>{}</title>"
    ).format(width, height, width, height, title, title)
    return spelled(head + Markup("").join(parts) + Markup("</svg>"))


def _layers(keys: Sequence[str], edges: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Return the layers: a box comes after all that lead to it, ignoring edges that would close a cycle."""
    depth = dict.fromkeys(keys, 0)
    for _ in keys:  # the longest path has fewer edges than there are boxes
        changed = False
        for source, target in edges:
            if depth[target] < depth[source] + 1 < len(keys) and not _leads(edges, target, source):
                depth[target], changed = depth[source] + 1, True
        if not changed:
            break
    found: dict[int, list[str]] = {}
    for key in keys:
        found.setdefault(depth[key], []).append(key)
    return [found[level] for level in sorted(found)]


def _leads(edges: Sequence[tuple[str, str]], source: str, target: str) -> bool:
    """Tell whether there is a path from one box to another."""
    reached, waiting = {source}, [source]
    while waiting:
        here = waiting.pop()
        for start, end in edges:
            if start == here and end not in reached:
                reached.add(end)
                waiting.append(end)
    return target in reached


def _order(layers: list[list[str]], edges: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Return the layers with boxes sorted so that few lines cross."""
    for _ in range(_ROUNDS):
        for here, beside in [*zip(layers[1:], layers, strict=False), *zip(layers[-2::-1], layers[:0:-1], strict=False)]:
            rows = {key: row for row, key in enumerate(beside)}
            middles = {
                key: _middle([rows[o] for o in _neighbours(edges, key) if o in rows], row)
                for row, key in enumerate(here)
            }
            here.sort(key=middles.__getitem__)
    return layers


def _neighbours(edges: Sequence[tuple[str, str]], key: str) -> list[str]:
    return [target if source == key else source for source, target in edges if key in (source, target)]


def _middle(rows: Sequence[int], otherwise: int) -> float:
    return sum(rows) / len(rows) if rows else otherwise


def _line(start: tuple[int, int], end: tuple[int, int]) -> Markup:
    is_forward = end[0] > start[0]
    x1, y1 = start[0] + (_WIDTH if is_forward else 0), start[1] + _HEIGHT / 2
    x2, y2 = end[0] + (0 if is_forward else _WIDTH), end[1] + _HEIGHT / 2
    bend = _GAP_X / 2 if is_forward else -_GAP_X / 2
    return Markup('<path d="M{} {:.0f} C{:.0f} {:.0f} {:.0f} {:.0f} {} {:.0f}" marker-end="url(#tip)"/>').format(
        x1, y1, x1 + bend, y1, x2 - bend, y2, x2, y2
    )


def _box(box: Box, place: tuple[int, int], *, is_centre: bool) -> Markup:
    name = box.name if len(box.name) <= _MOST_CHARS else f"{box.name[: _MOST_CHARS - 1]}…"
    shape = Markup(
        '<g class="{}"><title>{}</title><rect x="{}" y="{}" width="{}" height="{}" rx="5"/>'
        '<text x="{}" y="{}">{}</text></g>'
    ).format(
        "at" if is_centre else "box", box.title or box.name, *place, _WIDTH, _HEIGHT, place[0] + 8, place[1] + 17, name
    )
    return Markup('<a href="{}">{}</a>').format(box.address, shape) if box.address and not is_centre else shape
