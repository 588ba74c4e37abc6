"""How `cairn init` and `cairn uninstall` show agents, files and what works."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from cairn.cli.notes import note, printable
from cairn.cli.render import emit
from cairn.hooks.adapter import Adapter
from cairn.install.apply import Outcome
from cairn.install.plan import FileChange, agents_of
from cairn.install.selftest import SelfTestResult
from cairn.install.setup import SetupPlan


def emit_agents(plan: SetupPlan) -> None:
    """Print which agents are meant, and how they were found."""
    rows = [(found.adapter.title, printable(", ".join(found.signs))) for found in plan.agents]
    rows += [(adapter.title, hint) for adapter, hint in plan.others]
    width = max((len(title) for title, _ in rows), default=0)
    for title, text in rows:
        emit(f"{title:<{width}}  {text}")


def emit_changes(plan: SetupPlan) -> None:
    """Print what is to become of each file."""
    rows = [(_verb(change), change.shown, _size(change), change) for change in plan.changes if _is_shown(change)]
    width = max((len(name) for _, name, _, _ in rows), default=0)
    for verb, name, size, change in rows:
        emit(f"  {verb:<7} {printable(name):<{width}}  {size:>9}  {', '.join(change.agents)}".rstrip())
        for text in change.notes:
            emit(f"          {printable(text)}")


def _is_shown(change: FileChange) -> bool:
    return change.problem is None and (change.is_change or bool(change.notes))


def _verb(change: FileChange) -> str:
    if not change.is_change:
        return "keep"
    return "create" if change.before is None else "delete" if change.after is None else "change"


def _size(change: FileChange) -> str:
    """Return how many lines come and go."""
    if not change.is_change:
        return ""
    # No line is moved, so nothing has to be aligned, which takes minutes for a large file.
    old, new = (Counter((content or b"").splitlines()) for content in (change.before, change.after))
    added, removed = (new - old).total(), (old - new).total()
    return " ".join([*([f"+{added}"] if added else []), *([f"-{removed}"] if removed else [])])


def emit_steps(plan: SetupPlan, outcome: Outcome) -> None:
    """Print what a person has yet to do, each sentence once."""
    steps = dict.fromkeys(step for found in plan.agents for step in _steps(found.adapter, plan, outcome))
    if steps:
        emit("Left for you to do:")
    for step in steps:
        emit(f"  - {step}")


def _steps(adapter: Adapter, plan: SetupPlan, outcome: Outcome) -> tuple[str, ...]:
    """Return what a person has yet to do for an agent: nothing until all of its files are written."""
    return () if adapter.name in agents_of([*plan.problems, *outcome.failed]) else adapter.by_hand


def emit_results(title: str, results: Sequence[SelfTestResult]) -> None:
    """Print how an agent's parts work, and what to do about those that do not."""
    for result in results:
        mark = "ok" if result.works else "failed"
        emit(f"{mark:<8} {title}: {printable(result.message)}")
        if result.hint:
            emit(f"  try: {printable(result.hint)}")


def note_problems(changes: Iterable[FileChange]) -> None:
    """Print why files were left alone."""
    problems = [change.problem for change in changes if change.problem is not None]
    for text in dict.fromkeys(f"error[{one.code}]: {one}\n  try: {one.hint}" for one in problems):
        note(text)


def plan_row(plan: SetupPlan, outcome: Outcome) -> dict[str, Any]:
    """Return a plan and what came of it as JSON has it."""
    return {
        "root": str(plan.place.root),
        "level": plan.place.level,
        "agents": [
            {
                "name": found.adapter.name,
                "signs": list(found.signs),
                "by_hand": list(_steps(found.adapter, plan, outcome)),
            }
            for found in plan.agents
        ],
        "files": [change_row(change, outcome) for change in plan.changes],
    }


def change_row(change: FileChange, outcome: Outcome) -> dict[str, Any]:
    """Return what is to become of a file, and what did, as JSON has it."""
    failed = {failure.file: failure.problem for failure in outcome.failed}
    problem = change.problem or failed.get(change.file)
    return {
        "file": change.shown,
        "agents": list(change.agents),
        "action": _verb(change) if problem is None else "keep",
        "written": any(written.file == change.file for written in outcome.written),
        "notes": list(change.notes),
        "error": None if problem is None else problem.to_dict(),
    }
