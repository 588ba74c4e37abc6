"""OpenAI's `/v1/embeddings`, which LM Studio, vLLM, llama.cpp and many others also speak.

https://platform.openai.com/docs/api-reference/embeddings/create
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cairn.embedding.wire import Document


class OpenAIWire:
    """Sends only fields that all such servers know. By convention, the base URL ends in `/v1`."""

    max_texts = 2048

    def url(self, base_url: str, model: str) -> str:
        """Return where a batch is sent."""
        return f"{base_url}/embeddings"

    def headers(self, key: str) -> dict[str, str]:
        """Return the headers; a local server needs no key."""
        return {"Authorization": f"Bearer {key}"} if key else {}

    def body(self, model: str, texts: Sequence[str], dimensions: int, *, query: bool) -> dict[str, Any]:
        """Return the request."""
        wanted = {"dimensions": dimensions} if dimensions else {}
        return {"model": model, "input": list(texts), "encoding_format": "float", **wanted}

    def vectors(self, document: Document) -> list[Any]:
        """Return the vectors in the order of the texts, by their `index`."""
        rows = sorted(document["data"], key=lambda row: int(row["index"]))
        return [row["embedding"] for row in rows]


ADAPTER = OpenAIWire
