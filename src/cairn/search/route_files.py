"""Keeps what the files of a view say of routes: requests come again, and so do the files that are read for them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from cairn.search.request_text import RequestLine
from cairn.search.route_fit import FileGroups, RoutePrefixes, fit_of
from cairn.search.route_templates import FileTemplates, RouteTemplate, fitting_once
from cairn.search.word_files import MINOR, is_code
from cairn.source.roles import FOREIGN

if TYPE_CHECKING:
    from cairn.index.snapshot import Snapshot

MAX_KEPT_BYTES = 4_000_000  # of the files whose templates are kept
ASKED_BEFORE = 2  # how often a file was asked for before all of it is read

_ROUTING = re.compile(  # for a path in lower case: where case does not count, `re` takes three times as long
    r"rout|url|controller|views?\b|handler|endpoint|(?:^|/)(?:api|app|server|main|http|web|rest)(?:/[^/]+)?(?:\.\w+)?$"
)
_PACKAGES = re.compile(r"(?:^|/)src/main/(?:java|kotlin|scala|groovy)/")
_CLIENTS = re.compile(
    r"(?:^|/)(?:clients?|frontend|components|composables|hooks|cypress|assets|static|e2e|ui)/"
    r"|\.(?:tsx|jsx|vue|svelte|html|blade\.php|erb|haml|slim|twig|ejs|hbs|heex|cshtml|jsp)$"
)
_MANY_CALLED, _MOST_WORDS = 32, 256  # files called so, which say little then, and words whose files are kept
_UNKNOWN, _NO, _YES = 0, 1, 2


class RouteFile:
    """What a file says of routes, whatever is asked for.

    Args:
        data: the file.
        templates: those in it.
    """

    def __init__(self, data: bytes, templates: FileTemplates) -> None:
        self.data = data
        self.templates = templates
        self._groups = FileGroups(self.templates.lines)

    @property
    def lines(self) -> Sequence[str]:
        """The lines of the file."""
        return self.templates.lines

    def fitting(
        self,
        request: RequestLine,
        telling: Set[str],
        words: Set[str],
        mounts: Sequence[tuple[str, ...]] = (),
    ) -> Iterator[tuple[RouteTemplate, float]]:
        """Yield the templates that may fit a request, each with how well it does.

        Args:
            request: what is asked for.
            telling: segments of which a template must have one; see `FileTemplates.fitting`.
            words: of the path of the file.
            mounts: what other files put before all routes of this one.
        """
        templates = self.templates.fitting(request.segments, telling)
        prefixes = RoutePrefixes(templates, self._groups, words, mounts)
        return ((one, fit_of(one, prefixes, request)) for one in templates)


class KeptRoutes:
    """What files say of routes; threads may share it.

    To read all of a file takes as long as to read three times what one request needs, so that is done with those that
    are asked for so often, until there is no more room: to drop some would only mean to read them again.
    """

    def __init__(self) -> None:
        self._files: dict[int, RouteFile] = {}
        self._room = MAX_KEPT_BYTES
        self._n_asked: Counter[int] = Counter()

    def get(self, file: int, data: bytes) -> RouteFile | None:
        """Return what a file says if that is known, and the file is as it was then."""
        known = self._files.get(file)
        return known if known is not None and (known.data is data or known.data == data) else None

    def read(self, file: int, data: bytes, segments: Sequence[str], telling: frozenset[str]) -> RouteFile | None:
        """Return what a file says, or what it says to one request; see `fitting_once`."""
        self._n_asked[file] += 1
        last = self._files.get(file)
        room = self._room + (len(last.data) if last else 0) - len(data)
        if self._n_asked[file] <= ASKED_BEFORE or room < 0:
            templates = fitting_once(data, segments, telling)
            return None if templates is None else RouteFile(data, templates)
        found = self._files[file] = RouteFile(data, FileTemplates(data))
        self._room = room
        return found


class RouteFiles:
    """The files of a view in which routes are looked for; threads may share it.

    Args:
        snapshot: that of the view.

    Attributes:
        are_code: shape (n_files,): which files are code that does something, and no tests.
        kept: what those that were read last say.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self.are_code = is_code(snapshot)
        self.kept = KeptRoutes()
        self._paths, self._roles = snapshot.files.paths, snapshot.files.roles
        self._called: dict[str, list[int]] = {}
        self._are_routing = np.zeros(len(self._paths), dtype=np.int8)
        self._are_minor = np.zeros(len(self._paths), dtype=np.int8)

    def are_routing(self, files: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Tell which of some files are called like what declares routes."""
        return _are(self._are_routing, files, lambda file: _ROUTING.search(self._paths[file].lower()) is not None)

    def are_minor(self, files: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Tell which of some files are examples, clients and the like."""
        return _are(self._are_minor, files, self._is_minor)

    def called(self, word: str) -> list[int]:
        """Return the files of code in whose name or folder a word stands, none if many have it; told once for each."""
        if (found := self._called.get(word)) is None:
            found = [number for number, path in self._lowered if word in path]
            if len(self._called) < _MOST_WORDS:
                self._called[word] = found
        return found if len(found) <= _MANY_CALLED else []

    @cached_property
    def _lowered(self) -> list[tuple[int, str]]:
        return [(number, self._paths[number].lower()) for number in np.flatnonzero(self.are_code).tolist()]

    def _is_minor(self, file: int) -> bool:
        path = self._paths[file]
        minor = int(FOREIGN) if _PACKAGES.search(path) else MINOR  # packages may be called `docs` or `sample`
        return _CLIENTS.search(path) is not None or bool(int(self._roles[file]) & minor)


def _are(
    known: npt.NDArray[np.int8], files: npt.NDArray[np.int64], tell: Callable[[int], bool]
) -> npt.NDArray[np.bool_]:
    """Tell what is true of some files, each told once.

    Args:
        known: what was told so far, of all files.
        files: the files.
        tell: tells it of one.
    """
    for file in files[known[files] == _UNKNOWN].tolist():
        known[file] = _YES if tell(file) else _NO
    are: npt.NDArray[np.bool_] = known[files] == _YES
    return are


_of_views: WeakKeyDictionary[Snapshot, RouteFiles] = WeakKeyDictionary()


def route_files_of(snapshot: Snapshot) -> RouteFiles:
    """Return what is kept for a snapshot, made once for each."""
    if (files := _of_views.get(snapshot)) is None:
        files = _of_views[snapshot] = RouteFiles(snapshot)
    return files
