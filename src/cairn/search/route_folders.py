"""Reads routes that folders declare, and finds what handles a request in such a file.

`app/users/[id]/route.ts` answers `/users/12`, and so do, each in its framework, `src/routes/users/[id]/+server.ts`,
`server/routes/users/[id].get.ts`, `app/routes/users.$id.tsx` and `pages/users/_id.vue`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice, product
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from cairn.search.request_text import METHODS, RequestLine
from cairn.search.route_fit import LEFT_OUT, SAME, fit_of_variable
from cairn.search.route_templates import LEADING

if TYPE_CHECKING:
    from cairn.index.snapshot import Snapshot

_CODE = re.compile(r"\.(?:[cm]?[jt]sx?|vue|svelte|astro|mdx)$")
_ROOTS = frozenset({"app", "pages", "routes", "functions", "api"})  # the last is itself a part of the path
_ON_SERVER = frozenset({"api", "server", "functions", "route", "+server"})  # folders, and names of files
# Names of files that stand for their folder; in `app`, all that handle requests are called so.
_IN_APP = frozenset({"route", "page"})
_OF_FOLDER = _IN_APP | {"index", "_index", "+server", "+page", "+page.server"}
_BY_METHOD = re.compile(rf"\.({METHODS.lower()})$")
_MAX_ROOTS, _MAX_TEMPLATES = 4, 8  # in a path, and below each: every part that may be left out doubles them
# What a segment counts for which a placeholder stands, or one of several, and a template of nothing but such. How much
# less counts each part that is missing, and how much more a placeholder with text around it.
_OF_VARIABLE, _OF_REST, _ANYTHING = 0.8, 0.7, 0.75
_MISSING, _WITH_TEXT = 0.1, 0.05

_NO_ROUTE = re.compile(r"(?:.*[.+])?(?:_?layout)|_(?!index$)\w+")  # a name in `routes`: what surrounds or helps pages
_ROOT = re.compile(rf"(?:^|/)(?:{'|'.join(sorted(_ROOTS))})/")
# Parts of paths: what no request shows, what may be left out, and what stands for several segments.
_VARIABLE_MARKS = ("[", "$", "/_")
_HIDDEN = re.compile(r"\([^$)]*\)|index|")
_GROUPED = re.compile(r"(?<=[^/])\([^$)]*\)$")  # behind a name
_OPTIONAL = re.compile(r"\[(\[[^.\]][^\]]*\])\]|\((\$\w*)\)")
_REST = re.compile(r"\[?\[\.\.\.[^\]]*\]\]?|\$")

# Files that a server sends, or runs, as they are: each folder before the path that was asked for counts less.
_OF_SERVED_FOLDER = ("index.php", "index.html", "index.htm")
_SERVED = frozenset({"public", "static", "www", "htdocs", "web"})
_DEEPER, _LEAST_SERVED = 0.05, 0.5


class FolderRoute(NamedTuple):
    """A file whose path fits that of a request.

    `template` is the path that it answers. `share` tells how well it fits, 0 to 1. `method` is the only one that it
    handles by its name, empty if that says none. `on_server`: it is no page. `is_sent`: it is sent or run as it is.
    """

    file: int
    template: str
    share: float
    method: str = ""
    on_server: bool = True
    is_sent: bool = False


class RouteFolders:
    """Finds the files whose paths fit that of a request.

    Args:
        paths: of all files of the project.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = paths
        self._lower = [f"/{path.lower()}" for path in paths]
        self._by_name: defaultdict[str, list[int]] = defaultdict(list)
        for number, path in enumerate(self._lower):
            self._by_name[path.rpartition("/")[2]].append(number)
        below_roots = [number for number, path in enumerate(paths) if _ROOT.search(path) and _CODE.search(path)]
        self._below_roots = {number: self._lower[number] for number in below_roots}
        self._read: dict[int, _BelowRoots] = {}  # of those, what they say, once they were asked for

    def routes(self, request: RequestLine) -> Iterator[FolderRoute]:
        """Yield the files whose paths fit all of a request's; whether they handle requests only their text tells."""
        asked = "/".join(["", *request.segments]).lower()
        is_file = "." in asked.rpartition("/")[2]
        names = [asked.rpartition("/")[2]] if is_file else _OF_SERVED_FOLDER
        called = sorted(number for name in names for number in self._by_name.get(name, ()))
        served = {number: share for number in called if (share := _served(self._lower[number], asked, is_file))}
        for number, share in served.items():
            yield FolderRoute(number, asked or "/", share, is_sent=True)
        telling = [part.lower() for part in request.segments if not LEADING.fullmatch(part)]
        said = (*telling, *_VARIABLE_MARKS) if telling else ("",)  # a path with none of these does not fit, as most
        for number, path in self._below_roots.items():
            if number in served or not any(map(path.__contains__, said)):
                continue
            if (below := self._read.get(number)) is None:
                below = self._read[number] = _BelowRoots.of(self._paths[number])
            if (route := below.route(number, request)) is not None:
                yield route


class _BelowRoots(NamedTuple):
    """What a path below a folder of routes says: the method in its name, whether it is no page, and its templates."""

    method: str
    on_server: bool
    templates: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, path: str) -> _BelowRoots:
        names = _CODE.sub("", path).split("/")
        if method := _BY_METHOD.search(names[-1]):
            names[-1] = names[-1][: method.start()]
        on_server = method is not None or not _ON_SERVER.isdisjoint(names)
        return cls(method[1].upper() if method else "", on_server, tuple(_templates_of(names)))

    def route(self, number: int, request: RequestLine) -> FolderRoute | None:
        """Return the best of the routes that a file may be, None if none fits."""
        fits = ((_fit(one, request.segments, self.on_server), one) for one in self.templates)
        share, best = max(fits, default=(0.0, ()))
        return FolderRoute(number, f"/{'/'.join(best)}", share, self.method, self.on_server) if share else None


_folders: WeakKeyDictionary[Snapshot, RouteFolders] = WeakKeyDictionary()


def folders_of(snapshot: Snapshot) -> RouteFolders:
    """Return what finds the files of a snapshot that folders make routes, made once for each."""
    if (folders := _folders.get(snapshot)) is None:
        folders = _folders[snapshot] = RouteFolders(snapshot.files.paths)
    return folders


def _served(path: str, asked: str, is_file: bool) -> float:
    """Return how well the path of a file, or that of an index in its folder, fits one that is asked for, 0 if not."""
    own = path if is_file else path.rpartition("/")[0]
    if not own.endswith(asked):
        return 0.0
    n_before = sum(part not in _SERVED for part in own[: len(own) - len(asked)].split("/") if part)
    return max(SAME - _DEEPER * n_before, _LEAST_SERVED)


def _templates_of(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the templates that a path without its ending may stand for: those below each of its roots."""
    *folders, name = names
    roots = [(place, folder) for place, folder in enumerate(folders) if folder in _ROOTS]
    for place, root in roots[:_MAX_ROOTS]:
        if (parts := _parts_below(root, folders[place + 1 :], name)) is not None:
            shown = [part for part in parts if not _HIDDEN.fullmatch(part)]
            choices = [((), (own[1] or own[2],)) if (own := _OPTIONAL.fullmatch(one)) else ((one,),) for one in shown]
            for chosen in islice(product(*choices), _MAX_TEMPLATES):
                yield tuple(part for one in chosen for part in one)


def _parts_below(root: str, folders: Sequence[str], name: str) -> list[str] | None:
    """Return the parts of a path below a root as its framework reads them, None if the file is no route there."""
    own = [] if name in _OF_FOLDER else [name.removesuffix("+api")]
    if root == "routes":
        if name.startswith("+"):
            return [*folders, *own]
        return None if _NO_ROUTE.fullmatch(name) else [piece for part in (*folders, *own) for piece in _pieces(part)]
    if root == "pages":
        return [f"[{part[1:]}]" if part.startswith("_") else part for part in (*folders, *own)]
    if any(part.startswith("_") for part in (*folders, *own)):
        return None  # private
    if root == "app":
        is_route = name in _IN_APP or name.endswith("+api")
        return [part for part in (*folders, *own) if not part.startswith("@")] if is_route else None
    return ["api", *folders, *own] if root == "api" else [*folders, *own]


def _pieces(part: str) -> list[str]:
    """Return the parts of a path for which one name stands in `routes`, where dots part them and underscores hide."""
    pieces = re.split(r"(?<!\[)\.(?![^\[]*\])", _GROUPED.sub("", part.removesuffix("+")))
    return [one.removesuffix("_").replace("[.]", ".") for one in pieces if not one.startswith("_") and one != "route"]


def _fit(template: Sequence[str], segments: Sequence[str], on_server: bool) -> float:
    """Return how well a template fits all segments of a path, 0 if not.

    `api` and versions may be missing in the path, and in the template of what is no page.
    """
    best = _fit_whole(template, segments)
    for own, asked in ((_without_leading(template), segments), (template, _without_leading(segments))):
        n_missing = len(template) - len(own) + len(segments) - len(asked)
        if n_missing and (on_server or asked == segments):
            best = max(best, _fit_whole(own, asked) - _MISSING * n_missing)
    return best


def _without_leading(parts: Sequence[str]) -> Sequence[str]:
    n_leading = next((place for place, part in enumerate(parts) if not LEADING.fullmatch(part)), len(parts))
    return parts[n_leading:]


def _fit_whole(template: Sequence[str], segments: Sequence[str]) -> float:
    rest = next((place for place, own in enumerate(template) if _REST.fullmatch(own)), None)
    n_fixed = len(template) - (rest is not None)
    if len(segments) < n_fixed or (rest is None and len(segments) > n_fixed):
        return 0.0
    if not segments:
        return SAME if rest is None else SAME - LEFT_OUT
    n_before = n_fixed if rest is None else rest
    n_after = n_fixed - n_before
    n_rest = len(segments) - n_fixed
    asked = [*segments[:n_before], *segments[len(segments) - n_after :]]
    value, n_same = (_OF_REST * n_rest if n_rest or rest is None else -LEFT_OUT), 0
    for own, one in zip([*template[:n_before], *template[len(template) - n_after :]], asked, strict=True):
        if own.lower() == one.lower():
            value, n_same = value + SAME, n_same + (LEADING.fullmatch(own) is None)
        elif (fit := fit_of_variable(own, one)) is not None:
            has_text = own[0] not in "[${" or (own[-1] not in "]}" and own[0] != "$")
            value += max(fit, _OF_VARIABLE) + (_WITH_TEXT if has_text else 0.0)
            n_same += has_text
        else:
            return 0.0
    return value / len(segments) * (1.0 if n_same else _ANYTHING)
