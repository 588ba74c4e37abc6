"""What a session was for, from what was done in it: planning, investigation, implementation, or a mixture."""

from __future__ import annotations

import re

from cairn.memory.moments import ToolCall
from cairn.storage.memory.rows import Session

PLANNING, INVESTIGATION, IMPLEMENTATION, MIXED = "planning", "investigation", "implementation", "mixed"
ORIGINS = (PLANNING, INVESTIGATION, IMPLEMENTATION, MIXED)
_MANY_READS = 5  # for each edit
_FEW_EDITS = 2
MOST_IMPORTANT = 5  # what nobody tried out is not more important than this

_READ_TOOLS = ("read", "search", "list")
# Agents without tools for reading read through the shell.
_READER_NAMES = (
    "cat head tail less more nl bat batcat ls tree find fd rg grep egrep fgrep ag ack wc file stat sed awk cut sort "
    "uniq jq yq diff cmp xxd od strings which type pwd cd echo printf true test tee"
)
_GIT_READER_NAMES = "show log diff blame grep status ls-files ls-tree cat-file branch rev-parse"
_READERS, _GIT_READERS = frozenset(_READER_NAMES.split()), frozenset(_GIT_READER_NAMES.split())
_CHANGES = re.compile(r"\b(?:sed|perl)\s+(?:-\S+\s+)*-(?:i|pi)|\btee\b|\bapply_patch\b|\bgit\s+(?:apply|am)\b")
_WRITES = re.compile(r"(?<![0-9&>])(?:[0-9]?>>?)(?!\s*(?:/dev/null|&))\s*\S")
_SEPARATORS = re.compile(r"\|\||&&|[;|\n]")
_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"")
_SILENT = ("cd", "pwd", "true", "test", "echo", "printf")  # show nothing of a project
_PLAN_TOOLS = ("exitplanmode", "enterplanmode", "createplan", "plan")
_PLAN_FOLDERS = (".claude/plans/", ".cursor/plans/", ".windsurf/plans/", ".github/plans/")
_MOST_CHARS = 2_000  # of a command that are looked at


def origin_of(session: Session) -> str:
    """Return what a session was for; empty while nothing was done in it."""
    if not session.n_activities:
        return ""
    reads_of_an_edit = session.n_reads / max(1, session.n_edits)
    if session.has_plan and session.n_edits <= _FEW_EDITS:
        return PLANNING
    if session.n_edits <= _FEW_EDITS:
        return INVESTIGATION if reads_of_an_edit > _MANY_READS else MIXED
    return MIXED if reads_of_an_edit > _MANY_READS else IMPLEMENTATION


def is_plan(call: ToolCall) -> bool:
    """Tell whether a call makes a plan of the work; a list of tasks is none."""
    if call.name.lower().replace("_", "").replace("-", "") in _PLAN_TOOLS:
        return True
    target = call.target.replace("\\", "/")
    return call.is_edit and any(folder in target for folder in _PLAN_FOLDERS)


def is_edit(call: ToolCall) -> bool:
    """Tell whether a call changed a file of the project; in a shell, as far as its command says so."""
    if call.is_failure or call.outcome == "denied" or is_plan(call):
        return False
    return _changes(_plain(call)) if call.tool == "shell" else call.is_edit


def is_read(call: ToolCall) -> bool:
    """Tell whether a call looked at the project and changed nothing."""
    if call.outcome == "denied":
        return False
    if call.tool != "shell":
        return call.tool in _READ_TOOLS and not call.is_failure
    command = _plain(call)  # a search that finds nothing ends with an exit code of 1, and is a read
    programs = _programs(command)
    shows = any(words[0] not in _SILENT for words in programs)
    return shows and all(map(_reads, programs)) and not _changes(command)


def _changes(command: str) -> bool:
    if _CHANGES.search(command) is not None:
        return True
    return _WRITES.search(command) is not None and all(map(_reads, _programs(command)))


def _plain(call: ToolCall) -> str:
    """Return a command without what is quoted and what it is fed."""
    return _QUOTED.sub("''", call.target[:_MOST_CHARS]).partition("<<")[0]


def _programs(command: str) -> list[list[str]]:
    return [words for part in _SEPARATORS.split(command) if (words := part.split())]


def _reads(words: list[str]) -> bool:
    if words[0] == "git":
        return len(words) > 1 and words[1] in _GIT_READERS
    return words[0].rpartition("/")[2] in _READERS
