"""Reads the templates of routes in code, whatever framework they are for.

A template is a text in quotes with segments, some of which are placeholders. It may begin where those of groups over it
in the same file end, such as that of a controller.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from cairn.search.request_text import METHODS

MAX_LINE = 1_000  # characters that people write in a line
_MAX_TEMPLATES = 500  # of one file
_MAX_HEAD = 5_000  # bytes before what names a package

# A template in quotes, the name of a resource of Rails, or a decorator that has no template of its own.
_QUOTED = rf"[\"'`]\^?(?:(?:{METHODS}) )?((?=[\w/:{{<\[*])(?>\{{[^{{}}\"'`\n]{{0,80}}\}}|[^\"'`\s]){{1,200}})[\"'`]"
_TEMPLATE = re.compile(
    rf"{_QUOTED}"
    r"|\b(?:resources?|namespace|scope|get|post|put|patch|delete)[ (]:(\w{1,80})\b"
    r"|(@(?:\w{1,80}\.)?(?i:get|post|put|patch|delete)(?:Mapping)?(?:\((?:\"\"|'')?[,)]|$)"
    r"|\.(?:(?i:get|post|put|patch|delete)|route|Combo)\((?:\"\"|''),)",
    re.MULTILINE,
)
_IN_QUOTES = re.compile(_QUOTED)  # alone, which takes a quarter of the time
_MARKS_OF_OTHERS = ("@", " :", "(:", '("",', "('',")  # in lines with one that is not in quotes
# What begins a placeholder, an empty template, or what needs none.
_MARKS = (
    rb"\((?:\"\"|''),|/[:{<\[($]|[\"'`]\^?/?[:{<\[*]|\(\?P?<|[\"'`]/[\"'`]|@(?:\w+\.)?(?:get|post|put|patch|delete)"
    rb"|\b(?:resources?|namespace|scope|get|post|put|patch|delete)[ (]:\w"
)
_OF_CLASS = rb"\[controller\]"  # what stands for a segment that the name of a class says
# What paths of interfaces begin with: `api`, `rest`, a version, and, as in Kubernetes, `apis` and the name of a group.
LEADING = re.compile(r"(?i)apis?|v\d+(?:(?:alpha|beta)\d*)?|rest|[a-z][a-z\d-]*(?:\.[a-z][a-z\d-]*){2,}")
# A placeholder of some framework: `{id}`, `:id`, `<int:id>`, `[id]`, `(?P<id>\d+)`, `*`.
PLACEHOLDER = re.compile(r"\{.*\}|:\w.*|<.*>|\[.*\]|\(.*\)|\*\w*|\$.*")
# One that is a part of a segment, such as `:id.json` or `@{name}`.
VARIABLE = re.compile(r"\{[^{}]*\}|:\w+|<[^<>]*>|\[[^\[\]]*\]|\$\w+")
_HAS_PLACEHOLDER = re.compile(r"[:{<\[(*$]")
_LITERAL = re.compile(r"[\w.@~,+!-]*")  # what may stand around a placeholder in a segment
# What declares the routes of a resource, also those of one of its members, before its name.
_RESOURCE = re.compile(
    r"\b(?:resources?|Route::(?:apiR|r)esources?)\s*\(?\s*[\"':]?$|\b\w*router\w*\.register\s*\(\s*r?[\"']$"
)
# What a text is said to be, before it: `endpoint="user"` is but a name, unlike `prefix="user"` and `value = "user"`.
_SAID_FOR, _MOST_SAID_FOR = re.compile(r"\b(\w+)\s*(?:=>?|:)\s*\[?\s*$"), 60
_OF_PATHS = re.compile(r"(?i)path|url|uri|prefix|route|mount|pattern|template|rule|value|resource|group|scope")
_NESTED = re.compile(r"\w+(?:\.\w+){1,4}")  # a resource of Laravel in another: `albums.songs`
_MAY_END_BEFORE = re.compile(r"/(?::\w+\?|\{\w+\?\}|\[:?\w+\])$")  # its last segment may be left out
_LEFT_OUT_ENDS = ("?", "?}", "]")  # how it ends then, told quickly
_QUERY = re.compile(r"(?<!\()\?<.*")
_GROUP = re.compile(r"\((?:\?P?<\w+>|\?:)?[^()]*\)[?*+]?")
# What declares a route; where the text has a slash or a placeholder, less tells. What stands before others in a path.
_ROUTERS = (
    r"\b(?i:routes?|routers?|resources?|group|prefix|mount|scope|namespace|controller|blueprint|endpoint)\b"
    r"|^\s*(?:get|post|put|patch|delete|match|live)\s+[\"']|\b(?:re_)?path\(|\burl\(|outer\w*\.register\(|Route|Mapping|Controller|Map(?:Get|Post|Put|Patch|Delete|Methods|Group|Hub|Controller|Area|Fallback)|Handle(?:Func)?\b|Http[A-Z]"
    r"|@(?:Path|Get|Post|Put|Patch|Delete)\b|\b(?:get|post|put|patch|delete)[ (]:|\.(?:GET|POST|PUT|PATCH|DELETE)\("
)
_DECLARES = re.compile(_ROUTERS)
_MAY_DECLARE = re.compile(
    rf"{_ROUTERS}|(?i:\b(?:{METHODS})\b|\b(?:path|url|app|api|http|mux|server|handle)\b|^\s*(?:@|\[|#\[))"
)
_DECLARED = re.compile(rf"{_ROUTERS}|@\w+\.\w+\(|\.(?i:{METHODS}|all)\(|^\s*(?i:{METHODS}) ", re.MULTILINE)
_PREFIXES = re.compile(
    r"(?i)\b(?:\w*group|\w*prefix|scope|namespace|controller|blueprint|mount|nest|resources?|subrouter|include)\b"
    r"|(?-i:RequestMapping|\[Route|@Path|@Route|APIRouter)"
)
# A method, also in names of attributes: `HttpGet`, `MapPost`, `@DeleteMapping`.
_METHOD = re.compile(rf"\b(?i:({METHODS}))\b|(?:Http|Map|On)({METHODS.title()})\b|\b({METHODS.title()})Mapping\b")
# What sends a request, leads a browser to a page or guards routes: before the template, and anywhere around it.
_SENDS_BEFORE = re.compile(
    r"(?i)(?:\b(?:href|action|src|to|from)\s*=\s*\{?|\b(?:redirect\w*|reverse|url_for|navigate\w*|push|open|visit|goto)\s*\(?"
    r"|[=!]=|\b(?:api|https?|client|service|axios|request|requests|session|conn|cy|page|\$|ky|got|this\.\w*(?i:http|client|api|axios|service)\w*)\.(?:\w+\.)*"
    r"(?:get|post|put|patch|delete|head|options|request)(?:<[^>]*>)?\("
    r"|\b(?:\w*_)?(?:(?:new|send|make|do|build|create|perform|execute|api|auth|http|rest)_?request(?:[A-Z_]\w*)?"
    r"|http_?request_?message|call_?api|api_?call)\([^\"'`()\n]{0,80}(?:[\"']\w{3,7}[\"'], ?)?"
    r"|\bawait\s[^()\n]{0,80}\(|\.(?:get|post|put|patch|delete|send)\w{0,40}async(?:<[^<>\n]{0,80}>)?\()\s*$"
)
_SENDS = re.compile(
    r"(?i)\b(?:fetch|axios|httpx|aiohttp|reqwest|httparty|faraday|resttemplate|webclient|httpoison|request|client|curl|assert|expect|perform|superagent|forRoutes|(?:ant|request|mvc)Matchers)\b"
)
_OF_ROUTER = re.compile(rf"\.(?:{METHODS})\(\s*$")  # before the template, in Go, whose clients have no such methods
# What declares a route whose methods stand below it, in Express a line for each, and how many lines may.
_CHAIN_BEGINS, _LINES_OF_CHAIN = re.compile(r"(?:\.route|\.Combo)\("), 12
_MOUNTS = re.compile(r"(?i)\b(?:include_router|register_blueprint|mount|nest|use)\(")
# What a browser shows at a path, in the line of the path or the two after it.
_SHOWS = re.compile(r"\b(?:component|loadComponent|loadChildren|element|redirectTo)\b\s*[:=]|<Route\b")
_COMMENT = re.compile(r"\s*(?:#(?!\[)|//|/?\*|--|<!--)")
SENT, _PLAIN = 0.5, 0.85  # what such a template counts, and one with no word of routers beside it
_NAMED_LIKE = re.compile(r"\bclass\s+(\w+?)Controller\b")  # what ASP.NET's `[controller]` stands for
_LINES_TO_CLASS, _LINES_OF_PAGE = 6, 2
_ASSIGNED = re.compile(r"\s*(?:\w+\s+)?(\w+)(?:\s*:\s*[\w.]+)?\s*:?=(?!=)")  # what a group is called


class RouteTemplate(NamedTuple):
    """A template: its text, its segments, the number of its line, and the methods that its line or one beside it names.

    `weight`: what it counts, as it may be that of a request, or no more than a text. `is_shown`: it is the path of a
    page in a browser. `is_prefix`: what stands below it may begin where it ends.
    """

    text: str
    segments: tuple[str, ...]
    number: int
    methods: frozenset[str]
    weight: float
    is_shown: bool
    is_prefix: bool


class FileTemplates:
    """The templates of a file, found once for all requests; what is around one is read when a request first fits it.

    Threads may share it: what two of them read at once is the same.

    Args:
        data: the file.
        numbers: the lines in which they are found; None: in all.

    Attributes:
        lines: those of the file.
    """

    def __init__(self, data: bytes, numbers: Iterable[int] | None = None) -> None:
        text = data.decode("utf-8", "replace")
        self.lines = text.split("\n")
        self._is_go = data.startswith(b"package ") or b"\npackage " in data[:_MAX_HEAD]
        self._places: list[tuple[int, int]] = []  # of each template: the number of its line, and where it begins there
        self._parts: list[tuple[str, ...]] = []  # its segments, in lower case
        self._with_segment: defaultdict[str, list[int]] = defaultdict(list)  # those that have a segment as it is
        self._others: list[int] = []  # those of placeholders alone
        self._may_be_shorter: set[int] = set()  # those whose last segment may be left out
        self._read: dict[int, tuple[RouteTemplate, ...]] = {}
        found = sorted(_templates_in(text, self.lines)) if numbers is None else _templates_on(numbers, self.lines)
        for number, start, template in found:
            self._add(number, start, template)

    @property
    def n_read(self) -> int:
        """Of how many templates it was read what is around them."""
        return len(self._read)

    def fitting(self, segments: Sequence[str], telling: Set[str] = frozenset()) -> list[RouteTemplate]:
        """Return what may be templates of routes that fit segments of a path in a row, perhaps behind or before others.

        Args:
            segments: of the path of a request.
            telling: those of which a template of the file must have one, as nothing else says that any fits.
        """
        segments = [segment.lower() for segment in segments]
        if telling:
            saying = sorted({place for part in telling for place in self._with_segment.get(part, ())})
            if not any(self._templates(place, segments) for place in saying):
                return []
        places = {place for part in segments for place in self._with_segment.get(part, ())}
        templates = (one for place in sorted(places.union(self._others)) for one in self._templates(place, segments))
        return list(islice(templates, _MAX_TEMPLATES))

    def _add(self, number: int, start: int, template: str) -> None:
        place, parts = len(self._places), tuple([part.lower() for part in without_lead(_segments_of(template))])
        self._places.append((number, start))
        self._parts.append(parts)
        for part in parts:  # also a placeholder: somebody may ask for `/users/{id}`
            self._with_segment[part].append(place)
        if all(map(_HAS_PLACEHOLDER.search, parts)):
            self._others.append(place)
        if _may_end_before(template):
            self._may_be_shorter.add(place)

    def _templates(self, place: int, segments: Sequence[str]) -> tuple[RouteTemplate, ...]:
        """Return the templates at a place, none if that there does not fit segments in lower case."""
        parts = self._parts[place]
        if not _fits_in_a_row(parts, segments) and not (
            place in self._may_be_shorter and _fits_in_a_row(parts[:-1], segments)
        ):
            return ()
        if (found := self._read.get(place)) is None:
            number, start = self._places[place]
            match = _TEMPLATE.match(self.lines[number - 1], start)
            found = () if match is None else tuple(_templates_at(match, self.lines, number, self._is_go))
            self._read[place] = found
        return found


def _templates_in(text: str, lines: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Yield what may be templates in a file: the number of the line, where it begins there, and its text.

    Most are in quotes and found in all of the file at once, for none goes over the end of a line.
    """
    has_others = {number for mark in _MARKS_OF_OTHERS for number in _lines_with(mark, text)}
    number, start, end, is_read = 0, -1, -1, False  # of the line in which the last one was
    for match in _IN_QUOTES.finditer(text):
        if match.start() > end:
            number += text.count("\n", max(start, 0), match.start()) + (start < 0)
            start, end = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.start())
            end = len(text) if end < 0 else end
            is_read = number not in has_others and _may_have_any(lines[number - 1])
        if is_read and (template := _text_of(match, lines, number)) is not None:
            yield number, match.start() - start, template
    yield from _templates_on(has_others, lines)


def _templates_on(numbers: Iterable[int], lines: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Yield what may be templates on some lines of a file, as `_templates_in` does."""
    for number in numbers:
        line = lines[number - 1]
        for match in _TEMPLATE.finditer(line) if _may_have_any(line) else ():
            if (template := _text_of(match, lines, number)) is not None:
                yield number, match.start(), template


def _may_have_any(line: str) -> bool:
    return len(line) <= MAX_LINE and not _COMMENT.match(line)


def _lines_with(mark: str, text: str) -> Iterator[int]:
    """Yield the numbers of the lines of a text that have a mark."""
    number, before, place = 1, 0, text.find(mark)
    while place >= 0:
        number, before = number + text.count("\n", before, place), place
        yield number
        end = text.find("\n", place)
        place = text.find(mark, end) if end >= 0 else -1


def named_segments(segments: Sequence[str]) -> frozenset[str]:
    """Return those of some segments that are no numbers, in lower case."""
    return frozenset(segment.lower() for segment in segments if not segment.isdigit())


def fitting_once(data: bytes, segments: Sequence[str], telling: frozenset[str]) -> FileTemplates | None:
    """Return the templates of a file that may fit one request, by the lines in which they begin; None if none does.

    This takes less time than to find all of them, if nothing else will be asked.

    Args:
        data: the file.
        segments: of the path of the request.
        telling: as for `FileTemplates.fitting`.
    """
    if telling:
        saying = FileTemplates(data, _numbers_of(data, _beginnings(telling, _OF_CLASS)))
        if not saying.fitting(segments, telling):
            return None
    return FileTemplates(data, _numbers_of(data, _beginnings(named_segments(segments), _MARKS)))


def _numbers_of(data: bytes, pattern: Any) -> Iterator[int]:  # noqa: ANN401 - re2 ships no types
    """Yield the numbers of the lines in which a pattern is."""
    number, place = 1, 0
    while (match := pattern.search(data, place)) is not None:
        number += data.count(b"\n", place, match.start())
        yield number
        if (end := data.find(b"\n", match.start())) < 0:
            return
        number, place = number + 1, end + 1


@lru_cache(maxsize=16)  # for each file
def _beginnings(segments: frozenset[str], others: bytes) -> Any:  # noqa: ANN401 - re2 ships no types
    """Return what finds where one of some segments or something else begins."""
    return finder_of(segments, others + b"|[/\"'`:^](?:%b)") if segments else finder_of(segments, others)


def finder_of(segments: Set[str], pattern: bytes) -> Any:  # noqa: ANN401 - re2 ships no types
    """Return what finds a pattern in bytes, in any case; `%b` in it stands for one of some segments."""
    import re2  # noqa: PLC0415 - start-up time: only requests need it

    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.case_sensitive = False
    one = b"|".join(re2.escape(segment.encode("utf-8", "replace")) for segment in sorted(segments))
    return re2.compile(pattern.replace(b"%b", one), options)


def _text_of(match: re.Match[str], lines: Sequence[str], number: int) -> str | None:
    """Return the text of what may be a template, None if it is no more than a value or a text with values in it."""
    template: str = match[1] or (match[2] if match.re is _TEMPLATE else "") or ""
    if _NESTED.fullmatch(template) and _RESOURCE.search(match.string[: match.start(1)]):
        return template.replace(".", "/*/")
    if not _is_told(match, template):
        said_for = _SAID_FOR.search(match.string[: match.start()][-_MOST_SAID_FOR:])
        if template.isdigit() or _HAS_PLACEHOLDER.search(template) or (said_for and not _OF_PATHS.search(said_for[1])):
            return None
    return template.replace("[controller]", _class_below(lines, number)) if "[controller]" in template else template


def _is_told(match: re.Match[str], template: str) -> bool:
    """Tell whether a template looks like one by itself."""
    if "/" in template or (match.re is _TEMPLATE and (match[2] or match[3])):
        return True
    is_filled = match.string.endswith(("f", "F"), 0, match.start())  # as Python fills in values
    return not is_filled and _HAS_PLACEHOLDER.search(template) is not None


def _templates_at(match: re.Match[str], lines: Sequence[str], number: int, is_go: bool) -> Iterator[RouteTemplate]:
    """Yield the templates for which one stands, none if nothing declares it."""
    own, template = match.string, _text_of(match, lines, number)
    if template is None:
        return
    before, is_told = own[: match.start()], _is_told(match, match[1] or match[2] or "")
    parts = _segments_of(template)
    chained = _chained(lines, number) if _CHAIN_BEGINS.search(before) and not _METHOD.search(own) else ""
    if (around := _declaring(lines, number, is_told=is_told)) is None:
        return
    declared = around.replace(template, "") if template else around
    is_sent = "${" in template or (
        not (is_go and _OF_ROUTER.search(before)) and bool(_SENDS_BEFORE.search(before) or _SENDS.search(declared))
    )
    is_plain = (not chained and _DECLARED.search(around) is None) or _MOUNTS.search(around) is not None
    found = RouteTemplate(
        text=template,
        segments=parts,
        number=number,
        methods=frozenset(name.upper() for names in _METHOD.findall(chained or declared) for name in names if name),
        weight=SENT if is_sent else _PLAIN if is_plain else 1.0,
        is_shown=_SHOWS.search("\n".join(lines[number - 1 : number + _LINES_OF_PAGE])) is not None,
        is_prefix=bool(template) and _is_prefix(lines, number),
    )
    yield found
    line_before = lines[number - 2][-MAX_LINE:] if number > 1 else ""
    if template and _RESOURCE.search(f"{line_before}\n{own[: match.start(1 if match[1] else 2)]}"):
        for further in (("*",), ("*", "edit"), ("new",)):
            yield found._replace(segments=(*parts, *further), methods=frozenset())
    if _may_end_before(template):
        yield found._replace(segments=parts[:-1])


def _chained(lines: Sequence[str], number: int) -> str:
    """Return the lines below one that go on with it: `.get(show)` below `.route('/:id')`."""
    above, chained = lines[number - 1], []
    for line in lines[number : number + _LINES_OF_CHAIN]:
        goes_on = line.lstrip().startswith(".") or above.rstrip().endswith(".")
        if not goes_on or _CHAIN_BEGINS.search(line):
            break
        chained.append(line[:MAX_LINE])
        above = line
    return "\n".join(chained)


def _may_end_before(template: str) -> bool:
    """Tell whether the last segment of a template may be left out."""
    return template.endswith(_LEFT_OUT_ENDS) and _MAY_END_BEFORE.search(template) is not None


def without_lead(parts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the segments of a template without `api` and versions before others, which who asks may leave out."""
    n_leading = next((place for place, part in enumerate(parts) if not LEADING.fullmatch(part)), len(parts))
    return parts[n_leading:] or parts


def _fits_in_a_row(parts: Sequence[str], segments: Sequence[str]) -> bool:
    """Tell whether the segments of a template fit as many in a row of a path, both in lower case."""
    if not all(part in segments or _HAS_PLACEHOLDER.search(part) for part in parts):
        return False  # as most
    starts = range(len(segments) - len(parts) + 1)
    return any(all(map(_fits, parts, segments[start:])) for start in starts)


def _fits(own: str, asked: str) -> bool:
    return own == asked or stands_for(own, asked)


def stands_for(own: str, asked: str) -> bool:
    """Tell whether a segment of a template is a placeholder, or has some, for what a segment of a path is."""
    if _HAS_PLACEHOLDER.search(own) is None:
        return False
    literals = VARIABLE.split(own)
    if len(literals) > 1 and any(literals) and all(map(_LITERAL.fullmatch, literals)):
        return _stand_in([literal.lower() for literal in literals], asked.lower())
    return PLACEHOLDER.fullmatch(own) is not None


def _stand_in(literals: Sequence[str], text: str) -> bool:
    """Tell whether a text has some others in their order, with something between each and the next."""
    first, *middle, last = literals
    place, end = len(first), len(text) - len(last)
    if not (text.startswith(first) and text.endswith(last)):
        return False
    for literal in middle:
        if (found := text.find(literal, place + 1, end)) < 0:
            return False
        place = found + len(literal)
    return place < end


def name_of_group(line: str) -> str:
    """Return what a line assigns a group of routes to, empty if it does not."""
    name = assigned_name(line)
    return name if name and _PREFIXES.search(line) else ""


def assigned_name(line: str) -> str:
    """Return what a line assigns something to, empty if it does not."""
    match = _ASSIGNED.match(line)
    return match[1] if match else ""


def _is_prefix(lines: Sequence[str], number: int) -> bool:
    after = lines[number] if number < len(lines) else ""
    return _PREFIXES.search(lines[number - 1]) is not None or after.lstrip().startswith("include(")


def _class_below(lines: Sequence[str], number: int) -> str:
    """Return what the class below a line is called, without `Controller`."""
    found = (_NAMED_LIKE.search(line) for line in lines[number : number + _LINES_TO_CLASS])
    return next((match[1] for match in found if match), "*")


def _segments_of(template: str) -> tuple[str, ...]:
    if "(" in template or "?<" in template:
        template = _GROUP.sub("*", _QUERY.sub("", template))
    plain = template.rstrip("$?/").replace("/?", "")
    return tuple([part for part in plain.split("/") if part])


def _declaring(lines: Sequence[str], number: int, *, is_told: bool) -> str | None:
    """Return the text that declares a template: its line, with the one before or after if need be; None if none does.

    Args:
        lines: of the file.
        number: of the template's line.
        is_told: whether the template looks like one by itself.
    """
    own, before = lines[number - 1], lines[number - 2] if number > 1 else ""
    after = lines[number] if number < len(lines) else ""
    for around in ((own,), (before, own), (own, after)):
        said = [_says(line) for line in around]
        if any(one.method for one in said) and any(one.may_declare if is_told else one.declares for one in said):
            return "\n".join(around)
    said_here = _says(own)
    if said_here.may_declare if is_told else said_here.declares:
        return own
    return f"{before}\n{own}" if _says(before).declares and (is_told or _is_open(before)) else None


def _is_open(line: str) -> bool:
    """Tell whether a line is none by itself: what it begins goes on in the next one."""
    return line.rstrip().endswith(("(", "[", "{", ",", "\\"))


class _Said(NamedTuple):
    """What a line says: a method, a word of those that declare routes, and one of those that may."""

    method: bool
    declares: bool
    may_declare: bool


@lru_cache(maxsize=1_024)  # each template on a line, or beside it, asks
def _says(line: str) -> _Said:
    if len(line) > MAX_LINE:
        return _Said(False, False, False)
    return _Said(
        _METHOD.search(line) is not None, _DECLARES.search(line) is not None, _MAY_DECLARE.search(line) is not None
    )
