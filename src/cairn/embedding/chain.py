"""Derives a model's fingerprint, prefixes, input limit and price from its settings."""

from __future__ import annotations

from cairn.digest import blake2b
from cairn.embedding.model_facts import CHARS_PER_TOKEN_AT_LEAST, facts_of_model
from cairn.model_providers import PROVIDERS
from cairn.model_settings import AUTO, ModelSettings

# Bump this when the text that is embedded for a chunk changes.
TEXT_VERSION = "1"


def fingerprint_of(settings: ModelSettings) -> str:
    """Return a hash of exactly those settings that affect a model's document vectors.

    Two servers may use the same name for different models, so the address is included. The query prefix is not.
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
    """Return the prefixes of a query and of a document: the configured ones, else those known for the model."""
    facts = facts_of_model(settings.model)
    query = facts.query_prefix if settings.query_prefix == AUTO else settings.query_prefix
    document = facts.document_prefix if settings.document_prefix == AUTO else settings.document_prefix
    return query, document


def max_chars_of(settings: ModelSettings) -> int:
    """Return how many characters of a text are embedded."""
    return CHARS_PER_TOKEN_AT_LEAST * (settings.max_input_tokens or facts_of_model(settings.model).max_tokens)


def price_of(settings: ModelSettings) -> float | None:
    """Return US dollars for a million tokens; 0 for a model on this machine, None if unknown."""
    if settings.price_per_million_tokens >= 0:
        return settings.price_per_million_tokens
    if settings.stays_here:
        return 0.0
    return facts_of_model(settings.model).price or None if PROVIDERS[settings.provider].has_own_prices else None
