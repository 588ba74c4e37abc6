"""The providers of embedding models: a row for each, with what is true of the provider whatever the model.

A provider is a row here and a module of the same name in `embedding/`, which asks it; CONTRIBUTING.md walks you
through it.
"""

from __future__ import annotations

from typing import NamedTuple


class Provider(NamedTuple):
    """A server or a library that embeds texts.

    Attributes:
        is_local: whether it runs in this process.
        url: where it is asked unless the user names another server.
        key_variable: the environment variable with the key for that address; empty when it needs none.
        chunks_per_second: assumed until a model was measured: a small model on a laptop, a distant server.
        start_hint: how to start it when nothing answers, with `{model}` for the model; empty for the common hint.
    """

    is_local: bool = False
    url: str = ""
    key_variable: str = ""
    chunks_per_second: float = 10.0
    start_hint: str = ""


PROVIDERS = {
    "bundled": Provider(is_local=True),  # its vectors are part of the index, so no module asks for them
    "ollama": Provider(
        url="http://localhost:11434",
        chunks_per_second=20.0,
        start_hint="start it and fetch the model: ollama serve; ollama pull {model}",
    ),
    "openai": Provider(url="https://api.openai.com/v1", key_variable="OPENAI_API_KEY", chunks_per_second=100.0),
    "google": Provider(
        url="https://generativelanguage.googleapis.com/v1beta", key_variable="GEMINI_API_KEY", chunks_per_second=60.0
    ),
    "fastembed": Provider(is_local=True),
    "sentence-transformers": Provider(is_local=True),
}
