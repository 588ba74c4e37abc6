"""Reads routes that folders declare, and finds what handles a request in such a file.

`app/users/[id]/route.ts` answers `/users/12`, and so do, each in its framework, `src/routes/users/[id]/+server.ts`,
`server/routes/users/[id].get.ts`, `app/routes/users.$id.tsx` and `pages/users/_id.vue`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from cairn.search.request_text import METHODS, RequestLine
from cairn.search.route_templates import LEADING, LEFT_OUT, MAY_FIT, NO_METHOD, OTHER_METHOD, SAME, fit_of_variable

_CODE = re.compile(r"\.(?:[cm]?[jt]sx?|vue|svelte|astro|mdx)$")
_PAGES = (".vue", ".svelte", ".astro", ".mdx")
_SCRIPTS = re.compile(r"\.(?:php\d?|jspx?|aspx?|cgi)$")  # a request has the name of the file itself
_ROOTS = frozenset({"app", "pages", "routes", "functions", "api"})  # the last is itself a part of the path
_ON_SERVER = frozenset({"api", "server", "functions"})
# Names of files that stand for their folder; in `app`, all that handle requests are called so.
_OF_FOLDER = frozenset({"route", "page", "index", "_index", "+server", "+page", "+page.server"})
_BY_METHOD = re.compile(rf"\.({METHODS.lower()})$")
_MAX_TEMPLATES = 8  # of a path: each part that may be left out doubles them

_LAYOUT = re.compile(r"\+?layout|_layout")  # what surrounds the pages of a folder
# Parts of paths: what no request shows, what may be left out, and what stands for several segments.
_HIDDEN = re.compile(r"\([^$)]*\)|index|")
_OPTIONAL = re.compile(r"\[(\[[^.\]][^\]]*\])\]|\((\$\w*)\)")
_REST = re.compile(r"\[?\[\.\.\.[^\]]*\]\]?|\$")

_EXPORTS = r"\bexport\s+(?:async\s+)?(?:function\b\*?|const|let|var)\s*"
_METHOD = re.compile(rf"\b(?:{METHODS})\b", re.IGNORECASE)
_NAMED = re.compile(rf"{_EXPORTS}(?:onRequest)?({METHODS})\b|\bexport\s*(?:const\s*)?\{{([^}}]*)\}}", re.IGNORECASE)
# What a line may export that handles requests of several methods.
_READS, _WRITES, _ANY = "reads", "writes", "any"
_KINDS = {
    _READS: re.compile(rf"{_EXPORTS}(?:load|loader|getServerSideProps|getStaticProps)\b"),
    _WRITES: re.compile(rf"{_EXPORTS}actions?\b"),
    _ANY: re.compile(
        r"\bexport\s+default\b|\bmodule\.exports\s*=|\bexports\.handler\b|\bexport\s*\{[^}]*\bdefault\b"
        rf"|{_EXPORTS}(?:handlers?|ALL|onRequest|Route)\b"
    ),
}
_OF_PAGE = 0.01  # how much less a page counts than what loads its data
_SAFE = frozenset({"GET", "HEAD", "OPTIONS", ""})


class FolderRoute(NamedTuple):
    """A file whose path fits that of a request.

    `template` is the path that it answers. `share` tells how well it fits, 0 to 1. `method` is the only one that it
    handles by its name, empty if that says none.
    """

    file: int
    template: str
    share: float
    method: str


def folder_routes(paths: Sequence[str], request: RequestLine) -> Iterator[FolderRoute]:
    """Yield the files whose paths fit all of a request's path; whether they handle requests only their text tells."""
    telling = [one.lower() for one in request.segments if not LEADING.fullmatch(one)]
    asked = "/".join(request.segments)
    for number, path in enumerate(paths):
        lower = path.lower()
        if not ("[" in path or any(one in lower for one in telling)):
            continue
        if _SCRIPTS.search(lower):
            if f"/{lower}".endswith(f"/{asked.lower()}"):
                yield FolderRoute(number, f"/{asked}", SAME, "")
        elif ending := _CODE.search(path):
            method = _BY_METHOD.search(path[: ending.start()])
            stem = path[: method.start() if method else ending.start()]
            fits = ((_fit(one, request.segments), one) for one in _templates_of(stem.split("/")))
            share, best = max(fits, default=(0.0, ()))
            if share:
                yield FolderRoute(number, f"/{'/'.join(best)}", share, method[1].upper() if method else "")


def _templates_of(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the templates that a path without its ending may stand for: those below each of its roots."""
    *folders, name = names
    for place, root in enumerate(folders):
        if root not in _ROOTS or (root == "app" and name not in _OF_FOLDER) or _LAYOUT.fullmatch(name):
            continue
        parts = [*folders[place + (root != "api") :], *([] if name in _OF_FOLDER else [name])]
        if root == "routes":
            parts = [piece for part in parts for piece in _pieces(part)]
        elif root == "app":
            parts = [part for part in parts if not part.startswith("@")]
        elif root == "pages":
            parts = [f"[{part[1:]}]" if part.startswith("_") else part for part in parts]
        shown = [part for part in parts if not _HIDDEN.fullmatch(part)]
        choices = [((), (found[1] or found[2],)) if (found := _OPTIONAL.fullmatch(one)) else ((one,),) for one in shown]
        for chosen in list(product(*choices))[:_MAX_TEMPLATES]:
            yield tuple(part for one in chosen for part in one)


def _pieces(part: str) -> list[str]:
    """Return the parts of a path for which one name stands in `routes`, where dots part them and underscores hide."""
    pieces = re.split(r"(?<!\[)\.(?![^\[]*\])", part.removesuffix("+"))
    return [one.removesuffix("_").replace("[.]", ".") for one in pieces if not one.startswith("_") and one != "route"]


def _fit(template: Sequence[str], segments: Sequence[str]) -> float:
    """Return how well a template fits all segments of a path, 0 if not; `api` and versions may be missing in either."""
    best = 0.0
    shorter = _without_leading(template), _without_leading(segments)
    for own, asked in ((template, segments), (shorter[0], segments), (template, shorter[1])):
        n_missing = len(template) - len(own) + len(segments) - len(asked)
        best = max(best, _fit_whole(own, asked) - LEFT_OUT * n_missing)
    return best


def _without_leading(parts: Sequence[str]) -> Sequence[str]:
    n_leading = next((place for place, part in enumerate(parts) if not LEADING.fullmatch(part)), len(parts))
    return parts[n_leading:]


def _fit_whole(template: Sequence[str], segments: Sequence[str]) -> float:
    value, n_same = 0.0, 0
    for place, own in enumerate(template):
        if _REST.fullmatch(own):
            n_rest = len(segments) - place
            value += MAY_FIT * n_rest if n_rest else -LEFT_OUT
            break
        if place >= len(segments):
            return 0.0
        asked = segments[place]
        if own.lower() == asked.lower():
            value, n_same = value + SAME, n_same + (LEADING.fullmatch(own) is None)
        elif (fit := fit_of_variable(own, asked)) is not None:
            value, n_same = value + fit, n_same + (own[0] not in "[$")
        else:
            return 0.0
    else:
        if len(template) < len(segments):
            return 0.0
    return value / len(segments) if n_same else 0.0


def handler_in(path: str, route: FolderRoute, lines: Sequence[str], method: str) -> tuple[int, float] | None:
    """Return the line of a file that handles a request, and how well, 0 to 1; None if the file handles none.

    Args:
        path: of the file.
        route: what its path says.
        lines: of the file.
        method: of the request, empty if that is not known.
    """
    reads = method in _SAFE
    if _SCRIPTS.search(path):
        return 1, SAME
    if path.endswith(_PAGES):
        return 1, (SAME - _OF_PAGE if reads else OTHER_METHOD)
    own = _exports_of(lines)
    if not own:
        return None
    if route.method:
        return own.get(_ANY, min(own.values())), (SAME if method in ("", route.method) else OTHER_METHOD)
    for name in (method, "GET") if method == "HEAD" else (method,):
        if name in own:
            return own[name], SAME
    if (data := _READS if reads else _WRITES) in own:
        return own[data], SAME
    if _ANY not in own:
        return min(own.values()), (OTHER_METHOD if method else SAME)
    if _ON_SERVER.isdisjoint(path.split("/")):
        return own[_ANY], (SAME - _OF_PAGE if reads else OTHER_METHOD)
    says = not method or any(f"{quote}{method}" in line for line in lines for quote in "\"'`.")
    return own[_ANY], (SAME if says else NO_METHOD)


def _exports_of(lines: Sequence[str]) -> dict[str, int]:
    """Return the numbers of the lines that export what handles requests, by method or by what they do."""
    found: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        if "export" not in line:
            continue
        for name, pattern in _KINDS.items():
            if pattern.search(line):
                found.setdefault(name, number)
        for match in _NAMED.finditer(line):
            for name in _METHOD.findall(match[1] or match[2]):
                found.setdefault(name.upper(), number)
    return found
