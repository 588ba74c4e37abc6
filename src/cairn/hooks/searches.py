"""Adds to a search what the index knows: where a name is defined and called, which lines to read, what it means.

The search itself is neither denied nor changed. What its own result shows is not repeated, and nothing is said twice in
a session. If the index knows nothing better, nothing is said.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from cairn.errors import CairnError, StoreError
from cairn.hooks.occasion import Occasion, Offer
from cairn.hooks.report import Reply, ToolUse
from cairn.hooks.search_answers import (
    MOST_CALLERS,
    CallPlace,
    CodePlace,
    Patience,
    SearchAnswers,
    SearchedFiles,
    SearchFinding,
    regex_of,
)
from cairn.hooks.search_questions import PatternQuestion, understand_file_pattern, understand_pattern
from cairn.hooks.session_state import LastSearch, SearchTarget, SessionState
from cairn.hooks.shell import understand_command
from cairn.hooks.shell_programs import Search
from cairn.hooks_settings import HooksSettings
from cairn.memory.inert import CLOSE, OPEN, inert_line
from cairn.source.text import count_tokens, pluralize
from cairn.storage.memory.rows import AskedQuestion, ServedAnswer, ShownHit

if TYPE_CHECKING:
    from cairn.workspace import Workspace

_MOST_GLOBS = 20
_MOST_TARGETS = 5
_MAX_SIGNATURE_CHARS, _MAX_PATH_CHARS, _MAX_WHAT_CHARS = 160, 300, 100
# Agents' names for their tools, in lower case and without `_` and `-`.
_FIND_FILES = frozenset({"glob", "filesearch", "findbyname", "findfiles", "find"})
_TAKE_QUESTIONS = frozenset({"codebasesearch", "semanticsearch", "searchcodebase"})
_OTHER_SHELLS = frozenset({"powershell", "pwsh"})
_SHOWN_LINE = re.compile(r"^(?:\./)?([^\s:]+)[:-](\d+)[:-]", re.MULTILINE)
_SPECIAL = re.compile(r"[*?\[\]!]")
_BRACES = re.compile(r"\{([^{}]*)\}")
_HEADS = {
    "defined": "Definitions of {}:",
    "alike": "Definitions whose names are made of the words of {}:",
    "matched": "The lines that match {} are in:",
    "meant": "Code that may be what {} asks for, the likeliest first:",
}


class Searches:
    """The part of the interceptor for searches. Threads may share it.

    Args:
        workspace: the project, open.
        settings: whether to answer searches, and how long answers may be.
        patience: how long an answer may take.
    """

    def __init__(self, workspace: Workspace, settings: HooksSettings, patience: Patience | None = None) -> None:
        self._root, self._settings = str(workspace.root), settings
        self._answers = SearchAnswers(workspace, patience or Patience())
        self._feedback = workspace.memory.feedback

    def answer(self, occasion: Occasion, state: SessionState) -> Offer | None:
        """Return what the index adds to a search; None for nothing. The search's target is kept for later reads."""
        if (search := search_of(occasion.asked)) is None:
            return None
        if (pattern := regex_of(search)) is not None and pattern not in state.patterns:
            state.patterns.append(pattern)
        if not self._settings.searches or not occasion.can_see or occasion.was_asked:
            return None
        if (scope := scope_of(self._root, occasion, search)) is None:
            return None
        question = _question(occasion.asked, search)
        try:
            findings = self._answers.find(search, question, scope)
        except CairnError:  # there is no index, or it is being built
            return None
        if not findings:
            return None
        state.search = LastSearch(search.pattern, tuple(_targets(findings)), occasion.seconds)
        fresh = [found for found in findings if _key(found) not in state.named]
        text = lay_out(fresh, _shown_lines(occasion), self._settings.search_tokens) if fresh else ""
        if not text:
            return None

        def settle() -> None:
            for found in fresh:
                state.named.put(_key(found), value=True)

        asked = AskedQuestion(occasion.session, 0.0, "code", search.pattern, _count(findings), surface="hook")
        return Offer(Reply(context=text), _row(occasion), settle, note=partial(self._note, asked, findings))

    def _note(self, asked: AskedQuestion, findings: Sequence[SearchFinding]) -> None:
        """Record what was shown; failing to do so does no harm."""
        places = [place for found in findings for place in found.places]
        shown = [
            ShownHit(0, rank, "", place.path, place.first, place.last, place.name, 0.0)
            for rank, place in enumerate(places, 1)
        ]
        with suppress(StoreError):
            self._feedback.note_answer(asked, shown)


def search_of(use: ToolUse) -> Search | None:
    """Return the search that a tool or shell command does; None if it does anything else."""
    name = use.name.lower().replace("_", "").replace("-", "")
    if use.tool == "shell" and name not in _OTHER_SHELLS:
        found = understand_command(use.command)
        if not isinstance(found, Search):
            return None
        return found._replace(folder=os.path.join(use.path, found.folder)) if use.path else found
    if use.tool != "search" or not use.pattern.strip():
        return None
    paths = (use.path,) if use.path else ()
    if name in _FIND_FILES:
        return Search(use.pattern, "glob", paths, use.globs, is_for_names=True)
    return Search(use.pattern, "regex", paths, use.globs)


def _question(use: ToolUse, search: Search) -> PatternQuestion:
    if search.is_for_names:
        return understand_file_pattern(search.pattern)
    name = use.name.lower().replace("_", "").replace("-", "")
    return understand_pattern(search.pattern, search.syntax, is_prose=use.tool == "search" and name in _TAKE_QUESTIONS)


# -- where -------------------------------------------------------------------------------------------------------------


def scope_of(root: str, occasion: Occasion, search: Search) -> SearchedFiles | None:
    """Return the scope of a search in the project; None if it looks elsewhere."""
    base = os.path.join(occasion.folder or root, os.path.expanduser(search.folder))
    own_base = _below(root, base)
    places = [_below(root, os.path.join(base, os.path.expanduser(path))) for path in search.paths or ("",)]
    inside = [place for place in places if place is not None]
    if not inside or (own_base is None and any(not os.path.isabs(path) for path in search.paths)):
        return None
    globs = [glob for pattern in search.globs for glob in _without_braces(pattern)]
    if "" in inside and not globs:
        return SearchedFiles()
    is_file = len(inside) == 1 and os.path.isfile(os.path.join(root, inside[0]))
    wanted = [
        wanted for place in inside for wanted in _globs_of(place, globs, os.path.join(root, place), own_base or "")
    ]
    return SearchedFiles(tuple(wanted), is_file) if len(wanted) <= _MOST_GLOBS else SearchedFiles()


def _below(root: str, path: str) -> str | None:
    """Return a path relative to the root, empty for the root and its parents; None if it is elsewhere."""
    given = os.path.normpath(path)
    for whole in (given, os.path.realpath(given)):
        if whole == root or root.startswith(whole.rstrip(os.sep) + os.sep):
            return ""
        if whole.startswith(root + os.sep):
            return whole[len(root) + 1 :].replace(os.sep, "/")
    return None


def _globs_of(place: str, globs: Sequence[str], whole: str, base: str) -> Iterator[str]:
    """Yield the globs for files below a path of the project that match one of some globs."""
    start = _SPECIAL.sub(lambda match: f"[{match[0]}]" if match[0] != "!" else "?", place)
    if os.path.isfile(whole):
        yield start
        return
    if not globs:
        yield f"{start}/*"
    for glob in globs:
        if "/" in glob.strip("/"):
            yield (
                os.path.join(base, glob.lstrip("/").removeprefix("./")) if base else glob.lstrip("/").removeprefix("./")
            )
        elif not start:
            yield from (glob,) if glob.startswith("*") else (glob, f"*/{glob}")
        else:
            yield from (f"{start}/{glob}",) if glob.startswith("*") else (f"{start}/{glob}", f"{start}/*/{glob}")


def _without_braces(glob: str) -> list[str]:
    match = _BRACES.search(glob)
    if match is None:
        return [glob]
    return [glob[: match.start()] + option + glob[match.end() :] for option in match[1].split(",")][:_MOST_GLOBS]


# -- what is said ------------------------------------------------------------------------------------------------------


def lay_out(findings: Sequence[SearchFinding], shown: frozenset[tuple[str, int]], max_tokens: int) -> str:
    """Return findings as text, as far as there is room.

    Args:
        findings: in order.
        shown: the (file name, line) that the agent sees already.
        max_tokens: of the text.
    """
    lines: list[str] = []
    left = max_tokens
    for found in findings:
        what = f"`{inert_line(found.what, _MAX_WHAT_CHARS)}`"
        added = [f"{OPEN}cairn{CLOSE} {_HEADS[found.how].format(what)}"]
        n_places = 0
        for place in found.places:
            own = list(_lines_of(found, place, shown))
            cost = count_tokens("\n".join([*added, *own]))
            if cost > left:
                break
            added += own
            n_places += 1
        n_more = found.n_more + len(found.places) - n_places
        if not n_places:
            break
        if n_more:
            added.append(f"| … and {n_more} more")
        lines += added
        left -= count_tokens("\n".join(added))
    return "\n".join(lines)


def _lines_of(found: SearchFinding, place: CodePlace, shown: frozenset[tuple[str, int]]) -> Iterator[str]:
    path = inert_line(place.path, _MAX_PATH_CHARS)
    line = f"| {path}:{place.first}-{place.last} {place.kind} {inert_line(place.name, _MAX_WHAT_CHARS)}"
    if place.signature and found.how != "matched" and (_name_of(place.path), place.first) not in shown:
        line += f": {inert_line(place.signature, _MAX_SIGNATURE_CHARS)}"
    if found.how == "meant":
        line += f" ({place.confidence} confidence)"
    yield line
    if place.n_calls > 0:
        fresh = [caller for caller in place.callers if (_name_of(caller.path), caller.line) not in shown]
        examples = ", ".join(_caller(caller) for caller in fresh[:MOST_CALLERS])
        such_as = ", such as " if len(place.callers) > len(fresh[:MOST_CALLERS]) else ": "
        count = pluralize(place.n_calls, "known call" if place.has_more else "call")
        yield f"|   {count}{such_as if examples else ''}{examples}"


def _caller(caller: CallPlace) -> str:
    where = f"{inert_line(caller.path, _MAX_PATH_CHARS)}:{caller.line}"
    return f"{where} in {inert_line(caller.name, _MAX_WHAT_CHARS)}" if caller.name else where


def _shown_lines(occasion: Occasion) -> frozenset[tuple[str, int]]:
    """Return the lines that a search's result shows, as (file name, number)."""
    if not occasion.is_over:
        return frozenset()
    return frozenset((_name_of(path), int(line[:9])) for path, line in _SHOWN_LINE.findall(occasion.output))


def _name_of(path: str) -> str:
    return path.rpartition("/")[2]


def _count(findings: Sequence[SearchFinding]) -> int:
    return sum(len(found.places) + found.n_more for found in findings)


def _key(found: SearchFinding) -> str:
    return f"search\0{found.how}\0{found.what}"


def _targets(findings: Sequence[SearchFinding]) -> list[SearchTarget]:
    places = (place for found in findings for place in found.places)
    return [SearchTarget(place.path, place.name, place.first) for place in places][:_MOST_TARGETS]


def _row(occasion: Occasion) -> ServedAnswer:
    return ServedAnswer(
        session=occasion.ledger,
        seconds=occasion.seconds,
        agent=occasion.agent,
        kind="search",
        is_replacing=False,
        path="",
        hash="",
        tokens=0,
    )
