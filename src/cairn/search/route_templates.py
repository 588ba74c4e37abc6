"""Reads the templates of routes in code, whatever framework they are for, and tells how well each fits a request.

A template is a text in quotes with segments, some of which are placeholders. It may begin where those of groups over it
in the same file end, such as that of a controller.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from functools import cached_property
from typing import NamedTuple

from cairn.search.request_text import METHODS, RequestLine

MAX_LINE = 1_000  # characters that people write in a line
_MAX_TEMPLATES = 500  # of one file
_MAX_HEAD = 5_000  # characters before what names a package

# A template in quotes, the name of a resource of Rails, or a decorator that has no template of its own.
_TEMPLATE = re.compile(
    rf"[\"'`]\^?(?:(?:{METHODS}) )?([\w/:{{<\[*][^\"'`\s]{{0,200}})[\"'`]"
    r"|\b(?:resources?|namespace|scope|get|post|put|patch|delete)[ (]:(\w{1,80})\b"
    r"|(@(?:\w{1,80}\.)?(?i:get|post|put|patch|delete)(?:Mapping)?(?:\((?:\"\"|'')?[,)]|$))",
    re.MULTILINE,
)
# A placeholder of some framework: `{id}`, `:id`, `<int:id>`, `[id]`, `(?P<id>\d+)`, `*`.
_PLACEHOLDER = re.compile(r"\{.*\}|:\w.*|<.*>|\[.*\]|\(.*\)|\*\w*|\$.*")
# One that is a part of a segment, such as `:id.json` or `@{name}`, and what may stand around it.
_VARIABLE = re.compile(r"\{[^{}]*\}|:\w+|<[^<>]*>|\[[^\[\]]*\]|\$\w+")
_LITERAL = re.compile(r"[\w.@~,+!-]*")
_HAS_PLACEHOLDER = re.compile(r"[:{<\[(*$]")
_BEFORE_SEGMENT = frozenset("/\"'`:^")  # in a template
# What declares the routes of a resource, also those of one of its members, before its name.
_RESOURCE = re.compile(
    r"\b(?:resources?|Route::(?:apiR|r)esources?)\s*\(?\s*[\"':]?$|\b\w*router\w*\.register\s*\(\s*r?[\"']$"
)
_GROUP = re.compile(r"\((?:\?P?<\w+>|\?:)?[^()]*\)[?*+]?")
# What declares a route; where the text has a slash or a placeholder, less tells. What stands before others in a path.
_ROUTERS = (
    r"\b(?i:routes?|routers?|resources?|group|prefix|mount|scope|namespace|controller|blueprint|endpoint)\b"
    r"|\b(?:re_)?path\(|\burl\(|outer\w*\.register\(|Route|Mapping|Controller|Map[A-Z]|Handle(?:Func)?\b|Http[A-Z]"
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
    r"|[=!]=|\b(?:api|https?|client|service|axios|request|requests|session|conn|cy|page|\$|ky|got|this)\.(?:\w+\.)*"
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
VALUE = re.compile(r"\d|-|%|^[A-Z]")  # in what stands for something, and not in the name of a resource
LEADING = re.compile(r"(?i)api|v\d+|rest")
# What a segment counts that is the same, that fits a placeholder and looks like a value, and that fits it otherwise.
SAME, FITS, MAY_FIT = 1.0, 0.9, 0.5
OTHER_METHOD, NO_METHOD, _SENT, _SHOWN, _PLAIN, LEFT_OUT = 0.6, 0.9, 0.5, 0.8, 0.85, 0.02
_NAMED_LIKE = re.compile(r"\bclass\s+(\w+?)Controller\b")  # what ASP.NET's `[controller]` stands for
_LINES_TO_CLASS, _LINES_OF_PAGE = 6, 2
_MAX_DEPTH, _MAX_GROUPS = 6, 60  # of groups in groups, and in a file
# What a group is called, what a route is declared with, and what ends a block.
_ASSIGNED = re.compile(r"\s*(?:\w+\s+)?(\w+)(?:\s*:\s*[\w.]+)?\s*:?=(?!=)")
_RECEIVER = re.compile(r"\b(\w+)\.\w+\(\s*r?[\"'`]")
_ENDS = re.compile(r"[)}\]]|end\b")
_NONE, _IN_PATH = (0.0, 0, 0), 0.8  # no prefix; what a segment counts that only the path of the file has


class RouteTemplate(NamedTuple):
    """A template: its text, its segments, the number of its line, and the methods that its line or one beside it names.

    `is_prefix`: what stands below it may begin where it ends. `is_sent`: it belongs to a request, not to a route.
    `is_shown`: it is the path of a page in a browser. `is_plain`: no word of routers is beside it, or one that leads to
    other routes.
    """

    text: str
    segments: tuple[str, ...]
    number: int
    methods: frozenset[str]
    is_sent: bool
    is_shown: bool
    is_plain: bool
    is_prefix: bool


def templates_of(text: str, lines: Sequence[str], known: Set[str]) -> list[RouteTemplate]:
    """Return what may be templates of routes with one of some segments, in lower case, or with a placeholder."""
    found: list[RouteTemplate] = []
    number, counted, is_go = 1, 0, text.startswith("package ") or "\npackage " in text[:_MAX_HEAD]
    for match in _TEMPLATE.finditer(text):
        template = match[1] or match[2] or ""
        is_filled = text[match.start() - 1 : match.start()] in "fF"  # as Python fills in values
        has_mark = "/" in template or (not is_filled and _HAS_PLACEHOLDER.search(template) is not None)
        is_told = bool(match[2] or match[3]) or has_mark
        if not is_told and template.lower() not in known:
            continue
        number, counted = number + text.count("\n", counted, match.start()), match.start()
        if "[controller]" in template:
            template = template.replace("[controller]", _class_below(lines, number))
        parts = _segments_of(template)
        may_fit = not parts or any(
            part.lower() in known or _VARIABLE.search(part) or _PLACEHOLDER.fullmatch(part) for part in parts
        )
        if not may_fit or len(own := lines[number - 1]) > MAX_LINE or _COMMENT.match(own):
            continue
        if (around := _declaring(lines, number, is_told=is_told)) is None:
            continue
        before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        methods = frozenset(name.upper() for names in _METHOD.findall(around) for name in names if name)
        is_sent = "${" in template or (
            not (is_go and _OF_ROUTER.search(before))
            and bool(_SENDS_BEFORE.search(before) or _SENDS.search(around.replace(template, "")))
        )
        is_shown = _SHOWS.search("\n".join(lines[number - 1 : number + _LINES_OF_PAGE])) is not None
        is_prefix = bool(template) and _is_prefix(lines, number)
        is_plain = _DECLARED.search(around) is None or _MOUNTS.search(around) is not None
        found.append(RouteTemplate(template, parts, number, methods, is_sent, is_shown, is_plain, is_prefix))
        if template and _RESOURCE.search(text[max(0, match.start() - MAX_LINE) : match.start(1 if match[1] else 2)]):
            found.append(found[-1]._replace(segments=(*parts, "*"), methods=frozenset()))
        if len(found) >= _MAX_TEMPLATES:
            break
    return found


def _is_prefix(lines: Sequence[str], number: int) -> bool:
    after = lines[number] if number < len(lines) else ""
    return _PREFIXES.search(lines[number - 1]) is not None or after.lstrip().startswith("include(")


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
        if _METHOD.search(text) and declares.search(text):
            return text
    if declares.search(own):
        return own
    return f"{before}\n{own}" if _DECLARES.search(before) else None


class RoutePrefixes:
    """What may stand before a template in a path: the templates of groups over it in its file, one within the other."""

    def __init__(self, templates: Sequence[RouteTemplate], lines: Sequence[str], words: Set[str]) -> None:
        self._groups = [one for one in templates if one.is_prefix][:_MAX_GROUPS]
        self._lines = lines
        self._names = {one.number: name for one in self._groups if (name := _name_of_group(lines[one.number - 1]))}
        self._ends = {one.number: _end_of_block(lines, one.number) for one in self._groups}
        self._words = words  # of the path of the file
        self._best: dict[tuple[int, int], tuple[float, int, int]] = {}

    def best(self, rest: tuple[str, ...], number: int, depth: int = _MAX_DEPTH) -> tuple[float, int, int]:
        """Return what the best of those over a line count, how many segments are the same, and how many they have.

        What is but a placeholder says nothing unless another group stands before it.
        """
        if not rest or not depth:
            return 0.0, 0, 0
        if (key := (len(rest), number)) not in self._best:
            in_path = (_IN_PATH, 1, 1) if folded(rest[-1]) in self._words else _NONE
            chains = (self._chain(one, rest, depth) for one in self._groups if self._holds(one, number))
            self._best[key] = max([in_path, *chains])
        return self._best[key]

    def _holds(self, group: RouteTemplate, number: int) -> bool:
        """Tell whether a group may hold what a line declares: by its name if it has one, or by its block."""
        if number <= group.number:
            return False
        if group.number not in self._names:
            return number < self._ends[group.number]
        receiver = _RECEIVER.search(self._lines[number - 1])
        return receiver is None or receiver[1] == self._names[group.number] or receiver[1] not in self._all_names

    @cached_property
    def _all_names(self) -> frozenset[str]:
        """Those of all groups of the file, also of such as do not fit."""
        return frozenset(map(_name_of_group, self._lines))

    def _chain(self, group: RouteTemplate, rest: tuple[str, ...], depth: int) -> tuple[float, int, int]:
        if (own := _match(group.segments, rest)) is None:
            return _NONE
        n_own = len(group.segments)
        value, n_same, covered = self.best(rest[: len(rest) - n_own], group.number, depth - 1)
        return (own[0] + value, own[1] + n_same, n_own + covered) if own[1] + n_same else _NONE


def _name_of_group(line: str) -> str:
    match = _ASSIGNED.match(line) if _PREFIXES.search(line) else None
    return match[1] if match else ""


def _end_of_block(lines: Sequence[str], number: int) -> int:
    """Return the number of the line that ends a block, which closes a bracket and is indented no deeper."""
    depth = _indent_of(lines[number - 1])
    below = enumerate(lines[number:], start=number + 1)
    return next((at for at, line in below if _indent_of(line) <= depth and _ENDS.match(line.lstrip())), len(lines) + 1)


def _indent_of(line: str) -> int:
    return len(line) - len(line.lstrip())


def fit_of(template: RouteTemplate, prefixes: RoutePrefixes, request: RequestLine) -> float:
    """Return how well a route fits a request, with groups over it in its file where they make it fit better."""
    own = _match(template.segments, request.segments) if template.segments else (0.0, 0)
    if own is None:
        return 0.0
    rest = request.segments[: len(request.segments) - len(template.segments)]
    shares = []
    for value, n_same, covered in (_NONE, prefixes.best(rest, template.number)):
        if own[1] + n_same:
            uncovered = rest[: len(rest) - covered]
            n_left = sum(LEADING.fullmatch(one) is None for one in uncovered)
            share = (own[0] + value) / (len(template.segments) + covered + n_left)
            shares.append(share - LEFT_OUT * (len(uncovered) - n_left))
    share = max(shares, default=0.0)
    if request.method:
        is_other = template.methods and request.method not in template.methods
        share *= OTHER_METHOD if is_other else 1.0 if template.methods else NO_METHOD
    if template.is_shown:
        share *= _SENT if request.method not in ("", "GET") or LEADING.fullmatch(request.segments[0]) else _SHOWN
    return share * (_SENT if template.is_sent else _PLAIN if template.is_plain else 1.0)


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
    literals = _VARIABLE.split(own)
    if len(literals) > 1 and any(literals) and all(map(_LITERAL.fullmatch, literals)):
        fits = _stand_in([literal.lower() for literal in literals], asked.lower())
    else:
        fits = _PLACEHOLDER.fullmatch(own) is not None
    return (FITS if VALUE.search(asked) else MAY_FIT) if fits else None


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


def folded(word: str) -> str:
    """Return a word as it is compared with others: in lower case, one for several."""
    return word.lower().removesuffix("s")


def is_in_template(text: str, segment: str) -> bool:
    """Tell whether a segment stands somewhere behind a slash or a quote."""
    at = text.find(segment)
    while at >= 0:
        if text[at - 1 : at] in _BEFORE_SEGMENT:
            return True
        at = text.find(segment, at + 1)
    return False
