"""Finds the code that asks for a message by its key, where the message itself stands in a file of texts or settings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cairn.answers import CodeHit
from cairn.hints import Hint
from cairn.search.confidence import GUESSED, confidence_word
from cairn.search.exact_answer import Effort, lines_saying
from cairn.search.library import Library
from cairn.search.query import Query
from cairn.source.languages import BY_NAME

if TYPE_CHECKING:
    from cairn.protocol.requests import SearchRequest

_MAX_TEXTS, _MAX_USERS, _MAX_LINES = 10, 5, 100
_SECONDS = 1.0
_LEAST_SHARE = 0.5  # of what was asked for, that the first text is
# What a line of JSON, YAML, properties or an environment file says of a key: that it stands for something.
_KEY = re.compile(r"\s*[\"']?([A-Za-z][\w.-]{4,120})[\"']?\s*[:=]\s*\S")
_TELLS = re.compile(r"[._-]|[a-z][A-Z]")  # else it may be any word


def with_users_of_keys(
    library: Library, query: Query, request: SearchRequest, texts: Sequence[CodeHit], notes: list[str]
) -> list[CodeHit]:
    """Return lines that stand in no code together with those in code that say the key of one of them.

    Args:
        library: the open index.
        query: the query that found them.
        request: the request; its filters hold for the code as well.
        texts: the hits that found lines are.
        notes: gets what is to be said of the code.
    """
    is_code = any(map(_is_code, texts))
    if not texts or len(texts) > _MAX_TEXTS or is_code or (texts[0].similarity or 1.0) < _LEAST_SHARE:
        return list(texts)
    for key in dict.fromkeys(key for hit in texts for key in _keys_of(hit)):
        users = _users_of(library, query, request, key)
        if users:
            words = f"What comes then says the key {key!r} of that text"
            notes.append(Hint(f"{words}; to list every line that does", "search", query=key, mode="literal"))
            return [*texts, *users[:_MAX_USERS]][: request.limit or None]
    return list(texts)


def _keys_of(hit: CodeHit) -> list[str]:
    """Return the key of a text, first with those that it is in, as some code says it."""
    match = _KEY.match(hit.preview.split("\n", 1)[0])
    if match is None:
        return []
    keys = [hit.qualified_name, match[1]] if hit.kind == "key" else [match[1]]
    return [key for key in keys if _TELLS.search(key) and not any(map(str.isspace, key))]


def _users_of(library: Library, query: Query, request: SearchRequest, key: str) -> list[CodeHit]:
    """Return the lines of code that say a key as a whole, those of tests last."""
    found, _ = lines_saying(library, query, replace(request, limit=_MAX_LINES), key, Effort(_SECONDS))
    users = [hit for hit in found if _is_code(hit)]
    return [hit._replace(relevance=GUESSED, confidence=confidence_word(GUESSED)) for hit in users]


def _is_code(hit: CodeHit) -> bool:
    """Tell whether a hit is in code, or in a page, whose templates ask for texts as well."""
    return BY_NAME[hit.language].group == "code" or hit.language == "html"
