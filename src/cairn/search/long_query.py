"""Understands a long text as a query, in parts."""

from __future__ import annotations

import re
from itertools import islice

from cairn.search.query import PART_WEIGHT, STOP_WORDS, Query, Term, surely_named_among
from cairn.search.role_words import asked_roles
from cairn.search.work_item import WorkItem, read_work_item, words_of
from cairn.source.roles import Role
from cairn.source.terms import known_hash, terms_of_word
from cairn.source.text import MAX_WORD_CHARS
from cairn.types import Mode

# What a word counts by the part that it is in; one of the subject counts 1.
PROSE, CODE, TRACE = 0.3, 0.1, 0.3
MAX_TERMS_OF_ITEM, MAX_BODY_WORDS = 120, 200
MOST_NAMED = 5
_LATIN = re.compile(r"[A-Za-z]")
_ASKS = re.compile(r"(?i)^(how|where|what|which|why|who|add|write|document|show|find)\b|\?$")


def understand_long(text: str, mode: Mode) -> Query:
    """Parse a text that is long; see `any_length.is_long`."""
    return understand_item(read_work_item(text), mode)


def understand_item(item: WorkItem, mode: Mode = "hybrid") -> Query:
    """Return the query that a long text is. A role is wanted only if its subject asks for one, or names a platform.

    Where the subject is in another script than names of code, the names in the text below it are its words, too.
    """
    if not _LATIN.search(item.subject):
        names = islice(dict.fromkeys(surely_named_among(item.prose)), MOST_NAMED)
        item = item._replace(subject=" ".join([item.subject, *names]))
    subject = _words(item.subject)
    return Query(
        text=item.subject,
        mode=mode,
        terms=_terms(item),
        words=subject,
        subject=subject,
        symbols=(),
        wants=asked_roles(item.subject) & (~Role(0) if _ASKS.search(item.subject) else Role.OTHER_PLATFORM),
        body=_words(item.prose, MAX_BODY_WORDS),
        item=item,
    )


def _terms(item: WorkItem) -> tuple[Term, ...]:
    """Return the terms of all parts, each once with the highest weight that it has anywhere."""
    weights: dict[str, float] = {}
    parts = ((item.subject, 1.0), (item.prose, PROSE), (item.code, CODE), (item.trace, TRACE))
    for text, worth in parts:
        for raw in dict.fromkeys(words_of(text)):
            if raw.lower() in STOP_WORDS or len(raw) > MAX_WORD_CHARS:
                continue
            words, terms = terms_of_word(raw)
            for term in terms:
                weight = worth if len(words) < 2 or term == terms[-1] else worth * PART_WEIGHT
                if weights.get(term, 0.0) < weight:
                    weights[term] = weight
            if len(weights) >= MAX_TERMS_OF_ITEM:
                break
    return tuple([Term(known_hash(term), term, weight) for term, weight in weights.items()])


def _words(text: str, most: int | None = None) -> tuple[str, ...]:
    words = (word for raw in words_of(text) for word in terms_of_word(raw)[0])
    return tuple(islice((word for word in words if word not in STOP_WORDS and not word.isdigit()), most))
