"""From settings to embedders: which protocol, which prefixes, which key, which fingerprint."""

from __future__ import annotations

import os
from collections.abc import Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING

from cairn.embedding.known import CHARS_PER_TOKEN_AT_LEAST, known_of
from cairn.errors import ProviderKeyError
from cairn.model_settings import AUTO, ModelSettings, is_loopback

if TYPE_CHECKING:
    from cairn.embedding.protocol import Embedder
    from cairn.embedding.wire import Wire

# Raised whenever the text that stands for a chunk is put together in another way.
TEXT_VERSION = "1"


def open_model(settings: ModelSettings, environment: Mapping[str, str] = os.environ) -> Embedder:
    """Return the embedder that the settings describe; nothing is loaded, and nobody is asked, before it is used.

    Raises:
        ValueError: for the bundled model, whose vectors are part of the index.
    """
    # Function-local imports: start-up time. Who uses one provider pays for no other.
    fingerprint, prefixes, max_chars = fingerprint_of(settings), prefixes_of(settings), max_chars_of(settings)
    if settings.provider == "sentence-transformers":
        from cairn.embedding.local import SentenceTransformerEmbedder  # noqa: PLC0415 - as above

        return SentenceTransformerEmbedder(settings, fingerprint, prefixes, max_chars)
    if settings.provider == "fastembed":
        from cairn.embedding.local import FastEmbedEmbedder  # noqa: PLC0415 - as above

        return FastEmbedEmbedder(settings, fingerprint, prefixes, max_chars)
    from cairn.embedding.remote import RemoteEmbedder  # noqa: PLC0415 - as above

    wire = _wire(settings.provider)
    return RemoteEmbedder(settings, wire, fingerprint, prefixes, max_chars, lambda: find_key(settings, environment))


def _wire(provider: str) -> Wire:
    if provider == "ollama":
        from cairn.embedding.ollama import OllamaWire  # noqa: PLC0415 - start-up time, as above

        return OllamaWire()
    if provider == "openai":
        from cairn.embedding.openai import OpenAIWire  # noqa: PLC0415 - as above

        return OpenAIWire()
    if provider == "google":
        from cairn.embedding.google import GoogleWire  # noqa: PLC0415 - as above

        return GoogleWire()
    raise ValueError(f"{provider} is asked over no wire")


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
    known = known_of(settings.model)
    query = known.query_prefix if settings.query_prefix == AUTO else settings.query_prefix
    document = known.document_prefix if settings.document_prefix == AUTO else settings.document_prefix
    return query, document


def max_chars_of(settings: ModelSettings) -> int:
    """Return how many characters of a text are embedded."""
    return CHARS_PER_TOKEN_AT_LEAST * (settings.max_input_tokens or known_of(settings.model).max_tokens)


def price_of(settings: ModelSettings) -> float | None:
    """Return US dollars for a million tokens; 0 for a model on this machine, None when nobody knows."""
    if settings.price_per_million_tokens >= 0:
        return settings.price_per_million_tokens
    if settings.stays_here:
        return 0.0
    return known_of(settings.model).price or None


def find_key(settings: ModelSettings, environment: Mapping[str, str] = os.environ) -> str:
    """Return a model's key: from the environment, else from the keyring; empty when none is named and none is needed.

    Raises:
        ProviderKeyError: if a key is named, or needed, and there is none.
    """
    from cairn.embedding.remote import key_hint  # noqa: PLC0415 - start-up time, as above

    if settings.key_variable and (key := environment.get(settings.key_variable, "").strip()):
        return key
    if settings.keyring_service:
        return _from_keyring(settings)
    if settings.key_variable:
        raise ProviderKeyError(
            f"{settings.name} needs a key, and {settings.key_variable} is not set", key_hint(settings)
        )
    return ""


def _from_keyring(settings: ModelSettings) -> str:
    try:
        import keyring  # noqa: PLC0415 - an extra
        from keyring.errors import KeyringError  # noqa: PLC0415 - as above
    except ImportError as error:
        raise ProviderKeyError(
            "embedding.keyring_service is set, and the package keyring is not installed",
            "uv tool install 'codecairn[keyring]'",
        ) from error
    from cairn.embedding.remote import key_hint  # noqa: PLC0415 - start-up time, as above

    try:
        key: str | None = keyring.get_password(settings.keyring_service, settings.provider)
    except KeyringError as error:
        raise ProviderKeyError(f"the keyring cannot be read: {type(error).__name__}", key_hint(settings)) from error
    if not key:
        raise ProviderKeyError(f"the keyring has no key of {settings.keyring_service}", key_hint(settings))
    return key


def warnings_of(settings: ModelSettings, environment: Mapping[str, str] = os.environ) -> list[str]:
    """Return what the user should know before texts are sent, in sentences."""
    plain = settings.base_url.startswith("http://") and not is_loopback(settings.base_url)
    if not plain:
        return []
    keyed = bool(settings.keyring_service or environment.get(settings.key_variable or "-"))
    what = "the key and all texts" if keyed else "all texts"
    return [f"{settings.base_url} is not encrypted: {what} can be read on the way; use https"]
