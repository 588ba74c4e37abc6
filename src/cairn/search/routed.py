"""Finds the routes that handle a request: `GET /users/12` meets `/users/{id}`, whatever framework declares it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cairn import waiting
from cairn.index.snapshot import Snapshot
from cairn.search.exact import LineMatch
from cairn.search.filters import Filtered, filter_files
from cairn.search.library import Library, line_in, read_files
from cairn.search.request_text import RequestLine
from cairn.search.route_exports import PAGES, handler_in
from cairn.search.route_files import KeptRoutes, RouteFile, RouteFiles, route_files_of
from cairn.search.route_fit import OTHER_METHOD, folded, is_of_others
from cairn.search.route_folders import folders_of
from cairn.search.route_handlers import handler_of
from cairn.search.route_mounts import MAX_CHAINS, MAX_DEPTH, MAX_MOUNTED, MAX_MOUNTING, Mounter, may_mount
from cairn.search.route_templates import LEADING, RouteTemplate, finder_of, named_segments
from cairn.search.word_files import MINOR, files_with_words, line_in_text
from cairn.source.terms import terms_of_word
from cairn.source.text import raw_words

# How many files are read for a request, for one in a report, and for one in a long text, of which much else is read.
MAX_FILES, MAX_FILES_OF_REPORT, MAX_FILES_OF_TEXT = 128, 64, 16
_MAX_BYTES = 500_000  # of a file
_BATCH = 64  # files whose names are looked at, at once
_MAX_ROUTES = 3
# How well a route fits at least, how much worse than the best others may, and how sure they are then at most.
_LEAST, _ALIKE, _NOT_BEST = 0.45, 0.1, 0.75
_SURE = 0.95  # so well that nobody looks for prefixes in other files

# How the files count in which a segment stands: more if it is rare, if they are called like what declares routes, less
# if it is a value, and if they are examples or clients.
_CALLED_SO, _SHORTEST = 0.9, 3  # the words of a path, that are looked for where they stand in longer ones, too
_RARE, _FOR_ROUTING, _OF_VALUE, _MINOR_FACTOR = 0.1, 1.5, 0.2, 0.01
_IS_VALUE = re.compile(r"\d|%|-.*-|^[A-Z:{<\[*$(]")  # with one hyphen it may be a name

# A decorator or an attribute, and how far below it what it is for begins.
_MARKS, _MAX_BELOW = ("@", "[", "#["), 12
_BEGINS = re.compile(
    r"^\s*(?:(?:export|public|private|protected|internal|static|async|pub)\s)*(?:def|fn|func|fun|function|class)\b"
    r"|^\s*(?:public|async)\b"
)


class DeclaredRoute(NamedTuple):
    """A line that declares a route that fits a request, its template, and how well it does, 0 to 1.

    `is_minor`: it stands in an example, a client or the like. `is_other`: it is for other methods. `is_file`: the file
    as a whole is the answer.
    """

    line: LineMatch
    template: str
    share: float
    is_minor: bool = False
    is_other: bool = False
    is_file: bool = False


def find_routes(
    library: Library, requests: Sequence[RequestLine], filters: Filtered, n_files: int = MAX_FILES
) -> list[DeclaredRoute]:
    """Return the routes that fit the first of some requests that any fits, the best first.

    Args:
        n_files: how many files are read for the first request at most, and half as many for each of the others.
    """
    for place, request in enumerate(requests):
        best = _routes_of_folders(library, request, filters) + _routes_of_texts(
            library, request, filters, n_files // 2 if place else n_files
        )
        best = _each_once(sorted(best, key=lambda one: (one.is_minor, -one.share)))
        if best:
            alike = [one for one in best if one.share >= best[0].share - _ALIKE][:_MAX_ROUTES]
            others = [
                one if one.share == best[0].share else one._replace(share=min(one.share, _NOT_BEST))
                for one in alike[1:]
            ]
            return [alike[0], *_handled_in(library, alike[0], request, filters), *others]
    return []


def _each_once(routes: Sequence[DeclaredRoute]) -> list[DeclaredRoute]:
    """Return the first of the routes on each line."""
    first: dict[tuple[int, int], DeclaredRoute] = {}
    for route in routes:
        first.setdefault((route.line.file, route.line.start_line), route)
    return list(first.values())


def _handled_in(library: Library, route: DeclaredRoute, request: RequestLine, filters: Filtered) -> list[DeclaredRoute]:
    """Return the definition of what a route names as its handler, if it names one."""
    if route.is_file or route.line.end_line > route.line.start_line:
        return []  # or a decorator, with the function below it
    lines = _text_of(read_files(library, [route.line.file])[route.line.file].data).split("\n")
    line = handler_of(library, route.line, lines, request)
    if line is None or line[:2] == route.line[:2]:
        return []
    chosen = filter_files(library.snapshot.files, filters)
    return [route._replace(line=line)] if chosen is None or line.file in chosen else []


def _routes_of_texts(library: Library, request: RequestLine, filters: Filtered, n_files: int) -> list[DeclaredRoute]:
    """Return the routes that templates in code declare, those first that fit best."""
    files = _files_saying(library.snapshot, request.segments, filters, n_files)
    found, mounting = _read_routes(library, request, dict.fromkeys(files, ()))
    if not any(route.share >= _SURE and not route.is_minor for route in found):
        chosen = filter_files(library.snapshot.files, filters)
        mounted = {file: own for file, own in _mounted(library, request, mounting).items() if _has(chosen, file)}
        found += _read_routes(library, request, mounted)[0]
    paths = library.snapshot.files.paths
    return sorted(found, key=lambda route: (-route.share, paths[route.line.file].count("/")))


def _has(chosen: npt.NDArray[np.int64] | None, file: int) -> bool:
    return chosen is None or file in chosen


def _read_routes(
    library: Library, request: RequestLine, files: Mapping[int, Sequence[tuple[str, ...]]]
) -> tuple[list[DeclaredRoute], list[_Mounting]]:
    """Return the routes in some files that fit a request, and what may put a prefix before those of others.

    Args:
        library: of the project.
        request: what is asked for.
        files: with what other files put before all of their routes.
    """
    of_view, paths = route_files_of(library.snapshot), library.snapshot.files.paths
    texts, minor = read_files(library, files), of_view.are_minor(np.array(list(files), dtype=np.int64)).tolist()
    found: list[DeclaredRoute] = []
    mounting: list[_Mounting] = []
    for (file, mounts), is_minor in zip(files.items(), minor, strict=True):
        waiting.check()
        data = texts[file].data
        for route_file, one, share in _fitting(of_view.kept, file, paths[file], data, request, mounts):
            if share >= _LEAST and (route := _declared(file, data, route_file, one, share, request)) is not None:
                found.append(route._replace(is_minor=is_minor))
            if may_mount(one):
                mounting.append(_Mounting(file, route_file.lines, one))
    return found, mounting


class _Mounting(NamedTuple):
    """A template that may stand before the routes of another file, in which lines of a file."""

    file: int
    lines: Sequence[str]
    template: RouteTemplate


def _mounted(library: Library, request: RequestLine, mounting: Sequence[_Mounting]) -> dict[int, list[tuple[str, ...]]]:
    """Return the files before whose routes some templates stand, with these, one behind the other."""
    of_view = route_files_of(library.snapshot)
    before: dict[int, list[tuple[str, ...]]] = {}
    chains: dict[int, list[tuple[str, ...]]] = {each.file: [()] for each in mounting}
    mounters: dict[int, Mounter] = {}
    for _ in range(MAX_DEPTH):
        further: dict[int, list[tuple[str, ...]]] = {}
        for each in mounting[:MAX_MOUNTING]:
            waiting.check()
            mounter = mounters.setdefault(each.file, Mounter(library, of_view, each.file, each.lines))
            for file in mounter.mounted_by(each.template):
                new = [(*chain, *each.template.segments) for chain in chains.get(each.file, ())]
                new = [chain for chain in new if chain not in before.get(file, ())][:MAX_CHAINS]
                if new and (file in before or len(before) < MAX_MOUNTED):
                    before.setdefault(file, []).extend(new)
                    further.setdefault(file, []).extend(new)
        if not further:
            break
        chains, mounting = further, _read_routes(library, request, further)[1]
    return before


def _routes_of_folders(library: Library, request: RequestLine, filters: Filtered) -> list[DeclaredRoute]:
    """Return the routes that folders declare, those first whose paths fit best."""
    of_view = library.snapshot.files
    chosen = filter_files(of_view, filters)
    own = [one for one in folders_of(library.snapshot).routes(request) if chosen is None or one.file in chosen]
    own = sorted(own, key=lambda one: -one.share)[:MAX_FILES_OF_TEXT]
    texts = read_files(library, [one.file for one in own])
    found: list[DeclaredRoute] = []
    for one in own:
        lines = _text_of(texts[one.file].data).split("\n")
        path, own_method, on_server = of_view.paths[one.file], one.method, one.on_server
        number, factor = (
            (1, 1.0) if one.is_sent else handler_in(path, lines, request.method, own_method, on_server=on_server)
        )
        if number:
            is_minor = bool(of_view.roles[one.file] & MINOR)
            line = line_in_text(one.file, lines, number, number)
            is_file = one.is_sent or path.endswith(PAGES)
            is_other = factor == OTHER_METHOD
            found.append(DeclaredRoute(line, one.template, one.share * factor, is_minor, is_other, is_file))
    return sorted(
        (one for one in found if one.share >= _LEAST),
        key=lambda one: (-one.share, -of_view.paths[one.line.file].count("/")),
    )


def _files_saying(snapshot: Snapshot, segments: Sequence[str], filters: Filtered, n_files: int) -> list[int]:
    """Return some files of code in which most segments of a path stand, those first that are called like routers.

    None are tests. What looks like a value says little: it stands nowhere, or in tests.
    """
    paths, of_view = snapshot.files.paths, route_files_of(snapshot)
    worth = np.zeros(len(paths))
    for before, segment in {segment: (before, segment) for before, segment in pairwise(("", *segments))}.values():
        if len(own := files_with_words(snapshot, segment)):
            rarity = 1 + _RARE * np.log1p(len(paths) / len(own))
            worth[own] += rarity * (_OF_VALUE if _is_value(before, segment) else 1.0)
        if called := _files_called(of_view, segment):
            worth[called] += _CALLED_SO * (_OF_VALUE if _is_value(before, segment) else 1.0)
    worth[~of_view.are_code] = 0
    if (chosen := filter_files(snapshot.files, filters)) is not None:
        worth[np.setdiff1d(np.arange(len(worth)), chosen)] = 0
    ranked = np.argsort(-worth, kind="stable")[: np.count_nonzero(worth)]
    best: list[tuple[float, int]] = []
    for start in range(0, len(ranked), _BATCH):
        files = ranked[start : start + _BATCH]
        if len(best) == n_files and worth[files[0]] * _FOR_ROUTING <= best[-1][0]:
            break  # whatever the others are called
        shares = worth[files] * np.where(of_view.are_routing(files), _FOR_ROUTING, 1.0)
        shares[of_view.are_minor(files)] *= _MINOR_FACTOR
        best += zip(shares.tolist(), files.tolist(), strict=True)
        best = sorted(best, key=lambda one: (-one[0], one[1]))[:n_files]
    return [file for _, file in best]


def _files_called(of_view: RouteFiles, segment: str) -> list[int]:
    """Return the files in whose name or folder a segment stands: another may say the prefix of the routes in them."""
    word = folded(segment)
    if len(word) < _SHORTEST or LEADING.fullmatch(segment) or not word.isalnum():
        return []
    return of_view.called(word)


def _is_value(before: str, segment: str) -> bool:
    """Tell whether a segment is a value by how it looks, or as it stands behind several things: `/books/my-book`."""
    return _IS_VALUE.search(segment) is not None or ("-" in segment and before.endswith("s") and "-" not in before)


def _routes_in(kept: KeptRoutes, file: int, path: str, data: bytes, request: RequestLine) -> Iterator[DeclaredRoute]:
    """Yield the routes of a file that fit a request. Where another file has the prefix, the path often says it."""
    for route_file, one, share in _fitting(kept, file, path, data, request):
        if share >= _LEAST and (route := _declared(file, data, route_file, one, share, request)) is not None:
            yield route


def _declared(
    file: int, data: bytes, route_file: RouteFile, one: RouteTemplate, share: float, request: RequestLine
) -> DeclaredRoute | None:
    if (line := line_in(file, data, one.number)) is None:
        return None
    line = line._replace(end_line=_end_of(route_file.lines, one.number))
    return DeclaredRoute(line, one.text, share, is_other=is_of_others(one, request))


def _fitting(
    kept: KeptRoutes,
    file: int,
    path: str,
    data: bytes,
    request: RequestLine,
    mounts: Sequence[tuple[str, ...]] = (),
) -> Iterator[tuple[RouteFile, RouteTemplate, float]]:
    """Yield the templates of a file that may fit a request, each with how well it does.

    Args:
        kept: what files say.
        file, path, data: the file.
        request: what is asked for.
        mounts: what other files put before its routes; else a template, or the path, must say something telling.
    """
    data = data if len(data) <= _MAX_BYTES else data[:_MAX_BYTES]
    words = _words_of_path(path)
    telling = frozenset(one for one in named_segments(request.segments) if not LEADING.fullmatch(one))
    is_said = bool(mounts) or any(folded(one) in words for one in telling)
    if not telling:
        return
    needed = frozenset() if is_said else telling
    if (route_file := kept.get(file, data)) is None and (is_said or _saying(telling).search(data)):
        route_file = kept.read(file, data, request.segments, needed)
    if route_file is not None:
        yield from ((route_file, *pair) for pair in route_file.fitting(request, needed, words, mounts))


@lru_cache(maxsize=1_024)  # of files that are read for many requests
def _words_of_path(path: str) -> frozenset[str]:
    return frozenset(folded(word) for raw in raw_words(path) for word in terms_of_word(raw)[0])


@lru_cache(maxsize=16)  # for each file
def _saying(segments: frozenset[str]) -> Any:  # noqa: ANN401 - re2 ships no types
    """Return what finds one of some segments behind a slash or a quote, or as the name of a controller."""
    return finder_of(segments, b"[/\"'`:^](?:%b)|(?:%b)controller")


def _text_of(data: bytes) -> str:
    return data[:_MAX_BYTES].decode("utf-8", "replace")


def _end_of(lines: Sequence[str], number: int) -> int:
    """Return the number of the line in which what stands below a decorator or an attribute begins, or of this line."""
    if not any(line.lstrip().startswith(_MARKS) for line in lines[max(0, number - 2) : number]):
        return number
    below = range(number, min(number + _MAX_BELOW, len(lines)))
    return next((at + 1 for at in below if _BEGINS.search(lines[at])), number)
