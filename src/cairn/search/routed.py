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
MAX_FILES, MAX_FILES_OF_TEXT, _MAX_ROUTES = 64, 16, 3
_MAX_TEMPLATES = 500  # of one file
_MAX_BYTES, _MAX_LINE = 500_000, 1_000  # of a file, and characters of a line, that people wrote
# How the files count in which a segment stands: more if it is rare, if they are called like what declares routes, and
# less if it is a value.
_MINOR_FACTOR, _RARE, _OF_VALUE, _FOR_ROUTING = 0.01, 0.1, 0.2, 1.5
_ROUTING = re.compile(r"(?i)rout|url|controller|view|handler|endpoint|(?:^|/)(?:api|app|server|main|http|web|rest)\b")
_MINOR = Role.EXAMPLE | Role.DOCS | FOREIGN

_NO_ROUTES = frozenset({"sql", "graphql", "protobuf"})  # languages of code that declare none

_METHODS = "GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS"
_PATH = r"(/[^\s\"'`?#<>()|]{0,500})"
# What a log, a browser or somebody says: a method and a path or an address.
_REQUEST = re.compile(rf"\b({_METHODS})[\]\"']{{0,2}}:?\s{{1,3}}[\"']?(?:https?://[^\s/\"']{{1,200}})?{_PATH}")
# The fields of a log: `method=GET path=/users/12`, `"method": "GET", "url": "/users/12"`.
_FIELDS = re.compile(
    rf"(?i:method)[\"']?[=:] ?[\"']?({_METHODS})[\"']?[ ,;]{{1,3}}[\"']?(?i:path|url|uri)[\"']?[=:] ?[\"']?"
    rf"(?:https?://[^\s/\"']{{1,200}})?{_PATH}"
)
# An address in a command; it begins where a word does, so that long ones are read once.
_ADDRESS = re.compile(rf"(?<![\w.:/-])(?:https?://)?[\w-][\w.-]{{0,200}}(?::\d{{1,5}})?{_PATH}")
_CURL_METHOD = re.compile(rf"(?:-X|--request)[ =]?[\"']?({_METHODS})\b")
_ADDRESS_ALONE = re.compile(rf"(?:https?://[^\s/\"']{{1,200}})?{_PATH}(?:[?#]\S*)?")

# A template in quotes, the name of a resource of Rails, or a decorator that has no template of its own.
_TEMPLATE = re.compile(
    rf"[\"'`]\^?(?:(?:{_METHODS}) )?([\w/:{{<\[*][^\"'`\s]{{0,200}})[\"'`]"
    r"|\b(?:resources?|namespace|scope|get|post|put|patch|delete)[ (]:(\w{1,80})\b"
    r"|(@(?:\w{1,80}\.)?(?i:get|post|put|patch|delete)(?:Mapping)?(?:\((?:\"\"|'')?[,)]|$))",
    re.MULTILINE,
)
# A placeholder of some framework: `{id}`, `:id`, `<int:id>`, `[id]`, `(?P<id>\d+)`, `*`.
_PLACEHOLDER = re.compile(r"\{.*\}|:\w.*|<.*>|\[.*\]|\(.*\)|\*\w*|\$.*")
_HAS_PLACEHOLDER = re.compile(r"[:{<\[(*$]")
_BEFORE_SEGMENT = frozenset("/\"'`:^")  # in a template
# What declares the routes of a resource, also those of one of its members, before its name.
_RESOURCE = re.compile(r"\b(?:resources?|Route::(?:apiR|r)esources?)\s*\(?\s*[\"':]?$")
_GROUP = re.compile(r"\((?:\?P?<\w+>|\?:)?[^()]*\)[?*+]?")
# What declares a route; where the text has a slash or a placeholder, less tells. What stands before others in a path.
_ROUTERS = (
    r"\b(?i:routes?|routers?|resources?|group|prefix|mount|scope|namespace|controller|blueprint|endpoint)\b"
    r"|\b(?:re_)?path\(|\burl\(|Route|Mapping|Controller|Map[A-Z]|Handle(?:Func)?\b|Http[A-Z]"
    r"|@(?:Path|Get|Post|Put|Patch|Delete)\b|\b(?:get|post|put|patch|delete)[ (]:"
)
_DECLARES = re.compile(_ROUTERS)
_MAY_DECLARE = re.compile(
    rf"{_ROUTERS}|(?i:\b(?:{_METHODS})\b|\b(?:path|url|app|api|http|mux|server|handle)\b|^\s*(?:@|\[|#\[))"
)
_PREFIXES = re.compile(
    r"(?i)\b(?:\w*group|\w*prefix|scope|namespace|controller|blueprint|mount|nest|resources?|subrouter)\b"
    r"|(?-i:RequestMapping|\[Route|@Path|@Route|APIRouter)"
)
_HAS_METHOD = re.compile(_METHODS, re.IGNORECASE)  # also in a name: `HttpGet`
# What sends a request, or leads a browser to a page: by what stands before the template, and anywhere beside it.
_SENDS_BEFORE = re.compile(
    r"(?i)(?:\b(?:href|action|src|to|from)\s*=\s*\{?|\b(?:redirect\w*|reverse|url_for|navigate|push|open|visit|goto)\s*\(?"
    r"|\b(?:api|https?|client|service|axios|request|requests|session|conn|cy|page|\$|ky|got|this)\.(?:\w+\.)*"
    r"(?:get|post|put|patch|delete|head|options|request)(?:<[^>]*>)?\()\s*$"
)
_SENDS = re.compile(r"(?i)\b(?:fetch|axios|request|client|await|curl|assert|expect|perform|superagent)\b")
_CLIENTS = re.compile(r"(?:^|/)(?:client|frontend|cypress|assets|static|e2e|ui)/|\.(?:tsx|jsx|vue|svelte|html)$")
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
_OTHER_METHOD, _NO_METHOD, _SENT, _LEFT_OUT = 0.6, 0.9, 0.5, 0.02
_NAMED_LIKE = re.compile(r"\bclass\s+(\w+?)Controller\b")  # what ASP.NET's `[controller]` stands for
_LINES_TO_CLASS = 6
_MAX_DEPTH = 6  # of groups in groups
_NONE, _IN_PATH = (0.0, 0, 0), 0.8  # no prefix; what a segment counts that only the path of the file has
_LEAST, _ALIKE = 0.45, 0.1  # how well a route fits at least, and how much worse than the best others may


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
    """A template: its text, its segments, the number of its line, and the methods that its line or one beside it names.

    `is_prefix`: what stands below it may begin where it ends. `is_sent`: it belongs to a request, not to a route.
    """

    text: str
    segments: tuple[str, ...]
    number: int
    methods: frozenset[str]
    is_sent: bool
    is_prefix: bool


def read_requests(text: str) -> list[RequestLine]:
    """Return the requests that a text says, each once; a path alone counts if it is all of the text."""
    if "/" not in text:
        return []
    found = [(match[1], match[2]) for pattern in (_REQUEST, _FIELDS) for match in pattern.finditer(text)]
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


def find_routes(
    library: Library, requests: Sequence[RequestLine], filters: Filtered, n_files: int = MAX_FILES
) -> list[DeclaredRoute]:
    """Return the routes that fit the first of some requests that any fits, the best first.

    Args:
        n_files: how many files are read for each request at most.
    """
    snapshot = library.snapshot
    for request in requests:
        files = _files_saying(snapshot, request.segments, filters)[:n_files]
        texts = read_files(library, files)
        is_minor = _are_minor(snapshot)
        found: dict[tuple[int, int], DeclaredRoute] = {}  # by file and line
        for file in files:
            waiting.check()
            for one in _routes_in(file, snapshot.files.paths[file], texts[file].data, request):
                place = file, one.line.start_line
                if place not in found or found[place].share < one.share:
                    found[place] = one
        if found:
            order = {file: place for place, file in enumerate(files)}
            best = sorted(
                found.values(),
                key=lambda one: (is_minor[one.line.file], -one.share, order[one.line.file], one.line.start_line),
            )
            return [one for one in best if one.share >= best[0].share - _ALIKE][:_MAX_ROUTES]
    return []


def _are_minor(snapshot: Snapshot) -> npt.NDArray[np.bool_]:
    """Tell which files are examples, clients and the like."""
    is_client = np.array([_CLIENTS.search(path) is not None for path in snapshot.files.paths], dtype=np.bool_)
    is_minor: npt.NDArray[np.bool_] = is_client | ((snapshot.files.roles & int(_MINOR)) > 0)
    return is_minor


def _files_saying(snapshot: Snapshot, segments: Sequence[str], filters: Filtered) -> list[int]:
    """Return the files of code in which most segments of a path stand, those first that are called like routers.

    None are tests. What looks like a value says little: it stands nowhere, or in tests.
    """
    paths = snapshot.files.paths
    total = np.zeros(len(paths))
    for segment in dict.fromkeys(segments):
        terms = [own[-1] for word in raw_words(segment) if (own := terms_of_word(word)[1])]
        rows = snapshot.term_rows([known_hash(term) for term in terms])
        holds = np.bincount(rows.rows, minlength=snapshot.n_rows) >= max(1, len(set(terms)))
        own_files = np.unique(snapshot.file_of_row[holds])
        own_files = own_files[own_files >= 0]
        if len(own_files):
            total[own_files] += (1 + _RARE * np.log1p(len(total) / len(own_files))) * (
                _OF_VALUE if _VALUE.search(segment) else 1.0
            )
    declaring = np.array([_ROUTING.search(path) is not None for path in paths], dtype=np.bool_)
    total *= np.where(declaring, _FOR_ROUTING, 1.0)
    total[_are_minor(snapshot)] *= _MINOR_FACTOR
    total[(snapshot.files.roles & int(Role.TEST)) > 0] = 0
    names = snapshot.files.language_names
    is_code = np.array([name in BY_NAME and BY_NAME[name].group == "code" and name not in _NO_ROUTES for name in names])
    total[~is_code[snapshot.files.languages]] = 0
    if (chosen := filter_files(snapshot.files, filters)) is not None:
        inside = np.zeros(len(total), dtype=np.bool_)
        inside[chosen] = True
        total[~inside] = 0
    best = np.argsort(-total, kind="stable")[:MAX_FILES]
    return [file for file in best.tolist() if total[file] > 0]


def _routes_in(file: int, path: str, data: bytes, request: RequestLine) -> Iterator[DeclaredRoute]:
    """Yield the routes of a file that fit a request. Where another file has the prefix, the path often says it."""
    text = data[:_MAX_BYTES].decode("utf-8", "replace")
    known = {segment.lower() for segment in request.segments}
    lower, telling = text.lower(), [one for one in known if not (one.isdigit() or _LEADING.fullmatch(one))]
    words = {_folded(word) for raw in raw_words(path) for word in terms_of_word(raw)[0]}
    may_say = (_folded(one) in words or _is_in_template(lower, one) or f"{one}controller" in lower for one in telling)
    if not any(may_say):
        return
    lines = text.split("\n")
    templates = _templates_of(text, lines, known)
    prefixes = _Prefixes(templates, words)
    for one in templates:
        if (share := _fit(one, prefixes, request)) >= _LEAST:
            start = len("\n".join([*lines[: one.number - 1], ""]).encode("utf-8", "replace"))
            own = lines[one.number - 1].encode("utf-8", "replace")
            yield DeclaredRoute(LineMatch(file, one.number, _end_of(lines, one.number), start, own), one.text, share)


def _folded(word: str) -> str:
    return word.lower().removesuffix("s")


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
        template = match[1] or match[2] or ""
        is_told = bool(match[2] or match[3]) or "/" in template or _HAS_PLACEHOLDER.search(template) is not None
        if not is_told and template.lower() not in known:
            continue
        number, counted = number + text.count("\n", counted, match.start()), match.start()
        if "[controller]" in template:
            template = template.replace("[controller]", _class_below(lines, number))
        parts = _segments_of(template)
        may_fit = not template or any(part.lower() in known or _PLACEHOLDER.fullmatch(part) for part in parts)
        if not may_fit or len(own := lines[number - 1]) > _MAX_LINE:
            continue
        if (around := _declaring(lines, number, is_told=is_told)) is None:
            continue
        before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        methods = frozenset(name for name in _METHODS.split("|") if name.lower() in around.lower())
        is_sent = "${" in template or bool(_SENDS_BEFORE.search(before) or _SENDS.search(around))
        is_prefix = bool(template) and _PREFIXES.search(own) is not None
        found.append(_Template(template, parts, number, methods, is_sent, is_prefix))
        if template and _RESOURCE.search(text[max(0, match.start() - _MAX_LINE) : match.start(1 if match[1] else 2)]):
            found.append(found[-1]._replace(segments=(*parts, "*"), methods=frozenset()))
        if len(found) >= _MAX_TEMPLATES:
            break
    return found


def _class_below(lines: Sequence[str], number: int) -> str:
    """Return what the class below a line is called, without `Controller`."""
    found = (_NAMED_LIKE.search(line) for line in lines[number : number + _LINES_TO_CLASS])
    return next((match[1] for match in found if match), "*")


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
    declares = _MAY_DECLARE if is_told else _DECLARES
    own, before = lines[number - 1], lines[number - 2] if number > 1 else ""
    after = lines[number] if number < len(lines) else ""
    for text in (own, f"{before}\n{own}", f"{own}\n{after}"):
        if _HAS_METHOD.search(text) and declares.search(text):
            return text
    if declares.search(own):
        return own
    return f"{before}\n{own}" if _DECLARES.search(before) else None


class _Prefixes:
    """What may stand before a template in a path: the templates of groups over it in its file, one within the other."""

    def __init__(self, templates: Sequence[_Template], words: Set[str]) -> None:
        self._groups = [one for one in templates if one.is_prefix]
        self._words = words  # of the path of the file
        self._best: dict[tuple[int, int], tuple[float, int, int]] = {}

    def best(self, rest: tuple[str, ...], number: int, depth: int = _MAX_DEPTH) -> tuple[float, int, int]:
        """Return what the best of those over a line count, how many segments are the same, and how many they have.

        What is but a placeholder says nothing unless another group stands before it.
        """
        if not rest or not depth:
            return 0.0, 0, 0
        if (key := (len(rest), number)) not in self._best:
            in_path = (_IN_PATH, 1, 1) if _folded(rest[-1]) in self._words else _NONE
            chains = (self._chain(one, rest, depth) for one in self._groups if one.number < number)
            self._best[key] = max([in_path, *chains])
        return self._best[key]

    def _chain(self, group: _Template, rest: tuple[str, ...], depth: int) -> tuple[float, int, int]:
        if (own := _match(group.segments, rest)) is None:
            return _NONE
        n_own = len(group.segments)
        value, n_same, covered = self.best(rest[: len(rest) - n_own], group.number, depth - 1)
        return (own[0] + value, own[1] + n_same, n_own + covered) if own[1] + n_same else _NONE


def _fit(template: _Template, prefixes: _Prefixes, request: RequestLine) -> float:
    """Return how well a route fits a request, with groups over it in its file where they make it fit better."""
    own = _match(template.segments, request.segments) if template.segments else (0.0, 0)
    if own is None:
        return 0.0
    rest = request.segments[: len(request.segments) - len(template.segments)]
    shares = []
    for value, n_same, covered in (_NONE, prefixes.best(rest, template.number)):
        if own[1] + n_same:
            uncovered = rest[: len(rest) - covered]
            n_left = sum(_LEADING.fullmatch(one) is None for one in uncovered)
            share = (own[0] + value) / (len(template.segments) + covered + n_left)
            shares.append(share - _LEFT_OUT * (len(uncovered) - n_left))
    share = max(shares, default=0.0)
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
            value, n_same = value + _SAME, n_same + (_LEADING.fullmatch(own) is None)
        elif _PLACEHOLDER.fullmatch(own):
            value += _FITS if _VALUE.search(asked) else _MAY_FIT
        else:
            return None
    return value, n_same
