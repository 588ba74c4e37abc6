"""Tells what the daemon should have done for the tuning of a project while nobody asks, and starts it."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from cairn.index.background import start_learning
from cairn.index.limits import on_battery
from cairn.optimize.guard import LOOKS, MOST_DAYS
from cairn.optimize.run import FEWEST_EXAMPLES

if TYPE_CHECKING:
    from cairn.facets.project_index import ProjectIndex
    from cairn.facets.tuning import TuningFacet

# Between two runs: days, and what must be new.
REST_DAYS, NEW_QUESTIONS, NEW_COMMITS = 1.0, 40, 80
_STEP = 20  # questions that led to something, between two looks at a trial
_DAY_SECONDS = 86_400.0


def start_what_is_due(
    index: ProjectIndex, tuning: TuningFacet, is_on_battery: Callable[[], bool] = on_battery
) -> subprocess.Popen[bytes] | None:
    """Start what is due in a process at low priority; None if nothing is, or a battery feeds the machine.

    Args:
        index, tuning: of the project.
        is_on_battery: a seam for tests.
    """
    if is_on_battery() or not (action := what_is_due(index, tuning)):
        return None
    return start_learning(index.root, index.state, index.settings, action)


def what_is_due(index: ProjectIndex, tuning: TuningFacet, now: float | None = None) -> str:
    """Return what is to be done, as an action of `cairn optimize`: `check`, `run`, or nothing. This costs little.

    Args:
        index, tuning: of the project.
        now: seconds since the epoch; by default the machine's clock.
    """
    now = time.time() if now is None else now
    if (trial := tuning.versions.trial()) is not None:
        return "check" if _is_check_due(tuning, trial[1], now) else ""
    settings = index.settings.memory
    return "run" if (settings is None or settings.optimize) and _is_run_due(tuning, now) else ""


def _is_check_due(tuning: TuningFacet, guard: Mapping[str, Any], now: float) -> bool:
    """Tell whether so many questions came that the version on trial can be judged, by what is known of the trial."""
    least = LOOKS[min(int(guard["looks"]), len(LOOKS) - 1)]
    n_used = tuning.count_used(guard["since"])
    is_old = now - float(guard["since"]) > MOST_DAYS * _DAY_SECONDS
    return is_old or n_used >= max(least, int(guard.get("asked", 0)) + _STEP)


def _is_run_due(tuning: TuningFacet, now: float) -> bool:
    """Tell whether so much came since the last run that another is worth while."""
    versions = tuning.versions.list()
    last = versions[0].created if versions else 0.0
    if now - last < REST_DAYS * _DAY_SECONDS:
        return False
    n_used, n_commits = tuning.count_used(last), tuning.count_commits(last)
    if not versions:
        return n_used + n_commits >= FEWEST_EXAMPLES
    return n_used >= NEW_QUESTIONS or n_commits >= NEW_COMMITS
