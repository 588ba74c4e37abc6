"""Finds what an agent's search is after, in the index and in time: definitions, callers, places, meaning."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Literal, NamedTuple

from cairn.errors import QueryError
from cairn.graph.questions import callers_of, calls_to
from cairn.graph.surroundings import node_at
from cairn.graph.unresolved import unresolved_calls
from cairn.hooks.search_questions import PatternQuestion
from cairn.hooks.shell_programs import Search
from cairn.protocol.requests import SearchRequest
from cairn.search.exact_answer import Effort
from cairn.search.filters import compile_globs
from cairn.search.query import MINOR_KINDS, looks_named
from cairn.source.roles import Role, role_of
from cairn.source.text import split_identifier

if TYPE_CHECKING:
    from cairn.answers import Answer, CodeHit
    from cairn.graph.graph import Graph
    from cairn.workspace import Workspace

How = Literal["defined", "alike", "matched", "meant"]

MOST_PLACES = 3
MOST_CALLERS = 3
_LOOKED_AT = 8  # definitions of a name
_MOST_LINES = 12  # matching lines; more of them do not help with where to read
_LEAST_LINES = 4  # lines of a definition around a match; a shorter one is visible in the match itself
_MOST_PLAIN = 3  # definitions of a plain word
_READ = 20  # files to check for other possible callers
_UNNAMED_KINDS = frozenset({"section", "key", "target", "text"})
_log = logging.getLogger("cairn.hooks")
_SCOPE = re.compile(r"::|\.|#|->")


class Patience(NamedTuple):
    """Time limits for reading files in search of matches, and for finding callers."""

    scan_seconds: float = 0.012
    call_seconds: float = 0.025


class CallPlace(NamedTuple):
    """A call of a definition: its line, and the enclosing definition, empty at the top level."""

    path: str
    line: int
    name: str


class CodePlace(NamedTuple):
    """A piece of code that answers a search.

    Attributes:
        n_calls: how many calls of it are known, -1 if not looked up.
        callers: the first of these, tests last.
        has_more: whether other lines may call it.
    """

    path: str
    first: int
    last: int
    kind: str
    name: str
    signature: str
    confidence: str
    n_calls: int = -1
    callers: tuple[CallPlace, ...] = ()
    has_more: bool = False


class SearchFinding(NamedTuple):
    """What was found: how, for what, and where; `n_more` counts omitted places."""

    how: How
    what: str
    places: tuple[CodePlace, ...]
    n_more: int = 0


class SearchedFiles(NamedTuple):
    """The scope of a search: `globs` for the index, or the whole project if empty; `is_file` for a single file."""

    globs: tuple[str, ...] = ()
    is_file: bool = False


class SearchAnswers:
    """Finds what searches in one project are after. Threads may share it."""

    def __init__(self, workspace: Workspace, patience: Patience) -> None:
        self._workspace, self._patience = workspace, patience
        self._asking = threading.Lock()  # held while a thread asks the symbol graph

    def find(self, search: Search, question: PatternQuestion, scope: SearchedFiles) -> list[SearchFinding]:
        """Return what is worth knowing beyond the search's own result; nothing if that is enough.

        Raises:
            CairnError: if the index cannot be asked.
        """
        started = time.monotonic()
        findings = [found for name in question.names if (found := self._definitions(search, question, name, scope))]
        if not findings and (found := self._elsewhere(search, question, scope)) is not None:
            findings = [found]
        if len(findings) > 1:
            findings = [
                found._replace(places=found.places[:1], n_more=found.n_more + len(found.places[1:]))
                for found in findings
            ]
        return self._with_callers(findings, started + self._patience.call_seconds)

    # -- definitions --------------------------------------------------------------------------------------------------

    def _definitions(
        self, search: Search, question: PatternQuestion, name: str, scope: SearchedFiles
    ) -> SearchFinding | None:
        """Return the definitions of a name; if there are none, those with the same words in another style."""
        last = _SCOPE.split(name)[-1]
        if len(last) < 3 and not question.is_definite:
            return None
        hits = self._look(name, "symbol", _LOOKED_AT, ())
        ignores_case = search.ignores_case
        exact = [hit for hit in hits if hit.name == last or (ignores_case and hit.name.lower() == last.lower())]
        how: How = "defined"
        if not exact and looks_named(last):
            words = split_identifier(last)
            exact, how = [hit for hit in hits if len(words) > 1 and split_identifier(hit.name) == words], "alike"
        places = _in_scope(_places(exact), scope)
        if places and scope.globs and not self._occurs(exact[0].name, scope):
            return None  # it looks where nothing is indexed or has this name
        if search.is_for_names:  # the search finds a file with that name by itself
            places = [place for place in places if _folded(last) not in _folded(place.path.rpartition("/")[2])]
        is_plain = not looks_named(last) and not question.is_definite
        wanted = [place for place in places if _is_worth(place, is_plain)]
        if not wanted or (is_plain and len(wanted) > _MOST_PLAIN):
            return None
        n_more = len(wanted) - MOST_PLACES
        return SearchFinding(how, name, tuple(wanted[:MOST_PLACES]), max(0, n_more))

    def _occurs(self, name: str, scope: SearchedFiles) -> bool:
        """Tell whether a name occurs in the scope, in any case; True if there was no time to find out."""
        request = SearchRequest(query=f"(?i){re.escape(name)}", type="code", mode="regex", limit=1, globs=scope.globs)
        answer = self._workspace.code.look(request, Effort(self._patience.scan_seconds, (name,)))
        return bool(answer.code) or answer.searched is not None

    # -- lines and meaning --------------------------------------------------------------------------------------------

    def _elsewhere(self, search: Search, question: PatternQuestion, scope: SearchedFiles) -> SearchFinding | None:
        """Return what a search is after if that is not the name of a definition."""
        if search.is_for_names:
            return self._meaning(question.text, scope) if question.is_prose else None
        pattern = None if question.is_question or not question.text else regex_of(search)
        lines = None if pattern is None else self._lines(pattern, question, scope)
        if lines is not None and lines.code:
            return self._matches(lines, question)
        has_none = lines is not None and lines.searched is None
        return self._meaning(question.text, scope) if question.is_prose and (has_none or question.is_question) else None

    def _lines(self, pattern: str, question: PatternQuestion, scope: SearchedFiles) -> Answer | None:
        """Return the matching lines found in time; None if the pattern is not valid for us."""
        request = SearchRequest(query=pattern, type="code", mode="regex", limit=_MOST_LINES, globs=scope.globs)
        try:
            return self._workspace.code.look(request, Effort(self._patience.scan_seconds, question.whole_words))
        except QueryError:
            return None

    def _matches(self, lines: Answer, question: PatternQuestion) -> SearchFinding | None:
        """Return the definitions around matching lines, if there are few and all files were searched."""
        around = {(hit.path, hit.qualified_name): hit for hit in lines.code}
        if lines.searched is not None or lines.omitted or len(around) > MOST_PLACES:
            return None
        places = [place for hit in around.values() if hit.qualified_name and (place := self._around(hit)) is not None]
        is_worth = len(places) == len(around) and any(place.last - place.first >= _LEAST_LINES for place in places)
        return SearchFinding("matched", question.text, tuple(places)) if is_worth else None

    def _around(self, hit: CodeHit) -> CodePlace | None:
        """Return the definition around a line."""
        for other in self._look(hit.qualified_name, "symbol", _LOOKED_AT, ()):
            if (other.path, other.qualified_name) == (hit.path, hit.qualified_name) and (
                other.start_line <= hit.start_line <= other.end_line
            ):
                return _place(other) if other.kind not in _UNNAMED_KINDS and other.end_line > other.start_line else None
        return None

    def _meaning(self, text: str, scope: SearchedFiles) -> SearchFinding | None:
        """Return hits for a sentence, if they are certain enough."""
        hits = [
            hit
            for hit in self._look(text, "hybrid", MOST_PLACES, scope.globs)
            if hit.confidence != "low" and hit.kind != "key"
        ]
        return SearchFinding("meant", text, tuple(map(_place, hits))) if hits else None

    def _look(
        self, query: str, mode: Literal["symbol", "hybrid"], limit: int, globs: tuple[str, ...]
    ) -> Sequence[CodeHit]:
        request = SearchRequest(query=query, type="code", mode=mode, limit=limit, globs=globs)
        answer: Answer = self._workspace.code.look(request, Effort(self._patience.scan_seconds))
        return answer.code

    # -- callers ------------------------------------------------------------------------------------------------------

    def _with_callers(self, findings: list[SearchFinding], until: float) -> list[SearchFinding]:
        """Add the callers of definitions, as far as the symbol graph finds them in time."""
        wanted = [place for found in findings if found.how in ("defined", "alike") for place in found.places]
        known = self._callers(wanted, until - time.monotonic()) if wanted else {}
        return [found._replace(places=tuple(known.get(place, place) for place in found.places)) for found in findings]

    def _callers(self, places: Sequence[CodePlace], seconds: float) -> dict[CodePlace, CodePlace]:
        """Return places with their callers.

        A graph that still has to read files answers too late. Its thread then continues, and the next search finds it
        warm.
        """
        if seconds <= 0 or not self._asking.acquire(blocking=False):
            return {}
        answer: Future[dict[CodePlace, CodePlace]] = Future()

        def ask() -> None:
            try:
                graph = self._workspace.graph
                answer.set_result(graph.ask(lambda graph: {place: _called(graph, place) for place in places}))
            except Exception as error:  # noqa: BLE001 - the edge of a thread
                _log.debug("nobody knows who calls %s: %r", places[0].name, error)
                answer.set_result({})
            finally:
                self._asking.release()

        threading.Thread(target=ask, name="cairn-hooks-callers", daemon=True).start()
        try:
            return answer.result(seconds)
        except TimeoutError:
            return {}


def _called(graph: Graph, place: CodePlace) -> CodePlace:
    """Return a place with its callers."""
    node = node_at(graph.code, place.path, place.name, place.first)
    if node is None:
        return place
    nodes = graph.code.group(node)
    links = [link for link in callers_of(graph, nodes).links if link.how != "name"]
    has_more = bool(links) and unresolved_calls(graph, nodes, calls_to(graph, nodes), enough_files=_READ) is not None
    tests = graph.code.tests
    ordered = sorted(links, key=lambda link: bool(tests[graph.code.numbers[link.path]]))
    callers = {
        (link.path, link.symbol.name): CallPlace(link.path, link.line, link.symbol.name) for link in reversed(ordered)
    }
    return place._replace(n_calls=len(links), callers=tuple(callers.values())[::-1], has_more=has_more)


# -- hits --------------------------------------------------------------------------------------------------------------


def _places(hits: Sequence[CodeHit]) -> list[CodePlace]:
    """Return hits as places, tests last; of overloads only the longest, which has the body."""
    best: dict[tuple[str, str, str], CodeHit] = {}
    for hit in hits:
        key = hit.path, hit.qualified_name, hit.kind
        if key not in best or _length(best[key]) < _length(hit):
            best[key] = hit
    has_body = {hit.qualified_name for hit in best.values() if _length(hit)}
    kept = [hit for hit in best.values() if _length(hit) or hit.qualified_name not in has_body]  # no prototypes
    return sorted(map(_place, kept), key=_is_test)


def _is_test(place: CodePlace) -> bool:
    return bool(role_of(place.path, "") & Role.TEST)


def _in_scope(places: Sequence[CodePlace], scope: SearchedFiles) -> list[CodePlace]:
    """Put places in the search's scope first; if that is a single file, drop all others."""
    if not scope.globs:
        return list(places)
    is_inside = compile_globs(scope.globs)
    inside = [place for place in places if is_inside(place.path)]
    return inside if scope.is_file else inside + [place for place in places if place not in inside]


def _length(hit: CodeHit) -> int:
    return hit.end_line - hit.start_line


def _place(hit: CodeHit) -> CodePlace:
    name = hit.qualified_name or hit.name
    return CodePlace(hit.path, hit.start_line, hit.end_line, hit.kind, name, hit.signature, hit.confidence)


def _is_worth(place: CodePlace, is_plain: bool) -> bool:
    """Tell whether somebody who searches for a name may mean this definition."""
    return place.kind not in _UNNAMED_KINDS and not (is_plain and place.kind in MINOR_KINDS)


def _folded(text: str) -> str:
    return text.replace("_", "").replace("-", "").lower()


def regex_of(search: Search) -> str | None:
    """Translate the pattern into our syntax of regular expressions; None if that is impossible."""
    pattern = search.pattern
    if search.syntax == "fixed":
        pattern = re.escape(pattern)
    elif search.syntax == "basic":
        pattern = re.sub(r"\\([|(){}+?])|([|(){}+?])", lambda match: match[1] or f"\\{match[2]}", pattern)
    elif search.syntax == "glob":
        return None
    pattern = pattern.replace(r"\<", r"\b").replace(r"\>", r"\b")
    if search.is_word:
        pattern = rf"\b(?:{pattern})\b"
    return f"(?i){pattern}" if search.ignores_case else pattern
