"""What a commit's message says: its subject, its words as terms, and how much it counts as evidence."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from cairn.history.past import BODY_FIELD, SUBJECT_FIELD
from cairn.source.commits import Commit
from cairn.source.terms import term_hash, terms_of
from cairn.source.text import MAX_WORD_CHARS, cut_at_word, raw_words, split_identifier

MAX_SUBJECT_CHARS = 200
# More is pasted output or a list of other commits.
_MAX_BODY_CHARS, _MAX_TERMS = 4_000, 160
# A commit of more files says nothing about any of them.
MAX_FILES = 60
_MINOR_WEIGHT = 0.3

_TRAILER = re.compile(
    r"(?:[A-Z][A-Za-z]*(?:-[A-Za-z]+)+|(?:closes?|fix(?:es|ed)?|resolves?|refs?|see|issue|bug|ticket|cc|pr)) ?:.*"
    r"|(?:closes?|fix(?:es|ed)?|resolves?|refs?|see(?: also)?|related(?: to)?|part of)[: ]+(?:\S*#\d+|https?://\S+).*"
    r"|\(?cherry[- ]picked? from commit.*|git-svn-id:.*|https?://\S+",
    re.IGNORECASE,
)
_PREFIX = re.compile(r"^(?:\[[^\]]{1,40}\] ?|:[a-z_]{2,30}: ?)+")
_NUMBERS = re.compile(r"\(?(?:\b[Gg][Hh]-|#)\d+\)?")
# With one parent, as GitHub makes one of a private fork's branch, it is a change like any other: its body says which.
_MERGE = re.compile(r"merge (?:branch|pull request|remote|tag|commit|master|main|from|upstream|with)\b", re.IGNORECASE)
_NO_DETAILS = re.compile(r"# Conflicts:|Conflicts:|\s*$")
_NOTHING = re.compile(
    r"merged?$"
    r"|revert(?:s|ed)? |rollback\b|roll back "
    r"|(?:chore|build|ci)?(?:\([^)]*\))?:? ?(?:bump|upgrade|update|pin) \S+(?: \S+)? (?:from|to) v?\d"
    r"|(?:chore|build)?(?:\([^)]*\))?:? ?"
    r"(?:release|releasing|bump(?:ing|ed)?|version|tag|prepare(?: for)?|preparing|cut|start)"
    r"(?: (?:the|a|next|new|for|to|version|release|development|iteration|bump|number))*:? ?v?\.?\d"
    r"|(?:chore(?:\([^)]*\))?: )?"
    r"(?:release|version bump|bump versions?|release notes?|bump deps|(?:bump|update) dependencies)\b.{0,15}$"
    r"|prepare (?:a |the |for )*(?:release|next development)\b|v?\d+\.\d+(?:\.\w+)*(?:[-.+]\w+)*\.?$"
    r"|(?:initial|first) commit\b|wip\.?$",
    re.IGNORECASE,
)
_MINOR = re.compile(
    r"(?:fix(?:es|ed|ing)? )?(?:a |some |more |minor |small |few )*"
    r"(?:typos?|whitespace|spelling|grammar|indentation|formatting|lint(?:ing)?|style|code style|flakes?|flake8|rubocop"
    r"|rustfmt|gofmt|cargo fmt|clippy|black|prettier|pep ?8|copyright|licen[cs]e headers?)\b.{0,30}$"
    r"|(?:update|updated|edit|add to|fix) (?:the )?"
    r"(?:changelog|change log|changes|news|readme|authors?|contributors|thanks|whatsnew|history|todo)\S*$"
    r"|(?:style|chore|ci|build)(?:\([^)]*\))?!?: ",
    re.IGNORECASE,
)


class Said(NamedTuple):
    """What a commit says: the line that says what it does, its terms with the field of each, and its weight, 0 to 1."""

    subject: str
    terms: dict[int, int]
    weight: float


def read_message(commit: Commit, redact: Callable[[str], str]) -> Said:
    """Return what a commit says.

    Args:
        commit: the commit.
        redact: takes secrets out of a text.
    """
    subject, _, body = commit.message.lstrip().partition("\n")
    done, details = _what_is_done(subject, body)
    weight = weigh(done or subject, len(commit.changes), by_program=commit.by_program)
    if not weight:  # it is not looked for by its words, and shown nowhere
        return Said("", {}, 0.0)
    text = redact(f"{subject[:1_000]}\n{body[:_MAX_BODY_CHARS]}")
    subject, _, body = text.partition("\n")
    done, details = _what_is_done(subject, body)
    terms: dict[int, int] = {}
    for field, part in ((SUBJECT_FIELD, _NUMBERS.sub(" ", done)), (BODY_FIELD, _without_trailers(details))):
        for raw in raw_words(part):
            for term in _terms(raw):
                if len(terms) < _MAX_TERMS:
                    terms.setdefault(term, field)
    return Said(shown_subject(done or subject), terms, weight)


def shown_subject(subject: str) -> str:
    """Return the first line of a message on one line, without control characters, and cut if it is long."""
    plain = subject if subject.isprintable() else "".join(char if char.isprintable() else " " for char in subject)
    return cut_at_word(" ".join(plain.split()), MAX_SUBJECT_CHARS)


def weigh(subject: str, n_files: int, *, by_program: bool = False) -> float:
    """Return how much a commit counts as evidence, from 0 to 1.

    Reverts, releases, and what a program committed say nothing of the files they change; nor do commits that change
    very many. What only says that it is a merge says little.

    Args:
        subject: the first line of its message.
        n_files: how many files it changed.
        by_program: whether a program made it.
    """
    plain = _PREFIX.sub("", subject.strip())
    if by_program or not plain or not 0 < n_files <= MAX_FILES or _NOTHING.match(plain):
        return 0.0
    return _MINOR_WEIGHT if _MINOR.match(plain) or _MERGE.match(plain) else 1.0


def _what_is_done(subject: str, body: str) -> tuple[str, str]:
    """Return the line that says what a commit does, and the rest; of a merge both are in its body, if anywhere."""
    if not _MERGE.match(subject.strip()):
        return subject, body
    first, _, rest = body.lstrip().partition("\n")
    return ("", "") if _NO_DETAILS.match(first) else (first.lstrip("*- "), rest)


def _without_trailers(body: str) -> str:
    """Return a body without its trailers, links and the numbers of issues."""
    kept = (line for line in body.splitlines() if not _TRAILER.fullmatch(line.strip(" *-")))
    return _NUMBERS.sub(" ", "\n".join(kept))


@lru_cache(maxsize=50_000)
def _terms(raw: str) -> tuple[int, ...]:
    """Return the hashes of the terms of a word; none for a number and a single letter."""
    if len(raw) < 2 or len(raw) > MAX_WORD_CHARS or raw.isdigit():
        return ()
    return tuple(term_hash(term) for term in terms_of(raw, split_identifier(raw)))
