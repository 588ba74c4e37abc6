"""Ollama's `/api/embed`; see https://docs.ollama.com/api/embed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cairn.embedding.wire import Document


class OllamaWire:
    """Lets the server truncate texts to the model's context, which is its default."""

    max_texts = 512

    def url(self, base_url: str, model: str) -> str:
        """Return where a batch is sent."""
        return f"{base_url}/api/embed"

    def headers(self, key: str) -> dict[str, str]:
        """Return the headers for a server behind a proxy that needs a key; Ollama itself has none."""
        return {"Authorization": f"Bearer {key}"} if key else {}

    def body(self, model: str, texts: Sequence[str], dimensions: int, *, query: bool) -> dict[str, Any]:
        """Return the request."""
        wanted = {"dimensions": dimensions} if dimensions else {}
        return {"model": model, "input": list(texts), "truncate": True, **wanted}

    def vectors(self, document: Document) -> list[Any]:
        """Return the vectors in the order of the texts."""
        return list(document["embeddings"])


ADAPTER = OllamaWire
