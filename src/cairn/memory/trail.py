"""What a session tried, and what came of it: what failed, what was changed meanwhile, and what then succeeded."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from cairn.memory.commands import (
    Command,
    CommandStep,
    are_alike,
    covers,
    files_written,
    is_remedy,
    is_revert,
    parse_command,
)
from cairn.memory.failures import Failure, failure_of, was_stopped
from cairn.memory.moments import ToolCall
from cairn.source.roles import Role, role_of

FIXED, UNTIL, INSTEAD, FLAKY, OPEN = "fixed", "until", "instead", "flaky", "open"

_MAX_OPEN, _MAX_EDITED, _MAX_EDITS, _MAX_CALLS = 8, 200, 20, 150
_MAX_COMMAND_CHARS, _MAX_SHOWN_CHARS = 1_000, 120
_WAY = "This works instead:"
_NEAR_CALLS = 8  # between a failure and another way that works
_SETUP_KINDS = frozenset(
    {"command", "module", "path", "package", "network", "permission", "database", "container", "other", "build"}
)
_OUTSIDE_KINDS = frozenset({"network", "permission", "git", "container", "cloud", "command", "package"})
_SLIP_KINDS = frozenset({"lint", "format", "compile", "type"})
_UNUSED = re.compile(r"\b(?:unused|never (?:used|read)|not used)\b")
_OF_A_SLIP = 3  # the importance of what a tool told and its line mended
_SLIPS = re.compile(
    r"SyntaxError|IndentationError|TabError|[Uu]nexpected token|NameError|is not defined|cannot find symbol"
)
_SETTINGS = re.compile(
    r"(?:^|/)(?:\.[\w.-]+|[\w.-]*(?:config|settings|compose|Dockerfile|Makefile|Containerfile)[\w.-]*"
    r"|[\w.-]+\.(?:ya?ml|toml|json|ini|cfg|conf|env|tf|lock|mod|xml|gradle|kts|properties|nix|txt|csproj))$"
)
_PROSE = (".md", ".rst", ".adoc", ".txt")
_BUG_WORDS = re.compile(
    r"\b(?:fix\w*|bugs?|broken|crash\w*|fail\w*|errors?|wrong\w*|incorrect\w*|doesn'?t work|not working|exception"
    r"|regression|flaky|leak\w*|hangs?|issue|debug|investigate|problem|why (?:is|does|do|are)|off.by.one|reproduce)\b",
    re.IGNORECASE,
)
_GO_ON_WORDS = 4  # a prompt of at most so many words means what the last one meant
_DIGITS = re.compile(r"0x[0-9a-f]+|\d+")


class Proposal(NamedTuple):
    """Something that may be worth remembering.

    Attributes:
        outcome: how it was learned: one of `FIXED`, `UNTIL`, `INSTEAD`, `FLAKY`, `OPEN`; empty for what was stated.
        type: of the memory.
        text: of the memory.
        confidence: that it is true and of use, from 0 to 1.
        importance: 1 to 10.
        paths: what it speaks of, the first mattering most.
        key: the same for what happens again.
    """

    outcome: str
    type: str
    text: str
    confidence: float
    importance: int
    paths: tuple[str, ...]
    key: str


@dataclass
class OpenFailure:
    """A command that failed and did not succeed since.

    Attributes:
        command: as it was run.
        failure: what its last run showed.
        call: the number of the call that failed first.
        earlier: messages of earlier runs that were something else.
        edits: files that were changed since.
        remedies: commands since that change what others run in.
        is_red_first: the test that fails was written just before.
        is_own: what fails was written in this session.
        was_reverted: edits were taken back since.
    """

    command: str
    failure: Failure
    call: int
    earlier: list[str] = field(default_factory=list)
    edits: list[str] = field(default_factory=list)
    remedies: list[str] = field(default_factory=list)
    is_red_first: bool = False
    is_own: bool = False
    was_reverted: bool = False

    @property
    def steps(self) -> tuple[CommandStep, ...]:
        """The steps that may have failed."""
        work = parse_command(self.command).work
        printers = tuple(step for step in work if step.program == self.failure.program)
        return printers or work

    @property
    def key(self) -> str:
        """The same for this failure whenever it happens, wherever its lines have moved."""
        return key_of("failure", " ".join(step.program for step in self.steps), self.failure.test, self.failure.message)


@dataclass
class Trail:
    """The state of one session, small enough to be kept between moments.

    Attributes:
        calls: how many there were.
        is_fixing: the last prompt asked for something to be mended.
        edited: the files that were changed, with the number of the last call that did.
        failures: the open ones, the oldest first.
        fixes: ids of memories of fixes since the agent last spoke.
    """

    calls: int = 0
    is_fixing: bool = False
    edited: dict[str, int] = field(default_factory=dict)
    failures: list[OpenFailure] = field(default_factory=list)
    fixes: list[str] = field(default_factory=list)

    def to_json(self) -> str:
        """Return the state as text."""
        return json.dumps(asdict(self), ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Trail:
        """Return the state that a text says."""
        document: dict[str, Any] = json.loads(text)
        failures = [
            OpenFailure(**(entry | {"failure": Failure(*entry["failure"])})) for entry in document.pop("failures")
        ]
        return cls(**document, failures=failures)

    # -- what happens -------------------------------------------------------------------------------------------------

    def ask(self, prompt: str) -> None:
        """Note what the user asks for."""
        if len(prompt.split()) > _GO_ON_WORDS or not self.calls:
            self.is_fixing = _BUG_WORDS.search(prompt[:4_000]) is not None

    def take(self, call: ToolCall, root: str) -> list[Proposal]:
        """Note a call that ended, and return what may be learned from it.

        Args:
            call: without secrets.
            root: of the project, so that paths in outputs can be told.
        """
        self.calls += 1
        self.failures = [kept for kept in self.failures if self.calls - kept.call <= _MAX_CALLS]
        failure = failure_of(call)
        if failure is not None:
            return self._note_failure(call, failure._replace(file=self._place(failure.file, root)))
        if call.is_failure or was_stopped(call):
            return []
        if call.is_edit:
            self._note_edit([call.target])
        if call.tool != "shell":
            return []
        return self._note_success(call, root)

    def _note_edit(self, paths: Iterable[str]) -> None:
        for path in paths:
            self.edited.pop(path, None)
            self.edited[path] = self.calls
            for broken in self.failures:
                if path not in broken.edits and len(broken.edits) < _MAX_EDITS:
                    broken.edits.append(path)
        for path in list(self.edited)[:-_MAX_EDITED]:
            del self.edited[path]

    def _place(self, file: str, root: str) -> str:
        """Return a file of an output as the project calls it."""
        path = file.replace("\\", "/").removeprefix(root.rstrip("/") + "/").removeprefix("./").removeprefix("file://")
        if not path or "/" in path or path in self.edited:
            return path
        return next((edited for edited in reversed(self.edited) if PurePosixPath(edited).name == path), path)

    # -- failures -----------------------------------------------------------------------------------------------------

    def _note_failure(self, call: ToolCall, failure: Failure) -> list[Proposal]:
        command = call.target[:_MAX_COMMAND_CHARS]
        fresh = OpenFailure(command, failure, self.calls)
        if call.tool != "shell":
            fresh.command = call.name
            return [_propose_open(fresh)] if failure.message else []
        fresh.is_red_first, fresh.is_own = self._is_red_first(failure), failure.file in self.edited
        self._note_remedies(_done_before(call.target, failure.program))
        if (before := self._same_command(fresh)) is not None:
            _fail_again(before, fresh)
            return []
        self.failures = [*self.failures[1 - _MAX_OPEN :], fresh]
        return [_propose_open(fresh)] if failure.message and not fresh.is_red_first else []

    def _note_remedies(self, commands: Iterable[str]) -> None:
        for broken in self.failures:
            broken.remedies += map(_show, commands)

    def _same_command(self, fresh: OpenFailure) -> OpenFailure | None:
        for broken in self.failures:
            if any(covers(new, old) or covers(old, new) for new in fresh.steps for old in broken.steps):
                return broken
        return None

    def _is_red_first(self, failure: Failure) -> bool:
        """Whether the test that fails was written just before, to fail."""
        if failure.file in self.edited and (failure.kind == "test" or _is_test(failure.file)):
            return True
        stems = [PurePosixPath(path).stem for path in self.edited if _is_test(path)]
        return bool(failure.test) and any(len(stem) > 3 and stem in failure.test for stem in stems)

    # -- successes ----------------------------------------------------------------------------------------------------

    def _note_success(self, call: ToolCall, root: str) -> list[Proposal]:
        command = parse_command(call.target)
        if is_revert(call.target):
            self._note_revert()
            return []
        proposals = [] if command.is_filtered else self._close(call.target, command)
        if written := files_written(call.target, root):
            self._note_edit(written)
        if is_remedy(call.target):
            self._note_remedies([call.target])
        if any(step.base[:2] == ("git", "commit") for step in command.steps):
            self.edited.clear()
        return proposals

    def _note_revert(self) -> None:
        for broken in self.failures:
            broken.was_reverted = broken.was_reverted or bool(self.edited)
            broken.edits.clear()
        self.edited.clear()

    def _close(self, text: str, command: Command) -> list[Proposal]:
        proposals, still_open = [], []
        for broken in self.failures:
            if not _does_again(command, broken):
                if (instead := self._another_way(text, command, broken)) is not None:
                    proposals.append(instead)
                else:
                    still_open.append(broken)
            elif broken.edits or _is_whole(command, broken):
                proposals += self._learn(text, broken)
            else:
                still_open.append(broken)
        self.failures = still_open
        return proposals

    def _learn(self, text: str, broken: OpenFailure) -> list[Proposal]:
        """Return what a success tells about the failure before."""
        if broken.edits:
            return [] if broken.is_red_first and not self.is_fixing else [_propose_fix(broken, self.calls)]
        if broken.was_reverted or broken.is_red_first:
            return []
        if broken.remedies:
            return [_propose_remedy(broken)]
        if _differs(text, broken):
            return [_propose_way(broken, text)]
        return [_propose_chance(broken)]

    def _another_way(self, text: str, command: Command, broken: OpenFailure) -> Proposal | None:
        is_near = self.calls - broken.call <= _NEAR_CALLS and not broken.edits and not broken.remedies
        if not is_near or broken.failure.kind not in _SETUP_KINDS or len(command.work) > 2 or is_remedy(text):
            return None
        if any(are_alike(old, new) for old in broken.steps for new in command.work):
            return _propose_way(broken, text)
        return None


def _done_before(command: str, program: str) -> list[str]:
    """Return the steps before one that failed that changed what others run in, as in `pip install x && pytest`."""
    steps = parse_command(command).steps
    failed = next((place for place, step in enumerate(steps) if step.program == program), 0)
    return [text for step in steps[:failed] if is_remedy(text := " ".join(step.raw))]


def _fail_again(before: OpenFailure, fresh: OpenFailure) -> None:
    if fresh.key == before.key:
        return
    if before.edits or before.remedies:
        if before.failure.message and before.failure.message not in before.earlier:
            before.earlier = [*before.earlier[-1:], before.failure.message]
        before.failure = fresh.failure
        before.is_own = before.is_own and fresh.is_own


def _does_again(command: Command, broken: OpenFailure) -> bool:
    """Whether a command does what failed, perhaps in part."""
    failure = broken.failure
    return bool(broken.steps) and all(
        any(covers(step, old, file=failure.file, test=failure.test) for step in command.work) for old in broken.steps
    )


def _is_whole(command: Command, broken: OpenFailure) -> bool:
    """Whether a command does all that failed."""
    return all(any(covers(step, old) for step in command.work) for old in broken.steps)


def _differs(text: str, broken: OpenFailure) -> bool:
    """Whether the same was done in another way: by another runner, elsewhere, or with other variables."""
    old, new = parse_command(broken.command), parse_command(text)
    return old.folders != new.folders or _ways(old) != _ways(new)


def _ways(command: Command) -> list[tuple[str, ...]]:
    return [step.way for step in command.work]


# -- what is said ------------------------------------------------------------------------------------------------------


def _propose_open(broken: OpenFailure) -> Proposal:
    text = f"{_quote(broken.command)} failed{_what(broken.failure)}."
    return Proposal(OPEN, "gotcha", text, 0.4, 5, _paths(broken), broken.key)


def _propose_fix(broken: OpenFailure, calls: int) -> Proposal:
    failure = broken.failure
    before = f" Before that: {_sentence(broken.earlier[-1])}" if broken.earlier else ""
    files = _list_files(broken.edits, failure.file)
    text = (
        f"{_quote(broken.command)} failed{_what(failure)}.{before} Fixed in {files}; the command has succeeded since."
    )
    importance = 5 if broken.is_own else 6
    is_told = failure.kind in ("lint", "format") or _UNUSED.search(failure.message) is not None
    if is_told and broken.edits == [failure.file]:
        importance = _OF_A_SLIP  # it was mended where the tool said, as it would be again
    return Proposal(FIXED, "bug_fix", text, _trust(broken, calls), importance, _paths(broken), broken.key)


def _trust(broken: OpenFailure, calls: int) -> float:
    """Return how sure it is that the edits mended the failure, and that others may meet it."""
    failure, edits = broken.failure, broken.edits
    is_near = failure.file in edits
    confidence = 0.85 + 0.1 * is_near
    if not failure.message:
        confidence -= 0.3
    elif not failure.shape:
        confidence -= 0.1
    if not is_near and all(path.endswith(_PROSE) for path in edits):
        confidence -= 0.3
    if failure.kind in _OUTSIDE_KINDS and not is_near and not any(map(_SETTINGS.search, edits)):
        confidence -= 0.3
    if broken.is_own and (failure.kind in _SLIP_KINDS or _SLIPS.search(failure.message)):
        confidence -= 0.35
    if failure.kind == "format":
        confidence -= 0.35
    if all(step.is_inline for step in broken.steps):
        confidence -= 0.35
    if len(edits) > 10 or calls - broken.call > 60:
        confidence -= 0.1
    return round(confidence, 2)


def _propose_remedy(broken: OpenFailure) -> Proposal:
    remedies = " and ".join(_quote(remedy) for remedy in broken.remedies[-2:])
    text = f"{_quote(broken.command)} failed{_what(broken.failure)}. It succeeds after {remedies}."
    confidence = 0.8 if broken.failure.kind in _SETUP_KINDS or broken.failure.shape else 0.65
    return Proposal(UNTIL, "gotcha", text, confidence, 6, _paths(broken), broken.key)


def _propose_way(broken: OpenFailure, command: str) -> Proposal:
    text = f"{_quote(broken.command)} failed{_what(broken.failure)}. {_WAY} {_quote(command)}."
    confidence = 0.8 if broken.failure.kind in _SETUP_KINDS - {"other", "path"} else 0.7
    return Proposal(INSTEAD, "gotcha", text, confidence, 6, _paths(broken), broken.key)


def names_another_way(text: str, command: str) -> bool:
    """Tell whether a text that was proposed says what works instead of a command that failed."""
    return text.startswith(f"{_quote(command)} failed") and f". {_WAY} " in text


def _propose_chance(broken: OpenFailure) -> Proposal:
    text = f"{_quote(broken.command)} failed once{_what(broken.failure)}, and succeeded again without a change."
    return Proposal(FLAKY, "gotcha", text, 0.5, 4, _paths(broken), key_of("flaky", broken.key))


def _what(failure: Failure) -> str:
    """Return what went wrong and where, to stand behind "failed"."""
    if not failure.message:
        return ""
    code = f"{failure.code}: " if failure.code and failure.code not in failure.message else ""
    place = f"{failure.file}:{failure.line}" if failure.file and failure.line else failure.file
    if failure.test and failure.test not in failure.message and failure.test != failure.file:
        place = f"{place}, {failure.test}" if place else failure.test
    where = f" ({place})" if place and place not in failure.message else ""
    return f": {code}{failure.message.rstrip('.')}{where}"


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def _list_files(edits: Sequence[str], first: str) -> str:
    ordered = sorted(edits, key=lambda path: path != first)
    names = ", ".join(ordered[:3])
    return names if len(ordered) <= 3 else f"{names} and {len(ordered) - 3} more"


def _paths(broken: OpenFailure) -> tuple[str, ...]:
    file = broken.failure.file
    paths = [*sorted(broken.edits, key=lambda path: path != file)[:5], file]
    return tuple(dict.fromkeys(path for path in paths if path and not path.startswith(("/", "~", ".."))))


def _show(command: str) -> str:
    """Return a command as it is shown: one line, without a folder that it enters first, not too long."""
    line = " ".join(command.split("\n", 1)[0].split())
    entered = re.match(r"cd /\S* && ", line)
    line = line[entered.end() :] if entered else line
    line = re.sub(r" (?:2>&1|\| (?:tail|head)\b[^|;&]*)", "", line)
    return line if len(line) <= _MAX_SHOWN_CHARS else line[: _MAX_SHOWN_CHARS - 1] + "…"


def _quote(command: str) -> str:
    return f"`{_show(command).replace('`', chr(39))}`"


def key_of(*parts: str, keeps_numbers: bool = False) -> str:
    """Return a name for what is told by some texts, whatever numbers are in them unless these are to be kept."""
    words = "\0".join(" ".join(part.lower().split()) for part in parts)
    words = words if keeps_numbers else _DIGITS.sub("#", words)
    return sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _is_test(path: str) -> bool:
    return bool(role_of(path, "") & Role.TEST)
