"""Models that run in this process: SentenceTransformers and FastEmbed, each an extra of its own."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from cairn.embedding.protocol import Floats, to_unit_vectors
from cairn.errors import ProviderError
from cairn.hints import Hint
from cairn.model_settings import AUTO, ModelSettings

if TYPE_CHECKING:
    from types import ModuleType


class _LocalEmbedder(ABC):
    """What both have in common: prefixes, cutting, the check of what comes back. The model is loaded late."""

    def __init__(
        self, settings: ModelSettings, fingerprint: str, prefixes: tuple[str, str], max_input_chars: int
    ) -> None:
        self.name = settings.name
        self.fingerprint = fingerprint
        self.max_input_chars = max_input_chars
        self._settings = settings
        self._query_prefix, self._document_prefix = prefixes
        self._dimensions = 0
        self._lock = Lock()  # the libraries' tokenizers are for one thread at a time

    @property
    def dimensions(self) -> int:
        """The length of a vector, 0 while nothing was embedded yet."""
        return self._dimensions

    def embed_documents(self, texts: Sequence[str]) -> Floats:
        """Return a unit vector for each text, shape (n_texts, dimensions)."""
        if not texts:
            return np.zeros((0, self._dimensions), dtype=np.float32)
        return self._embed(self._document_prefix, texts, query=False)

    def embed_query(self, text: str) -> Floats:
        """Return the unit vector of a query, shape (dimensions,)."""
        query: Floats = self._embed(self._query_prefix, [text], query=True)[0]
        return query

    def close(self) -> None:
        """Let go of the model."""
        self.__dict__.pop("_model", None)

    def _embed(self, prefix: str, texts: Sequence[str], *, query: bool) -> Floats:
        cut = [prefix + text[: self.max_input_chars] for text in texts]
        try:
            with self._lock:
                rows = self._rows(cut, query=query)
        except (RuntimeError, ValueError, OSError, MemoryError) as error:  # what the libraries raise
            raise ProviderError(
                f"{self.name} failed: {error}", Hint("check embedding.model, then run", "index")
            ) from error
        vectors = to_unit_vectors(rows, len(texts), self._settings.dimensions, self.name)
        self._dimensions = vectors.shape[1]
        return vectors

    def _leaves_prefix_to_library(self, *, query: bool) -> bool:
        """Tell whether no prefix is set or known, so that the library's own for the model is used."""
        setting = self._settings.query_prefix if query else self._settings.document_prefix
        return setting == AUTO and not (self._query_prefix if query else self._document_prefix)

    @abstractmethod
    def _rows(self, texts: Sequence[str], *, query: bool) -> object:
        """Return a row of numbers for each text."""


class SentenceTransformerEmbedder(_LocalEmbedder):
    """A SentenceTransformers model, by name or as a folder. The library may download one that it does not have."""

    @cached_property
    def _model(self) -> Any:  # noqa: ANN401 - the library is optional, and so are its types
        try:
            from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - an extra, and slow to import
        except ImportError as error:
            raise _missing("sentence-transformers", error) from error
        model = os.path.expanduser(self._settings.model)
        # The library prefers a folder of that name, and what is in it may run. It is not for the folder that a command
        # happens to be started in to bring one.
        if not os.path.isabs(model) and os.path.lexists(model):
            raise ProviderError(
                f"{self._settings.model} is also something in {os.getcwd()}, which is not loaded as a model",
                "run the command in another folder, or name the model's folder from / on",
            )
        return SentenceTransformer(model)

    def _rows(self, texts: Sequence[str], *, query: bool) -> object:
        own = self._leaves_prefix_to_library(query=query)
        encode = getattr(self._model, "encode_query" if query else "encode_document", None) if own else None
        return (encode or self._model.encode)(
            list(texts), batch_size=self._settings.batch_size, convert_to_numpy=True, show_progress_bar=False
        )


class FastEmbedEmbedder(_LocalEmbedder):
    """A FastEmbed model (ONNX). The library downloads it when it is first used."""

    @cached_property
    def _model(self) -> Any:  # noqa: ANN401 - the library is optional, and so are its types
        try:
            import fastembed  # noqa: PLC0415 - an extra, and slow to import
        except ImportError as error:
            raise _missing("fastembed", error) from error
        module: ModuleType = fastembed
        return module.TextEmbedding(model_name=self._settings.model)

    def _rows(self, texts: Sequence[str], *, query: bool) -> object:
        if self._leaves_prefix_to_library(query=query):
            rows = self._model.query_embed(texts[0]) if query else self._model.passage_embed(list(texts))
            return list(rows)
        return list(self._model.embed(list(texts), batch_size=self._settings.batch_size))


def _missing(extra: str, error: ImportError) -> ProviderError:
    return ProviderError(f"{extra} cannot be imported: {error}", f"uv tool install 'codecairn[{extra}]'")
