"""Creates embedders from settings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module

from cairn.embedding.chain import fingerprint_of, max_chars_of, prefixes_of
from cairn.embedding.keys import find_key
from cairn.embedding.protocol import Embedder
from cairn.embedding.remote import RemoteEmbedder
from cairn.model_providers import PROVIDERS
from cairn.model_settings import ModelSettings


def open_model(settings: ModelSettings, environment: Mapping[str, str] = os.environ) -> Embedder:
    """Return the embedder for some settings; it loads nothing and asks no server until it is used.

    The module with the provider's name has an `ADAPTER`: the class of its embedder if it runs in this process, else of
    its `Wire`.

    Raises:
        ValueError: for the bundled model, whose vectors are part of the index.
    """
    if settings.provider == "bundled":
        raise ValueError("the bundled model is not opened by settings")
    adapter = import_module(f"cairn.embedding.{settings.provider.replace('-', '_')}").ADAPTER
    fingerprint, prefixes, max_chars = fingerprint_of(settings), prefixes_of(settings), max_chars_of(settings)
    if PROVIDERS[settings.provider].is_local:
        embedder: Embedder = adapter(settings, fingerprint, prefixes, max_chars)
        return embedder
    return RemoteEmbedder(
        settings, adapter(), fingerprint, prefixes, max_chars, lambda: find_key(settings, environment)
    )
