"""Models of the SentenceTransformers library."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from cairn.embedding.local import LocalEmbedder, missing_library
from cairn.errors import ProviderError


class SentenceTransformerEmbedder(LocalEmbedder):
    """A SentenceTransformers model, by name or directory. The library may download missing models."""

    @cached_property
    def _model(self) -> Any:  # noqa: ANN401 - the library is optional, and so are its types
        try:
            from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - an extra, and slow to import
        except ImportError as error:
            raise missing_library("sentence-transformers", error) from error
        model = os.path.expanduser(self._settings.model)
        # The library prefers a directory with that name and may run code in it. The current directory must not be able
        # to provide one.
        if not os.path.isabs(model) and os.path.lexists(model):
            raise ProviderError(
                f"{self._settings.model} is also a file or directory in {os.getcwd()}, which is not loaded as a model",
                "run the command in another folder, or give the model's folder as an absolute path",
            )
        return SentenceTransformer(model)

    def _rows(self, texts: Sequence[str], *, query: bool) -> object:
        own = self.uses_library_prefix(query=query)
        encode = getattr(self._model, "encode_query" if query else "encode_document", None) if own else None
        return (encode or self._model.encode)(
            list(texts), batch_size=self._settings.batch_size, convert_to_numpy=True, show_progress_bar=False
        )


ADAPTER = SentenceTransformerEmbedder
