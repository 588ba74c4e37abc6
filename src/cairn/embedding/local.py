"""The common base of models that run in this process; their libraries are optional dependencies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from threading import Lock

import numpy as np

from cairn.embedding.protocol import Floats, to_unit_vectors
from cairn.errors import ProviderError
from cairn.hints import Hint
from cairn.model_settings import AUTO, ModelSettings


class LocalEmbedder(ABC):
    """Adds prefixes, cuts texts and checks vectors; a subclass loads the model on first use."""

    def __init__(
        self, settings: ModelSettings, fingerprint: str, prefixes: tuple[str, str], max_input_chars: int
    ) -> None:
        self.name = settings.name
        self.fingerprint = fingerprint
        self.max_input_chars = max_input_chars
        self._settings = settings
        self._query_prefix, self._document_prefix = prefixes
        self._dimensions = 0
        self._lock = Lock()  # the libraries' tokenizers are not thread-safe

    @property
    def dimensions(self) -> int:
        """The length of a vector, 0 before anything was embedded."""
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
        """Release the model."""
        self.__dict__.pop("_model", None)

    def _embed(self, prefix: str, texts: Sequence[str], *, query: bool) -> Floats:
        texts_with_prefix = [prefix + text[: self.max_input_chars] for text in texts]
        try:
            with self._lock:
                rows = self._rows(texts_with_prefix, query=query)
        except (RuntimeError, ValueError, OSError, MemoryError) as error:  # libraries raise all kinds of errors
            raise ProviderError(
                f"{self.name} failed: {error}", Hint("check embedding.model, then run", "index")
            ) from error
        vectors = to_unit_vectors(rows, len(texts), self._settings.dimensions, self.name)
        self._dimensions = vectors.shape[1]
        return vectors

    def uses_library_prefix(self, *, query: bool) -> bool:
        """Tell whether to use the library's own prefix for the model, because none is configured or known."""
        setting = self._settings.query_prefix if query else self._settings.document_prefix
        return setting == AUTO and not (self._query_prefix if query else self._document_prefix)

    @abstractmethod
    def _rows(self, texts: Sequence[str], *, query: bool) -> object:
        """Return a row of numbers for each text."""


def missing_library(extra: str, error: ImportError) -> ProviderError:
    """Return the error for a library that cannot be imported, with the command that installs it."""
    return ProviderError(f"{extra} cannot be imported: {error}", f"uv tool install 'codecairn[{extra}]'")
