"""From settings to embedders: which protocol speaks to which provider."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from cairn.embedding.chain import fingerprint_of, max_chars_of, prefixes_of
from cairn.embedding.google import GoogleWire
from cairn.embedding.keys import find_key
from cairn.embedding.local import FastEmbedEmbedder, SentenceTransformerEmbedder
from cairn.embedding.ollama import OllamaWire
from cairn.embedding.openai import OpenAIWire
from cairn.embedding.protocol import Embedder
from cairn.embedding.remote import RemoteEmbedder
from cairn.embedding.wire import Wire
from cairn.model_settings import ModelSettings

_LOCAL = {"sentence-transformers": SentenceTransformerEmbedder, "fastembed": FastEmbedEmbedder}
_WIRES: Mapping[str, Callable[[], Wire]] = {"ollama": OllamaWire, "openai": OpenAIWire, "google": GoogleWire}


def open_model(settings: ModelSettings, environment: Mapping[str, str] = os.environ) -> Embedder:
    """Return the embedder that the settings describe; nothing is loaded, and nobody is asked, before it is used.

    Raises:
        ValueError: for the bundled model, whose vectors are part of the index.
    """
    fingerprint, prefixes, max_chars = fingerprint_of(settings), prefixes_of(settings), max_chars_of(settings)
    if (local := _LOCAL.get(settings.provider)) is not None:
        return local(settings, fingerprint, prefixes, max_chars)
    if (wire := _WIRES.get(settings.provider)) is None:
        raise ValueError(f"{settings.provider} is asked over no wire")
    return RemoteEmbedder(settings, wire(), fingerprint, prefixes, max_chars, lambda: find_key(settings, environment))
