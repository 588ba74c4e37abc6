"""Finds how one does in a project what one does in each: run its tests, build it, lint it, start it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from cairn import waiting
from cairn.answers import CodeHit
from cairn.search.confidence import GUESSED, HIGH, confidence_word
from cairn.search.exact import LineMatch
from cairn.search.exact_answer import hits_of_lines
from cairn.search.filters import filter_files
from cairn.search.library import Library, read_files
from cairn.search.query import Query
from cairn.search.word_files import line_in_text
from cairn.source.roles import FOREIGN, Role

if TYPE_CHECKING:
    from cairn.protocol.requests import SearchRequest

_MAX_WORDS, _MAX_FILES, _MAX_BYTES, _MAX_LINE = 12, 40, 100_000, 500
_MAX_SECTION, _MAX_OF_KIND, _MAX_SHOWN = 25, 2, 4
_MAX_DEPTH = 2  # folders above what says it for the whole project

_ASKS = (
    r"(?:(?:how (?:do|can|should|would|to|does one)(?: (?:i|we|you|one))?|how (?:is|are)"
    r"|what(?: is|'s)? the command (?:to|for)|(?:which |the )?commands? (?:to|for)|steps to) )?"
)
_PROJECT = (
    r"(?:the |this |that |a |my )?(?:\w+ )?"
    r"(?:project|app(?:lication)?|program|code(?:base)?|repo(?:sitory)?|it|this|binary|site)"
)
_SOME = (
    r"(?:(?:the|all|all of the|a|an|some|only|just|one|single|unit|integration|end-to-end|e2e|functional|whole|full"
    r"|existing) ){0,4}"
)
_TESTS = rf"{_SOME}(?:\w+ )?(?:tests?|specs?|test suites?|testsuite)"
_SERVER = r"(?:the |a )?(?:(?:dev(?:elopment)?|local|web) )?server"
# A command begins a line or a span of code; behind these stands a name.
_COMMAND = r"(?:^|[`$>]) *(?:[-*] )?(?:[\w./=-]+ ){0,2}"
_RUNNERS = (
    r"(?:make|just|task|rake|invoke|(?:npm|yarn|pnpm|bun|composer|uv|poetry|pipenv)(?: run)?|mix|cargo|go|dotnet|swift"
    r"|zig build|(?:\./)?(?:mvnw?|gradlew?)|bin/\w+|(?:\./)?scripts?/\w*|docker[ -]compose)"
)


class _Task(NamedTuple):
    """What is to be done: how it is asked for, what targets and scripts are called, what headings and commands say.

    `names` are patterns, that of the most usual name first. `home` finds the file in which the targets are meant.
    """

    asked: re.Pattern[str]
    names: tuple[str, ...]
    heading: re.Pattern[str]
    command: re.Pattern[str]
    home: re.Pattern[str] = re.compile("")

    @property
    def name(self) -> str:
        """A pattern for any of the names."""
        return "|".join(self.names)


def _task(asked: str, names: str, heading: str, command: str) -> _Task:
    here = r"(?: locally| here| in (?:this|the) (?:project|repo(?:sitory)?))?"
    own = tuple(names.split())
    return _Task(
        re.compile(rf"{_ASKS}(?:{asked}){here}"),
        own,
        re.compile(rf"(?i)\W*(?:how to |step \d+\W+)?(?:{heading})\W*$"),
        re.compile(rf"{_COMMAND}(?:{_RUNNERS}[ :][\w:./ -]{{0,30}}\b(?:{'|'.join(own)})\b|{command})"),
    )


_TASKS = (
    _task(
        rf"(?:run(?:ning)?|execut(?:e|ing)|start|launch) {_TESTS}|{_TESTS} (?:run|executed)",
        "test tests specs? check",
        r"(?:run(?:ning)?|execut(?:e|ing)) (?:[\w-]+ ){0,3}(?:tests?|specs?|test suite)(?: .*)?"
        r"|(?:[\w-]+ ){0,2}(?:tests|testing|test suite)",
        r"\b(?:pytest|rspec|phpunit|jest|vitest|mocha|ctest|bats|tox|nox|busted|minitest)\b",
    ),
    _task(
        rf"(?:lint|format|check (?:the )?(?:style|formatting|types))(?: {_PROJECT})?"
        r"|run (?:the )?(?:linters?|formatters?|type checks?)",
        "lint(?:ers?)? format fmt style typecheck check",
        r"(?:run(?:ning)? (?:the )?)?(?:lint(?:ing|ers?)?|format(?:ting)?|code style|style checks?|static analysis)"
        r"(?: (?:and|&|,) .*)?",
        r"\b(?:eslint|ruff|rubocop|golangci-lint|clippy|phpstan|prettier|black|gofmt|standardrb|flake8|credo)\b",
    ),
    _task(
        rf"(?:build|compile)(?:ing)? {_PROJECT}(?: from source)?|build(?:ing)? from source",
        "build compile dist all",
        r"(?:build(?:ing)?|compil(?:e|ing))(?: (?:from source|the|it|this|instructions|and\b).*)?",
        r"(?:cmake|\./configure|meson|\./autogen\.sh)\b",
    ),
    _task(
        rf"(?:run|start|launch|serve)(?:ning|ing)? (?:{_PROJECT}|{_SERVER})"
        r"(?: for development| in development(?: mode)?)?",
        "dev start serve server run up watch",
        r"(?:run(?:ning)?|start(?:ing)?|serv(?:e|ing)) (?:[\w-]+ ){0,3}(?:server|app(?:lication)?|locally|project)"
        r"|(?:local )?development(?: set-?up)?|quick ?start",
        r"\b(?:foreman start|rails s(?:erver)?|runserver|flask run|uvicorn|spring-boot:run|bootRun|phx\.server"
        r"|artisan serve)\b",
    ),
    _task(
        r"(?:install|set ?up|get)(?:ting|ing)? (?:(?:the|all) ){0,2}"
        r"(?:dependencies|dev(?:elopment)? environment|environment|requirements)"
        r"|set ?up (?:the |this |my )?(?:project|repo(?:sitory)?|development)",
        "install setup bootstrap deps dependencies develop init",
        r"install(?:ing)? (?:the )?(?:dependencies|requirements)|(?:development )?set(?:ting)?[ -]?up"
        r"(?: (?:the|your|a) .*)?|prerequisites|dev(?:elopment)? environment|installation",
        r"(?:(?:pip|bundle|npm|yarn|pnpm|composer|bun) (?:install|ci)|mix deps\.get|go mod download|uv sync)\b",
    ),
)
# A command that runs a target or a script, as it is typed: `npm run build`; and where each declares what it runs.
_TYPED = re.compile(
    r"(?:(?P<make>make)|(?P<just>just)|(?P<task>task)|(?:bundle exec )?(?P<rake>rake)"
    r"|(?P<npm>npm|yarn|pnpm|bun)(?: run)?|(?P<composer>composer)(?: run)?|(?P<mix>mix)"
    r"|(?P<nox>nox) -s|(?P<tox>tox) -e) (?P<name>[\w:.-]{2,60})"
)
_HOMES = {"npm": "package.json", "make": "makefile|\\.mk$", "rake": "rake", "tox": "tox.ini", "mix": "mix.exs"}
_NOTHING = re.compile(r"(?!)")
# Where a name with what is to be done stands in files of builds: `%s` stands for the names.
_TARGETS = (
    (
        re.compile(r"(?i)(?:^|/)(?:gnu)?makefile(?:\.am)?$|\.mk$"),
        r"(?P<name>%s)(?P<more>[-_/:.]\w[\w./-]*)?\s*:(?![:=])",
    ),
    (re.compile(r"(?i)(?:^|/)\.?justfile$"), r"@?(?P<name>%s)(?P<more>[-_]\w[\w-]*)?(?: [^:=]*)?:(?!=)"),
    (
        re.compile(r"(?:^|/)(?:package|composer)\.json$"),
        r"\s+\"(?P<name>%s)(?P<more>[:_-]\w[\w:-]*)?\"\s*:\s*(?:\[|\"(?![\^~\d*<>=]))",
    ),
    (
        re.compile(r"(?:^|/)(?:Taskfile|moon)\.ya?ml$"),
        r"\s+[\"']?(?P<before>(?:\w[\w-]*:)*)(?P<name>%s)(?P<more>[:_-]\w[\w:-]*)?[\"']?:\s*$",
    ),
    (re.compile(r"(?:^|/)Rakefile$|\.rake$"), r"\s*task\s*\(?\s*[:\"']?(?P<name>%s)(?P<more>[:_]\w+)?\b"),
    (re.compile(r"(?:^|/)tox\.ini$"), r"\[testenv(?::(?P<name>%s)(?P<more>[-_]\w+)?)?\]"),
    (re.compile(r"(?:^|/)(?:noxfile|tasks)\.py$"), r"def (?P<name>%s)(?P<more>_\w+)?\("),
    (re.compile(r"(?:^|/)mix\.exs$"), r"\s+[\"']?(?P<name>%s)(?P<more>[.:_]\w+)?[\"']?(?::| =>)\s*\["),
)
_DOCUMENT = re.compile(
    r"(?i)(?:^|/)(?:(?:readme|contributing|agents|claude|develop\w*|hacking|testing|build(?:ing)?|install\w*|setup\w*"
    r"|getting[-_]started|local[-_]development|manual[-_]install|quick[-_]?start)\.(?:md|mdx|rst|adoc|txt|markdown)"
    r"|readme|hacking|install)$"
)
_ORDER = ("contributing", "develop", "hacking", "testing", "readme")  # of documents, by what they begin with
_SCRIPT = (
    r"(?:^|(?:^|/)(?:scripts?|bin|tools?|ci|dev)/)(?:run[-_]?)?(?:%s)(?:[-_]\w+)?(?:\.(?:sh|py|rb|js|ps1|bat|bash))?$"
)
_HEADING = re.compile(r"(#{1,6})\s+(.{1,120}?)\s*#*\s*$|(={1,6})\s+(.{1,120}?)\s*=*\s*$")
_UNDERLINE = re.compile(r"([=~^\"'*+-])\1{3,}\s*$")


class _SaidHow(NamedTuple):
    """Lines of a file that say how a task is done, how they count, the least first, and whether they surely do."""

    order: tuple[int, ...]
    file: int
    start: int
    end: int
    is_sure: bool


def with_tasks(
    library: Library, query: Query, request: SearchRequest, hits: Sequence[CodeHit], notes: list[str]
) -> list[CodeHit]:
    """Return the hits behind what says how a task is done that a question asks for: sections, targets and commands."""
    if query.text.count(" ") >= _MAX_WORDS or request.kinds or (task := _asked_for(query.text)) is None:
        return list(hits)
    found = sorted(_found(library, request, task), key=lambda one: (not one.is_sure, one.order))
    if not found:
        return list(hits)
    shown = hits_of_lines(library, [_line_of(library, one) for one in found[:_MAX_SHOWN]], request)
    chances = [HIGH if one.is_sure else GUESSED for one in found]
    first = [
        hit._replace(relevance=chance, confidence=confidence_word(chance))
        for hit, chance in zip(shown, chances, strict=False)
    ]
    notes.append("What comes first says how that is done in this project.")
    places = {(hit.path, hit.start_line) for hit in first}
    return [*first, *(hit for hit in hits if (hit.path, hit.start_line) not in places)][: request.limit or None]


def _line_of(library: Library, said: _SaidHow) -> LineMatch:
    data = read_files(library, [said.file])[said.file].data
    return line_in_text(said.file, data.decode("utf-8", "replace").split("\n"), said.start, said.end)


def _asked_for(text: str) -> _Task | None:
    if command := _TYPED.fullmatch(text.strip()):
        runner = next(kind for kind, said in command.groupdict().items() if said)
        name = re.escape(command["name"])
        said = re.compile(rf"{_COMMAND}{_RUNNERS}[ ]{name}(?![\w:-])")
        return _Task(_TYPED, (name,), _NOTHING, said, re.compile(_HOMES.get(runner, runner), re.IGNORECASE))
    plain = " ".join(text.lower().split()).rstrip("?.! ").removeprefix("please ")
    return next((task for task in _TASKS if task.asked.fullmatch(plain)), None)


def _found(library: Library, request: SearchRequest, task: _Task) -> list[_SaidHow]:
    """Return at most two sections, two targets and two lines with commands or scripts that say how a task is done."""
    files = library.snapshot.files
    chosen, aside = filter_files(files, request), int(FOREIGN | Role.TRANSLATION | Role.EXAMPLE | Role.OLD_VERSION)
    script = re.compile(_SCRIPT % task.name)
    own = [
        (path.count("/"), number)
        for number, path in enumerate(files.paths)
        if path.count("/") <= _MAX_DEPTH
        and (_DOCUMENT.search(path) or script.search(path) or any(name.search(path) for name, _ in _TARGETS))
        and not int(files.roles[number]) & aside
        and (chosen is None or number in chosen)
    ]
    numbers = [number for _, number in sorted(own)[:_MAX_FILES]]
    sections: list[_SaidHow] = []
    targets: list[_SaidHow] = []
    others: list[_SaidHow] = []
    for number, text in read_files(library, numbers).items():
        waiting.check()
        path, lines = files.paths[number], text.data[:_MAX_BYTES].decode("utf-8", "replace").split("\n")
        depth = path.count("/")
        if _DOCUMENT.search(path):
            sections += _sections(number, depth, path, lines, task)
            others += _commands(number, depth, lines, task)
        elif pattern := next((pattern for name, pattern in _TARGETS if name.search(path)), ""):
            is_home = task.home.search(path) is not None
            targets += _targets(number, depth, lines, re.compile(pattern % task.name), task.names, is_home=is_home)
        else:
            others.append(_SaidHow((depth, 0), number, 1, min(len(lines), _MAX_SECTION), False))
    kept = [sorted(kind, key=lambda one: (not one.is_sure, one.order))[:_MAX_OF_KIND] for kind in (sections, targets)]
    return [*kept[0], *kept[1], *([] if kept[0] else sorted(others, key=lambda one: one.order)[:_MAX_OF_KIND])]


def _sections(file: int, depth: int, path: str, lines: Sequence[str], task: _Task) -> Iterator[_SaidHow]:
    """Yield the sections of a document whose headings name a task, those surely that show a command for it."""
    name = path.rpartition("/")[2].lower()
    place = next((at for at, start in enumerate(_ORDER) if name.startswith(start)), len(_ORDER))
    headings = list(_headings(lines))
    for at, (number, level, title) in enumerate(headings):
        if not task.heading.search(title):
            continue
        following = (headings[below][0] for below in range(at + 1, len(headings)) if headings[below][1] <= level)
        end = min(next(following, len(lines) + 1) - 1, number + _MAX_SECTION)
        is_sure = any(task.command.search(line[:_MAX_LINE]) for line in lines[number:end])
        yield _SaidHow((0, depth, place, number), file, number, end, is_sure)


def _headings(lines: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Yield the number, the level and the text of each heading outside of blocks of code."""
    is_code = False
    for number, line in enumerate(lines, start=1):
        if line.lstrip().startswith(("```", "~~~")):
            is_code = not is_code
        elif not is_code and len(line) <= _MAX_LINE and (match := _HEADING.match(line)):
            yield number, len(match[1] or match[3]), match[2] or match[4]
        elif not is_code and number > 1 and _UNDERLINE.match(line) and 0 < len(lines[number - 2]) <= _MAX_LINE:
            yield number - 1, 1 if line.startswith("=") else 2, lines[number - 2].strip()


def _commands(file: int, depth: int, lines: Sequence[str], task: _Task) -> Iterator[_SaidHow]:
    """Yield the lines of a document that hold a command for a task."""
    for number, line in enumerate(lines, start=1):
        if len(line) <= _MAX_LINE and task.command.search(line):
            yield _SaidHow((depth, 1, number), file, number, number, False)


def _targets(
    file: int, depth: int, lines: Sequence[str], pattern: re.Pattern[str], names: Sequence[str], *, is_home: bool
) -> Iterator[_SaidHow]:
    """Yield the lines that declare a target or a script for a task; one of exactly its name in the root is sure."""
    for number, line in enumerate(lines, start=1):
        if len(line) <= _MAX_LINE and (match := pattern.match(line)):
            is_exact = not match["more"] and not match.groupdict().get("before")
            place = next((at for at, name in enumerate(names) if re.fullmatch(name, match["name"] or "")), 0)
            order = (1, not is_home, depth, not is_exact, place, number)
            is_sure = is_exact and is_home and not depth
            yield _SaidHow(order, file, number, number, is_sure)
