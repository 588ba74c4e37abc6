"""Requests to tune a project and to score questions, as in `cairn.protocol.requests`, and what they are answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, NotRequired, TypedDict

from cairn import fields
from cairn.protocol.requests import ProjectRequest

_Version = Annotated[int, fields.TUNING_VERSION]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TuningRequest(ProjectRequest):
    """Say how a project is tuned."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TuningRunRequest(ProjectRequest):
    """Tune a project."""

    seed: Annotated[int, fields.SEED] = 1
    seconds: Annotated[int, fields.TUNING_SECONDS] = 150
    text_calls: Annotated[int, fields.TEXT_CALLS] = 200
    apply: Annotated[bool, fields.APPLY_TUNING] = True


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TuningApplyRequest(ProjectRequest):
    """Use a version."""

    version: _Version


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TuningDiffRequest(ProjectRequest):
    """Compare two versions."""

    before: _Version = 0
    after: _Version


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class EvalRequest(ProjectRequest):
    """Score questions whose answers are known."""

    questions: Annotated[str, fields.QUESTIONS]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class EvalHistoryRequest(ProjectRequest):
    """Score the subjects of commits."""

    limit: Annotated[int, fields.EVAL_LIMIT] = 100


class IntervalDocument(TypedDict):
    """A mean, its 95 % interval, and over how many questions it is."""

    mean: float
    low: float
    high: float
    questions: int


class TuningVersionDocument(TypedDict):
    """A version: its number, when it was made, its status, its values as JSON, and the evidence for it."""

    number: int
    created: float
    status: str
    tuning: dict[str, Any]
    report: dict[str, Any]


class TrialDocument(TypedDict):
    """What is known of a version on trial: how often it was judged, since when, and what it gains over `before`.

    `state` is `running`, `lost`, `kept`, or `none` without one.
    """

    state: str
    version: NotRequired[int]
    before: NotRequired[int]
    since: NotRequired[float]
    looks: NotRequired[int]
    asked: NotRequired[int]
    gain: NotRequired[IntervalDocument]
    note: NotRequired[str]


class TuningStatusDocument(TypedDict):
    """Which version is used (0: the shipped values), its values, how many there are, and what there is to learn from.

    A run needs `needed` examples. `problem` says why a tuning that is there is not used, `notes` what became of trials,
    the newest first.
    """

    active: int
    versions: int
    examples: dict[str, int]
    needed: int
    problem: str
    tuning: dict[str, Any]
    trial: TrialDocument
    notes: list[str]


class TuningHistoryDocument(TypedDict):
    """All versions, the newest first."""

    versions: list[TuningVersionDocument]


class RolledBackDocument(TypedDict):
    """The version that is used again; 0: the shipped values."""

    active: int


class TuningDifferenceDocument(TypedDict):
    """A value that differs; None where a version has the shipped one."""

    field: str
    before: Any
    after: Any


class TuningDiffDocument(TypedDict):
    """What differs between two versions."""

    differences: list[TuningDifferenceDocument]


class QuestionScoreDocument(TypedDict):
    """What one answer is worth."""

    query: str
    ndcg: NotRequired[float | None]
    file_match: NotRequired[float | None]
    function_match: NotRequired[float | None]


class ScoresDocument(TypedDict):
    """What the answers are worth: in the mean, and each."""

    questions: int
    metrics: dict[str, IntervalDocument]
    scores: list[QuestionScoreDocument]
