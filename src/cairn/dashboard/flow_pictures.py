"""The control flow of a function as a picture in SVG and as a nested list, of at most 60 boxes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

from cairn.dashboard.pictures import MOST_BOXES
from cairn.dashboard.rendering import spelled

_WIDTH, _HEIGHT, _GAP, _INDENT, _LANE = 420, 26, 14, 24, 14
_OUT, _IN = 18, 8  # where side edges leave and enter a box, below its top
_MOST_CHARS, _MOST_INDENTS, _MOST_LANES = 56, 8, 10
_NO_CONTROL = ("exception", "skipped")  # edges that are not paths of the program
_SHAPES = {"entry": "at", "exit": "at", "branch": "fork", "loop": "fork"}


class FlowBox(NamedTuple):
    """A run of steps: their text, their nesting, and where the program goes next.

    Attributes:
        kind: of the first step.
        line: of the first step.
        text: of the first step, with the number of further ones.
        depth: how many others enclose it.
        ways: the boxes that may follow, and when.
    """

    kind: str
    line: int
    text: str
    depth: int
    ways: tuple[tuple[int, str], ...]


class FlowPicture(NamedTuple):
    """A control flow as SVG and as nested lists, and the number of omitted steps."""

    svg: Markup
    outline: Markup
    omitted: int


def draw_flow(flow: Mapping[str, Any]) -> FlowPicture:
    """Return a picture of a function's flow, from the output of `cairn flow --json`.

    Each step has a box; if there are too many, each run of steps without a fork has one.
    """
    steps = flow["steps"]
    runs = [(number, number) for number in range(len(steps))]
    if len(runs) > MOST_BOXES:
        runs = [(block["first"], block["last"]) for block in flow["blocks"]]
    kept = runs[:MOST_BOXES]
    boxes = _boxes(steps, kept)
    omitted = len(steps) - 1 - kept[-1][1] if kept else 0
    title = f"Control flow of {flow['function']}"
    return FlowPicture(_svg(boxes, title), _outline(boxes), omitted)


def _boxes(steps: Sequence[Mapping[str, Any]], runs: Sequence[tuple[int, int]]) -> list[FlowBox]:
    number_of = {step: number for number, (first, last) in enumerate(runs) for step in range(first, last + 1)}
    ways = [
        tuple(
            dict.fromkeys(
                (number_of[way["step"]], way["when"])
                for way in steps[last]["next"]
                if way["step"] in number_of and way["when"] not in _NO_CONTROL
            )
        )
        for _, last in runs
    ]
    depths = _depths(ways, [steps[last]["kind"] for _, last in runs])
    boxes = []
    for (first, last), depth, own in zip(runs, depths, ways, strict=True):
        more = f" … and {last - first} more" if last > first else ""
        step = steps[first]
        boxes.append(FlowBox(step["kind"], step["start_line"], step["text"] + more, depth, own))
    return boxes


def _depths(ways: Sequence[Sequence[tuple[int, str]]], kinds: Sequence[str]) -> list[int]:
    """Return how many forks enclose each box: a fork encloses what one of its branches skips.

    Args:
        ways: the edges out of each box.
        kinds: of the last step of each.
    """
    depths = [0] * len(ways)
    for number, own in enumerate(ways):
        ahead = sorted({target for target, _ in own if target > number})
        if len({target for target, _ in own}) < 2 or not ahead:
            continue
        end = ahead[-1]
        for held in range(number + 1, end):
            depths[held] += 1
        # Where the first branch continues; a jump does not tell.
        joins = [target for target, _ in ways[end - 1] if target > end] if kinds[end - 1] != "jump" else []
        for held in range(end, min(joins, default=end)):
            depths[held] += 1
    return depths


def _svg(boxes: Sequence[FlowBox], title: str) -> Markup:
    ahead, back = _lanes(boxes, is_ahead=True), _lanes(boxes, is_ahead=False)
    left = _LANE * (1 + max(back.values(), default=0))
    indent = _INDENT * min(_MOST_INDENTS, max((box.depth for box in boxes), default=0))
    width = left + indent + _WIDTH + _LANE * (2 + max(ahead.values(), default=0)) + 40
    height = len(boxes) * (_HEIGHT + _GAP)
    places = [(left + _INDENT * min(box.depth, _MOST_INDENTS), row * (_HEIGHT + _GAP)) for row, box in enumerate(boxes)]
    right = left + indent + _WIDTH
    lines = []
    for number, box in enumerate(boxes):
        for target, when in box.ways:
            if target == number + 1:
                lines.append(_down(places[number], places[target], when))
            elif target > number:
                lines.append(_aside(places[number], places[target], right + _LANE * (1 + ahead[number, target]), when))
            else:
                lines.append(
                    _aside_back(places[number], places[target], left - _LANE * (1 + back[number, target]), when)
                )
    drawn = [_drawn(box, place) for box, place in zip(boxes, places, strict=True)]
    head = Markup(
        '<svg class="picture" viewBox="-2 -2 {} {}" width="{}" height="{}" role="img" aria-label="{}">'
        "<title>{}</title>"
        '<defs><marker id="way" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0 L8 4 L0 8 z"/></marker></defs>'
    ).format(width, height, width, height, title, title)
    return spelled(head + Markup("").join([*lines, *drawn]) + Markup("</svg>"))


def _lanes(boxes: Sequence[FlowBox], *, is_ahead: bool) -> dict[tuple[int, int], int]:
    """Return a lane for each edge that passes other boxes; the shortest edges get the innermost lanes."""
    edges = {
        (number, target)
        for number, box in enumerate(boxes)
        for target, _ in box.ways
        if (target > number + 1 if is_ahead else target <= number)
    }
    lanes: dict[tuple[int, int], int] = {}
    for edge in sorted(edges, key=lambda edge: (abs(edge[1] - edge[0]), edge)):
        first, last = sorted(edge)
        taken = {lane for other, lane in lanes.items() if min(other) <= last and first <= max(other)}
        lanes[edge] = min(next(lane for lane in range(len(lanes) + 1) if lane not in taken), _MOST_LANES)
    return lanes


def _down(start: tuple[int, int], end: tuple[int, int], when: str) -> Markup:
    x = max(start[0], end[0]) + 20
    return Markup('<path d="M{} {} L{} {}" marker-end="url(#way)"/>').format(x, start[1] + _HEIGHT, x, end[1]) + _word(
        when, x + 6, start[1] + _HEIGHT + 11
    )


def _aside(start: tuple[int, int], end: tuple[int, int], x: int, when: str) -> Markup:
    y1, y2 = start[1] + _OUT, end[1] + _IN
    line = Markup('<path d="M{} {} H{} V{} H{}" marker-end="url(#way)"/>')
    return line.format(start[0] + _WIDTH, y1, x, y2, end[0] + _WIDTH) + _word(when, start[0] + _WIDTH + 4, y1 + 11)


def _aside_back(start: tuple[int, int], end: tuple[int, int], x: int, when: str) -> Markup:
    y1, y2 = start[1] + _OUT, end[1] + _IN
    line = Markup('<path d="M{} {} H{} V{} H{}" marker-end="url(#way)"/>')
    return line.format(start[0], y1, x, y2, end[0]) + _word(when, x + 4, y1 + 11)


def _word(when: str, x: int, y: int) -> Markup:
    return Markup('<text class="when" x="{}" y="{}">{}</text>').format(x, y, when) if when else Markup("")


def _drawn(box: FlowBox, place: tuple[int, int]) -> Markup:
    said = f"{box.line}: {box.text}" if box.kind not in ("entry", "exit") else box.text
    short = said if len(said) <= _MOST_CHARS else f"{said[: _MOST_CHARS - 1]}…"
    return Markup(
        '<g class="{}"><title>{}</title><rect x="{}" y="{}" width="{}" height="{}" rx="5"/>'
        '<text x="{}" y="{}">{}</text></g>'
    ).format(_SHAPES.get(box.kind, "box"), said, *place, _WIDTH, _HEIGHT, place[0] + 8, place[1] + 17, short)


def _outline(boxes: Sequence[FlowBox]) -> Markup:
    """Return the same as nested lists."""
    parts: list[Markup] = []
    depth = -1
    for box in boxes:
        if box.depth <= depth:
            parts.append(Markup("</li>"))
        parts.append(Markup("</ul></li>") * max(0, depth - box.depth))
        parts.append(Markup("<ul><li>") * (box.depth - depth - 1) + Markup("<ul>" if box.depth > depth else ""))
        depth = box.depth
        ways = [f"{when} to line {boxes[target].line}".strip() for target, when in box.ways if when]
        after = Markup(' <span class="quiet">{}</span>').format(", ".join(ways)) if ways else Markup("")
        parts.append(Markup('<li><span class="quiet">{}</span> <code>{}</code>{}').format(box.line, box.text, after))
    closing = Markup("</li></ul>") * (depth + 1)
    return spelled(Markup("").join(parts) + closing)
