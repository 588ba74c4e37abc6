"""What an agent reads until it knows something, with Cairn's hooks and without: 40 questions to 4 repositories.

    python bench/replay.py FOLDER [--only NAME]... [--show]

FOLDER holds a folder for each of the repositories in bench/data/exploration.tsv, at the revisions of the retrieval
benchmark. No model is asked: the agent is a few rules. It searches for the patterns of the task with grep, then reads
what it was pointed to, until it has seen the lines that answer the question. One kind of agent reads whole files, the
other reads around the lines that grep found. All that it is shown counts: what grep and reads print as Claude Code
shows it, and what our hooks add or say instead.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import cairn
from cairn.hooks.dispatch import open_case, take_in
from cairn.hooks.envelope import MAGIC
from cairn.hooks.intercept import Interceptor
from cairn.hooks_settings import HooksSettings
from cairn.source.text import count_tokens

DATA = Path(__file__).parent / "data" / "exploration.tsv"
TOKENIZER = "cairn.source.text.count_tokens"
MODES = ("none", "off", "suggest", "replace")
STYLES = ("whole files", "around hits")
MAX_READ_LINES, MAX_LINE_CHARS = 2_000, 2_000  # of one read, as Claude Code's
MAX_SHELL_CHARS = 30_000  # of what a command printed, as Claude Code's
MOST_CALLS = 40
_BEFORE, _AFTER = 15, 60  # lines around a hit that a careful agent reads
_MOST_SPANS = 3  # of one outline that it reads because of one thing, before it asks for the file again
_SPAN = re.compile(r"([\w./+-]+\.\w+):(\d+)-(\d+)")
_ENTRY = re.compile(r"^\s*(\d+)-(\d+)\s+(\S.*)$", re.MULTILINE)
_MATCHING = re.compile(r"searches match⟧\n(.*?)⟦", re.DOTALL)
_DEFINES = re.compile(r"\b(?:def|class|func|fn|struct|enum|trait|impl|type|interface)\b")
_TESTS = re.compile(r"(?:^|/)tests?(?:/|_)|_test\.|/test_|^test_")


class Task(NamedTuple):
    """A question, what an agent greps for, and the places of the lines that answer it."""

    repository: str
    question: str
    patterns: tuple[str, ...]
    facts: tuple[tuple[str, int], ...]


class Outcome(NamedTuple):
    """What it took: tokens that the model was shown, calls, and how many of the facts it saw."""

    tokens: int
    calls: int
    reached: int
    facts: int


class Lead(NamedTuple):
    """Something to read: a file, or some lines of it."""

    path: str
    first: int = 0
    last: int = 0


def load_tasks() -> list[Task]:
    """Return the tasks."""
    tasks = []
    for row in DATA.read_text(encoding="utf-8").splitlines():
        if not row.startswith("#"):
            repository, question, patterns, facts = row.split("\t")
            places = (fact.rsplit(":", 1) for fact in facts.split(";"))
            found = tuple((path, int(line)) for path, line in places)
            tasks.append(Task(repository, question, tuple(patterns.split(";")), found))
    return tasks


class Hooks:
    """The hooks of Claude Code in one session, by the way that their events take through the daemon."""

    def __init__(self, workspace: cairn.Workspace, interceptor: Interceptor, session: str) -> None:
        self._workspace, self._interceptor, self._session = workspace, interceptor, session
        self._calls = 0

    def say(self, event: str, name: str, **payload: Any) -> dict[str, str]:  # noqa: ANN401 - JSON
        """Report an event; return what the agent is answered, by the names of Claude Code."""
        root = str(self._workspace.root)
        document = {"session_id": self._session, "cwd": root, "hook_event_name": name, **payload}
        self._calls += 1
        sent = json.dumps(document).encode()
        fields = (f"{self._session}.{self._calls}", "claude-code", event, str(time.time()), root, str(len(sent)))
        head = b"\0".join([MAGIC, *map(str.encode, fields), b"CLAUDECODE=1", b"", b""])
        content = head + sent
        case = open_case(content, [root])
        if isinstance(case, str):
            raise SystemExit(f"an event of the bench was dropped: {name} {case}")
        answer = take_in(case, self._workspace, self._interceptor)
        specific: dict[str, str] = json.loads(answer)["hookSpecificOutput"] if answer else {}
        return specific


class Explorer:
    """An agent with a few rules.

    Args:
        root: of the repository.
        task: what it wants to know.
        style: one of `STYLES`.
        hooks: None without Cairn.
    """

    def __init__(self, root: Path, task: Task, style: str, hooks: Hooks | None) -> None:
        self._root, self._task, self._style, self._hooks = root, task, style, hooks
        self._missing = {_line_of(root, path, line) for path, line in task.facts}
        self._n_facts = len(self._missing)
        self.tokens = self.calls = 0
        self._leads: list[Lead] = []
        self._hits: dict[str, list[int]] = {}
        self._read: dict[str, set[int]] = {}
        self.trace: list[str] = []

    def explore(self) -> Outcome:
        """Search and read until all is known, or there is nothing left to read."""
        if self._hooks is not None:
            for event, name, more in (
                ("session-start", "SessionStart", {"source": "startup"}),
                ("prompt", "UserPromptSubmit", {"prompt": self._task.question}),
            ):
                self._see(self._hooks.say(event, name, **more).get("additionalContext", ""), name)
        for pattern in self._task.patterns:
            if self._missing:
                self._grep(pattern)
        for lead in self._next():
            if not self._missing or self.calls >= MOST_CALLS:
                break
            self._follow(lead)
        return Outcome(self.tokens, self.calls, self._n_facts - len(self._missing), self._n_facts)

    # -- what it is shown ---------------------------------------------------------------------------------------------

    def _see(self, text: str, what: str) -> None:
        if not text:
            return
        tokens = count_tokens(text)
        self.tokens += tokens
        self.trace.append(f"{tokens:>7} {what}")
        self._missing = {line for line in self._missing if line not in text}

    def _call(self, name: str, given: dict[str, Any], what: str) -> tuple[bool, str]:
        """Announce a call; return whether it may run, and what the hook says."""
        self.calls += 1
        if self._hooks is None:
            return True, ""
        number = f"toolu_{self.calls}"
        answer = self._hooks.say("before-tool", "PreToolUse", tool_name=name, tool_input=given, tool_use_id=number)
        said = answer.get("permissionDecisionReason", "") or answer.get("additionalContext", "")
        self._see(said, f"hook: {what}")
        return answer.get("permissionDecision") != "deny", said

    def _end(self, name: str, given: dict[str, Any], response: object, what: str) -> None:
        if self._hooks is not None:
            number = f"toolu_{self.calls}"
            answer = self._hooks.say(
                "after-tool", "PostToolUse", tool_name=name, tool_input=given, tool_use_id=number,
                tool_response=response,
            )  # fmt: skip
            self._see(answer.get("additionalContext", ""), f"hook after: {what}")

    # -- searching ----------------------------------------------------------------------------------------------------

    def _grep(self, pattern: str) -> None:
        given = {"command": f"grep -rn '{pattern}' .", "description": "Search"}
        _, said = self._call("Bash", given, given["command"])
        done = subprocess.run(
            ["grep", "-rnI", "--exclude-dir=.git", "--exclude-dir=.cairn", pattern, "."],
            cwd=self._root, capture_output=True, text=True, errors="replace", check=False,
        )  # fmt: skip
        printed = done.stdout[:MAX_SHELL_CHARS]
        self._see(printed, given["command"])
        self._end("Bash", given, {"stdout": printed, "stderr": "", "interrupted": False}, given["command"])
        self._leads += [
            Lead(path, int(first), int(last))
            for path, first, last in _SPAN.findall(said)
            if (self._root / path).is_file()
        ]
        self._note_hits(pattern, printed)

    def _note_hits(self, pattern: str, printed: str) -> None:
        scores: Counter[str] = Counter()
        for row in printed.splitlines():
            path, _, rest = row.partition(":")
            number, _, line = rest.partition(":")
            path = path.removeprefix("./")
            if not number.isdigit():
                continue
            defines = _DEFINES.search(line) is not None and re.search(pattern, line) is not None
            scores[path] += (50 if defines else 1) - (40 if _TESTS.search(path) else 0)
            hits = self._hits.setdefault(path, [])
            hits.insert(0, int(number)) if defines else hits.append(int(number))
        self._leads += [Lead(path) for path, score in scores.most_common(4) if score > 0]

    # -- reading ------------------------------------------------------------------------------------------------------

    def _next(self) -> Iterator[Lead]:
        """Yield what to read: spans that somebody pointed to, then around hits if that is the style, then files."""
        leads = list(dict.fromkeys(self._leads))
        files = [lead for lead in leads if not lead.last]
        yield from (lead for lead in leads if lead.last)
        if self._style == "around hits":
            for lead in files:
                hits = self._hits.get(lead.path, ())[:3]
                yield from (Lead(lead.path, max(1, line - _BEFORE), line + _AFTER) for line in hits)
        yield from files

    def _follow(self, lead: Lead) -> None:
        if lead.last:
            self._read_lines(lead)
        else:
            self._read_file(lead.path)

    def _read_lines(self, lead: Lead) -> None:
        seen = self._read.setdefault(lead.path, set())
        lines = range(lead.first, lead.last + 1)
        if seen.issuperset(lines):
            return
        seen.update(lines)
        given = {"file_path": str(self._root / lead.path), "offset": lead.first, "limit": lead.last - lead.first + 1}
        self._use_read(given, lead.path, lead.first, lead.last)

    def _read_file(self, path: str) -> None:
        """Read a whole file; if an outline comes instead, what it says of the question, and then the file."""
        given = {"file_path": str(self._root / path)}
        said = self._use_read(given, path, 1, MAX_READ_LINES)
        if said is None:
            self._read_pages(path, after=MAX_READ_LINES)
            return
        for span in self._spans_of(said):
            if not self._missing:
                return
            self._read_lines(Lead(path, *span))
        if self._missing:
            self._use_read(given, path, 1, MAX_READ_LINES)
            self._read_pages(path, after=MAX_READ_LINES)

    def _read_pages(self, path: str, after: int = 0) -> None:
        """Read the lines of a file after some line; where there are many, in several reads."""
        n_lines = len((self._root / path).read_text(encoding="utf-8", errors="replace").splitlines())
        for first in range(after + 1, n_lines + 1, MAX_READ_LINES):
            if self._missing:
                self._read_lines(Lead(path, first, first + MAX_READ_LINES - 1))

    def _spans_of(self, outline: str) -> list[tuple[int, int]]:
        """Return the parts of an outline that the searches match, then those whose names share most with the task."""
        match = _MATCHING.search(outline)
        matching = [(int(first), int(last)) for first, last, _ in _ENTRY.findall(match[1])] if match else []
        wanted = _words(" ".join([*self._task.patterns, self._task.question]))
        asked = {pattern.lower() for pattern in self._task.patterns}
        ranked = []
        for first, last, signature in _ENTRY.findall(outline):
            shared = len(wanted & _words(signature))
            exact = any(pattern in signature.lower() for pattern in asked)
            if shared or exact:
                ranked.append((-(3 * exact + shared), int(first), int(last)))
        named = [(first, last) for _, first, last in sorted(ranked)]
        return list(dict.fromkeys([*matching[:_MOST_SPANS], *named]))[: 2 * _MOST_SPANS]

    def _use_read(self, given: dict[str, Any], path: str, first: int, last: int) -> str | None:
        """Read; return what came in the place of the file, None if it came."""
        what = f"read {path}" + (f":{first}-{last}" if "limit" in given else "")
        runs, said = self._call("Read", given, what)
        if not runs:
            return said
        lines = (self._root / path).read_text(encoding="utf-8", errors="replace").splitlines()
        shown = [
            f"{number:>6}\t{line[:MAX_LINE_CHARS]}" for number, line in enumerate(lines[first - 1 : last], start=first)
        ]
        self._see("\n".join(shown), what)
        answer = {"type": "text", "file": {"filePath": given["file_path"], "numLines": len(shown)}}
        self._end("Read", given, answer, what)
        return None


def _words(text: str) -> set[str]:
    """Return the words of a text and of the names in it, without their endings."""
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", text)
    return {word.lower().rstrip("s") for word in words if len(word) > 3}


def _line_of(root: Path, path: str, line: int) -> str:
    return (root / path).read_text(encoding="utf-8").splitlines()[line - 1].strip()


def run(folder: Path, tasks: Sequence[Task], show: bool) -> dict[tuple[str, str], list[Outcome]]:
    """Let every kind of agent do every task in every mode."""
    outcomes: dict[tuple[str, str], list[Outcome]] = {(style, mode): [] for style in STYLES for mode in MODES}
    for repository in dict.fromkeys(task.repository for task in tasks):
        root = folder / repository
        for mode in MODES:
            with tempfile.TemporaryDirectory() as state, cairn.Workspace.open(root, state_dir=state) as workspace:
                workspace.index()
                workspace.graph.current()  # so that the graph is there, as in a daemon that runs
                settings = HooksSettings(reads=mode) if mode != "none" else None
                interceptor = None if settings is None else Interceptor(workspace, settings, seconds=2.0)
                for style in STYLES:
                    for number, task in enumerate(task for task in tasks if task.repository == repository):
                        session = f"{style[:5]}-{mode}-{number}"
                        hooks = None if interceptor is None else Hooks(workspace, interceptor, session)
                        explorer = Explorer(root, task, style, hooks)
                        outcome = explorer.explore()
                        outcomes[style, mode].append(outcome)
                        if show:
                            print(f"\n{repository}, {style}, {mode}: {task.question} {outcome}")
                            print("\n".join(explorer.trace))
                if interceptor is not None:
                    interceptor.close()
        print(f"{repository}: done", file=sys.stderr)
    return outcomes


def report(outcomes: dict[tuple[str, str], list[Outcome]]) -> None:
    """Print what each kind of agent needed in each mode, against none."""
    print(f"tokens by {TOKENIZER}\n")
    print(
        f"{'agent reads':<14}{'mode':<10}{'tokens':>10}{'ratio':>8}{'median':>8}{'worst':>8}{'calls':>7}{'facts':>12}"
    )
    for style in STYLES:
        base = outcomes[style, "none"]
        for mode in MODES:
            mine = outcomes[style, mode]
            ratios = sorted(own.tokens / max(1, other.tokens) for own, other in zip(mine, base, strict=True))
            total = sum(outcome.tokens for outcome in mine)
            reached = f"{sum(outcome.reached for outcome in mine)} of {sum(outcome.facts for outcome in mine)}"
            print(
                f"{style:<14}{mode:<10}{total:>10,}{total / sum(outcome.tokens for outcome in base):>8.2f}"
                f"{statistics.median(ratios):>8.2f}{ratios[-1]:>8.2f}{sum(outcome.calls for outcome in mine):>7}"
                f"{reached:>12}"
            )


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", action="append", help="a repository")
    parser.add_argument("--show", action="store_true", help="print what was shown in each task")
    arguments = parser.parse_args()
    tasks = [task for task in load_tasks() if not arguments.only or task.repository in arguments.only]
    report(run(arguments.folder, tasks, arguments.show))


if __name__ == "__main__":
    main()
