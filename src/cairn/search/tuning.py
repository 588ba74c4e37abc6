"""What a project's tuning changes in answers: weights, words that open a change, and words that stand for others."""

from __future__ import annotations

import json
import logging
import math
import os
import re
from collections.abc import Callable, Mapping
from functools import cache
from hmac import compare_digest
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from cairn.digest import blake2b
from cairn.errors import StoreError
from cairn.index.seal import Seal
from cairn.index.state_dir import StateDir
from cairn.index.state_files import StateFiles
from cairn.search.habits import scope_of
from cairn.search.learned import DATA, WORK_ITEM_DATA
from cairn.search.past import QUESTION_SHARE
from cairn.search.query import Query, Term, asks_for_change
from cairn.search.score import Weights
from cairn.source.terms import term_hash, terms_of
from cairn.source.text import split_identifier
from cairn.storage.own_files import read_own

if TYPE_CHECKING:
    from cairn.memory_settings import MemorySettings

_log = logging.getLogger("cairn.search")
FORMAT = 2
MAX_BYTES = 400_000
# How far a weight may be from the shipped one.
MAX_STEP = 2.0
MAX_OPENINGS, MAX_SCOPES, MAX_EXPANSIONS, MAX_WORDS = 200, 200, 500, 4
# Of the questions during a trial.
SHARE_OF_BEFORE = 0.25
_MOST_HASHED = 400  # characters; the memory keeps a little more
# Of a word of the query that stands for others, beside them.
KEPT_SHARE = 0.3
LEAST_BAR, MOST_BAR = 0.5, 2.0
MAX_TEXTS, MAX_TEXT_CHARS = 50, 4_000
_TEXT_NAME = re.compile(r"summary|tool\.[a-z_]{1,40}")
_WORD = re.compile(r"\w{1,64}")
_SCOPE = re.compile(r"[\w./*, -]{1,60}")
_OPENING = re.compile(r"(?:\s*(?:\[[^\]]{1,40}\]:?|[\w./*-]{1,40}(?:\([^)]{0,60}\))?!?:) +)?\W*(\w+)")

Expansions = Mapping[str, tuple[tuple[str, float], ...]]


def tuning_file(state: StateFiles) -> Path:
    """Return the file of the tuning; it is missing where the shipped values count."""
    return state.path / "tuning.json"


class Bars(NamedTuple):
    """What the least chances of being of use are multiplied by: of an answer, and of a memory shown at a prompt."""

    answers: float = 1.0
    memories: float = 1.0


class Tuning(NamedTuple):
    """What answers use in place of the shipped values.

    Attributes:
        number: of the version; 0 are the shipped values.
        questions, changes: the weights for questions, and for texts that ask for a change.
        history_share: how much the history counts in a question.
        openings: first words, in their base form, by which this project's changes are known.
        scopes: what this project's changes name in front; see `scope_of`.
        expansions: {term of a query: the words of the code that it stands for, each with a weight up to 1}.
        texts: in place of the shipped ones: `summary`, by which sessions are summed up, and `tool.NAME`, what agents
            read of a tool.
        bars: how sure Cairn must be to show anything.
        before: while this version is on trial, the one that still answers a share of the questions.
    """

    number: int = 0
    questions: Weights = Weights()
    changes: Weights = Weights()
    history_share: float = QUESTION_SHARE
    openings: frozenset[str] = frozenset()
    expansions: Expansions = MappingProxyType({})
    scopes: frozenset[str] = frozenset()
    texts: Mapping[str, str] = MappingProxyType({})
    bars: Bars = Bars()
    before: Tuning | None = None

    def for_question(self, text: str) -> Tuning:
        """Return the version that answers a question: the same for the same words."""
        if self.before is None:
            return self
        words = " ".join(text[:_MOST_HASHED].lower().split())
        number = blake2b(f"{self.number} {words}".encode("utf-8", "surrogatepass"), digest_size=1).digest()[0]
        return self.before if number < 256 * SHARE_OF_BEFORE else self

    def asks_for_change(self, text: str) -> bool:
        """Tell whether a text asks for a change, by its form or by how this project words its changes."""
        return asks_for_change(text) or opening_of(text) in self.openings or scope_of(text) in self.scopes

    def share_for(self, text: str) -> float:
        """Return how much of the evidence of the history counts for a text."""
        return 1.0 if self.asks_for_change(text) else self.history_share

    def weights_for(self, text: str) -> Weights:
        """Return the weights for a text."""
        return self.changes if self.asks_for_change(text) else self.questions

    def expand(self, query: Query) -> Query:
        """Return a query with the words of the code that its words stand for in this project."""
        if not self.expansions:
            return query
        terms: dict[str, Term] = {}
        words: list[str] = []
        for term in query.terms:
            others = self.expansions.get(term.text, ())
            for word, share in others:
                words.append(word)
                for text in terms_of(word, split_identifier(word)):
                    weight = term.weight * share
                    if text not in terms or terms[text].weight < weight:
                        terms[text] = Term(term_hash(text), text, weight)
            kept = term._replace(weight=term.weight * KEPT_SHARE) if others else term
            if term.text not in terms or terms[term.text].weight < kept.weight:
                terms[term.text] = kept
        if not words:
            return query
        return query._replace(
            terms=tuple(terms.values()), words=(*query.words, *words), subject=(*query.subject, *words)
        )


SHIPPED = Tuning()


def opening_of(text: str) -> str:
    """Return the base form of a text's first word, after a prefix as in `http: cache answers`; empty if none."""
    found = _OPENING.match(text)
    return base_form(found[1]) if found else ""


def base_form(word: str) -> str:
    """Return what stands for a word and its inflections."""
    return next(iter(terms_of(word.lower(), (word.lower(),))), "")


@cache
def shipped_digest(files: tuple[Path, ...] = (DATA, WORK_ITEM_DATA)) -> str:
    """Return what stands for the shipped values: a tuning was measured against them and means nothing without them.

    Args:
        files: of the trees of the second stage.
    """
    trees = [file.read_bytes() for file in files if file.is_file()]
    return blake2b(repr((Weights(), QUESTION_SHARE, trees)).encode(), digest_size=8).hexdigest()


def describe_tuning(tuning: Tuning) -> dict[str, Any]:
    """Return a tuning as JSON: of its weights those that differ from the shipped ones."""
    trial = {} if tuning.before is None else {"before": describe_tuning(tuning.before._replace(before=None))}
    texts = {"texts": dict(sorted(tuning.texts.items()))} if tuning.texts else {}
    bars = {"bars": tuning.bars._asdict()} if tuning.bars != Bars() else {}
    return {
        **trial,
        **texts,
        **bars,
        "format": FORMAT,
        "number": tuning.number,
        "shipped": shipped_digest(),
        "questions": _differences(tuning.questions),
        "changes": _differences(tuning.changes),
        "history_share": tuning.history_share,
        "openings": sorted(tuning.openings),
        "scopes": sorted(tuning.scopes),
        "expansions": {term: [list(one) for one in words] for term, words in sorted(tuning.expansions.items())},
    }


def dump_tuning(tuning: Tuning, secret: str) -> bytes:
    """Return a tuning as the content of its file, the same for the same tuning.

    Args:
        secret: of the state folder's seal, so that a file that came with a repository is not believed.
    """
    document = describe_tuning(tuning)
    return (json.dumps({"mark": _mark(document, secret), **document}, indent=1) + "\n").encode("ascii")


def load_tuning(file: Path, secret: str) -> tuple[Tuning, str]:
    """Return the tuning in a file, and why the shipped values are used in its place; empty if they are not.

    Args:
        secret: see `dump_tuning`.
    """
    try:
        content = read_own(file, MAX_BYTES + 1)
        _check(len(content) <= MAX_BYTES, "it is too large")
        document = json.loads(content)
        _check(isinstance(document, dict), "it is not an object")
        mark = document.pop("mark", None)
        _check(isinstance(mark, str) and compare_digest(mark, _mark(document, secret)), "it was not written here")
        return parse_tuning(document), ""
    except FileNotFoundError:
        return SHIPPED, ""
    except (OSError, StoreError, ValueError, RecursionError) as error:
        return SHIPPED, str(error)


def find_tuning(state: StateDir) -> tuple[Tuning, str]:
    """Return the tuning in a state folder, and why one that is there is not used; empty if it is, or there is none."""
    file = tuning_file(state)
    seal = state.seal()
    if seal is None:
        return SHIPPED, "it was not written here" if os.path.lexists(file) else ""
    return load_tuning(file, seal.secret)


def texts_of(state: Path) -> Mapping[str, str]:
    """Return the texts that are used in place of the shipped ones, by what is in a state folder."""
    return find_tuning(StateDir(state))[0].texts


def _mark(document: Mapping[str, Any], secret: str) -> str:
    content = json.dumps(document, sort_keys=True).encode("ascii")
    return blake2b(content, key=secret.encode("ascii")[:64], digest_size=16).hexdigest()


def parse_tuning(document: Mapping[str, Any], least: int = 1) -> Tuning:
    """Return the tuning that JSON describes.

    Args:
        document: JSON.
        least: the least number that it may have.

    Raises:
        ValueError: if it is none, was measured against other shipped values, or a value is out of bounds.
    """
    _check(document.get("format") == FORMAT, "it has another format")
    _check(document.get("shipped") == shipped_digest(), "it was measured against other shipped values")
    _check(document.keys() - {"before", "texts", "bars"} == describe_tuning(SHIPPED).keys(), "it has other fields")
    number, share = document["number"], document["history_share"]
    _check(isinstance(number, int) and number >= least, "its number is not one")
    before = document.get("before")
    _check(before is None or (isinstance(before, dict) and "before" not in before), "the version before")
    _check(_is_number(share) and 0 <= share <= 1, "history_share is not between 0 and 1")
    openings, expansions = document["openings"], document["expansions"]
    _check(isinstance(openings, list) and len(openings) <= MAX_OPENINGS and all(map(_is_word, openings)), "openings")
    scopes = document["scopes"]
    _check(isinstance(scopes, list) and len(scopes) <= MAX_SCOPES and all(map(is_scope, scopes)), "scopes")
    _check(isinstance(expansions, dict) and len(expansions) <= MAX_EXPANSIONS, "expansions")
    return Tuning(
        number,
        _weights(document["questions"]),
        _weights(document["changes"]),
        float(share),
        frozenset(openings),
        {term: _expansion(term, words) for term, words in expansions.items()},
        frozenset(scopes),
        _texts(document.get("texts", {})),
        _bars(document.get("bars", {})),
        None if before is None else parse_tuning(before, 0),
    )


class Tunings:
    """The tuning of a project, kept until its file is replaced.

    Args:
        file: its file.
        find_seal: returns the seal of the state folder.
        can_try: whether a version may be on trial: not where no feedback is kept to judge it by.
    """

    def __init__(self, file: Path, find_seal: Callable[[], Seal | None], *, can_try: bool = True) -> None:
        self._file = file
        self._find_seal = find_seal
        self._can_try = can_try
        self._stamp: tuple[int, int, int] | None = None
        self._tuning = SHIPPED

    def open(self) -> Tuning:
        """Return the tuning; the shipped values if there is no file, or it cannot be believed, which is logged."""
        try:
            facts = os.stat(self._file)  # a third of the time of `Path.stat`
        except OSError:
            return SHIPPED
        stamp = facts.st_ino, facts.st_mtime_ns, facts.st_size
        if stamp != self._stamp:
            seal = self._find_seal()
            self._tuning, problem = (SHIPPED, "no seal") if seal is None else load_tuning(self._file, seal.secret)
            if problem:
                _log.warning("the tuning %s is not used: %s", self._file, problem)
            if not self._can_try:
                self._tuning = self._tuning._replace(before=None)
            self._stamp = stamp
        return self._tuning


def tunings_of(state: StateDir, memory: MemorySettings | None) -> Tunings:
    """Return what opens the tuning in a state folder, by the settings of its memory."""
    can_try = memory is None or (memory.capture and memory.feedback)
    return Tunings(tuning_file(state), state.seal, can_try=can_try)


def _differences(weights: Weights) -> dict[str, float]:
    return {
        name: round(value, 4)
        for name, value, shipped in zip(Weights._fields, weights, Weights(), strict=True)
        if round(value, 4) != round(shipped, 4)
    }


def _weights(values: object) -> Weights:
    _check(isinstance(values, dict), "weights are missing")
    shipped = Weights()._asdict()
    given: dict[str, Any] = values  # type: ignore[assignment] # checked above
    for name, value in given.items():
        _check(name in shipped and _is_number(value) and abs(value - shipped[name]) <= MAX_STEP, f"the weight {name}")
    return Weights()._replace(**{name: float(value) for name, value in given.items()})


def _expansion(term: str, words: object) -> tuple[tuple[str, float], ...]:
    _check(_is_word(term) and isinstance(words, list) and 0 < len(words) <= MAX_WORDS, f"the expansion of {term!r}")
    found: list[Any] = words  # type: ignore[assignment] # checked above
    for one in found:
        fits = isinstance(one, list) and len(one) == 2 and _is_word(one[0]) and _is_number(one[1]) and 0 < one[1] <= 1
        _check(fits, f"the expansion of {term!r}")
    return tuple((word, float(share)) for word, share in found)


def _texts(values: object) -> Mapping[str, str]:
    _check(isinstance(values, dict) and len(values) <= MAX_TEXTS, "texts")
    given: dict[str, Any] = values  # type: ignore[assignment] # checked above
    for name, text in given.items():
        fits = _TEXT_NAME.fullmatch(name) and isinstance(text, str) and 0 < len(text) <= MAX_TEXT_CHARS
        _check(bool(fits), f"the text {name!r}")
    return given


def _bars(values: object) -> Bars:
    _check(isinstance(values, dict) and values.keys() <= set(Bars._fields), "bars")
    given: dict[str, Any] = values  # type: ignore[assignment] # checked above
    for name, value in given.items():
        _check(_is_number(value) and LEAST_BAR <= value <= MOST_BAR, f"the bar of {name}")
    return Bars(**{name: float(value) for name, value in given.items()})


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_word(value: object) -> bool:
    return isinstance(value, str) and _WORD.fullmatch(value) is not None


def is_scope(value: object) -> bool:
    """Tell whether a value may be a scope of a tuning."""
    return isinstance(value, str) and _SCOPE.fullmatch(value) is not None


def _check(holds: bool, problem: str) -> None:
    if not holds:
        raise ValueError(problem)
