"""Reads the templates of routes in code, whatever framework they are for.

A template is a text in quotes with segments, some of which are placeholders. It may begin where those of groups over it
in the same file end, such as that of a controller.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from cairn.search.request_text import METHODS

MAX_LINE = 1_000  # characters that people write in a line
_MAX_TEMPLATES = 500  # of one file
_MAX_HEAD = 5_000  # bytes before what names a package

# A template in quotes, the name of a resource of Rails, or a decorator that has no template of its own.
_TEMPLATE = re.compile(
    rf"[\"'`]\^?(?:(?:{METHODS}) )?((?=[\w/:{{<\[*])(?>\{{[^{{}}\"'`\n]{{0,80}}\}}|[^\"'`\s]){{1,200}})[\"'`]"
    r"|\b(?:resources?|namespace|scope|get|post|put|patch|delete)[ (]:(\w{1,80})\b"
    r"|(@(?:\w{1,80}\.)?(?i:get|post|put|patch|delete)(?:Mapping)?(?:\((?:\"\"|'')?[,)]|$))",
    re.MULTILINE,
)
# What begins a placeholder, an empty template, or what needs none.
_MARKS = (
    rb"/[:{<\[($]|[\"'`]\^?/?[:{<\[*]|\(\?P?<|[\"'`]/[\"'`]|@(?:\w+\.)?(?:get|post|put|patch|delete)"
    rb"|\b(?:resources?|namespace|scope|get|post|put|patch|delete)[ (]:\w"
)
_OF_CLASS = rb"\[controller\]"  # what stands for a segment that the name of a class says
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
_MAY_END_BEFORE = re.compile(r"/(?::\w+\?|\{\w+\?\}|\[:?\w+\])$")  # its last segment may be left out
_LEFT_OUT_ENDS = ("?", "?}", "]")  # how it ends then, told quickly
_QUERY = re.compile(r"(?<!\()\?<.*")
_GROUP = re.compile(r"\((?:\?P?<\w+>|\?:)?[^()]*\)[?*+]?")
# What declares a route; where the text has a slash or a placeholder, less tells. What stands before others in a path.
_ROUTERS = (
    r"\b(?i:routes?|routers?|resources?|group|prefix|mount|scope|namespace|controller|blueprint|endpoint)\b"
    r"|^\s*(?:get|post|put|patch|delete|match|live)\s+[\"']|\b(?:re_)?path\(|\burl\(|outer\w*\.register\(|Route|Mapping|Controller|Map[A-Z]|Handle(?:Func)?\b|Http[A-Z]"
    r"|@(?:Path|Get|Post|Put|Patch|Delete)\b|\b(?:get|post|put|patch|delete)[ (]:"
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
    r"(?:get|post|put|patch|delete|head|options|request)(?:<[^>]*>)?\()\s*$"
)
_SENDS = re.compile(
    r"(?i)\b(?:fetch|axios|request|client|await|curl|assert|expect|perform|superagent|forRoutes|(?:ant|request|mvc)Matchers)\b"
)
_OF_ROUTER = re.compile(rf"\.(?:{METHODS})\(\s*$")  # before the template, in Go, whose clients have no such methods
_MOUNTS = re.compile(r"(?i)\b(?:include_router|register_blueprint|mount|nest|use)\(")
# What a browser shows at a path, in the line of the path or the two after it.
_SHOWS = re.compile(r"\b(?:component|loadComponent|loadChildren|element|redirectTo)\b\s*[:=]|<Route\b")
_COMMENT = re.compile(r"\s*(?:#(?!\[)|//|/?\*|--|<!--)")
_SENT, _PLAIN = 0.5, 0.85  # what such a template counts, and one with no word of routers beside it
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


def templates_of(
    data: bytes, lines: Sequence[str], segments: Sequence[str], telling: frozenset[str] = frozenset()
) -> list[RouteTemplate]:
    """Return what may be templates of routes that fit segments of a path in a row, perhaps behind or before others.

    Args:
        data: a file.
        lines: its lines.
        segments: of the path of a request.
        telling: those of which a template of the file must have one, as nothing else says that any fits.
    """
    segments = [segment.lower() for segment in segments]
    if telling:
        saying = _templates_on(_numbers_of(data, _beginnings(telling, _OF_CLASS)), data, lines, segments)
        if not any(part.lower() in telling for one in saying for part in one.segments):
            return []
    numbers = _numbers_of(data, _beginnings(named_segments(segments), _MARKS))
    return list(islice(_templates_on(numbers, data, lines, segments), _MAX_TEMPLATES))


def _templates_on(
    numbers: Iterable[int], data: bytes, lines: Sequence[str], segments: Sequence[str]
) -> Iterator[RouteTemplate]:
    """Yield the templates on some lines of a file that may fit segments in lower case."""
    is_go = data.startswith(b"package ") or b"\npackage " in data[:_MAX_HEAD]
    for number in numbers:
        own = lines[number - 1]
        if len(own) <= MAX_LINE and not _COMMENT.match(own):
            for match in _TEMPLATE.finditer(own):
                yield from _templates_at(match, lines, number, segments, is_go)


def named_segments(segments: Sequence[str]) -> frozenset[str]:
    """Return those of some segments that are no numbers, in lower case."""
    return frozenset(segment.lower() for segment in segments if not segment.isdigit())


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


def _templates_at(
    match: re.Match[str], lines: Sequence[str], number: int, segments: Sequence[str], is_go: bool
) -> Iterator[RouteTemplate]:
    own, template = match.string, match[1] or match[2] or ""
    before = own[: match.start()]
    is_filled = before.endswith(("f", "F"))  # as Python fills in values
    has_placeholder = _HAS_PLACEHOLDER.search(template) is not None
    is_told = bool(match[2] or match[3]) or "/" in template or (has_placeholder and not is_filled)
    if not is_told and (has_placeholder or template.isdigit()):
        return
    if "[controller]" in template:
        template = template.replace("[controller]", _class_below(lines, number))
    parts = _segments_of(template)
    own_parts = [part.lower() for part in parts]
    may_end_before = template.endswith(_LEFT_OUT_ENDS) and _MAY_END_BEFORE.search(template) is not None
    if not (_fits_in_a_row(own_parts, segments) or (may_end_before and _fits_in_a_row(own_parts[:-1], segments))):
        return
    if (around := _declaring(lines, number, is_told=is_told)) is None:
        return
    declared = around.replace(template, "") if template else around
    is_sent = "${" in template or (
        not (is_go and _OF_ROUTER.search(before)) and bool(_SENDS_BEFORE.search(before) or _SENDS.search(declared))
    )
    is_plain = _DECLARED.search(around) is None or _MOUNTS.search(around) is not None
    found = RouteTemplate(
        text=template,
        segments=parts,
        number=number,
        methods=frozenset(name.upper() for names in _METHOD.findall(declared) for name in names if name),
        weight=_SENT if is_sent else _PLAIN if is_plain else 1.0,
        is_shown=_SHOWS.search("\n".join(lines[number - 1 : number + _LINES_OF_PAGE])) is not None,
        is_prefix=bool(template) and _is_prefix(lines, number),
    )
    yield found
    line_before = lines[number - 2][-MAX_LINE:] if number > 1 else ""
    if template and _RESOURCE.search(f"{line_before}\n{own[: match.start(1 if match[1] else 2)]}"):
        for further in (("*",), ("*", "edit"), ("new",)):
            yield found._replace(segments=(*parts, *further), methods=frozenset())
    if may_end_before:
        yield found._replace(segments=parts[:-1])


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
    return f"{before}\n{own}" if _says(before).declares else None


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
