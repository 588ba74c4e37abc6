"""Tunes a project, says how it is tuned, and scores questions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cairn.operations.whole_text import perform_all
from cairn.optimize.evaluate import FoundPlace, QuestionScore, parse_questions, score_all, summarize
from cairn.optimize.run import RunPlan
from cairn.optimize.versions import Version
from cairn.protocol.tuning_requests import (
    EvalHistoryRequest,
    EvalRequest,
    RolledBackDocument,
    ScoresDocument,
    TrialDocument,
    TuningApplyRequest,
    TuningDiffDocument,
    TuningDiffRequest,
    TuningHistoryDocument,
    TuningRequest,
    TuningRunRequest,
    TuningStatusDocument,
    TuningVersionDocument,
)
from cairn.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cairn.index.limits import Progress

_RESULTS = 20  # of an answer, so that ten files are among them


def run(workspace: Workspace, request: TuningRunRequest, progress: Progress | None = None) -> TuningVersionDocument:
    """Make a version, and use it if it passes."""

    def show(what: str, done: int, total: int) -> None:
        if progress is not None:
            progress(done, total)

    plan = RunPlan(request.seed, request.seconds, show)
    return _document(workspace.tuning.run(plan, apply=request.apply, text_calls=request.text_calls))


def status(workspace: Workspace, request: TuningRequest, progress: Progress | None = None) -> TuningStatusDocument:
    """Say how a project is tuned."""
    found: Any = workspace.tuning.status()
    document: TuningStatusDocument = found
    return document


def check(workspace: Workspace, request: TuningRequest, progress: Progress | None = None) -> TrialDocument:
    """Judge the version that is on trial."""
    found: Any = workspace.tuning.check()
    document: TrialDocument = found
    return document


def apply(workspace: Workspace, request: TuningApplyRequest, progress: Progress | None = None) -> TuningVersionDocument:
    """Use a version, whatever the gate says of it."""
    return _document(workspace.tuning.versions.apply(request.version))


def roll_back(workspace: Workspace, request: TuningRequest, progress: Progress | None = None) -> RolledBackDocument:
    """Use the version before the one that is used."""
    return {"active": workspace.tuning.versions.roll_back()}


def list_versions(
    workspace: Workspace, request: TuningRequest, progress: Progress | None = None
) -> TuningHistoryDocument:
    """List the versions."""
    return {"versions": [_document(version) for version in workspace.tuning.versions.list()]}


def diff(workspace: Workspace, request: TuningDiffRequest, progress: Progress | None = None) -> TuningDiffDocument:
    """Say what differs between two versions."""
    differences: Any = workspace.tuning.diff(request.before, request.after)
    return {"differences": differences}


def evaluate(workspace: Workspace, request: EvalRequest, progress: Progress | None = None) -> ScoresDocument:
    """Score questions."""
    questions = parse_questions(request.questions)

    def find(query: str) -> list[FoundPlace]:
        return [FoundPlace(hit.path, hit.name) for hit in workspace.search(query, limit=_RESULTS).code]

    return scores_document(score_all(questions, find, progress or (lambda done, total: None)))


def evaluate_history(
    workspace: Workspace, request: EvalHistoryRequest, progress: Progress | None = None
) -> ScoresDocument:
    """Score the subjects of commits, each with what was known before it."""
    return scores_document(workspace.tuning.evaluate_history(request.limit, progress))


def scores_document(scores: Sequence[QuestionScore]) -> ScoresDocument:
    """Return scores as JSON."""
    metrics: Any = {name: interval._asdict() for name, interval in summarize(scores).items()}
    rows: Any = [score._asdict() for score in scores]
    return {"questions": len(scores), "metrics": metrics, "scores": rows}


def _document(version: Version) -> TuningVersionDocument:
    found: Any = version._asdict()
    document: TuningVersionDocument = found
    return document


PERFORM = perform_all(
    {
        "optimize/run": run,
        "optimize/status": status,
        "optimize/check": check,
        "optimize/apply": apply,
        "optimize/rollback": roll_back,
        "optimize/history": list_versions,
        "optimize/diff": diff,
        "eval/run": evaluate,
        "eval/history": evaluate_history,
    }
)
