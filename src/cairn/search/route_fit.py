"""Tells how well a route fits a request: by its segments, those of the groups around it, and its method."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence, Set
from functools import cached_property

from cairn.search.request_text import RequestLine
from cairn.search.route_templates import (
    LEADING,
    PLACEHOLDER,
    RouteTemplate,
    assigned_name,
    name_of_group,
    stands_for,
    without_lead,
)

VALUE = re.compile(r"\d|-|%|^[A-Z]")  # in what stands for something, and not in the name of a resource
_VERSION, _MAY_BE_VERSION = re.compile(r"(?i)apis?|v\d{1,3}"), re.compile(r"(?i)v\b|ver|api|\*|\.\.\.")
# What a segment counts that is the same, that fits a placeholder and looks like a value, and that fits it otherwise.
SAME, FITS, MAY_FIT = 1.0, 0.9, 0.5
OTHER_METHOD, NO_METHOD, LEFT_OUT = 0.6, 0.9, 0.02
_SHOWN, _SHOWN_BELOW_API = 0.8, 0.5  # the path of a page in a browser
_MAX_DEPTH, _MAX_GROUPS = 6, 60  # of groups in groups, and in a file
_RECEIVER = re.compile(r"\b(\w+)\.\w+\(\s*r?[\"'`]")  # what a route is declared with
_ENDS = re.compile(r"[)}\]]|end\b")  # a block
_NONE, _IN_PATH = (0.0, 0, 0), 0.8  # no prefix; what a segment counts that only the path of the file has


class FileGroups:
    """Which lines of a file have groups of routes, what these are called, and where they end: told once for each.

    Threads may share it.

    Args:
        lines: of the file.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._names: dict[int, str] = {}
        self._ends: dict[int, int] = {}
        self._are_groups: dict[str, bool] = {}  # by name

    def holds(self, group: int, number: int) -> bool:
        """Tell whether the group on a line may hold what another line declares: by its name, or by its block."""
        if number <= group:
            return False
        if not (name := self._name_of(group)):
            return number < self._end_of(group)
        receiver = _RECEIVER.search(self._lines[number - 1])
        return receiver is None or receiver[1] == name or not self._is_group(receiver[1])

    def _name_of(self, group: int) -> str:
        if (name := self._names.get(group)) is None:
            name = self._names[group] = name_of_group(self._lines[group - 1])
        return name

    def _end_of(self, group: int) -> int:
        if (end := self._ends.get(group)) is None:
            end = self._ends[group] = _end_of_block(self._lines, group)
        return end

    def _is_group(self, name: str) -> bool:
        """Tell whether any group of the file is called so, also one that does not fit."""
        if (is_group := self._are_groups.get(name)) is None:
            is_group = self._are_groups[name] = any(map(name_of_group, self._assigning.get(name, ())))
        return is_group

    @cached_property
    def _assigning(self) -> defaultdict[str, list[str]]:
        """The lines of the file that assign something, by name."""
        lines: defaultdict[str, list[str]] = defaultdict(list)
        for line in self._lines:
            if "=" in line and (name := assigned_name(line)):
                lines[name].append(line)
        return lines


class RoutePrefixes:
    """What may stand before a template in a path: the templates of groups over it in its file, one within the other.

    Args:
        templates: of the file.
        groups: what is known of them.
        words: of the path of the file.
        mounts: what other files put before all routes of this one.
    """

    def __init__(
        self,
        templates: Sequence[RouteTemplate],
        groups: FileGroups,
        words: Set[str],
        mounts: Sequence[tuple[str, ...]] = (),
    ) -> None:
        self._templates = [one for one in templates if one.is_prefix][:_MAX_GROUPS]
        self._groups = groups
        self._words, self._mounts = words, mounts
        self._best: dict[tuple[int, int], tuple[float, int, int]] = {}

    def best(self, rest: tuple[str, ...], number: int, depth: int = _MAX_DEPTH) -> tuple[float, int, int]:
        """Return what the best of those over a line count, how many segments are the same, and how many they have.

        What is but a placeholder says nothing unless another group stands before it.
        """
        if not rest or not depth:
            return 0.0, 0, 0
        if (key := (len(rest), number)) not in self._best:
            in_path = (_IN_PATH, 1, 1) if folded(rest[-1]) in self._words else _NONE
            held = (one for one in self._templates if self._groups.holds(one.number, number))
            mounts = dict.fromkeys(each for mount in self._mounts for each in (mount, without_lead(mount)))
            mounted = ((*own, len(mount)) for mount in mounts if (own := _match(mount, rest)) is not None)
            self._best[key] = max([in_path, *mounted, *(self._chain(one, rest, depth) for one in held)])
        return self._best[key]

    def _chain(self, group: RouteTemplate, rest: tuple[str, ...], depth: int) -> tuple[float, int, int]:
        segments = group.segments
        if (own := _match(segments, rest)) is None:
            segments = without_lead(segments)
            own = _match(segments, rest) if len(segments) < len(group.segments) else None
        if own is None:
            return _NONE
        n_own = len(segments)
        value, n_same, covered = self.best(rest[: len(rest) - n_own], group.number, depth - 1)
        says_something = own[1] + n_same or own[0] == n_own * SAME  # or a version, that is asked for as well
        return (own[0] + value, own[1] + n_same, n_own + covered) if says_something else _NONE


def _end_of_block(lines: Sequence[str], number: int) -> int:
    """Return the number of the line that ends a block, which closes a bracket and is indented no deeper."""
    depth = _indent_of(lines[number - 1])
    below = enumerate(lines[number:], start=number + 1)
    return next((at for at, line in below if _indent_of(line) <= depth and _ENDS.match(line.lstrip())), len(lines) + 1)


def _indent_of(line: str) -> int:
    return len(line) - len(line.lstrip())


def fit_of(template: RouteTemplate, prefixes: RoutePrefixes, request: RequestLine) -> float:
    """Return how well a route fits a request, with groups over it in its file where they make it fit better."""
    segments = template.segments
    if (own := _match(segments, request.segments) if segments else (0.0, 0)) is None:
        segments = without_lead(segments)  # who asks may leave out a version
        own = _match(segments, request.segments) if len(segments) < len(template.segments) else None
    if own is None:
        return 0.0
    rest = request.segments[: len(request.segments) - len(segments)]
    n_missing = len(template.segments) - len(segments)
    shares = []
    for value, n_same, covered in (_NONE, prefixes.best(rest, template.number)):
        if own[1] + n_same:
            uncovered = rest[: len(rest) - covered]
            n_left = sum(LEADING.fullmatch(one) is None for one in uncovered)
            share = (own[0] + value) / (len(segments) + covered + n_left)
            shares.append(share - LEFT_OUT * (len(uncovered) - n_left + n_missing))
    share = max(shares, default=0.0) - LEFT_OUT * template.is_prefix  # what it holds answers
    if request.method:
        share *= OTHER_METHOD if is_of_others(template, request) else 1.0 if template.methods else NO_METHOD
    if template.is_shown:
        is_below_api = request.method not in ("", "GET") or LEADING.fullmatch(request.segments[0]) is not None
        share *= _SHOWN_BELOW_API if is_below_api else _SHOWN
    return share * template.weight


def is_of_others(template: RouteTemplate, request: RequestLine) -> bool:
    """Tell whether a route is for other methods than that of a request."""
    return bool(request.method and template.methods) and request.method not in template.methods


def _match(template: Sequence[str], segments: Sequence[str]) -> tuple[float, int] | None:
    """Return what a template counts as the end of a path, and how many segments are the same; None if one differs."""
    if not template or len(template) > len(segments):
        return None
    value, n_same = 0.0, 0
    for own, asked in zip(template, segments[-len(template) :], strict=True):
        if own.lower() == asked.lower():
            value, n_same = value + SAME, n_same + (LEADING.fullmatch(own) is None)
        elif (fit := fit_of_variable(own, asked)) is not None:
            value += fit
        else:
            return None
    return value, n_same


def fit_of_variable(own: str, asked: str) -> float | None:
    """Return how well a segment fits one of a template with a placeholder, None if it does not or there is none."""
    if not stands_for(own, asked) or (_VERSION.fullmatch(asked) and not _MAY_BE_VERSION.search(own)):
        return None
    return FITS if VALUE.search(asked) or PLACEHOLDER.fullmatch(asked) else MAY_FIT


def folded(word: str) -> str:
    """Return a word as it is compared with others: in lower case, one for several."""
    return word.lower().removesuffix("s")
