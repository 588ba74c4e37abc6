"""Writes what became of a session when it ends, by rule: what was asked, changed, failed, fixed, decided, left open."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from cairn.errors import CairnError
from cairn.memory.commands import covers, parse_command
from cairn.memory.ids import new_id
from cairn.memory.lifecycle import clean
from cairn.memory.links import link_to
from cairn.memory.moments import Moment, ToolCall
from cairn.memory.origin import is_edit, is_read
from cairn.memory.sessions import Recorded
from cairn.memory.store import By, MemoryChange, MemoryStore
from cairn.memory.trail import names_another_way
from cairn.source.text import cut_at_word, pluralize
from cairn.storage.memory import session_db
from cairn.storage.memory.observation_db import Conditions
from cairn.storage.memory.rows import Activity, CodeLink, Observation, PromptBatch, Session

BY = By("rule:digest", "rule")
TYPE = "session_summary"
MAX_DIGEST_CHARS = 2_000
IMPORTANCE = 4
_MAX_TITLE_CHARS, _MAX_ITEM_CHARS = 100, 160
_MAX_ITEMS = 6  # of each kind
_MAX_FILES = 12
WITHOUT_PROMPT = "A session without a prompt"
_SAME = 0.7  # the share of a prompt that a rule taken from it has, if it is all that was said
_FEW_PROMPTS = 2  # so many are a conversation
_RUN_TOOLS = ("shell", "mcp", "task", "web")  # whose failures mean something; an edit that did not apply is repeated
# What was learned in the session, by the type of memory, under which heading.
_LEARNED = {
    "decision": "Decided", "trade_off": "Decided", "gotcha": "Learned", "discovery": "Learned", "bug_fix": "Fixed",
}  # fmt: skip
# What whoever goes on wants to know of a session, what matters most first; the title says what was asked.
_ENDING = ("Left open", "Changed", "Decided", "Learned", "Fixed", "Asked")
_OF_ENDING_LEFT_OUT = ("Failed", "Commands")
_MOST_OF_ENDING = 3  # lines
_NO_WORK = "mixed"  # an origin that says nothing


class Runs(NamedTuple):
    """What was run: how often each command, which failed, and of these which succeeded later and which did not."""

    counts: Counter[str]
    failed: tuple[str, ...]
    fixed: tuple[str, ...]
    still_failing: tuple[str, ...]


class Digests:
    """Keeps a digest for each session that ended, as a memory of the type `session_summary`.

    Args:
        store: the memory.
        root: of the project.
    """

    def __init__(self, store: MemoryStore, root: Path) -> None:
        self._store, self._root = store, root

    def hear(self, connection: sqlite3.Connection, moment: Moment, recorded: Recorded) -> None:
        """Write the digest of a session that ends; a listener of `Sessions`."""
        if moment.event == "session-end":
            self.write(connection, recorded.session)

    def write(self, connection: sqlite3.Connection, session: Session) -> Observation | None:
        """Write what became of a session, or write it again where it went on; None if nothing happened in it.

        One prompt after which nothing was done or learned is nothing, nor is it when files were only read or tools used
        that leave no trace, and nobody asked for anything. What somebody else made of a digest stays.
        """
        batches, activities = session_db.batches(connection, session), session_db.activities(connection, session)
        lessons = self._lessons(session)
        n_prompts = sum(bool(batch.prompt) for batch in batches)
        is_idle = all(is_read(_call(activity)) for activity in activities)
        if is_idle and not lessons and n_prompts < (1 if activities else _FEW_PROMPTS):
            return None
        text = clean(compose(session, batches, activities, lessons))
        if not n_prompts and "\n" not in text:
            return None
        links = self._links(changed_files(activities))
        if (earlier := self.find(session.id)) is None:
            return self._create(session, text, links)
        if earlier.text == text or self._is_reworded(earlier):
            return earlier
        missing = [link for link in links if link.path not in {known.path for known in earlier.links}]
        changes = [MemoryChange(earlier.id, "set", {"text": text}), *_link_changes(earlier.id, missing)]
        self._store.record(changes, BY)
        return self._store.observation(earlier.id)

    def find(self, session: str) -> Observation | None:
        """Return the digest of a session, whatever became of it, None if it has none."""
        digests = self._store.select(Conditions(session=session, types=(TYPE,)))
        return next((digest for digest in digests if digest.actor == BY.actor), None)

    def erase(self, erased: Iterable[Observation]) -> None:
        """Erase the digests that may repeat the words of memories that are being erased, as they were before."""
        for session in {observation.session for observation in erased} - {""}:
            if (digest := self.find(session)) is not None:
                self._store.record([MemoryChange(digest.id, "redact", {})], BY)

    def take_out(self, replaced: Iterable[Observation]) -> None:
        """Take memories whose place others took out of the digests of their sessions, which would repeat what is over.

        A digest that somebody else worded stays as it is.
        """
        for observation in replaced:
            digest = self.find(observation.session) if observation.session else None
            text = "" if digest is None else _without_item(digest.text, _one_line(observation.text))
            if digest is None or text == digest.text or self._is_reworded(digest):
                continue
            self._store.record([MemoryChange(digest.id, "set", {"text": text})], BY)

    def _is_reworded(self, digest: Observation) -> bool:
        events = self._store.history(digest.id)
        return any(event.kind == "set" and event.authority != BY.authority for event in events)

    def _create(self, session: Session, text: str, links: Sequence[CodeLink]) -> Observation:
        id = new_id(session.ended or session.heard)
        created = {
            "type": TYPE,
            "text": text,
            "importance": IMPORTANCE,
            "tags": [session.origin] if session.origin else [],
            "origin": "captured",
            "session": session.id,
            "branch": session.branch,
            "revision": session.revision,
            "is_shared": False,
        }
        (digest,) = self._store.record([MemoryChange(id, "created", created), *_link_changes(id, links)], BY)
        return digest

    def _lessons(self, session: Session) -> list[Observation]:
        learned = self._store.select(Conditions(session=session.id, statuses=("active",), types=tuple(_LEARNED)))
        return sorted(learned, key=lambda observation: (-observation.importance, observation.created))

    def _links(self, paths: Sequence[str]) -> list[CodeLink]:
        links = []
        for path in paths[:_MAX_FILES]:
            try:
                links.append(link_to(self._root, path)._replace(hash=""))  # later changes do not make a digest wrong
            except CairnError:  # deleted since, or not a text
                continue
        return links


def compose(
    session: Session, batches: Sequence[PromptBatch], activities: Sequence[Activity], learned: Sequence[Observation]
) -> str:
    """Return the digest of a session: a title, and a line for each thing that there is to say.

    Args:
        session: as it is at its end.
        batches, activities: in their order.
        learned: memories made in it, the most important first.
    """
    prompts = [_one_line(batch.prompt) for batch in batches if batch.kind == "prompt" and batch.prompt.strip()]
    runs = runs_of(activities)
    is_open = [run for run in runs.still_failing if not any(names_another_way(one.text, run) for one in learned)]
    files = Counter(activity.target for activity in activities if is_edit(_call(activity)) and activity.tool != "shell")
    by_heading: dict[str, list[str]] = {"Decided": [], "Learned": [], "Fixed": []}
    for observation in learned:
        by_heading[_LEARNED[observation.type]].append(_one_line(observation.text))
    lines = [
        _title(session, prompts),
        _line("Asked", prompts[:_MAX_ITEMS], " / "),
        _line("Changed", [_times(path, n) for path, n in files.most_common(_MAX_FILES)]),
        _line("Failed", [f"`{run}`" for run in runs.failed[:_MAX_ITEMS]]),
        _line("Fixed", (by_heading["Fixed"] or [f"`{run}`" for run in runs.fixed])[:_MAX_ITEMS], "; "),
        _line("Decided", by_heading["Decided"][:_MAX_ITEMS], "; "),
        _line("Learned", by_heading["Learned"][:_MAX_ITEMS], "; "),
        _line("Left open", [f"`{run}` still fails" for run in is_open[:_MAX_ITEMS]]),
        _line("Commands", [_times(f"`{run}`", n) for run, n in runs.counts.most_common(_MAX_ITEMS)]),
    ]
    return cut_at_word("\n".join(line for line in lines if line), MAX_DIGEST_CHARS)


def ending_of(digest: str, told: Iterable[str] = ()) -> str:
    """Return the few lines of a digest that say best how its session ended.

    Args:
        digest: its text.
        told: texts of memories that are told beside it, and are left out.
    """
    for text in told:
        digest = _without_item(digest, _one_line(text))
    title, *lines = digest.splitlines() or [""]
    asked = title.rpartition(" (")[0].rstrip("\u2026")
    headed: dict[str, str] = {}
    others: list[str] = []
    for line in lines:
        heading = line.partition(": ")[0]
        if heading in _ENDING:
            headed.setdefault(heading, line)
        elif heading not in _OF_ENDING_LEFT_OUT:
            others.append(line)
    if asked and headed.get("Asked", "").removeprefix("Asked: ").startswith(asked):
        headed["Asked"] = ""
    kept = [*others, *(headed[heading] for heading in _ENDING if headed.get(heading))]
    return "\n".join([title, *kept[: _MOST_OF_ENDING - 1]])


def repeats(digest: str, told: Sequence[str]) -> bool:
    """Tell whether the ending of a session is a prompt that is told beside it anyway."""
    title, *others = ending_of(digest, told).splitlines() or [""]
    asked = title.rpartition(" (")[0].rstrip("\u2026").lower()
    rules = [" ".join(text.lower().split()) for text in told]
    is_told = any(asked in rule or (rule in asked and len(rule) >= _SAME * len(asked)) for rule in rules)
    return not others and bool(asked) and is_told


def runs_of(activities: Iterable[Activity]) -> Runs:
    """Return what was run in a session, without what only looked at the project.

    What failed was mended when it succeeded later, or another command did that does the same, as in another folder.
    """
    counts: Counter[str] = Counter()
    outcomes: dict[str, list[bool]] = {}
    failing: dict[str, str] = {}  # in a shell, with the whole of the command
    for activity in activities:
        if activity.tool not in _RUN_TOOLS or activity.outcome == "denied" or is_read(_call(activity)):
            continue
        run = _one_line(activity.target or activity.name)
        counts[run] += 1
        outcomes.setdefault(run, []).append(activity.is_failure)
        if activity.tool == "shell" and activity.is_failure:
            failing[run] = activity.target
        elif activity.tool == "shell":
            failing.pop(run, None)
            for mended in [one for one, command in failing.items() if _does_the_same(activity.target, command)]:
                outcomes[mended].append(False)
                del failing[mended]
    failed = tuple(run for run, failures in outcomes.items() if any(failures))
    return Runs(
        counts,
        failed,
        tuple(run for run in failed if not outcomes[run][-1]),
        tuple(run for run in failed if outcomes[run][-1]),
    )


def _does_the_same(success: str, failure: str) -> bool:
    """Tell whether a command that succeeded did all that another one failed at."""
    command = parse_command(success)
    steps = parse_command(failure).work
    is_told = not command.is_filtered and not command.is_masked
    return is_told and bool(steps) and all(any(covers(done, step) for done in command.work) for step in steps)


def changed_files(activities: Iterable[Activity]) -> list[str]:
    """Return the files that were edited, those edited most often first."""
    files = Counter(activity.target for activity in activities if activity.tool in ("edit", "write"))
    return [path for path, _ in files.most_common() if path and not path.startswith("/")]


def _title(session: Session, prompts: Sequence[str]) -> str:
    minutes = round(((session.ended or session.heard) - session.started) / 60)
    origin = "" if session.origin == _NO_WORK else session.origin
    facts = [origin, f"{minutes} min" if minutes > 0 else "", pluralize(session.n_edits, "edit")]
    title = cut_at_word(prompts[0], _MAX_TITLE_CHARS) if prompts else WITHOUT_PROMPT
    return f"{title} ({', '.join(fact for fact in facts if fact)})"


def _line(heading: str, items: Sequence[str], between: str = ", ") -> str:
    return f"{heading}: {between.join(items)}" if items else ""


def _without_item(digest: str, item: str) -> str:
    """Return a digest without something that was learned, and without the line that says nothing else."""
    lines: list[str] = []
    for line in digest.splitlines():
        heading, _, items = line.partition(": ")
        if heading in _LEARNED.values() and item in items:
            items = f"; {items}; ".replace(f"; {item}; ", "; ").strip("; ")
            line = _line(heading, [items] if items else [])
        lines.append(line)
    return "\n".join(line for line in lines if line)


def _times(name: str, count: int) -> str:
    return f"{name} ({count}x)" if count > 1 else name


def _one_line(text: str) -> str:
    return cut_at_word(" ".join(text.split()), _MAX_ITEM_CHARS)


def _call(activity: Activity) -> ToolCall:
    return ToolCall(activity.tool, activity.name, activity.target, activity.outcome, activity.exit_code)


def _link_changes(id: str, links: Iterable[CodeLink]) -> list[MemoryChange]:
    return [MemoryChange(id, "link", link._asdict()) for link in links]
