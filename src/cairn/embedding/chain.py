"""What follows from the settings of a model: its fingerprint, its prefixes, its price."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

from cairn.embedding.model_facts import CHARS_PER_TOKEN_AT_LEAST, facts_of_model
from cairn.model_settings import AUTO, ModelSettings

if TYPE_CHECKING:
    pass

# Raised whenever the text that stands for a chunk is put together in another way.
TEXT_VERSION = "1"


def fingerprint_of(settings: ModelSettings) -> str:
    """Return what names the vectors of a model's documents; all that changes them is part of it, and nothing else.

    Two servers may call different models by one name, so where it is served counts. The prefix of queries does not.
    """
    parts = (
        TEXT_VERSION,
        settings.provider,
        settings.model,
        settings.base_url,
        str(settings.dimensions),
        prefixes_of(settings)[1],
        str(max_chars_of(settings)),
    )
    return blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=12).hexdigest()


def prefixes_of(settings: ModelSettings) -> tuple[str, str]:
    """Return what goes before a query, and before a document: what is set, else what is known of the model."""
    known = facts_of_model(settings.model)
    query = known.query_prefix if settings.query_prefix == AUTO else settings.query_prefix
    document = known.document_prefix if settings.document_prefix == AUTO else settings.document_prefix
    return query, document


def max_chars_of(settings: ModelSettings) -> int:
    """Return how many characters of a text are embedded."""
    return CHARS_PER_TOKEN_AT_LEAST * (settings.max_input_tokens or facts_of_model(settings.model).max_tokens)


def price_of(settings: ModelSettings) -> float | None:
    """Return US dollars for a million tokens; 0 for a model on this machine, None when nobody knows."""
    if settings.price_per_million_tokens >= 0:
        return settings.price_per_million_tokens
    if settings.stays_here:
        return 0.0
    return facts_of_model(settings.model).price or None
