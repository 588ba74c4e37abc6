"""Understands a query of any length: a short one as a question, a long one in parts."""

from __future__ import annotations

from cairn.loading import load
from cairn.search.query import Query, classify, understand
from cairn.types import Mode

MANY_WORDS, _MANY_CHARS = 40, 1_000  # a text with more, or of several lines, is long
_MAX_PATTERN_CHARS = 300  # of what may be a pattern though it has several lines
# How the record of an issue begins, or what is in the head of a mail.
_RECORDS, _OF_MAIL = ("{", "[", "title:\t"), "Subject: "
_RANKED_MODES = ("auto", "hybrid", "semantic")


def understand_text(text: str, mode: Mode = "auto") -> Query:
    """Parse a query of any length: a long text in parts.

    Raises:
        QueryError: if it is empty, or too long for a mode that finds exactly what is given.
    """
    stripped = text.strip()
    if mode in _RANKED_MODES and (stripped.startswith(_RECORDS) or _OF_MAIL in stripped):
        text = stripped = load("cairn.search.exported:plain_issue")(stripped)
    if mode not in _RANKED_MODES or not is_long(stripped):
        return understand(text, mode)
    may_be_pattern = mode == "auto" and len(stripped) <= _MAX_PATTERN_CHARS and classify(stripped) != "hybrid"
    # The marks of a trace are those of no pattern.
    if may_be_pattern and not load("cairn.search.printed_lines:shows_trace")(stripped):
        return understand(text, mode)
    query: Query = load("cairn.search.long_query:understand_long")(stripped, "hybrid" if mode == "auto" else mode)
    return query


def is_long(text: str) -> bool:
    """Tell whether a text is to be read in parts."""
    return "\n" in text.strip() or len(text) > _MANY_CHARS or len(text.split()) > MANY_WORDS
