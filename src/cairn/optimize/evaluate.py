"""Scores any tool's results against questions with known right files and symbols."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from cairn import waiting
from cairn.errors import RequestError
from cairn.hints import Hint
from cairn.optimize.metrics import Interval, file_match, function_match, interval_of, ndcg

MAX_QUESTIONS = 20_000
METRICS = ("ndcg", "file_match", "function_match")
_FORM = Hint('write one question a line: {"query": "…", "files": ["…"], "symbols": ["…"]}')


class GivenQuestion(NamedTuple):
    """A question with the files and symbols that an answer should show; either may be empty."""

    query: str
    files: tuple[str, ...]
    symbols: tuple[str, ...] = ()


class FoundPlace(NamedTuple):
    """A result: its path, and the name of the definition, empty if the tool does not say."""

    path: str
    name: str = ""


Find = Callable[[str], Sequence[FoundPlace]]


class QuestionScore(NamedTuple):
    """The scores of an answer, None for metrics that do not apply to the question."""

    query: str
    ndcg: float | None
    file_match: float | None
    function_match: float | None


def parse_questions(text: str) -> list[GivenQuestion]:
    """Parse questions in JSON Lines.

    Raises:
        RequestError: if a line is none.
    """
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        value = _object(line, number)
        files, symbols = _names(value, "files", number), _names(value, "symbols", number)
        query = value.get("query")
        if not isinstance(query, str) or not query.strip() or not (files or symbols):
            raise RequestError(f"line {number} is not a question with files or symbols", _FORM)
        found.append(GivenQuestion(query, files, symbols))
    if not found:
        raise RequestError("there is no question", _FORM)
    if len(found) > MAX_QUESTIONS:
        raise RequestError(f"there are {len(found):,} questions; at most {MAX_QUESTIONS:,} are allowed", _FORM)
    return found


def parse_results(text: str) -> dict[str, list[FoundPlace]]:
    """Parse a tool's results by query, from JSON Lines: `{"query": "…", "paths": ["…"]}`.

    Raises:
        RequestError: if a line is none.
    """
    found: dict[str, list[FoundPlace]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            value = _object(line, number)
            if not isinstance(query := value.get("query"), str) or "paths" not in value:
                raise RequestError(f'line {number} is not {{"query": "…", "paths": ["…"]}}', _FORM)
            found[query] = [FoundPlace(_plain(path)) for path in _names(value, "paths", number)]
    return found


def score_all(
    questions: Sequence[GivenQuestion], find: Find, progress: Callable[[int, int], object] = lambda done, total: None
) -> list[QuestionScore]:
    """Ask all questions and return the scores of the answers.

    Args:
        find: returns the results for a query, best first.
        progress: called with how many are done, and how many there are.
    """
    scores = []
    for number, question in enumerate(questions):
        waiting.check()
        progress(number, len(questions))
        scores.append(_score(question, find(question.query)))
    return scores


def _score(question: GivenQuestion, found: Sequence[FoundPlace]) -> QuestionScore:
    paths = list(dict.fromkeys(_plain(place.path) for place in found))
    files = {_plain(path): 1.0 for path in question.files}
    names = [place.name for place in found[:10]]
    return QuestionScore(
        question.query,
        ndcg(paths, files) if files else None,
        file_match(paths, files) if files else None,
        function_match(names, question.symbols) if question.symbols else None,
    )


def summarize(scores: Sequence[QuestionScore]) -> dict[str, Interval]:
    """Return the mean of each metric with its interval; metrics that apply to no question are left out."""
    found = {}
    for name in METRICS:
        values = [value for score in scores if (value := getattr(score, name)) is not None]
        if values:
            found[name] = interval_of(values)
    return found


def compare_scores(
    before: Iterable[Mapping[str, Any]], after: Iterable[Mapping[str, Any]]
) -> dict[str, tuple[float, float, Interval]]:
    """Return for each metric both means over the common questions, and their difference with its interval.

    Raises:
        RequestError: if they have no question in common, or are not scores.
    """
    found: dict[str, tuple[float, float, Interval]] = {}
    try:
        left, right = ({str(row["query"]): row for row in rows} for rows in (before, after))
        common = [query for query in left if query in right]
        for name in METRICS:
            pairs = [
                (float(one), float(other))
                for query in common
                if (one := left[query].get(name)) is not None and (other := right[query].get(name)) is not None
            ]
            if pairs:
                count = len(pairs)
                means = sum(one for one, _ in pairs) / count, sum(other for _, other in pairs) / count
                found[name] = (*means, interval_of([other - one for one, other in pairs]))
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise RequestError("these are not scores", Hint("write them first", "eval run")) from error
    if not found:
        raise RequestError("both have no question in common", Hint("score the same questions", "eval run"))
    return found


def _object(line: str, number: int) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RequestError(f"line {number} is not JSON", _FORM) from error
    if not isinstance(value, dict):
        raise RequestError(f"line {number} is not an object", _FORM)
    return value


def _names(value: Mapping[str, Any], field: str, number: int) -> tuple[str, ...]:
    names = value.get(field, [])
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        raise RequestError(f"{field} in line {number} must be a list of strings", _FORM)
    return tuple(names)


def _plain(path: str) -> str:
    """Return a path in Cairn's form: with `/`, and without a leading `./`."""
    return str(PurePosixPath(path.strip().replace("\\", "/")))
