"""Finds the routes that handle a request: `GET /users/12` meets `/users/{id}`, whatever framework declares it.

A route is told by its template: a text in quotes with segments, some of which are placeholders. It may begin where a
template that stands over it in the same file ends, such as that of a controller, and behind a prefix that the request
has and the file does not say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cairn import waiting
from cairn.index.snapshot import Snapshot
from cairn.search.exact import LineMatch
from cairn.search.filters import Filtered, filter_files
from cairn.search.library import Library, read_files
from cairn.source.languages import BY_NAME
from cairn.source.roles import FOREIGN, Role
from cairn.source.terms import known_hash, terms_of_word
from cairn.source.text import raw_words

_MAX_REQUESTS, _MAX_SEGMENTS = 3, 12
_MAX_FILES, _MAX_ROUTES = 16, 3
_MAX_TEMPLATES = 500  # of one file
_MAX_BYTES, _MAX_LINE = 500_000, 1_000  # of a file, and characters of a line, that people wrote
_MINOR_FACTOR = 0.01
_MINOR = Role.EXAMPLE | Role.DOCS | FOREIGN

_NO_ROUTES = frozenset({"sql", "graphql", "protobuf"})  # languages of code that declare none

_METHODS = "GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS"
_PATH = r"(/[^\s\"'`?#<>()|]{0,500})"
# What a log, a browser or somebody says: a method and a path or an address.
_REQUEST = re.compile(rf"\b({_METHODS})[\"']?:?\s{{1,3}}[\"']?(?:https?://[^\s/\"']{{1,200}})?{_PATH}")
# An address in a command; it begins where a word does, so that long ones are read once.
_ADDRESS = re.compile(rf"(?<![\w.:/-])(?:https?://)?[\w-][\w.-]{{0,200}}(?::\d{{1,5}})?{_PATH}")
_CURL_METHOD = re.compile(rf"(?:-X|--request)[ =]?[\"']?({_METHODS})\b")
_ADDRESS_ALONE = re.compile(rf"(?:https?://[^\s/\"']{{1,200}})?{_PATH}(?:[?#]\S*)?")

_TEMPLATE = re.compile(
    rf"[\"'`]\^?(?:(?:{_METHODS}) )?([\w/:{{<\[*][^\"'`\s]{{0,200}})[\"'`]|(?<=[\s(]):(\w{{1,80}})\b"
)
# A placeholder of some framework: `{id}`, `:id`, `<int:id>`, `[id]`, `(?P<id>\d+)`, `*`.
_PLACEHOLDER = re.compile(r"\{.*\}|:\w.*|<.*>|\[.*\]|\(.*\)|\*\w*|\$.*")
_HAS_PLACEHOLDER = re.compile(r"[:{<\[(*$]")
_BEFORE_SEGMENT = frozenset("/\"'`:^")  # in a template
# What declares the routes of a resource: also those of one of its members.
_RESOURCE = re.compile(r"(?i)resources?\b")
_GROUP = re.compile(r"\((?:\?P?<\w+>|\?:)?[^()]*\)[?*+]?")
# What declares a route, and what may where the text has a slash or a placeholder; a client that sends a request has the
# same texts.
_DECLARES = re.compile(
    r"(?i)\b(?:routes?|routers?|(?:re_)?path|url|resources?|group|prefix|mount|scope|namespace|controller|blueprint"
    r"|endpoint)\b|(?-i:Route|Mapping|Controller|Map[A-Z]|Handle(?:Func)?\b|Http[A-Z])"
    rf"|\b(?:{_METHODS})\b"
)
_MAY_DECLARE = re.compile(r"(?i)^\s*(?:@|\[|#\[)|\b(?:app|api|http|mux|server|handle)\b")
_HAS_METHOD = re.compile(_METHODS, re.IGNORECASE)  # also in a name: `HttpGet`
_SENDS = re.compile(r"(?i)\b(?:fetch|axios|request|client|await|curl|assert|expect|perform|superagent)\b")
_MARKS, _MAX_BELOW = ("@", "[", "#["), 12
_BEGINS = re.compile(
    r"^\s*(?:(?:export|public|private|protected|internal|static|async|pub)\s)*(?:def|fn|func|fun|function|class)\b"
    r"|^\s*(?:public|async)\b"
)
_VALUE = re.compile(r"\d|-|%|^[A-Z]")  # in what stands for something, and not in the name of a resource
_NUMBER = re.compile(r"\d+")
_LEADING = re.compile(r"(?i)api|v\d+|rest")
# What a segment counts that is the same, that fits a placeholder and looks like a value, and that fits it otherwise.
_SAME, _FITS, _MAY_FIT = 1.0, 0.9, 0.5
_OTHER_METHOD, _NO_METHOD, _SENT = 0.6, 0.9, 0.5
_LEAST, _ALIKE = 0.5, 0.1  # how well a route fits at least, and how much worse than the best others may


class RequestLine(NamedTuple):
    """A request: its method, empty if unknown, and the segments of its path."""

    method: str
    segments: tuple[str, ...]


class DeclaredRoute(NamedTuple):
    """A line that declares a route that fits a request, its template, and how well it does, 0 to 1."""

    line: LineMatch
    template: str
    share: float


class _Template(NamedTuple):
    """A template: its text, its segments, the number of its line, and the methods that this or the next line names."""

    text: str
    segments: tuple[str, ...]
    number: int
    methods: frozenset[str]
    is_sent: bool


def read_requests(text: str) -> list[RequestLine]:
    """Return the requests that a text says, each once; a path alone counts if it is all of the text."""
    if "/" not in text:
        return []
    found = [(match[1], match[2]) for match in _REQUEST.finditer(text)]
    if not found and "curl " in text:
        option = _CURL_METHOD.search(text)
        commands = "\n".join([line for line in text.split("\n") if "curl " in line])
        found = [(option[1] if option else "", match[1]) for match in _ADDRESS.finditer(commands)]
    if not found and (alone := _ADDRESS_ALONE.fullmatch(text.strip())) is not None:
        found = [("", alone[1])]
    requests: dict[str, RequestLine] = {}  # those that differ in numbers alone are one
    for method, path in found:
        segments = tuple(filter(None, path.rstrip(".,;:").split("/")))
        if 0 < len(segments) <= _MAX_SEGMENTS:
            requests.setdefault(_NUMBER.sub("0", f"{method} {path}"), RequestLine(method, segments))
    return list(requests.values())[:_MAX_REQUESTS]


def find_routes(library: Library, requests: Sequence[RequestLine], filters: Filtered) -> list[DeclaredRoute]:
    """Return the routes that fit the first of some requests that any fits, the best first."""
    for request in requests:
        files = _files_saying(library.snapshot, request.segments, filters)
        texts = read_files(library, files)
        found: list[DeclaredRoute] = []
        for file in files:
            waiting.check()
            found += _routes_in(file, texts[file].data, request)
        if found:
            grades = _grades_of(library.snapshot)
            found.sort(
                key=lambda one: (grades[one.line.file], -one.share, files.index(one.line.file), one.line.start_line)
            )
            return [one for one in found if one.share >= found[0].share - _ALIKE][:_MAX_ROUTES]
    return []


def _grades_of(snapshot: Snapshot) -> npt.NDArray[np.int64]:
    """Return how little files are meant: 0 for code, 1 for examples and the like, 2 for tests."""
    roles = snapshot.files.roles
    grades: npt.NDArray[np.int64] = np.where((roles & int(Role.TEST)) > 0, 2, (roles & int(_MINOR)) > 0)
    return grades


def _files_saying(snapshot: Snapshot, segments: Sequence[str], filters: Filtered) -> list[int]:
    """Return the files of code in which most segments of a path stand, the rare ones counting more."""
    total = np.zeros(len(snapshot.files.paths))
    for segment in dict.fromkeys(segments):
        terms = [own[-1] for word in raw_words(segment) if (own := terms_of_word(word)[1])]
        rows = snapshot.term_rows([known_hash(term) for term in terms])
        holds = np.bincount(rows.rows, minlength=snapshot.n_rows) >= max(1, len(set(terms)))
        own_files = np.unique(snapshot.file_of_row[holds])
        own_files = own_files[own_files >= 0]
        if len(own_files):
            total[own_files] += np.log1p(len(total) / len(own_files))
    total *= np.power(_MINOR_FACTOR, _grades_of(snapshot))
    names = snapshot.files.language_names
    is_code = np.array([name in BY_NAME and BY_NAME[name].group == "code" and name not in _NO_ROUTES for name in names])
    total[~is_code[snapshot.files.languages]] = 0
    if (chosen := filter_files(snapshot.files, filters)) is not None:
        inside = np.zeros(len(total), dtype=np.bool_)
        inside[chosen] = True
        total[~inside] = 0
    best = np.argsort(-total, kind="stable")[:_MAX_FILES]
    return [file for file in best.tolist() if total[file] > 0]


def _routes_in(file: int, data: bytes, request: RequestLine) -> Iterator[DeclaredRoute]:
    """Yield the routes of a file that fit a request."""
    text = data[:_MAX_BYTES].decode("utf-8", "replace")
    known = {segment.lower() for segment in request.segments}
    lower, telling = text.lower(), [one for one in known if not (one.isdigit() or _LEADING.fullmatch(one))]
    if not any(_is_in_template(lower, segment) for segment in telling):
        return
    lines = text.split("\n")
    templates = _templates_of(text, lines, known)
    prefixes = _Prefixes(templates)
    for one in templates:
        if (share := _fit(one, prefixes, request)) >= _LEAST:
            start = len("\n".join([*lines[: one.number - 1], ""]).encode("utf-8", "replace"))
            own = lines[one.number - 1].encode("utf-8", "replace")
            yield DeclaredRoute(LineMatch(file, one.number, _end_of(lines, one.number), start, own), one.text, share)


def _is_in_template(text: str, segment: str) -> bool:
    """Tell whether a segment stands somewhere behind a slash or a quote."""
    at = text.find(segment)
    while at >= 0:
        if text[at - 1 : at] in _BEFORE_SEGMENT:
            return True
        at = text.find(segment, at + 1)
    return False


def _end_of(lines: Sequence[str], number: int) -> int:
    """Return the number of the line in which what stands below a decorator or an attribute begins, or of this line."""
    if not any(line.lstrip().startswith(_MARKS) for line in lines[max(0, number - 2) : number]):
        return number
    below = range(number, min(number + _MAX_BELOW, len(lines)))
    return next((at + 1 for at in below if _BEGINS.search(lines[at])), number)


def _templates_of(text: str, lines: Sequence[str], known: Set[str]) -> list[_Template]:
    """Return what may be templates of routes with one of some segments, in lower case, or with a placeholder."""
    found: list[_Template] = []
    number, counted = 1, 0
    for match in _TEMPLATE.finditer(text):
        template = match[1] or match[2]
        is_told = "/" in template or _HAS_PLACEHOLDER.search(template) is not None
        if not is_told and template.lower() not in known:
            continue
        parts = _segments_of(template)
        if not any(part.lower() in known or _PLACEHOLDER.fullmatch(part) for part in parts):
            continue
        number, counted = number + text.count("\n", counted, match.start()), match.start()
        if len(lines[number - 1]) > _MAX_LINE or (around := _declaring(lines, number, is_told=is_told)) is None:
            continue
        methods = frozenset(name for name in _METHODS.split("|") if name.lower() in around.lower())
        found.append(_Template(template, parts, number, methods, _SENDS.search(around) is not None))
        if _RESOURCE.search(lines[number - 1]):
            found.append(found[-1]._replace(segments=(*parts, "*"), methods=frozenset()))
        if len(found) >= _MAX_TEMPLATES:
            break
    return found


def _segments_of(template: str) -> tuple[str, ...]:
    plain = _GROUP.sub("*", template).rstrip("$?/").replace("/?", "")
    return tuple(part for part in plain.split("/") if part)


def _declaring(lines: Sequence[str], number: int, *, is_told: bool) -> str | None:
    """Return the text that declares a template: its line, with the one before or after if need be; None if none does.

    Args:
        lines: of the file.
        number: of the template's line.
        is_told: whether the template looks like one by itself.
    """
    own, before = lines[number - 1], lines[number - 2] if number > 1 else ""
    after = lines[number] if number < len(lines) else ""
    for text in (own, f"{before}\n{own}", f"{own}\n{after}"):
        if _HAS_METHOD.search(text) and _DECLARES.search(text):
            return text
    if _DECLARES.search(own) or (is_told and _MAY_DECLARE.search(own)):
        return own
    return f"{before}\n{own}" if _DECLARES.search(before) else None


class _Prefixes:
    """The templates of a file that end what stands before another one in a path."""

    def __init__(self, templates: Sequence[_Template]) -> None:
        self._templates = templates
        self._found: dict[tuple[str, ...], list[tuple[int, float, int, int]]] = {}

    def best(self, rest: tuple[str, ...], number: int) -> tuple[float, int, int]:
        """Return the best of those over a line: what it counts, how many segments are the same, how many it has."""
        if rest not in self._found:
            matched = ((one, _match(one.segments, rest)) for one in self._templates)
            self._found[rest] = [(one.number, *fit, len(one.segments)) for one, fit in matched if fit is not None]
        above = (found[1:] for found in self._found[rest] if found[0] < number)
        return max(above, default=(0.0, 0, 0))


def _fit(template: _Template, prefixes: _Prefixes, request: RequestLine) -> float:
    """Return how well a route fits a request, with the best of the templates over it in its file as a prefix."""
    if (end := _match(template.segments, request.segments)) is None:
        return 0.0
    rest = request.segments[: len(request.segments) - len(template.segments)]
    value, n_same, covered = prefixes.best(rest, template.number) if rest else (0.0, 0, 0)
    if not end[1] + n_same:
        return 0.0
    uncovered = [one for one in rest[: len(rest) - covered] if not _LEADING.fullmatch(one)]
    share = (end[0] + value) / (len(template.segments) + covered + len(uncovered))
    if request.method:
        is_other = template.methods and request.method not in template.methods
        share *= _OTHER_METHOD if is_other else 1.0 if template.methods else _NO_METHOD
    return share * (_SENT if template.is_sent else 1.0)


def _match(template: Sequence[str], segments: Sequence[str]) -> tuple[float, int] | None:
    """Return what a template counts as the end of a path, and how many segments are the same; None if one differs."""
    if not template or len(template) > len(segments):
        return None
    value, n_same = 0.0, 0
    for own, asked in zip(template, segments[-len(template) :], strict=True):
        if own.lower() == asked.lower():
            value, n_same = value + _SAME, n_same + 1
        elif _PLACEHOLDER.fullmatch(own):
            value += _FITS if _VALUE.search(asked) else _MAY_FIT
        else:
            return None
    return value, n_same
