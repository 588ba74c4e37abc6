"""The interface of embedding models, whichever provider runs them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from cairn.errors import ProviderError
from cairn.hints import Hint

Floats = npt.NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into unit vectors. Vectors of different embedders must not be compared.

    Attributes:
        name: its name in notes, such as `ollama:nomic-embed-text`.
        fingerprint: equal for vectors that may be compared; it depends on everything that changes a document's vector.
        max_input_chars: longer texts are cut to this.
    """

    name: str
    fingerprint: str
    max_input_chars: int

    @property
    def dimensions(self) -> int:
        """The length of a vector, 0 before anything was embedded."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> Floats:
        """Return a unit vector for each text, shape (n_texts, dimensions).

        Raises:
            ProviderError: if the model does not answer, after all retries.
        """
        ...

    def embed_query(self, text: str) -> Floats:
        """Return the unit vector of a query, shape (dimensions,); tried once, with a short timeout.

        Raises:
            ProviderError: if the model does not answer.
        """
        ...

    def close(self) -> None:
        """Release connections and models."""
        ...


def to_unit_vectors(rows: object, n_texts: int, dimensions: int, name: str) -> Floats:
    """Check a model's vectors and scale them to unit length; longer rows than requested are cut (Matryoshka).

    Args:
        rows: a list of lists of numbers or an array, with a row for each text.
        dimensions: the least length of a row; 0 for any length, equal for all rows.

    Returns:
        shape (n_texts, dimensions); a row of zeros stays zero.

    Raises:
        ProviderError: if rows are missing, of unequal length, too short, or contain a value that is not finite.
    """
    try:
        vectors = np.asarray(rows, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise ProviderError(
            f"{name} returned vectors of unequal length, or values that are not numbers", RETRY_HINT
        ) from error
    if vectors.ndim != 2 or len(vectors) != n_texts or not vectors.shape[1]:
        got = len(vectors) if vectors.ndim else 0
        raise ProviderError(f"{name} returned {got} vectors for {n_texts} texts", RETRY_HINT)
    if vectors.shape[1] < dimensions:
        raise ProviderError(
            f"{name} returned vectors of {vectors.shape[1]} dimensions instead of {dimensions}",
            Hint("check embedding.model and embedding.dimensions, then run", "index"),
        )
    if not np.isfinite(vectors).all():
        raise ProviderError(f"{name} returned a vector with a value that is not a finite number", RETRY_HINT)
    vectors = vectors[:, :dimensions] if dimensions else vectors
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Floats = vectors / np.maximum(norms, np.float32(1e-12))
    return unit


RETRY_HINT = Hint("check the provider, then continue with", "index")
