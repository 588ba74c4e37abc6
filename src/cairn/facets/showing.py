"""What an agent is shown unasked: the memory's injection, with what the project itself has to say at a start."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from cairn.core_files import CoreFiles
from cairn.errors import CairnError
from cairn.facets.project_index import ProjectIndex
from cairn.hints import Hint
from cairn.hooks_settings import HooksSettings
from cairn.loading import load
from cairn.memory.injection import Injector, Overview
from cairn.memory.moments import Moment
from cairn.memory.recall import Recall
from cairn.memory.sessions import Sessions
from cairn.memory.store import MemoryStore
from cairn.memory_settings import MemorySettings
from cairn.source.recent_files import RecentFiles
from cairn.source.text import pluralize
from cairn.storage.memory.observation_db import Conditions

if TYPE_CHECKING:
    from cairn.search.tuning import Tunings

_FIND, _WHOLE = Hint("find others", "recall", query=None), Hint("the whole of one", "fetch", ids=None)
_log = logging.getLogger("cairn.memory")


def make_injector(index: ProjectIndex, store: MemoryStore, sessions: Sessions, recall: Recall) -> Injector:
    """Return what composes the injections of a project."""

    def overview() -> Overview:
        return _overview(index, store)

    recent = RecentFiles(index.root, index.repository)
    settings = index.settings.memory or MemorySettings()
    hooks = index.settings.hooks or HooksSettings()

    def is_wanted(moment: Moment) -> bool:
        return hooks.shows_at(moment.event, "" if moment.call is None else moment.call.tool)

    tunings: Tunings = load("cairn.search.tuning:tunings_of")(index.state, settings)

    def prompt_bar(text: str) -> float:
        return tunings.open().for_question(text).bars.memories

    return Injector(
        store, sessions, recall, recent, index.root, settings, overview, is_wanted=is_wanted, prompt_bar=prompt_bar
    )


def text_to_show(injector: Injector, moment: Moment) -> str:
    """Return what to show an agent at a moment, empty for nothing; if it cannot be composed, that is logged."""
    try:
        return injector.compose(moment).text
    except CairnError as error:
        _log.warning("nothing is shown at %s: %s", moment.event, error)
        return ""


def _overview(index: ProjectIndex, store: MemoryStore) -> Overview:
    n_active = store.count(Conditions(statuses=("active",)))
    kept = pluralize(n_active, "memory", "memories")
    try:
        core_files = CoreFiles(index.root).read()
    except CairnError as error:
        _log.warning("core files are not shown: %s", error)
        core_files = ()
    status = f"{kept} kept; {_FIND}; {_WHOLE}" if n_active else ""
    return Overview(status, core_files)
