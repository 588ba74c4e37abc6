"""Google's `batchEmbedContents`; see https://ai.google.dev/api/embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cairn.embedding.wire import Document

# Later models take the task as a prefix of the text; see `model_facts.py`.
_WITH_TASK_TYPE = ("gemini-embedding-001", "text-embedding-")


class GoogleWire:
    """Sends the key in a header, since URLs end up in logs."""

    max_texts = 100

    def url(self, base_url: str, model: str) -> str:
        """Return where a batch is sent."""
        return f"{base_url}/models/{model.removeprefix('models/')}:batchEmbedContents"

    def headers(self, key: str) -> dict[str, str]:
        """Return the header with the key."""
        return {"x-goog-api-key": key} if key else {}

    def body(self, model: str, texts: Sequence[str], dimensions: int, *, query: bool) -> dict[str, Any]:
        """Return the request, with a part for each text."""
        name = model.removeprefix("models/")
        common: dict[str, Any] = {"model": f"models/{name}"}
        if name.startswith(_WITH_TASK_TYPE):
            common["taskType"] = "CODE_RETRIEVAL_QUERY" if query else "RETRIEVAL_DOCUMENT"
        if dimensions:
            common["outputDimensionality"] = dimensions
        return {"requests": [{**common, "content": {"parts": [{"text": text}]}} for text in texts]}

    def vectors(self, document: Document) -> list[Any]:
        """Return the vectors in the order of the texts."""
        return [row["values"] for row in document["embeddings"]]


ADAPTER = GoogleWire
