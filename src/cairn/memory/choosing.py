"""Chooses which memories an agent may need at a moment, the most useful first, whatever it was shown before."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Literal, NamedTuple

from cairn.memory.clock import seconds_of
from cairn.memory.digest import WITHOUT_PROMPT
from cairn.memory.links import Staleness, name_of
from cairn.memory.pertinence import LEAST_CHANCE
from cairn.memory.publication import FOREIGN
from cairn.memory.recall import Recall, Recollection
from cairn.memory.shown import sources_of
from cairn.memory.store import MemoryStore
from cairn.source.recent_files import RecentFiles
from cairn.storage.memory import session_db, usage_db
from cairn.storage.memory.observation_db import Conditions
from cairn.storage.memory.rows import Observation

# Kept with what was shown, so that pages can count by it.
Reason = Literal["file", "edited file", "prompt", "recent file", "branch", "important", "last session"]
EDITED: Reason = "edited file"  # and so the memory may be true no more

NOTES = ("gotcha", "decision", "bug_fix", "discovery", "trade_off")  # a digest of a session is shown at a start only
ACTIVE_NOTES = Conditions(statuses=("active",), types=NOTES)
IMPORTANT = 8  # shown at a start even where nothing ties it to the work
SLIGHT = 3  # what a rule captured and held for no more important than this is shown with its file only
_MOST_FOUND = 20
_MOST_DIGESTS = 5
_CLOCK_SECONDS = 60.0  # that clocks may differ by
_MOST_EDITED = 30
_MOST_RECENT = 100  # files; where more changed, that says nothing of what the work is about
_RECENT_DAYS = 30.0
_DAY_SECONDS = 86_400.0
_BRANCH_MARKS = re.compile(r"[^\w]+|_+")
_PLAIN_BRANCHES = ("main", "master", "develop", "dev", "trunk", "")

# What ties a memory to the work at hand, and how much that counts beside its importance and age.
_UNCOMMITTED, _EDITED, _COMMITTED, _ON_BRANCH = 1.0, 0.9, 0.7, 0.6
_IMPORTANCE, _RECENCY = 0.5, 0.2
_OF_A_FIX = 0.3  # less: what was mended is over, and is shown with its file
_OFTEN = 3  # times shown after which what is tied to a file gives way to others, and a fix is shown with it only
_OF_OFTEN = 0.5  # less


class Choice(NamedTuple):
    """A memory to show.

    Attributes:
        observation: the memory.
        reason: why, in one of a few fixed words.
        why: the same in the words that are shown; paths of the project may stand in them.
        staleness: what became of the code that it speaks of.
    """

    observation: Observation
    reason: Reason
    why: str
    staleness: Staleness


class Chooser:
    """Chooses among the memories of a project: active ones that count on this branch and whose code is still there.

    Args:
        store: that holds them.
        recall: that searches them.
        recent: which files changed lately.
        takes_shared: whether those that came with the repository may be chosen, too.
        now: the machine's clock, in seconds since the epoch.
        prompt_bar: returns what the least chance of a memory at a prompt is multiplied by.
    """

    def __init__(
        self,
        store: MemoryStore,
        recall: Recall,
        recent: RecentFiles,
        *,
        takes_shared: bool = False,
        now: Callable[[], float] = time.time,
        prompt_bar: Callable[[str], float] = lambda text: 1.0,
    ) -> None:
        self._store, self._recall, self._recent = store, recall, recent
        self._takes_shared, self._now, self._prompt_bar = takes_shared, now, prompt_bar

    def for_file(self, path: str, symbol: str = "") -> list[Choice]:
        """Return the memories that speak of a file, those about a definition in it before the others.

        Args:
            path: relative to the root, with slashes.
            symbol: the qualified name of the definition at hand, empty if it is not known.
        """
        return self.for_files([path], symbol)

    def for_files(self, paths: Collection[str], symbol: str = "") -> list[Choice]:
        """Return the memories that speak of some files; see `for_file`."""
        found = self._filter(self._recall.for_files(paths, ACTIVE_NOTES))

        def place(recollection: Recollection) -> tuple[bool, bool, int, bool, str]:
            memory = recollection.observation
            is_of_symbol = symbol != "" and any(link.symbol == symbol for link in memory.links if link.path in paths)
            return not is_of_symbol, is_slight(memory), -memory.importance, memory.type != "gotcha", memory.id

        return [
            Choice(found.observation, "file", _about(found.observation, paths), found.staleness)
            for found in sorted(found, key=place)
        ]

    def for_prompt(self, text: str) -> list[Choice]:
        """Return the memories that most probably answer a prompt, the best first; usually none."""
        least_chance = LEAST_CHANCE * self._prompt_bar(text)
        wanted = self._filter(self._recall.for_prompt(text, ACTIVE_NOTES, least_chance))
        return [
            Choice(found.observation, "prompt", f"fits this prompt: {found.why}", found.staleness)
            for found in wanted
            if not is_slight(found.observation)
        ]

    def for_start(self, branch: str) -> list[Choice]:
        """Return the memories that most probably matter to the work at hand, the best first.

        Args:
            branch: that is checked out, empty outside git.
        """
        best: dict[str, tuple[float, Choice]] = {}
        tied = [(weight, choice) for weight, choice in self._tied_to_work(branch) if not is_slight(choice.observation)]
        for weight, choice in tied:
            memory = choice.observation
            days = max(0.0, self._now() - seconds_of(memory.created)) / _DAY_SECONDS
            score = weight + _IMPORTANCE * memory.importance / 10 + _RECENCY * 0.5 ** (days / _RECENT_DAYS)
            if memory.id not in best or best[memory.id][0] < score:
                best[memory.id] = score, choice
        with self._store.reading() as connection:
            shown = usage_db.shown_counts(connection, best)
        often = {id for id, counts in shown.items() if counts.times >= _OFTEN and best[id][1].observation.links}
        ranked = [
            (score - _OF_OFTEN * (id in often) - _OF_A_FIX * _is_fix(choice), choice)
            for id, (score, choice) in best.items()
            if not (_is_fix(choice) and id in often)
        ]
        ranked.sort(key=lambda scored: (-scored[0], scored[1].observation.id))
        return _with_rules_early([choice for _, choice in ranked])

    def last_digest(self, session: str) -> Choice | None:
        """Return the digest of the last session but this one, if there is one.

        One that says only what was asked gives way to that of the last session that did something, and one that a clock
        dated ahead, which is wrong now or was then, to all others.
        """
        digests = Conditions(statuses=("active",), types=("session_summary",))
        newest = self._filter(self._recall.newest(digests, _MOST_FOUND))
        newest.sort(key=lambda one: seconds_of(one.observation.created) > self._now() + _CLOCK_SECONDS)
        found = [one for one in newest if one.observation.session != session][:_MOST_DIGESTS]
        if not found:
            return None
        told = next((one for one in found if not _only_asks(one.observation)), found[0])
        if told.observation.text.startswith(WITHOUT_PROMPT) and _only_asks(told.observation):
            return None
        last = "last session" if told is found[0] else "last session that did something"
        return Choice(told.observation, "last session", f"how the {last} ended", told.staleness)

    def _tied_to_work(self, branch: str) -> Iterator[tuple[float, Choice]]:
        """Yield memories with how much they have to do with the work at hand; one may come several times."""
        weights = self._recent_files()
        for found in self._filter(self._recall.for_files(weights.keys(), ACTIVE_NOTES)):
            paths = [link.path for link in found.observation.links if link.path in weights]
            why = f"{_about(found.observation, paths)}, which changed lately"
            yield max(weights[path] for path in paths), Choice(found.observation, "recent file", why, found.staleness)
        if branch not in _PLAIN_BRANCHES and not self._recent.is_of_default(branch):
            on_branch = self._recall.newest(ACTIVE_NOTES._replace(branches=(branch,)), _MOST_FOUND)
            for found in self._filter(on_branch):
                yield _ON_BRANCH, Choice(found.observation, "branch", "learned on this branch", found.staleness)
            named = self._recall.for_prompt(_BRANCH_MARKS.sub(" ", branch), ACTIVE_NOTES)
            for found in self._filter(named):
                choice = Choice(found.observation, "branch", "fits the name of this branch", found.staleness)
                yield _ON_BRANCH * found.relevance, choice
        important = ACTIVE_NOTES._replace(least_importance=IMPORTANT)
        for found in self._filter(self._recall.newest(important, _MOST_FOUND)):
            why = f"importance {found.observation.importance}"
            yield 0.0, Choice(found.observation, "important", why, found.staleness)

    def _recent_files(self) -> dict[str, float]:
        """Return the files that memories speak of and that changed lately, and how much each counts."""
        linked = self._recall.linked_paths()
        with self._store.reading() as connection:
            edited = session_db.edited_paths(connection, _MOST_EDITED)
        weights = dict.fromkeys(self._recent.of_commits().intersection(linked), _COMMITTED)
        weights.update(dict.fromkeys(set(edited).intersection(linked), _EDITED))
        weights.update(dict.fromkeys(self._recent.find_changed(linked), _UNCOMMITTED))
        return dict(sorted(weights.items(), key=lambda weight: (-weight[1], weight[0]))[:_MOST_RECENT])

    def _filter(self, found: Iterable[Recollection]) -> list[Recollection]:
        """Leave out what must not be shown unasked: where the code is gone, and what others wrote, unless allowed."""
        present = [recollection for recollection in found if recollection.staleness.state != "gone"]
        if self._takes_shared or not present:
            return present
        sources = sources_of(self._store, [recollection.observation for recollection in present])
        return [recollection for recollection in present if sources.get(recollection.observation.id) not in FOREIGN]


def _with_rules_early(choices: list[Choice]) -> list[Choice]:
    """Put the first important memories that are tied to no file behind the best, and before what was mended."""
    first = [] if not choices or _is_fix(choices[0]) else choices[:1]
    others = choices[len(first) :]
    rules = list(filter(is_rule, others))
    return [*first, *rules, *(choice for choice in others if not is_rule(choice))]


def is_rule(choice: Choice) -> bool:
    """Tell whether a memory at a start is tied to no code: it is shown at no other moment."""
    return choice.reason == "important" and not choice.observation.links


def _is_fix(choice: Choice) -> bool:
    return choice.observation.type == "bug_fix"


def is_slight(memory: Observation) -> bool:
    """Tell whether a memory is one that a rule captured and held for unimportant."""
    return memory.origin == "captured" and memory.importance <= SLIGHT


def _about(memory: Observation, paths: Collection[str]) -> str:
    links = [link for link in memory.links if link.path in paths]
    whole = [link for link in links if not link.symbol]
    names = [name_of(link) for link in (whole or links)[:2]]
    return f"about {', '.join(names)}"


def _only_asks(digest: Observation) -> bool:
    """Tell whether a digest has no line but its title, what was asked, and what was run without a failure."""
    title, *lines = digest.text.splitlines() or [""]
    return title.endswith((" 0 edits)", "(0 edits)")) and all(
        line.startswith(("Asked: ", "Commands: ")) for line in lines
    )
